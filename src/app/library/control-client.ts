import type { ControlResponse, ControlCallRoute, ControlInput } from '../../model/contract/control-call.ts'
import { jsonText, parsedJson } from '../../model/domain/json.ts'
import { failureReason, HttpClient, type HttpResponse } from '../../platform/http-client.ts'
import { checkArgument, TEXT } from './arguments.ts'
import { type ErrorDetail, ToolmockError } from './toolmock-error.ts'

/** A server, and what its control API asks for. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  readonly adminToken?: string | undefined
  /** PEM text of the authority to trust, beside those that Node.js trusts. */
  readonly ca?: string | undefined
  /** How long a call may go without any sign of the server; no limit when absent. */
  readonly timeoutMs?: number | undefined
  /** Set for a server that this process has started. */
  readonly own?: boolean | undefined
}

interface Sent<R extends ControlCallRoute> extends Omit<ControlInput<R>, 'body'> {
  /** An object goes as JSON; a text is YAML. */
  readonly body?: ControlInput<R>['body'] | string
}

/** The control API of one environment of a server, which runs in this process or elsewhere. */
export class ControlClient {
  readonly environment: string
  readonly #server: Server
  readonly #http: HttpClient
  readonly #parent: ControlClient | undefined
  #closed = false

  constructor(server: Server, environment: string, parent?: ControlClient) {
    this.environment = environment
    this.#server = server
    // Each call has a connection of its own, so that a test leaves none open.
    this.#http = new HttpClient(server.url, { ca: server.ca, anyCertificate: server.own, timeoutMs: server.timeoutMs })
    this.#parent = parent
  }

  /** Another environment of the same server. It is closed together with a server that this process has started. */
  in(environment: string): ControlClient {
    return new ControlClient(this.#server, environment, this.#server.own === true ? this : undefined)
  }

  /** Every later call is refused. */
  close(): void {
    this.#closed = true
  }

  /** @throws ToolmockError with the control API's error, or with why there was no answer */
  async call<R extends ControlCallRoute>(
    route: R,
    { path = {}, query = {}, body }: Sent<R> = {},
  ): Promise<ControlResponse<R>> {
    this.#refuseClosed()
    const [method = '', template = ''] = route.split(' ')
    const { url, adminToken } = this.#server
    const request = {
      method,
      path: `/_mock${fillTemplate(route, template, path)}${this.#queryText(template, query)}`,
      headers: {
        ...(adminToken === undefined ? {} : { 'X-Toolmock-Admin-Token': adminToken }),
        ...(body === undefined ? {} : { 'Content-Type': `application/${typeof body === 'string' ? 'yaml' : 'json'}` }),
      },
      body: typeof body === 'object' ? jsonText(body) : body,
    }
    const response = await this.#http.send(request).catch((error: unknown) => {
      throw serverUnreachable(url, error)
    })
    return controlResult(url, response) as ControlResponse<R>
  }

  /** A call whose answer says nothing more. @throws ToolmockError as `call` */
  async send<R extends ControlCallRoute>(route: R, input?: Sent<R>): Promise<void> {
    await this.call(route, input)
  }

  #refuseClosed(): void {
    if (this.#closed) throw new ToolmockError('CLOSED', `the environment ${this.environment} was closed`)
    if (this.#parent && this.#parent.#closed) {
      throw new ToolmockError('CLOSED', `the server of environment ${this.environment} was closed`)
    }
  }

  #queryText(template: string, query: object): string {
    const isPerEnvironment = !/^\/(version$|shutdown$|environments)/.test(template)
    const all = isPerEnvironment ? { environment: this.environment, ...query } : query
    const pairs = Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
  }
}

/** @throws ToolmockError INVALID_ARGUMENT for a name or id that is missing or empty */
function fillTemplate(route: ControlCallRoute, template: string, parts: object): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part: unknown = Object.hasOwn(parts, name) ? Reflect.get(parts, name) : undefined
    checkArgument(route, name, part, TEXT)
    // A lone surrogate cannot be percent-encoded.
    return encodeURIComponent(String(part).toWellFormed())
  })
}

/** @throws ToolmockError for an error of the control API, and for an answer that no toolmock gives */
function controlResult(url: string, { status, text }: HttpResponse): unknown {
  const value = parsedJson(text)
  if (status >= 200 && status < 300 && value !== undefined) return value
  const { error } = (value ?? {}) as { error?: { code?: unknown; message?: string; details?: readonly ErrorDetail[] } }
  if (typeof error?.code === 'string') {
    throw new ToolmockError(error.code, error.message ?? '', { details: error.details ?? [], status })
  }
  const message = `${url}/_mock answered ${status}, and not as toolmock's control API does; is the URL that of a toolmock server?`
  throw new ToolmockError('NO_TOOLMOCK', message, { status })
}

function serverUnreachable(url: string, cause: unknown): ToolmockError {
  const message = `the control API at ${url}/_mock gave no answer (${failureReason(cause)}); is the server still running?`
  return new ToolmockError('UNREACHABLE', message, { cause })
}
