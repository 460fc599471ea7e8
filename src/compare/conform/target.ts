import { jsonText, type JsonValue } from '../../model/domain/json.ts'
import { once } from '../../model/domain/once.ts'
import { HttpClient, type HttpRequest } from '../../platform/http-client.ts'
import { ServiceResponse } from './service-response.ts'

const TIMEOUT_MS = 30_000

/** The implementation that is checked: plain HTTP requests. */
export class ConformTarget {
  readonly #client: HttpClient

  constructor(
    readonly baseUrl: string,
    /** Takes each request and its answer, where they are wanted at the end. */
    readonly asked?: { readonly request: HttpRequest; readonly response: ServiceResponse }[],
    /** False for a connection of its own for each request: one that the target resets is not tried again. */
    keepAlive = true,
  ) {
    this.#client = new HttpClient(baseUrl, { timeoutMs: TIMEOUT_MS, keepAlive })
  }

  /** @throws Error when there is no answer */
  async send(request: HttpRequest): Promise<ServiceResponse> {
    const { status, headers, text } = await this.#client.send(request)
    const { method, path } = request
    const response = new ServiceResponse(`${method} ${path.replace(/\?.*/, '')}`, status, headers, text)
    this.asked?.push({ request, response })
    return response
  }

  close(): void {
    this.#client.close()
  }
}

export interface ClientCredentials {
  readonly id: string
  readonly secret: string
}

export type QueryParameters = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** The service as a client uses it: JSON under `/api/v1`, with a bearer token that is fetched once. */
export class Api {
  #token = this.#tokenOnce()

  constructor(
    readonly target: ConformTarget,
    readonly client: ClientCredentials,
  ) {}

  /** The bearer token. @throws Broken */
  token(): Promise<string> {
    return this.#token()
  }

  #tokenOnce(): () => Promise<string> {
    return once(async () => (await this.requestToken()).is(200).string('access_token'))
  }

  /** Discards the token, which may have expired. */
  signOut(): void {
    this.#token = this.#tokenOnce()
  }

  /** A token request; `undefined` leaves a field out. */
  requestToken(changes: QueryParameters = {}, headers = FORM): Promise<ServiceResponse> {
    const { id, secret } = this.client
    const form = { client_id: id, client_secret: secret, grant_type: 'client_credentials', ...changes }
    return this.target.send({ method: 'POST', path: '/oauth/token', headers, body: encodeQuery(form) })
  }

  get(path: string, query: QueryParameters = {}): Promise<ServiceResponse> {
    const text = encodeQuery(query)
    return this.send('GET', text === '' ? path : `${path}?${text}`)
  }

  post(path: string, body: JsonValue): Promise<ServiceResponse> {
    return this.send('POST', path, jsonText(body))
  }

  put(path: string, body: JsonValue): Promise<ServiceResponse> {
    return this.send('PUT', path, jsonText(body))
  }

  delete(path: string): Promise<ServiceResponse> {
    return this.send('DELETE', path)
  }

  /** Any text as a body, and headers as in `request`. */
  send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<ServiceResponse> {
    return this.request(method, `/api/v1${path}`, body, headers)
  }

  /** A request to any path; `headers` win over those of JSON and bearer, and an empty one removes it. */
  async request(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse> {
    const all = {
      Authorization: `Bearer ${await this.token()}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    }
    const requestHeaders = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    return this.target.send({ method, path, headers: requestHeaders, body })
  }
}

export const FORM: Readonly<Record<string, string>> = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** A query or a form as text: a name is repeated for each item of a list. */
function encodeQuery(fields: QueryParameters): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return new URLSearchParams(pairs).toString()
}
