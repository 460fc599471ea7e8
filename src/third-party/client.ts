import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import type { ThirdParty, TokenAnswer, ToolAnswer } from '../domain/ports.ts'
import type { Trail, UpstreamCall } from '../domain/trail.ts'
import type { Environment } from '../store/environment.ts'
import type { Footing } from '../store/footing.ts'
import { acceptCredentials, revokeCredentials } from './accept.ts'
import { applicationOf } from './application.ts'
import { type CallsUnderWay, TRAIL_HEADER } from './calls-under-way.ts'
import type { HttpExchange, Received } from './exchange.ts'
import { connectorPath } from './listener.ts'
import type { SchemeContext } from './schemes/scheme.ts'
import type { Templates } from './template.ts'
import { obtainForm, readTokenAnswer } from './token-request.ts'
import { isToolAnswer, passedOn, readAnswer } from './tool-answer.ts'
import { type ApiAddress, type ToolRun, toolRequest, toolScope, UnsendablePath } from './tool-request.ts'
import { ACCOUNT_HEADER, type OutgoingRequest, TOOL_HEADER } from './wire.ts'

export interface ThirdPartyClientOptions {
  environment: Environment
  /** Of whoever asks: once it is gone nothing is sent, and no answer given. */
  footing: Footing
  /** Where the in-process third parties listen. */
  listenerOrigin: string
  templates: Templates
  http: HttpExchange
  /** Whether a connector's `base_url` may leave loopback. */
  allowOutbound?: boolean | undefined
  onCall?: ((call: UpstreamCall) => void) | undefined
  /** What the request behind the calls causes, and where the third party's side finds it. */
  trail?: Trail | undefined
  underWay: CallsUnderWay
}

const TOKEN_TIMEOUT = 10_000

/** The service's side of the third parties of one environment, over real HTTP. */
export function createThirdPartyClient(options: ThirdPartyClientOptions): ThirdParty {
  const { environment, templates } = options
  const context = (connector: Connector): SchemeContext => ({ environment, connector, templates })
  return {
    call: (connector, tool, account, input) => callTool(options, context(connector), { tool, account, input }),
    obtain: async (connector, account) => {
      const form = obtainForm(environment, connector, account)
      if (!form)
        return { granted: false, status: 400, error: 'unauthorized_client', description: 'a user has to consent' }
      return requestToken(options, connector, account, form)
    },
    refresh: async (connector, account) => {
      const former = account.credentials.oauth_token
      const form = { grant_type: 'refresh_token', refresh_token: former?.refresh_token ?? '' }
      const answer = await requestToken(options, connector, account, form)
      if (!answer.granted || !former || !answer.credentials.oauth_token) return answer
      // No new refresh token means that the old one stays good (RFC 6749 6).
      const refresh_token = answer.credentials.oauth_token.refresh_token || former.refresh_token
      return { ...answer, credentials: { oauth_token: { ...answer.credentials.oauth_token, refresh_token } } }
    },
    redeem: (connector, account, code, redirect_uri) =>
      requestToken(options, connector, account, { grant_type: 'authorization_code', code, redirect_uri }),
    accept: (connector, account, credentials) => {
      acceptCredentials(context(connector), account, credentials)
    },
    revoke: (account) => {
      revokeCredentials(environment, account)
    },
  }
}

async function callTool(options: ThirdPartyClientOptions, context: SchemeContext, run: ToolRun): Promise<ToolAnswer> {
  const { tool, account } = run
  const { environment, templates } = context
  const api = apiAddress(options, context.connector)
  if (typeof api === 'string') return { kind: 'failed', status: null, code: 'OUTBOUND_REFUSED', message: api }
  try {
    for (const part of [tool.call, tool.result]) if (part && !templates.isPrepared(part)) await templates.prepare(part)
    const request = environment.model.transact(() => toolRequest(context, api, run))
    const received = await send(options, context.connector, account, {
      request,
      kind: 'api',
      tool: tool.name,
      timeout: tool.call.timeout,
    })
    const answer = readAnswer(received)
    if (isToolAnswer(answer)) return answer
    if (tool.result === null) return { kind: 'result', data: passedOn(answer.body, tool) }
    const scope = toolScope(context, run, { response: answer })
    const data = environment.model.transact(() => templates.render(tool.result, scope))
    return { kind: 'result', data: data as JsonObject }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (error instanceof UnsendablePath) return { kind: 'unsendable', message: error.message }
    const message = `the call of ${tool.name} could not be made: ${error instanceof Error ? error.message : 'unknown'}`
    return { kind: 'failed', status: null, code: 'CALL_NOT_POSSIBLE', message }
  }
}

async function requestToken(
  options: ThirdPartyClientOptions,
  connector: Connector,
  account: Account,
  form: Record<string, string>,
): Promise<TokenAnswer> {
  const { environment } = options
  const { client_id, client_secret } = applicationOf(environment, connector.connector)
  const request: OutgoingRequest = {
    method: 'POST',
    origin: options.listenerOrigin,
    path: `${connectorPath(environment, connector)}/oauth/token`,
    query: [],
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: new URLSearchParams({ ...form, client_id, client_secret }).toString(),
  }
  const received = await send(options, connector, account, {
    request,
    kind: 'token',
    grant: form['grant_type'],
    timeout: TOKEN_TIMEOUT,
  })
  return readTokenAnswer(received, environment, connector, account)
}

interface Sending {
  request: OutgoingRequest
  kind: 'api' | 'token'
  /** Of a tool's call. */
  tool?: string | undefined
  /** Of a token request. */
  grant?: string | undefined
  timeout: number
}

/** @throws StorageError when what the call rests on was taken back, before it or meanwhile */
async function send(
  options: ThirdPartyClientOptions,
  connector: Connector,
  account: Account,
  sending: Sending,
): Promise<Received> {
  const { http, trail, underWay, footing } = options
  footing.hold()
  const { request, tool, timeout } = sending
  const isOurs = request.origin === options.listenerOrigin
  const ticket = isOurs && trail ? underWay.open(trail) : undefined
  if (isOurs) request.headers[ACCOUNT_HEADER] = account.id
  if (isOurs && tool !== undefined) request.headers[TOOL_HEADER] = tool
  if (ticket !== undefined) request.headers[TRAIL_HEADER] = ticket
  const start = performance.now()
  const received = await http.send(request, timeout, isOurs)
  if (ticket !== undefined) underWay.close(ticket)
  note(options, connector, account, { ...sending, received, ms: performance.now() - start })
  footing.hold()
  return received
}

/** Characters that are kept of each answer. */
const KEPT_ANSWER = 2048

function note(
  { environment, trail, onCall }: ThirdPartyClientOptions,
  connector: Connector,
  account: Account,
  { request, kind, grant, received, ms }: Sending & { received: Received; ms: number },
): void {
  if (!trail && !onCall) return
  const call: UpstreamCall = {
    environment: environment.name,
    connector: connector.connector,
    account_id: account.id,
    kind,
    grant: grant ?? null,
    method: request.method,
    url: `${request.origin}${request.path}`,
    status: received.kind === 'answer' ? received.status : null,
    ms,
    answer: received.kind === 'answer' ? received.body.toString('utf8', 0, KEPT_ANSWER) : received.message,
  }
  trail?.called(call)
  onCall?.(call)
}

/** The connector's own server if it names one, else the in-process third party; or why that server is not called. */
function apiAddress(options: ThirdPartyClientOptions, connector: Connector): ApiAddress | string {
  if (connector.base_url === null) {
    return { origin: options.listenerOrigin, prefix: `${connectorPath(options.environment, connector)}/api` }
  }
  if (!URL.canParse(connector.base_url)) return `base_url ${connector.base_url} is not a URL`
  const { protocol, origin, hostname, pathname } = new URL(connector.base_url)
  if (protocol !== 'http:' && protocol !== 'https:') return `base_url ${connector.base_url} is neither http nor https`
  if (options.allowOutbound !== true && !isLoopback(hostname)) {
    return `base_url ${connector.base_url} is not on loopback, and calls to elsewhere are not allowed`
  }
  return { origin, prefix: pathname.replace(/\/+$/, '') }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
