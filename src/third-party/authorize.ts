import { type Request, type Response, Router } from 'express'
import { TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import { pageFacts, pageVisit } from '../request-journal/page-journal.ts'
import { baseUrlOf } from '../domain/request-headers.ts'
import { consentAnswer, consentPage } from '../pages/consent-page.ts'
import { PAGE_HEADERS, sendPage } from '../pages/page-headers.ts'
import type { Environment } from '../state/environment.ts'
import { environmentOfClientId } from './schemes.ts'
import { type AuthorizationRequest, type ConsentParts, decideWithScenarios, redirectTo } from './consent.ts'
import { readBody } from './http-messages.ts'

interface AuthorizeParts extends ConsentParts {
  /** What redirects are built on; from each request when absent. */
  readonly baseUrl: string | undefined
}

/** The parameters of an authorization request; the form sends them back unchanged. */
const PARAMETERS = ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'login_hint'] as const

interface ValidRequest {
  readonly environment: Environment
  readonly connector: Connector
  readonly request: AuthorizationRequest
  readonly parameters: Readonly<Record<string, string>>
}

/** An invalid authorization request. It is shown as a page, because its redirect URI cannot be trusted. */
export class RefusedAuthorization extends Error {
  override readonly name = 'RefusedAuthorization'

  constructor(
    readonly status: 400 | 404 | 413,
    message: string,
  ) {
    super(message)
  }
}

/** The authorize endpoint of every third party, mounted at `/third-party` (G29). */
export function authorizeRoutes(services: AuthorizeParts): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/:connector/authorize', (request, response) => {
    const { search } = new URL(request.originalUrl, 'http://localhost')
    const valid = validRequest(services, request, response, new URLSearchParams(search))
    if (valid.parameters['response_type'] === 'code') showConsent(response, valid)
    else redirect(response, redirectTo(valid.request, { error: 'unsupported_response_type' }))
  })
  router.post('/:connector/authorize', async (request, response) => {
    const body = await readBody(request)
    if (!body) throw new RefusedAuthorization(413, 'The form is too large.')
    await answerForm(services, request, response, new URLSearchParams(body.toString('utf8')))
  })
  return router
}

async function answerForm(
  services: AuthorizeParts,
  request: Request,
  response: Response,
  form: URLSearchParams,
): Promise<void> {
  pageVisit(response).form = form.toString()
  const valid = validRequest(services, request, response, form)
  const { decision, person = '' } = consentAnswer(form)
  if (decision === undefined) {
    showConsent(response, valid, 'Approve or deny the request.')
    return
  }
  if (decision === 'approve' && person === '') {
    showConsent(response, valid, 'Choose who signs in, or enter another person.')
    return
  }
  const answer = { ...valid.request, decision, person }
  redirect(response, await decideWithScenarios(services, valid, answer, pageVisit(response).trace))
}

/** @throws RefusedAuthorization */
function validRequest(
  { registry, baseUrl }: AuthorizeParts,
  request: Request,
  response: Response,
  query: URLSearchParams,
): ValidRequest {
  const parameters: Record<string, string> = {}
  for (const name of PARAMETERS) {
    const values = query.getAll(name)
    if (values.length > 1) throw new RefusedAuthorization(400, `The request names ${name} more than once.`)
    if (values[0] !== undefined) parameters[name] = values[0]
  }
  const name = String(request.params['connector'])
  const clientId = parameters['client_id'] ?? ''
  const environment = registry.environment(environmentOfClientId(clientId) ?? '')
  if (!environment)
    throw new RefusedAuthorization(400, 'The request comes from an application that is not registered here.')
  pageVisit(response).environment = environment
  const connector = environment.connector(name)
  if (!connector || TRAITS[connector.authorization_type].source !== 'consent') {
    throw new RefusedAuthorization(404, 'There is no application of this name that asks for consent.')
  }
  const redirectUri = parameters['redirect_uri'] ?? ''
  if (redirectUri !== `${baseUrlOf(request, baseUrl)}/connect/callback`) {
    throw new RefusedAuthorization(400, 'The request wants to send its answer to an address that is not registered.')
  }
  const scopes = (parameters['scope'] ?? '').split(' ').filter((scope) => scope !== '')
  const state = parameters['state'] ?? ''
  return { environment, connector, request: { state, redirectUri, scopes }, parameters }
}

function showConsent(
  response: Response,
  { connector, request: { scopes }, parameters }: ValidRequest,
  problem?: string,
): void {
  const view = consentPage({ connector, scopes, parameters, facts: pageFacts(response), problem })
  sendPage(response, problem === undefined ? 200 : 400, view)
}

/** 303: the browser follows a sent form with a GET. */
function redirect(response: Response, location: string): void {
  response.writeHead(303, { ...PAGE_HEADERS, Location: location }).end()
}
