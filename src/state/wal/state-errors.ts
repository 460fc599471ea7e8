import { ServiceError } from '../../domain/errors.ts'
import { StartError } from '../../domain/start-error.ts'
import { STATE_VERSION } from '../model/state-image.ts'

/** A state file that cannot be used: what is wrong and where. Nothing was touched; the command line exits with 2. */
export class StateError extends StartError {
  override readonly name = 'StateError'
}

/** A state of another version is neither read nor changed. */
export function otherVersion(path: string, what: string): StateError {
  return new StateError(
    `${path}: it is ${what}, and this toolmock reads state files of version ${STATE_VERSION} only; nothing was changed, and --fresh replaces it`,
  )
}

/** The disk refused a commit. The model is as it was before; the caller gets 503 `STORAGE_UNAVAILABLE`. */
export class StorageError extends ServiceError {
  constructor(what: string, cause: unknown, outcome = 'nothing was changed') {
    super('STORAGE_UNAVAILABLE', `${what}: ${cause instanceof Error ? cause.message : String(cause)}; ${outcome}`)
    this.cause = cause
  }
}

/** A request for an environment that was removed meanwhile: its bearer tokens are gone too. */
export function removed(name: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', `the environment ${name} was removed`)
}
