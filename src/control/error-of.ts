import { LinkProblem } from '../magic-links/link-validity.ts'
import { DocumentError } from '../documents/problem.ts'
import { ServiceError } from '../domain/errors.ts'
import { EnvironmentExistsError } from '../environments/environments.ts'
import { JournalQueryError } from '../request-journal/query.ts'
import { IllegalMoveError } from '../operations/account-events.ts'
import { IllegalConnectionMoveError } from '../operations/connection-events.ts'
import { UnknownScenarioError } from '../scenarios/scenarios.ts'
import { ClientIdTakenError } from '../state/credential-index.ts'
import { SeedConflictError } from '../state/seeding/accounts.ts'
import { ControlError, type ControlErrorCode } from './control-error.ts'

/** The one place that turns what other rooms throw into words of the control API; undefined for what nobody expected. */
export function controlErrorOf(error: unknown): ControlError | undefined {
  if (error instanceof ControlError) return error
  if (error instanceof DocumentError) {
    return new ControlError(
      'INVALID_DOCUMENT',
      error.message,
      error.problems.map((problem) => ({ ...problem })),
    )
  }
  if (error instanceof IllegalMoveError || error instanceof IllegalConnectionMoveError) {
    const { from, event, allowed, message } = error
    return new ControlError('ILLEGAL_MOVE', message, [{ from, event, allowed: [...allowed] }])
  }
  if (error instanceof JournalQueryError) {
    const { message, key, allowed } = error
    return new ControlError('INVALID_QUERY', message, [{ path: key, allowed: [...allowed] }])
  }
  if (error instanceof LinkProblem)
    return new ControlError(LINK_CODES[error.status] ?? 'LINK_NOT_USABLE', wordsOf(error))
  const code = plainCode(error)
  return code && error instanceof Error ? new ControlError(code, error.message) : undefined
}

/** Errors whose message is the whole story. */
function plainCode(error: unknown): ControlErrorCode | undefined {
  if (error instanceof EnvironmentExistsError) return 'ENVIRONMENT_EXISTS'
  if (error instanceof ClientIdTakenError) return 'CLIENT_ID_TAKEN'
  if (error instanceof SeedConflictError) return 'SEED_CONFLICT'
  if (error instanceof UnknownScenarioError) return 'SCENARIO_NOT_FOUND'
  if (!(error instanceof ServiceError)) return undefined
  if (error.errorCode === 'STORAGE_UNAVAILABLE') return 'STORAGE_UNAVAILABLE'
  // Whoever acts for an environment that was removed meanwhile.
  return error.errorCode === 'UNAUTHENTICATED' ? 'ENVIRONMENT_NOT_FOUND' : undefined
}

const LINK_CODES: Readonly<Record<number, ControlErrorCode>> = {
  404: 'LINK_NOT_FOUND',
  410: 'LINK_GONE',
  502: 'THIRD_PARTY_UNAVAILABLE',
  503: 'STORAGE_UNAVAILABLE',
}

function wordsOf({ title, text, detail }: LinkProblem): string {
  return [`${title}.`, text, detail].filter(Boolean).join(' ')
}
