import type { CheckContext } from './context.ts'

/** Where an expectation comes from: a part of the service's document, or a point of `docs/fidelity.md`. */
export type CheckBasis = `document:${string}` | `convention:${string}` | `choice:${string}`

export const BASES = ['document', 'convention', 'choice'] as const

/** One expectation of an implementation of the service, as data and a small function. */
export interface Check {
  /** `operation/what`, unique; `--only` picks by it. */
  readonly id: string
  /** What holds when it holds. */
  readonly title: string
  readonly basis: CheckBasis
  /** Returns when the expectation holds. @throws Broken; Skipped when it cannot be asked of this target */
  readonly run: (context: CheckContext) => Promise<void>
}

export type CheckResult = 'held' | 'broken' | 'skipped'

export interface CheckOutcome {
  readonly id: string
  readonly title: string
  readonly basis: CheckBasis
  readonly result: CheckResult
  /** Why it is broken or was skipped; empty when it holds. */
  readonly reason: string
}
