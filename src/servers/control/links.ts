import type { Account } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { withoutUndefined } from '../../model/domain/json.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { quote } from '../../model/domain/text.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import { completeLink } from '../magic-links/consent-flow.ts'
import { defaultPerson } from '../../ui/pages/consent-page.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import { type Environment, ReadGuard } from '../../state/environment.ts'
import { hasExpired } from '../../state/expiry.ts'
import { runOperation } from './operation.ts'
import { changeReply, type EnvironmentCall, type ControlHandlers, goneSignal } from './call.ts'
import { ControlError, invalidInput } from './errors.ts'

type ListCall = EnvironmentCall<'list_links'>

export const linkHandlers = {
  list_links: async (call) => {
    const { services, environment, journal, query } = call
    let links = openLinkViews(call)
    if (links.length === 0 && query.wait_ms > 0) {
      // Links are created by requests.
      const isThere = (): boolean => (links = openLinkViews(call)).length > 0
      await journal.until(isThere, { timeoutMs: query.wait_ms, signal: goneSignal(call) })
      // The environment may have been deleted meanwhile.
      if (services.registry.environment(environment.name) !== environment) links = []
    }
    return { body: { links } }
  },

  /** As the operation does it (4.6), without a bearer token. */
  create_link: async (call) => {
    const { services, environment, body, request } = call
    const baseUrl = baseUrlOf(request, services.baseUrl)
    const reply = await runOperation('create_magic_link', call, withoutUndefined(body)).catch((error: unknown) => {
      throw linkRefusal(error)
    })
    const { link, expiry } = reply.body as { link: string; expiry: string }
    const id = link.slice(`${baseUrl}/magic/`.length)
    const { connector, identifier } = body
    const created = { id, link, connector, identifier, expiry, ...signsIn(environment, accountOfLink(environment, id)) }
    const sentence = `a magic link for ${identifier} at ${connector} was created`
    return { status: 201, ...changeReply(sentence, { body: created }) }
  },

  /** A link belongs to one environment; a call that names another one is refused. */
  complete_link: async (call) => {
    const { services, request, query, body, path, trace } = call
    const place = services.registry.byMagicLink.get(path.id)
    const isNamed = query.environment !== undefined
    if (!place || (isNamed && place.environment !== call.environment)) {
      throw new ControlError('LINK_NOT_FOUND', `there is no magic link ${quote(path.id)} in this environment`)
    }
    const { environment, link } = place
    if (!isNamed) applyDueEvents(environment, trace)
    checkScopes(environment, link, body)
    const readGuard = new ReadGuard(environment)
    trace.account = environment.model.tables.accounts.get(link.account_id)
    const thirdParty = services.thirdParties.client(environment, trace)
    const flow = { services, environment, thirdParty, baseUrl: baseUrlOf(request, services.baseUrl), trace }
    const redirect_url = await completeLink(flow, link.id, body)
    readGuard.assertValid()
    const signedIn = body.as ?? signsIn(environment, trace.account).signs_in_as
    const who = signedIn === null || body.decision === 'deny' ? '' : ` as ${signedIn}`
    return changeReply(`a magic link was completed: ${body.decision}${who}`, {
      body: { redirect_url },
    })
  },
} satisfies Partial<ControlHandlers>

function openLinkViews({ services, environment, request }: ListCall): object[] {
  const { tables } = environment.model
  const baseUrl = baseUrlOf(request, services.baseUrl)
  const links: object[] = []
  for (const link of environment.model.openLinks()) {
    const { id, account_id, expires_at: expiry } = link
    const account = tables.accounts.get(account_id)
    if (!account || hasExpired(environment, link)) continue
    const { connector, identifier } = account
    const whom = signsIn(environment, account)
    links.push({ id, link: `${baseUrl}/magic/${id}`, connector, identifier, expiry, ...whom })
  }
  return links
}

/** @throws ControlError INVALID_BODY for scopes that the consent of a link does not ask for */
function checkScopes(
  environment: Environment,
  link: MagicLink,
  { decision, scopes = [] }: EnvironmentCall<'complete_link'>['body'],
): void {
  const account = environment.model.tables.accounts.get(link.account_id)
  const connector = account && environment.connector(account.connector)
  const asks = decision === 'approve' && connector && TRAITS[connector.authorization_type].source === 'consent'
  const asked = asks ? connector.oauth.scopes : []
  const problems = scopes.flatMap((scope, index) => {
    const allowed = asked.join(', ') || 'none: this decision grants no scopes'
    return asked.includes(scope) ? [] : [{ path: ['scopes', index], found: quote(scope), allowed }]
  })
  if (problems.length > 0) throw invalidInput('INVALID_BODY', problems)
}

function accountOfLink({ model }: Environment, linkId: string): Account | undefined {
  return model.tables.accounts.get(model.tables.magic_links.get(linkId)?.account_id ?? '')
}

/** Who signs in when the link is approved without naming anybody; null where nobody signs in. */
function signsIn(environment: Environment, account: Account | undefined): { signs_in_as: string | null } {
  const connector = account && environment.connector(account.connector)
  const asks = connector && TRAITS[connector.authorization_type].source === 'consent'
  return { signs_in_as: asks ? defaultPerson(connector.people, account.identifier) : null }
}

function linkRefusal(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.status >= 500) return error
  const { violations = [] } = error.context
  const details = violations.map(({ field, description }) => ({ path: field, message: description }))
  return new ControlError(violations.length > 0 ? 'INVALID_BODY' : 'LINK_NOT_USABLE', error.message, details)
}
