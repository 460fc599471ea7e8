import { expect } from 'vitest'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import { ADA, it, type McpMock } from './fixture.ts'

const TOOL = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const EVE = 'eve@example.com'
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'plain', version: '1' },
  [CAPABILITIES]: {},
}
const OLD = { 'MCP-Protocol-Version': '2025-11-25' }
const NEW = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': TOOL.name }

type Row = [what: string, headers: Record<string, string>, params: JsonObject]

/** Calls that get a result, and calls that MCP refuses. */
const CALLS: readonly Row[] = [
  ['of 2025', OLD, TOOL],
  ['of 2025 without a version', {}, TOOL],
  ['of 2025 by a client that takes no events', { ...OLD, Accept: 'application/json' }, TOOL],
  ['of 2025 with a wrong version', { 'MCP-Protocol-Version': '2025-01-01' }, TOOL],
  ['of 2025 whose arguments are a text', OLD, { ...TOOL, arguments: 'bob' }],
  ['of 2025 without the name of a tool', OLD, { arguments: {} }],
  ['of 2025 of another media type', { ...OLD, 'Content-Type': 'text/plain' }, TOOL],
  ['of 2025 from another site', { ...OLD, Origin: 'https://evil.example' }, TOOL],
  ['of 2025 for an unknown tool', OLD, { ...TOOL, name: 'mail_burn' }],
  ['of 2025 for a user who has no account', { ...OLD, identifier: 'bob@example.com' }, TOOL],
  ['of 2025 for an account that is not active', { ...OLD, identifier: EVE }, TOOL],
  ['of 2025 that names no user', { ...OLD, identifier: '' }, TOOL],
  ['of 2026', NEW, { ...TOOL, _meta: ENVELOPE }],
  ['of 2026 for an account that is not active', { ...NEW, identifier: EVE }, { ...TOOL, _meta: ENVELOPE }],
  [
    'of 2026 by a client that opens links, for an account that is not active',
    { ...NEW, identifier: EVE },
    { ...TOOL, _meta: { ...ENVELOPE, [CAPABILITIES]: { elicitation: { url: {} } } } },
  ],
  ['of 2026 with capabilities that are a list', NEW, { ...TOOL, _meta: { ...ENVELOPE, [CAPABILITIES]: [] } }],
  ['of 2026 whose capabilities are null', NEW, { ...TOOL, _meta: { ...ENVELOPE, [CAPABILITIES]: null } }],
  ['of 2026 by a client that takes only JSON', { ...NEW, Accept: 'application/json' }, { ...TOOL, _meta: ENVELOPE }],
  ['of 2026 with the name of another tool', { ...NEW, 'Mcp-Name': 'mail_burn' }, { ...TOOL, _meta: ENVELOPE }],
  ['of 2026 with the name of another method', { ...NEW, 'Mcp-Method': 'tools/list' }, { ...TOOL, _meta: ENVELOPE }],
  ['of 2026 without the headers of its revision', OLD, { ...TOOL, _meta: ENVELOPE }],
  ['of 2026 without its envelope', NEW, { ...TOOL, _meta: {} }],
  ['of 2026 whose arguments are a text', NEW, { ...TOOL, arguments: 'bob', _meta: ENVELOPE }],
  [
    'of 2030',
    { ...NEW, 'MCP-Protocol-Version': '2030-01-01' },
    { ...TOOL, _meta: { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2030-01-01' } },
  ],
]

async function answer({ url, token }: McpMock, headers: Record<string, string>, params: JsonObject) {
  const response = await fetch(`${url}/mcp/v3/connections/mail`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      ...ADA,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }),
  })
  const text = (await response.text()).replaceAll(/(req_|exec_|msg_|thr_|magic\/)[\w-]{20,}/g, '$1')
  const named = ['content-type', 'cache-control', 'x-accel-buffering', 'www-authenticate'].map((name) =>
    response.headers.get(name),
  )
  // The order of the keys says nothing.
  const [event = '', json = ''] = /^([^{]*)(\{.*\})?\s*$/.exec(text)?.slice(1) ?? []
  return { status: response.status, headers: named, event, message: json && (JSON.parse(json) as JsonObject) }
}

it.for(CALLS)('%s has the answer that the library makes of a call with one', async ([_, headers, params], { mock }) => {
  await mock.call('POST', '/connected_accounts', { connector: 'mail', identifier: EVE })
  const meta = { ...(params['_meta'] as JsonObject | undefined), progressToken: 'p' }
  const byLibrary = await answer(mock, headers, { ...params, _meta: meta })
  expect(await answer(mock, headers, params)).toEqual(byLibrary)
  const entries = await mock.journal()
  const seen = entries.filter(({ protocol }) => protocol === 'mcp')
  const [first, second] = seen.map(({ status, error_code, operation }) => ({ status, error_code, operation }))
  expect(seen).toHaveLength(2)
  expect(second).toEqual(first)
})
