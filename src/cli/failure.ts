import { ServiceError } from '../domain/errors.ts'
import { StartError } from '../domain/start-error.ts'
import { UsageError } from './usage-error.ts'

/**
 * Says once, on stderr, what went wrong, and answers the exit code: 2 for what the caller can mend, 1 for a defect of ours,
 * which is the only thing that is shown with its stack. `help` is the command that explains the usage.
 */
export function reportFailure(error: unknown, help: string, err: (line: string) => void): number {
  if (error instanceof UsageError) {
    err(`toolmock: ${error.message} See ${help}.`)
    return 2
  }
  const isOfDisk = error instanceof ServiceError && error.errorCode === 'STORAGE_UNAVAILABLE'
  if (error instanceof StartError || isOfDisk) {
    err(`toolmock: ${error.message}`)
    return 2
  }
  err(`toolmock: an unexpected failure, which is a defect of toolmock itself: ${stackOf(error)}`)
  return 1
}

/** What the operating system said about listening, in words that name the way out; other errors come back as they are. */
export function listenFailure(error: unknown, host: string, port: number): unknown {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return new StartError(
        `port ${port} on ${host} is in use. Stop what serves there, or choose another: --port N, where 0 takes a free one.`,
      )
    case 'EACCES':
      return new StartError(
        `port ${port} on ${host} may not be served by this user. Choose one from 1024 up: --port N.`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new StartError(
        `${host} is no address of this machine. --host takes one of its own, such as 127.0.0.1, or 0.0.0.0 for all.`,
      )
    default:
      return error
  }
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
