import { callableHost } from '../domain/loopback.ts'
import { failureReason } from '../http-client.ts'
import { systemCode } from './failure.ts'
import type { FlagValues } from './flags.ts'

export function serverUrl(values: FlagValues<'healthcheck'>): string {
  const isSecure = values.tls || values['tls-cert'] !== undefined
  return values.url ?? `${isSecure ? 'https' : 'http'}://${callableHost(values.host)}:${values.port}`
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
