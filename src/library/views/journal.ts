import type { OperationName } from './journal-entry.ts'

/** An entry that is nearly what was asked for, and in what it is not. */
export interface NearMiss {
  readonly id: string
  readonly at: string
  readonly operation: OperationName | null
  readonly method: string
  readonly path: string
  readonly status: number
  readonly differences: readonly { readonly field: string; readonly wanted: unknown; readonly found: unknown }[]
}

/** How many entries matched. */
export interface JournalVerdict {
  readonly ok: boolean
  readonly matched: number
  readonly near_misses: readonly NearMiss[]
}

/** Why an answer is what it is, in plain words; secrets are masked. */
export interface Explanation {
  readonly id: string
  readonly at: string
  /** What was asked and what was answered, in one sentence. */
  readonly summary: string
  readonly decided_by: 'scenario' | 'contract' | 'service' | 'third_party' | 'mock'
  readonly error_code: string | null
  /** Which check or rule decided. */
  readonly because: string
  /** The part of the service document, the id of the choice in `docs/fidelity.md`, or both. */
  readonly basis: string | null
  /** The clock and the entities behind it, at that moment. */
  readonly facts: readonly string[]
  readonly advice: readonly string[]
  /** All of it as text. */
  readonly text: string
}
