import { type Request, type RequestHandler, Router } from 'express'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import type { Connector } from '../../model/domain/connector.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { baseUrlOf, targetOf } from '../../model/domain/request-headers.ts'
import { consentDecision, type ConsentPage, consentPage } from '../../ui/pages/consent-page.ts'
import { pageResponse, redirectResponse } from '../../ui/pages/page-headers.ts'
import { type OpenEntry, pageFacts } from '../../journal/request-journal/request-entries.ts'
import type { Environment } from '../../state/environment.ts'
import { environmentOfClientId } from './schemes.ts'
import { type AuthorizationRequest, type ConsentParts, decideWithScenarios, redirectTo } from './consent.ts'
import { readMessageBody } from './http-messages.ts'

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

/** A request for a page, and what is found out about it. */
export interface PageVisit extends OpenEntry {
  /** The form that was sent. */
  body: Buffer | string
}

/** Makes the handler of a route whose answers are pages. */
export type PageRoute = (
  handle: (request: Request, visit: PageVisit) => EncodedResponse | Promise<EncodedResponse>,
) => RequestHandler

/** The authorize endpoint of every third party, mounted at `/third-party` (G29). */
export function authorizeRoutes(services: AuthorizeParts, page: PageRoute): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const show = page((request, visit) => {
    const { searchParams } = new URL(targetOf(request), 'http://localhost')
    const valid = validRequest(services, request, visit, searchParams)
    if (valid.parameters['response_type'] === 'code') return consentResponse(visit, valid)
    return redirectResponse(303, redirectTo(valid.request, { error: 'unsupported_response_type' }))
  })
  const submit = page(async (request, visit) => {
    const body = await readMessageBody(request)
    if (!body) throw new RefusedAuthorization(413, 'The form is too large.')
    const form = new URLSearchParams(body.toString('utf8'))
    visit.body = form.toString()
    return respondToForm(services, validRequest(services, request, visit, form), visit, form)
  })
  router.route('/:connector/authorize').get(show).post(submit)
  return router
}

async function respondToForm(
  services: AuthorizeParts,
  valid: ValidRequest,
  visit: PageVisit,
  form: URLSearchParams,
): Promise<EncodedResponse> {
  const { decision, person = '', granted } = consentDecision(form)
  const asked = valid.request.scopes
  const scopes = granted ? asked.filter((scope) => granted.includes(scope)) : asked
  if (decision === undefined)
    return consentResponse(visit, valid, { granted: scopes, problem: 'Approve or deny the request.' })
  if (decision === 'approve' && person === '')
    return consentResponse(visit, valid, { granted: scopes, problem: 'Choose who signs in, or enter another person.' })
  // A token without any scope would count as one of which nothing was said (G71).
  if (decision === 'approve' && scopes.length < Math.min(asked.length, 1))
    return consentResponse(visit, valid, {
      granted: scopes,
      problem: 'Allow something, or deny the request.',
      isOfScopes: true,
    })
  const response = { ...valid.request, scopes, decision, person }
  return redirectResponse(303, await decideWithScenarios(services, valid, response, visit.trace))
}

/** @throws RefusedAuthorization */
function validRequest(
  { registry, baseUrl }: AuthorizeParts,
  request: Request,
  visit: PageVisit,
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
  visit.environment = environment
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

function consentResponse(
  visit: PageVisit,
  { connector, request: { scopes }, parameters }: ValidRequest,
  refused?: Pick<ConsentPage, 'granted' | 'problem' | 'isOfScopes'>,
): EncodedResponse {
  const page = consentPage({ connector, scopes, parameters, facts: pageFacts(visit), ...refused })
  return pageResponse(refused ? 400 : 200, page)
}
