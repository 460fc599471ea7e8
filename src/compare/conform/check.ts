import type { ServedOperation } from '../../model/contract/shapes.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { ServiceResponse } from './service-response.ts'
import type { CheckContext } from './context.ts'
import type { QueryParameters } from './target.ts'

/** Where an expectation comes from: a part of the service's document, or a point of `docs/fidelity.md`. */
export type CheckBasis = `document:${string}` | `convention:${string}` | `choice:${string}`

/** One expectation of an implementation of the service, as data and a small function. */
export interface Check {
  /** `group/what`, unique; `--only` selects by it. */
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

/** What one request sends: a value, or what makes it at the target. */
type Sent<T> = T | ((context: CheckContext) => T | Promise<T>)

/** Makes checks of one request each, which are about the status of its answer: `answers(400, { query: 'co' })`. */
export function statusChecks<T extends JsonValue | QueryParameters>(
  ask: (context: CheckContext, input: T) => Promise<ServiceResponse>,
) {
  return (status: number, input: Sent<T>): CheckRun =>
    async (context) => {
      const value = typeof input === 'function' ? await input(context) : input
      return (await ask(context, value)).is(status)
    }
}

/** What names a check in its group: `twice (document:4.8): a second delete is a 404`. */
export type CheckName = `${string} (${CheckBasis}): ${string}`

/** The checks of a group, about one operation or about all operations together (null). */
export function checksOf(
  group: string,
  operation: ServedOperation | null,
  runs: Readonly<Record<CheckName, CheckRun>>,
): Check[] {
  return Object.entries(runs).map(([name, run]) => {
    const [, what = '', basis = '', title = ''] = /^(\S+) \((\S+)\): (.+)$/.exec(name) ?? []
    return { id: `${group}/${what}`, operation, title, basis: basis as CheckBasis, run }
  })
}

export type CheckResult = 'held' | 'broken' | 'skipped'

export interface CheckOutcome extends Pick<Check, 'id' | 'title' | 'basis'> {
  readonly result: CheckResult
  /** Why it is broken or was skipped; empty when it holds. */
  readonly reason: string
}
