import { instant } from '../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { maskText } from '../domain/masking.ts'
import { oneLine } from '../domain/text.ts'
import type { JournalEntry } from '../library/types.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import {
  parsedBody,
  pathOf,
  queryOf,
  requestText,
  shownRule,
  shownTool,
  withoutSecrets,
} from '../request-journal/view.ts'
import type { Terminal } from './command.ts'
import { type Paint, paintFor, type Style } from './paint.ts'
import { widthOf, wrap } from './table.ts'

/** What the line of a request shows of an entry of this process, or of one that the control API answered. */
export interface RequestFacts extends Pick<
  JournalEntry,
  | 'id'
  | 'kind'
  | 'at'
  | 'environment'
  | 'operation'
  | 'method'
  | 'path'
  | 'status'
  | 'duration_ms'
  | 'error_code'
  | 'client'
  | 'tool'
  | 'injected'
  | 'due'
  | 'upstream'
  | 'refreshes'
  | 'transitions'
  | 'violations'
  | 'did_you_mean'
> {
  readonly connector: string
  readonly identifier: string
  readonly rules: readonly Pick<JournalEntry['rules'][number], 'scenario' | 'rule' | 'injected'>[]
  readonly warnings: readonly Pick<JournalEntry['warnings'][number], 'field' | 'description'>[]
}

/** Bodies and headers are not masked for it: they are in no line. */
export function recordedFacts(entry: RecordedEntry): RequestFacts {
  const { trace, kind } = entry
  const { connector, identifier } = trace.account ?? askedAccount(entry)
  return {
    id: entry.id,
    kind,
    at: instant(entry.at),
    environment: entry.environment,
    operation: entry.operation,
    method: entry.method,
    path: isSentence(entry) ? entry.url : pathOf(entry),
    status: entry.status,
    duration_ms: entry.durationMs,
    error_code: entry.errorCode,
    client: entry.client,
    connector,
    identifier,
    tool: shownTool(entry),
    injected: trace.injected,
    rules: trace.rules.map(shownRule),
    due: trace.due,
    upstream: trace.upstream,
    refreshes: trace.refreshes,
    transitions: trace.transitions,
    violations: entry.violations.map(withoutSecrets),
    warnings: [...entry.warnings, ...trace.warnings].map(withoutSecrets),
    did_you_mean: entry.didYouMean,
  }
}

export function entryFacts(entry: JournalEntry): RequestFacts {
  const { connector, identifier } =
    entry.account_state ?? askedIn(entry.query as JsonObject, entry.request.body as JsonValue)
  return { ...entry, connector, identifier }
}

/** A change of the clock or by the control API has a sentence in place of a method and a path. */
function isSentence({ kind, method }: Pick<RequestFacts, 'kind' | 'method'>): boolean {
  return method === '' && (kind === 'clock' || kind === 'control')
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
    return typeof value === 'string' ? maskText(value) : ''
  }
  return { connector: text('connector'), identifier: text('identifier') }
}

interface LineWriter {
  add(text: string, style?: Style): void
}

/** The longest name of an operation that takes an account. */
const OPERATION_WIDTH = 'get_connected_account_details'.length

export class RequestLines {
  readonly #terminal: Terminal | undefined
  /** Real time, whose date is left out on a terminal. */
  readonly #today: () => string

  /** Without a terminal each request is one line, with the whole instant. */
  constructor(terminal: Terminal | undefined, today: () => string) {
    this.#terminal = terminal
    this.#today = today
  }

  /** On a terminal that is too narrow, the rest goes on in the next lines, under the method. */
  text(facts: RequestFacts): string {
    const { at } = facts
    if (!this.#terminal) {
      const line = new PlainLine(at)
      write(line, facts)
      return line.text
    }
    const time = `${at.startsWith(this.#today()) ? '' : `${at.slice(0, 10)} `}${at.slice(11, 19)}`
    const line = new TerminalLine(this.#terminal, time.length + 1)
    line.add(time, 'dim')
    write(line, facts)
    return line.text
  }
}

function write(line: LineWriter, facts: RequestFacts): void {
  const { path, operation, method, status, duration_ms: duration, environment, connector, identifier, tool } = facts
  if (environment !== 'default' && environment !== '') line.add(`[${environment}]`, 'cyan')
  if (isSentence(facts)) line.add(plain(path), 'dim')
  else {
    line.add((method === '' ? '?' : plain(method)).padEnd(6))
    line.add((operation ?? plain(path)).padEnd(OPERATION_WIDTH), 'bold')
    line.add(status === 0 ? '---' : String(status), statusStyle(status))
    line.add(`${duration}ms`.padStart(5), 'dim')
    if (connector !== '') line.add(plain(connector))
    if (identifier !== '') line.add(plain(identifier))
    if (tool !== null) line.add(plain(tool))
  }
  if (isUneventful(facts)) return
  if (facts.error_code !== null) line.add(plain(facts.error_code), statusStyle(status))
  writeEffects(line, facts)
  writeMistakes(line, facts)
  if (isWorthExplaining(facts) && facts.id !== '') line.add(plain(facts.id), 'dim')
}

/** Most requests are answered from the state, and there is no more to show of them. */
function isUneventful(facts: RequestFacts): boolean {
  const { status, due, upstream, refreshes, transitions, rules, violations, warnings } = facts
  const lists = due.length + upstream.length + refreshes.length + transitions.length
  return status > 0 && status < 400 && lists + rules.length + violations.length + warnings.length === 0
}

/** The id is what `toolmock explain` takes. */
function isWorthExplaining({ status, injected, violations, rules }: RequestFacts): boolean {
  return status === 0 || status >= 400 || injected || violations.length > 0 || rules.length > 0
}

function writeEffects(line: LineWriter, { due, upstream, refreshes, transitions, rules }: RequestFacts): void {
  for (const { event, from, to } of due) line.add(`due: ${event} ${from} → ${to}`, 'cyan')
  if (upstream.length > 0) line.add(`→ ${upstreamText(upstream)}`)
  for (const { shared, outcome } of refreshes) if (shared) line.add(`refresh of another request: ${outcome}`)
  for (const { from, to } of transitions) {
    if (from === 'none') line.add(`created ${to}`, 'cyan')
    else if (to === 'none') line.add('deleted', 'cyan')
    else if (from !== to) line.add(`${from} → ${to}`, 'cyan')
  }
  for (const { scenario, rule, injected } of rules) {
    line.add(plain(`${injected ? 'injected by' : 'rule'} ${scenario}/${rule}`), 'magenta')
  }
}

function writeMistakes(line: LineWriter, { did_you_mean: meant, violations, warnings }: RequestFacts): void {
  if (meant !== null) line.add(plain(`near miss: did you mean ${meant}?`), 'red')
  for (const { field, description } of violations) line.add(plain(`violation: ${field} ${description}`), 'red')
  for (const { field, description } of warnings) line.add(plain(`warning: ${field} ${description}`), 'yellow')
}

/** `POST mail /v1/messages 401 → refresh 200 → 201`: a call that is made again is its status alone. */
function upstreamText(calls: RequestFacts['upstream']): string {
  let last = ''
  return calls
    .map((sent) => {
      const { kind, grant, method, connector, status } = sent
      const answer = status === null ? 'no answer' : String(status)
      if (kind === 'token') return `${GRANTS.get(grant ?? '') ?? plain(grant ?? 'token')} ${answer}`
      const call = plain(`${method} ${connector} ${upstreamPath(sent)}`)
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

/** As the connector's file names it: a fake third party serves it below the names of environment and connector. */
function upstreamPath({ environment, connector, url }: RequestFacts['upstream'][number]): string {
  const path = URL.canParse(url) ? new URL(url).pathname : url
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
function plain(text: string): string {
  return text.length <= MAX_TEXT && /^[ -~]*$/.test(text) ? text : oneLine(text, MAX_TEXT)
}

/** One line, however long. */
class PlainLine implements LineWriter {
  constructor(public text: string) {}

  add(text: string): void {
    this.text += ` ${text}`
  }
}

/** Pieces side by side while they fit the terminal; the next ones in lines that are indented. */
class TerminalLine implements LineWriter {
  readonly #terminal: Terminal
  readonly #indent: number
  readonly #paint: Paint
  readonly #lines: string[] = ['']
  #used = 0

  constructor(terminal: Terminal, indent: number) {
    this.#terminal = terminal
    this.#indent = indent
    this.#paint = paintFor(terminal)
  }

  get text(): string {
    return this.#lines.join(`\n${' '.repeat(this.#indent)}`)
  }

  add(text: string, style?: Style): void {
    const available = Math.max(this.#terminal.columns - this.#indent, 20)
    for (const piece of wrap(text.trimEnd().length > available ? text.trimEnd() : text, available)) {
      const painted = style === undefined ? piece : this.#paint(style, piece)
      const last = this.#lines.length - 1
      const limit = last === 0 ? this.#terminal.columns : available
      if (this.#used > 0 && this.#used + 1 + widthOf(piece.trimEnd()) > limit) {
        this.#lines.push(painted)
        this.#used = widthOf(piece)
      } else {
        this.#lines[last] = `${this.#lines[last] ?? ''}${this.#used > 0 ? ' ' : ''}${painted}`
        this.#used += widthOf(piece) + (this.#used > 0 ? 1 : 0)
      }
    }
  }
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
