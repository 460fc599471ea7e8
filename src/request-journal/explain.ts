import type { components } from '../contract/generated/control-types.ts'
import { PROXY_REQUEST } from '../contract/shapes.ts'
import { type ErrorCode, errorTraits, isErrorCode } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import { isJsonObject, own } from '../domain/json.ts'
import type { Environment } from '../state/environment.ts'
import { RETRY_AFTER, type WebhookDelivery } from '../domain/webhook.ts'
import type { RecordedEntry } from './entry.ts'
import {
  accountAlreadyExists,
  accountNotActive,
  accountNotFound,
  thirdPartyFailure,
  toolNotFound,
} from './explanations/accounts.ts'
import {
  accountFacts,
  answerOf,
  type Cause,
  type Evidence,
  type Explainer,
  upstreamFacts,
} from './explanations/evidence.ts'
import { authRequestNotFound, identifierMismatch, linkProblem } from './explanations/links.ts'
import {
  formCheck,
  invalidClient,
  invalidConnector,
  methodNotAllowed,
  pathNotFound,
  providerNotFound,
  unauthenticated,
  validationFailed,
} from './explanations/requests.ts'
import type { Journal } from './journal.ts'
import { maskText, maskUrl } from '../domain/masking.ts'

/** Why an answer is what it is; secrets are masked. `text` is all of it. */
export type Explanation = components['schemas']['Explanation']
type DecidedBy = Explanation['decided_by']

/** Explains the latest entry with this id; undefined when the journal has none. `environment` as it is now. */
export function explain(journal: Journal, id: string, environment: Environment | undefined): Explanation | undefined {
  const entries = journal.recorded()
  const index = entries.findLastIndex((each) => each.id === id)
  const entry = entries[index]
  if (!entry) return undefined
  const cause = causeOf({ entry, earlier: entries.slice(0, index), environment, message: messageOf(entry) })
  const summary = summaryOf(entry)
  const because = maskText(cause.because)
  const general = [...responderFacts(entry), ...ruleFacts(entry), ...dueFacts(entry)]
  // Two equal facts of a cause are two calls that took equally long.
  const particular = (cause.facts ?? []).filter((fact) => !general.includes(fact))
  const facts = [...general, ...particular, `The clock said ${instant(entry.at)}.`].map(maskText)
  const code = entry.errorCode ?? ''
  const next = isErrorCode(code) ? [...cause.advice, `docs/errors.md#${code.toLowerCase()}`] : cause.advice
  return {
    id: entry.id,
    at: instant(entry.at),
    summary,
    decided_by: decidedBy(entry),
    error_code: entry.errorCode,
    because,
    basis: cause.basis === '' ? null : cause.basis,
    facts,
    advice: cause.advice,
    text: [summary, because, ...facts.map((fact) => `- ${fact}`), ...next.map((line) => `→ ${line}`)].join('\n'),
  }
}

function causeOf(evidence: Evidence): Cause {
  const { entry, message } = evidence
  if (entry.webhook) return eventCause(entry, entry.webhook)
  if (entry.trace.injected) return injected(evidence)
  if (entry.status < 400) return succeeded(evidence)
  if (isPassedOn(entry)) return PASSED_ON(evidence)
  const explainer = EXPLAINERS.get(entry.errorCode ?? '')
  if (explainer) return explainer(evidence)
  if (entry.kind === 'page') return linkProblem('The flow of the link could not go on.')(evidence)
  return {
    because: message === '' ? `It was answered with ${entry.status}.` : `${message}.`,
    basis: '',
    facts: [...upstreamFacts(evidence), ...accountFacts(evidence)],
    advice: ['Look at the entry: GET /_mock/requests/{id}.'],
  }
}

/** What became of an attempt to send an event (G68). */
function eventCause({ status, failure }: RecordedEntry, { attempts, cause, type }: WebhookDelivery): Cause {
  const isDone = status >= 200 && status < 300
  const last = attempts >= RETRY_AFTER.length ? 'it was the last attempt' : 'the next attempt is made by the clock'
  const answer = failure ?? `the application answered ${status}, which is not 2xx`
  return {
    because: isDone ? 'The application acknowledged the event.' : `The event was not acknowledged, ${last}: ${answer}.`,
    basis: 'G68',
    facts: [`Attempt ${attempts + 1} of ${type}, caused by ${cause === null ? 'the clock' : `request ${cause}`}.`],
    advice: isDone ? [] : ['To move the clock: npx toolmock clock advance; to try now: npx toolmock webhooks resend.'],
  }
}

/** An error of a third party that the proxy answers as it is. */
function isPassedOn({ operation, errorCode, status }: RecordedEntry): boolean {
  return operation === PROXY_REQUEST && errorCode === null && status >= 400
}

const PASSED_ON = thirdPartyFailure(
  'The third party answered this, and the proxy passes it on.',
  'Compare the path, which begins after /proxy, the query and the body with what the third party takes.',
)

/** A rule of a scenario answered in place of the operation. */
function injected(evidence: Evidence): Cause {
  const rules = evidence.entry.trace.rules.filter((rule) => rule.injected && rule.at === 'service')
  return {
    because: rules
      .map(({ rule, scenario, sentence }) => `Rule "${rule}" of scenario ${scenario} answered: ${sentence}.`)
      .join(' '),
    basis: '',
    facts: accountFacts(evidence),
    advice: ['To do without the scenario: POST /_mock/scenarios/{name}/stop, or DELETE /_mock/scenarios.'],
  }
}

function succeeded(evidence: Evidence): Cause {
  const { refreshes, transitions } = evidence.entry.trace
  const moves = transitions.map(({ account_id, event, from, to }) =>
    from === to
      ? `${event} left account ${account_id} ${to}.`
      : `${event} moved account ${account_id} from ${from} to ${to}.`,
  )
  const refreshed = refreshes.some(({ outcome }) => outcome === 'renewed')
  return {
    because: refreshed ? 'It succeeded after a refresh of the account’s token.' : 'No check refused it.',
    basis: refreshed ? 'G45, G46, G56' : '',
    facts: [...upstreamFacts(evidence), ...moves, ...accountFacts(evidence)],
    advice: [],
  }
}

const PLACES = {
  service: 'at the service',
  third_party: 'at the third party',
  token_refresh: 'at the token endpoint',
  consent: 'at consent',
  webhook: 'at a webhook',
}

function responderFacts({ trace: { responder } }: RecordedEntry): string[] {
  return responder === undefined ? [] : [`Responder ${responder} answered.`]
}

function ruleFacts({ trace }: RecordedEntry): string[] {
  return trace.rules.map(
    ({ rule, scenario, sentence, at }) => `Rule "${rule}" of scenario ${scenario} fired ${PLACES[at]}: ${sentence}.`,
  )
}

function dueFacts({ trace }: RecordedEntry): string[] {
  return trace.due.map(
    ({ account_id, event, from, to, at }) =>
      `Before it, ${event} was due at ${at}: account ${account_id} went from ${from} to ${to}.`,
  )
}

function summaryOf({ kind, method, url, operation, status, errorCode, client }: RecordedEntry): string {
  if (kind === 'clock' || kind === 'control') return `${url}.`
  const what = method === '' ? 'An unreadable request' : `${method} ${maskUrl(url)}`
  const request = `${what}${operation === null ? '' : ` (${operation})`}`
  const by = client === null ? '' : ` by client ${client}`
  return `${request}${by} was answered with ${status}${errorCode === null ? '' : ` ${errorCode}`}.`
}

function messageOf(entry: RecordedEntry): string {
  if (entry.status < 400) return ''
  const answer = answerOf(entry)
  const error = own(answer, 'error')
  const message =
    own(answer, 'message') ??
    own(answer, 'error_description') ??
    (isJsonObject(error) ? own(error, 'message') : undefined)
  return typeof message === 'string' ? message : ''
}

/** What decides problems of links that are not the service's own decision. */
const LINKS_DECIDED_ELSEWHERE: Readonly<Record<string, DecidedBy>> = {
  LINK_REFUSED: 'third_party',
  LINK_UNAVAILABLE: 'third_party',
  LINK_NOT_STORED: 'mock',
}

function decidedBy(entry: RecordedEntry): DecidedBy {
  if (entry.trace.injected) return 'scenario'
  if (isPassedOn(entry)) return 'third_party'
  return errorTraits(entry.errorCode).by ?? LINKS_DECIDED_ELSEWHERE[entry.errorCode ?? ''] ?? 'service'
}

const UNREADABLE_BODY = formCheck('G7', 'The body is not a JSON object.', 'Send one JSON object in UTF-8.')
const UNREADABLE_REQUEST = formCheck(
  'G16',
  'What was sent cannot be read as an HTTP request.',
  'Check proxies between the client and the mock, and the size of the headers.',
)

const LACKS_ACCOUNTS = formCheck(
  'G67',
  'A connection of the config lacks an ACTIVE account.',
  'POST /api/v1/mcp/configs/{id}/connected_accounts with include_auth_link answers a link for each connection.',
)

/** Errors of the token endpoint and of pages. */
type OtherError =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_client'
  | `LINK_${'UNKNOWN' | 'COMPLETED' | 'EXPIRED' | 'ACCOUNT_DELETED' | 'CONNECTION_DISABLED' | 'VERIFICATION_REQUIRED'}`

/** Every error of the service's catalogue, of the token endpoint and of pages, with its explanation. */
const EXPLANATIONS: Readonly<Record<ErrorCode | OtherError, Explainer>> = {
  MALFORMED_BODY: (evidence) => (evidence.entry.operation === null ? UNREADABLE_REQUEST : UNREADABLE_BODY)(evidence),
  UNSUPPORTED_CONTENT_TYPE: formCheck(
    '1, G7',
    'The operation does not accept the content type of the body.',
    'Send Content-Type: application/json.',
  ),
  VALIDATION_FAILED: validationFailed,
  MISSING_LOCATOR: formCheck(
    '4 (locating an account), G52',
    'The request names no account.',
    'Send the id of the account, or connector and identifier with organization_id or user_id. A tool call may leave the connector out.',
  ),
  AMBIGUOUS_LOCATOR: formCheck(
    '4 (locating an account), G21',
    'Several accounts match the locator.',
    'Add what the answer names, such as organization_id or user_id, or send the id.',
  ),
  CONTRADICTING_LOCATOR: formCheck(
    'G21',
    'The other fields of the locator do not match the account of the id.',
    'Send the id alone.',
  ),
  INVALID_CONNECTOR: invalidConnector,
  INVALID_AUTHORIZATION_DETAILS: formCheck(
    '2.2, 4.2, G23',
    'The authorization details do not fit the authorization type of the connector.',
    'Send the one sub-object of that type.',
  ),
  INVALID_PAGE_TOKEN: formCheck(
    '4, G4',
    'The page token was not issued for this list and these filters.',
    'Send next_page_token or prev_page_token unchanged, with the same filters.',
  ),
  INVALID_TOOL_INPUT: formCheck(
    '2.6, G44',
    'The tool input does not match the input schema of the tool.',
    'Compare it with the input_schema of the tool.',
  ),
  DUPLICATE_IDENTIFIER: formCheck(
    'G67',
    'Another config has the name.',
    'Send another name, or update the config: GET /api/v1/mcp/configs?filter.name=NAME finds it.',
  ),
  ACCOUNT_NOT_ACTIVE: (evidence) => (evidence.entry.trace.account ? accountNotActive : LACKS_ACCOUNTS)(evidence),
  CONNECTION_DISABLED: formCheck(
    '2.5, States',
    'The connection of the account is disabled.',
    'Enable it: POST /_mock/connections/{id}/enable.',
  ),
  UNAUTHENTICATED: unauthenticated,
  IDENTIFIER_MISMATCH: identifierMismatch,
  ACCOUNT_NOT_FOUND: accountNotFound,
  AUTH_REQUEST_NOT_FOUND: authRequestNotFound,
  PROVIDER_NOT_FOUND: providerNotFound,
  CONNECTION_NOT_FOUND: formCheck(
    'G67',
    'No connection of this name is enabled and completed.',
    'GET /api/v1/connections lists them; POST /_mock/connections/{id}/enable enables one.',
  ),
  MCP_CONFIG_NOT_FOUND: formCheck(
    'G67',
    'No config has this id.',
    'Use the id from the answer of the create; GET /api/v1/mcp/configs lists them.',
  ),
  TOOL_NOT_FOUND: toolNotFound,
  PATH_NOT_FOUND: pathNotFound,
  METHOD_NOT_ALLOWED: methodNotAllowed,
  ACCOUNT_ALREADY_EXISTS: accountAlreadyExists,
  BODY_TOO_LARGE: formCheck(
    'G7',
    'The body is larger than the mock accepts.',
    'Send a smaller body, or start with a larger --body-limit.',
  ),
  RATE_LIMITED: formCheck(
    'G16',
    'The service limits the rate of requests.',
    'Only a scenario answers this: wait for the time in Retry-After, then try again.',
  ),
  TOOL_ERROR: thirdPartyFailure(
    'The third party refused the call, failed, did not answer in time, or sent an unusable answer.',
    'See its answer above; responders and scenarios decide it.',
  ),
  INTERNAL: ({ entry }) => ({
    because: 'The mock failed.',
    basis: 'none: a defect of the mock',
    facts: entry.failure === null ? [] : [entry.failure],
    advice: ['Please report it with this entry.'],
  }),
  STORAGE_UNAVAILABLE: formCheck(
    'none: the disk of the mock',
    'The state could not be written, and nothing was changed.',
    'Check the disk, or start with --in-memory.',
  ),
  TIMED_OUT: formCheck('G16', 'The service did not answer in time.', 'Only a scenario answers this: try again.'),
  invalid_request: formCheck(
    '5.1, G14',
    'The token request lacks grant_type, repeats a field, names its client in two ways, or is not a form.',
    'Send client_id, client_secret and grant_type as a form.',
  ),
  unsupported_grant_type: formCheck(
    '5.1, G14',
    'The token endpoint serves one grant type.',
    'Send grant_type=client_credentials.',
  ),
  invalid_client: invalidClient,
  LINK_UNKNOWN: linkProblem('No magic link has this address.', 'Use the whole link, as create_magic_link answered it.'),
  LINK_COMPLETED: linkProblem('The flow of the link is complete.'),
  LINK_EXPIRED: linkProblem('The link has expired.'),
  LINK_ACCOUNT_DELETED: linkProblem('The account of the link has been deleted.'),
  LINK_CONNECTION_DISABLED: linkProblem(
    'The connection of the link is disabled.',
    'Enable it: POST /_mock/connections/{id}/enable.',
  ),
  LINK_VERIFICATION_REQUIRED: linkProblem(
    'The setting require_user_verification is on, and the link has no user_verify_url.',
    'Create the link with a user_verify_url.',
  ),
}

export const EXPLAINERS: ReadonlyMap<string, Explainer> = new Map(Object.entries(EXPLANATIONS))
