import type { ServedOperation } from '../contract/shapes.ts'
import type { CheckContext } from './context.ts'

/** Where an expectation comes from: a part of the service's document, or a point of `docs/fidelity.md`. */
export type CheckBasis = `document:${string}` | `convention:${string}` | `choice:${string}`

export const BASES = ['document', 'convention', 'choice'] as const

/** One expectation of an implementation of the service, as data and a small function. */
export interface Check {
  /** `operation/what`, unique; `--only` selects by it. */
  readonly id: string
  /** The operation that it is about; null when it is about what all operations have in common. */
  readonly operation: ServedOperation | null
  /** The expectation as a sentence. */
  readonly title: string
  readonly basis: CheckBasis
  /** Returns when the expectation holds. @throws Broken; Skipped when the target cannot be asked */
  readonly run: (context: CheckContext) => Promise<void> | void
}

/** A check without its operation, which `checksOf` adds. */
export type CheckEntry = Omit<Check, 'operation'>

/** The checks of one operation, or of all operations together (null). */
export function checksOf(operation: ServedOperation | null, entries: readonly CheckEntry[]): Check[] {
  return entries.map((entry) => ({ ...entry, operation }))
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
