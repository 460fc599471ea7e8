import { describe, expect } from 'vitest'
import { timelineEntry } from '../../../src/journal/request-journal/view.ts'
import { ADA, ERAS, it, LEGACY, type McpMock, MODERN, textsOf, withMcp } from './fixture.ts'

const GOOD = { to: 'bob@example.com', subject: 'Hello' }
const TOOL = 'mail_send_message'
const operation = 'execute_tool'

/** Calls the tool with an input that succeeds, and with one that is refused. */
type Calls = (mock: McpMock) => Promise<void>

const BY_REST: Calls = async ({ call }) => {
  for (const tool_input of [GOOD, { subject: 1 }]) {
    await call('POST', '/execute_tool', { connector: 'mail', ...ADA, tool_name: TOOL, tool_input })
  }
}

const byMcp =
  (options: (typeof ERAS)[number][1]): Calls =>
  async ({ connect }) => {
    const client = await connect({ options })
    await client.listTools()
    await client.callTool({ name: TOOL, arguments: GOOD })
    await client.callTool({ name: TOOL, arguments: { subject: 1 } })
  }

/** Everything that journal and reports say about execute_tool, without what is different in each run or by protocol. */
async function saidOf(mock: McpMock): Promise<Record<string, unknown>> {
  const count = async (match: object) => (await mock.call('POST', '/_mock/requests/count', { match })).count
  const [, refused] = await mock.journal(`operation=${operation}`)
  const { cause, because, actions } = await mock.call('GET', `/_mock/requests/${refused?.id ?? ''}/explain`)
  const { total } = await mock.call<{ total: { operations: { operation: string }[] } }>('GET', '/_mock/coverage')
  type Contract = { total: { findings: (Record<string, unknown> & { requests: string[] })[] } }
  const { findings } = (await mock.call<Contract>('GET', '/_mock/contract')).total
  return {
    counts: [
      await count({ operation }),
      await count({ operation, status: 200, tool: TOOL, connector: 'mail', identifier: ADA.identifier }),
      await count({ operation, status: '4*', error_code: 'INVALID_TOOL_INPUT', client: 'test_client' }),
      await count({ body: { 'tool_input.to': '*@example.com', tool_name: TOOL, identifier: ADA.identifier } }),
    ],
    verified: await mock.call('POST', '/_mock/requests/verify', { match: { operation, status: 200 }, times: 1 }),
    differs: (await mock.call('POST', '/_mock/requests/verify', { match: { operation }, times: 5 })).matched,
    explained: { cause, because, actions },
    coverage: total.operations.filter((each) => each.operation === operation),
    broken: findings.map(({ requests, examples: _, request: _id, ...same }) => ({
      ...same,
      requests: requests.length,
    })),
  }
}

describe('a call by MCP', () => {
  it.each(ERAS)(
    'of %s is counted, verified, explained and judged as execute_tool by REST is, and covers the same',
    async (_, options) => {
      const expected: Record<string, unknown>[] = []
      for (const calls of [BY_REST, byMcp(options)]) {
        await withMcp({}, async (mock) => {
          await calls(mock)
          expected.push(await saidOf(mock))
        })
      }
      const [rest, mcp] = expected
      expect(rest?.counts).toEqual([2, 1, 1, 1])
      expect(rest).toMatchObject({ verified: { ok: true }, broken: [{ operation }, { operation }] })
      expect(mcp).toEqual(rest)
    },
  )

  it('is found by its protocol, its method, its path and the name and version of its client', async ({ mock }) => {
    await BY_REST(mock)
    await byMcp(LEGACY)(mock)
    await byMcp(MODERN)(mock)
    const count = async (match: object) => (await mock.call('POST', '/_mock/requests/count', { match })).count
    expect(await count({ operation })).toBe(6)
    expect(await count({ operation, protocol: 'mcp' })).toBe(4)
    expect(await count({ operation, method: 'tools/call' })).toBe(4)
    expect(await count({ operation, path: '/mcp/v3/connections/mail' })).toBe(4)
    // A client of 2025 names itself when it initializes, and not in its calls.
    expect(await count({ operation, mcp_client: 'test-client 1.2.3' })).toBe(2)
    expect(await count({ method: 'initialize', mcp_client: 'test-client *' })).toBe(1)
    expect(await count({ protocol: 'http', mcp_client: '*' })).toBe(0)
    expect(await mock.journal('mcp_client=test-client*&method=tools/call&status=200')).toHaveLength(1)
  })
})

describe('what a client of MCP asks beside calls', () => {
  it('is an entry, and neither an operation nor a path that is not served', async ({ mock }) => {
    const covered = async () =>
      (await mock.call<{ total: { summary: object } }>('GET', '/_mock/coverage')).total.summary
    const before = await covered()
    for (const options of [LEGACY, MODERN]) await (await mock.connect({ options })).listTools()
    const found = await mock.journal('protocol=mcp')
    expect(found.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['initialize', 'notifications/initialized', 'GET', 'tools/list', 'server/discover']),
    )
    expect(found.every(({ operation }) => operation === null)).toBe(true)
    expect(await covered()).toEqual(before)
    expect(await mock.call('GET', '/_mock/contract')).toMatchObject({ ok: true, total: { findings: [] } })
    const { journals, defaultEnvironment } = mock.app.services
    const recorded = journals.of(defaultEnvironment()!).entries()
    const marks = recorded.filter(({ protocol }) => protocol === 'mcp').map((entry) => timelineEntry(entry, 1).marks)
    expect(marks).toEqual(found.map(() => []))
  })

  it('is explained with the words in which it was refused', async ({ mock }) => {
    const headers = { Authorization: `Bearer ${mock.token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${mock.url}/mcp/v3/connections/mail`, {
      method: 'POST',
      headers: { ...headers, Accept: 'application/json, text/event-stream', Origin: 'https://evil.example' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    const id = answer.headers.get('x-request-id') ?? ''
    expect(await mock.call('GET', `/_mock/requests/${id}/explain`)).toMatchObject({
      cause: [{ text: 'Invalid Origin: evil.example' }, { text: '.' }],
      because: null,
    })
  })

  it('is not what the control server names as the request to explain', async ({ mock: { connect } }) => {
    await (await connect({ options: LEGACY })).callTool({ name: TOOL, arguments: GOOD })
    const control = await connect({ path: '/_mock/mcp' })
    const [listed = ''] = textsOf(await control.callTool({ name: 'list_requests', arguments: {} }))
    expect(listed).toMatch(/GET \/mcp\/v3\/connections\/mail 405/)
    expect(listed).toContain('Next: run the program under test')
  })
})

describe('a session token that is refused', () => {
  it('is explained as one: it is made by another call than an access token', async ({ mock }) => {
    const { token } = await mock.call<{ token: string }>('POST', '/mcp/connections/mail/tokens', ADA)
    const answer = await fetch(`${mock.url}/mcp/v3/connections/weather`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(401)
    const id = answer.headers.get('x-request-id') ?? ''
    const { cause, facts, actions } = await mock.call('GET', `/_mock/requests/${id}/explain`)
    expect(cause).toMatchObject([{ text: expect.stringMatching(/^The session token is for another server/) }, {}])
    expect(facts).toEqual([])
    const text = expect.stringContaining('POST /api/v1/mcp/connections/{key_id}/tokens')
    expect(actions).toMatchObject([{ action: 'get_token', text }])
  })
})
