import { ServiceError } from '../../model/domain/errors.ts'
import { StartError } from '../../model/domain/start-error.ts'

/** A state file that cannot be used: what is wrong and where. Nothing was touched; the command line exits with 2. */
export class StateError extends StartError {
  override readonly name = 'StateError'
}

/** The disk refused a commit. The model is as it was before; the caller gets 503 `STORAGE_UNAVAILABLE`. */
export class StorageError extends ServiceError {
  constructor(what: string, cause: unknown, outcome = failureOutcome(cause)) {
    super('STORAGE_UNAVAILABLE', `${what}: ${cause instanceof Error ? cause.message : String(cause)}; ${outcome}`)
    this.cause = cause
  }
}

/** What was written may or may not be stored: a database did not answer. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
}

function failureOutcome(cause: unknown): string {
  return cause instanceof UnknownOutcomeError ? 'the change may or may not have been stored' : 'nothing was changed'
}

/** A request for an environment that was removed meanwhile: its bearer tokens are gone too. */
export function removedEnvironmentError(name: string): ServiceError {
  const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' }
  return new ServiceError('UNAUTHENTICATED', `the environment ${name} was removed`, { headers })
}
