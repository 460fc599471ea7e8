import { ServiceResponse, Skipped } from '../conform/service-response.ts'
import type { ClientCredentials, ConformTarget } from '../conform/target.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import { isDeclared } from '../../model/contract/route.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import { codesOfStatus, isToolErrorStatus, TOKEN_ERRORS } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, ownMember, parsedJson, textOf } from '../../model/domain/json.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { Findings } from '../drift/findings.ts'
import { pairResponses, Replayed } from '../drift/replay.ts'
import { ValueMap } from '../drift/value-map.ts'
import { type Exchange, harExchange } from '../drift/har.ts'
import type { HttpRequest } from '../../platform/http-client.ts'
import { observedCode, parsedExchange, toolErrorOf } from './observed.ts'
import { bodyText, headerIn, type Message, type Recorded } from './recorded.ts'

/** A mock that has the recorded seed, in which the recording is tried. */
export interface RehearsalMock {
  readonly target: ConformTarget
  readonly client: ClientCredentials
  /** Those of its request journal that count. */
  readonly entries: readonly StoredEntry[]
  /** Remembers the state, and what of the request journal counts. */
  save(): Promise<void>
  /** Back to what was saved last; requests since then do not count. */
  restore(): Promise<void>
  /** Sends a request while a rule answers the next one. */
  sendUnder(rule: JsonObject, request: HttpRequest): Promise<ServiceResponse>
}

/** What is the same in the recording and its replay. */
interface Outcome {
  /** 0 where no whole answer came. */
  readonly status: number
  readonly code: string
  /** The status of the account that it shows. */
  readonly account: string
}

const NO_JSON = 'no JSON'

/** Where it answers otherwise, tries the rules that cause it, and leaves the one that does in the mock's journal. */
export class Rehearsal {
  /** What the mock answers otherwise by itself. It may hold secrets. */
  readonly findings = new Findings()
  /** The values of the mock with the recorded ones. */
  readonly #pairs = new ValueMap()
  readonly #mock: RehearsalMock
  readonly #replayed: Replayed
  /** Links of the mock whose user has not decided yet, the latest last. */
  readonly #links: string[] = []

  constructor(mock: RehearsalMock) {
    this.#mock = mock
    this.#replayed = new Replayed(mock.target, mock.client)
  }

  /** @returns what no rule can cause, one sentence each */
  async run(exchanges: readonly Recorded[]): Promise<string[]> {
    const notes: string[] = []
    for (const exchange of exchanges) {
      const note = await this.#replayExchange(exchange, parsedExchange(exchange).operation)
      if (note !== undefined) notes.push(note)
    }
    await this.#mock.save()
    return notes
  }

  /** What virtual MCP servers answer is no operation, and caused by no rule of a recorded scenario. */
  async #replayExchange(exchange: Recorded, operation: Operation | undefined): Promise<string | undefined> {
    const recorded = replayedExchange(exchange)
    const wanted = rehearsedOutcome(recorded.serviceResponse, exchange.response?.isTorn === false)
    await this.#decideLatestLink(operation, recorded.request)
    let request: HttpRequest
    try {
      request = await this.#replayed.request(recorded)
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      return operation && `${exchange.method} ${recordedPath(exchange)} ${error.message}`
    }
    await this.#mock.save()
    let response = await this.#mock.target.send(request).catch(noResponse)
    if (
      isOther(rehearsedOutcome(response), wanted) &&
      wanted.account !== '' &&
      rehearsedOutcome(response).account === 'PENDING_AUTH'
    ) {
      // A user has given consent meanwhile, which no proxy sees.
      await this.#mock.restore()
      await this.#approveLatestLink()
      response = await this.#sendAgain(request)
    }
    const first = rehearsedOutcome(response)
    const isWhole = recorded.serviceResponse.status > 0
    if (isWhole) this.findings.add({ request, mock: response, service: recorded.serviceResponse, map: this.#pairs })
    if (operation && isOther(first, wanted))
      response = (await this.#responseByRule(exchange, operation, wanted, request)) ?? (await this.#sendAgain(request))
    this.#replayed.learn(recorded, response)
    if (isWhole) pairResponses(this.#pairs, request, response, recorded.serviceResponse)
    if (operation === 'create_magic_link') this.#links.push(textOf(valueAt(parsedJson(response.text), 'link')))
    if (!operation || !isOther(rehearsedOutcome(response), wanted)) return undefined
    return `${exchange.method} ${recordedPath(exchange)} answered ${outcomeText(wanted)}, and its replay answers ${outcomeText(first)}`
  }

  async #sendAgain(request: HttpRequest): Promise<ServiceResponse> {
    await this.#mock.restore()
    return this.#mock.target.send(request).catch(noResponse)
  }

  /** The answer of the mock under the first rule by which it is the recorded one. */
  async #responseByRule(
    exchange: Recorded,
    operation: Operation,
    wanted: Outcome,
    request: HttpRequest,
  ): Promise<ServiceResponse | undefined> {
    for (const faults of causesOf(exchange, operation, wanted)) {
      await this.#mock.restore()
      const respond = faults.map((fault) => ownMember(fault, 'respond')).find(isJsonObject)
      const rule = {
        name: faultedName(faults, wanted),
        at: 'service',
        on: { operation },
        when: { first: 1 },
        do: faults,
        ...(respond && !isOnSpec(operation, wanted, respond) && { off_spec: true }),
      }
      const response = await this.#mock.sendUnder(rule, request).catch(noResponse)
      if (!isOther(rehearsedOutcome(response), wanted)) return response
    }
    return undefined
  }

  /** The user of the latest link decides before its request is verified. */
  async #decideLatestLink(operation: Operation | undefined, { body = '' }: HttpRequest): Promise<void> {
    if (operation !== 'verify_user') return
    const id = textOf(valueAt(parsedJson(body), 'auth_request_id'))
    if (id === '' || this.#replayed.map.has(id)) return
    await this.#mock.save()
    const result = await this.#approveLatestLink()
    if (result !== undefined) this.#replayed.map.pair(id, result)
  }

  /** @returns the id of the auth request, empty where the link leads to none; undefined without a link */
  async #approveLatestLink(): Promise<string | undefined> {
    const link = parseUrl(this.#links.pop() ?? '')
    if (!link) return undefined
    const redirect = await this.#mock.target
      .send({ method: 'GET', path: `${link.pathname}?decision=approve` })
      .catch(noResponse)
    const id = parseUrl(redirect.headers.location ?? '')?.searchParams.get('auth_request_id')
    await this.#mock.save()
    return id ?? ''
  }
}

/** What may have been behind an answer, the likeliest first. Faults of the model last: what follows from them follows too. */
function causesOf({ response }: Recorded, operation: Operation, { status, code, account }: Outcome): JsonObject[][] {
  const text = bodyText(response) ?? ''
  if (status === 0) return response ? [[{ truncate_body: {} }]] : [[{ reset_connection: {} }]]
  if (code === NO_JSON) return [[{ malformed_json: {} }], [{ respond: { status, body: text } }]]
  const ended = [[{ expire_account: {} }], [{ disconnect: {} }]]
  if (/DISCONNECTED/.test(text) || account === 'DISCONNECTED') ended.reverse()
  const respond = { respond: respondOf(response, status, code, text) }
  return [
    ...(code === 'ACCOUNT_NOT_ACTIVE' || account === 'EXPIRED' || account === 'DISCONNECTED' ? ended : []),
    ...(code === 'UNAUTHENTICATED' ? [[{ revoke_bearer_tokens: {} }]] : []),
    ...(code === 'AUTH_REQUEST_NOT_FOUND' ? [[{ consume_auth_request: {} }]] : []),
    // After a refresh the third party has refused this account.
    ...(status === 401 && code === 'TOOL_ERROR' ? [[{ expire_account: {} }, respond]] : []),
    [respond],
  ]
}

/** The same answer: by its code where the mock makes the rest of it, else as it is. */
function respondOf(response: Message | undefined, status: number, code: string, text: string): JsonObject {
  const body = parsedJson(text)
  const wait = headerIn(response, 'retry-after')
  const ofTool = toolErrorOf(body)?.['tool_error_message']
  const message = ofTool ?? valueAt(body, 'message') ?? valueAt(body, 'error_description')
  return {
    status,
    ...(wait !== undefined && { headers: { 'Retry-After': wait } }),
    ...(code === ''
      ? { body: body ?? text }
      : { error_code: code, ...(typeof message === 'string' && message !== '' && { message }) }),
  }
}

function isOnSpec(operation: Operation, { status, code }: Outcome, respond: JsonObject): boolean {
  if (!isDeclared(operation, status)) return false
  if (ownMember(respond, 'error_code') === undefined) return true
  if (operation === 'create_token') return (TOKEN_ERRORS as readonly string[]).includes(code)
  const ofTool = operation === 'execute_tool' && isToolErrorStatus(status) && code === 'TOOL_ERROR'
  return ofTool || (codesOfStatus(status) as readonly string[]).includes(code)
}

function faultedName(faults: readonly JsonObject[], wanted: Outcome): string {
  const [kind = ''] = faults.flatMap((fault) => Object.keys(fault))
  return kind === 'respond'
    ? `answers ${outcomeText(wanted)}`
    : `${kind.replaceAll('_', ' ')}, then ${outcomeText(wanted)}`
}

function isOther(outcome: Outcome, wanted: Outcome): boolean {
  const hasOtherAccount = outcome.account !== '' && wanted.account !== '' && outcome.account !== wanted.account
  return outcome.status !== wanted.status || outcome.code !== wanted.code || hasOtherAccount
}

function rehearsedOutcome({ status, text }: ServiceResponse, isWhole = true): Outcome {
  if (status === 0 || !isWhole) return { status: 0, code: '', account: '' }
  const body = parsedJson(text)
  const code = body === undefined && text.trim() !== '' ? NO_JSON : observedCode(body)
  return { status, code, account: textOf(valueAt(body, 'connected_account.status')) }
}

function noResponse(): ServiceResponse {
  return new ServiceResponse('', 0, {}, '')
}

/** A recorded exchange as it is sent again. */
export function replayedExchange({ method, target, request, response }: Recorded): Exchange {
  return harExchange(
    { method, path: target, headers: request.headers, body: bodyText(request) || undefined },
    { status: response?.status ?? 0, headers: response?.headers ?? [], text: bodyText(response) ?? '' },
  )
}

function recordedPath({ target }: Recorded): string {
  return target.split('?', 1).join()
}

function outcomeText({ status, code, account }: Outcome): string {
  const words = [status === 0 ? 'nothing whole' : String(status), code, account]
  return words.filter((word) => word !== '').join(' ')
}
