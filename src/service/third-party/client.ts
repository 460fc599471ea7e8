import { InexactNumber } from './template-error.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Account } from '../../model/domain/account.ts'
import { decodeBody } from '../../platform/body-text.ts'
import { type CollectionPlace, plainText } from '../../model/domain/collection.ts'
import { BASE_URL_RULE, isBaseUrl, mayBeCalled } from '../../model/domain/base-url.ts'
import type { CollectionOwner, Connector, Tool } from '../../model/domain/connector.ts'
import type { Credentials, StoredByCallers } from '../../model/domain/credentials.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import type { Extension, ExtensionRequest } from '../../model/domain/extension.ts'
import { CLOCK_RANGE } from '../../model/domain/instant.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  nestsDeeper,
  ownMember,
  parsedJson,
  withoutUndefined,
  textAt,
  textOf,
} from '../../model/domain/json.ts'
import type {
  ForwardedResponse,
  ForwardedRequest,
  ThirdParty,
  TokenResponse,
  ToolResponse,
} from '../../model/domain/ports.ts'
import type { RequestTrace } from '../../model/domain/request-trace.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { type Environment, ReadGuard } from '../../state/environment.ts'
import { fillCollection } from './collections.ts'
import { respondByExtension } from './extensions.ts'
import {
  ACCOUNT_HEADER,
  encodePart,
  headerValue,
  MAX_ANSWER,
  ThirdPartyHttpClient,
  type OutgoingRequest,
  type ThirdPartyResponse,
} from './http-messages.ts'
import {
  CALL_HEADER,
  connectorPath,
  type ListenerOptions,
  type OpenCall,
  replyOf,
  startListener,
  type ReceivedCall,
} from './listener.ts'
import { signJwt } from './jwt.ts'
import { respondToTokenRequest } from './tokens.ts'
import { acceptCredentials, applicationOf, type SchemeContext, SCHEMES } from './schemes.ts'
import { accountInTemplates, Templates, type TemplateScope } from './template.ts'

export interface ThirdPartiesOptions extends Omit<ListenerOptions, 'templates' | 'calls'> {
  /** Whether a connector's `base_url` may leave loopback. */
  readonly allowOutbound?: boolean | undefined
}

/** The in-process third parties of a server, listening, and the clients that call them. */
export type ThirdParties = Awaited<ReturnType<typeof startThirdParties>>

export async function startThirdParties(options: ThirdPartiesOptions) {
  const templates = new Templates()
  const http = new ThirdPartyHttpClient()
  const calls = new Map<string, OpenCall>()
  let count = 0
  const parties = { ...options, templates, calls }
  const { origin, close } = await startListener(parties)
  const parts: ClientParts = { ...parties, listenerOrigin: origin, http, calls, newTicket: () => String(++count) }
  return {
    /** Where they listen, `http://127.0.0.1:4711`. */
    origin,
    /** The service's client for one environment; calls are noted in the trace of the request that causes them. */
    client: (environment: Environment, trace?: RequestTrace): ThirdParty =>
      new ThirdPartyClient(parts, environment, trace),
    /** The reply to a call of any program at the API of a third party, as to one of the service. */
    replyOf: (
      request: IncomingMessage,
      response: ServerResponse,
      find: (body: Buffer) => ReceivedCall | ThirdPartyResponse,
    ) => replyOf(parties, request, response, find),
    /** Answers a request of the service by the responders of an extension. */
    respondByExtension: (environment: Environment, extension: Extension, request: ExtensionRequest) =>
      respondByExtension({ environment, templates }, extension, request),
    /** Loads what the templates of a connector need; undefined when it is there. */
    prepare: (connector: CollectionOwner) => templates.prepare(connector),
    /** Gives a collection the items that it begins with, unless it has had them. */
    fillCollection: (environment: Environment, connector: CollectionOwner, place: CollectionPlace): void =>
      fillCollection({ environment, connector, templates }, place),
    close: async (): Promise<void> => {
      http.close()
      await close()
    },
  }
}

interface ClientParts extends ThirdPartiesOptions, Pick<ListenerOptions, 'templates'> {
  /** Where the in-process third parties listen. */
  readonly listenerOrigin: string
  readonly http: ThirdPartyHttpClient
  readonly calls: Map<string, OpenCall>
  /** Of a call: a running number, because templates see the headers of a request. */
  readonly newTicket: () => string
}

/** A request of the service, with what is noted of it. */
interface Sending {
  readonly request: OutgoingRequest
  readonly kind: 'api' | 'token'
  readonly tool?: string | undefined
  readonly grant?: string | undefined
  readonly timeout: number
}

const FORM_TYPE = 'application/x-www-form-urlencoded'
const NEEDS_USER: TokenResponse = {
  granted: false,
  status: 400,
  error: 'unauthorized_client',
  description: 'a user has to consent',
}
const TOKEN_TIMEOUT = 10_000
/** As long as a tool waits that names no time. */
const FORWARD_TIMEOUT = 30_000
/** Headers that the in-process third parties act on: those of a caller are not passed on. */
const OWN_HEADERS: ReadonlySet<string> = new Set([ACCOUNT_HEADER, CALL_HEADER])
/** Characters that are kept of each answer. */
const KEPT_ANSWER = 2048

/** Every request has one, whether it calls or not: two small objects, closures were a fifteenth of a GET's garbage. */
class ThirdPartyClient implements ThirdParty {
  /** Once a commit was rolled back, nothing is sent and no answer is used. */
  readonly #readGuard: ReadGuard

  constructor(
    readonly parts: ClientParts,
    readonly environment: Environment,
    readonly trace: RequestTrace | undefined,
  ) {
    this.#readGuard = new ReadGuard(environment)
  }

  async call(connector: Connector, tool: Tool, account: Account, input: JsonObject): Promise<ToolResponse> {
    const api = this.#apiAddress(connector)
    if (typeof api === 'string') return { kind: 'failed', status: null, message: api, arrived: false }
    const context = this.#schemeContext(connector)
    const { templates, environment } = context
    const { clock, ids } = environment
    const scopeWith = (response: JsonObject): TemplateScope => {
      return { values: { input, account: accountInTemplates(account), ...response }, clock, ids }
    }
    let arrived = false
    try {
      const preparing = templates.prepare(connector)
      if (preparing) await preparing
      const request = environment.model.transact(() =>
        toolRequest(context, { api, tool, account, scope: scopeWith({}) }),
      )
      const { timeout } = tool.call
      const { received } = await this.#sendCall(connector, account, { request, kind: 'api', tool: tool.name, timeout })
      arrived = received.kind === 'answer' || received.arrived
      const toolResponse = readResponse(received)
      if ('kind' in toolResponse) return toolResponse
      if (tool.result === null) return { kind: 'result', data: asObject(toolResponse.response['body'] ?? null) }
      const data = environment.model.transact(() => templates.render(tool.result, scopeWith(toolResponse)))
      return { kind: 'result', data: data as JsonObject }
    } catch (error) {
      if (error instanceof ServiceError) throw error
      if (error instanceof UnsendablePath || error instanceof InexactNumber)
        return { kind: 'unsendable', message: error.message }
      const message = `the call of ${tool.name} could not be made: ${error instanceof Error ? error.message : 'unknown'}`
      return { kind: 'failed', status: null, message, arrived }
    }
  }

  async forward(connector: Connector, account: Account, forwarded: ForwardedRequest): Promise<ForwardedResponse> {
    const api = this.#apiAddress(connector)
    if (typeof api === 'string') return { kind: 'failed', status: null, message: api, arrived: false }
    const { method, path, query: search, headers } = forwarded
    const scheme = SCHEMES[connector.authorization_type]
    const { body, rest } = scheme.signsBody ? await wholeBody(forwarded) : forwarded
    if (rest?.errored) throw rest.errored
    const request: OutgoingRequest = {
      method,
      origin: api.origin,
      path: `${api.prefix}${path}`,
      search,
      query: [],
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))),
      body,
      rest,
    }
    this.environment.model.transact(() => {
      scheme.present(request, account.credentials, this.#schemeContext(connector))
    })
    const { received } = await this.#sendCall(connector, account, { request, kind: 'api', timeout: FORWARD_TIMEOUT })
    if (rest?.errored) throw rest.errored
    return received.kind === 'answer' ? received : unansweredFailure(received)
  }

  async obtain<R>(connector: Connector, account: Account, conclude: (response: TokenResponse) => R): Promise<R> {
    const form = obtainForm(this.environment, connector, account)
    if (form) return this.#requestToken(connector, account, form, conclude)
    return this.environment.model.transact(() => conclude(NEEDS_USER), this.trace)
  }

  issue(connector: Connector, account: Account): TokenResponse {
    const form = obtainForm(this.environment, connector, account)
    if (!form) return NEEDS_USER
    const { response: tokenResponse, apply } = respondToTokenRequest(this.environment, connector, {
      method: 'POST',
      headers: { 'content-type': FORM_TYPE, [ACCOUNT_HEADER]: account.id },
      body: Buffer.from(this.#signedForm(connector, form)),
    })
    apply?.()
    const body = Buffer.from(tokenResponse.body)
    return readTokenResponse({ kind: 'answer', status: tokenResponse.status, headers: {}, body }, connector, account)
  }

  refresh<R>(connector: Connector, account: Account, conclude: (response: TokenResponse) => R): Promise<R> {
    const former = account.credentials.oauth_token
    const form = { grant_type: 'refresh_token', refresh_token: former?.refresh_token ?? '' }
    return this.#requestToken(connector, account, form, (response) => {
      const token = response.granted ? response.credentials.oauth_token : undefined
      // No new refresh token means that the old one stays valid (RFC 6749 6).
      if (former && token?.refresh_token === '') token.refresh_token = former.refresh_token
      return conclude(response)
    })
  }

  redeem<R>(
    connector: Connector,
    account: Account,
    { code, redirectUri }: { code: string; redirectUri: string },
    conclude: (response: TokenResponse) => R,
  ): Promise<R> {
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    return this.#requestToken(connector, account, form, conclude)
  }

  accept(connector: Connector, account: Account, credentials: Credentials, byCaller?: StoredByCallers): void {
    acceptCredentials(this.#schemeContext(connector), account, credentials, byCaller)
  }

  #schemeContext(connector: Connector): SchemeContext {
    return { environment: this.environment, connector, templates: this.parts.templates }
  }

  /** A token request with the service's own client credentials. */
  #signedForm(connector: Connector, form: Record<string, string>): string {
    const { client_id, client_secret } = applicationOf(this.environment, connector.connector)
    return new URLSearchParams({ ...form, client_id, client_secret }).toString()
  }

  /** Asks the token endpoint; its own change and that of `conclude` are one commit. */
  async #requestToken<R>(
    connector: Connector,
    account: Account,
    form: Record<string, string>,
    conclude: (response: TokenResponse) => R,
  ): Promise<R> {
    const environment = this.environment
    const request: OutgoingRequest = {
      method: 'POST',
      origin: this.parts.listenerOrigin,
      path: `${connectorPath(environment, connector)}/oauth/token`,
      query: [],
      headers: { 'Content-Type': FORM_TYPE, Accept: 'application/json' },
      body: this.#signedForm(connector, form),
    }
    const sending = { request, kind: 'token', grant: form['grant_type'], timeout: TOKEN_TIMEOUT } as const
    const { received, apply } = await this.#sendCall(connector, account, sending)
    return environment.model.transact(() => {
      apply?.()
      return conclude(readTokenResponse(received, connector, account))
    }, this.trace)
  }

  /** @throws StorageError when a commit below it was rolled back; UNAUTHENTICATED once there is no environment */
  async #sendCall(
    connector: Connector,
    account: Account,
    sending: Sending,
  ): Promise<{ received: ForwardedResponse; apply: OpenCall['apply'] }> {
    const { http, calls, newTicket, listenerOrigin } = this.parts
    this.#readGuard.assertUsable()
    const { request, tool, timeout } = sending
    const start = performance.now()
    const inProcess = request.origin === listenerOrigin
    const call: OpenCall = { trace: this.trace, tool, apply: undefined }
    const ticket = inProcess ? newTicket() : ''
    if (inProcess) {
      calls.set(ticket, call)
      Object.assign(request.headers, { [ACCOUNT_HEADER]: account.id, [CALL_HEADER]: ticket })
    }
    const received = await http.send(request, timeout, inProcess)
    calls.delete(ticket)
    this.#noteCall(connector, account, sending, received, performance.now() - start)
    this.#readGuard.assertUsable()
    return { received, apply: call.apply }
  }

  #noteCall(
    connector: Connector,
    account: Account,
    { request, kind, grant }: Sending,
    received: ForwardedResponse,
    ms: number,
  ): void {
    this.trace?.called({
      environment: this.environment.name,
      connector: connector.connector,
      account_id: account.id,
      kind,
      grant: grant ?? null,
      method: request.method,
      url: `${request.origin}${request.path}`,
      status: received.kind === 'answer' ? received.status : null,
      ms,
      answer: received.kind === 'answer' ? (thirdPartyText(received)?.slice(0, KEPT_ANSWER) ?? '') : received.message,
    })
  }

  /** The connector's own server if it names one, else the in-process third party; or why that server is not called. */
  #apiAddress({ connector, base_url }: Connector): ApiAddress | string {
    const { listenerOrigin, allowOutbound } = this.parts
    if (base_url === null) {
      return { origin: listenerOrigin, prefix: `${connectorPath(this.environment, { connector })}/api` }
    }
    if (!isBaseUrl(base_url)) return `base_url ${base_url} is not ${BASE_URL_RULE}`
    const { origin, pathname } = new URL(base_url)
    if (!mayBeCalled(base_url, allowOutbound ?? false)) {
      return `base_url ${base_url} is not on loopback, and calls to other hosts are not allowed`
    }
    return { origin, prefix: pathname.replace(/\/+$/, '') }
  }
}

async function wholeBody({ body, rest }: ForwardedRequest): Promise<Pick<ForwardedRequest, 'body' | 'rest'>> {
  if (!rest) return { body, rest }
  return { body: Buffer.concat([Buffer.from(body), ...((await rest.toArray()) as Buffer[])]), rest: undefined }
}

/** Where a connector's API is: its origin, and the path that every call's path is appended to. */
interface ApiAddress {
  readonly origin: string
  readonly prefix: string
}

/** A value that the path of a call cannot contain, however it is encoded. */
class UnsendablePath extends Error {
  override readonly name = 'UnsendablePath'
}

/** The HTTP request of a tool call, with the account's credentials. @throws UnsendablePath */
function toolRequest(
  context: SchemeContext,
  { api, tool, account, scope }: { api: ApiAddress; tool: Tool; account: Account; scope: TemplateScope },
): OutgoingRequest {
  const { templates } = context
  const { call } = tool
  const [path, query] = renderedPath(templates.renderText(call.path, scope, encodePart))
  const body = call.body === null ? '' : jsonText(templates.render(call.body, scope))
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== '') headers['Content-Type'] = 'application/json'
  for (const [name, template] of Object.entries(call.headers)) {
    const value = headerValue(plainText(templates.render(template, scope)))
    if (value !== '') headers[name] = value
  }
  for (const [name, template] of Object.entries(call.query)) {
    for (const value of queryValues(templates.render(template, scope))) query.push([name, value])
  }
  const request = { method: call.method, origin: api.origin, path: `${api.prefix}${path}`, query, headers, body }
  SCHEMES[context.connector.authorization_type].present(request, account.credentials, context)
  return request
}

const SENDABLE_PATH = /^[!-~]*$/

/** Values are already encoded; of the text around them only what no URL can contain is. */
function renderedPath(rendered: string): [path: string, query: (readonly [string, string])[]] {
  const sendable = SENDABLE_PATH.test(rendered)
    ? rendered
    : rendered.replaceAll(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()))
  const at = sendable.indexOf('?')
  const path = at < 0 ? sendable : sendable.slice(0, at)
  // A part that is all dots would leave the path of the call, and no encoding prevents it.
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(path)) {
    throw new UnsendablePath('a part of the path comes out as "." or "..", which would leave the path of the call')
  }
  return [path, at < 0 ? [] : [...new URLSearchParams(sendable.slice(at + 1))]]
}

/** One parameter for each item of a list, none for an empty value. */
function queryValues(value: JsonValue): string[] {
  const values = Array.isArray(value) ? value.map(plainText) : [plainText(value)]
  return values.filter((text) => text !== '')
}

/** Deeper answers cannot be passed on: writing them as JSON again would overflow the stack. */
const MAX_DEPTH = 200
const MAX_MESSAGE = 500

/** What the service makes of an answer (G44): a usable one is what result templates see as `response`. */
function readResponse(received: ForwardedResponse): { readonly response: JsonObject } | ToolResponse {
  if (received.kind !== 'answer') return unansweredFailure(received)
  const { status, headers } = received
  const body = responseJson(received)
  if (status >= 400) {
    const code = errorWord(body ?? null)
    const message = errorText(body ?? null) || `the third party answered ${String(status)}`
    const retry_after = status === 429 ? headers['retry-after'] : undefined
    return { kind: 'failed', status, message, arrived: true, ...withoutUndefined({ code, retry_after }) }
  }
  const unusable = (message: string): ToolResponse => ({ kind: 'failed', status, message, arrived: true })
  if (status >= 300) return unusable(`the third party answered ${String(status)}, and redirects are not followed`)
  const { 'content-encoding': coding } = headers
  const what = coding === undefined ? 'is not usable JSON' : `has the Content-Encoding ${coding} and is not usable`
  if (body === undefined) return unusable(`the third party answered ${String(status)} with a body that ${what}`)
  return { response: { status, headers: headers as JsonObject, body } }
}

/** No answer in time, or a connection that broke. */
function unansweredFailure<Failure extends Exclude<ForwardedResponse, { kind: 'answer' }>>(failure: Failure): Failure {
  if (failure.kind === 'failed') return failure
  return { ...failure, message: `the third party did not answer: ${failure.message}` }
}

/** Without a result template the body is the result; what is no object is wrapped (G42a). */
function asObject(body: JsonValue): JsonObject {
  if (body === null) return {}
  if (Array.isArray(body)) return { array: body }
  return isJsonObject(body) ? body : { value: body }
}

/** Where third parties say in words what went wrong, and where they name it (G44). */
const ERROR_TEXTS = ['message', 'error.message', 'error_description', 'detail', 'error']
const ERROR_WORDS = ['code', 'error.code', 'error.status', 'error', 'status']

/** The third party's own text; empty for a body without any. */
function errorText(body: JsonValue): string {
  const text = ERROR_TEXTS.map((path) => textOf(valueAt(body, path))).find((each) => each !== '')
  const whole = body === null || typeof body === 'string' ? textOf(body) : jsonText(body)
  return (text ?? whole).slice(0, MAX_MESSAGE)
}

/** The third party's own name of the error: one word that is no number. */
function errorWord(body: JsonValue): string | undefined {
  return ERROR_WORDS.map((path) => textOf(valueAt(body, path))).find((word) => /^(?![\d.+-]*$)\S{1,100}$/.test(word))
}

/** Undefined for a content coding that cannot be decoded. */
function thirdPartyText({
  headers,
  body,
}: Pick<ForwardedResponse & { kind: 'answer' }, 'headers' | 'body'>): string | undefined {
  try {
    return decodeBody(body, headers, MAX_ANSWER)
  } catch {
    return undefined
  }
}

/** JSON as a value, other types as text, null for no body; undefined for a body that cannot be decoded, or claims to be JSON and is not. */
function responseJson({ status, headers, body }: ForwardedResponse & { kind: 'answer' }): JsonValue | undefined {
  const type = (headers['content-type'] ?? '').toLowerCase()
  const text = thirdPartyText({ headers, body })
  if (text === undefined) return undefined
  if (text === '') return type.includes('json') && status !== 204 ? undefined : null
  if (type !== '' && !type.includes('json')) return text
  return nestsDeeper(text, MAX_DEPTH) ? undefined : parsedJson(text)
}

/** What the service sends to a token endpoint to get credentials itself; undefined for types that never do. */
function obtainForm(
  environment: Environment,
  connector: Connector,
  account: Account,
): Record<string, string> | undefined {
  const scope = connector.oauth.scopes.join(' ')
  const { workspace_dwd, trusted_idp } = account.credentials
  switch (connector.authorization_type) {
    case 'OAUTH_M2M':
      return { grant_type: 'client_credentials', scope }
    case 'WORKSPACE_DWD':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: jwtAssertion(environment, connector, workspace_dwd?.subject || account.identifier),
        scope,
      }
    case 'TRUSTED_IDP':
      return {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: jwtAssertion(environment, connector, account.identifier),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        db_user: trusted_idp?.db_user ?? '',
        scope,
      }
    default:
      return undefined
  }
}

function jwtAssertion(environment: Environment, connector: Connector, subject: string): string {
  const { client_id, client_secret } = applicationOf(environment, connector.connector)
  const iat = Math.floor(environment.clock.now() / 1000)
  // The mock's clock may jump while the request is under way.
  const exp = CLOCK_RANGE.latest / 1000 + 1
  const claims = { iss: client_id, sub: subject, aud: connector.connector, iat, exp }
  return signJwt(claims, client_secret)
}

/** A token endpoint's answer as credentials; fields of the account that it does not carry stay. */
function readTokenResponse(received: ForwardedResponse, connector: Connector, account: Account): TokenResponse {
  if (received.kind !== 'answer') return tokenUnavailable(received.message)
  const body = parsedJson(thirdPartyText(received) ?? '')
  if (!isJsonObject(body)) return tokenUnavailable('the token endpoint did not answer with JSON')
  const text = (name: string): string => textAt(body, name)
  if (received.status !== 200) {
    const description = text('error_description') || `the token endpoint answered ${String(received.status)}`
    return { granted: false, status: received.status, error: text('error') || 'server_error', description }
  }
  if (text('access_token') === '') return tokenUnavailable('the token endpoint answered without an access token')
  const expires = ownMember(body, 'expires_in')
  const lifetime_ms = typeof expires === 'number' ? expires * 1000 : null
  return { granted: true, credentials: schemeCredentials(text, connector, account), lifetime_ms }
}

function schemeCredentials(
  text: (name: string) => string,
  connector: Connector,
  { credentials, identifier }: Account,
): Credentials {
  const access_token = text('access_token')
  const scopes = text('scope')
    .split(' ')
    .filter((scope) => scope !== '')
  switch (connector.authorization_type) {
    case 'WORKSPACE_DWD': {
      const subject = credentials.workspace_dwd?.subject || identifier
      return { workspace_dwd: { subject, access_token, scopes } }
    }
    case 'TRUSTED_IDP': {
      const keys = { access_key_id: text('access_key_id'), secret_access_key: text('secret_access_key') }
      const db_user = credentials.trusted_idp?.db_user ?? ''
      return { trusted_idp: { db_user, ...keys, session_token: access_token } }
    }
    default: {
      const domain = text('domain') || (credentials.oauth_token?.domain ?? '')
      return { oauth_token: { access_token, refresh_token: text('refresh_token'), scopes, domain } }
    }
  }
}

function tokenUnavailable(description: string): TokenResponse {
  return { granted: false, status: 503, error: 'temporarily_unavailable', description }
}
