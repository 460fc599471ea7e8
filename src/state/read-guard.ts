import type { Environment } from './environment.ts'
import { StorageError } from './wal/state-errors.ts'

/**
 * Detects that a commit which a request may have read was rolled back. Any rolled-back commit of the environment counts: a
 * disk that refuses is rare, and the client can repeat its request.
 */
export class ReadGuard {
  readonly #environment: Environment
  readonly #rollbacks: number

  constructor(environment: Environment) {
    this.#environment = environment
    this.#rollbacks = environment.rollbacks
  }

  /** @throws StorageError (503) when a commit was rolled back since the guard was made */
  assertValid(): void {
    if (this.#environment.rollbacks === this.#rollbacks) return
    throw new StorageError('the state could not be written', new Error('what this request had read was rolled back'))
  }
}
