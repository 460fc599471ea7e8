import type { Trail } from '../domain/trail.ts'
import type { Environment } from '../store/environment.ts'
import type { Recorded } from './entry.ts'

/** Something that was done to an environment from outside of the service. */
export interface OutsideChange {
  /** `clock` for a clock that was moved, `control` for everything else. */
  readonly kind: 'clock' | 'control'
  readonly id: string
  readonly environment: Environment
  /** What was done, in one sentence without a full stop: `the clock was moved by 2h`. */
  readonly what: string
  /** What it caused: what fell due, for instance. */
  readonly trail: Trail
  /** Milliseconds of real time. */
  readonly realAt: number
}

/** Its entry in the journal of the environment. */
export function changeEntry({ kind, id, environment, what, trail, realAt }: OutsideChange): Recorded {
  return {
    kind,
    id,
    environment: environment.name,
    at: environment.clock.now(),
    realAt,
    durationMs: 0,
    operation: null,
    method: '',
    url: what,
    requestHeaders: [],
    requestBody: '',
    status: 0,
    errorCode: null,
    responseHeaders: {},
    responseBody: '',
    client: null,
    trail,
    violations: [],
    warnings: [],
    responseViolations: [],
    failure: null,
  }
}
