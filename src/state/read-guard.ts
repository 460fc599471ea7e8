import type { Environment } from './environment.ts'
import { StorageError } from './wal/state-errors.ts'

/**
 * What somebody stands on who reads, waits and then goes on by what was read: that no commit of the environment has been
 * rolled back since. Which commits were read is not asked: a disk that refuses is rare, and whoever is told so asks again.
 */
export class ReadGuard {
  readonly #environment: Environment
  readonly #rollbacks: number

  constructor(environment: Environment) {
    this.#environment = environment
    this.#rollbacks = environment.rollbacks
  }

  /** @throws StorageError (503) when what was read may be gone: nothing must be answered or changed by it */
  hold(): void {
    if (this.#environment.rollbacks === this.#rollbacks) return
    throw new StorageError('the state could not be written', new Error('what this request had read was rolled back'))
  }
}
