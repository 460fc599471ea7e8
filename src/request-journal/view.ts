import { instant } from '../domain/instant.ts'
import { isJsonObject, type JsonValue, own } from '../domain/json.ts'
import type { RequestTrace, UpstreamCall } from '../domain/request-trace.ts'
import { parsedBody, shownBody, truncation } from './body-text.ts'
import { didYouMean } from './did-you-mean.ts'
import type { AccountState, JournalEntry, JournalMessage, RecordedEntry } from './entry.ts'
import { type DocumentName, maskHeader, maskParameters, maskText } from './masking.ts'

/** An entry as it is read: formatted, parsed, and with its secrets masked. */
export function viewOf(entry: RecordedEntry): JournalEntry {
  const { trace, kind } = entry
  const [path, query] = splitOnce(entry.url)
  return {
    id: entry.id,
    kind,
    at: instant(entry.at),
    real_at: instant(entry.realAt),
    duration_ms: entry.durationMs,
    environment: entry.environment,
    operation: entry.operation,
    method: entry.method,
    path,
    query: maskParameters(new URLSearchParams(query)),
    status: entry.status,
    error_code: entry.errorCode,
    client: entry.client,
    account: trace.account?.id ?? null,
    account_state: accountState(trace),
    execution: trace.execution_id ?? null,
    agent_run_id: trace.agent_run_id ?? null,
    tool: toolOf(entry),
    injected: trace.injected,
    rules: trace.rules,
    due: trace.due,
    upstream: trace.upstream.map(shownCall),
    refreshes: trace.refreshes.map((refresh) => ({ ...refresh, reason: maskText(refresh.reason) })),
    transitions: trace.transitions,
    request: requestOf(entry),
    response: responseOf(entry),
    violations: entry.violations,
    warnings: [...entry.warnings, ...trace.warnings.map((warning) => ({ ...warning, kind: 'ignored' as const }))],
    response_violations: entry.responseViolations,
    did_you_mean: didYouMean(entry),
    failure: entry.failure === null ? null : maskText(entry.failure),
  }
}

/** The body of a request as text. */
export function requestText({ requestBody }: RecordedEntry): string {
  return typeof requestBody === 'string' ? requestBody : Buffer.from(requestBody).toString()
}

/** The tool that an execution names; null for every other request. */
export function toolOf(entry: RecordedEntry): string | null {
  if (entry.operation !== 'execute_tool') return null
  const body = parsedBody(requestText(entry))
  const name = isJsonObject(body) ? own(body, entry.vocabulary?.wire('tool_name') ?? 'tool_name') : undefined
  return typeof name === 'string' ? name : null
}

function accountState({ account }: RequestTrace): AccountState | null {
  if (!account) return null
  const { id, connector, identifier, status, token_expires_at = null } = account
  return { id, connector, identifier, status, token_expires_at }
}

function requestOf(entry: RecordedEntry): JournalMessage {
  const headers: [string, string][] = []
  for (let at = 0; at + 1 < entry.requestHeaders.length; at += 2) {
    const name = (entry.requestHeaders[at] ?? '').toLowerCase()
    headers.push([name, maskHeader(name, entry.requestHeaders[at + 1] ?? '')])
  }
  // The form behind a magic link holds nothing but credentials, whatever the connector calls them.
  const everySecret = entry.kind === 'page' && entry.url.startsWith('/magic/')
  return message(headers, requestText(entry), { everySecret, documentName: documentNameOf(entry) })
}

function responseOf(entry: RecordedEntry): JournalMessage {
  const headers = Object.entries(entry.responseHeaders).map(([name, value]): [string, string] => {
    const lower = name.toLowerCase()
    return [lower, maskHeader(lower, value)]
  })
  return message(headers, entry.responseBody, { everySecret: false, documentName: documentNameOf(entry) })
}

/** By the document's names it is told which fields are secrets, whatever the wire calls them; undefined where it has no others. */
export function documentNameOf({ vocabulary }: RecordedEntry): DocumentName | undefined {
  return vocabulary && ((name) => vocabulary.document(name))
}

function message(
  headers: readonly [string, string][],
  text: string,
  { everySecret, documentName }: { everySecret: boolean; documentName: DocumentName | undefined },
): JournalMessage {
  const byName = new Map(headers)
  const truncated = truncation(text, Number(byName.get('content-length') ?? 0))
  const body: JsonValue = shownBody(text, byName.get('content-type') ?? '', everySecret, documentName)
  return { headers: Object.fromEntries(byName), body, ...(truncated === undefined ? {} : { truncated }) }
}

function shownCall(call: UpstreamCall): UpstreamCall {
  const answer = shownBody(call.answer, '', false)
  return {
    ...call,
    ms: Math.round(call.ms * 100) / 100,
    answer: typeof answer === 'string' ? answer : JSON.stringify(answer),
  }
}

function splitOnce(url: string): [string, string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}
