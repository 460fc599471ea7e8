import type { Account, AccountStatus } from '../domain/account.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { instant } from '../domain/instant.ts'
import { own, textOf } from '../domain/json.ts'
import type { LifecycleEvent } from '../domain/lifecycle.ts'
import type { AuthRequest, MagicLink } from '../domain/generated/tables.ts'
import { masked } from '../domain/masking.ts'
import { bearerToken } from '../domain/request-headers.ts'
import type { Transition } from '../domain/request-trace.ts'
import { isSessionToken } from '../domain/session-token.ts'
import { listed, nearest } from '../domain/suggestion.ts'
import { plural, quote } from '../domain/text.ts'
import { valueAt } from '../domain/value-match.ts'
import type { Table } from '../state/model/table.ts'
import type { RecordedEntry } from './entry.ts'
import { accountFacts, answered, answerOf, type Cause, type Evidence, named, upstreamFacts } from './evidence.ts'
import { pathOf, requestHeadersOf, sentText, toolOf } from './view.ts'

const NEW_LINK = 'Create a new magic link and send the user through it.'

/** Errors of the token endpoint and of pages. */
type OtherError =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_client'
  | `LINK_${'UNKNOWN' | 'COMPLETED' | 'EXPIRED' | 'ACCOUNT_DELETED' | 'CONNECTION_DISABLED' | 'VERIFICATION_REQUIRED'}`

/** Every error of the service's catalogue, of the token endpoint and of pages, with its explanation. */
const TABLE: Readonly<Record<ErrorCode | OtherError, Cause | ((evidence: Evidence) => Cause)>> = {
  MALFORMED_BODY: ({ entry }) => (entry.operation === null ? UNREADABLE_REQUEST : UNREADABLE_BODY),
  UNSUPPORTED_CONTENT_TYPE: {
    because: 'The operation does not accept the content type of the body.',
    basis: '1, G7',
    advice: 'Send Content-Type: application/json.',
  },
  VALIDATION_FAILED: {
    because: 'The request breaks the contract of the operation (spec/openapi.yaml).',
    basis: '7.2, G52',
    advice: 'Correct these fields; the operation in spec/openapi.yaml lists all of them.',
  },
  MISSING_LOCATOR: {
    because: 'The request names no account.',
    basis: '4 (locating an account), G52',
    advice:
      'Send the id of the account, or connector and identifier with organization_id or user_id. A tool call may leave the connector out.',
  },
  AMBIGUOUS_LOCATOR: {
    because: 'Several accounts match the locator.',
    basis: '4 (locating an account), G21',
    advice: 'Add what the answer names, such as organization_id or user_id, or send the id.',
  },
  CONTRADICTING_LOCATOR: {
    because: 'The other fields of the locator do not match the account of the id.',
    basis: 'G21',
    advice: 'Send the id alone.',
  },
  INVALID_CONNECTOR: ({ entry, environment, message }) => {
    const sent = sentText(entry, 'connector') ?? ''
    const known = [...(environment?.model.tables.connections.values() ?? [])].map(({ key_id }) => key_id)
    const meant = nearest(sent, known)
    return {
      because: sent
        ? `No connection of environment ${quote(entry.environment)} has the key_id ${quote(sent)}.`
        : `${message}.`,
      basis: '4.6, G19',
      facts: [`Its connections: ${listed(sent, known) || 'none'}.`],
      advice: [
        ...(meant === undefined ? [] : [`Did you mean ${quote(meant)}?`]),
        'Use one of its connections, create a custom provider, or add a connector (PUT /_mock/connectors/{name}).',
      ],
    }
  },
  INVALID_AUTHORIZATION_DETAILS: {
    because: 'The authorization details do not fit the authorization type of the connector.',
    basis: '2.2, 4.2, G23',
    advice: 'Send the one sub-object of that type.',
  },
  INVALID_PAGE_TOKEN: {
    because: 'The page token was not issued for this list and these filters.',
    basis: '4, G4',
    advice: 'Send next_page_token or prev_page_token unchanged, with the same filters.',
  },
  INVALID_TOOL_INPUT: {
    because: 'The tool input does not match the input schema of the tool.',
    basis: '2.6, G44',
    advice: 'Compare it with the input_schema of the tool.',
  },
  DUPLICATE_IDENTIFIER: {
    because: 'Another config has the name.',
    basis: 'G67',
    advice: 'Send another name, or update the config: GET /api/v1/mcp/configs?filter.name=NAME finds it.',
  },
  ACCOUNT_NOT_ACTIVE: (evidence) => (evidence.entry.trace.account ? accountNotActive(evidence) : LACKS_ACCOUNTS),
  CONNECTION_DISABLED: {
    because: 'The connection of the account is disabled.',
    basis: '2.5, States',
    advice: 'Enable it: POST /_mock/connections/{id}/enable.',
  },
  UNAUTHENTICATED: unauthenticated,
  // The two identifiers side by side: the answer does not contain them.
  IDENTIFIER_MISMATCH: (evidence) => {
    const { entry, environment } = evidence
    const request = environment?.model.tables.auth_requests.get(sentText(entry, 'auth_request_id') ?? '')
    return {
      because: 'The identifier of the request differs from the one that the magic link was created for.',
      basis: '3.1, 4.7, G57',
      facts: [
        `Sent: ${quote(sentText(entry, 'identifier') ?? '')}; stored with the auth request: ${quote(request?.identifier ?? '')}.`,
        'The auth request stays pending; nothing was changed.',
        ...accountFacts(evidence),
      ],
      advice:
        'Send the identifier of the user who is logged in to the application. If it really differs, another user followed the link.',
    }
  },
  ACCOUNT_NOT_FOUND: accountNotFound,
  AUTH_REQUEST_NOT_FOUND: authRequestNotFound,
  PROVIDER_NOT_FOUND: (evidence) => {
    const all = [...(evidence.environment?.model.tables.providers.values() ?? [])]
    const custom = all.flatMap(({ is_custom, identifier }) => (is_custom ? [identifier] : []))
    return {
      because: answered(evidence, 'No custom provider has that identifier.'),
      basis: '4.12, 4.13, G40',
      facts: [`Custom providers now: ${custom.join(', ') || 'none'}.`],
      advice: 'Use the identifier from the answer of the create; a deleted provider does not come back.',
    }
  },
  CONNECTION_NOT_FOUND: {
    because: 'No connection of this name is enabled and completed.',
    basis: 'G67',
    advice: 'GET /api/v1/connections lists them; POST /_mock/connections/{id}/enable enables one.',
  },
  MCP_CONFIG_NOT_FOUND: {
    because: 'No config has this id.',
    basis: 'G67',
    advice: 'Use the id from the answer of the create; GET /api/v1/mcp/configs lists them.',
  },
  TOOL_NOT_FOUND: (evidence) => {
    const { entry, environment } = evidence
    const connector = entry.trace.account?.connector
    const all = environment ? [...environment.model.tables.connectors.values()] : []
    // A request that names no connector was for a tool of any of them (G21).
    const connectors = connector === undefined ? all : [environment?.connector(connector)]
    const tools = connectors.flatMap((each) => each?.tools.map(({ name }) => name) ?? [])
    const meant = nearest(toolOf(entry) ?? '', tools)
    return {
      because: answered(evidence, 'The account’s connector has no such tool.'),
      basis: connector === undefined ? 'G21, G44' : 'G44',
      facts: connector === undefined ? [] : [`Tools of ${connector}: ${tools.join(', ') || 'none'}.`],
      advice: meant === undefined ? 'A tool runs only with accounts of its own connector.' : `Did you mean ${meant}?`,
    }
  },
  PATH_NOT_FOUND: (evidence) => {
    const { method, didYouMean: meant } = evidence.entry
    const because = answered(evidence, `${method} ${quote(pathOf(evidence.entry))} is not served.`)
    return {
      because: because.replace(/; did you mean .*$/s, '.'),
      basis: 'G8',
      facts: [],
      advice: meant === null ? 'Compare the path with spec/openapi.yaml.' : `Did you mean ${meant}?`,
    }
  },
  METHOD_NOT_ALLOWED: ({ entry }) => ({
    because: `The path is served, but not with ${entry.method}.`,
    basis: 'G8',
    advice: `Use ${entry.didYouMean ?? 'a method of the Allow header'}.`,
  }),
  ACCOUNT_ALREADY_EXISTS: (evidence) => {
    const { entry, earlier } = evidence
    const existing = textOf(valueAt(answerOf(entry), 'details.0.resource_info.resource_name'))
    const maker = latestWith(earlier, ({ from, account_id }) => from === 'none' && account_id === existing)
    const origin = maker ? `was created by ${named(maker)}` : 'is older than this journal; it may come from the seed'
    return {
      because: answered(evidence, 'The scope has an account with this identifier at this connector.'),
      basis: '4.3, G20, G55',
      facts: existing === '' ? [] : [`The existing account ${existing} ${origin}.`],
      advice:
        'Use the account that resource_info.resource_name of the answer names, or send another organization_id or user_id.',
    }
  },
  BODY_TOO_LARGE: {
    because: 'The body is larger than the mock accepts.',
    basis: 'G7',
    advice: 'Send a smaller body, or start with a larger --body-limit.',
  },
  RATE_LIMITED: {
    because: 'The service limits the rate of requests.',
    basis: 'G16',
    advice: 'Only a scenario answers this: wait for the time in Retry-After, then try again.',
  },
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
  STORAGE_UNAVAILABLE: {
    because: 'The state could not be written, and nothing was changed.',
    basis: 'none: the disk of the mock',
    advice: 'Check the disk, or start with --in-memory.',
  },
  TIMED_OUT: {
    because: 'The service did not answer in time.',
    basis: 'G16',
    advice: 'Only a scenario answers this: try again.',
  },
  invalid_request: {
    because: 'The token request lacks grant_type, repeats a field, names its client in two ways, or is not a form.',
    basis: '5.1, G14',
    advice: 'Send client_id, client_secret and grant_type as a form.',
  },
  unsupported_grant_type: {
    because: 'The token endpoint serves one grant type.',
    basis: '5.1, G14',
    advice: 'Send grant_type=client_credentials.',
  },
  invalid_client: (evidence) => {
    const known = [...(evidence.environment?.model.tables.clients.values() ?? [])].map(({ id }) => id)
    const { client } = evidence.entry
    return {
      because: client
        ? `The client_secret that was sent for client ${quote(client)} is wrong.`
        : answered(evidence, 'The client credentials are wrong.'),
      basis: '5.1, G14',
      facts: [`Clients of this environment: ${known.join(', ') || 'none'}. The client id chooses the environment.`],
      advice:
        'Use a client id and secret that the server printed at its start, the seed declares, or the answer of POST /_mock/environments contains.',
    }
  },
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

export const EXPLANATIONS: ReadonlyMap<string, Cause | ((evidence: Evidence) => Cause)> = new Map(Object.entries(TABLE))

const UNREADABLE_BODY = {
  because: 'The body is not a JSON object.',
  basis: 'G7',
  advice: 'Send one JSON object in UTF-8.',
}
const UNREADABLE_REQUEST = {
  because: 'What was sent cannot be read as an HTTP request.',
  basis: 'G16',
  advice: 'Check proxies between the client and the mock, and the size of the headers.',
}

const LACKS_ACCOUNTS = {
  because: 'A connection of the config lacks an ACTIVE account.',
  basis: 'G67',
  advice: 'POST /api/v1/mcp/configs/{id}/connected_accounts with include_auth_link answers a link for each connection.',
}

const ADVICE: Readonly<Record<AccountStatus, string>> = {
  ACTIVE: 'Try again: the account was ACTIVE when the request arrived and changed while it was handled.',
  EXPIRED:
    'Send its user through a new magic link, or update it with live credentials; an EXPIRED account is never refreshed.',
  PENDING_AUTH: 'Its user has not consented: create a magic link and complete it (POST /_mock/links/{id}/complete).',
  PENDING_VERIFICATION: 'Call POST /api/v1/connected_accounts/user/verify with the auth_request_id of the redirect.',
  DISCONNECTED: 'Send its user through a new magic link, or update it with live credentials.',
}

function accountNotActive(evidence: Evidence): Cause {
  const { account, transitions } = evidence.entry.trace
  const found = account?.status ?? 'ACTIVE'
  // An event that is due, or a refused refresh, changes the status while the request is handled.
  const transition = transitions.findLast(({ account_id }) => account_id === account?.id)
  const left = transition && transition.to !== 'none' ? transition.to : found
  const state = found !== 'ACTIVE' ? `was ${found}` : left === 'ACTIVE' ? 'was no longer ACTIVE' : `became ${left}`
  return {
    because: `Tools run only with ACTIVE accounts; this one ${state}.`,
    basis: '3.1, G44, G46',
    facts: [...accountFacts(evidence), ...upstreamFacts(evidence)],
    advice: ADVICE[left],
  }
}

function accountNotFound(evidence: Evidence): Cause {
  const { entry, earlier, environment } = evidence
  const id = sentText(entry, 'id') ?? sentText(entry, 'connected_account_id')
  const identifier = sentText(entry, 'identifier')
  const deleted = latestWith(
    earlier,
    ({ event, account_id }, account) =>
      event === 'deleted' &&
      (id === undefined ? account_id === account?.id && account.identifier === identifier : account_id === id),
  )
  const accounts = [...(environment?.model.tables.accounts.values() ?? [])]
  const same = accounts.filter((account) => identifier !== undefined && account.identifier === identifier).slice(0, 5)
  const known = accounts.slice(0, 2000).map((each) => each.identifier)
  const meant = identifier === undefined || same.length > 0 ? undefined : nearest(identifier, known)
  return {
    because: answered(evidence, 'No account matches the locator.'),
    basis: '4 (locating an account), G2, G21',
    facts: [
      ...(deleted ? [`It was deleted by ${named(deleted)}.`] : []),
      ...same.map(
        ({ id: other, connector, organization_id, user_id }) =>
          `${quote(identifier ?? '')} exists at ${connector} as ${other}, organization_id ${quote(organization_id)}, user_id ${quote(user_id)}.`,
      ),
      ...(meant === undefined ? [] : [`Did you mean the account with the identifier ${quote(meant)}?`]),
      `Environment ${quote(entry.environment)} has ${plural(accounts.length, 'account')} now; each environment has its own.`,
    ],
    advice:
      'Send the id from the answer of the create, or connector and identifier with the same organization_id and user_id.',
  }
}

/** 429, 500 and 504 of a tool call. */
export function thirdPartyFailure(because: string, advice: string): (evidence: Evidence) => Cause {
  return (evidence) => ({
    because: evidence.message === '' ? because : `${because} The answer says: ${evidence.message}.`,
    basis: 'G44, G45',
    facts: [...upstreamFacts(evidence), ...accountFacts(evidence)],
    advice,
  })
}

/** Verify's 404: what happened to the auth request, and in which request (3.1, G32). */
function authRequestNotFound(evidence: Evidence): Cause {
  const { entry, environment } = evidence
  const id = sentText(entry, 'auth_request_id') ?? ''
  const request = environment?.model.tables.auth_requests.get(id)
  const redirect = redirectFact(evidence, id)
  const absent = redirect.length > 0 ? GONE : 'No consent in this environment created this auth_request_id.'
  return {
    because: answered(evidence, 'No pending flow has this auth_request_id.'),
    basis: '3.1, 4.7, G32',
    facts: [...(request ? outcomeFacts(evidence, request) : [absent]), ...redirect],
    advice:
      request?.outcome === 'consumed'
        ? 'Verify once for each redirect: a second click or a retry gets this 404.'
        : NEW_LINK,
  }
}

const GONE =
  'The state no longer has it: a snapshot or a state was put in its place, or it ended long ago and was dropped.'

function outcomeFacts({ entry, earlier }: Evidence, request: AuthRequest): string[] {
  const at = instant(entry.at)
  const isOf = ({ account_id }: Transition): boolean => account_id === request.account_id
  const deleted = latestWith(earlier, (each) => isOf(each) && each.event === 'deleted')
  // The deletion of its account leaves a pending auth request as it is, until it expires.
  const isPending = request.outcome === 'pending' || (request.outcome === 'expired' && request.expires_at > at)
  if (deleted && isPending) return [`It ended when its account was deleted by ${named(deleted)}.`]
  switch (request.outcome) {
    case 'pending':
      return [`It is pending until ${request.expires_at}; the clock said ${at}.`]
    case 'expired':
      return [`It expired at ${request.expires_at}; the clock said ${at}.`]
    case 'consumed': {
      const verified = earlier.findLast((each) => verifiedWith(each, request.id))
      return [
        verified
          ? `It was consumed by ${named(verified)}.`
          : 'It was consumed by a request that is no longer in the journal.',
      ]
    }
    case 'superseded': {
      const later = latestWith(earlier, (each) => isOf(each) && each.event.startsWith('consent_approved'))
      return [later ? `It was superseded by the consent in ${named(later)}.` : 'A later consent superseded it.']
    }
    case 'withdrawn': {
      const ended = latestWith(earlier, (each) => isOf(each) && WITHDRAWING.has(each.event))
      return [ended ? `It ended with ${named(ended)}.` : 'It ended when its account was disconnected.']
    }
  }
}

function verifiedWith(entry: RecordedEntry, id: string): boolean {
  return entry.operation === 'verify_user' && entry.status === 200 && sentText(entry, 'auth_request_id') === id
}

/** The events that end what waits for verification ("States"). */
const WITHDRAWING: ReadonlySet<LifecycleEvent> = new Set([
  'disconnected',
  'provider_deleted',
  'type_changed',
  'type_changed_ready',
])

/** The latest entry in which something like this happened to an account. */
function latestWith(
  entries: readonly RecordedEntry[],
  isMeant: (transition: Transition, account: Account | undefined) => boolean,
): RecordedEntry | undefined {
  return entries.findLast(({ trace }) => trace.transitions.some((each) => isMeant(each, trace.account)))
}

/** The redirect that carried the auth_request_id to the application. */
function redirectFact({ entry, earlier }: Evidence, id: string): string[] {
  if (id === '') return []
  const name = entry.vocabulary?.wire('auth_request_id') ?? 'auth_request_id'
  const redirect = earlier.findLast(({ responseHeaders }) =>
    (responseHeaders['Location'] ?? '').includes(`${name}=${encodeURIComponent(id)}`),
  )
  return redirect ? [`The application received it in the redirect of ${named(redirect)}.`] : []
}

/** A page that says why its link cannot be used (G28). */
export function linkProblem(because: string, advice: string = NEW_LINK): (evidence: Evidence) => Cause {
  return (evidence) => ({
    because: evidence.entry.failure ? `${because} The page says: ${evidence.entry.failure}.` : because,
    basis: '2.3, G28',
    facts: [...linkFacts(evidence), ...accountFacts(evidence)],
    advice,
  })
}

function linkFacts({ entry, earlier, environment }: Evidence): string[] {
  const link = environment && linkOf(entry, environment.model.tables.magic_links)
  if (!link) return []
  const maker = earlier.findLast((each) => {
    const made = each.operation === 'create_magic_link' ? own(answerOf(each), 'link') : undefined
    return typeof made === 'string' && made.endsWith(`/magic/${link.id}`)
  })
  return [
    ...(maker ? [`The link was created by ${named(maker)}.`] : []),
    `It is valid until ${link.expires_at}; the clock said ${instant(entry.at)}.`,
    ...(link.completed_at === undefined ? [] : [`Its flow was completed at ${link.completed_at}.`]),
  ]
}

/** By the address of the link, or by the `state` that the third party sent back. */
function linkOf({ url }: RecordedEntry, links: Table<MagicLink>): MagicLink | undefined {
  const [path = '', query = ''] = url.split('?')
  const id = /^\/magic\/([^/]+)$/.exec(path)?.[1]
  if (id !== undefined) return links.get(id)
  const state = new URLSearchParams(query).get('state')
  if (state !== null) for (const link of links.values()) if (link.oauth_state === state) return link
  return undefined
}

const MINT =
  'Make a session token for this server: POST /api/v1/mcp/connections/{key_id}/tokens, or POST /api/v1/mcp/configs/{id}/tokens for the server of a config.'

/** 401: which token was sent, which request issued it, and when it expired (5.4, G15). */
function unauthenticated(evidence: Evidence): Cause {
  const token = bearerToken(requestHeadersOf(evidence.entry)['authorization'])
  const because = answered(evidence, 'The request has no valid bearer token.')
  if (token !== undefined && isSessionToken(token)) return { because, basis: 'G61, G67', facts: [], advice: MINT }
  return {
    because,
    basis: '5.3, 5.4, G15',
    facts: token === undefined ? ['The request has no bearer token.'] : tokenFacts(evidence, token),
    advice: [
      'Get a token from POST /oauth/token (grant_type=client_credentials) and send it as Authorization: Bearer TOKEN.',
      'A client that caches its token has to get a new one after a 401: scenarios and the clock can end it at any time.',
    ],
  }
}

function tokenFacts({ entry, earlier, environment }: Evidence, token: string): string[] {
  const issuer = earlier.findLast(
    (each) => each.operation === 'create_token' && own(answerOf(each), 'access_token') === token,
  )
  const stored = environment?.model.tables.bearer_tokens.get(token)
  const at = instant(entry.at)
  const { expires_at = at, revoked_at } = stored ?? {}
  const end = expires_at <= at ? `It expired at ${expires_at}` : `It expires at ${expires_at}`
  const expiry = stored && `${revoked_at ? `It was revoked at ${revoked_at}` : end}; the clock said ${at}.`
  const missing = `Environment ${quote(entry.environment)} does not have it, or no longer.`
  return [
    `The token of the request is ${masked(token)}.`,
    issuer ? `It was issued by ${named(issuer)}.` : 'No request in this journal issued it.',
    expiry ?? missing,
  ]
}
