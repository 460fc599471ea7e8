import type { Request } from 'express'
import type { Ids } from '../domain/ports.ts'

/** `X-Request-Id`, taken from the request when it has a sane one (G18). */
export function requestIdOf(request: Request, ids: Ids): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && /^[\w.:/+=@-]{1,128}$/.test(sent) ? sent : ids.id('req')
}

/**
 * What links and redirects are built on, without a trailing slash: the configured base URL, else the address that the
 * client used, as a proxy in front of the mock tells it.
 */
export function baseUrlOf(request: Request, configured: string | undefined): string {
  if (configured) return configured.replace(/\/+$/, '')
  const encrypted = 'encrypted' in request.socket
  const protocol = forwarded(request, 'x-forwarded-proto', /^https?$/) ?? (encrypted ? 'https' : 'http')
  const host = forwarded(request, 'x-forwarded-host', HOST) ?? sane(request.headers.host, HOST)
  return `${protocol}://${host ?? localAddress(request)}`
}

/**
 * Where the caller reaches the mock, which in another container is no address for a browser. The configured base URL knows
 * more (a path, the scheme of a proxy) and is used when the caller used its host.
 */
export function addressOf(request: Request, configured: string | undefined): string {
  const used = baseUrlOf(request, undefined)
  if (configured === undefined || !URL.canParse(configured) || !URL.canParse(used)) return used
  return new URL(configured).host === new URL(used).host ? configured.replace(/\/+$/, '') : used
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

function forwarded(request: Request, name: string, form: RegExp): string | undefined {
  const value = request.headers[name]
  const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]
  return sane(first?.trim(), form)
}

function sane(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined
}

function localAddress(request: Request): string {
  const { localAddress: address = '127.0.0.1', localPort = 0 } = request.socket
  return address.includes(':') ? `[${address}]:${localPort}` : `${address}:${localPort}`
}
