import { createHmac } from 'node:crypto'
import { applicationOf } from '../application.ts'
import { decodePart, encodePart, headerOf } from '../wire.ts'
import { type Scheme, type SchemeContext, judge, realm, refuse } from './scheme.ts'

type Pair = readonly [name: string, value: string]

/** What an OAuth 1 signature covers. */
export interface SignedParts {
  method: string
  /** Scheme, host and path, without the query. */
  url: string
  /** Query, form and `oauth_…` parameters, decoded; without `realm` and `oauth_signature`. */
  parameters: readonly Pair[]
}

/**
 * OAuth 1 with HMAC-SHA1 signatures (RFC 5849), one-legged: the consumer's secret signs, the token names the account.
 * The third party checks every signature; it does not refuse old timestamps and repeated nonces, since tests repeat
 * themselves and move the clock.
 */
export const oauth1: Scheme = {
  present(request, credentials, context) {
    const { client_id, client_secret } = applicationOf(context.environment, context.connector.connector)
    const token = credentials.oauth_token?.access_token ?? ''
    if (token === '') return
    const oauth: Pair[] = [
      ['oauth_consumer_key', client_id],
      ['oauth_token', token.toWellFormed()],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', String(Math.floor(context.environment.clock.now() / 1000))],
      ['oauth_nonce', context.environment.ids.opaque()],
      ['oauth_version', '1.0'],
    ]
    const { method, path, query } = request
    const url = `${request.origin}${path}`
    const signature = sign({ method, url, parameters: [...query, ...oauth] }, client_secret, '')
    const sent = [...oauth, ['oauth_signature', signature] as const]
    const fields = sent.map(([name, value]) => `${name}="${encodePart(value)}"`)
    request.headers['Authorization'] = `OAuth ${[realm(context.connector), ...fields].join(', ')}`
  },

  verify(request, context) {
    const challenge = (): string => `OAuth ${realm(context.connector)}`
    const header = headerOf(request, 'authorization')
    if (header === '') return refuse('missing', challenge)
    const fields = authorizationFields(header)
    if (!fields || !isComplete(fields)) return refuse('malformed', challenge)
    const { client_id, client_secret } = applicationOf(context.environment, context.connector.connector)
    if (fields.get('oauth_consumer_key') !== client_id) return refuse('unknown', challenge)
    const covered = [...fields].filter(([name]) => name !== 'realm' && name !== 'oauth_signature')
    const url = `http://${headerOf(request, 'host').toLowerCase()}${request.rawPath}`
    const parameters = [...request.query, ...covered]
    const expected = sign({ method: request.method, url, parameters }, client_secret, '')
    if (fields.get('oauth_signature') !== expected) return refuse('bad_signature', challenge)
    return judge(request, context, fields.get('oauth_token') ?? '', challenge)
  },

  known(credentials, _context: SchemeContext) {
    const access = credentials.oauth_token?.access_token.toWellFormed() ?? ''
    if (access === '') return undefined
    return { access, secret: '', refresh_token: '', scopes: credentials.oauth_token?.scopes ?? [] }
  },
}

/** The signature of RFC 5849 3.4.2. */
export function sign(parts: SignedParts, consumerSecret: string, tokenSecret: string): string {
  const key = `${encodePart(consumerSecret)}&${encodePart(tokenSecret)}`
  return createHmac('sha1', key).update(baseString(parts)).digest('base64')
}

/** The text that is signed (RFC 5849 3.4.1): method, URL and the sorted parameters, each encoded. */
export function baseString({ method, url, parameters }: SignedParts): string {
  const encoded = parameters.map(([name, value]): Pair => [encodePart(name), encodePart(value)])
  encoded.sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
  const normalized = encoded.map(([name, value]) => `${name}=${value}`).join('&')
  return [method.toUpperCase(), encodePart(url), encodePart(normalized)].join('&')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** `OAuth name="value", …` as decoded fields; undefined when it is anything else, or names a field twice. */
function authorizationFields(header: string): Map<string, string> | undefined {
  const [, list] = /^OAuth +(.+)$/i.exec(header) ?? []
  if (list === undefined) return undefined
  const fields = new Map<string, string>()
  for (const item of list.split(',')) {
    const [, name, raw = ''] = /^([a-z_]+)="([^"]*)"$/.exec(item.trim()) ?? []
    const value = decodePart(raw)
    if (name === undefined || value === undefined || fields.has(name)) return undefined
    fields.set(name, value)
  }
  return fields
}

function isComplete(fields: ReadonlyMap<string, string>): boolean {
  const required = ['oauth_consumer_key', 'oauth_token', 'oauth_signature', 'oauth_timestamp', 'oauth_nonce']
  return required.every((name) => fields.has(name)) && fields.get('oauth_signature_method') === 'HMAC-SHA1'
}
