import type { components } from '../../model/contract/generated/control-types.ts'
import type { Account } from '../../model/domain/account.ts'
import { type Finding, isViolation } from '../../model/domain/finding.ts'
import type { AuthRequest } from '../../model/domain/generated/tables.ts'
import { instant } from '../../model/domain/instant.ts'
import { ownMember, textOf } from '../../model/domain/json.ts'
import type { LifecycleEvent } from '../../model/domain/lifecycle.ts'
import { maskSecret } from '../../model/domain/masking.ts'
import { bearerTokenIn } from '../../model/domain/request-headers.ts'
import type { AccountTransition } from '../../model/domain/request-trace.ts'
import { isSessionToken } from '../../model/domain/session-token.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import { capitalise, percentDecoded, quote } from '../../model/domain/text.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import type { SeedBundle } from '../../model/domain/seed.ts'
import type { Environment } from '../../state/environment.ts'
import { hasExpired } from '../../state/expiry.ts'
import type { StoredEntry } from './entry.ts'
import { accountFacts, responseOf, type Evidence, entryName, upstreamFacts } from './evidence.ts'
import { UNKNOWN_PATH } from './findings.ts'
import { entryPath, requestHeadersOf, sentText, executedTool } from './view.ts'

type Schemas = components['schemas']
export type CausePart = Schemas['CausePart']
export type ActionDocument = Schemas['Action']

/** What an error adds to its general remedy (remedies.ts). */
export interface Details {
  /** What decided; the message of the answer where it is absent. */
  readonly cause?: (evidence: Evidence) => readonly CausePart[]
  /** They follow from what the journal keeps, so they do not change later. */
  readonly facts?: (evidence: Evidence) => readonly string[]
  /** What is possible now. */
  readonly actions?: (evidence: Evidence) => readonly ActionDocument[]
}

/** A sentence of texts and references. */
export function say(texts: TemplateStringsArray, ...values: readonly (string | number | CausePart)[]): CausePart[] {
  const parts = texts.flatMap((text, at): CausePart[] => {
    const value = values[at]
    return [{ text }, ...(value === undefined ? [] : [typeof value === 'object' ? value : { text: String(value) }])]
  })
  return parts.filter(({ text }) => text !== '')
}

function accountRef({ id, identifier, connector }: Account): CausePart {
  return { ref: 'account', id, text: `${id} (${quote(identifier)} at ${connector})` }
}

function action(
  name: ActionDocument['action'],
  text: string,
  target: string | null = null,
  value: string | null = null,
): ActionDocument {
  return { action: name, target, value, text }
}

/** The same request with another value. */
function sendAgainWith(field: string, value: string): ActionDocument {
  return action('send_again_with', `Send it again with ${field} ${quote(value)}.`, field, value)
}

/** A wrong path, name or value is sent as it was meant. */
function correctionAction({ code, field, found }: Finding, meant: string): ActionDocument {
  if (code === UNKNOWN_PATH) return action('send_again_as', `Send it again as ${meant}.`, null, meant)
  if (found !== null) return sendAgainWith(field, meant)
  return action('rename_field', `Send it again with ${meant} in place of ${field}.`, field, meant)
}

/** The actions of every answer: without the scenario that gave it, and with the name that was meant. */
export function generalActions({ entry, environment }: Evidence): ActionDocument[] {
  const scenarios = new Set(entry.trace.rules.flatMap(({ scenario, injected }) => (injected ? [scenario] : [])))
  const running = [...scenarios].filter((name) => environment?.model.tables.scenario_runs.get(name)?.running === true)
  return [
    ...running.map((name) => action('stop_scenario', `Stop scenario ${name}.`, name)),
    ...entry.findings.flatMap((finding) =>
      finding.did_you_mean === null ? [] : [correctionAction(finding, finding.did_you_mean)],
    ),
  ]
}

const newLink = (account: Account | undefined): ActionDocument =>
  action('create_link', 'Create a new magic link and send the user through it.', account?.id ?? null)
const openLinkActions = (environment: Environment, account: Account): ActionDocument[] => {
  const open = environment.model
    .openLinks()
    .filter((link) => link.account_id === account.id && !hasExpired(environment, link))
  return open.slice(-1).map(({ id }) => action('approve_link', `Approve the open magic link ${id}.`, id))
}

/** Where the connection of the request's account is disabled now. */
function enableConnection({ entry, environment }: Evidence): ActionDocument[] {
  const keyId = entry.trace.account?.connector
  const connection = environment?.model.tables.connections.values().find((each) => each.key_id === keyId)
  if (!connection || connection.enabled) return []
  const how = `Enable the connection ${connection.key_id}: POST /_mock/connections/${connection.key_id}/enable.`
  return [action('enable_connection', how, connection.key_id)]
}

/** Where the seed has what was deleted: no request brings it back with its id. */
function resetTo(
  environment: Environment | undefined,
  what: string,
  isInSeed: (seed: SeedBundle) => boolean,
): ActionDocument[] {
  const baseline = environment?.model.tables.origins.get('origin')
  return baseline && isInSeed(baseline.exact)
    ? [action('reset', `Reset the environment: its seed has this ${what}.`)]
    : []
}

function seededAccount({ entry, environment }: Evidence): ActionDocument[] {
  const [id, identifier, connector] = [accountId(entry), sentText(entry, 'identifier'), sentText(entry, 'connector')]
  const isMeant = (account: SeedBundle['accounts'][number]): boolean =>
    id === undefined
      ? account.identifier === identifier && (connector === undefined || account.connector === connector)
      : account.id === id
  return resetTo(environment, 'account', ({ accounts }) =>
    accounts.some((each) => isMeant(each) && !environment?.model.tables.accounts.get(each.id ?? '')),
  )
}

const LINK: Details = {
  cause: ({ entry }) => say`${entry.failure ?? 'The flow of the link could not go on'}.`,
  facts: (evidence) => [...linkFacts(evidence), ...accountFacts(evidence)],
}
const NEW_LINK: Details = { ...LINK, actions: ({ entry }) => [newLink(entry.trace.account)] }

const UPSTREAM: Details = {
  cause: upstreamCause,
  facts: (evidence) => [...upstreamFacts(evidence), ...scopeFacts(evidence), ...accountFacts(evidence)],
  actions: (evidence) => (scopeFacts(evidence).length > 0 ? [newLink(evidence.entry.trace.account)] : []),
}

/** By error code; `page` is a page that has no code, `upstream` an answer of a third party that the proxy passes on. */
export const DETAILS: ReadonlyMap<string, Details> = new Map<string, Details>(
  Object.entries({
    page: NEW_LINK,
    upstream: UPSTREAM,
    TOOL_ERROR: UPSTREAM,
    LINK_UNKNOWN: LINK,
    LINK_COMPLETED: NEW_LINK,
    LINK_EXPIRED: NEW_LINK,
    LINK_ACCOUNT_DELETED: NEW_LINK,
    LINK_CONNECTION_DISABLED: { ...LINK, actions: enableConnection },
    LINK_VERIFICATION_REQUIRED: LINK,
    LINK_REFUSED: NEW_LINK,
    LINK_UNAVAILABLE: NEW_LINK,
    CONNECTION_DISABLED: { actions: enableConnection },
    PROVIDER_NOT_FOUND: {
      actions: ({ entry, environment }) => {
        const identifier = percentDecoded(entryPath(entry).split('/').at(-1) ?? '')
        const isBack = environment?.model.tables.providers.values().some((each) => each.identifier === identifier)
        return resetTo(environment, 'provider', ({ providers }) =>
          providers.some((provider) => provider.identifier === identifier && isBack !== true),
        )
      },
    },
    ACCOUNT_NOT_ACTIVE: {
      cause: notActiveCause,
      facts: (evidence) => [...accountFacts(evidence), ...upstreamFacts(evidence)],
      actions: ({ entry, environment }) => {
        const now = environment?.model.tables.accounts.get(entry.trace.account?.id ?? '')
        if (!environment || !now || now.status === 'ACTIVE') return []
        const store = action('store_credentials', `Store live credentials in account ${now.id}.`, now.id)
        return [...openLinkActions(environment, now), newLink(now), store]
      },
    },
    UNAUTHENTICATED: {
      facts: tokenFacts,
      actions: ({ entry, environment }) => {
        const token = sentToken(entry)
        const how = token !== undefined && isSessionToken(token) ? MINT : GET_TOKEN
        return [action('get_token', how, environment?.name ?? null)]
      },
    },
    invalid_client: {
      cause: ({ entry: { client }, message }) =>
        client === null ? say`${message}.` : say`The client_secret that was sent for client ${quote(client)} is wrong.`,
      actions: ({ environment }) => {
        const ids = [...(environment?.model.tables.clients.values() ?? [])].map(({ id }) => id)
        return [action('get_token', `Use a client of the environment: ${ids.slice(0, 10).join(', ')}.`)]
      },
    },
    IDENTIFIER_MISMATCH: {
      cause: ({ entry }) =>
        say`The identifier ${quote(sentText(entry, 'identifier') ?? '')} is not ${quote(entry.trace.authRequest?.identifier ?? '')}, for which the magic link was created.`,
      facts: accountFacts,
    },
    ACCOUNT_NOT_FOUND: {
      facts: deletionFacts,
      actions: (evidence) => [...similarAccounts(evidence), ...seededAccount(evidence)],
    },
    AUTH_REQUEST_NOT_FOUND: {
      facts: authRequestFacts,
      actions: ({ entry }) => [newLink(entry.trace.account)],
    },
    ACCOUNT_ALREADY_EXISTS: {
      facts: ({ entry, earlier }) => {
        const existing = textOf(valueAt(responseOf(entry), 'details.0.resource_info.resource_name'))
        const maker = latestWith(earlier, ({ from, account_id }) => from === 'none' && account_id === existing)
        const source = maker
          ? `was created by ${entryName(maker)}`
          : 'is older than this journal; it may come from the seed'
        return existing === '' ? [] : [`The existing account ${existing} ${source}.`]
      },
    },
    TOOL_NOT_FOUND: {
      actions: ({ entry, environment }) => {
        const connector = entry.trace.account?.connector
        // A request that names no connector was for a tool of any of them (G21).
        const connectors =
          connector === undefined
            ? [...(environment?.model.tables.connectors.values() ?? [])]
            : [environment?.connector(connector)].filter((each) => each !== undefined)
        return meantBy(
          entry,
          'tool_name',
          executedTool(entry),
          connectors.flatMap(({ tools }) => tools.map(({ name }) => name)),
        )
      },
    },
    INVALID_CONNECTOR: {
      actions: ({ entry, environment }) => {
        const keys = [...(environment?.model.tables.connections.values() ?? [])].map(({ key_id }) => key_id)
        return meantBy(entry, 'connector', sentText(entry, 'connector'), keys)
      },
    },
    INTERNAL: { facts: ({ entry }) => (entry.failure === null ? [] : [entry.failure]) },
  }),
)

/** The nearest of the names that there are now, unless a finding of the entry names it already. */
function meantBy(
  entry: StoredEntry,
  field: string,
  value: string | null | undefined,
  names: readonly string[],
): ActionDocument[] {
  if (entry.findings.some((finding) => finding.field === field && isViolation(finding) && finding.did_you_mean))
    return []
  const meant = nearest(value ?? '', names)
  return meant === undefined ? [] : [sendAgainWith(field, meant)]
}

function upstreamCause({ entry: { trace }, message }: Evidence): CausePart[] {
  const refusal = trace.refreshes.find(({ outcome }) => outcome !== 'renewed')
  if (refusal)
    return say`The refresh of the account’s token ${refusal.outcome === 'refused' ? 'was refused' : 'got no usable answer'}: ${refusal.reason}.`
  const call = trace.upstream.at(-1)
  if (!call) return say`${message === '' ? 'The third party was not reached' : message}.`
  const response = call.status === null ? `did not answer (${message})` : `answered ${call.status}`
  return say`The third party ${call.connector} ${response} to ${call.method} ${call.url}.`
}

/** What a token lacks that the tool needs (G71). */
function scopeFacts({ entry }: Evidence): string[] {
  const response = responseOf(entry)
  const error = valueAt(response, 'details.0.tool_error_info') ?? response
  const [code, message] = [
    ['tool_error_code', 'error'],
    ['tool_error_message', 'message'],
  ].map((names) => names.map((name) => textOf(valueAt(error, name))).find((text) => text !== ''))
  if (code !== 'insufficient_scope') return []
  return [`${capitalise(message ?? '')}: another consent, or scopes stored by an update, give it (G71).`]
}

function notActiveCause({ entry: { trace }, message }: Evidence): CausePart[] {
  const { account, transitions } = trace
  if (!account) return say`${message}.`
  // An event that is due, or a refused refresh, changes the status while the request is handled.
  const left = transitions.findLast(({ account_id, to }) => account_id === account.id && to !== 'none')?.to
  const state =
    account.status !== 'ACTIVE'
      ? `was ${account.status}`
      : left === undefined
        ? 'was no longer ACTIVE'
        : `became ${left}`
  return say`Account ${accountRef(account)} ${state}.`
}

function accountId(entry: StoredEntry): string | undefined {
  return sentText(entry, 'id') ?? sentText(entry, 'connected_account_id')
}

function deletionFacts({ entry, earlier }: Evidence): string[] {
  const id = accountId(entry)
  const identifier = sentText(entry, 'identifier')
  const deleted = latestWith(
    earlier,
    ({ event, account_id }, account) =>
      event === 'deleted' &&
      (id === undefined ? account_id === account?.id && account.identifier === identifier : account_id === id),
  )
  return deleted ? [`It was deleted by ${entryName(deleted)}.`] : []
}

/** The accounts with the same identifier in another scope, else the nearest identifier. */
function similarAccounts({ entry, environment }: Evidence): ActionDocument[] {
  const identifier = sentText(entry, 'identifier')
  const accounts = [...(environment?.model.tables.accounts.values() ?? [])]
  const same = accounts.filter((account) => account.identifier === identifier).slice(0, 5)
  if (identifier === undefined) return []
  if (same.length > 0) {
    return same.map(({ id, connector, organization_id, user_id }) => {
      const scope = `organization_id ${quote(organization_id)}, user_id ${quote(user_id)}`
      const text = `Send it again with id ${quote(id)}: ${quote(identifier)} at ${connector}, ${scope}.`
      return action('send_again_with', text, 'id', id)
    })
  }
  const meant = nearest(
    identifier,
    accounts.slice(0, 2000).map((each) => each.identifier),
  )
  return meant === undefined ? [] : [sendAgainWith('identifier', meant)]
}

/** Verify's 404: what happened to the auth request, and in which request (3.1, G32). */
function authRequestFacts(evidence: Evidence): string[] {
  const { entry } = evidence
  const { authRequest } = entry.trace
  const redirect = redirectFact(evidence, sentText(entry, 'auth_request_id') ?? '')
  const absent = redirect.length > 0 ? GONE : 'No consent in this environment created this auth_request_id.'
  return [...(authRequest ? outcomeFacts(evidence, authRequest) : [absent]), ...redirect]
}

const GONE =
  'The state no longer has it: a snapshot or a state was put in its place, or it ended long ago and was dropped.'

function outcomeFacts({ entry, earlier }: Evidence, request: AuthRequest): string[] {
  const at = instant(entry.at)
  const isOf = ({ account_id }: AccountTransition): boolean => account_id === request.account_id
  const deleted = latestWith(earlier, (each) => isOf(each) && each.event === 'deleted')
  // The deletion of its account leaves a pending auth request as it is, until it expires.
  const isPending = request.outcome === 'pending' || (request.outcome === 'expired' && request.expires_at > at)
  if (deleted && isPending) return [`It ended when its account was deleted by ${entryName(deleted)}.`]
  const verified = earlier.findLast((each) => verifiedWith(each, request.id))
  const later = latestWith(earlier, (each) => isOf(each) && each.event.startsWith('consent_approved'))
  const ended = latestWith(earlier, (each) => isOf(each) && WITHDRAWING.has(each.event))
  const texts: Readonly<Record<AuthRequest['outcome'], string>> = {
    pending: `It is pending until ${request.expires_at}; the clock said ${at}.`,
    expired: `It expired at ${request.expires_at}; the clock said ${at}.`,
    consumed: `It was consumed by ${verified ? entryName(verified) : 'a request that is no longer in the journal'}.`,
    superseded: later ? `It was superseded by the consent in ${entryName(later)}.` : 'A later consent superseded it.',
    withdrawn: ended ? `It ended with ${entryName(ended)}.` : 'It ended when its account was disconnected.',
  }
  return [texts[request.outcome]]
}

function verifiedWith(entry: StoredEntry, id: string): boolean {
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
  entries: readonly StoredEntry[],
  isMeant: (transition: AccountTransition, account: Account | undefined) => boolean,
): StoredEntry | undefined {
  return entries.findLast(({ trace }) => trace.transitions.some((each) => isMeant(each, trace.account)))
}

function redirectFact({ entry, earlier }: Evidence, id: string): string[] {
  if (id === '') return []
  const name = entry.vocabulary?.wire('auth_request_id') ?? 'auth_request_id'
  const redirect = earlier.findLast(({ responseHeaders }) =>
    (responseHeaders['Location'] ?? '').includes(`${name}=${encodeURIComponent(id)}`),
  )
  return redirect ? [`The application received it in the redirect of ${entryName(redirect)}.`] : []
}

function linkFacts({ entry, earlier }: Evidence): string[] {
  const link = entry.trace.magicLink
  if (!link) return []
  const maker = earlier.findLast((each) => {
    const createdLink = each.operation === 'create_magic_link' ? ownMember(responseOf(each), 'link') : undefined
    return typeof createdLink === 'string' && createdLink.endsWith(`/magic/${link.id}`)
  })
  return [
    ...(maker ? [`The link was created by ${entryName(maker)}.`] : []),
    `It is valid until ${link.expires_at}; the clock said ${instant(entry.at)}.`,
    ...(link.completed_at === undefined ? [] : [`Its flow was completed at ${link.completed_at}.`]),
  ]
}

const GET_TOKEN = 'Get a token: POST /oauth/token with grant_type=client_credentials.'
const MINT =
  'Make a session token for this server: POST /api/v1/mcp/connections/{key_id}/tokens, or POST /api/v1/mcp/configs/{id}/tokens for the server of a config.'

function sentToken(entry: StoredEntry): string | undefined {
  return bearerTokenIn(requestHeadersOf(entry)['authorization'])
}

/** 401: which token was sent, which request issued it (5.4, G15). */
function tokenFacts({ entry, earlier }: Evidence): string[] {
  const token = sentToken(entry)
  if (token === undefined || isSessionToken(token)) return []
  const issuer = earlier.findLast(
    (each) => each.operation === 'create_token' && ownMember(responseOf(each), 'access_token') === token,
  )
  return [
    `The token of the request is ${maskSecret(token)}.`,
    issuer ? `It was issued by ${entryName(issuer)}.` : 'No request in this journal issued it.',
  ]
}
