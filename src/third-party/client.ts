import { isLoopback } from '../domain/loopback.ts'
import type { Account } from '../domain/account.ts'
import type { Connector, Tool } from '../domain/connector.ts'
import type { Credentials } from '../domain/credentials.ts'
import { ServiceError } from '../domain/errors.ts'
import type { JsonObject } from '../domain/json.ts'
import type { ThirdParty, TokenAnswer, ToolAnswer } from '../domain/ports.ts'
import type { RequestTrace, UpstreamCall } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'
import { ReadGuard } from '../state/read-guard.ts'
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

/** What the clients of a server share. */
export interface ClientParts {
  /** Where the in-process third parties listen. */
  readonly listenerOrigin: string
  readonly templates: Templates
  readonly http: HttpExchange
  /** Whether a connector's `base_url` may leave loopback. */
  readonly allowOutbound?: boolean | undefined
  readonly onCall?: ((call: UpstreamCall) => void) | undefined
  readonly underWay: CallsUnderWay
}

const TOKEN_TIMEOUT = 10_000

/**
 * The service's side of the third parties of one environment, over real HTTP. Every request has one, whether it calls or
 * not, so it is no more than two small objects: methods as closures were a fifteenth of the garbage of a GET.
 */
export class ThirdPartyClient implements ThirdParty {
  readonly parts: ClientParts
  readonly environment: Environment
  /** What the request behind the calls causes, and where the third party's side finds it. */
  readonly trace: RequestTrace | undefined
  /** Of whoever asks: once it is gone nothing is sent, and no answer given. */
  readonly readGuard: ReadGuard

  constructor(parts: ClientParts, environment: Environment, trace: RequestTrace | undefined) {
    this.parts = parts
    this.environment = environment
    this.trace = trace
    this.readGuard = new ReadGuard(environment)
  }

  call(connector: Connector, tool: Tool, account: Account, input: JsonObject): Promise<ToolAnswer> {
    return callTool(this, this.#context(connector), { tool, account, input })
  }

  async obtain(connector: Connector, account: Account): Promise<TokenAnswer> {
    const form = obtainForm(this.environment, connector, account)
    if (form) return requestToken(this, connector, account, form)
    return { granted: false, status: 400, error: 'unauthorized_client', description: 'a user has to consent' }
  }

  async refresh(connector: Connector, account: Account): Promise<TokenAnswer> {
    const former = account.credentials.oauth_token
    const form = { grant_type: 'refresh_token', refresh_token: former?.refresh_token ?? '' }
    const answer = await requestToken(this, connector, account, form)
    if (!answer.granted || !former || !answer.credentials.oauth_token) return answer
    // No new refresh token means that the old one stays good (RFC 6749 6).
    const refresh_token = answer.credentials.oauth_token.refresh_token || former.refresh_token
    return { ...answer, credentials: { oauth_token: { ...answer.credentials.oauth_token, refresh_token } } }
  }

  redeem(connector: Connector, account: Account, code: string, redirect_uri: string): Promise<TokenAnswer> {
    return requestToken(this, connector, account, { grant_type: 'authorization_code', code, redirect_uri })
  }

  accept(connector: Connector, account: Account, credentials: Credentials): void {
    acceptCredentials(this.#context(connector), account, credentials)
  }

  revoke(account: Account): void {
    revokeCredentials(this.environment, account)
  }

  #context(connector: Connector): SchemeContext {
    return { environment: this.environment, connector, templates: this.parts.templates }
  }
}

async function callTool(client: ThirdPartyClient, context: SchemeContext, run: ToolRun): Promise<ToolAnswer> {
  const { tool, account } = run
  const { environment, templates } = context
  const api = apiAddress(client, context.connector)
  if (typeof api === 'string') return { kind: 'failed', status: null, code: 'OUTBOUND_REFUSED', message: api }
  try {
    for (const part of [tool.call, tool.result]) if (part && !templates.isPrepared(part)) await templates.prepare(part)
    const request = environment.model.transact(() => toolRequest(context, api, run))
    const received = await send(client, context.connector, account, {
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
  client: ThirdPartyClient,
  connector: Connector,
  account: Account,
  form: Record<string, string>,
): Promise<TokenAnswer> {
  const { environment } = client
  const { client_id, client_secret } = applicationOf(environment, connector.connector)
  const request: OutgoingRequest = {
    method: 'POST',
    origin: client.parts.listenerOrigin,
    path: `${connectorPath(environment, connector)}/oauth/token`,
    query: [],
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
    body: new URLSearchParams({ ...form, client_id, client_secret }).toString(),
  }
  const received = await send(client, connector, account, {
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

/** @throws StorageError when what the call rests on was rolled back, before it or meanwhile */
async function send(
  client: ThirdPartyClient,
  connector: Connector,
  account: Account,
  sending: Sending,
): Promise<Received> {
  const { trace, readGuard } = client
  const { http, underWay, listenerOrigin } = client.parts
  readGuard.hold()
  const { request, tool, timeout } = sending
  const isOurs = request.origin === listenerOrigin
  const ticket = isOurs && trace ? underWay.open(trace) : undefined
  if (isOurs) request.headers[ACCOUNT_HEADER] = account.id
  if (isOurs && tool !== undefined) request.headers[TOOL_HEADER] = tool
  if (ticket !== undefined) request.headers[TRAIL_HEADER] = ticket
  const start = performance.now()
  const received = await http.send(request, timeout, isOurs)
  if (ticket !== undefined) underWay.close(ticket)
  note(client, connector, account, { ...sending, received, ms: performance.now() - start })
  readGuard.hold()
  return received
}

/** Characters that are kept of each answer. */
const KEPT_ANSWER = 2048

function note(
  { environment, trace, parts: { onCall } }: ThirdPartyClient,
  connector: Connector,
  account: Account,
  { request, kind, grant, received, ms }: Sending & { received: Received; ms: number },
): void {
  if (!trace && !onCall) return
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
  trace?.called(call)
  onCall?.(call)
}

/** The connector's own server if it names one, else the in-process third party; or why that server is not called. */
function apiAddress({ parts, environment }: ThirdPartyClient, connector: Connector): ApiAddress | string {
  if (connector.base_url === null) {
    return { origin: parts.listenerOrigin, prefix: `${connectorPath(environment, connector)}/api` }
  }
  if (!URL.canParse(connector.base_url)) return `base_url ${connector.base_url} is not a URL`
  const { protocol, origin, hostname, pathname } = new URL(connector.base_url)
  if (protocol !== 'http:' && protocol !== 'https:') return `base_url ${connector.base_url} is neither http nor https`
  if (parts.allowOutbound !== true && !isLoopback(hostname)) {
    return `base_url ${connector.base_url} is not on loopback, and calls to elsewhere are not allowed`
  }
  return { origin, prefix: pathname.replace(/\/+$/, '') }
}
