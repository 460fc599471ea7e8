import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Html } from './html.ts'
import { PAGE_STYLE } from './style.ts'

const styleHash = createHash('sha256').update(PAGE_STYLE.toString()).digest('base64')

/**
 * What a page may do: show itself, and send its form. `form-action` is open to any http or https address, because browsers
 * apply it to every redirect that follows a form, and the last one goes to the caller's own `user_verify_url` (G30, G35).
 */
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

/** Answers with a page. */
export function sendPage(response: ServerResponse, status: number, page: Html): void {
  response.writeHead(status, { ...PAGE_HEADERS, 'Content-Type': 'text/html; charset=utf-8' })
  response.end(page.toString())
}

/** Answers 302 to `url`, which must be an absolute http or https address; its octets stay as they are (G30). */
export function sendRedirect(response: ServerResponse, url: string): void {
  response.writeHead(302, { ...PAGE_HEADERS, Location: locationValue(url) })
  response.end()
}

/** Only what cannot stand in a header is encoded; an encoder for whole URLs would also touch a lone `%`. */
function locationValue(url: string): string {
  return url.replaceAll(/[^\u0021-\u007e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
}
