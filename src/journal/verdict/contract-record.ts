import {
  ANSWER_FIELDS,
  BODY_FIELDS,
  type FieldNode,
  PATH_FIELDS,
  QUERY_FIELDS,
} from '../../model/contract/generated/field-tables.ts'
import { isJsonObject } from '../../model/domain/json.ts'
import type { ContractUseSink, OperationUse } from '../../model/contract/contract-use.ts'
import { isOperation } from '../../model/contract/route.ts'
import { type Operation, PROXY_REQUEST } from '../../model/contract/shapes.ts'
import { isViolation } from '../../model/domain/finding.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import type { StoredEntry } from '../request-journal/entry.ts'
import { refusalReason } from '../request-journal/findings.ts'
import { Histories, type ScenarioHistory } from '../../scenarios/scenario-run.ts'
import { CountedFindings } from './counted-findings.ts'
import { TokenRaces } from './token-races.ts'
import { LinkFlows } from './link-flows.ts'
import type { Reach } from './report-types.ts'

/** How many removed environments keep a record of their own; the records of older ones are added up. */
const MAX_REMOVED = 200

/** How clients used the contract in each environment, by its name. Records of removed environments stay for the reports. */
export class ContractRecords {
  readonly #byName = new Map<string, EnvironmentContractRecord>()
  readonly #removed = new Set<string>()
  readonly #present: (environment: string) => { readonly test: TestLabel | undefined } | undefined
  #older = new EnvironmentContractRecord()

  /** `present` returns the test that an environment was made for; undefined when there is none of that name. */
  constructor(current: (environment: string) => { readonly test: TestLabel | undefined } | undefined) {
    this.#present = current
  }

  /** A new environment of an old name continues it; a removed one can still have requests that were under way. */
  of(name: string): EnvironmentContractRecord {
    let record = this.#byName.get(name)
    if (!record) this.#byName.set(name, (record = new EnvironmentContractRecord(name, this.#present(name)?.test)))
    const current = this.#removed.has(name) ? this.#present(name) : undefined
    if (current) {
      this.#removed.delete(name)
      record.test = current.test
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
  copyOf(name: string, running: readonly ScenarioHistory[] = []): EnvironmentContractRecord {
    const ofEnvironment = this.#byName.get(name)
    const copy = new EnvironmentContractRecord(name, ofEnvironment?.test)
    if (ofEnvironment) copy.add(ofEnvironment)
    for (const history of running) copy.scenarios.add(history)
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
export interface ResponseCounts {
  own: number
  injected: number
}

/** How clients used the contract in one environment, since its first request; a reset does not clear it. */
export class EnvironmentContractRecord implements ContractUseSink {
  requests = 0
  judged = 0
  injected = 0
  /** How many requests were refused for their credentials, by the reason. */
  readonly refused = new Map<string, number>()
  /** When records of earlier requests were lost with the replica that had them. */
  incompleteSince: string | undefined
  readonly findings = new CountedFindings()
  /** By operation, status and error code: `verify_user 404 AUTH_REQUEST_NOT_FOUND`. */
  readonly outcomes = new Map<string, ResponseCounts>()
  /** By operation and part: how far each field was reached, by its number. */
  readonly fields = new Map<Operation, Readonly<Record<Part, Levels>>>()
  /** By `from event to`. */
  readonly moves = new Map<string, ResponseCounts>()
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
    const { operation, injected, status } = use
    if (injected) this.injected += 1
    if (status !== 0) countResponse(this.outcomes, `${operation} ${status} ${use.errorCode ?? ''}`, injected)
    const level = injected ? INJECTED : DRIVEN
    if (!use.isBreach) this.#reachRequest(use, level)
    if (status >= 200 && status < 300) this.#markReached(operation, 'answer', use.response, level)
  }

  /** A verdict judges no request that was refused for its credentials, and none that only fetches a token. */
  addRequest(entry: StoredEntry): void {
    const { operation, findings } = entry
    const reason = refusalReason(entry)
    if (reason === undefined && !(isOperation(operation ?? '') || operation === PROXY_REQUEST)) return
    this.requests += 1
    if (reason !== undefined) this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1)
    else if (operation !== 'create_token' || findings.some(isViolation)) this.judged += 1
  }

  /** Counts the transitions of accounts in a request, a page, or a control call. */
  addMoves({ due, transitions }: RequestTrace): void {
    for (const { from, event, to, forced } of [...due, ...transitions]) {
      countResponse(this.moves, `${from} ${event} ${to}`, forced === true)
    }
  }

  add(merged: EnvironmentContractRecord): void {
    this.requests += merged.requests
    this.judged += merged.judged
    for (const [reason, requests] of merged.refused)
      this.refused.set(reason, (this.refused.get(reason) ?? 0) + requests)
    this.incompleteSince = [this.incompleteSince, merged.incompleteSince].filter(Boolean).sort().at(-1)
    this.injected += merged.injected
    this.findings.merge(merged.findings)
    addTimes(this.outcomes, merged.outcomes)
    addTimes(this.moves, merged.moves)
    this.flows.add(merged.flows)
    this.races.add(merged.races)
    for (const history of merged.scenarios.list()) this.scenarios.add(history)
    for (const [operation, parts] of merged.fields) {
      const levels = this.#reachedParts(operation)
      for (const part of Object.keys(levels) as Part[]) raiseLevels(levels[part], parts[part])
    }
  }

  #reachRequest({ operation, checked, body }: OperationUse, level: Level): void {
    if (!checked) return
    const request = { path: checked.path, query: checked.query, body }
    for (const part of REQUEST_PARTS) this.#markReached(operation, part, request[part], level)
  }

  #markReached(operation: Operation, part: Part, value: unknown, level: Level): void {
    const node = FIELDS[part][operation]
    if (node)
      markFields(node, value, { levels: this.#reachedParts(operation)[part], level, takesEmpty: part !== 'answer' })
  }

  #reachedParts(operation: Operation): Record<Part, Levels> {
    let parts = this.fields.get(operation)
    if (!parts) this.fields.set(operation, (parts = { path: [], query: [], body: [], answer: [] }))
    return parts
  }
}

function countResponse(counts: Map<string, ResponseCounts>, key: string, injected: boolean): void {
  let times = counts.get(key)
  if (!times) counts.set(key, (times = { own: 0, injected: 0 }))
  times[injected ? 'injected' : 'own'] += 1
}

function addTimes(to: Map<string, ResponseCounts>, from: ReadonlyMap<string, ResponseCounts>): void {
  for (const [key, { own, injected }] of from) {
    const times = to.get(key) ?? { own: 0, injected: 0 }
    to.set(key, { own: times.own + own, injected: times.injected + injected })
  }
}

function raiseLevels(to: Levels, from: Levels): void {
  for (const [at, level] of from.entries()) if (level && level > (to[at] ?? 0)) to[at] = level
}

/** Adds what an entry of the journal has beside the use of its operation: whether it is judged, findings, transitions of accounts. */
export function countEntry(records: ContractRecords, entry: StoredEntry): void {
  const { kind, operation, environment, findings, trace } = entry
  if (kind === 'request') records.of(environment).addRequest(entry)
  if (findings.length > 0) records.of(environment).findings.addEntry(entry)
  if (trace.due.length > 0 || trace.transitions.length > 0) records.of(environment).addMoves(trace)
  if (!trace.link && operation !== 'verify_user' && trace.tokens.length === 0) return
  const { flows, races } = records.of(environment)
  flows.see(entry)
  races.see(entry)
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

/** Always empty in answers: no scopes (G13), a new account was never used (G26), no categories of providers yet. */
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
export function operationFields(operation: Operation, part: Part): Field[] {
  const neverFilled = part === 'answer' ? (NEVER_FILLED[operation] ?? []) : []
  const inside = ({ items, fields = {} }: FieldNode, path: string): Field[] => [
    ...(items ? inside(items, `${path}[]`) : []),
    ...Object.entries(fields).flatMap(([name, field]) => {
      const { number = 0, required = false, outputOnly, aliasOf } = field
      const fieldPath = path === '' ? name : `${path}.${name}`
      const isLeftOut = (part !== 'answer' && outputOnly) || aliasOf !== undefined || neverFilled.includes(fieldPath)
      return isLeftOut ? [] : [{ number, path: fieldPath, required }, ...inside(field, fieldPath)]
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
  if (number !== undefined && (levels[number] ?? 0) < level && (takesEmpty || !isEmptyMember(value))) {
    levels[number] = level
  }
  if (typeof value !== 'object') return
  const { items, fields } = node
  if (Array.isArray(value)) {
    if (items) for (const item of value as unknown[]) markFields(items, item, mark)
  } else if (fields && isJsonObject(value)) {
    for (const name in fields) {
      const field = fields[name]
      const member = value[name]
      if (field && member !== undefined) markFields(field, member, mark)
    }
  }
}

function isEmptyMember(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}
