import type { ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Router } from 'express'
import { TRAITS } from '../domain/authorization-type.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import { Vocabulary } from '../domain/vocabulary.ts'
import type { Environment } from '../state/environment.ts'
import { ReadGuard } from '../state/read-guard.ts'
import type { Html } from '../pages/html.ts'
import { sendPage, sendRedirect } from '../pages/page-headers.ts'
import { approve, usableLink } from './consent-flow.ts'
import { detailsOf, readCredentials } from './credentials-form.ts'
import { completeLink, completeWithoutUser, finishConsent, questionOf } from './link-completion.ts'
import { LinkProblem } from './link-problem.ts'
import { continuePage, formPage, methodPage, problemPage, successPage } from './pages.ts'
import { type ConnectContext, type Decision, DECISIONS, type Flow, type FoundLink } from './ports.ts'

/** A page with its status, or where the browser goes next. */
type Answer = { status: number; page: Html } | { redirect: string }

/** One request about one link. */
interface Visit {
  flow: Flow
  linkId: string
  query: URLSearchParams
  form: URLSearchParams
}

/** Room for a form of a few credentials, and no more. */
const FORM_LIMIT = '64kb'

/** What a browser meets on the service's side: magic links (G28, G29), the way back from the third party, the end. */
export function connectRoutes(context: ConnectContext): Router {
  const router = express.Router({ strict: true, caseSensitive: true })
  const form = express.text({ type: 'application/x-www-form-urlencoded', limit: FORM_LIMIT })
  const environments = new WeakMap<Request, Environment>()
  const noted = (request: Request, found: FoundLink | undefined) => {
    if (found) environments.set(request, found.environment)
    return found
  }
  const byId = (request: Request) => noted(request, context.findLink(String(request.params.id)))
  const byState = (request: Request) => noted(request, context.findOauthState(queryOf(request).get('state') ?? ''))
  // HEAD is served nowhere but on the last page: following a link can decide it, which a look at the headers must not.
  router
    .route('/magic/:id')
    .head(notAllowed('GET, POST'))
    .get(visit(context, byId, follow))
    .post(form, visit(context, byId, submit))
    .all(notAllowed('GET, POST'))
  router
    .route('/connect/callback')
    .head(notAllowed('GET'))
    .get(visit(context, byState, comeBack))
    .all(notAllowed('GET'))
  router
    .route('/connect/success')
    .get((request, response) => {
      sendPage(response, 200, successPage(queryOf(request).get('error')))
    })
    .all(notAllowed('GET, HEAD'))
  router.use(showProblem(context, environments))
  return router
}

/** GET of a link: what it opens depends on where credentials of the type come from (G29). */
async function follow({ flow, linkId, query }: Visit): Promise<Answer> {
  const open = usableLink(flow.environment, linkId)
  const { consent } = flow.environment.settings
  const decision = decisionOf(query) ?? (consent === 'ask' ? undefined : consent)
  if (decision) return decided(flow, linkId, { decision, as: query.get('as') ?? undefined })
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent': {
      const { authorizations, baseUrl, environment } = flow
      const question = questionOf(flow, open)
      return { redirect: authorizations.authorizeUrl(baseUrl, environment, open.connector, question) }
    }
    case 'form':
      return { status: 200, page: formPage(open) }
    case 'service':
    case 'none':
      return { status: 200, page: continuePage(open) }
  }
}

/** POST of a link: the credentials form, its Cancel button, or Continue where no user is needed. */
async function submit(visited: Visit): Promise<Answer> {
  const { flow, linkId, query, form } = visited
  const open = usableLink(flow.environment, linkId)
  const decision = decisionOf(query)
  if (decision) return decided(flow, linkId, { decision, as: query.get('as') ?? undefined })
  switch (TRAITS[open.connector.authorization_type].source) {
    case 'consent':
      return follow(visited)
    case 'form': {
      const filled = readCredentials(open.connector.credentials.fields, form)
      if (filled.problems.size > 0) return { status: 400, page: formPage(open, filled) }
      const credentials = { static_auth: { details: detailsOf(filled.values) } }
      return { redirect: approve(flow, linkId, { credentials, lifetime: null, entered: true }) }
    }
    case 'service':
    case 'none':
      return { redirect: await completeWithoutUser(flow, linkId) }
  }
}

/** The third party's redirect. */
async function comeBack({ flow, linkId, query }: Visit): Promise<Answer> {
  return { redirect: await finishConsent(flow, linkId, query) }
}

async function decided(
  flow: Flow,
  linkId: string,
  choice: { decision: Decision; as: string | undefined },
): Promise<Answer> {
  const { redirect_url } = await completeLink(flow, linkId, choice)
  return { redirect: redirect_url }
}

/** @throws LinkProblem for anything but one of the decisions, given once */
function decisionOf(query: URLSearchParams): Decision | undefined {
  const given = query.getAll('decision')
  if (given.length === 0) return undefined
  const decision = DECISIONS.find((known) => known === given[0])
  if (!decision || given.length > 1) throw new LinkProblem('unknown_decision', given.join(', ').slice(0, 100))
  return decision
}

/** The steps around each request about a link: find it, let time catch up, answer, send once the data is safe. */
function visit(
  context: ConnectContext,
  find: (request: Request) => FoundLink | undefined,
  handle: (visit: Visit) => Promise<Answer>,
): RequestHandler {
  return async (request, response) => {
    const found = find(request)
    if (!found) throw new LinkProblem('unknown')
    const trace = context.trace(request, found.environment)
    const readGuard = new ReadGuard(found.environment)
    context.settle(found.environment, trace)
    trace.account = found.environment.model.tables.accounts.get(found.link.account_id)
    const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
    const flow = flowOf(context, request, { ...found, trace })
    const handled = handle({ flow, linkId: found.link.id, query: queryOf(request), form })
    // Also when something went wrong: that rests on what was read, as every answer does.
    send(response, await handled.finally(() => stored(context, trace, readGuard)))
  }
}

/** @throws LinkProblem when what the answer rests on could not be written; then it has been undone */
async function stored(context: ConnectContext, trace: RequestTrace, readGuard: ReadGuard): Promise<void> {
  try {
    await context.durable()
    readGuard.hold()
  } catch (error) {
    trace.markRolledBack()
    throw new LinkProblem('not_stored', error instanceof Error ? error.message : String(error))
  }
}

function flowOf(
  context: ConnectContext,
  request: Request,
  { environment, trace }: FoundLink & { trace: RequestTrace },
): Flow {
  return {
    environment,
    thirdParty: context.thirdParty(environment, trace),
    authorizations: context.authorizations,
    baseUrl: context.baseUrl(request),
    trace,
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if ('redirect' in answer) sendRedirect(response, answer.redirect)
  else sendPage(response, answer.status, answer.page)
}

/** The query of a request without any parser's own ideas of arrays and objects. */
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

/** The one place where something that went wrong becomes a page; what nobody expected goes on to the server. */
function showProblem(context: ConnectContext, environments: WeakMap<Request, Environment>): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const words = environments.get(request)?.settings.vocabulary ?? {}
    const problem = problemPage(error, (text) => new Vocabulary(words).prose(text))
    if (!problem || response.headersSent) {
      next(error)
      return
    }
    const code = error instanceof LinkProblem ? `LINK_${error.kind.toUpperCase()}` : 'PAGE_FAILED'
    context.failed?.(request, code, error instanceof Error ? error.message : '')
    sendPage(response, problem.status, problem.page)
  }
}
