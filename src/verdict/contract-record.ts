import {
  ANSWER_FIELDS,
  BODY_FIELDS,
  type FieldNode,
  PATH_FIELDS,
  QUERY_FIELDS,
} from '../contract/generated/field-tables.ts'
import { isJsonObject } from '../domain/json.ts'
import { type ContractUseRecord, isBreach, type OperationUse, type RecordedUse } from '../contract/contract-use.ts'
import type { Operation } from '../contract/shapes.ts'
import type { NotedRule, RequestTrace } from '../domain/request-trace.ts'
import type { TestLabel } from '../domain/test-label.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import { isUnserved, pathOf } from '../request-journal/view.ts'
import { Histories, type ScenarioHistory } from '../scenarios/scenario-run.ts'
import {
  answerViolationsOf,
  Findings,
  type FoundIn,
  foundInEntry,
  MAX_PATH,
  type NewFinding,
  type NewWarning,
  findingKey,
  violationsOf,
  warningsOf,
} from './findings.ts'
import { TokenRaces } from './token-races.ts'
import { LinkFlows } from './link-flows.ts'
import type { FindingOrigin, Reach, UnknownPath } from './report-types.ts'

/** How many removed environments keep a record of their own; the records of older ones are added up. */
const MAX_REMOVED = 200

/** How clients used the contract in each environment, by its name. Records of removed environments stay for the reports. */
export class ContractRecords {
  readonly #byName = new Map<string, EnvironmentContractRecord>()
  readonly #removed = new Set<string>()
  readonly #present: (environment: string) => { readonly test: TestLabel | undefined } | undefined
  #older = new EnvironmentContractRecord()

  /** `present` returns the test that an environment was made for; undefined when there is none of that name. */
  constructor(present: (environment: string) => { readonly test: TestLabel | undefined } | undefined) {
    this.#present = present
  }

  /**
   * The record of an environment; a new environment of an old name continues the record. One that was removed can still have
   * requests, which were under way.
   */
  of(name: string): EnvironmentContractRecord {
    let record = this.#byName.get(name)
    if (!record) this.#byName.set(name, (record = new EnvironmentContractRecord(name, this.#present(name)?.test)))
    const present = this.#removed.has(name) ? this.#present(name) : undefined
    if (present) {
      this.#removed.delete(name)
      record.test = present.test
    }
    return record
  }

  /** The environment was removed; `scenarios` are those that it had. */
  removed(name: string, scenarios: readonly ScenarioHistory[]): void {
    const record = this.of(name)
    for (const history of scenarios) record.scenarios.add(history)
    this.#removed.add(name)
    const [oldest] = this.#removed
    if (this.#removed.size <= MAX_REMOVED || oldest === undefined) return
    this.#removed.delete(oldest)
    const dropped = this.#byName.get(oldest)
    if (dropped) this.#older.add(dropped)
    this.#byName.delete(oldest)
  }

  /** For reading: the record of an environment, with what its present scenarios have seen; empty where there is none. */
  copyOf(name: string, present: readonly ScenarioHistory[] = []): EnvironmentContractRecord {
    const known = this.#byName.get(name)
    const copy = new EnvironmentContractRecord(name, known?.test)
    if (known) copy.add(known)
    for (const history of present) copy.scenarios.add(history)
    return copy
  }

  names(): Iterable<string> {
    return this.#byName.keys()
  }

  get older(): EnvironmentContractRecord {
    return this.#older
  }

  clear(name?: string): void {
    if (name !== undefined) {
      this.#byName.delete(name)
      this.#removed.delete(name)
      return
    }
    this.#byName.clear()
    this.#removed.clear()
    this.#older = new EnvironmentContractRecord()
  }
}

/** How often something happened: by the mock itself, and because a scenario or the control API forced it. */
export interface Times {
  own: number
  injected: number
}

type FoundAt = Pick<RecordedUse, 'request' | 'method' | 'url' | 'clock' | 'body'>

/** A mistake of an application with an event. */
interface FoundAtWebhook extends Omit<FoundAt, 'method' | 'clock'> {
  readonly environment: { readonly clock: { now(): number } }
  readonly mistake: keyof typeof WEBHOOK_RULES
  readonly found: string
}

const WEBHOOK_RULES = {
  forged: {
    path: 'webhook-signature',
    allowed: 'must be verified: an event with a wrong signature must not be answered with 2xx',
  },
  stale: {
    path: 'webhook-timestamp',
    allowed: 'must be verified: an event that is ten minutes old must not be answered with 2xx',
  },
  treated_twice: { path: 'webhook-id', allowed: 'must be treated once: an event may be sent again' },
} as const

type UnservedPath = Omit<UnknownPath, keyof FindingOrigin>

/** How clients used the contract in one environment, since its first request; a reset does not clear it. */
export class EnvironmentContractRecord implements ContractUseRecord {
  requests = 0
  injected = 0
  /** When records of earlier requests were lost with the replica that had them. */
  incompleteSince: string | undefined
  readonly violations = new Findings<NewFinding>(findingKey)
  readonly answerViolations = new Findings<NewFinding>(findingKey)
  readonly warnings = new Findings<NewWarning>(findingKey)
  readonly unknownPaths = new Findings<UnservedPath>(({ method, path, status }) => `${method} ${path} ${status}`)
  /** By operation, status and error code: `verify_user 404 AUTH_REQUEST_NOT_FOUND`. */
  readonly outcomes = new Map<string, Times>()
  /** By operation and part: how far each field was reached, by its number. */
  readonly fields = new Map<Operation, Readonly<Record<Part, Levels>>>()
  /** By `from event to`. */
  readonly moves = new Map<string, Times>()
  readonly flows = new LinkFlows()
  readonly races = new TokenRaces()
  /** Of removed environments of this name; in a copy also of the present one. */
  readonly scenarios = new Histories()

  constructor(
    /** Its name; empty for several together. */
    readonly name = '',
    public test?: TestLabel | undefined,
  ) {}

  static sum(records: readonly EnvironmentContractRecord[]): EnvironmentContractRecord {
    const all = new EnvironmentContractRecord()
    for (const record of records) all.add(record)
    return all
  }

  addUse(use: OperationUse): void {
    const { operation, injected, status, error, authorization, answerViolations } = use
    this.requests += 1
    if (injected) this.injected += 1
    if (status !== 0) count(this.outcomes, `${operation} ${status} ${use.errorCode ?? ''}`, injected)
    const level = injected ? INJECTED : DRIVEN
    this.#addFindings(use)
    if (error === undefined || !isBreach(error, authorization)) this.#reachRequest(use, level)
    if (status >= 200 && status < 300) this.#reach(operation, 'answer', use.answer, level)
    if (answerViolations.length > 0) {
      const found = { ...this.#foundIn(use), body: use.answer }
      this.answerViolations.addAll(answerViolationsOf(operation, answerViolations), found)
    }
  }

  addProxyUse(use: RecordedUse): void {
    this.requests += 1
    this.#addFindings(use)
  }

  /** Adds what an application does with an event that it must not do (G68). */
  addWebhookFinding({ environment: { clock }, mistake, url, request, found, body }: FoundAtWebhook): void {
    const finding = { operation: 'webhook', constraint: mistake, error_code: null, found, ...WEBHOOK_RULES[mistake] }
    this.violations.add(finding, this.#foundIn({ request, method: 'POST', url, clock, body }))
  }

  #addFindings(use: RecordedUse): void {
    const { error, checked, trace } = use
    const hasWarnings = trace.warnings.length > 0 || (checked !== undefined && checked.warnings.length > 0)
    if (error !== undefined || hasWarnings) this.violations.addAll(violationsOf(use), this.#foundIn(use))
    if (hasWarnings) this.warnings.addAll(warningsOf(use), this.#foundIn(use))
  }

  /** Counts the transitions of accounts in a request, a page, or a control call. */
  addMoves({ due, transitions }: RequestTrace): void {
    for (const { from, event, to, forced } of [...due, ...transitions]) {
      count(this.moves, `${from} ${event} ${to}`, forced === true)
    }
  }

  /** A barrier opened by its time: what the scenario is for did not take place. */
  addLateBarrier(
    { scenario, rule, at, late: allowed }: Pick<NotedRule, 'scenario' | 'rule' | 'at'> & { readonly late: string },
    entry: RecordedEntry,
  ): void {
    const kind = 'barrier_opened_late'
    const path = `rule ${JSON.stringify(rule)} of scenario ${scenario}`
    const operation = entry.operation ?? at
    const item = { kind, constraint: kind, operation, path, error_code: null, found: 'fewer', allowed } as const
    this.warnings.add(item, foundInEntry(entry, this.test))
  }

  add(other: EnvironmentContractRecord): void {
    this.requests += other.requests
    this.incompleteSince = [this.incompleteSince, other.incompleteSince].filter(Boolean).sort().at(-1)
    this.injected += other.injected
    this.violations.merge(other.violations)
    this.answerViolations.merge(other.answerViolations)
    this.warnings.merge(other.warnings)
    this.unknownPaths.merge(other.unknownPaths)
    addTimes(this.outcomes, other.outcomes)
    addTimes(this.moves, other.moves)
    this.flows.add(other.flows)
    this.races.add(other.races)
    for (const history of other.scenarios.list()) this.scenarios.add(history)
    for (const [operation, parts] of other.fields) {
      const own = this.#reached(operation)
      for (const part of Object.keys(own) as Part[]) raise(own[part], parts[part])
    }
  }

  #foundIn({ request, method, url, clock, body }: Omit<FoundAt, 'body'> & { readonly body?: unknown }): FoundIn {
    const { name: environment, test } = this
    return { request, environment, method, url, at: clock?.now() ?? 0, body, test }
  }

  #reachRequest({ operation, checked, body }: OperationUse, level: Level): void {
    if (!checked) return
    const sent = { path: checked.path, query: checked.query, body }
    for (const part of REQUEST_PARTS) this.#reach(operation, part, sent[part], level)
  }

  #reach(operation: Operation, part: Part, value: unknown, level: Level): void {
    const node = FIELDS[part][operation]
    if (node) markFields(node, value, { levels: this.#reached(operation)[part], level, takesEmpty: part !== 'answer' })
  }

  #reached(operation: Operation): Record<Part, Levels> {
    let parts = this.fields.get(operation)
    if (!parts) this.fields.set(operation, (parts = { path: [], query: [], body: [], answer: [] }))
    return parts
  }
}

function count(counts: Map<string, Times>, key: string, injected: boolean): void {
  let times = counts.get(key)
  if (!times) counts.set(key, (times = { own: 0, injected: 0 }))
  times[injected ? 'injected' : 'own'] += 1
}

function addTimes(to: Map<string, Times>, from: ReadonlyMap<string, Times>): void {
  for (const [key, { own, injected }] of from) {
    const times = to.get(key) ?? { own: 0, injected: 0 }
    to.set(key, { own: times.own + own, injected: times.injected + injected })
  }
}

function raise(to: Levels, from: Levels): void {
  for (const [at, level] of from.entries()) if (level && level > (to[at] ?? 0)) to[at] = level
}

/** Browsers request these from every server by themselves, and health checks request `/`: no client meant the service. */
const REQUESTED_OF_EVERY_SERVER =
  /^\/(|favicon\.ico|robots\.txt|apple-touch-icon[\w.-]*\.png|\.well-known\/appspecific\/.*)$/

/** Adds what an entry of the journal has beside the operation: unserved paths, and transitions of accounts. */
export function recordEntry(records: ContractRecords, entry: RecordedEntry): void {
  const { operation, method, environment, trace } = entry
  if (trace.due.length > 0 || trace.transitions.length > 0) records.of(environment).addMoves(trace)
  if (trace.link || operation === 'verify_user' || trace.tokens.length > 0) {
    const { flows, races, test } = records.of(environment)
    flows.see(entry, test)
    races.see(entry, test)
  }
  for (const { scenario, rule, at, late } of trace.rules)
    if (late !== undefined) records.of(environment).addLateBarrier({ scenario, rule, at, late }, entry)
  if (!isUnserved(entry)) return
  const path = pathOf(entry)
  if ((method === 'GET' || method === 'HEAD') && REQUESTED_OF_EVERY_SERVER.test(path)) return
  const unserved = {
    method,
    path: path.slice(0, MAX_PATH),
    status: entry.status,
    did_you_mean: entry.didYouMean,
  } as const
  const { unknownPaths, test } = records.of(environment)
  unknownPaths.add(unserved, foundInEntry(entry, test))
}

/** How far a field was reached, as its number here; the higher one wins. */
export const LEVELS = ['never', 'injected_only', 'driven'] as const satisfies readonly Reach[]
const INJECTED = 1
const DRIVEN = 2
type Level = typeof INJECTED | typeof DRIVEN
type Levels = (Level | undefined)[]

export type Part = 'path' | 'query' | 'body' | 'answer'
export const REQUEST_PARTS = ['path', 'query', 'body'] as const satisfies readonly Part[]

/** The fields that requests and successful answers of an operation may have, in each of their parts. */
const FIELDS: Readonly<Record<Part, Readonly<Record<string, FieldNode>>>> = {
  path: PATH_FIELDS,
  query: QUERY_FIELDS,
  body: BODY_FIELDS,
  answer: ANSWER_FIELDS,
}

/**
 * Fields that an operation always answers empty, so that no client can reach them: there are no scopes (G13), a new account was
 * never used (G26), a custom provider has no categories yet.
 */
const NEVER_FILLED: Partial<Record<Operation, readonly string[]>> = {
  create_token: ['scope'],
  create_connected_account: ['connected_account.last_used_at'],
  create_custom_provider: ['provider.categories'],
}

interface Field {
  readonly number: number
  /** Dotted, `accounts[].status`. */
  readonly path: string
  readonly required: boolean
}

/** Without the output-only fields of a request and without aliases, which count as the field they stand for. */
export function fieldsOf(operation: Operation, part: Part): Field[] {
  const neverFilled = part === 'answer' ? (NEVER_FILLED[operation] ?? []) : []
  const inside = ({ items, fields = {} }: FieldNode, path: string): Field[] => [
    ...(items ? inside(items, `${path}[]`) : []),
    ...Object.entries(fields).flatMap(([name, field]) => {
      const { number = 0, required = false, outputOnly, aliasOf } = field
      const own = path === '' ? name : `${path}.${name}`
      const isLeftOut = (part !== 'answer' && outputOnly) || aliasOf !== undefined || neverFilled.includes(own)
      return isLeftOut ? [] : [{ number, path: own, required }, ...inside(field, own)]
    }),
  ]
  return inside(FIELDS[part][operation] ?? {}, '')
}

interface Mark {
  readonly levels: Levels
  readonly level: Level
  /** Whether an empty text or list reaches a field. In an answer these mean that there is nothing (G53). */
  readonly takesEmpty: boolean
}

/** Marks every field that a value contains as reached. It runs for each answer: it allocates nothing, and looks into no text. */
function markFields(node: FieldNode, value: unknown, mark: Mark): void {
  const { levels, level, takesEmpty } = mark
  const { number } = node
  if (number !== undefined && (levels[number] ?? 0) < level && (takesEmpty || !isEmpty(value))) {
    levels[number] = level
  }
  if (typeof value !== 'object') return
  const { items, fields } = node
  if (Array.isArray(value)) {
    if (items) for (const item of value as unknown[]) markFields(items, item, mark)
  } else if (fields && isJsonObject(value)) {
    for (const name in fields) {
      const field = fields[name]
      const found = value[name]
      if (field && found !== undefined) markFields(field, found, mark)
    }
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}
