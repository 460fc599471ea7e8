import { type Request, type Response, Router } from 'express'
import { TRAITS } from '../domain/authorization-type.ts'
import type { Connector } from '../domain/connector.ts'
import type { Environment } from '../state/environment.ts'
import { StorageError } from '../state/wal/state-errors.ts'
import { consentAnswer, consentPage } from '../pages/consent-page.ts'
import { noticePage } from '../pages/notice-page.ts'
import { PAGE_HEADERS, sendPage } from '../pages/page-headers.ts'
import { applicationOf, environmentOfClientId } from './application.ts'
import { type AuthorizationAnswer, type AuthorizationRequest, decide, withQuery } from './consent.ts'
import { readBody } from './wire.ts'

export interface AuthorizeOptions {
  environment: (name: string) => Environment | undefined
  /** What the links of this request are built on, without a slash at the end. */
  baseUrl: (request: Request) => string
  /** The request is about this environment. */
  visited?: ((request: Request, environment: Environment, parameters: URLSearchParams) => void) | undefined
  /** Decides instead of {@link decide}: scenarios may answer for the third party (1.4). */
  decide?:
    | ((request: Request, asked: DecidedAuthorization, answer: AuthorizationAnswer) => string | Promise<string>)
    | undefined
  /** The request got a page that says what is wrong with it. */
  failed?: ((request: Request, problem: { code: string; message: string }) => void) | undefined
}

/** What an authorization is decided about. */
export interface DecidedAuthorization {
  environment: Environment
  connector: Connector
}

/** The parameters of an authorization request; they travel through the form as they came. */
const PARAMETERS = ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'login_hint'] as const

/** An authorization request that was found good. */
interface Asked extends DecidedAuthorization {
  request: AuthorizationRequest
  parameters: Record<string, string>
}

/** Why there is nothing to consent to; shown as a page, since there is nowhere safe to redirect to. */
class RefusedAuthorization extends Error {
  override readonly name = 'RefusedAuthorization'

  constructor(
    readonly status: 400 | 404 | 413,
    message: string,
  ) {
    super(message)
  }
}

/** The authorize endpoint of every third party, to be mounted at `/third-party` (G29). */
export function authorizeRouter(options: AuthorizeOptions): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/:connector/authorize', async (request, response) => {
    await page(options, request, response, () => {
      const { search } = new URL(request.originalUrl, 'http://localhost')
      const asked = askedFor(options, request, new URLSearchParams(search))
      if (asked.parameters['response_type'] !== 'code') {
        const { redirectUri, state } = asked.request
        redirect(response, withQuery(redirectUri, { error: 'unsupported_response_type', state }))
      } else showConsent(response, asked)
    })
  })
  router.post('/:connector/authorize', async (request, response) => {
    const body = await readBody(request)
    await page(options, request, response, async () => {
      if (!body) throw new RefusedAuthorization(413, 'The form is too large.')
      await answerForm(options, request, response, new URLSearchParams(body.toString('utf8')))
    })
  })
  return router
}

async function answerForm(
  options: AuthorizeOptions,
  request: Request,
  response: Response,
  form: URLSearchParams,
): Promise<void> {
  const asked = askedFor(options, request, form)
  const { decision, person = '' } = consentAnswer(form)
  if (decision === undefined) showConsent(response, asked, 'Approve or deny the request.')
  else if (decision === 'approve' && person === '')
    showConsent(response, asked, 'Choose who signs in, or name somebody else.')
  else {
    const answer = { ...asked.request, decision, person }
    const decided = options.decide?.(request, asked, answer) ?? decide(asked.environment, asked.connector, answer)
    redirect(response, await decided)
  }
}

/** @throws RefusedAuthorization */
function askedFor(options: AuthorizeOptions, request: Request, query: URLSearchParams): Asked {
  const parameters: Record<string, string> = {}
  for (const name of PARAMETERS) {
    const values = query.getAll(name)
    if (values.length > 1) throw new RefusedAuthorization(400, `The request names ${name} more than once.`)
    if (values[0] !== undefined) parameters[name] = values[0]
  }
  const name = String(request.params['connector'])
  const clientId = parameters['client_id'] ?? ''
  const environment = options.environment(environmentOfClientId(clientId) ?? '')
  if (!environment)
    throw new RefusedAuthorization(400, 'The request comes from an application that is not registered here.')
  options.visited?.(request, environment, query)
  const connector = environment.connector(name)
  if (!connector || TRAITS[connector.authorization_type].source !== 'consent') {
    throw new RefusedAuthorization(404, 'There is no application of this name that asks for consent.')
  }
  const redirectUri = parameters['redirect_uri'] ?? ''
  if (redirectUri !== `${options.baseUrl(request)}/connect/callback`) {
    throw new RefusedAuthorization(400, 'The request wants to send its answer to an address that is not registered.')
  }
  const scopes = (parameters['scope'] ?? '').split(' ').filter((scope) => scope !== '')
  const state = parameters['state'] ?? ''
  return { environment, connector, request: { state, redirectUri, scopes }, parameters }
}

function showConsent(
  response: Response,
  { environment, connector, request, parameters }: Asked,
  problem?: string,
): void {
  const view = consentPage({
    connectorName: connector.display_name,
    description: connector.description,
    applicationName: applicationOf(environment, connector.connector).client_id,
    accountIdentifier: parameters['login_hint'],
    scopes: request.scopes,
    people: connector.people,
    // Relative: also right where a proxy serves the mock below a path.
    action: 'authorize',
    hidden: parameters,
    problem,
  })
  sendPage(response, problem === undefined ? 200 : 400, view)
}

/** 303: the browser follows a sent form with a GET. */
function redirect(response: Response, location: string): void {
  response.writeHead(303, { ...PAGE_HEADERS, Location: location }).end()
}

async function page(
  options: AuthorizeOptions,
  request: Request,
  response: Response,
  show: () => void | Promise<void>,
): Promise<void> {
  try {
    await show()
  } catch (error) {
    const refused = error instanceof RefusedAuthorization
    if (!refused && !(error instanceof StorageError)) throw error
    const { status, message } = error
    options.failed?.(request, { code: refused ? 'AUTHORIZATION_REFUSED' : 'LINK_NOT_STORED', message })
    const title = refused ? 'This request cannot be authorized' : 'The state could not be written'
    sendPage(response, status, noticePage({ title, text: message, tone: 'error' }))
  }
}
