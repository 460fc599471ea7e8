import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Answers, Route } from './answers.ts'
import { invalidArgument, shown, TEXT } from './arguments.ts'
import { answerOf, unreachable } from './control-answer.ts'
import { ToolmockError } from './toolmock-error.ts'

/** A server, and how to talk to its control API. */
export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  readonly adminToken?: string | undefined
  /** PEM text of the authority to trust, beside those that node trusts. */
  readonly ca?: string | undefined
  /** Set where the server is of this very process: its certificate has nothing to prove. */
  readonly own?: boolean | undefined
}

/** What goes with a call. */
export interface Sent {
  /** For the parts of the route in braces. */
  readonly path?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** An object goes as JSON; a text is YAML. */
  readonly body?: object | string | undefined
}

/**
 * The control API (1.3) of one environment of a server, here or elsewhere. It is spoken over plain `node:http`, not `fetch`,
 * which tests like to replace; and on a connection for each call, so that nothing is left open behind a test.
 */
export class Control {
  readonly environment: string
  readonly #server: Server
  readonly #parent: Control | undefined
  #closed = false

  constructor(server: Server, environment: string, parent?: Control) {
    this.#server = server
    this.environment = environment
    this.#parent = parent
  }

  /** The same server, another environment; it ends with the server, where that is ours to end. */
  in(environment: string): Control {
    return new Control(this.#server, environment, this.#server.own === true ? this : undefined)
  }

  /** From now on every call is refused. */
  close(): void {
    this.#closed = true
  }

  /** @throws ToolmockError with what the control API says, or why it could not be asked */
  async call<R extends Route>(route: R, sent: Sent = {}): Promise<Answers[R]> {
    this.#refuseClosed()
    const { url } = this.#server
    const path = filled(route, sent.path)
    const answer = await this.#exchange(path, sent).catch((error: unknown) => {
      throw unreachable(url, error)
    })
    // The routes and what they answer are one table, which the tests hold against servers.
    return answerOf(url, answer) as Answers[R]
  }

  #refuseClosed(): void {
    if (this.#closed) throw new ToolmockError('CLOSED', `the environment ${this.environment} was closed`)
    if (!this.#parent) return
    const { environment } = this
    if (this.#parent.#closed) throw new ToolmockError('CLOSED', `the server of environment ${environment} was closed`)
  }

  async #exchange(route: string, sent: Sent): Promise<{ status: number; text: string }> {
    const response = await this.#send(route, sent)
    return { status: response.statusCode ?? 0, text: await text(response) }
  }

  #send(route: string, { query = {}, body }: Sent): Promise<IncomingMessage> {
    const { url, adminToken, ca, own } = this.#server
    const [method = '', path = ''] = route.split(' ')
    const content = typeof body === 'object' ? JSON.stringify(body) : body
    const address = new URL(url)
    const request = address.protocol === 'https:' ? secureRequest : plainRequest
    return new Promise((resolve, reject) => {
      const sending = request({
        protocol: address.protocol,
        hostname: address.hostname.replaceAll(/^\[|\]$/g, ''),
        port: address.port,
        method,
        path: `${address.pathname.replace(/\/$/, '')}/_mock${path}${this.#queryOf(path, query)}`,
        agent: false,
        headers: {
          ...(adminToken === undefined ? {} : { 'X-Toolmock-Admin-Token': adminToken }),
          ...(content === undefined ? {} : headersOf(content, typeof body === 'string')),
        },
        ...(ca === undefined ? {} : { ca }),
        ...(own === true ? { rejectUnauthorized: false } : {}),
      })
      sending.on('response', resolve).on('error', reject).end(content)
    })
  }

  #queryOf(path: string, query: Sent['query'] = {}): string {
    const own =
      ABOUT_THE_SERVER.test(path) || Object.hasOwn(query, 'environment')
        ? []
        : [['environment', this.environment] as const]
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const pairs = [...own, ...given].map(([name, value]): [string, string] => [name, String(value)])
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
  }
}

/** Routes to which `environment` means nothing. */
const ABOUT_THE_SERVER = /^\/(version$|environments)/

/** Ids and names may hold anything; lone surrogates cannot be percent-encoded. @throws ToolmockError INVALID_ARGUMENT */
function filled(route: Route, parts: Sent['path'] = {}): string {
  return route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part: unknown = parts[name]
    if (typeof part === 'string' && part !== '') return encodeURIComponent(part.toWellFormed())
    throw invalidArgument(`${route}: ${name} is ${shown(part)}; allowed: ${TEXT.allowed}`)
  })
}

function headersOf(content: string, yaml: boolean): Record<string, string | number> {
  return {
    'Content-Type': yaml ? 'application/yaml' : 'application/json',
    'Content-Length': Buffer.byteLength(content),
  }
}
