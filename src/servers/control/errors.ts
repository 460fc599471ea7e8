import { DocumentError, UnreadableFileError } from '../../files/problem.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import type { Log } from '../http/log.ts'
import { quote } from '../../model/domain/text.ts'
import { EnvironmentExistsError } from '../../state/provisioning.ts'
import { LinkProblem } from '../magic-links/link-validity.ts'
import { IllegalMoveError } from '../../state/account-events.ts'
import { JournalQueryError } from '../../journal/request-journal/query.ts'
import { UnknownScenarioError } from '../../scenarios/scenario-run.ts'
import { type Problem, MAX_LISTED, moreProblems, pathText, problemSentence } from '../../model/schema/problems.ts'
import { ClientIdTakenError } from '../../state/environment-registry.ts'
import { SeedConflictError } from '../../state/seeding.ts'

const CATALOGUE = {
  MALFORMED_BODY: 400,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_NAME: 400,
  INVALID_DOCUMENT: 400,
  INVALID_STATE: 400,
  ADMIN_TOKEN_REQUIRED: 401,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  PATH_NOT_FOUND: 404,
  ENVIRONMENT_NOT_FOUND: 404,
  SNAPSHOT_NOT_FOUND: 404,
  SCENARIO_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  CONNECTION_NOT_FOUND: 404,
  COLLECTION_NOT_FOUND: 404,
  REQUEST_NOT_FOUND: 404,
  LINK_NOT_FOUND: 404,
  EVENT_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TIMED_OUT: 408,
  AMBIGUOUS_ACCOUNT: 409,
  ENVIRONMENT_EXISTS: 409,
  ENVIRONMENT_REQUIRED: 409,
  CLIENT_ID_TAKEN: 409,
  SEED_CONFLICT: 409,
  ILLEGAL_MOVE: 409,
  LINK_NOT_USABLE: 409,
  CONNECTION_EXISTS: 409,
  CONNECTION_NOT_REMOVABLE: 409,
  NOT_STOPPABLE: 409,
  LINK_GONE: 410,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_CONTENT_TYPE: 415,
  INTERNAL: 500,
  THIRD_PARTY_UNAVAILABLE: 502,
  STORAGE_UNAVAILABLE: 503,
  TOO_MANY_STREAMS: 503,
} as const
export type ControlErrorCode = keyof typeof CATALOGUE
export const CONTROL_ERROR_CODES = Object.keys(CATALOGUE) as readonly ControlErrorCode[]

export class ControlError extends Error {
  override readonly name = 'ControlError'

  constructor(
    readonly code: ControlErrorCode,
    message: string,
    readonly details: readonly object[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }

  get status(): number {
    return CATALOGUE[this.code]
  }

  get body(): object {
    return { error: { code: this.code, message: this.message, details: this.details } }
  }
}

/** What is wrong, at a path or at what stands for one in a message. */
type InputProblem = Pick<Problem, 'found' | 'allowed'> & { readonly path: Problem['path'] | string }

/** Everything that is wrong with a body or a query in one error, up to a bound. */
export function invalidInput(code: ControlErrorCode, inputProblems: readonly InputProblem[]): ControlError {
  const more = inputProblems.length - MAX_LISTED
  // One more problem is as long as the entry that says that there is one more.
  const problems =
    more > 1 ? [...inputProblems.slice(0, MAX_LISTED), { path: [], ...moreProblems(more) }] : inputProblems
  const details = problems.map(({ path: place, found, allowed }) => {
    const path = typeof place === 'string' ? place : pathText(place)
    const subject = path === '' ? 'the body' : `\`${path}\``
    return { path, found, allowed, message: problemSentence({ path: [], found, allowed, subject }) }
  })
  return new ControlError(code, details.map(({ message }) => message).join('; '), details)
}

/** Translates what other modules throw; undefined for an unexpected error. */
export function controlErrorOf(error: unknown): ControlError | undefined {
  if (error instanceof ControlError) return error
  if (error instanceof DocumentError) return new ControlError('INVALID_DOCUMENT', error.message, error.problems)
  if (error instanceof IllegalMoveError) {
    const { from, event, allowed, message } = error
    return new ControlError('ILLEGAL_MOVE', message, [{ from, event, allowed }])
  }
  if (error instanceof JournalQueryError) {
    const { message, key, allowed } = error
    return new ControlError('INVALID_QUERY', message, [{ path: key, allowed }])
  }
  if (error instanceof LinkProblem) {
    const { status, title, text, detail } = error
    const message = [`${title}.`, text, detail].filter(Boolean).join(' ')
    return new ControlError(LINK_CODES[status] ?? 'LINK_NOT_USABLE', message)
  }
  const code = controlCode(error)
  return code && error instanceof Error ? new ControlError(code, error.message) : undefined
}

const LINK_CODES: Readonly<Record<number, ControlErrorCode>> = {
  404: 'LINK_NOT_FOUND',
  410: 'LINK_GONE',
  502: 'THIRD_PARTY_UNAVAILABLE',
  503: 'STORAGE_UNAVAILABLE',
}

/** The code of an error whose message can be passed on as it is. */
function controlCode(error: unknown): ControlErrorCode | undefined {
  if (error instanceof EnvironmentExistsError) return 'ENVIRONMENT_EXISTS'
  if (error instanceof ClientIdTakenError) return 'CLIENT_ID_TAKEN'
  if (error instanceof SeedConflictError) return 'SEED_CONFLICT'
  if (error instanceof UnknownScenarioError) return 'SCENARIO_NOT_FOUND'
  if (error instanceof UnreadableFileError) return 'STORAGE_UNAVAILABLE'
  return error instanceof ServiceError ? SERVICE_CODES[error.errorCode] : undefined
}

const SERVICE_CODES: Readonly<Record<string, ControlErrorCode>> = {
  STORAGE_UNAVAILABLE: 'STORAGE_UNAVAILABLE',
  // The environment was deleted while the call was on its way.
  UNAUTHENTICATED: 'ENVIRONMENT_NOT_FOUND',
  // By the reader of bodies.
  BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  MALFORMED_BODY: 'MALFORMED_BODY',
}

export function pathNotFound(path: string, meant?: string): ControlError {
  const hint = meant === undefined ? '' : ` (did you mean ${shownPath(meant)}?)`
  const message = `${shownPath(path)} is not part of the control API${hint}; GET /_mock/openapi describes it`
  return new ControlError('PATH_NOT_FOUND', message)
}

export function shownPath(path: string): string {
  return quote(`/_mock${path}`, 200)
}

/** The answer to a call that failed; an unexpected error is logged. */
export function failedCall({ log }: { readonly log: Log }, call: string, error: unknown): ControlError {
  const controlError = controlErrorOf(error)
  if (controlError) return controlError
  log.error('a call of the control API failed', {
    call,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  return new ControlError('INTERNAL', 'the mock failed; its log says why')
}
