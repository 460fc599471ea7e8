import type { components } from '../../model/contract/generated/control-types.ts'
import { bodyInDocumentWords, queryInDocumentWords } from '../../model/contract/vocabulary.ts'
import { decodeBody } from '../../platform/body-text.ts'
import { instant } from '../../model/domain/instant.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  nestsDeeper,
  ownMember,
  parsedJson,
} from '../../model/domain/json.ts'
import { isViolation } from '../../model/domain/finding.ts'
import { headerPairs, headersByName } from '../../model/domain/request-headers.ts'
import type { TracedRule, RequestTrace, TracedCall } from '../../model/domain/request-trace.ts'
import type { ScenarioFault } from '../../model/domain/scenario.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import { type AccountState, type EntryDocument, type MessageDocument, KEPT, type StoredEntry } from './entry.ts'
import {
  type DocumentName,
  maskSecret,
  maskHeader,
  maskJson,
  maskParameters,
  maskText,
  maskUrl,
} from '../../model/domain/masking.ts'

/** An entry as people and programs read it: formatted, parsed, and with its secrets masked. */
export function entryView(entry: StoredEntry): EntryDocument {
  const { trace } = entry
  return {
    id: entry.id,
    kind: entry.kind,
    at: instant(entry.at),
    real_at: instant(entry.realAt),
    duration_ms: entry.durationMs,
    environment: entry.environment,
    operation: entry.operation,
    protocol: entry.protocol,
    method: entry.method,
    path: entryPath(entry),
    query: maskParameters(new URLSearchParams(entryQuery(entry))),
    status: entry.status,
    error_code: entry.errorCode,
    client: entry.client,
    mcp_client: entry.mcpClient === null ? null : maskText(entry.mcpClient),
    account: trace.account?.id ?? null,
    account_state: accountState(trace),
    execution: trace.execution_id ?? null,
    agent_run_id: trace.agent_run_id ?? null,
    tool: shownTool(entry),
    injected: trace.injected,
    rules: trace.rules.map(shownRule),
    due: trace.due,
    upstream: trace.upstream.map(upstreamView),
    refreshes: trace.refreshes.map((refresh) => ({ ...refresh, reason: maskText(refresh.reason) })),
    transitions: trace.transitions,
    request: requestView(entry),
    response: responseView(entry),
    findings: [...entry.findings],
    refused_by_check: entry.checkViolations.length > 0,
    test: testName(entry.test),
    failure: entry.failure === null ? null : maskText(entry.failure),
    webhook: webhookView(entry),
  }
}

export type TimelineDocument = components['schemas']['TimelineEntry']

/** `sequence` is its number in its journal. */
export function timelineEntry(entry: StoredEntry, sequence: number): TimelineDocument {
  const { account = namedAccount(entry) } = entry.trace
  return {
    sequence,
    id: entry.id,
    kind: entry.kind,
    protocol: entry.protocol,
    event: entry.webhook?.type ?? null,
    at: instant(entry.at),
    real_at: instant(entry.realAt),
    duration_ms: Math.round(entry.durationMs * 100) / 100,
    environment: entry.environment,
    operation: entry.operation,
    method: entry.method,
    path: entryPath(entry),
    status: entry.status,
    error_code: entry.errorCode,
    client: entry.client,
    account: entry.trace.account?.id ?? null,
    connector: account.connector ?? null,
    identifier: account.identifier ?? null,
    tool: shownTool(entry),
    marks: MARKS.filter((mark) => IS_MARKED[mark](entry)),
  }
}

/** The connector and the identifier that a request names in its query or body, of an account that was not found. */
export function namedAccount(entry: StoredEntry): Partial<Record<'connector' | 'identifier', string>> {
  if (entry.operation === null) return {}
  return Object.fromEntries(
    ['connector', 'identifier'].flatMap((name) => {
      const identifier = sentText(entry, name)
      return identifier === undefined ? [] : [[name, maskText(identifier)]]
    }),
  )
}

/** A text of the request's body or query, by its name in the document (G48). */
export function sentText(entry: StoredEntry, field: string): string | undefined {
  const { operation, vocabulary } = entry
  const [query, body] = [entryQuery(entry), recordedBody(requestText(entry)) ?? null]
  const [documentQuery, documentBody] =
    vocabulary && operation
      ? [queryInDocumentWords(operation, query, vocabulary), bodyInDocumentWords(operation, body, vocabulary)]
      : [query, body]
  const inBody = isJsonObject(documentBody) ? ownMember(documentBody, field) : undefined
  const value = inBody ?? new URLSearchParams(documentQuery).get(field)
  return typeof value === 'string' ? value : undefined
}

type Mark = TimelineDocument['marks'][number]

const IS_MARKED: { readonly [Name in Mark]: (entry: StoredEntry) => boolean } = {
  violation: ({ findings }) => findings.some(isViolation),
  warning: ({ findings }) => findings.some((finding) => !isViolation(finding)),
  injected: ({ trace }) => trace.injected,
  rule: ({ trace }) => trace.rules.length > 0,
  refresh: ({ trace }) => trace.refreshes.length > 0,
  transition: ({ trace }) => trace.transitions.length > 0 || trace.due.length > 0,
  unserved: isUnserved,
  // A responder or a rule that answers 500 leaves no failure.
  defect: ({ findings, status, failure }) =>
    findings.some(({ code }) => code === 'mock_answer') || (status === 500 && failure !== null),
}
const MARKS = Object.keys(IS_MARKED) as Mark[]

/** The test of an entry or finding, as all outputs show it. */
export function testName(test: TestLabel | undefined): TestName | null {
  return test ? { name: test.label, file: test.file ?? null, line: test.line ?? null } : null
}

export type TestName = components['schemas']['NamedTest']

/** Whether its path is not served, or not with its method. A server of MCP serves more than operations, its sessions end, and clients try its methods. */
export function isUnserved({ kind, operation, protocol, status, errorCode }: Omit<StoredEntry, 'findings'>): boolean {
  const isRefused = (status === 404 && errorCode !== 'MCP_SESSION_NOT_FOUND') || (status === 405 && protocol !== 'mcp')
  return kind === 'request' && operation === null && isRefused
}

export function entryPath({ url }: Pick<StoredEntry, 'url'>): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Without the question mark; empty when there is none. */
export function entryQuery({ url }: Pick<StoredEntry, 'url'>): string {
  return url.slice(entryPath({ url }).length + 1)
}

export function requestText({ requestBody }: Pick<StoredEntry, 'requestBody'>): string {
  return decodedBodyText(requestBody)
}

export function responseText({ responseBody }: StoredEntry): string {
  return decodedBodyText(responseBody)
}

function decodedBodyText(body: Uint8Array | string): string {
  return typeof body === 'string' ? body : decodeBody(Buffer.from(body), {}, body.length)
}

/** The headers of a request. Of one that was sent twice the first counts. */
export function requestHeadersOf({ requestHeaders }: Pick<StoredEntry, 'requestHeaders'>): Record<string, string> {
  return headersByName(headerPairs(requestHeaders).reverse())
}

/** The headers of a response; one that was sent more than once is one list. */
export function responseHeadersOf({ responseHeaders }: StoredEntry): [name: string, value: string][] {
  return Object.entries(responseHeaders).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')])
}

/** The tool that an execution names; null for every other request. */
export function executedTool(entry: StoredEntry): string | null {
  return entry.operation === 'execute_tool' ? (sentText(entry, 'tool_name') ?? null) : null
}

export function shownTool(entry: StoredEntry): string | null {
  const tool = executedTool(entry)
  return tool === null ? null : maskText(tool)
}

export function webhookView({ webhook }: StoredEntry): EntryDocument['webhook'] {
  if (!webhook) return null
  const { webhook: name, event_id: event, type, attempts, cause } = webhook
  return { name, event, type, attempt: attempts + 1, cause }
}

function accountState({ account }: RequestTrace): AccountState | null {
  if (!account) return null
  const { id, connector, identifier, organization_id, user_id, status, token_expires_at = null } = account
  return { id, connector, identifier, organization_id, user_id, status, token_expires_at }
}

export function shownRule({
  late: _late,
  matched: _matched,
  of: _of,
  ...rule
}: TracedRule): EntryDocument['rules'][number] {
  return { ...rule, sentence: maskText(rule.sentence), do: rule.do.map(faultDocument) }
}

/** A fault as a scenario document has it: durations say their unit, and what was not given is absent. */
function faultDocument({ kind, params }: ScenarioFault): JsonObject {
  const by = ownMember(params, 'by')
  if (kind === 'advance_clock' && typeof by === 'number') return { advance_clock: `${by}ms` }
  const parameters = Object.entries(params).filter(([name, value]) => name === 'body' || value !== null)
  return { [kind]: maskJson(Object.fromEntries(parameters)) }
}

function requestView(entry: StoredEntry): MessageDocument {
  const headers = headerPairs(entry.requestHeaders).map(([name, value]) => [name.toLowerCase(), value] as const)
  // Every field of the form behind a magic link is a credential; the connector may give it any name.
  const everySecret = entry.kind === 'page' && entry.url.startsWith('/magic/')
  return messageView(headers, requestText(entry), entry, { isShortened: entry.isRequestShortened, everySecret })
}

function responseView(entry: StoredEntry): MessageDocument {
  const { isResponseShortened: isShortened } = entry
  return messageView(responseHeadersOf(entry), responseText(entry), entry, { isShortened, everySecret: false })
}

/** Maps a name on the wire to the document's, by which secret fields are known; undefined without a vocabulary. */
export function documentNameOf({ vocabulary }: StoredEntry): DocumentName | undefined {
  return vocabulary && ((name) => vocabulary.document(name))
}

function messageView(
  headers: readonly (readonly [string, string])[],
  text: string,
  entry: StoredEntry,
  { isShortened, everySecret }: { readonly isShortened: boolean; readonly everySecret: boolean },
): MessageDocument {
  const byName = new Map(headers.map(([name, value]) => [name, maskHeader(name, value)]))
  const size = Number(byName.get('content-length') ?? 0)
  // A body that was too large to be read is not there at all.
  const truncated = isShortened || (text === '' && size > KEPT) ? truncationNote(text, size) : undefined
  const body = shownBody(text, byName.get('content-type') ?? '', everySecret, documentNameOf(entry))
  return { headers: Object.fromEntries(byName), body, ...(truncated === undefined ? {} : { truncated }) }
}

function truncationNote(text: string, size: number): string {
  return size > KEPT
    ? `the body had ${size} bytes; the first ${text.length} characters are kept`
    : `the first ${text.length} characters of the body are kept`
}

function upstreamView(call: TracedCall): TracedCall {
  const response = shownBody(call.answer, '', false)
  return {
    ...call,
    url: maskUrl(call.url),
    ms: Math.round(call.ms * 100) / 100,
    answer: typeof response === 'string' ? response : jsonText(response),
  }
}

/** A body with its secrets masked, parsed by its media type. */
export function shownBody(
  text: string,
  mediaType: string,
  everySecret: boolean,
  documentName?: DocumentName,
): JsonValue {
  if (text === '') return null
  // A form begins with a name; clients send other text under its media type.
  if (mediaType.includes('x-www-form-urlencoded') && /^[\w.~%+*[\]-]*(?:[=&]|$)/.test(text)) {
    return maskParameters(new URLSearchParams(text), everySecret) as JsonValue
  }
  const json = recordedBody(text)
  if (json !== undefined) return maskJson(json, everySecret ? 'secret' : 'open', documentName)
  return everySecret ? maskSecret(text) : maskText(text)
}

/** Masking recurses, and a deeper value would overflow the stack. No operation accepts one, so it is shown as text. */
const MAX_DEPTH = 500

/** A body that was cut by bytes has at least this many characters. */
const SHORTEST_CUT = KEPT / 4

/** The value of a JSON body, also of one whose end was cut off; undefined for anything else. */
export function recordedBody(text: string): JsonValue | undefined {
  if (nestsDeeper(text, MAX_DEPTH)) return undefined
  return parsedJson(text) ?? (text.length >= SHORTEST_CUT ? parsedJson(closeJson(text)) : undefined)
}

/** JSON text whose end is missing, cut back to its last whole member and closed; whole text stays as it is. */
function closeJson(text: string): string {
  const closers: string[] = []
  let safe = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? ''
    if (quoted) {
      if (char === '\\') at++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']')
      safe = at + 1
    } else if (char === '}' || char === ']') {
      closers.pop()
      safe = at + 1
    } else if (char === ',') safe = at
  }
  return closers.length === 0 ? text : text.slice(0, safe) + closers.reverse().join('')
}
