import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Router } from 'express'
import type { ServiceParts } from '../http/services.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { MagicLink } from '../domain/generated/tables.ts'
import { readBody } from '../http/body.ts'
import { holdAnswer } from '../http/held-answers.ts'
import { baseUrlOf } from '../domain/request-headers.ts'
import { pageFacts, pageVisit } from '../request-journal/page-journal.ts'
import { applyDueEvents } from '../state/account-events.ts'
import { credentialsPage, readCredentials } from '../pages/credentials-page.ts'
import type { Html } from '../pages/html.ts'
import { sendPage, sendRedirect } from '../pages/page-headers.ts'
import type { Environment } from '../state/environment.ts'
import { ReadGuard } from '../state/environment.ts'
import { RefusedAuthorization } from '../third-party/authorize.ts'
import { authorizeUrl } from '../third-party/consent.ts'
import {
  approve,
  authorizationRequestOf,
  completeLink,
  completeWithoutUser,
  type Decision,
  DECISIONS,
  finishConsent,
  type LinkFlow,
} from './consent-flow.ts'
import { LinkProblem, usableLink } from './link-validity.ts'
import { continuePage, methodPage, problemPage, successPage } from './pages.ts'

/** A page with its status, or where the browser goes next. */
type Answer = { status: number; page: Html } | { redirect: string }

interface LinkRequest {
  readonly flow: LinkFlow
  readonly linkId: string
  readonly query: URLSearchParams
  readonly form: URLSearchParams
  /** What the footer of a page says. */
  readonly facts: readonly string[]
}

type LinkServices = Pick<ServiceParts, 'registry' | 'thirdParties' | 'scenarios' | 'pauses' | 'baseUrl'>

interface FoundLink {
  readonly environment: Environment
  readonly link: MagicLink
}

/** Enough for a form of a few credentials. */
const MAX_FORM = 64 * 1024

/** The service's pages: magic links (G28, G29), the third party's redirect, and the end of the flow. */
export function magicLinkRoutes(services: LinkServices): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  const byId = (request: Request) => services.registry.byMagicLink.get(String(request.params.id))
  const byState = (request: Request) => services.registry.byOauthState.get(queryOf(request).get('state') ?? '')
  // HEAD is refused on links: following one can decide it, which a look at the headers must not.
  router
    .route('/magic/:id')
    .head(notAllowed('GET, POST'))
    .get(linkHandler(services, byId, follow))
    .post(readForm, linkHandler(services, byId, submit))
    .all(notAllowed('GET, POST'))
  router
    .route('/connect/callback')
    .head(notAllowed('GET'))
    .get(linkHandler(services, byState, handleRedirect))
    .all(notAllowed('GET'))
  router
    .route('/connect/success')
    .get((request, response) => {
      const followed = followedLink(services, request)
      if (followed) pageVisit(response).environment = followed.environment
      sendPage(response, 200, successPage(queryOf(request).get('error'), followed, pageFacts(response)))
    })
    .all(notAllowed('GET, HEAD'))
  router.use(showProblem)
  return router
}

/** The body of a form; any other body is left unread. @throws ServiceError BODY_TOO_LARGE (413), MALFORMED_BODY (400) */
const readForm: RequestHandler = async (request, _response, next) => {
  if (request.is('application/x-www-form-urlencoded')) request.body = String(await readBody(request, MAX_FORM))
  next()
}

/** GET of a link: what it opens depends on where credentials of the type come from (G29). */
async function follow({ flow, linkId, query, facts }: LinkRequest): Promise<Answer> {
  const { baseUrl, environment } = flow
  const open = usableLink(environment, linkId)
  const { consent } = environment.settings
  const as = personOf(query)
  const decision = decisionOf(query) ?? (consent === 'ask' ? undefined : consent)
  if (decision) return { redirect: await completeLink(flow, linkId, { decision, as }) }
  if (as !== undefined) throw new LinkProblem('unknown_decision', 'as without decision')
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return { redirect: authorizeUrl(baseUrl, environment, open.connector, authorizationRequestOf(flow, open)) }
    case 'form':
      return { status: 200, page: credentialsPage(open, facts) }
    case 'service':
    case 'none':
      return { status: 200, page: continuePage(open, facts) }
  }
}

/** POST of a link: the credentials form, its Cancel button, or Continue where no user is needed. */
async function submit(request: LinkRequest): Promise<Answer> {
  const { flow, linkId, query, form, facts } = request
  const open = usableLink(flow.environment, linkId)
  const decision = decisionOf(query)
  if (decision) return { redirect: await completeLink(flow, linkId, { decision, as: personOf(query) }) }
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return follow(request)
    case 'form': {
      const filled = readCredentials(open.connector.credentials.fields, form)
      if (filled.problems.size > 0) return { status: 400, page: credentialsPage(open, facts, filled) }
      const credentials = { static_auth: { details: Object.fromEntries(filled.values) } }
      return { redirect: approve(flow, linkId, { credentials, lifetime: null, entered: true }) }
    }
    case 'service':
    case 'none':
      return { redirect: await completeWithoutUser(flow, linkId) }
  }
}

/** The third party's redirect. */
async function handleRedirect({ flow, linkId, query }: LinkRequest): Promise<Answer> {
  return { redirect: await finishConsent(flow, linkId, query) }
}

/** @throws LinkProblem for anything but one of the decisions, given once */
function decisionOf(query: URLSearchParams): Decision | undefined {
  const given = query.getAll('decision')
  if (given.length === 0) return undefined
  const decision = DECISIONS.find((known) => known === given[0])
  if (!decision || given.length > 1) throw new LinkProblem('unknown_decision', given.join(', ').slice(0, 100))
  return decision
}

/** Who signs in, beside a decision. @throws LinkProblem where several are given */
function personOf(query: URLSearchParams): string | undefined {
  const given = query.getAll('as')
  if (given.length > 1)
    throw new LinkProblem(
      'unknown_decision',
      given
        .map((name) => `as ${name}`)
        .join(', ')
        .slice(0, 100),
    )
  return given[0]
}

/** Finds the link, applies due events, and answers. */
function linkHandler(
  services: LinkServices,
  find: (request: Request) => FoundLink | undefined,
  handle: (request: LinkRequest) => Promise<Answer>,
): RequestHandler {
  return async (request, response) => {
    const found = find(request)
    if (!found) throw new LinkProblem('unknown')
    const { environment, link } = found
    const visit = pageVisit(response)
    visit.environment = environment
    const { trace } = visit
    visit.readGuard = new ReadGuard(environment)
    applyDueEvents(environment, trace)
    trace.account = environment.model.tables.accounts.get(link.account_id)
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
    const flow: LinkFlow = {
      services,
      environment,
      thirdParty: services.thirdParties.client(environment, trace),
      baseUrl: baseUrlOf(request, services.baseUrl),
      trace,
    }
    const answer = await handle({ flow, linkId: link.id, query: queryOf(request), form, facts: pageFacts(response) })
    if ('redirect' in answer) {
      // The page at the end of the flow has no link in its address (G31, G33).
      response.setHeader('Set-Cookie', `${FOLLOWED}=${link.id}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax`)
      sendRedirect(response, answer.redirect)
    } else sendPage(response, answer.status, answer.page)
  }
}

/** The cookie that says which link a browser has followed. */
const FOLLOWED = 'toolmock_link'

/** The link that the browser of a request has followed; undefined when it, its account or its connector is gone. */
function followedLink({ registry }: LinkServices, { headers }: Request) {
  const id = new RegExp(`(?:^|; *)${FOLLOWED}=([\\w-]+)`).exec(headers.cookie ?? '')?.[1]
  const found = id === undefined ? undefined : registry.byMagicLink.get(id)
  const account = found?.environment.model.tables.accounts.get(found.link.account_id)
  const connector = account && found?.environment.connector(account.connector)
  if (!found || !account || !connector) return undefined
  const { environment } = found
  const person = environment.model.grantIndex.ofAccount(account.id).at(-1)?.person
  return { environment, account, connector, person }
}

/**
 * Holds pages back until everything that they say is durable. When a commit of the request, or one that it has read, could not be
 * written, a page says that.
 */
export function holdPages({ registry }: Pick<LinkServices, 'registry'>): RequestHandler {
  return (request, response, next) => {
    const visit = pageVisit(response)
    const refuse = (error: unknown): void => {
      visit.trace.markRolledBack()
      response.removeHeader('Set-Cookie')
      const problem = new LinkProblem('not_stored', error instanceof Error ? error.message : String(error))
      void showProblem(problem, request, response, next)
    }
    holdAnswer(response, registry, { refuse, readGuard: () => visit.readGuard })
    next()
  }
}

/** The query of a request, without any parser's own ideas of arrays and objects. */
function queryOf({ originalUrl: url }: Request): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

function notAllowed(allow: string): RequestHandler {
  return (request, response) => {
    response.setHeader('Allow', allow)
    sendPage(response, 405, methodPage(request.method, allow))
  }
}

/** Turns an error into its page; what is a defect of the mock goes on to the last error handler. */
export const showProblem: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  const visit = pageVisit(response)
  const problem = problemPage(error, (text) => visit.environment?.vocabulary?.prose(text) ?? text, pageFacts(response))
  if (!problem || response.headersSent) {
    next(error)
    return
  }
  visit.problem = { code: problemCode(error), message: error instanceof Error ? error.message : '' }
  sendPage(response, problem.status, problem.page)
}

/** What the request journal says of a problem. */
function problemCode(error: unknown): string {
  if (error instanceof LinkProblem) return `LINK_${error.kind.toUpperCase()}`
  return error instanceof RefusedAuthorization ? 'AUTHORIZATION_REFUSED' : 'PAGE_FAILED'
}
