import { mcpMessage, type ServiceResponse, Skipped } from '../conform/service-response.ts'
import { Api, type ClientCredentials, type ConformTarget } from '../conform/target.ts'
import { type JsonValue, parsedJson } from '../../model/domain/json.ts'
import { MCP_SESSION_HEADER } from '../../model/domain/request-headers.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import type { Exchange } from './har.ts'
import { mcpOperation } from './mcp.ts'
import { type AskingCheck, Findings } from './findings.ts'
import type { PermittedTarget } from './permission.ts'
import { ValueMap } from './value-map.ts'

export interface ReplayOptions {
  readonly exchanges: readonly Exchange[]
  /** The mock that is compared with them. It may hold what was there before; ids that both have stay as they are. */
  readonly mock: ConformTarget
  readonly client: ClientCredentials
  /** The service, where the requests are sent to it too; absent: the answers of the recording are those of the service. */
  readonly service?: PermittedTarget | undefined
  /** What the names of everything that the requests make begin with, where they have that in common. */
  readonly prefix?: string | undefined
  /** Whether the two hold the same connections, providers and accounts from the start. */
  readonly isSame?: boolean
  /** The checks that the recorded answers keep. One whose requests were all sent confirms what it rests on. */
  readonly held?: readonly AskingCheck[]
  readonly progress?: ((done: number, check: AskingCheck | undefined) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Its ids and tokens replace the recorded ones. Compares with the recorded answers, or with those of a service. */
export async function compareExchanges(options: ReplayOptions): Promise<Findings> {
  const { exchanges, mock, client, service, prefix, isSame, held = [], progress, signal } = options
  const findings = new Findings(prefix, isSame)
  const pairs = new ValueMap()
  if (service) pairs.pair(mock.baseUrl, service.baseUrl)
  const toMock = new Replayed(mock, client)
  const toService = service && new Replayed(service, client)
  /** Checks of which a request was not sent: what they ask after it rests on an answer that there is not. */
  const incomplete = new Set<AskingCheck>()
  for (const [at, exchange] of exchanges.entries()) {
    const { check } = exchange
    progress?.(at, check)
    try {
      const isOver = signal?.aborted === true || (check && incomplete.has(check))
      if (isOver) throw new Skipped('it is not asked any more')
      const request = await toMock.request(exchange)
      // The service comes first: a request that may not be sent there is not sent to the mock either.
      const serviceResponse =
        service && toService ? await service.ask(await toService.request(exchange), check) : exchange.serviceResponse
      const response = await mock.send(request)
      findings.add({ request, mock: response, service: serviceResponse, map: pairs, check })
      pairResponses(pairs, request, response, serviceResponse)
      toMock.learn(exchange, response)
      toService?.learn(exchange, serviceResponse)
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      if (check) incomplete.add(check)
    }
  }
  for (const check of held) if (!incomplete.has(check)) findings.exercise(check.basis)
  return findings
}

/** Two answers to one request: what each has made in place of the other's. */
export function pairResponses(
  map: ValueMap,
  request: HttpRequest,
  mine: ServiceResponse,
  theirs: ServiceResponse,
): void {
  const [session, theirSession] = [mine, theirs].map(({ headers }) => headers[MCP_SESSION_HEADER])
  if (typeof session === 'string' && typeof theirSession === 'string') map.pair(session, theirSession)
  if (mine.status < 400 && theirs.status >= 400) map.miss(replayedJson(mine), request)
  else map.learn(replayedJson(mine), replayedJson(theirs))
}

function replayedJson({ text }: ServiceResponse): JsonValue | undefined {
  return mcpMessage(text) ?? parsedJson(text)
}

/** Recorded requests as one implementation gets them. */
export class Replayed {
  readonly #api: Api
  /** The recorded values with those that it has in their place. */
  readonly map = new ValueMap()

  constructor(target: ConformTarget, client: ClientCredentials) {
    this.#api = new Api(target, client)
  }

  /** @throws Skipped for a request that needs a value of an answer which was refused here */
  async request({ request, serviceResponse: response }: Exchange): Promise<HttpRequest> {
    const { path, headers = {} } = request
    const isKnown = [...new URLSearchParams(request.body).values()].some((value) => this.map.has(value))
    if (path.startsWith('/oauth/token') && response.status === 200 && !isKnown) return this.#tokenRequest(request)
    const mapped = this.map.request(request)
    // The control API takes an admin token, which both have.
    if (path.startsWith('/_mock/')) return mapped
    const [, token] = /^Bearer (.+)$/i.exec(headers['authorization'] ?? '') ?? []
    if (token === undefined || response.status === 401 || this.map.has(token)) return mapped
    if (mcpOperation(request) !== undefined && !/identifier=/.test(path) && headers['identifier'] === undefined)
      throw new Skipped('needs a session token, which the recording does not make')
    // The recording begins after its token request.
    return { ...mapped, headers: { ...mapped.headers, authorization: `Bearer ${await this.#api.token()}` } }
  }

  learn({ request, serviceResponse: response }: Exchange, mockResponse: ServiceResponse): void {
    pairResponses(this.map, request, response, mockResponse)
  }

  /** Recordings hold no credentials, and those of another environment would not do. */
  #tokenRequest(request: HttpRequest): HttpRequest {
    const form = new URLSearchParams(request.body)
    const { id, secret } = this.#api.client
    const headers = { ...request.headers }
    if (/^Basic /i.test(headers['authorization'] ?? ''))
      headers['authorization'] = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    if (form.has('client_id')) form.set('client_id', id)
    if (form.has('client_secret')) form.set('client_secret', secret)
    return { ...request, headers, body: form.toString() }
  }
}
