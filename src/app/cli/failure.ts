import { ServiceError } from '../../model/domain/errors.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { nearest } from '../../model/domain/suggestion.ts'

/** A flag, an operand or a variable is wrong. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The word that was probably meant, else `others`, which lists those that there are. */
export function hintFor(word: string, candidates: readonly string[], others: string, dashes = ''): string {
  const meant = nearest(word, candidates)
  return meant === undefined ? others : `Did you mean ${dashes}${meant}?`
}

/** Ends the command with an exit code, for a reason that is no mistake of its caller. */
export class ExitError extends Error {
  override readonly name: string = 'ExitError'

  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message)
  }
}

/** A running server refused what it was asked. */
export class RefusedError extends ExitError {
  override readonly name = 'RefusedError'

  constructor(message: string) {
    super(message, 1)
  }
}

/** 2 for what the caller can fix, that of an `ExitError`, and 1 for a defect, the only failure with its stack. */
export function reportFailure(error: unknown, help: string, err: (line: string) => void): number {
  if (error instanceof UsageError) {
    err(`toolmock: ${error.message} See ${help}.`)
    return 2
  }
  const isOfDisk = error instanceof ServiceError && error.errorCode === 'STORAGE_UNAVAILABLE'
  if (error instanceof StartError || error instanceof ExitError || isOfDisk) {
    err(`toolmock: ${error.message}`)
    return error instanceof ExitError ? error.code : 2
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  err(`toolmock: an unexpected failure, which is a defect of toolmock itself: ${stack}`)
  return 1
}
