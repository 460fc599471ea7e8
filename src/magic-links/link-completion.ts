import { shorten } from '../domain/text.ts'
import { checkDatabaseUser } from '../domain/credentials.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { TokenAnswer } from '../domain/ports.ts'
import { approve, type Consented, deny, refuseUnverifiable, usableLink } from './consent-flow.ts'
import { generatedDetails } from './credentials-form.ts'
import { LinkProblem } from './link-problem.ts'
import type { AuthorizationQuestion, Decision, Flow, OpenLink } from './ports.ts'

/** A decision without a browser, and who takes it; anybody, in the connector's `people` or not. */
export interface Choice {
  decision: Decision
  as?: string | undefined
}

/**
 * Completes a link without a browser (G31), by the steps that a browser would take: consent goes through the third
 * party's code and token endpoint, static types get credentials that the third party accepts.
 * @throws LinkProblem as a browser would be shown it
 */
export async function completeLink(flow: Flow, linkId: string, choice: Choice): Promise<{ redirect_url: string }> {
  const open = usableLink(flow.environment, linkId)
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return { redirect_url: await completeConsent(flow, open, choice) }
    case 'form':
      return { redirect_url: choice.decision === 'deny' ? deny(flow, linkId) : enterGenerated(flow, open, choice.as) }
    case 'service':
    case 'none':
      return { redirect_url: choice.decision === 'deny' ? deny(flow, linkId) : await completeWithoutUser(flow, linkId) }
  }
}

/** What the authorize request of a link says. */
export function questionOf(flow: Flow, { link, account, connector }: OpenLink): AuthorizationQuestion {
  return {
    state: link.oauth_state,
    redirectUri: `${flow.baseUrl}/connect/callback`,
    scopes: connector.oauth.scopes,
    loginHint: account.identifier,
  }
}

/**
 * What the third party's redirect brought back: a code, which is exchanged for tokens, or an error.
 * @returns where the browser goes
 * @throws LinkProblem when the link stopped working, or the third party does not take the code
 */
export async function finishConsent(flow: Flow, linkId: string, answer: URLSearchParams): Promise<string> {
  const open = usableLink(flow.environment, linkId)
  const error = answer.get('error')
  if (error === 'access_denied') return deny(flow, linkId)
  if (error) throw new LinkProblem('refused', shorten(`${error} ${answer.get('error_description') ?? ''}`.trim(), 200))
  const code = answer.get('code')
  if (!code) throw new LinkProblem('unusable_callback')
  // Before the code is spent.
  refuseUnverifiable(flow.environment, open.link)
  const { redirectUri } = questionOf(flow, open)
  const tokens = await flow.thirdParty.redeem(open.connector, open.account, code, redirectUri)
  return approve(flow, linkId, granted(tokens))
}

/** Completes a link whose type needs no user; the service obtains the credentials itself, where there are any. */
export async function completeWithoutUser(flow: Flow, linkId: string): Promise<string> {
  const { link, account, connector } = usableLink(flow.environment, linkId)
  refuseUnverifiable(flow.environment, link)
  if (TRAITS[connector.authorization_type].source === 'none') {
    return approve(flow, linkId, { credentials: {}, lifetime: null })
  }
  checkDatabaseUser(account.credentials, connector)
  return approve(flow, linkId, granted(await flow.thirdParty.obtain(connector, account)))
}

async function completeConsent(flow: Flow, open: OpenLink, { decision, as }: Choice): Promise<string> {
  const { environment, authorizations } = flow
  if (decision === 'approve') refuseUnverifiable(environment, open.link)
  const answer = { ...questionOf(flow, open), decision, person: as || whoSignsIn(open) }
  const callback = await authorizations.decide(environment, open.connector, answer, flow.trace)
  return finishConsent(flow, open.link.id, new URL(callback, flow.baseUrl).searchParams)
}

/** The account's own identifier where it is one of the people, else the first of them. */
function whoSignsIn({ account, connector: { people } }: OpenLink): string {
  return people.includes(account.identifier) ? account.identifier : (people[0] ?? account.identifier)
}

function enterGenerated(flow: Flow, { link, connector }: OpenLink, person: string | undefined): string {
  return flow.environment.model.transact(() => {
    const details = generatedDetails(connector.credentials.fields, flow.environment.ids, person || undefined)
    return approve(flow, link.id, { credentials: { static_auth: { details } }, lifetime: null, entered: true })
  })
}

function granted(answer: TokenAnswer): Consented {
  if (answer.granted) return { credentials: answer.credentials, lifetime: answer.lifetime_ms }
  const detail = shorten([answer.error, answer.description].filter(Boolean).join(': '), 200)
  throw new LinkProblem(answer.status >= 500 ? 'unavailable' : 'refused', detail)
}
