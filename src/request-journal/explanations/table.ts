import type { ErrorCode } from '../../domain/errors.ts'
import {
  accountAlreadyExists,
  accountNotActive,
  accountNotFound,
  thirdPartyFailure,
  toolNotFound,
} from './account-cases.ts'
import { invalidClient, unauthenticated } from './bearer-cases.ts'
import type { Explainer } from './case.ts'
import { authRequestNotFound, identifierMismatch, linkProblem } from './link-cases.ts'
import {
  formCheck,
  invalidConnector,
  methodNotAllowed,
  pathNotFound,
  providerNotFound,
  validationFailed,
} from './request-cases.ts'

/** Every error of the service's catalogue, each with what explains it. */
const UNREADABLE_BODY = formCheck(
  'G7',
  'The body is no JSON object that can be read.',
  'Send one JSON object in UTF-8.',
)
const UNREADABLE = formCheck(
  'G16',
  'What was sent is no HTTP request that can be read.',
  'Look at what is between the client and the mock, and at how large its headers are.',
)

const SERVICE: Readonly<Record<ErrorCode, Explainer>> = {
  MALFORMED_BODY: (of) => (of.entry.operation === null ? UNREADABLE : UNREADABLE_BODY)(of),
  UNSUPPORTED_CONTENT_TYPE: formCheck(
    '1, G7',
    'The body has another content type than the operation takes.',
    'Send Content-Type: application/json.',
  ),
  VALIDATION_FAILED: validationFailed,
  MISSING_LOCATOR: formCheck(
    '4 (locating an account), G52',
    'The request names no account.',
    'Send id, or connector and identifier with organization_id or user_id.',
  ),
  AMBIGUOUS_LOCATOR: formCheck(
    '4 (locating an account), G21',
    'Several accounts are what the locator says.',
    'Add organization_id or user_id, or send the id.',
  ),
  CONTRADICTING_LOCATOR: formCheck(
    'G21',
    'The id names an account that the other fields of the locator do not describe.',
    'Send the id alone.',
  ),
  INVALID_CONNECTOR: invalidConnector,
  INVALID_AUTHORIZATION_DETAILS: formCheck(
    '2.2, 4.2, G23',
    'The authorization details do not fit the authorization type of the connector.',
    'Send the one sub-object that applies to the type.',
  ),
  INVALID_PAGE_TOKEN: formCheck(
    '4, G4',
    'The page token was not issued for this list and these filters.',
    'Send next_page_token or prev_page_token as it came, with the same filters.',
  ),
  INVALID_TOOL_INPUT: formCheck(
    '2.6, G44',
    'The tool input does not fit the tool’s own input schema.',
    'Compare it with input_schema of the tool (GET /api/v1/tools).',
  ),
  ACCOUNT_NOT_ACTIVE: accountNotActive,
  CONNECTION_DISABLED: formCheck(
    '2.5, States',
    'The connection of the account is switched off.',
    'Enable it: POST /_mock/connections/{id}/enable.',
  ),
  UNAUTHENTICATED: unauthenticated,
  IDENTIFIER_MISMATCH: identifierMismatch,
  ACCOUNT_NOT_FOUND: accountNotFound,
  AUTH_REQUEST_NOT_FOUND: authRequestNotFound,
  PROVIDER_NOT_FOUND: providerNotFound,
  TOOL_NOT_FOUND: toolNotFound,
  PATH_NOT_FOUND: pathNotFound,
  METHOD_NOT_ALLOWED: methodNotAllowed,
  ACCOUNT_ALREADY_EXISTS: accountAlreadyExists,
  BODY_TOO_LARGE: formCheck(
    'G7',
    'The body is larger than the mock takes.',
    'Send less, or start the mock with a larger limit.',
  ),
  THIRD_PARTY_RATE_LIMITED: thirdPartyFailure(
    'The third party limits the rate.',
    'Wait as Retry-After says, then try again.',
  ),
  TOOL_EXECUTION_FAILED: thirdPartyFailure(
    'The third party refused the call, failed, or answered something unusable.',
    'See its answer above; responders and scenarios decide what it says.',
  ),
  INTERNAL: ({ entry }) => ({
    because: 'The mock itself failed.',
    basis: 'none: a defect of the mock',
    facts: entry.failure === null ? [] : [entry.failure],
    advice: ['Please report it with this entry.'],
  }),
  STORAGE_UNAVAILABLE: formCheck(
    'none: the disk of the mock',
    'The state could not be written, and nothing was changed.',
    'See to the disk, or start with --in-memory.',
  ),
  TOOL_EXECUTION_TIMED_OUT: thirdPartyFailure(
    'The third party did not answer in time.',
    'Try again, or give the tool’s call a longer timeout.',
  ),
}

/** Errors of the token endpoint and of pages. */
const BESIDE: readonly (readonly [string, Explainer])[] = [
  [
    'invalid_request',
    formCheck(
      '5.1, G14',
      'The token request lacks a field, repeats one, has the secret in two places, or is no form.',
      'Send client_id, client_secret and grant_type as a form.',
    ),
  ],
  [
    'unsupported_grant_type',
    formCheck('5.1, G14', 'The token endpoint serves one grant.', 'Send grant_type=client_credentials.'),
  ],
  ['invalid_client', invalidClient],
  ['LINK_UNKNOWN', linkProblem('No magic link has this address.', 'Use the link as it was answered, as a whole.')],
  ['LINK_COMPLETED', linkProblem('The link was used: its flow is complete.')],
  ['LINK_EXPIRED', linkProblem('The link has expired.')],
  ['LINK_ACCOUNT_DELETED', linkProblem('The account of the link has been deleted.')],
  [
    'LINK_CONNECTION_DISABLED',
    linkProblem('The connection of the link is switched off.', 'Enable it: POST /_mock/connections/{id}/enable.'),
  ],
  [
    'LINK_VERIFICATION_REQUIRED',
    linkProblem(
      'The setting require_user_verification is on, and the link has no user_verify_url.',
      'Create the link with a user_verify_url.',
    ),
  ],
]

export const EXPLAINERS: ReadonlyMap<string, Explainer> = new Map([...Object.entries(SERVICE), ...BESIDE])

/** For a page whose problem is in no table. */
export const OTHER_PAGE: Explainer = linkProblem('The flow of the link could not go on.')
