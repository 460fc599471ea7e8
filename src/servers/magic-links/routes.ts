import express, { type Request, type Router } from 'express'
import type { ServiceParts } from '../http/services.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import { lacksDatabaseUser } from '../../model/domain/credentials.ts'
import type { MagicLink } from '../../model/domain/generated/tables.ts'
import { readWholeBody } from '../http/body.ts'
import { replyTo } from '../http/reply.ts'
import { baseUrlOf, targetOf } from '../../model/domain/request-headers.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { pageFacts } from '../../journal/request-journal/request-entries.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import { credentialsPage, readCredentials } from '../../ui/pages/credentials-page.ts'
import { pageResponse, redirectResponse } from '../../ui/pages/page-headers.ts'
import type { Environment } from '../../state/environment.ts'
import { ReadGuard } from '../../state/environment.ts'
import { StorageError } from '../../state/wal/state-errors.ts'
import { type PageRoute, type PageVisit, RefusedAuthorization } from '../../service/third-party/authorize.ts'
import { authorizeUrl } from '../../service/third-party/consent.ts'
import {
  approveConsent,
  authorizationRequestOf,
  completeLink,
  completeWithoutUser,
  type Decision,
  DECISIONS,
  finishConsent,
  type LinkFlow,
} from './consent-flow.ts'
import { LinkProblem, type OpenLink, usableLink } from './link-validity.ts'
import { continuePage, methodPage, problemPage, successPage } from './pages.ts'

interface LinkRequest {
  readonly flow: LinkFlow
  readonly linkId: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  /** What the footer of a page says. */
  readonly facts: readonly string[]
}

type LinkServices = Pick<
  ServiceParts,
  'registry' | 'thirdParties' | 'scenarios' | 'pauses' | 'baseUrl' | 'entries' | 'log'
>

interface FoundLink {
  readonly environment: Environment
  readonly link: MagicLink
}

/** Enough for a form of a few credentials. */
const MAX_FORM = 64 * 1024

/** The service's pages: magic links (G28, G29), the third party's redirect, and the end of the flow. */
export function magicLinkRoutes(services: LinkServices): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  const page = pageRoute(services)
  const byId = (request: Request) => services.registry.byMagicLink.get(String(request.params.id))
  const byState = (request: Request) => services.registry.byOauthState.get(linkQuery(request).get('state') ?? '')
  const notAllowed = (allow: string) =>
    page(({ method }) => pageResponse(405, methodPage(method, allow), { Allow: allow }))
  // HEAD is refused on links: following one can decide it, which a look at the headers must not.
  router
    .route('/magic/:id')
    .head(notAllowed('GET, POST'))
    .get(page(linkHandler(services, byId, visitLink)))
    .post(page(linkHandler(services, byId, submitLink)))
    .all(notAllowed('GET, POST'))
  router
    .route('/connect/callback')
    .head(notAllowed('GET'))
    .get(page(linkHandler(services, byState, handleRedirect)))
    .all(notAllowed('GET'))
  const success = page((request, visit) => {
    const followed = followedLink(services, request)
    visit.environment = followed?.environment
    return pageResponse(200, successPage(linkQuery(request).get('error'), followed, pageFacts(visit)))
  })
  router.route('/connect/success').get(success).all(notAllowed('GET, HEAD'))
  return router
}

/** Answers a page, or the page of a problem: also when the state that it rests on could not be written. */
export function pageRoute(services: Pick<LinkServices, 'entries' | 'log'>): PageRoute {
  return (handle) => (request, response) =>
    replyTo(services, request, response, {
      kind: 'page',
      ids: 'pages',
      handle: async (visit) => ({ wireResponse: await handle(request, visit) }),
      refuse: (error, visit) => {
        const problem = error instanceof StorageError ? new LinkProblem('not_stored', error.message) : error
        const say = (text: string): string => visit.environment?.vocabulary?.prose(text) ?? text
        const problemResponse = problemPage(problem, say, pageFacts(visit))
        return (
          problemResponse && {
            wireResponse: pageResponse(problemResponse.status, problemResponse.page),
            facts: { errorCode: problemCode(problem), failure: problem instanceof Error ? problem.message : '' },
          }
        )
      },
    })
}

/** The body of a form; any other body is left unread. @throws ServiceError BODY_TOO_LARGE (413), MALFORMED_BODY (400) */
async function readPageForm(request: Request, visit: PageVisit): Promise<URLSearchParams> {
  const isForm = request.method === 'POST' && request.is('application/x-www-form-urlencoded')
  if (isForm) visit.body = String(await readWholeBody(request, MAX_FORM))
  return new URLSearchParams(String(visit.body))
}

/** GET of a link: what it opens depends on where credentials of the type come from (G29). */
async function visitLink({ flow, linkId, query, facts }: LinkRequest): Promise<EncodedResponse> {
  const { baseUrl, environment } = flow
  const open = usableLink(environment, linkId)
  const { consent } = environment.settings
  const as = personOf(query)
  const decision = decisionOf(query) ?? (consent === 'ask' ? undefined : consent)
  if (decision) return leadOn(linkId, await completeLink(flow, linkId, { decision, as }))
  if (as !== undefined) throw new LinkProblem('unknown_decision', 'as without decision')
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return leadOn(linkId, authorizeUrl(baseUrl, environment, open.connector, authorizationRequestOf(flow, open)))
    case 'form':
      return pageResponse(200, credentialsPage(open, facts))
    case 'service':
    case 'none':
      return pageResponse(
        200,
        lacksUser(open) ? credentialsPage(withUserField(open), facts) : continuePage(open, facts),
      )
  }
}

/** POST of a link: the credentials form, its Cancel button, or Continue where no user is needed. */
async function submitLink(request: LinkRequest): Promise<EncodedResponse> {
  const { flow, linkId, query, form, facts } = request
  const open = usableLink(flow.environment, linkId)
  const decision = decisionOf(query)
  if (decision) return leadOn(linkId, await completeLink(flow, linkId, { decision, as: personOf(query) }))
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return visitLink(request)
    case 'form': {
      const filled = readCredentials(open.connector.credentials.fields, form)
      if (filled.problems.size > 0) return pageResponse(400, credentialsPage(open, facts, filled))
      const credentials = { static_auth: { details: Object.fromEntries(filled.values) } }
      return leadOn(linkId, approveConsent(flow, linkId, { credentials, lifetime: null, entered: true }))
    }
    case 'service':
    case 'none': {
      if (!lacksUser(open)) return leadOn(linkId, await completeWithoutUser(flow, linkId))
      const filled = readCredentials([DATABASE_USER], form)
      if (filled.problems.size > 0) return pageResponse(400, credentialsPage(withUserField(open), facts, filled))
      return leadOn(linkId, await completeWithoutUser(flow, linkId, filled.values.get(DATABASE_USER.name)))
    }
  }
}

/** What the service needs to know before it can obtain credentials of a provisioned cluster (2.2, G23). */
const DATABASE_USER = { name: 'db_user', label: 'Database user', secret: false, required: true, hint: '' }

function lacksUser({ account, connector }: OpenLink): boolean {
  return lacksDatabaseUser(account.credentials, connector)
}

function withUserField(open: OpenLink): OpenLink {
  const { connector } = open
  return { ...open, connector: { ...connector, credentials: { ...connector.credentials, fields: [DATABASE_USER] } } }
}

async function handleRedirect({ flow, linkId, query }: LinkRequest): Promise<EncodedResponse> {
  return leadOn(linkId, await finishConsent(flow, linkId, query))
}

/** @throws LinkProblem for anything but one of the decisions, given once */
function decisionOf(query: URLSearchParams): Decision | undefined {
  const values = query.getAll('decision')
  if (values.length === 0) return undefined
  const decision = DECISIONS.find((candidate) => candidate === values[0])
  if (!decision || values.length > 1) throw new LinkProblem('unknown_decision', values.join(', ').slice(0, 100))
  return decision
}

/** Who signs in, beside a decision. @throws LinkProblem where several are given */
function personOf(query: URLSearchParams): string | undefined {
  const values = query.getAll('as')
  if (values.length > 1)
    throw new LinkProblem(
      'unknown_decision',
      values
        .map((name) => `as ${name}`)
        .join(', ')
        .slice(0, 100),
    )
  return values[0]
}

/** Leads a browser on. The page at the end of the flow has no link in its address (G31, G33), so a cookie names it. */
function leadOn(linkId: string, url: string): EncodedResponse {
  const cookie = `${FOLLOWED}=${linkId}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax`
  return redirectResponse(302, url, { 'Set-Cookie': cookie })
}

function linkHandler(
  services: LinkServices,
  find: (request: Request) => FoundLink | undefined,
  handle: (request: LinkRequest) => Promise<EncodedResponse>,
): (request: Request, visit: PageVisit) => Promise<EncodedResponse> {
  return async (request, visit) => {
    const form = await readPageForm(request, visit)
    const target = find(request)
    if (!target) throw new LinkProblem('unknown')
    const { environment, link } = target
    visit.environment = environment
    const { trace } = visit
    visit.readGuard = new ReadGuard(environment)
    applyDueEvents(environment, trace)
    trace.account = environment.model.tables.accounts.get(link.account_id)
    trace.magicLink = link
    const flow: LinkFlow = {
      services,
      environment,
      thirdParty: services.thirdParties.client(environment, trace),
      baseUrl: baseUrlOf(request, services.baseUrl),
      trace,
    }
    return handle({ flow, linkId: link.id, query: linkQuery(request), form, facts: pageFacts(visit) })
  }
}

/** The cookie that says which link a browser has followed. */
const FOLLOWED = 'toolmock_link'

/** The link that the browser of a request has followed; undefined when it, its account or its connector is gone. */
function followedLink({ registry }: LinkServices, { headers }: Request) {
  const id = new RegExp(`(?:^|; *)${FOLLOWED}=([\\w-]+)`).exec(headers.cookie ?? '')?.[1]
  const place = id === undefined ? undefined : registry.byMagicLink.get(id)
  const account = place?.environment.model.tables.accounts.get(place.link.account_id)
  const connector = account && place?.environment.connector(account.connector)
  if (!place || !account || !connector) return undefined
  const { environment } = place
  const person = environment.model.grantIndex.ofAccount(account.id).at(-1)?.person
  return { environment, account, connector, person }
}

/** The query of a request, without any parser's own ideas of arrays and objects. */
function linkQuery(request: Request): URLSearchParams {
  const url = targetOf(request)
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

/** What the request journal says of a problem. */
function problemCode(error: unknown): string {
  if (error instanceof LinkProblem) return `LINK_${error.kind.toUpperCase()}`
  return error instanceof RefusedAuthorization ? 'AUTHORIZATION_REFUSED' : 'PAGE_FAILED'
}
