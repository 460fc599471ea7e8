import {
  type Account,
  type AccountStatus,
  type Issued,
  issued,
  withLive,
  withoutPending,
  withPending,
} from '../domain/account.ts'
import type { Credentials } from '../domain/credentials.ts'
import { type Instant, instant } from '../domain/instant.ts'
import type { LifecycleEvent } from '../domain/lifecycle.ts'
import type { MagicLink } from '../domain/magic-link.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { wireWord } from '../domain/vocabulary.ts'
import { connectionOf } from '../operations/connectors.ts'
import { type Environment, now } from '../state/environment.ts'
import { LinkProblem } from './link-problem.ts'
import type { Flow, OpenLink } from './ports.ts'
import { withParameters } from './redirect-url.ts'

/** What a consent brought. */
export interface Consented {
  credentials: Credentials
  /** Lifetime of the token in milliseconds (G25); null when it does not expire. */
  lifetime: number | null
  /** Whether a person entered them, so that the third party has yet to know them. */
  entered?: boolean
}

/**
 * A link that can be followed, also by the redirect that comes back from the third party: "when the link stops working"
 * (2.3) is the end of the whole flow.
 * @throws LinkProblem when it is unknown, used, expired, or what it is for is gone (G28)
 */
export function usableLink(environment: Environment, id: string): OpenLink {
  const { tables } = environment.model
  const link = tables.magic_links.get(id)
  if (!link) throw new LinkProblem('unknown')
  if (link.completed_at !== undefined) throw new LinkProblem('completed')
  const account = tables.accounts.get(link.account_id)
  if (!account) throw new LinkProblem('account_deleted')
  if (link.expires_at <= now(environment)) throw new LinkProblem('expired')
  const connector = environment.connector(account.connector)
  if (!connector) throw new LinkProblem('connector_removed')
  if (connectionOf(environment, account.connector)?.enabled === false) throw new LinkProblem('connection_disabled')
  return { link, account, connector }
}

/** @throws LinkProblem for links without `user_verify_url` where `require_user_verification` is set ("States") */
export function refuseUnverifiable({ settings }: Environment, link: MagicLink): void {
  if (settings.require_user_verification && link.user_verify_url === '') throw new LinkProblem('verification_required')
}

/**
 * Consent was approved: the credentials become live, or wait for verification behind a new auth request when the link has
 * a `user_verify_url`; older requests of the account are superseded, and the link is used up. All of it or nothing.
 * @returns where the browser goes (G30)
 * @throws LinkProblem when the link stopped working in the meantime
 */
export function approve(flow: Flow, linkId: string, consented: Consented): string {
  const { environment, thirdParty, trace } = flow
  const { model, clock } = environment
  return model.transact(() => {
    const { link, account, connector } = usableLink(environment, linkId)
    refuseUnverifiable(environment, link)
    supersedeRequests(environment, account)
    const at = now(environment)
    const fresh = issued(account, consented.credentials, consented.lifetime, clock.now())
    const changed =
      link.user_verify_url === '' ? connected(trace, account, fresh, at) : awaiting(trace, account, fresh, at)
    model.tables.accounts.put(changed)
    if (consented.entered) thirdParty.accept(connector, changed, consented.credentials)
    model.tables.magic_links.put({ ...link, completed_at: at })
    return link.user_verify_url === ''
      ? successUrl(flow)
      : verifyUrl(environment, link, newRequest(environment, account))
  })
}

/**
 * Consent was denied: the status stays by the table, and so does the link, whose flow has not completed (G28): whoever
 * pressed the wrong button can follow it again until it expires.
 * @returns where the browser goes, with `error=access_denied` and `state`
 */
export function deny(flow: Flow, linkId: string): string {
  const { link, account } = usableLink(flow.environment, linkId)
  flow.trace.moved(account, 'consent_denied', now(flow.environment))
  const answer = new Map([['error', 'access_denied'], ...stateOf(flow.environment, link)])
  return withParameters(link.user_verify_url || successUrl(flow), answer)
}

/** The account with live credentials; whatever waited for verification is superseded. */
function connected(trace: RequestTrace, account: Account, fresh: Issued, at: Instant): Account {
  const ready = STEP_BEFORE[account.status]
  const waiting = ready ? trace.moved(account, ready, at) : account
  return trace.moved(withLive(withoutPending(waiting), fresh), 'consent_approved', at)
}

/**
 * The table has no move for an approval without verification from these, which would leave live credentials in an account
 * that no tool runs with. A link that is followed still asks for what it asked when it was made, and a superseded request
 * is over as an expired one is: both lead to `PENDING_AUTH` first ("States", docs/fidelity.md).
 */
const STEP_BEFORE: Readonly<Partial<Record<AccountStatus, LifecycleEvent>>> = {
  EXPIRED: 'link_requested',
  DISCONNECTED: 'link_requested',
  PENDING_VERIFICATION: 'auth_request_expired',
}

/** The account with credentials that wait; nothing else changes where the table has no move, `ACTIVE` for one. */
function awaiting(trace: RequestTrace, account: Account, fresh: Issued, at: Instant): Account {
  const next = trace.moved(account, 'consent_approved_unverified', at)
  return withPending(next.status === account.status ? account : next, fresh)
}

/** A newer approved consent supersedes older pending requests of the account: they answer 404 ("States"). */
function supersedeRequests({ model }: Environment, account: Account): void {
  for (const request of model.linkIndex.pendingOf(account.id))
    model.tables.auth_requests.put({ ...request, outcome: 'superseded' })
}

/** The request that verify will ask for; it stores the account's identifier, whoever signed in (G32, G57). */
function newRequest({ model, ids, clock, settings }: Environment, account: Account): string {
  const id = ids.opaque()
  model.tables.auth_requests.put({
    id,
    account_id: account.id,
    identifier: account.identifier,
    expires_at: instant(clock.now() + settings.auth_request_lifetime),
    outcome: 'pending',
  })
  return id
}

/** The parameters have the names that the wire has for the fields of the same value (G48). */
function verifyUrl(environment: Environment, link: MagicLink, requestId: string): string {
  const name = wireWord(environment.settings.vocabulary, 'auth_request_id')
  return withParameters(link.user_verify_url, new Map([[name, requestId], ...stateOf(environment, link)]))
}

function successUrl(flow: Flow): string {
  return `${flow.baseUrl}/connect/success`
}

function stateOf({ settings }: Environment, link: MagicLink): [string, string][] {
  return link.state === null ? [] : [[wireWord(settings.vocabulary, 'state'), link.state]]
}
