import type { IncomingMessage } from 'node:http'
import { matchesGlob } from '../../model/domain/value-match.ts'
import { isLoopback } from '../../model/domain/loopback.ts'
import { parseUrl } from '../../model/domain/parse-url.ts'
import { isSameSecret } from '../../model/domain/secret.ts'
import { quote } from '../../model/domain/text.ts'
import { ControlError } from './errors.ts'

export interface AdmissionRules {
  /** When it is set, every call has to send it and may come from anywhere. */
  readonly adminToken?: string | undefined
  /** More names under which the mock can be called (`--allow-host`); `*` matches any characters. */
  readonly allowHosts?: readonly string[] | undefined
  /** The configured base URL; its host is a name of the mock. */
  readonly baseUrl?: string | undefined
  /** What another replica has judged about a request that it sends on; undefined for one that came here first. */
  readonly judgedElsewhere?: ((request: IncomingMessage) => boolean | undefined) | undefined
}

/**
 * Pages of another origin, and pages whose host name was rebound to this address (1.3). An admin token alone decides
 * where there is one. @throws ControlError ADMIN_TOKEN_REQUIRED, HOST_REFUSED, ORIGIN_REFUSED
 */
export function admitRequest(request: IncomingMessage, rules: AdmissionRules): void {
  const judged = rules.judgedElsewhere?.(request)
  if (judged === true) return
  if (rules.adminToken !== undefined) checkToken(request, rules.adminToken)
  else {
    checkHost(request, rules)
    checkOrigin(request, rules)
  }
  if (judged === false) {
    throw new ControlError('HOST_REFUSED', 'the replica that this request came to does not let it call the control API')
  }
}

function checkToken({ headers }: IncomingMessage, adminToken: string): void {
  const bearer = /^bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]
  const token = headers['x-toolmock-admin-token'] ?? bearer
  if (typeof token === 'string' && isSameSecret(token.trim(), adminToken)) return
  const mistake = token === undefined ? 'the request has none' : 'the one in the request is wrong'
  const message = `the control API requires the admin token, and ${mistake}; send it as "Authorization: Bearer <token>" or in X-Toolmock-Admin-Token`
  throw new ControlError('ADMIN_TOKEN_REQUIRED', message, [], { 'WWW-Authenticate': 'Bearer realm="toolmock control"' })
}

/** A page whose host name was rebound to this address sends that name as its Host. */
function checkHost(request: IncomingMessage, rules: AdmissionRules): void {
  const name = hostnameOf(request.headers.host ?? '')
  if (name !== undefined && isOwnName(name, request, rules)) return
  const mistake = quote(request.headers.host ?? '')
  const message = `the Host ${mistake} is not a name of this mock; use localhost, a name without a dot, *.internal or the base URL's host, or start with --allow-host`
  throw new ControlError('HOST_REFUSED', message)
}

function isOwnName(name: string, { socket }: IncomingMessage, { allowHosts = [], baseUrl }: AdmissionRules): boolean {
  return (
    isLoopback(name) ||
    name === plainAddress(socket.localAddress ?? '') ||
    !/[.:]/.test(name) ||
    name.endsWith('.internal') ||
    hostnameOf(parseUrl(baseUrl ?? '')?.host ?? '') === name ||
    allowHosts.some((allowed) => matchesGlob(hostnameOf(allowed) ?? allowed.toLowerCase(), name))
  )
}

/**
 * Browsers send `Origin` with every request that can change something, and scripts cannot set it. Embedded resources come
 * without it, and are recognised by `Sec-Fetch-Site`: another port of the same host is the same site, but another origin.
 */
function checkOrigin({ headers }: IncomingMessage, { baseUrl }: AdmissionRules): void {
  const { origin, host } = headers
  const foreign = headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site'
  const embedded = foreign && headers['sec-fetch-mode'] !== 'navigate'
  if (origin === undefined && !embedded) return
  const caller = parseUrl(origin ?? '')
  if (caller && [host, parseUrl(baseUrl ?? '')?.host].some((each) => sameHost(caller, each))) return
  const mistake = origin === undefined ? 'a page of another origin' : quote(origin)
  throw new ControlError(
    'ORIGIN_REFUSED',
    `the control API is not for web pages of other origins; the request comes from ${mistake}`,
  )
}

function sameHost({ protocol, host }: URL, hostHeader: string | undefined): boolean {
  if (hostHeader === undefined || (protocol !== 'http:' && protocol !== 'https:')) return false
  return parseUrl(`${protocol}//${hostHeader}`)?.host === host
}

/** Without port and brackets, in lower case; undefined for a text that is not a host. */
function hostnameOf(host: string): string | undefined {
  const groups = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[a-z0-9._*-]+))(?::\d{1,5})?$/i.exec(host)?.groups
  return (groups?.['v6'] ?? groups?.['name'])?.toLowerCase()
}

/** IPv4 in the form of IPv6, as sockets show it. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '')
}
