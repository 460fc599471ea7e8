import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { basename, extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { dashboardFile } from '../../files/package-disk.ts'
import type { EncodedResponse } from '../../model/domain/encoded-response.ts'
import { html } from '../../ui/pages/html.ts'
import { htmlDocument } from '../../ui/pages/layout.ts'

/* It asks the control API for everything that it shows. This file is loaded when the dashboard is opened. */

/** Nothing inline or from elsewhere. `trusted-types` lets no text be markup: its one policy is the worker's script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types toolmock',
].join('; ')

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // The browser asks each time, and gets a 304 while the server is the same.
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
}

/** Addresses are relative, so that the dashboard works below a path of a proxy too. */
const PAGE = htmlDocument({
  title: 'toolmock',
  icon: 'ui/icon.svg',
  head: html`<meta name="description" content="Requests, accounts and links of this toolmock" />
    <link rel="preload" as="font" type="font/woff2" crossorigin href="ui/geist.woff2" />
    <link rel="stylesheet" href="ui/style.css" />
    <script type="module" src="ui/app.js"></script>`,
  body: html`<div id="app"></div>
    <noscript class="page"
      >The dashboard needs JavaScript. The control API has the same data: GET /_mock/openapi.</noscript
    >`,
})

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The page at `/ui`, or a file below it. */
export async function dashboardResponse({
  path,
  headers,
}: IncomingMessage & { path: string }): Promise<EncodedResponse> {
  const text = path === '/ui' ? PAGE.toString() : await dashboardFile(basename(path))
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const responseHeaders = { ...HEADERS, ETag: etag, 'Content-Type': String(TYPES[extname(path)]) }
  if (headers['if-none-match'] === etag) return { status: 304, headers: responseHeaders, body: '' }
  const compressed = /\bgzip\b/.test(headers['accept-encoding'] ?? '')
  const body = compressed ? await promisify(gzip)(text, { level: 9 }) : Buffer.from(text)
  const encoding: Record<string, string> = compressed ? { 'Content-Encoding': 'gzip' } : {}
  return { status: 200, headers: { ...responseHeaders, ...encoding, 'Content-Length': String(body.length) }, body }
}
