import type { Arguments } from './arguments.ts'
import type { HEALTHCHECK_FLAGS } from './flags.ts'

/** Where a running server is: what the caller names, or what the server itself would be told by the same variables. */
export function serverAddress(values: Arguments<typeof HEALTHCHECK_FLAGS>['values']): string {
  const secure = values.tls || values['tls-cert'] !== undefined
  return values.url ?? `${secure ? 'https' : 'http'}://${reachable(values.host)}:${values.port}`
}

/** The addresses that mean "every one of this machine" can be served on, not called. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
