import type { ContractWarning } from '../contract/contract.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { Instant } from '../domain/instant.ts'

/** One request and what became of it. */
export interface JournalEntry {
  /** The `X-Request-Id` of the answer (G18). */
  readonly id: string
  /** In the environment's own time, and in real time. */
  readonly at: Instant
  readonly real_at: Instant
  readonly duration_ms: number
  readonly method: string
  readonly path: string
  /** Null for paths and methods that are not served. */
  readonly operation: string | null
  readonly status: number
  /** The stable `error_code` of an answer of 400 and above. */
  readonly error_code: string | null
  readonly client_id: string | null
  readonly account_id: string | null
  readonly execution_id: string | null
  readonly agent_run_id: string | null
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly ContractWarning[]
  /** Where our own answer broke the contract: a defect of the mock. */
  readonly response_violations: readonly FieldViolation[]
}

/** The requests of one environment, oldest first, at most `capacity` of them. */
export class Journal {
  readonly #entries: JournalEntry[] = []
  #next = 0

  constructor(readonly capacity: number) {}

  get size(): number {
    return this.#entries.length
  }

  record(entry: JournalEntry): void {
    this.#entries[this.#next] = entry
    this.#next = (this.#next + 1) % this.capacity
  }

  /** Oldest first. */
  entries(): JournalEntry[] {
    const full = this.#entries.length === this.capacity
    return full ? [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)] : [...this.#entries]
  }
}
