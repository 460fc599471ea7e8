import { existsSync, readFileSync } from 'node:fs'
import { callableHost } from '../domain/loopback.ts'
import { failureReason } from '../http-client.ts'
import { systemCode } from './failure.ts'
import type { Arguments } from './arguments.ts'
import { detachedServer } from './detached-server.ts'

type ServerArguments = Pick<Arguments<'healthcheck'>, 'values' | 'given'>

/**
 * A running server: the one that was given, else the one that was started in the background here, else the one that the flags and
 * variables of its start tell. `ca` is the authority to trust, where the mock made one.
 */
export function serverOf({ values, given }: ServerArguments): {
  readonly url: string
  readonly ca?: string | undefined
} {
  const detached = isGiven({ given }) ? undefined : detachedServer()?.ready
  if (detached) return { url: detached.url, ca: authorityOf(detached.variables) }
  const isSecure = values.tls || values['tls-cert'] !== undefined
  return { url: values.url ?? `${isSecure ? 'https' : 'http'}://${callableHost(values.host)}:${values.port}` }
}

/** Whether a flag, a variable or the configuration file names a server. */
export function isGiven({ given }: Pick<ServerArguments, 'given'>): boolean {
  return ['url', 'port', 'host'].some((name) => given.has(name))
}

/** The text of the certificate authority that a server said to trust. */
export function authorityOf(variables: Readonly<Record<string, string>>): string | undefined {
  const file = variables['NODE_EXTRA_CA_CERTS']
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** Why a server did not answer, to follow its URL in a message. */
export function noAnswerReason(error: unknown): string {
  const code = systemCode(error)
  if (code === 'ECONNREFUSED') return 'is not served'
  if (code === 'ECONNRESET') return 'ends the connection without an answer; does it serve HTTPS? Then give --tls'
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL') === true) return 'does not answer by TLS; does it serve HTTP?'
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return `has a certificate of an unknown authority (${code}): NODE_EXTRA_CA_CERTS names the file of one to trust`
  }
  return failureReason(error)
}

/** What a 401 of the control API means, to follow its URL in a message. */
export function adminTokenText(given: string | undefined): string {
  return given === undefined
    ? 'asks for the admin token: give it by --admin-token or TOOLMOCK_ADMIN_TOKEN'
    : 'takes another admin token than the one of --admin-token or TOOLMOCK_ADMIN_TOKEN'
}
