import type { Coverage } from './coverage.ts'
import type { OperationName } from './journal-entry.ts'

/** One rule of the contract that was broken, however often. */
export interface ContractFinding {
  readonly operation: string
  /** Where: a dotted path into the body, a query parameter, or a header. */
  readonly path: string
  readonly constraint: string
  /** With which the request was refused; null where it was not. */
  readonly error_code: string | null
  /** What was sent, in the first of the requests; content of credentials is left out. */
  readonly found: string
  readonly allowed: string
  /** A part of the service document, or an id of `docs/fidelity.md`. */
  readonly basis: string
  readonly count: number
  /** Ids of the first requests that had it, for `journal.explain`. */
  readonly requests: readonly string[]
}

/** Something that was sent without effect. */
export interface ContractWarning extends ContractFinding {
  readonly kind: 'unread' | 'output_only' | 'alias' | 'ignored'
}

/** A path that is not served, or not with this method. */
export interface UnknownPath {
  readonly method: string
  readonly path: string
  readonly status: 404 | 405
  readonly did_you_mean: string | null
  readonly count: number
  readonly requests: readonly string[]
}

/** A rule of a scenario that had to fire and never did. */
export interface UnfiredFinding {
  /** Null for a scenario of the start, whose rules may fire in any environment. */
  readonly environment: string | null
  readonly scenario: string
  readonly rule: string
  readonly at: string
  /** Requests that fitted the rule, but not its `when`. */
  readonly matched: number
}

/** What clients did to the contract. */
export interface ContractRecord {
  readonly requests: number
  /** Of them, those that a scenario answered, cut or changed: no proof of anything. */
  readonly injected: number
  readonly violations: readonly ContractFinding[]
  /** By answers of the mock itself: a defect of the mock. */
  readonly answer_violations: readonly ContractFinding[]
  readonly unknown_paths: readonly UnknownPath[]
  readonly warnings: readonly ContractWarning[]
  readonly unfired_rules: readonly UnfiredFinding[]
  /** Findings beyond the thousand of each kind that are kept. */
  readonly left_out: number
}

/** What `GET /_mock/contract` answers (`spec/schemas/contract-report.schema.json`). */
export interface ContractReport {
  readonly schema_version: 1
  readonly tool: { readonly name: 'toolmock'; readonly version: string }
  /** When it was made, in real time. */
  readonly at: string
  /** No violations, no unknown paths, and every rule fired that had to. */
  readonly ok: boolean
  readonly total: ContractRecord
  readonly environments: readonly (ContractRecord & { readonly name: string })[]
}

/** Why a verdict failed, was let off, or warns; one sentence each. */
export interface VerdictItem<Kind extends string> {
  readonly kind: Kind
  readonly sentence: string
  /** Ids of requests, for `journal.explain`. */
  readonly requests: readonly string[]
}

export type VerdictReason = VerdictItem<'violation' | 'answer_violation' | 'unknown_path' | 'unfired_rule' | 'coverage'>

/** Whether the contract was kept, and enough of it exercised. */
export interface ContractVerdict {
  readonly ok: boolean
  readonly reasons: readonly VerdictReason[]
  /** What would be reasons, and was allowed. */
  readonly allowed: readonly VerdictReason[]
  /** What was sent without effect, and what was allowed for nothing; they never fail. */
  readonly warnings: readonly VerdictItem<ContractWarning['kind'] | 'unused_allowance'>[]
  readonly requests: number
  readonly injected: number
  /** What was exercised, each kind by itself. */
  readonly summary: Coverage['summary']
}

/**
 * What is provoked on purpose: every violation of an operation (`execute_tool`), those at one of its fields or inside it
 * (`execute_tool:tool_input`), paths that are not served (`unknown_path`), or one of them with all below it (`unknown_path:/v2`).
 */
export type Allowance = `${OperationName | 'unknown_path'}${'' | `:${string}`}`

/** So many at least, or such a part of all. */
export type Amount = number | `${number}%`
