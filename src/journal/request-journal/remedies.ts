import type { ErrorCode } from '../../model/domain/errors.ts'

/** Errors of the token endpoint and of pages. */
type OtherError =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_client'
  | `LINK_${'UNKNOWN' | 'COMPLETED' | 'EXPIRED' | 'ACCOUNT_DELETED' | 'CONNECTION_DISABLED' | 'VERIFICATION_REQUIRED'}`

/** Why each error is answered, what the rule rests on, and what to do about it in general: `docs/errors.md` shows it too. */
export interface Remedy {
  readonly because: string
  readonly basis: string
  readonly advice: readonly string[]
}

const NEW_LINK = 'Create a new magic link and send the user through it.'

function remedy(because: string, basis: string, ...advice: string[]): Remedy {
  return { because, basis, advice }
}

const OF_LINKS = '2.3, G28'

const TABLE: Readonly<Record<ErrorCode | OtherError, Remedy>> = {
  MALFORMED_BODY: remedy('The body is not a JSON object.', 'G7', 'Send one JSON object in UTF-8.'),
  UNSUPPORTED_CONTENT_TYPE: remedy(
    'The operation does not accept the content type of the body.',
    '1, G7',
    'Send Content-Type: application/json.',
  ),
  VALIDATION_FAILED: remedy('The request breaks the contract of the operation.', '7.2, G52', 'Correct these fields.'),
  MISSING_LOCATOR: remedy(
    'The request names no account.',
    '4 (locating an account), G52',
    'Send the id of the account, or connector and identifier with organization_id or user_id. A tool call may leave the connector out.',
  ),
  AMBIGUOUS_LOCATOR: remedy(
    'Several accounts match the locator.',
    '4 (locating an account), G21',
    'Add what the answer names, such as organization_id or user_id, or send the id.',
  ),
  CONTRADICTING_LOCATOR: remedy(
    'The other fields of the locator do not match the account of the id.',
    'G21',
    'Send the id alone.',
  ),
  INVALID_CONNECTOR: remedy(
    'No connection of the environment has this key_id.',
    '4.6, G19',
    'Use one of its connections, create a custom provider, or add a connector (PUT /_mock/connectors/{name}); --seed bundled, or `seed: [bundled, …]` in the configuration file, adds the bundled ones.',
  ),
  INVALID_AUTHORIZATION_DETAILS: remedy(
    'The authorization details do not fit the authorization type of the connector.',
    '2.2, 4.2, G23',
    'Send the one sub-object of that type.',
  ),
  INVALID_PAGE_TOKEN: remedy(
    'The page token was not issued for this list and these filters.',
    '4, G4',
    'Send next_page_token or prev_page_token unchanged, with the same filters.',
  ),
  INVALID_TOOL_INPUT: remedy(
    'The tool input does not match the input schema of the tool.',
    '2.6, G44',
    'Compare it with the input_schema of the tool.',
  ),
  DUPLICATE_IDENTIFIER: remedy(
    'Another config has the name.',
    'G67',
    'Send another name, or update the config: GET /api/v1/mcp/configs?filter.name=NAME finds it.',
  ),
  ACCOUNT_NOT_ACTIVE: remedy(
    'Tools run only with ACTIVE accounts.',
    '3.1, G44, G46',
    'PENDING_AUTH, EXPIRED, DISCONNECTED: send its user through a new magic link, or update it with live credentials.',
    'PENDING_VERIFICATION: call verify_user with the auth_request_id of the redirect.',
  ),
  CONNECTION_DISABLED: remedy(
    'The connection of the account is disabled.',
    '2.5, States',
    'Enable it: POST /_mock/connections/{id}/enable.',
  ),
  UNAUTHENTICATED: remedy(
    'The request has no valid bearer token.',
    '5.3, 5.4, G15',
    'Get a token from POST /oauth/token (grant_type=client_credentials) and send it as Authorization: Bearer TOKEN.',
    'A client that caches its token has to get a new one after a 401: scenarios and the clock can end it at any time.',
  ),
  IDENTIFIER_MISMATCH: remedy(
    'The identifier must be the one that the magic link was created for; the auth request stays pending.',
    '3.1, 4.7, G57',
    'Send the identifier of the user who is logged in to the application. If it really differs, another user followed the link.',
  ),
  ACCOUNT_NOT_FOUND: remedy(
    'No account matches the locator.',
    '4 (locating an account), G2, G21',
    'Send the id from the answer of the create, or connector and identifier with the same organization_id and user_id.',
  ),
  AUTH_REQUEST_NOT_FOUND: remedy('No pending flow has this auth_request_id.', '3.1, 4.7, G32', NEW_LINK),
  PROVIDER_NOT_FOUND: remedy(
    'No custom provider has that identifier.',
    '4.12, 4.13, G40',
    'Use the identifier from the answer of the create; a deleted provider does not come back.',
  ),
  CONNECTION_NOT_FOUND: remedy(
    'No connection of this name is enabled and completed.',
    'G67',
    'GET /api/v1/connections lists them; POST /_mock/connections/{id}/enable enables one.',
  ),
  MCP_CONFIG_NOT_FOUND: remedy(
    'No config has this id.',
    'G67',
    'Use the id from the answer of the create; GET /api/v1/mcp/configs lists them.',
  ),
  MCP_INSTANCE_NOT_FOUND: remedy(
    'No instance has this id: it was deleted, also with its config.',
    'G67',
    'Use the id from the answer of the create; GET /api/v1/mcp/instances lists them.',
  ),
  MCP_SESSION_NOT_FOUND: remedy(
    'The server has no session of the Mcp-Session-Id: it has ended, or the mock was started again or reset since.',
    'G61',
    'Initialize again without the header, and send the Mcp-Session-Id of that answer.',
  ),
  TOOL_NOT_FOUND: remedy(
    'The account’s connector has no such tool.',
    'G44',
    'A tool runs only with accounts of its own connector.',
  ),
  PATH_NOT_FOUND: remedy('No operation has this path.', 'G8', 'Compare method and path with those of the operations.'),
  METHOD_NOT_ALLOWED: remedy(
    'The path is served, but not with this method.',
    'G8',
    'Use a method of the Allow header.',
  ),
  ACCOUNT_ALREADY_EXISTS: remedy(
    'The scope has an account with this identifier at this connector.',
    '4.3, G20, G55',
    'Use the account that resource_info.resource_name of the answer names, or send another organization_id or user_id.',
  ),
  BODY_TOO_LARGE: remedy(
    'The body is larger than the mock accepts.',
    'G7',
    'Send a smaller body, or start with a larger --body-limit.',
  ),
  RATE_LIMITED: remedy(
    'The service limits the rate of requests.',
    'G16',
    'Only a scenario answers this: wait for the time in Retry-After, then try again.',
  ),
  TOOL_ERROR: remedy(
    'The call of the tool ended with an error of the third party.',
    'G44, G45',
    '`tool_error_info` of the answer has what the third party said; responders and scenarios decide it.',
  ),
  INTERNAL: remedy('The mock failed.', 'none: a defect of the mock', 'Please report it with this entry.'),
  STORAGE_UNAVAILABLE: remedy(
    'The state could not be written, and nothing was changed.',
    'none: the disk of the mock',
    'Check the disk, or start with --in-memory.',
  ),
  TIMED_OUT: remedy('The service did not answer in time.', 'G16', 'Only a scenario answers this: try again.'),
  invalid_request: remedy(
    'The token request must be a form with client_id, client_secret and grant_type, each once.',
    '5.1, G14',
    'Send client_id, client_secret and grant_type as a form.',
  ),
  unsupported_grant_type: remedy(
    'The token endpoint serves one grant type.',
    '5.1, G14',
    'Send grant_type=client_credentials.',
  ),
  invalid_client: remedy(
    'The client id or the client secret is wrong: the id chooses the environment, and the secret must be its own.',
    '5.1, G14',
    'Use a client id and secret that the server printed at its start, the seed declares, or the answer of POST /_mock/environments contains.',
  ),
  LINK_UNKNOWN: remedy(
    'No magic link has this address.',
    OF_LINKS,
    'Use the whole link, as create_magic_link answered it.',
  ),
  LINK_COMPLETED: remedy('The flow of the link is complete.', OF_LINKS, NEW_LINK),
  LINK_EXPIRED: remedy('The link has expired.', OF_LINKS, NEW_LINK),
  LINK_ACCOUNT_DELETED: remedy('The account of the link has been deleted.', OF_LINKS, NEW_LINK),
  LINK_CONNECTION_DISABLED: remedy(
    'The connection of the link is disabled.',
    OF_LINKS,
    'Enable it: POST /_mock/connections/{id}/enable.',
  ),
  LINK_VERIFICATION_REQUIRED: remedy(
    'The setting require_user_verification is on, and the link has no user_verify_url.',
    OF_LINKS,
    'Create the link with a user_verify_url.',
  ),
}

/** Of what is no HTTP request that can be read; its error code is that of a body. */
export const UNREADABLE = remedy(
  'What was sent cannot be read as an HTTP request.',
  'G16',
  'Send a request line and headers as HTTP/1.1 has them.',
)

/** Of a request that the spec allows. */
export const DESCRIPTOR_RULE = remedy(
  'The request breaks a rule of the definitions that the mock was started with.',
  'G70',
  'Correct these fields; the setting descriptor_rules switches such rules off.',
)

export const REMEDIES: ReadonlyMap<string, Remedy> = new Map(Object.entries(TABLE))
