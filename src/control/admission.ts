import { isLoopback } from '../domain/loopback.ts'
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { matchesGlob } from '../domain/glob.ts'
import { ControlError } from './errors.ts'

/** Who may use the control API. */
export interface AdmissionRules {
  /** Asked for when it is set; whoever has it may come from anywhere. */
  readonly adminToken?: string | undefined
  /** Further names under which the mock may be called; `*` stands for any run of characters. */
  readonly allowHosts?: readonly string[] | undefined
  /** The configured base URL, whose host is one of the mock's own. */
  readonly baseUrl?: string | undefined
}

/**
 * Keeps web pages out of the control API (1.3): neither a page of another origin nor one whose name was rebound to this
 * address may use it. With an admin token, the token decides.
 * @throws ControlError ADMIN_TOKEN_REQUIRED, HOST_REFUSED, ORIGIN_REFUSED
 */
export function admit(request: IncomingMessage, rules: AdmissionRules): void {
  if (rules.adminToken !== undefined) {
    checkToken(request, rules.adminToken)
    return
  }
  checkHost(request, rules)
  checkOrigin(request, rules)
}

function checkToken({ headers }: IncomingMessage, adminToken: string): void {
  const bearer = /^bearer +(.*)$/i.exec(headers.authorization ?? '')?.[1]
  const given = headers['x-toolmock-admin-token'] ?? bearer
  if (typeof given === 'string' && sameText(given.trim(), adminToken)) return
  const found = given === undefined ? 'there is none' : 'the one that was sent is wrong'
  const message = `the control API asks for the admin token and ${found}; send it as "Authorization: Bearer <token>" or in X-Toolmock-Admin-Token`
  throw new ControlError('ADMIN_TOKEN_REQUIRED', message, [], { 'WWW-Authenticate': 'Bearer realm="toolmock control"' })
}

/** A page of a name that was made to point here sends that name as its Host. */
function checkHost(request: IncomingMessage, rules: AdmissionRules): void {
  const name = hostname(request.headers.host ?? '')
  if (name !== undefined && isOwnName(name, request, rules)) return
  const found = JSON.stringify((request.headers.host ?? '').slice(0, 100))
  const message = `the Host ${found} is no name of this mock; use localhost, a name without a dot, *.internal or the base URL's host, or start with --allow-host`
  throw new ControlError('HOST_REFUSED', message)
}

function isOwnName(name: string, { socket }: IncomingMessage, { allowHosts = [], baseUrl }: AdmissionRules): boolean {
  return (
    isLoopback(name) ||
    name === plainAddress(socket.localAddress ?? '') ||
    !/[.:]/.test(name) ||
    name.endsWith('.internal') ||
    (baseUrl !== undefined && URL.canParse(baseUrl) && hostname(new URL(baseUrl).host) === name) ||
    allowHosts.some((allowed) => matchesGlob(hostname(allowed) ?? allowed.toLowerCase(), name))
  )
}

/**
 * Browsers send it with everything that could change something, and scripts cannot set it. What a page embeds comes without,
 * but says how near the page is; another port of the same name is the same site, and still another origin.
 */
function checkOrigin({ headers }: IncomingMessage, { baseUrl }: AdmissionRules): void {
  const { origin, host } = headers
  const foreign = headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site'
  const embedded = foreign && headers['sec-fetch-mode'] !== 'navigate'
  if (origin === undefined && !embedded) return
  const own = [host, baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined]
  if (origin !== undefined && URL.canParse(origin) && own.some((each) => sameHost(new URL(origin), each))) return
  const found = origin === undefined ? 'a page of another origin' : JSON.stringify(origin.slice(0, 100))
  throw new ControlError('ORIGIN_REFUSED', `the control API is not for web pages of other origins; this is ${found}`)
}

function sameHost({ protocol, host }: URL, own: string | undefined): boolean {
  if (own === undefined || (protocol !== 'http:' && protocol !== 'https:')) return false
  const address = `${protocol}//${own}`
  return URL.canParse(address) && new URL(address).host === host
}

/** Without the port, in lower case, IPv6 addresses without brackets; undefined for what is no host. */
function hostname(host: string): string | undefined {
  const found = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[a-z0-9._*-]+))(?::\d{1,5})?$/i.exec(host)?.groups
  return (found?.['v6'] ?? found?.['name'])?.toLowerCase()
}

/** IPv4 in the form of IPv6, as sockets show it. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '')
}

/** Takes the same time whatever was sent, its length included. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(given), digest(expected))
}
