import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect } from 'vitest'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { appSeed } from './app-seed.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'toolmock-numbers-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

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

const it = itWith(withToolmock, SEED)

describe('a number that a double cannot hold (G75)', () => {
  it.for([
    [`{"id":${BIG}}`, `{"id":${BIG}}`],
    ['{"id":-9223372036854775807}', '{"id":-9223372036854775807}'],
    ['{"list":[1e400]}', `{"list":[1${'0'.repeat(400)}]}`],
    [`{"id":"${BIG}","n":${BIG}}`, `{"id":"${BIG}","n":${BIG}}`],
  ])('goes from the tool input %s to the third party and back', async ([input, got], { mock }) => {
    const { status, text } = await execute(mock, 'echo', input)
    expect([status, text]).toEqual([200, expect.stringContaining(`"got":${got}`)])
    const { text: journal } = await mock.http('get', '/_mock/requests')
    expect(journal).toContain(got)
  })

  it.for([
    ['id', 200],
    ['long', 200],
    ['most', 400],
    ['least', 400],
    ['even', 400],
    ['one', 400],
    ['text', 400],
  ])(
    'as the input %s of a schema is %i: only where it has to be computed with it is refused',
    async ([name, expected], { mock }) => {
      for (const number of [BIG, `-${BIG}`, '1e400']) {
        const { status, text } = await execute(mock, 'typed', `{"${name}":${number}}`)
        expect([number, status]).toEqual([number, expected])
        if (expected === 400) expect(text).toContain(`tool_input.${name}`)
      }
    },
  )

  it('is refused by name where a template adds it up', async ({ mock }) => {
    const { status, text } = await execute(mock, 'sum', `{"a":${BIG}}`)
    expect([status, text]).toEqual([400, expect.stringContaining(BIG)])
  })

  it('stays in api_config, in the state and in a state that is put back', async ({ startMock }) => {
    const mock = await startMock({})
    const body = `{"connector":"mail","identifier":"big","connected_account":{"api_config":{"tenant":${BIG},"most":1e400}}}`
    const created = await send(mock, '/api/v1/connected_accounts', body)
    expect(created.status).toBe(201)
    const state = await mock.http('get', '/_mock/state')
    expect(state.text).toMatch(new RegExp(`"tenant": ?${BIG}`))
    expect((await send(mock, '/_mock/state', state.text, 'put')).status).toBeLessThan(300)
    const again = await mock.http('get', '/_mock/state')
    expect(again.text).toMatch(new RegExp(`"tenant": ?${BIG},"most": ?10{400}`))
  })

  it('stays in the log and in the file of a state, over a crash and a clean stop', async () => {
    let disk = new MemoryDisk()
    const state = join(FOLDER, 'state.json')
    const shown = new RegExp(`"tenant": ?${BIG}`)
    for (const end of ['killed', 'stopped', 'last'] as const) {
      const present = disk
      await withToolmock({ state, fileSystem: present }, async (mock) => {
        const body = `{"connector":"mail","identifier":"big","connected_account":{"api_config":{"tenant":${BIG}}}}`
        if (end === 'killed') expect((await send(mock, '/api/v1/connected_accounts', body)).status).toBe(201)
        expect((await mock.http('get', '/_mock/state')).text).toMatch(shown)
        if (end === 'killed') disk = present.after('killed')
      })
    }
  })

  it('of a seed and a scenario in YAML is what was written', async ({ mock }) => {
    const yaml = (path: string, text: string, method: 'post' | 'put') =>
      mock.http(method, path).set('Content-Type', 'application/yaml').send(text)
    const seed = `accounts: [{ connector: mail, identifier: big, api_config: { tenant: ${BIG}, most: 1e400 } }]`
    expect((await yaml('/_mock/seed', seed, 'post')).status).toBe(200)
    const { text: state } = await mock.http('get', '/_mock/state')
    expect(state).toMatch(new RegExp(`"tenant": ?${BIG},"most": ?10{400}`))
    const on = `{ operation: execute_tool, body: { tool_input: { id: ${BIG} } } }`
    const rule = `{ name: r, at: third_party, on: { tool: echo }, do: [{ respond: { status: 200, body: { id: ${BIG} } } }] }`
    const refuse = `{ name: s, at: service, on: ${on}, do: [{ respond: { status: 429 } }] }`
    const scenario = `{ name: big, rules: [${refuse}, ${rule}] }`
    const put = await yaml('/_mock/scenarios/big', scenario, 'put')
    expect(put.status, put.text).toBeLessThan(300)
    await mock.http('post', '/_mock/scenarios/big/start')
    expect((await execute(mock, 'echo', `{"id":${BIG}}`)).status).toBe(429)
    const { text } = await execute(mock, 'echo', '{"id":9007199254740992}')
    expect(text).toContain(`"id":${BIG}`)
  })

  it('goes through the proxy as it was sent', async ({ mock }) => {
    const token = await mock.signIn()
    const answer = await mock
      .http('post', '/proxy/echo')
      .set({ Authorization: `Bearer ${token}`, connection_name: 'app', identifier: 'ada' })
      .set('Content-Type', 'application/json')
      .send(`{"id":${BIG},"n":1e400}`)
    expect([answer.status, answer.text]).toEqual([200, `{"got":{"id":${BIG},"n":1${'0'.repeat(400)}}}`])
  })

  it('is told from its neighbour by requests/verify', async ({ mock }) => {
    await execute(mock, 'echo', `{"id":${BIG}}`)
    const verify = (id: string) =>
      send(mock, '/_mock/requests/verify', `{"match":{"operation":"execute_tool","body":{"tool_input":{"id":${id}}}}}`)
    expect((await verify(BIG)).text).toContain('"ok":true')
    expect((await verify('9007199254740992')).text).toContain('"ok":false')
  })

  it('of more than 1,000 digits is refused', async ({ mock }) => {
    const { status, text } = await execute(mock, 'echo', '{"id":1e1000}')
    expect([status, text]).toEqual([400, expect.stringContaining('more than 1000 digits')])
  })
})

describe('a member that is in a JSON object twice (G76)', () => {
  it('counts by its last value, and is a violation that names both', async ({ startMock }) => {
    const mock = await startMock({})
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
  })

  it('is a violation in a call of a tool by MCP', async ({ startMock }) => {
    const mock = await startMock({ ...SEED, mcp: true })
    const token = await mock.signIn()
    const message = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}'
    const answer = await mock
      .http('post', '/mcp/v3/connections/app')
      .set({ Authorization: `Bearer ${token}`, identifier: 'ada', Accept: 'application/json, text/event-stream' })
      .set('Content-Type', 'application/json')
      .send(message)
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('{\\"a\\":2}')])
    const { body: report } = await mock.http('get', '/_mock/contract')
    expect(report.total.findings).toMatchObject([
      { kind: 'violation', code: 'duplicate_member', field: 'tool_input.a', found: '1 and 2' },
    ])
  })

  it('is a violation in a request that an extension answers', async ({ startMock }) => {
    const mock = await startMock({ extensions: ['organizations'] })
    const { status } = await send(mock, '/api/v1/organizations', '{"display_name":"One","display_name":"Two"}')
    expect(status).toBeLessThan(300)
    const { text } = await mock.http('get', '/_mock/requests')
    expect(text).toContain('"code":"duplicate_member"')
  })

  it('is refused in a call of the control API', async ({ startMock }) => {
    const mock = await startMock({})
    const { status, text } = await send(mock, '/_mock/clock', '{"advance":"1h","advance":"2h"}', 'put')
    expect([status, text]).toEqual([400, expect.stringContaining('\\"1h\\" and \\"2h\\"')])
  })

  it('is no finding where the names are equal in different objects', async ({ mock }) => {
    expect((await execute(mock, 'echo', '{"a":{"a":1},"b":{"a":1}}')).status).toBe(200)
    const { body: report } = await mock.http('get', '/_mock/contract')
    expect(report.total.findings).toEqual([])
  })
})
