import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

/** A request as the third party received it. */
export interface ReceivedRequest {
  method: string
  /** The path as it was sent, still encoded; what signatures cover. */
  rawPath: string
  /** The path inside the API, `/v1/messages`, still encoded. */
  apiPath: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A request that the service is about to send. */
export interface OutgoingRequest {
  method: string
  /** `http://127.0.0.1:4711`. */
  origin: string
  /** Encoded, without the query. */
  path: string
  query: (readonly [name: string, value: string])[]
  /** A query that is sent as it is, in front of `query`. */
  search?: string
  headers: Record<string, string>
  body: string | Buffer
}

/** Every parameter of a request. */
export function parametersOf({ search = '', query }: OutgoingRequest): (readonly [name: string, value: string])[] {
  return search === '' ? query : [...new URLSearchParams(search), ...query]
}

export interface WireAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Names the account of a call to the in-process third party. A real third party does not get it. It identifies the account
 * where several store the same key, or where calls carry no credential, and grants no access.
 */
export const ACCOUNT_HEADER = 'x-toolmock-account'

/** Names the tool of a call, so that scenarios can match it. */
export const TOOL_HEADER = 'x-toolmock-tool'

const BODY_LIMIT = 2 * 1024 * 1024

export function headerOf(request: ReceivedRequest, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** A text as a header can contain it: one line, with characters beyond Latin-1 as the octets of UTF-8. */
export function headerValue(text: string): string {
  // eslint-disable-next-line no-control-regex -- a header must not contain control characters
  const line = text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  return octets(line)
}

/** Percent-encodes one part of a path or query, so that the value stays inside its part. */
export function encodePart(value: string): string {
  // Nearly every value is plain, and this test takes a twentieth of the time.
  if (PLAIN_PART.test(value)) return value
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const PLAIN_PART = /^[\w.~-]*$/

/** The decoded text, or undefined when it is not well-formed. */
export function decodePart(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export function jsonAnswer(status: number, body: object, headers: Record<string, string> = {}): WireAnswer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export function sendAnswer(response: ServerResponse, answer: WireAnswer): void {
  const body = octets(answer.body)
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status === 204 ? {} : { 'Content-Length': body.length }),
  })
  response.end(body, 'latin1')
}

/**
 * A body as a text of octets, to be written as Latin-1 together with the headers. With UTF-8 node would write the headers
 * in UTF-8 too, and with a buffer it would write headers and body separately, which takes longer.
 */
export function octets(body: string | Buffer): string {
  if (typeof body !== 'string') return body.toString('latin1')
  return isAscii(body) ? body : Buffer.from(body, 'utf8').toString('latin1')
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- the whole of ASCII
  return /^[\u0000-\u007f]*$/.test(text)
}

/** The whole body; undefined when it is too large. @throws Error when the connection breaks */
export function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_LIMIT) chunks.push(chunk)
      else resolve(undefined)
    })
    request.on('end', () => {
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    request.on('error', reject)
  })
}
