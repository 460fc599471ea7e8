import { createHash } from 'node:crypto'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import type { Html } from './html.ts'
import { PAGE_STYLE } from './style.ts'

const styleHash = createHash('sha256').update(PAGE_STYLE.toString()).digest('base64')

/** `form-action` allows any address: browsers apply it to each redirect, the last one the caller's (G30, G35). */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  'form-action http: https:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of every page and of every redirect between pages. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
})

/** A page as it is sent. */
export function pageResponse(
  status: number,
  page: Html,
  headers: Readonly<Record<string, string>> = {},
): EncodedResponse {
  const type = { 'Content-Type': 'text/html; charset=utf-8' }
  return { status, headers: { ...PAGE_HEADERS, ...type, ...headers }, body: page.toString() }
}

/** Leads a browser to an absolute http or https address, which is sent unchanged (G30). 303 follows a sent form with a GET. */
export function redirectResponse(
  status: 302 | 303,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): EncodedResponse {
  return { status, headers: { ...PAGE_HEADERS, Location: locationValue(url), ...headers }, body: '' }
}

/** Encodes only characters that a header cannot contain; an encoder for whole URLs would also change a lone `%`. */
function locationValue(url: string): string {
  return url.replaceAll(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
}
