import { request } from 'node:http'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { expect, vi } from 'vitest'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { withDirectory } from '../../support/registry.ts'
import { it, type McpMock, MODERN, withMcp } from './fixture.ts'
import { until } from '../../support/until.ts'
import { startScenario } from '../../support/scenario.ts'

const CALL = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }

const PATH = '/mcp/v3/connections/mail'

function headersOf({ token }: McpMock): Record<string, string> {
  return {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    identifier: 'ada@example.com',
  }
}

function post(
  mock: McpMock,
  body: string | ReadableStream,
  headers: Record<string, string> = {},
  path = PATH,
): Promise<Response> {
  const init = { method: 'POST', headers: { ...headersOf(mock), ...headers }, body }
  return fetch(mock.url + path, typeof body === 'string' ? init : { ...init, duplex: 'half' })
}

function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
}

/** What a client of 2026 says in each request. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Opens a stream that hears of changes. */
function listen(mock: McpMock): Promise<Response> {
  const params = {
    notifications: { toolsListChanged: true },
    _meta: ENVELOPE,
  }
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' }
  return post(mock, message('subscriptions/listen', params), headers)
}

const CURSOR = 'params.cursor: '
it.for([
  ['an unknown cursor', 'tools/list', { cursor: 'x' }, `${CURSOR}"x" is no nextCursor of this list`],
  ['a cursor of another type', 'tools/list', { cursor: 5 }, `${CURSOR}Invalid input: expected string, received number`],
  ['a cursor of null', 'tools/list', { cursor: null }, `${CURSOR}Invalid input: expected string, received null`],
  ['a revision of another type', 'initialize', { protocolVersion: 5 }, 'params.protocolVersion: Invalid input'],
  ['a tool of another type', 'tools/call', { name: 5 }, 'params.name: Invalid input: expected string'],
])(
  '%s is -32602 at a virtual server and at the control server, in both eras',
  async ([_, method, params, expected], { mock }) => {
    const modern = { ...params, _meta: ENVELOPE }
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method }
    const body = message(method, params)
    const control = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body }
    const answers = [
      await post(mock, body),
      // A client of 2026 does not initialize, and its tool is in a header, which has a text.
      ...(method === 'tools/list' ? [await post(mock, message(method, modern), headers)] : []),
      await fetch(`${mock.url}/_mock/mcp`, control),
    ]
    for (const answer of answers) {
      const [, text = ''] = /(\{.*\})/s.exec(await answer.text()) ?? []
      const { error } = JSON.parse(text) as { error: { code: number; message: string } }
      expect(error).toEqual({ code: -32602, message: expect.stringContaining(expected) as string })
      expect(error.message).not.toContain('\n')
    }
  },
)

it('an empty cursor is the first page', async ({ mock }) => {
  expect(await (await post(mock, message('tools/list', { cursor: '' }))).text()).toContain('mail_send_message')
})

it('a page of another site is refused with 403, one of this machine is served', async ({ mock }) => {
  const list = message('tools/list')
  expect((await post(mock, list, { Origin: 'https://evil.example' })).status).toBe(403)
  expect((await post(mock, list, { Origin: 'http://localhost:6274' })).status).toBe(200)
})

it.for([
  ['no JSON', '{', {}, 400],
  ['no message', '[]', {}, 400],
  ['another content type', message('tools/list'), { 'Content-Type': 'text/plain' }, 415],
  ['no content type that is accepted', message('tools/list'), { Accept: 'text/html' }, 406],
  ['an unknown revision', message('tools/list'), { 'MCP-Protocol-Version': '1999-01-01' }, 400],
  ['a body that is too large', message('tools/list', { padding: 'x'.repeat(1024 * 1024) }), {}, 413],
  ['a body that nests too deeply', `${'['.repeat(300)}${']'.repeat(300)}`, {}, 400],
])('%s is answered in words and recorded', async ([_, body, headers, status], { mock }) => {
  const answer = await post(mock, body, headers)
  expect(answer.status).toBe(status)
  expect(await answer.text()).not.toBe('')
  const [entry] = (await mock.journal()).slice(-1)
  expect(entry).toMatchObject({ id: answer.headers.get('x-request-id'), protocol: 'mcp', status, operation: null })
})

it('a batch of calls has a result and an entry for each', async ({ mock }) => {
  const calls = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: CALL }))
  const answer = await post(mock, JSON.stringify(calls), { 'MCP-Protocol-Version': '2025-03-26' })
  expect((await answer.text()).match(/message_id/g)?.length).toBeGreaterThanOrEqual(2)
  const ids = (await mock.journal('operation=execute_tool')).map(({ id }) => id)
  expect(new Set(ids).size).toBe(2)
})

const pendingTool = { name: 'mail_pending', call: { method: 'GET', path: '/pending' } }

/** Runs `work` while a connector with another tool waits for the disk, which then refuses it. */
async function withPendingTool(work: (mock: McpMock, refuse: () => Promise<void>) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const disk = new MemoryDisk()
    await withMcp({ state: join(directory, 'state.json'), fileSystem: disk }, async (mock) => {
      let open = (): void => undefined
      disk.gate = new Promise((resolve) => (open = resolve))
      const putting = fetch(`${mock.url}/_mock/connectors/mail`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          connector: 'mail',
          authorization_type: 'OAUTH',
          people: ['ada'],
          tools: [pendingTool],
        }),
      })
      const { registry } = mock.app.services
      const tools = () => registry.environment('default')!.connector('mail')!.tools
      await until(() => tools()[0]?.name === pendingTool.name)
      await work(mock, async () => {
        disk.fails = () => new Error('ENOSPC: no space left')
        open()
        expect((await putting).status).toBe(503)
      })
      disk.fails = () => undefined
    })
  })
}

it('a batch of a list and calls shows no tool that the disk refuses, and ends once', async () => {
  await withPendingTool(async (mock, refuse) => {
    const begun = vi.spyOn(mock.app.services.entries, 'begin')
    const calls = [2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'none' } }))
    const batch = `[${message('tools/list')},${calls.map((each) => JSON.stringify(each)).join()}]`
    const answering = post(mock, batch, { 'MCP-Protocol-Version': '2025-03-26' })
    // The second call of a batch has an id of its own.
    await until(() => begun.mock.calls.length >= 2)
    await refuse()
    expect((await answering).status).toBe(503)
  })
})

it('a list whose body comes after the disk has refused a tool does not show it', async () => {
  await withPendingTool(async (mock, refuse) => {
    const begun = vi.spyOn(mock.app.services.entries, 'begin')
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const answering = post(mock, readable)
    const writer = writable.getWriter()
    const body = Buffer.from(message('tools/list'))
    await writer.write(body.subarray(0, 1))
    await until(() => begun.mock.calls.length > 0)
    await refuse()
    await writer.write(body.subarray(1))
    await writer.close()
    expect(await (await answering).text()).not.toContain(pendingTool.name)
  })
})

it.each([
  ['a list', 'mail'],
  ['the refusal of a server that there is not', 'nowhere'],
])('%s that the disk refuses is one entry of the journal, the 503', async (_, key) => {
  await withPendingTool(async (mock, refuse) => {
    const path = `/mcp/v3/connections/${key}`
    const ending = vi.spyOn(mock.app.services.entries, 'end')
    const answering = post(mock, message('tools/list'), {}, path)
    await until(() => ending.mock.calls.length > 0)
    await refuse()
    expect((await answering).status).toBe(503)
    const journal = mock.app.services.journals.of(mock.app.services.registry.environment('default')!)
    const entries = journal.query().filter((entry) => entry.path === path)
    expect(entries.map(({ status }) => status)).toEqual([503])
  })
})

it('a user whom the query names may have a question mark in the identifier', async ({ mock }) => {
  await mock.call('POST', '/connected_accounts', { connector: 'mail', identifier: 'who?' })
  const answer = await fetch(`${mock.url}/mcp/v3/connections/mail?identifier=who?`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${mock.token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: message('tools/call', CALL),
  })
  expect(await answer.text()).toContain('identifier who?, is PENDING_AUTH')
})

it('an input that nests deeper than a body may is refused as execute_tool refuses it', async ({ mock }) => {
  const deep = `{"to":${'['.repeat(150)}${']'.repeat(150)}}`
  const body = message('tools/call', { name: CALL.name, arguments: 'DEEP' }).replace('"DEEP"', deep)
  expect(await (await post(mock, body)).text()).toContain('MALFORMED_BODY')
})

it('of 1,100 streams that listen 1,000 are open, the others are refused, and calls go on', async ({ mock }) => {
  const answers = await Promise.all(Array.from({ length: 1100 }, () => listen(mock)))
  const types = answers.map((each) => each.headers.get('content-type'))
  expect(types.filter((type) => type === 'text/event-stream')).toHaveLength(1000)
  const refused = answers.filter((_, at) => types[at] !== 'text/event-stream')
  for (const each of refused) expect(await each.text()).toContain('Subscription limit reached')
  expect((await (await mock.connect({ options: MODERN })).callTool(CALL)).isError).toBeUndefined()
  for (const each of answers) if (!each.bodyUsed) await each.body?.cancel()
}, 60_000)

it.for([
  [
    'the clock',
    (mock: McpMock) => {
      mock.advance('25h')
      return Promise.resolve({})
    },
  ],
  ['a change of the clock', (mock: McpMock) => mock.call('PUT', '/_mock/clock', { advance: '25h' })],
  [
    'a fault',
    async (mock: McpMock) => {
      await startScenario(mock, { do: [{ revoke_bearer_tokens: {} }] })
      await mock.call('GET', '/connections')
    },
  ],
])('a stream ends when %s ends the token of its caller', async ([_, end], { mock }) => {
  const stream = await listen(mock)
  expect(stream.status).toBe(200)
  await end(mock)
  expect(await stream.text()).toContain('acknowledged')
})

it('a stream of a session token ends with a reset of its environment, one of an access token hears of changes', async ({
  mock,
}) => {
  const { token } = await mock.call<{ token: string }>('POST', '/mcp/connections/mail/tokens', {
    identifier: 'ada@example.com',
  })
  const [bySession, byAccess] = [await listen({ ...mock, token }), await listen(mock)]
  await mock.call('POST', '/_mock/reset')
  expect(await bySession.text()).toContain('acknowledged')
  await mock.call(
    'PUT',
    '/_mock/connectors/mail',
    parse(await readFile('seeds/connectors/mail.yaml', 'utf8')) as object,
  )
  const reader = byAccess.body!.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  while (!heard.includes('list_changed')) heard += (await reader.read()).value ?? ''
  await reader.cancel()
})

it('a page whose host name was rebound to the mock is refused, one of the configured base URL is not', async () => {
  const list = message('tools/list')
  const statusOf = (mock: McpMock, name: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(mock.url)
      const headers = { ...headersOf(mock), Host: name, Origin: `http://${name}` }
      const options = { port, host: '127.0.0.1', method: 'POST', path: PATH, headers }
      const sent = request(options, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
      sent.on('error', reject)
      sent.end(list)
    })
  await withMcp({}, async (mock) => {
    expect(await statusOf(mock, 'rebound.example')).toBe(403)
    expect(await statusOf(mock, 'localhost')).toBe(200)
  })
  await withMcp({ baseUrl: 'http://mock.example' }, async (mock) => {
    expect(await statusOf(mock, 'mock.example')).toBe(200)
    expect(await statusOf(mock, 'rebound.example')).toBe(403)
  })
})
