import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '../../model/domain/json.ts'
import { callableHost } from '../../model/domain/loopback.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { hasCode, systemCode } from '../../model/domain/system-error.ts'
import { failureReason, HttpClient } from '../../platform/http-client.ts'
import type { Server } from '../library/control-client.ts'
import { type Arguments, isSetByStrongerSource } from './arguments.ts'
import { UsageError } from './failure.ts'

/** The server that `start --detach` started in the working directory, as its file describes it. */
export interface DetachedServer {
  /** The process that serves, or the command that is still starting it. */
  readonly pid: number
  /** What the start was given, by flag, without the admin token. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Absent until it is ready. */
  readonly ready?: {
    readonly url: string
    readonly text: string
    readonly variables: Readonly<Record<string, string>>
    /** Lines of its log: warnings, and which configuration file it has read. */
    readonly notices?: readonly string[]
  }
}

export const FOLDER = '.toolmock'
export const SERVER_FILE = join(FOLDER, 'server.json')

/** Undefined where there is none, or where its file is cut off. */
export function detachedServer(): DetachedServer | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(SERVER_FILE, 'utf8'))
    return isJsonObject(value) ? (value as unknown as DetachedServer) : undefined
  } catch {
    return undefined
  }
}

interface ServerArguments extends Pick<Arguments<'healthcheck'>, 'setBy'> {
  readonly values: Arguments<'healthcheck'>['values'] & { readonly 'admin-token'?: string | undefined }
}

/**
 * The one that a flag or variable names, else the one in the background here, else that of the configuration file or the default.
 * @throws UsageError for a URL beside a port or host, all typed by the user
 */
export function serverOf({ values, setBy }: ServerArguments): Server {
  const adminToken = values['admin-token']
  const detached = serverInBackground({ setBy })?.ready
  if (detached) return { url: detached.url, ca: authorityOf(detached.variables), adminToken }
  const isSecure =
    values.tls || (values['tls-cert'] !== undefined && !isSetByStrongerSource({ setBy }, 'tls', 'tls-cert'))
  const address = `${isSecure ? 'https' : 'http'}://${callableHost(values.host)}:${values.port}`
  const rivals = ADDRESS_FLAGS.filter((name) => setBy.get(name) === 'flag' && setBy.get('url') === 'flag')
  if (rivals.length > 0) throw new UsageError(`--url and --${rivals[0]} both name the server: give one of them.`)
  const isUrlOutranked = ADDRESS_FLAGS.some((name) => isSetByStrongerSource({ setBy }, name, 'url'))
  const url = isUrlOutranked ? address : (values.url ?? address)
  return { url, adminToken }
}

const ADDRESS_FLAGS = ['port', 'host', 'tls', 'tls-cert'] as const

/** The one of this folder, unless a flag or a variable names another. The port of the file is where a start without `--port` listens. */
function serverInBackground({ setBy }: Pick<ServerArguments, 'setBy'>): DetachedServer | undefined {
  if (ADDRESSES.some((name) => (setBy.get(name) ?? 'file') !== 'file')) return undefined
  const server = detachedServer()
  return server && (!isGiven({ setBy }) || isAlive(server.pid)) ? server : undefined
}

/** A process that was killed leaves its file behind, and another may have its number. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

const ADDRESSES = ['url', 'port', 'host']

/** Whether a flag, a variable or the configuration file names a server. */
export function isGiven({ setBy }: Pick<ServerArguments, 'setBy'>): boolean {
  return ADDRESSES.some((name) => setBy.has(name))
}

/** The text of the certificate authority that a server said to trust. */
export function authorityOf(variables: Readonly<Record<string, string>>): string | undefined {
  const file = variables['NODE_EXTRA_CA_CERTS']
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

const HEALTH_TIMEOUT_MS = 2_000

/** The status of its health check. Nothing secret is sent, so the certificate need not be trusted. @throws Error without an answer */
export async function healthStatus(url: string): Promise<number> {
  const client = new HttpClient(url, { timeoutMs: HEALTH_TIMEOUT_MS, anyCertificate: true })
  return (await client.send({ method: 'GET', path: '/_mock/health' })).status
}

/** The header by which a request of a command is allowed to the control API. */
export function adminHeaders({ adminToken }: Server): Readonly<Record<string, string>> {
  return adminToken === undefined ? {} : { Authorization: `Bearer ${adminToken}` }
}

/** Why a server did not answer, to follow its URL in a message. */
export function noResponseReason(error: unknown): string {
  const code = systemCode(error)
  if (code === 'ECONNREFUSED') return 'is not served'
  if (code === 'ECONNRESET')
    return 'ends the connection without an answer; does it serve HTTPS? Then give --tls, or a URL with https'
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL') === true) return 'does not answer by TLS; does it serve HTTP?'
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return `has a certificate of an unknown authority (${code}): NODE_EXTRA_CA_CERTS names the file of one to trust`
  }
  return failureReason(error)
}

export function notResponding(url: string, cause: unknown): StartError {
  const reason = `${url} ${noResponseReason(cause)}`
  // Where something answers there is a server, and the reason says how to reach it.
  if (!hasCode(cause, 'ECONNREFUSED', 'ENOTFOUND')) return new StartError(reason)
  return new StartError(
    `${reason}. Start a server with \`npx toolmock start\`, or name one: --url URL or TOOLMOCK_URL.`,
  )
}

/** What a 401 of the control API means, to follow its URL in a message. */
export function adminTokenText({ adminToken }: Server): string {
  return adminToken === undefined
    ? 'asks for the admin token: give it by --admin-token or TOOLMOCK_ADMIN_TOKEN'
    : 'takes another admin token than the one of --admin-token or TOOLMOCK_ADMIN_TOKEN'
}
