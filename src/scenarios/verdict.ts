import type { Fault, FaultKind, FiredRule } from '../domain/scenario.ts'

/** A fault on the wire, with what its rule allows it. */
export interface WireStep {
  readonly fault: Fault
  readonly offSpec: boolean
}

/** What the rules that fired on a request want done with it; model faults have already happened. */
export interface Verdict {
  readonly fired: readonly FiredRule[]
  /** Faults on the wire, in their order. */
  readonly wire: readonly WireStep[]
  /** Model faults that happened, for whoever has to look again. */
  readonly happened: ReadonlySet<FaultKind>
}
