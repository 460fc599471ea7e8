import { percentDecoded } from '../../model/domain/text.ts'
import { createHmac } from 'node:crypto'
import { encodePart } from './http-messages.ts'

export type Pair = readonly [name: string, value: string]

/** What an OAuth 1 signature covers. */
interface Oauth1Parts {
  method: string
  /** Scheme, host and path, without the query. */
  url: string
  /** Query, form and `oauth_…` parameters, decoded; without `realm` and `oauth_signature`. */
  parameters: readonly Pair[]
}

/** The signature of RFC 5849 3.4.2. */
export function oauth1Signature(parts: Oauth1Parts, consumerSecret: string, tokenSecret: string): string {
  const key = `${encodePart(consumerSecret)}&${encodePart(tokenSecret)}`
  return createHmac('sha1', key).update(oauth1BaseString(parts)).digest('base64')
}

/** The text that is signed (RFC 5849 3.4.1): method, URL and the sorted parameters, each encoded. */
export function oauth1BaseString({ method, url, parameters }: Oauth1Parts): string {
  const encoded = parameters.map(([name, value]): Pair => [encodePart(name), encodePart(value)])
  encoded.sort(([nameA, valueA], [nameB, valueB]) => compareBytes(nameA, nameB) || compareBytes(valueA, valueB))
  const normalized = encoded.map(([name, value]) => `${name}=${value}`).join('&')
  return [method.toUpperCase(), encodePart(url), encodePart(normalized)].join('&')
}

function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** `OAuth name="value", …` as decoded fields; undefined for any other text, and when a field is missing or appears twice. */
export function authorizationFields(header: string): Map<string, string> | undefined {
  const [, list] = /^OAuth +(.+)$/i.exec(header) ?? []
  if (list === undefined) return undefined
  const fields = new Map<string, string>()
  for (const item of list.split(',')) {
    const [, name, raw = ''] = /^([a-z_]+)="([^"]*)"$/.exec(item.trim()) ?? []
    const value = percentDecoded(raw)
    if (name === undefined || value === undefined || fields.has(name)) return undefined
    fields.set(name, value)
  }
  return isComplete(fields) ? fields : undefined
}

function isComplete(fields: ReadonlyMap<string, string>): boolean {
  const required = ['oauth_consumer_key', 'oauth_token', 'oauth_signature', 'oauth_timestamp', 'oauth_nonce']
  return required.every((name) => fields.has(name)) && fields.get('oauth_signature_method') === 'HMAC-SHA1'
}
