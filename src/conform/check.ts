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
  readonly run: CheckRun
}

/** Returns when the expectation holds. @throws Broken; Skipped when the target cannot be asked */
export type CheckRun = (context: CheckContext) => unknown

/** What names a check: `delete/twice (document:4.8): a second delete is a 404`. */
export type CheckName = `${string}/${string} (${CheckBasis}): ${string}`

/** The checks of one operation, or of all operations together (null). */
export function checksOf(operation: ServedOperation | null, runs: Readonly<Record<CheckName, CheckRun>>): Check[] {
  return Object.entries(runs).map(([name, run]) => {
    const [, id = '', basis = '', title = ''] = /^(\S+) \((\S+)\): (.+)$/.exec(name) ?? []
    return { id, operation, title, basis: basis as CheckBasis, run }
  })
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
