import { describe, expect } from 'vitest'
import { ADA, it, LEGACY, type McpMock, MODERN, textsOf, withMcp } from './fixture.ts'
import { startScenario } from '../../support/scenario.ts'

const MESSAGE = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

/** A request of the protocol as a client of 2025 sends it. */
async function ask(
  { url, token }: McpMock,
  method: string,
  { params = {}, headers = {}, verb = 'POST', path = '/mcp/v3/connections/mail' } = {},
) {
  const answer = await fetch(url + path, {
    method: verb,
    headers: {
      Authorization: `Bearer ${token}`,
      ...ADA,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(verb === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) }),
  })
  const text = await answer.text()
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return { status: answer.status, headers: answer.headers, body: json === '' ? undefined : JSON.parse(json) }
}

async function hits({ call }: McpMock): Promise<{ matched: number; hits: number }[]> {
  const { scenarios } = await call<{ scenarios: { name: string; rules: { matched: number; hits: number }[] }[] }>(
    'GET',
    '/_mock/scenarios',
  )
  const { rules = [] } = scenarios.find(({ name }) => name === 'test') ?? {}
  return rules.map(({ matched, hits }) => ({ matched, hits }))
}

it('pages of tools/list: lead through every tool once, and a cursor of another list is refused', async ({ mock }) => {
  const all = (await (await mock.connect()).listTools()).tools.map(({ name }) => name)
  mock.app.services.defaultEnvironment()?.configure({ mcp: { page_size: 3 } })
  for (const options of [LEGACY, MODERN]) {
    const client = await mock.connect({ options })
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, {
        cacheMode: 'bypass',
      } as never)
      names.push(...tools.map(({ name }) => name))
      cursor = nextCursor
    } while (cursor !== undefined && names.length <= all.length)
    expect(names).toEqual(all)
  }
  const { body } = await ask(mock, 'tools/list')
  expect(body.result.tools).toHaveLength(3)
  const { nextCursor: cursor } = body.result
  const other = await ask(mock, 'tools/list', { params: { cursor }, path: '/mcp/v3/connections/crm' })
  expect(other.body.error).toMatchObject({ code: -32602, message: expect.stringContaining('is no nextCursor') })
})

const sessions = async (work: (mock: McpMock, id: string) => Promise<void>): Promise<void> =>
  withMcp({}, async (mock) => {
    mock.app.services.defaultEnvironment()?.configure({ mcp: { sessions: true } })
    const { headers } = await ask(mock, 'initialize', { params: INITIALIZE })
    const id = headers.get('mcp-session-id') ?? ''
    expect(id).not.toBe('')
    await work(mock, id)
  })

it('sessions are not there without the setting', async ({ mock }) => {
  const { headers } = await ask(mock, 'initialize', { params: INITIALIZE })
  expect(headers.get('mcp-session-id')).toBeNull()
  expect((await ask(mock, '', { verb: 'DELETE' })).headers.get('allow')).toBe('POST')
})

it('sessions: begin with initialize, and every later request of 2025 needs its own', () =>
  sessions(async (mock, id) => {
    const status = async (session: string | undefined, more = {}) => {
      const headers = session === undefined ? {} : { 'Mcp-Session-Id': session }
      return (await ask(mock, 'tools/call', { params: MESSAGE, headers, ...more })).status
    }
    expect(await status(id)).toBe(200)
    expect(await status(undefined)).toBe(400)
    expect(await status('unknown')).toBe(404)
    expect(await status(id, { path: '/mcp/v3/connections/crm' })).toBe(404)
    const { body } = await ask(mock, 'tools/list', { headers: { 'Mcp-Session-Id': 'x' } })
    expect(body.details[0].error_code).toBe('MCP_SESSION_NOT_FOUND')
    expect((await ask(mock, 'initialize', { params: {} })).headers.get('mcp-session-id')).toBeNull()
  }))

it('sessions: serve the clients of the SDK of both revisions', () =>
  sessions(async ({ connect }) => {
    for (const options of [LEGACY, MODERN]) {
      const result = await (await connect({ options })).callTool(MESSAGE)
      expect(result.isError).toBeUndefined()
    }
  }))

it('sessions: end by DELETE, and by a reset', () =>
  sessions(async (mock, id) => {
    const headers = { 'Mcp-Session-Id': id }
    expect((await ask(mock, '', { verb: 'GET', headers })).status).toBe(405)
    expect((await ask(mock, '', { verb: 'DELETE', headers })).status).toBe(200)
    expect((await ask(mock, 'tools/list', { headers })).status).toBe(404)
    expect((await ask(mock, '', { verb: 'DELETE', headers })).status).toBe(404)
    const { journals, defaultEnvironment } = mock.app.services
    const [ended] = journals.of(defaultEnvironment()!).entries().slice(-1)
    // An ended session is no unknown path.
    expect(ended).toMatchObject({ errorCode: 'MCP_SESSION_NOT_FOUND', findings: [] })
    const again = await ask(mock, 'initialize', { params: INITIALIZE })
    const session = { 'Mcp-Session-Id': again.headers.get('mcp-session-id') ?? '' }
    expect((await ask(mock, 'tools/list', { headers: session })).status).toBe(200)
    const environment = mock.app.services.defaultEnvironment()
    if (environment) environment.replacements += 1
    expect((await ask(mock, 'tools/list', { headers: session })).status).toBe(404)
  }))

it('sessions: end by the fault expire_mcp_session, for the call itself too', () =>
  sessions(async (mock, id) => {
    await startScenario(mock, { on: { mcp: 'tools/call' }, when: { nth: 2 }, do: [{ expire_mcp_session: {} }] })
    const headers = { 'Mcp-Session-Id': id }
    const statuses = []
    for (let nth = 1; nth <= 3; nth += 1)
      statuses.push((await ask(mock, 'tools/call', { params: MESSAGE, headers })).status)
    expect(statuses).toEqual([200, 404, 404])
    // A call without a session reaches no rule.
    expect((await ask(mock, 'tools/call', { params: MESSAGE })).status).toBe(400)
    expect(await hits(mock)).toEqual([{ matched: 2, hits: 1 }])
  }))

describe('rules about requests of the protocol', () => {
  it('answer initialize, tools/list and GET, once each', async ({ mock }) => {
    const first = { first: 1 }
    await startScenario(
      mock,
      { on: {}, when: { nth: 99 }, do: [{ latency: 1 }] },
      { on: { mcp: 'initialize' }, when: first, do: [{ respond: { status: 401 } }] },
      {
        on: { mcp: 'tools/list', account: { identifier: 'ada@*' } },
        when: first,
        do: [{ respond: { status: 503 } }],
      },
      { on: { mcp: 'get' }, do: [{ respond: { status: 404 } }] },
    )
    const refused = await ask(mock, 'initialize', { params: INITIALIZE })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('resource_metadata=')
    expect((await ask(mock, 'initialize', { params: INITIALIZE })).status).toBe(200)
    expect((await ask(mock, 'tools/list')).status).toBe(503)
    expect((await ask(mock, 'tools/list')).status).toBe(200)
    expect((await ask(mock, '', { verb: 'GET' })).status).toBe(404)
    const count = (matched: number, fired = 1) => ({ matched, hits: fired })
    expect(await hits(mock)).toEqual([count(0, 0), count(2), count(2), count(1)])
    const entry = (await mock.journal('path=/mcp/*')).find(({ method }) => method === 'initialize')
    expect(entry).toMatchObject({ status: 401, injected: true, rules: [{ rule: 'rule-1' }] })
  })

  it('and the operation execute_tool match one call, which each counts once', async ({ mock }) => {
    await startScenario(
      mock,
      { on: { mcp: 'tools/call' }, when: { nth: 2 }, do: [{ respond: { status: 401 } }] },
      { on: { operation: 'execute_tool' }, when: { nth: 3 }, do: [{ respond: { status: 503 } }] },
    )
    const answers = []
    for (let nth = 1; nth <= 3; nth += 1) answers.push(await ask(mock, 'tools/call', { params: MESSAGE }))
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 200])
    expect(answers[1]?.headers.get('www-authenticate')).toContain('resource_metadata=')
    expect(answers[2]?.body.result.isError).toBe(true)
    expect(await hits(mock)).toEqual([
      { matched: 3, hits: 1 },
      { matched: 3, hits: 1 },
    ])
  })

  it('break the connection of a handshake', async ({ mock }) => {
    await startScenario(mock, { on: { mcp: 'initialize' }, when: { first: 1 }, do: [{ reset_connection: {} }] })
    await expect(ask(mock, 'initialize', { params: INITIALIZE })).rejects.toThrow()
    expect((await ask(mock, 'initialize', { params: INITIALIZE })).status).toBe(200)
  })
})

it.for([
  [{ id: 'n_1' }, undefined, { id: 'n_1' }],
  [{ id: 7 }, true, undefined],
])('a tool with an output schema: whose result is %j', async ([body, isError, structured], { mock }) => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  await mock.call('PUT', '/_mock/connectors/pad', {
    connector: 'pad',
    authorization_type: 'NO_AUTH',
    tools: [{ name: 'pad_get', description: 'Gets.', output_schema: schema, call: { method: 'GET', path: '/v1/n' } }],
    responders: [{ on: { path: '/v1/n' }, respond: { body } }],
  })
  await mock.call('POST', '/connected_accounts', { connector: 'pad', ...ADA })
  const client = await mock.connect({ path: '/mcp/v3/connections/pad' })
  await client.listTools()
  const result = await client.callTool({ name: 'pad_get', arguments: {} })
  expect([result.isError, result.structuredContent]).toEqual([isError, structured])
  if (isError) expect(textsOf(result)[0]).toContain('output_schema of pad_get')
})
