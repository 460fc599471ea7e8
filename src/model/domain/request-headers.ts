import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { parseUrl } from './parse-url.ts'
import type { Ids } from './ports.ts'

/** The configured base URL, else the address that the client used, as a proxy forwards it; no trailing slash. */
export function baseUrlOf(request: RequestAddress, configured: string | undefined): string {
  if (configured) return configured.replace(/\/+$/, '')
  const served = isEncrypted(request.socket) ? 'https' : 'http'
  const protocol = forwardedHeader(request, 'x-forwarded-proto', /^https?$/) ?? served
  const host = forwardedHeader(request, 'x-forwarded-host', HOST) ?? valueOfForm(request.headers.host, HOST)
  return `${protocol}://${host ?? localAddress(request)}`
}

/** The caller's own address, or the configured one of the same host, which can have a path or the scheme of a proxy. */
export function callerBaseUrl(request: IncomingMessage, configured: string | undefined): string {
  const used = baseUrlOf(request, undefined)
  if (configured === undefined || parseUrl(configured)?.host !== parseUrl(used)?.host) return used
  return configured.replace(/\/+$/, '')
}

/** Whether it is a connection of TLS. In Bun a plain socket has `encrypted` as well. */
export function isEncrypted(socket: Socket): boolean {
  return 'encrypted' in socket && socket.encrypted === true
}

type RequestAddress = Pick<IncomingMessage, 'headers' | 'socket'>

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

function forwardedHeader(request: RequestAddress, name: string, form: RegExp): string | undefined {
  const value = request.headers[name]
  if (value === undefined) return undefined
  const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]
  return valueOfForm(first?.trim(), form)
}

function valueOfForm(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined
}

function localAddress({ socket }: RequestAddress): string {
  const { localAddress: address = '127.0.0.1', localPort = 0 } = socket
  return address.includes(':') ? `[${address}]:${localPort}` : `${address}:${localPort}`
}

/** Where a request was sent, path and query. Express takes the path of a router off `url`. */
export function targetOf(request: Pick<IncomingMessage, 'url'>): string {
  return 'originalUrl' in request ? String(request.originalUrl) : (request.url ?? '')
}

/** `X-Request-Id`: the request's own where it has a usable one, else a new one (G18). */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, ids: Ids): string {
  const header = headers['x-request-id']
  return typeof header === 'string' && /^[\w.:/+=@-]{1,128}$/.test(header) ? header : ids.id('req')
}

/** The token of an `Authorization` header (RFC 6750 2.1); undefined without one, and for another scheme or form. */
export function bearerTokenIn(authorization = ''): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1]
}

/** In an answer: the replica is not the active one, and has not begun the request. Its value is the secret of the replicas. */
export const NOT_ACTIVE = 'x-toolmock-not-active'

/** Headers of one connection (RFC 9110 7.6.1), which a proxy does not pass on. */
const HOP_BY_HOP_HEADERS = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** The headers that a proxy does not pass on: those of the connection, and those that its header `Connection` names. */
export function hopByHopHeaders(connection: string | string[] = ''): string[] {
  const connectionHeaders = String(connection).split(',')
  return [...HOP_BY_HOP_HEADERS, ...connectionHeaders.map((name) => name.trim().toLowerCase())]
}

export function headerPairs(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''])
}

/** In lower case, as in a received request. */
export const MCP_SESSION_HEADER = 'mcp-session-id'

/** Headers by their names in small letters. Of one that was sent more than once the last counts. */
export function headersByName<Value>(pairs: readonly (readonly [name: string, value: Value])[]): Record<string, Value> {
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
}

/** What a proxy passes on of them, without others that it `drops`. */
export function passedOn(
  { rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  drops: readonly string[] = [],
): [name: string, value: string][] {
  const dropped = new Set([...drops, ...hopByHopHeaders(headers.connection)])
  return headerPairs(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase()))
}
