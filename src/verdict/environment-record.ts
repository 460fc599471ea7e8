import type { CheckedRequest } from '../contract/contract.ts'
import type { Operation } from '../contract/shapes.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { Histories } from '../scenarios/scenario-run.ts'
import { type ContractFields, type Part, REQUEST_PARTS } from './contract-fields.ts'
import {
  answerViolationsOf,
  isBreach,
  type JudgedExchange,
  type NotedWarning,
  violationsOf,
  warningsOf,
} from './exchange-findings.ts'
import { mark } from './fields.ts'
import { Findings, keyOf, type Noted } from './findings.ts'
import { DRIVEN, INJECTED, type Level, type Times } from './reach.ts'

/** One request as the request pipeline leaves it, before it is put into the words of a vocabulary. */
export interface Walked {
  readonly operation: Operation
  readonly request: string
  readonly authorization: string | undefined
  /** Absent where it was refused before the contract check. */
  readonly checked: CheckedRequest<Operation> | undefined
  readonly body: unknown
  readonly error: unknown
  /** 0: no answer left. */
  readonly status: number
  readonly errorCode: string | null
  readonly answer: unknown
  readonly answerViolations: readonly FieldViolation[]
  /** A scenario answered, cut or changed it. */
  readonly injected: boolean
  readonly trace: RequestTrace
}

export interface Unserved {
  readonly method: string
  readonly path: string
  readonly status: 404 | 405
  readonly did_you_mean: string | null
}

/** What has reached the operations of one environment, since it came to be: whatever is reset, this goes on. */
export class EnvironmentRecord {
  requests = 0
  injected = 0
  readonly violations = new Findings<Noted>(keyOf)
  readonly answerViolations = new Findings<Noted>(keyOf)
  readonly warnings = new Findings<NotedWarning>(keyOf)
  readonly unknownPaths = new Findings<Unserved>(({ method, path, status }) => `${method} ${path} ${status}`)
  /** By operation, status and error code: `verify_user 404 AUTH_REQUEST_NOT_FOUND`. */
  readonly outcomes = new Map<string, Times>()
  /** By operation and part: how far each field has been reached. */
  readonly fields = new Map<Operation, Partial<Record<Part, Uint8Array>>>()
  /** By `from event to`. */
  readonly moves = new Map<string, Times>()
  /** Of environments that had this name before. */
  readonly scenarios = new Histories()
  readonly #declared: ContractFields

  constructor(declared: ContractFields) {
    this.#declared = declared
  }

  static together(records: readonly EnvironmentRecord[], declared: ContractFields): EnvironmentRecord {
    const all = new EnvironmentRecord(declared)
    for (const record of records) all.add(record)
    return all
  }

  walked(walked: Walked): void {
    const { operation, request, injected, status, errorCode, error, authorization } = walked
    this.requests += 1
    if (injected) this.injected += 1
    if (status !== 0) count(this.outcomes, `${operation} ${status} ${errorCode ?? ''}`, injected)
    const level = injected ? INJECTED : DRIVEN
    if (error !== undefined) this.#noteAll(this.violations, violationsOf(judged(walked)), request)
    if (!isBreach(error, authorization)) this.#reachRequest(walked, level)
    if (status >= 200 && status < 300) this.#reach(operation, 'answer', walked.answer, level)
    const { answerViolations, checked, trace } = walked
    if (answerViolations.length > 0) {
      this.#noteAll(this.answerViolations, answerViolationsOf(operation, answerViolations), request)
    }
    if (trace.warnings.length > 0 || (checked && checked.warnings.length > 0)) {
      this.#noteAll(this.warnings, warningsOf(judged(walked)), request)
    }
  }

  /** What moved on the way of a request, a page, a tick of the clock, or by the control API. */
  moved({ due, transitions }: RequestTrace): void {
    if (due.length === 0 && transitions.length === 0) return
    for (const { from, event, to, forced } of [...due, ...transitions]) {
      count(this.moves, `${from} ${event} ${to}`, forced === true)
    }
  }

  add(other: EnvironmentRecord): void {
    this.requests += other.requests
    this.injected += other.injected
    this.violations.add(other.violations)
    this.answerViolations.add(other.answerViolations)
    this.warnings.add(other.warnings)
    this.unknownPaths.add(other.unknownPaths)
    addTimes(this.outcomes, other.outcomes)
    addTimes(this.moves, other.moves)
    for (const history of other.scenarios.list()) this.scenarios.add(history)
    for (const [operation, parts] of other.fields) {
      for (const [part, reached] of Object.entries(parts) as [Part, Uint8Array][]) {
        further(this.#reached(operation, part), reached)
      }
    }
  }

  #reachRequest({ operation, checked, body }: Walked, level: Level): void {
    if (!checked) return
    const sent = { path: checked.path, query: checked.query, body }
    for (const part of REQUEST_PARTS) this.#reach(operation, part, sent[part], level)
  }

  #reach(operation: Operation, part: Part, value: unknown, level: Level): void {
    const tree = this.#declared.of(operation)[part]
    if (tree.fields.length > 0) mark(tree, value, this.#reached(operation, part), level)
  }

  #reached(operation: Operation, part: Part): Uint8Array {
    let parts = this.fields.get(operation)
    if (!parts) this.fields.set(operation, (parts = {}))
    return (parts[part] ??= new Uint8Array(this.#declared.of(operation)[part].fields.length))
  }

  #noteAll<Note extends object>(findings: Findings<Note>, notes: readonly Note[], request: string): void {
    for (const note of notes) findings.note(note, request)
  }
}

function judged({ checked, trace, ...walked }: Walked): JudgedExchange {
  return { ...walked, query: checked?.query, warnings: checked?.warnings ?? [], ignored: trace.warnings }
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

function further(own: Uint8Array, reached: Uint8Array): void {
  for (const [at, level] of reached.entries()) if (level > (own[at] ?? 0)) own[at] = level
}
