import { describe, expect, it } from 'vitest'
import { type TestToolmock, withToolmock } from '../support/toolmock.ts'
import { appSeed } from './app-seed.ts'

const BIG = '9007199254740993'
const ECHO = { name: 'echo', answers: { body: { got: '{{request.body}}' } }, call: { body: '{{input}}' } }
const TYPED = {
  ...ECHO,
  name: 'typed',
  input_schema: {
    properties: {
      id: { type: 'integer' },
      long: { type: 'integer', format: 'int64' },
      most: { type: 'integer', maximum: 5 },
      least: { type: 'number', minimum: 0 },
      even: { multipleOf: 2 },
      one: { enum: [1] },
      text: { type: 'string' },
    },
  },
}
const SUM = { ...ECHO, name: 'sum', call: { body: { sum: '{{sum input.a 1}}' } } }
const SEED = { seed: appSeed([ECHO, TYPED, SUM]) }

async function send(mock: TestToolmock, path: string, text: string, method: 'post' | 'put' = 'post') {
  const token = await mock.signIn()
  const answer = await mock
    .http(method, path)
    .set('Content-Type', 'application/json')
    .set('Authorization', `Bearer ${token}`)
    .send(text)
  return { status: answer.status, text: answer.text }
}
const execute = (mock: TestToolmock, tool: string, input: string) =>
  send(
    mock,
    '/api/v1/execute_tool',
    `{"connector":"app","identifier":"ada","tool_name":"${tool}","tool_input":${input}}`,
  )

describe('a number that a double cannot hold (G75)', () => {
  it.each([
    [`{"id":${BIG}}`, `{"id":${BIG}}`],
    ['{"id":-9223372036854775807}', '{"id":-9223372036854775807}'],
    ['{"list":[1e400]}', `{"list":[1${'0'.repeat(400)}]}`],
    [`{"id":"${BIG}","n":${BIG}}`, `{"id":"${BIG}","n":${BIG}}`],
  ])('goes from the tool input %s to the third party and back', (input, got) =>
    withToolmock(SEED, async (mock) => {
      const { status, text } = await execute(mock, 'echo', input)
      expect([status, text]).toEqual([200, expect.stringContaining(`"got":${got}`)])
      const { text: journal } = await mock.http('get', '/_mock/requests')
      expect(journal).toContain(got)
    }),
  )

  it.each([
    ['id', 200],
    ['long', 200],
    ['most', 400],
    ['least', 400],
    ['even', 400],
    ['one', 400],
    ['text', 400],
  ])('as the input %s of a schema is %i: only where it has to be computed with it is refused', (name, expected) =>
    withToolmock(SEED, async (mock) => {
      for (const number of [BIG, `-${BIG}`, '1e400']) {
        const { status, text } = await execute(mock, 'typed', `{"${name}":${number}}`)
        expect([number, status]).toEqual([number, expected])
        if (expected === 400) expect(text).toContain(`tool_input.${name}`)
      }
    }),
  )

  it('is refused by name where a template adds it up', () =>
    withToolmock(SEED, async (mock) => {
      const { status, text } = await execute(mock, 'sum', `{"a":${BIG}}`)
      expect([status, text]).toEqual([400, expect.stringContaining(BIG)])
    }))

  it('stays in api_config, in the state and in a state that is put back', () =>
    withToolmock({}, async (mock) => {
      const body = `{"connector":"mail","identifier":"big","connected_account":{"api_config":{"tenant":${BIG},"most":1e400}}}`
      const created = await send(mock, '/api/v1/connected_accounts', body)
      expect(created.status).toBe(201)
      const state = await mock.http('get', '/_mock/state')
      expect(state.text).toMatch(new RegExp(`"tenant": ?${BIG}`))
      expect((await send(mock, '/_mock/state', state.text, 'put')).status).toBeLessThan(300)
      const again = await mock.http('get', '/_mock/state')
      expect(again.text).toMatch(new RegExp(`"tenant": ?${BIG},"most": ?10{400}`))
    }))

  it('is told from its neighbour by requests/verify', () =>
    withToolmock(SEED, async (mock) => {
      await execute(mock, 'echo', `{"id":${BIG}}`)
      const verify = (id: string) =>
        send(
          mock,
          '/_mock/requests/verify',
          `{"match":{"operation":"execute_tool","body":{"tool_input":{"id":${id}}}}}`,
        )
      expect((await verify(BIG)).text).toContain('"ok":true')
      expect((await verify('9007199254740992')).text).toContain('"ok":false')
    }))

  it('of more than 1,000 digits is refused', () =>
    withToolmock(SEED, async (mock) => {
      const { status, text } = await execute(mock, 'echo', '{"id":1e1000}')
      expect([status, text]).toEqual([400, expect.stringContaining('more than 1000 digits')])
    }))
})

describe('a member that is in a JSON object twice (G76)', () => {
  it('counts by its last value, and is a violation that names both', () =>
    withToolmock({}, async (mock) => {
      const body =
        '{"connector":"mail","identifier":"ann","identifier":"bob","connected_account":{"api_config":{"a":1,"a":2}}}'
      const { status, text } = await send(mock, '/api/v1/connected_accounts', body)
      expect([status, text]).toEqual([201, expect.stringContaining('"identifier":"bob"')])
      const { body: report } = await mock.http('get', '/_mock/contract')
      const [kind, code, basis] = ['violation', 'duplicate_member', 'choice:G76']
      expect(report.total.findings).toMatchObject([
        { kind, code, basis, field: 'connected_account.api_config.a', found: '1 and 2' },
        { kind, code, basis, field: 'identifier', found: '"ann" and "bob"' },
      ])
      const { text: entries } = await mock.http('get', '/_mock/requests')
      expect(entries).toContain('"code":"duplicate_member"')
    }))

  it('is refused in a call of the control API', () =>
    withToolmock({}, async (mock) => {
      const { status, text } = await send(mock, '/_mock/clock', '{"advance":"1h","advance":"2h"}', 'put')
      expect([status, text]).toEqual([400, expect.stringContaining('\\"1h\\" and \\"2h\\"')])
    }))

  it('is no finding where the names are equal in different objects', () =>
    withToolmock(SEED, async (mock) => {
      expect((await execute(mock, 'echo', '{"a":{"a":1},"b":{"a":1}}')).status).toBe(200)
      const { body: report } = await mock.http('get', '/_mock/contract')
      expect(report.total.findings).toEqual([])
    }))
})
