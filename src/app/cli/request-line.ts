import { instant, type InstantCache } from '../../model/domain/instant.ts'
import { findingText, isViolation } from '../../model/domain/finding.ts'
import { isJsonObject, textOf } from '../../model/domain/json.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { oneLine } from '../../model/domain/text.ts'
import type { JournalEntry } from '../library/types.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import {
  namedAccount,
  entryPath,
  shownRule,
  shownTool,
  testName,
  webhookView,
} from '../../journal/request-journal/view.ts'
import { systemTime } from '../../state/model/time-and-ids.ts'
import { laidOut, type Piece, type Style, type Terminal } from '../../platform/terminal.ts'

/** What the line of a request shows of an entry of this process, or of one that the control API answered. */
type RequestFacts = Pick<JournalEntry, keyof JournalEntry & keyof ReturnType<typeof lineFacts>> &
  Readonly<Record<'connector' | 'identifier', string>>

/** Bodies and headers are not masked for it: they are in no line. */
export function lineFacts(entry: StoredEntry, instants: InstantCache) {
  const { trace, kind } = entry
  const isRefused = entry.status >= 400 && entry.operation !== 'create_token'
  const { connector = '', identifier = '' } = trace.account ?? (isRefused ? namedAccount(entry) : {})
  return {
    id: entry.id,
    kind,
    at: instants.of(entry.at),
    environment: entry.environment,
    operation: entry.operation,
    method: entry.method,
    path: isSentence(entry) ? entry.url : entryPath(entry),
    status: entry.status,
    duration_ms: entry.durationMs,
    error_code: entry.errorCode,
    client: entry.client,
    connector,
    identifier,
    tool: shownTool(entry),
    webhook: webhookView(entry),
    injected: trace.injected,
    rules: trace.rules.map(shownRule),
    due: trace.due,
    upstream: trace.upstream,
    refreshes: trace.refreshes,
    transitions: trace.transitions,
    findings: entry.findings,
    test: testName(entry.test),
  }
}

export function factsOfEntry(entry: JournalEntry): RequestFacts {
  const { query, request, account_state } = entry
  const body: unknown = request.body
  const { connector, identifier } = account_state ?? { ...(isJsonObject(body) ? body : {}), ...query }
  return { ...entry, connector: textOf(connector), identifier: textOf(identifier) }
}

/** A change of the clock or by the control API has a sentence in place of a method and a path. */
function isSentence({ kind, method }: Pick<JournalEntry, 'kind' | 'method'>): boolean {
  return method === '' && (kind === 'clock' || kind === 'control')
}

/** The longest name of an operation that takes an account. */
const OPERATION_WIDTH = 'get_connected_account_details'.length

/** One request: a line with the whole instant. On a terminal the rest goes on in the next lines, behind the time. */
export function requestLine(facts: RequestFacts, terminal: Terminal | undefined): string {
  const { at } = facts
  if (!terminal) {
    let line = at
    for (const [text] of linePieces(facts)) line += ` ${text}`
    return line
  }
  const isToday = at.startsWith(instant(systemTime()).slice(0, 10))
  const time = `${isToday ? '' : `${at.slice(0, 10)} `}${at.slice(11, 19)}`
  return laidOut([[time, 'dim'], ...linePieces(facts)], terminal, time.length + 1)
}

function linePieces(facts: RequestFacts): Piece[] {
  const { path, operation, method, status, duration_ms: duration, environment, connector, identifier, tool } = facts
  const pieces = facts.findings.map((finding): Piece => {
    return [withoutControls(`${finding.kind}: ${findingText(finding)}`), isViolation(finding) ? 'red' : 'yellow']
  })
  if (environment !== 'default' && environment !== '') pieces.push([`[${environment}]`, 'cyan'])
  if (isSentence(facts)) pieces.push([withoutControls(path), 'dim'])
  else {
    pieces.push([(method === '' ? '?' : withoutControls(method)).padEnd(6)])
    pieces.push([(operation ?? withoutControls(path)).padEnd(OPERATION_WIDTH), 'bold'])
    pieces.push([status === 0 ? '---' : String(status), statusStyle(status)])
    pieces.push([`${duration}ms`.padStart(5), 'dim'])
    if (connector !== '') pieces.push([withoutControls(connector)])
    if (identifier !== '') pieces.push([withoutControls(identifier)])
    if (tool !== null) pieces.push([withoutControls(tool)])
    if (facts.webhook) pieces.push([withoutControls(`${facts.webhook.type} ${facts.webhook.event}`)])
  }
  if (isUneventful(facts)) return pieces
  if (facts.error_code !== null) pieces.push([withoutControls(facts.error_code), statusStyle(status)])
  pieces.push(...effectPieces(facts))
  if (isWorthExplaining(facts) && facts.id !== '') pieces.push([withoutControls(facts.id), 'dim'])
  return pieces
}

/** Most requests are answered from the state, and there is no more to show of them. */
function isUneventful(facts: RequestFacts): boolean {
  const { status, due, upstream, refreshes, transitions, rules, findings } = facts
  const lists = due.length + upstream.length + refreshes.length + transitions.length
  return status > 0 && status < 400 && lists + rules.length + findings.length === 0
}

/** The id is what `toolmock explain` takes. */
function isWorthExplaining({ status, injected, findings, rules }: RequestFacts): boolean {
  return status === 0 || status >= 400 || injected || findings.length > 0 || rules.length > 0
}

function* effectPieces({ due, upstream, refreshes, transitions, rules }: RequestFacts): Generator<Piece> {
  for (const { event, from, to } of due) yield [`due: ${event} ${from} → ${to}`, 'cyan']
  if (upstream.length > 0) yield [`→ ${upstreamText(upstream)}`]
  for (const { shared, outcome } of refreshes) if (shared) yield [`refresh of another request: ${outcome}`]
  for (const { from, to } of transitions) {
    if (from === 'none') yield [`created ${to}`, 'cyan']
    else if (to === 'none') yield ['deleted', 'cyan']
    else if (from !== to) yield [`${from} → ${to}`, 'cyan']
  }
  for (const { scenario, rule, injected } of rules) {
    yield [withoutControls(`${injected ? 'injected by' : 'rule'} ${scenario}/${rule}`), 'magenta']
  }
}

/** `POST mail /v1/messages 401 → refresh 200 → 201`: a call that is made again is its status alone. */
function upstreamText(calls: RequestFacts['upstream']): string {
  let last = ''
  return calls
    .map((request) => {
      const { kind, grant, method, connector, status } = request
      const response = status === null ? 'no answer' : String(status)
      if (kind === 'token') return `${GRANTS.get(grant ?? '') ?? withoutControls(grant ?? 'token')} ${response}`
      const call = withoutControls(`${method} ${connector} ${upstreamPath(request)}`)
      const isRepeated = call === last
      last = call
      return isRepeated ? response : `${call} ${response}`
    })
    .join(' → ')
}

const GRANTS = new Map([
  ['refresh_token', 'refresh'],
  ['authorization_code', 'code'],
])

/** As the connector's file names it: a fake third party serves it below the names of environment and connector. */
function upstreamPath({ environment, connector, url }: RequestFacts['upstream'][number]): string {
  const path = parseUrl(url)?.pathname ?? url
  const prefix = `/${environment}/${connector}/api`
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
}

function statusStyle(status: number): Style {
  if (status === 0 || status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

const MAX_TEXT = 240

/** Text from outside, which a terminal must not obey. Nearly all of it is plain, and is looked at once. */
function withoutControls(text: string): string {
  return text.length <= MAX_TEXT && /^[ -~]*$/.test(text) ? text : oneLine(text, MAX_TEXT)
}

/** One request as a line of JSON, without bodies. What does not apply to it is left out. */
export function requestJson(facts: RequestFacts): string {
  const { upstream, refreshes, injected } = facts
  const members = Object.entries({
    level: 'info',
    message: 'request',
    ...facts,
    injected: injected ? true : null,
    upstream: upstream.map((call) => {
      const { connector, kind, grant, method, status } = call
      return { connector, kind, grant, method, path: upstreamPath(call), status }
    }),
    refreshes: refreshes.map(({ outcome, shared }) => ({ outcome, shared })),
  })
  const applies = (value: unknown): boolean =>
    value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  return JSON.stringify(Object.fromEntries(members.filter(([, value]) => applies(value))))
}
