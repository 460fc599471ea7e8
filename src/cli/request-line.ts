import { instant } from '../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { oneLine } from '../domain/text.ts'
import type { JournalEntry } from '../library/types.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import { parsedBody, pathOf, queryOf, requestText, toolOf } from '../request-journal/view.ts'
import type { Terminal } from './command.ts'
import { type Paint, paintFor, type Style } from './paint.ts'
import { widthOf, wrap } from './table.ts'

type Traced = Pick<JournalEntry, 'injected' | 'rules' | 'due' | 'upstream' | 'refreshes' | 'transitions' | 'violations'>

/** What the line of a request tells, of an entry of this process or of one that the control API has answered. */
export interface RequestFacts extends Traced {
  readonly id: string
  readonly kind: JournalEntry['kind']
  /** Milliseconds in the environment's own time. */
  readonly at: number
  readonly environment: string
  readonly operation: string | null
  readonly method: string
  /** Without its query. For `clock` and `control`: what was done, in one sentence. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly errorCode: string | null
  readonly client: string | null
  readonly connector: string
  readonly identifier: string
  readonly tool: string | null
  readonly warnings: readonly Pick<JournalEntry['warnings'][number], 'field' | 'description'>[]
  readonly didYouMean: string | null
}

/** The facts of an entry as the journal of this process stores it. */
export function recordedFacts(entry: RecordedEntry): RequestFacts {
  const { trace, kind } = entry
  const isSentence = kind === 'clock' || kind === 'control'
  const { connector, identifier } = trace.account ?? askedAccount(entry)
  return {
    id: entry.id,
    kind,
    at: entry.at,
    environment: entry.environment,
    operation: entry.operation,
    method: entry.method,
    path: isSentence ? entry.url : pathOf(entry),
    status: entry.status,
    durationMs: entry.durationMs,
    errorCode: entry.errorCode,
    client: entry.client,
    connector,
    identifier,
    tool: toolOf(entry),
    injected: trace.injected,
    rules: trace.rules,
    due: trace.due,
    upstream: trace.upstream,
    refreshes: trace.refreshes,
    transitions: trace.transitions,
    violations: entry.violations,
    warnings: trace.warnings.length === 0 ? entry.warnings : [...entry.warnings, ...trace.warnings],
    didYouMean: entry.didYouMean,
  }
}

/** The facts of an entry as the control API answers it. */
export function entryFacts(entry: JournalEntry): RequestFacts {
  const { connector, identifier } =
    entry.account_state ?? askedIn(entry.query as JsonObject, entry.request.body as JsonValue)
  return {
    ...entry,
    at: Date.parse(entry.at),
    durationMs: entry.duration_ms,
    errorCode: entry.error_code,
    connector,
    identifier,
    didYouMean: entry.did_you_mean,
  }
}

const NO_ACCOUNT = { connector: '', identifier: '' } as const

/** The account that a refused request named. */
function askedAccount(entry: RecordedEntry): { connector: string; identifier: string } {
  if (entry.status < 400 || entry.operation === null || entry.operation === 'create_token') return NO_ACCOUNT
  const query = queryOf(entry)
  return askedIn(query === '' ? {} : Object.fromEntries(new URLSearchParams(query)), parsedBody(requestText(entry)))
}

function askedIn(query: JsonObject, body: JsonValue | undefined): { connector: string; identifier: string } {
  const fields = isJsonObject(body) ? body : {}
  const text = (name: string): string => {
    const value = own(query, name) ?? own(fields, name)
    return typeof value === 'string' ? value : ''
  }
  return { connector: text('connector'), identifier: text('identifier') }
}

/** A piece of a line, in a style. */
interface Part {
  readonly text: string
  readonly style?: Style | undefined
}

/** The longest name of an operation that takes an account. */
const OPERATION_WIDTH = 'get_connected_account_details'.length

/**
 * One request as one line: when, what, its answer, how long, for which account, and what happened behind it. On a terminal that
 * is too narrow the rest goes on in the next lines, under the method.
 */
export function requestLine(facts: RequestFacts, terminal: Terminal | undefined, today: string): string {
  const at = instant(facts.at)
  if (!terminal) return [at, ...partsOf(facts).map(({ text }) => text)].join(' ')
  const time = `${at.startsWith(today) ? '' : `${at.slice(0, 10)} `}${at.slice(11, 19)}`
  return fitted([{ text: time, style: 'dim' }, ...partsOf(facts)], time.length + 1, terminal)
}

function partsOf(facts: RequestFacts): Part[] {
  const { kind, path, operation, method, status, durationMs, environment, connector, identifier, tool } = facts
  const parts: Part[] = []
  if (environment !== 'default' && environment !== '') parts.push({ text: `[${environment}]`, style: 'cyan' })
  if (kind === 'clock' || kind === 'control') return [...parts, { text: plain(path), style: 'dim' }, ...movesOf(facts)]
  parts.push(
    { text: (method === '' ? '?' : plain(method)).padEnd(6) },
    { text: (operation ?? plain(path)).padEnd(OPERATION_WIDTH), style: 'bold' },
    { text: status === 0 ? '---' : String(status), style: statusStyle(status) },
    { text: `${durationMs}ms`.padStart(5), style: 'dim' },
  )
  if (connector !== '' || identifier !== '') parts.push({ text: plain(`${connector} ${identifier}`.trim()) })
  if (tool !== null) parts.push({ text: plain(tool) })
  parts.push(...movesOf(facts))
  if (isWorthExplaining(facts)) parts.push({ text: plain(facts.id), style: 'dim' })
  return parts
}

/** The id is what `toolmock explain` takes. */
function isWorthExplaining({ status, injected, violations, rules }: RequestFacts): boolean {
  return status === 0 || status >= 400 || injected || violations.length > 0 || rules.length > 0
}

/** What happened behind the answer, and what is wrong with the request. */
function movesOf(facts: RequestFacts): Part[] {
  const parts: Part[] = []
  for (const { event, from, to } of facts.due) parts.push({ text: `due: ${event} ${from} → ${to}`, style: 'cyan' })
  if (facts.upstream.length > 0) parts.push({ text: `→ ${upstreamText(facts.upstream)}` })
  for (const { shared, outcome } of facts.refreshes)
    if (shared) parts.push({ text: `refresh of another request: ${outcome}` })
  for (const { from, to } of facts.transitions) {
    if (from !== to)
      parts.push({
        text: from === 'none' ? `created ${to}` : to === 'none' ? 'deleted' : `${from} → ${to}`,
        style: 'cyan',
      })
  }
  if (facts.errorCode !== null) parts.push({ text: plain(facts.errorCode), style: statusStyle(facts.status) })
  for (const { scenario, rule, injected } of facts.rules) {
    parts.push({ text: plain(`${injected ? 'injected by' : 'rule'} ${scenario}/${rule}`), style: 'magenta' })
  }
  if (facts.didYouMean !== null)
    parts.push({ text: plain(`near miss: did you mean ${facts.didYouMean}?`), style: 'red' })
  for (const { field, description } of facts.violations) {
    parts.push({ text: plain(`violation: ${field} ${description}`), style: 'red' })
  }
  for (const { field, description } of facts.warnings) {
    parts.push({ text: plain(`warning: ${field} ${description}`), style: 'yellow' })
  }
  return parts
}

/** `POST mail /v1/messages 401 → refresh 200 → 201`: a call that is made again is its status alone. */
function upstreamText(calls: RequestFacts['upstream']): string {
  let last = ''
  return calls
    .map(({ kind, grant, method, connector, url, status }) => {
      const answer = status === null ? 'no answer' : String(status)
      if (kind === 'token') return `${GRANTS.get(grant ?? '') ?? plain(grant ?? 'token')} ${answer}`
      const call = plain(`${method} ${connector} ${upstreamPath(url)}`)
      const isRepeated = call === last
      last = call
      return isRepeated ? answer : `${call} ${answer}`
    })
    .join(' → ')
}

const GRANTS = new Map([
  ['refresh_token', 'refresh'],
  ['authorization_code', 'code'],
])

function upstreamPath(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url
}

function statusStyle(status: number): Style {
  if (status === 0 || status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

const LONGEST_TEXT = 240

/** Text from outside, which a terminal must not obey. Nearly all of it is plain, and is looked at once. */
function plain(text: string): string {
  return text.length <= LONGEST_TEXT && /^[ -~]*$/.test(text) ? text : oneLine(text, LONGEST_TEXT)
}

/** Parts side by side while they fit; the next ones in lines that are indented. */
function fitted(parts: readonly Part[], indent: number, terminal: Terminal): string {
  const paint: Paint = paintFor(terminal)
  const available = Math.max(terminal.columns - indent, 20)
  const lines: string[] = []
  let [line, used] = ['', 0]
  for (const { text, style } of parts) {
    const painted = (piece: string): string => (style === undefined ? piece : paint(style, piece))
    const pieces = wrap(text.trimEnd().length > available ? text.trimEnd() : text, available)
    for (const piece of pieces) {
      const width = widthOf(piece)
      const isFirst = line === ''
      const limit = lines.length === 0 ? terminal.columns : available
      if (!isFirst && used + 1 + piece.trimEnd().length > limit) {
        lines.push(line)
        ;[line, used] = [painted(piece), width]
      } else {
        line = isFirst ? painted(piece) : `${line} ${painted(piece)}`
        used += width + (isFirst ? 0 : 1)
      }
    }
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}

/** One request as a line of JSON, without bodies. What does not apply to it is left out. */
export function requestJson(facts: RequestFacts): string {
  const { at, didYouMean, durationMs, errorCode, upstream, refreshes, injected, ...same } = facts
  const members = Object.entries({
    level: 'info',
    message: 'request',
    ...same,
    at: instant(at),
    duration_ms: durationMs,
    error_code: errorCode,
    injected: injected ? true : null,
    upstream: upstream.map(({ connector, kind, grant, method, url, status }) => ({
      connector,
      kind,
      grant,
      method,
      path: upstreamPath(url),
      status,
    })),
    refreshes: refreshes.map(({ outcome, shared }) => ({ outcome, shared })),
    did_you_mean: didYouMean,
  })
  const applies = (value: unknown): boolean =>
    value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  return JSON.stringify(Object.fromEntries(members.filter(([, value]) => applies(value))))
}
