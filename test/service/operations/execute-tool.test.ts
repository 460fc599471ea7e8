import { describe, expect, vi } from 'vitest'
import { ada, appSeed, run } from './app-seed.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { withToolmock } from '../../support/toolmock.ts'

const ECHO = { name: 'echo', answers: { body: { got: '{{request.body}}' } }, call: { body: '{{input}}' } }
const TYPED = {
  ...ECHO,
  name: 'typed',
  input_schema: {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 2 },
      count: { type: 'integer', maximum: 5 },
      tags: { type: 'array', items: { enum: ['a', 'b'] } },
      place: { type: 'object', properties: { 'a b': { type: 'string' } } },
      body: { type: 'object', required: ['body'] },
    },
    additionalProperties: false,
  },
}
const SEED = { seed: appSeed([ECHO, TYPED]) }

const it = itWith(withToolmock, SEED)

describe('POST /execute_tool', () => {
  it('answers the result and an execution id (G43)', async ({ mock }) => {
    const first = await run(mock, 'echo', { n: 1 })
    const second = await run(mock, 'echo', { n: 1 })

    expect(first.status).toBe(200)
    expect(first.body).toEqual({ data: { got: { n: 1 } }, execution_id: expect.stringMatching(/^exec_\w+$/) })
    expect(second.body).not.toEqual(first.body)
  })

  it('finds the account by id, and by connector and identifier with organization and user', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([ECHO], {}, { organization_id: 'org', user_id: 'u' }) })
    const { id } = mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })[0]!
    const scope = { organization_id: 'org', user_id: 'u', connector: 'app', identifier: 'ada' }
    for (const locator of [{ connected_account_id: id }, scope, { connected_account_id: id, ...scope }]) {
      expect((await mock.api.post('/execute_tool', { ...locator, tool_name: 'echo' })).status).toBe(200)
    }
  })

  it.for([
    ['expires', 400, 'ACCOUNT_NOT_ACTIVE'],
    ['goes', 404, 'ACCOUNT_NOT_FOUND'],
  ])(
    'looks at an account again that %s while the schema of the tool is compiled',
    async ([change, status, code], { mock }) => {
      const { toolSchemas } = mock.app.services
      let compiled = (): void => undefined
      const compiling = new Promise<void>((resolve) => (compiled = resolve))
      const prepare = toolSchemas.prepare.bind(toolSchemas)
      const spy = vi.spyOn(toolSchemas, 'prepare').mockImplementationOnce((tool) => {
        return compiling.then(() => prepare(tool))
      })
      const running = Promise.resolve(run(mock, 'echo', { n: 1 }))
      await expect.poll(() => spy.mock.calls.length).toBe(1)
      const { id } = mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })[0]!
      if (change === 'expires') await mock.http('post', `/_mock/accounts/${id}/expire`)
      else await mock.api.post('/connected_accounts:delete', { id })
      compiled()
      const answer = await running
      expect([answer.status, answer.body.details[0].error_code]).toEqual([status, code])
    },
  )

  it.for([
    ['tool_input', { tool_input: { a: 1 } }],
    ['params', { params: { a: 1 } }],
    ['both, with equal content', { tool_input: { a: 1 }, params: { a: 1 } }],
  ])('accepts the input as %s (G11)', async ([_name, input], { mock: { api } }) => {
    const answer = await api.post('/execute_tool', {
      connector: 'app',
      identifier: 'ada',
      tool_name: 'echo',
      ...input,
    })
    expect(answer.body).toMatchObject({ data: { got: { a: 1 } } })
  })

  it('runs a tool without any input as with an empty one', async ({ mock: { api } }) => {
    const answer = await api.post('/execute_tool', { connector: 'app', identifier: 'ada', tool_name: 'echo' })
    expect(answer.body).toMatchObject({ data: { got: {} } })
  })

  it.for(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '{{id}}', '$&', '<b>', '\ud800', 'x'.repeat(5000)])(
    'answers 404 to the tool name %j',
    async (tool_name, { mock }) => {
      const answer = await run(mock, tool_name)

      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ code: 5, details: [{ error_code: 'TOOL_NOT_FOUND' }] })
    },
  )

  it.for([
    ['no name of a tool', {}],
    ['an empty one', { tool_name: '' }],
  ])('answers 400 at tool_name to a call with %s (G44)', async ([_what, name], { mock }) => {
    const { id } = await ada(mock)
    const answer = await mock.api.post('/execute_tool', { ...name, connected_account_id: id, tool_input: {} })

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      details: [
        { error_code: 'VALIDATION_FAILED', validation_error_info: { field_violations: [{ field: 'tool_name' }] } },
      ],
    })
  })

  it('answers 404 to a tool of another connector (G44)', async ({ mock }) => {
    const answer = await run(mock, 'mail_send_message', { to: 'x', subject: 'y' })

    expect(answer.status).toBe(404)
    expect(answer.body.message).toBe('tool not found: connector app has no "mail_send_message"; it has echo, typed')
  })

  it('passes keys of object prototypes in the input on unchanged', async ({ mock: { http, signIn } }) => {
    const input = '{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":"x"}'
    const body = `{"connector":"app","identifier":"ada","tool_name":"echo","tool_input":${input}}`
    const request = http('post', '/api/v1/execute_tool').set('Authorization', `Bearer ${await signIn()}`)
    const answer = await request.type('json').send(body)

    expect(answer.status).toBe(200)
    expect(answer.text).toContain(`"got":${input}`)
  })

  it.for(['{{id}}', "{{faker 'person.fullName'}}", '{{account.identifier}}', '$&', '\\u0041', '\ud800', '<b>&amp;'])(
    'never evaluates an input as a template: %j',
    async (text, { mock }) => {
      const answer = await run(mock, 'echo', { text, nested: [{ [text]: text }] })
      expect(answer.body).toMatchObject({ data: { got: { text, nested: [{ [text]: text }] } } })
    },
  )
})

describe('the input of a tool against its schema (G44)', () => {
  it.for<[string, object, string[]]>([
    ['missing', {}, ['tool_input.title']],
    ['of another type', { title: 7 }, ['tool_input.title']],
    ['too short', { title: 'x' }, ['tool_input.title']],
    ['too large', { title: 'xx', count: 6 }, ['tool_input.count']],
    ['wrong inside an array', { title: 'xx', tags: ['a', 'c'] }, ['tool_input.tags[1]']],
    ['wrong under a key that is no name', { title: 'xx', place: { 'a b': 1 } }, ['tool_input.place["a b"]']],
    ['unknown', { title: 'xx', colour: 'red' }, ['tool_input.colour']],
    ['called body', { title: 'xx', body: 1 }, ['tool_input.body']],
    ['called body and missing inside body', { title: 'xx', body: {} }, ['tool_input.body.body']],
    ['wrong twice', { title: 1, count: 'x' }, ['tool_input.title', 'tool_input.count']],
  ])('names the path of a field that is %s', async ([_name, input, fields], { mock }) => {
    const answer = await run(mock, 'typed', input)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 3, details: [{ error_code: 'INVALID_TOOL_INPUT' }] })
    expect(violations(answer.body).sort()).toEqual(fields.sort())
    expect(await ada(mock)).not.toHaveProperty('last_used_at')
  })

  it.for([['a text'], [[1]], [7], [true]])('refuses %j as tool_input', async ([tool_input], { mock }) => {
    const answer = await run(mock, 'echo', tool_input as unknown as object)

    expect(answer.status).toBe(400)
    expect(violations(answer.body)).toEqual(['tool_input'])
  })
})

describe('an account that is not ACTIVE (G44)', () => {
  it.for([
    ['EXPIRED', /magic link/],
    ['PENDING_AUTH', /consent/],
    ['PENDING_VERIFICATION', /verify/],
    ['DISCONNECTED', /magic link/],
  ])('%s answers 400 with code 9 and what to do', async ([status, advice], { startMock }) => {
    const mock = await startMock({ seed: appSeed([ECHO], {}, { status }) })
    const answer = await run(mock, 'echo')

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 9, details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
    expect(answer.body.message).toContain(status)
    expect(answer.body.message).toMatch(advice)
    expect(answer.body.details[0]).not.toHaveProperty('tool_error_info')
  })

  it.for(['DRAFT', 'IN_PROGRESS', 'COMPLETED'])(
    'runs at a connection that is %s ("States")',
    async (status, { startMock }) => {
      const mock = await startMock({ seed: { ...appSeed([ECHO]), connections: [{ key_id: 'app', status }] } })
      expect((await run(mock, 'echo')).status).toBe(200)
    },
  )

  it('answers 400 with code 9 when its connection is disabled', async ({ startMock }) => {
    const mock = await startMock({ seed: { ...appSeed([ECHO]), connections: [{ key_id: 'app', enabled: false }] } })
    const answer = await run(mock, 'echo')

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 9, details: [{ error_code: 'CONNECTION_DISABLED' }] })
  })
})

/** The fields that a validation error names. */
function violations(body: unknown): string[] {
  const { details } = body as { details: [{ validation_error_info: { field_violations: { field: string }[] } }] }
  return details[0].validation_error_info.field_violations.map(({ field }) => field)
}
