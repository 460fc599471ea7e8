import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { FAULT_KINDS, FAULTS as FAULT_SPECS } from '../../../src/scenarios/faults/faults.ts'
import type { JsonValue } from '../../../src/model/domain/json.ts'
import { ADA, it, type McpMock } from './fixture.ts'
import { until } from '../../support/until.ts'

const TOOL = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }

/** The same call as a client of each era sends it, by the type of the answer that it gets. */
const CALLS = {
  'application/json': {
    headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': TOOL.name },
    params: {
      ...TOOL,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
  'text/event-stream': { headers: { 'MCP-Protocol-Version': '2025-11-25' }, params: TOOL },
}
type MediaType = keyof typeof CALLS

interface Received {
  readonly head: string
  readonly body: string
  readonly pieces: number
  /** How the connection ended: by the other side's FIN, or by an error. */
  readonly end: string
}

/** Calls the tool over a plain socket; returns everything that it receives until the connection ends, or `until` says so. */
function callRaw(
  mock: McpMock,
  type: MediaType,
  { progress = false, until = () => false }: { progress?: boolean; until?: (text: string) => boolean } = {},
): Promise<Received> {
  const { hostname, port, host } = new URL(mock.url)
  const { headers, params } = CALLS[type]
  const meta = '_meta' in params ? params._meta : {}
  const asked = progress ? { ...params, _meta: { ...meta, progressToken: 'p' } } : params
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: asked })
  const lines = Object.entries({
    Host: host,
    Connection: 'close',
    Authorization: `Bearer ${mock.token}`,
    ...ADA,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  return new Promise((resolve) => {
    let [text, pieces] = ['', 0]
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${['POST /mcp/v3/connections/mail HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n${body}`)
    })
    const over = (end: string): void => {
      const [head = '', ...rest] = text.split('\r\n\r\n')
      resolve({ head, body: rest.join('\r\n\r\n'), pieces, end })
      socket.destroy()
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      pieces += 1
      if (until(text)) over('left')
    })
    socket.on('end', () => over('FIN'))
    socket.on('error', (error: Error & { code?: string }) => over(error.code ?? error.message))
  })
}

async function start({ call }: McpMock, ...faults: object[]): Promise<void> {
  const rules = [{ name: 'only', at: 'service', on: { operation: 'execute_tool' }, do: faults, off_spec: true }]
  await call('PUT', '/_mock/scenarios/faults', { name: 'faults', rules })
  await call('POST', '/_mock/scenarios/faults/start')
}

const lengthIn = (head: string): number => Number(/content-length: (\d+)/i.exec(head)?.[1])

/** The message in a body: JSON, or the data of an event. */
const messageIn = (body: string): unknown =>
  JSON.parse(body.startsWith('{') ? body : (/^data: (.*)\n\n/m.exec(body)?.[1] ?? body))

const plain = (received: Received): void => {
  expect(messageIn(received.body)).toMatchObject({ result: { structuredContent: { message_id: expect.any(String) } } })
}
const refused =
  (code: string) =>
  ({ body }: Received): void => {
    expect(messageIn(body)).toMatchObject({ result: { isError: true } })
    expect(body).toContain(code)
  }

type Row = [kind: string, parameters: JsonValue, seen: (received: Received) => void, status: number]

/** What each fault makes of the HTTP response of a call, and the status in the request journal. */
const FAULTS: readonly Row[] = [
  ['respond', { status: 418, body: { error: 'teapot' } }, refused('teapot'), 418],
  ['respond', { status: 429, headers: { 'Retry-After': '3' } }, refused('TOOL_ERROR'), 429],
  ['respond', { status: 500, body: '<h1>Bad gateway</h1>' }, refused('<h1>Bad gateway</h1>'), 500],
  ['latency', 30, plain, 200],
  ['reset_connection', {}, (received) => expect(received).toMatchObject({ head: '', end: 'ECONNRESET' }), 0],
  ['empty_response', {}, (received) => expect(received).toMatchObject({ head: '', end: 'FIN' }), 0],
  [
    'truncate_body',
    {},
    ({ head, body, end }) => expect([body.length, end]).toEqual([Math.floor(lengthIn(head) / 2), 'FIN']),
    200,
  ],
  [
    'malformed_json',
    {},
    ({ head, body }) => {
      expect(body).toHaveLength(lengthIn(head))
      if (/event-stream/.test(head)) expect(body).toMatch(/^data: .*,\n\n$/m)
      expect(() => messageIn(body)).toThrow(SyntaxError)
    },
    200,
  ],
  [
    'slow_body',
    { over: 60, pieces: 4 },
    (received) => {
      expect(received.pieces).toBeGreaterThan(2)
      plain(received)
    },
    200,
  ],
  ['expire_access_token', {}, plain, 200],
  ['expire_account', {}, refused('ACCOUNT_NOT_ACTIVE'), 400],
  ['revoke_refresh_token', {}, plain, 200],
  ['disconnect', {}, refused('ACCOUNT_NOT_ACTIVE'), 400],
  ['revoke_bearer_tokens', {}, ({ head }) => expect(head).toContain('HTTP/1.1 401 Unauthorized'), 401],
  ['advance_clock', '25h', ({ head }) => expect(head).toMatch(/401 Unauthorized[^]*resource_metadata="/), 401],
]

const TYPES = Object.keys(CALLS) as MediaType[]

describe.each(TYPES)('as %s', (type) => {
  it.for(FAULTS)('%s %j', async ([kind, parameters, seen, status], { mock }) => {
    await start(mock, { [kind]: parameters })
    seen(await callRaw(mock, type))
    const { journals, defaultEnvironment } = mock.app.services
    const journal = journals.of(defaultEnvironment()!)
    await journal.wait({ operation: 'execute_tool' })
    const entry = journal.entries().find(({ operation }) => operation === 'execute_tool')
    expect(entry).toMatchObject({ status, protocol: 'mcp', trace: { rules: [{ rule: 'only' }] } })
  })

  it('timeout: not an octet until the client goes away, even where it asks for progress', async ({ mock }) => {
    await start(mock, { timeout: {} })
    // The second call, which waits for longer than progress takes, shows that the first one had time to be told.
    const waiting = callRaw(mock, type, { progress: true })
    const { scenarios, defaultEnvironment, pauses } = mock.app.services
    await until(() => scenarios.of(defaultEnvironment()!).list()[0]?.rules[0]?.hits === 1)
    await mock.call('POST', '/_mock/scenarios/faults/stop')
    await start(mock, { latency: 1500 })
    const told = await callRaw(mock, type, { progress: true, until: (text) => text.includes('"result"') })
    expect(told.body).toContain('notifications/progress')
    pauses.close()
    expect(await waiting).toMatchObject({ head: '', body: '' })
  })

  it.for(['slow_body', 'truncate_body', 'malformed_json'])(
    'latency with progress, then %s: the progress has been sent, and the fault acts on the rest',
    async (kind, { mock }) => {
      await start(mock, { latency: 1200 }, { [kind]: kind === 'slow_body' ? { over: 40, pieces: 3 } : {} })
      const { head, body } = await callRaw(mock, type, { progress: true })
      expect(head).toMatch(/200 OK[^]*text\/event-stream/)
      expect(body).toContain('notifications/progress')
      if (kind === 'slow_body') expect(body).toContain('structuredContent')
      else expect(body).not.toMatch(/"result":.*}\n\n/)
      if (kind === 'truncate_body') expect(body).not.toContain('\r\n0\r\n')
    },
  )
})

it.for(TYPES)('latency with progress, then reset_connection: not an octet, as %s', async (type, { mock }) => {
  await start(mock, { latency: 1200 }, { reset_connection: {} })
  expect(await callRaw(mock, type, { progress: true })).toMatchObject({ head: '', end: 'ECONNRESET' })
})

it('has a test here for every kind', () => {
  // test/scenarios/barrier.test.ts has a call by MCP that a barrier holds, protocol.test.ts one whose session ends.
  const elsewhere = ['timeout', 'consume_auth_request', 'hold_until', 'expire_mcp_session']
  const tested = new Set([...FAULTS.map(([kind]) => kind), ...elsewhere])
  const onCalls = FAULT_KINDS.filter((kind) => !['webhook', 'consent'].includes(FAULT_SPECS[kind].phase))
  expect(onCalls.filter((kind) => !tested.has(kind))).toEqual([])
})
