import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Api, ConformTarget } from '../../../src/compare/conform/target.ts'
import { ServiceResponse } from '../../../src/compare/conform/service-response.ts'
import { type Exchange, exchangesOf } from '../../../src/compare/drift/har.ts'
import { mcpSettingsOf } from '../../../src/compare/drift/mcp.ts'
import { compareExchanges } from '../../../src/compare/drift/replay.ts'
import { reportOf } from '../../../src/compare/drift/report.ts'
import { createToolmock, type ToolmockOptions } from '../../../src/index.ts'
import { HttpClient } from '../../../src/platform/http-client.ts'

const URL_OF_MAIL = '/mcp/v3/connections/mail'
const FOLDER = await mkdtemp(join(tmpdir(), 'toolmock-drift-mcp-'))
afterAll(() => rm(FOLDER, { recursive: true, force: true }))
const PAGES = { virtual_mcp: true, mcp: { page_size: 1 } }
const SESSIONS = { virtual_mcp: true, mcp: { sessions: true } }

it.each([
  ['as they are', {}],
  ['with pages and sessions', { virtual_mcp: true, mcp: { page_size: 1, sessions: true } }],
])('MCP servers %s have no difference, whatever ids, tokens, sessions and cursors they make', async (_, settings) => {
  const exchanges = await recorded({ idSeed: 1, settings })
  const report = await replayed(exchanges, { idSeed: 2, settings })
  expect(report.findings).toEqual([])
  expect(report.gaps.confirmed).toContain('G61')
  expect(mcpSettingsOf(exchanges)).toEqual('mcp' in settings ? settings.mcp : {})
})

it.each([
  ['pages', PAGES, 'mcp_tools_list/result.nextCursor/extra'],
  ['sessions', SESSIONS, 'mcp_initialize/mcp-session-id/header'],
])('a service with %s differs from a mock without', async (_, settings, id) => {
  const report = await replayed(await recorded({ settings }), {})
  expect(report.findings).toContainEqual(expect.objectContaining({ id, class: 'mock', gap: 'G61' }))
})

it.each<[id: string, request: string, from: string | RegExp, to: string]>([
  ['mcp_initialize/200:result.protocolVersion/value', 'initialize', '2025-06-18', '2025-03-26'],
  [
    'mcp_initialize/200:result.capabilities.tools.listChanged/value',
    'initialize',
    '"listChanged":false',
    '"listChanged":true',
  ],
  ['mcp_tools_list/200:result.tools[].inputSchema/value', 'tools/list', '"type":"object"', '"type":["object"]'],
  [
    'mcp_tools_list/200:result.tools[].outputSchema/extra',
    'tools/list',
    '"inputSchema"',
    '"outputSchema":{"type":"object"},"inputSchema"',
  ],
  ['mcp_tools_list/200:result.tools[]/items', 'tools/list', '"name":"mail_', '"name":"post_'],
  ['mcp_tools_call/200:result.structuredContent/missing', 'tools/call', '"structuredContent":', '"other":'],
  [
    'mcp_tools_call/200.TOOL_NOT_FOUND:result.refusal.details[].error_code/error_code',
    'TOOL_NOT_FOUND',
    'TOOL_NOT_FOUND',
    'NO_SUCH_TOOL',
  ],
  ['mcp_no_such_method/200:error.code/code', 'no/such/method', '-32601', '-32600'],
])('%s is found', async (id, request, from, to) => {
  const exchanges = (await recorded({})).map((exchange) => {
    const { serviceResponse: response } = exchange
    const isMeant = `${exchange.request.body ?? ''}${response.text}`.includes(request)
    const text = isMeant ? response.text.replaceAll(from, to) : response.text
    return {
      ...exchange,
      serviceResponse: new ServiceResponse(response.asked, response.status, response.headers, text),
    }
  })
  expect((await replayed(exchanges, {})).findings.map((each) => each.id)).toContain(id)
})

it('a service without the challenge of its 401 differs', async () => {
  const exchanges = (await recorded({})).map((exchange) => {
    const { asked, status, headers, text } = exchange.serviceResponse
    const { 'www-authenticate': _challenge, ...otherHeaders } = headers
    return { ...exchange, serviceResponse: new ServiceResponse(asked, status, otherHeaders, text) }
  })
  const ids = (await replayed(exchanges, {})).findings.map(({ id }) => id)
  expect(ids).toContain('mcp_tools_list/www-authenticate/header')
})

it('a request with a session token that the recording does not make is not compared', async () => {
  const [list] = (await recorded({})).filter(
    ({ request, serviceResponse }) => serviceResponse.status === 200 && request.body?.includes('tools/list'),
  )
  const { identifier: _user, ...headers } = list!.request.headers!
  const report = await replayed([{ ...list!, request: { ...list!.request, headers } }], {})
  expect(report.gaps.confirmed).not.toContain('G61')
})

it('a stream that a client of the service kept open is left out', () => {
  const header = (name: string, value: string) => ({ name, value })
  const response = { status: 200, headers: [header('Content-Type', 'text/event-stream')], content: {} }
  const request = { method: 'GET', url: `https://service.example${URL_OF_MAIL}`, headers: [] }
  const entries = [{ startedDateTime: '2026-01-01T00:00:00Z', request, response }]
  expect(exchangesOf({ log: { entries } })).toEqual([])
  entries[0]!.request.method = 'POST'
  expect(exchangesOf({ log: { entries } })).toHaveLength(1)
})

interface MockOptions extends ToolmockOptions {
  readonly settings?: object
}

async function mockWith({ settings = { virtual_mcp: true }, ...options }: MockOptions) {
  const accounts = [{ connector: 'mail', identifier: 'ada@drift.example', status: 'ACTIVE' }]
  const seed = join(FOLDER, 'seed.json')
  await writeFile(seed, JSON.stringify({ settings, accounts }))
  return createToolmock({ ...options, seeds: ['bundled', seed] })
}

/** What an MCP client of a mock sends, with the answers. */
async function recorded(options: MockOptions): Promise<Exchange[]> {
  await using service = await mockWith(options)
  const client = new HttpClient(service.url)
  const exchanges: Exchange[] = []
  let session: string | undefined
  const send = async (method: string, path: string, body: object, headers: Record<string, string>) => {
    const request = {
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const { status, headers: received, text } = await client.send(request)
    exchanges.push({ request, serviceResponse: new ServiceResponse(`${method} ${path}`, status, received, text) })
    session = received['mcp-session-id']?.toString() ?? session
    const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
    return JSON.parse(json) as Record<string, unknown> & { result?: Record<string, unknown> }
  }
  const bearer = {
    authorization: `Bearer ${await new Api(new ConformTarget(service.url), { id: service.clientId, secret: service.clientSecret }).token()}`,
  }
  const account = { connector: 'mail', identifier: 'ben@drift.example', connected_account: {} }
  await send('POST', '/api/v1/connected_accounts', account, bearer)
  let authorization = {}
  const ask = (method: string, params: object = {}) =>
    send(
      'POST',
      URL_OF_MAIL,
      { jsonrpc: '2.0', id: 1, method, params },
      {
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
        ...authorization,
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    )
  await ask('tools/list')
  authorization = { ...bearer, identifier: 'ada@drift.example' }
  const clientInfo = { name: 'client', version: '1' }
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  await ask('no/such/method')
  let cursor: unknown
  do {
    cursor = (await ask('tools/list', cursor === undefined ? {} : { cursor })).result?.['nextCursor']
  } while (cursor !== undefined)
  await ask('tools/call', { name: 'mail_list_messages', arguments: {} })
  await ask('tools/call', { name: 'mail_no_such_tool', arguments: {} })
  const minted = await send('POST', '/api/v1/mcp/connections/mail/tokens', { identifier: 'ben@drift.example' }, bearer)
  authorization = { authorization: `Bearer ${String(minted['token'])}` }
  await ask('tools/call', { name: 'mail_list_messages', arguments: {} })
  return exchanges
}

async function replayed(exchanges: readonly Exchange[], options: MockOptions) {
  await using mock = await mockWith(options)
  const target = new ConformTarget(mock.url)
  try {
    const findings = await compareExchanges({
      ...{ exchanges, mock: target, client: { id: mock.clientId, secret: mock.clientSecret } },
    })
    return reportOf(findings.list(), findings.gaps())
  } finally {
    target.close()
  }
}
