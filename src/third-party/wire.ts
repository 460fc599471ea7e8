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
  headers: Record<string, string>
  body: string
}

export interface WireAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Tells the in-process third party whose account a call is made for. A real one would not know: this settles whose
 * call it is where several accounts store the same key, or where there is no credential at all. It grants nothing.
 */
export const ACCOUNT_HEADER = 'x-toolmock-account'

/** Tells it which tool the call is made for, so that scenarios can name it. */
export const TOOL_HEADER = 'x-toolmock-tool'

const BODY_LIMIT = 2 * 1024 * 1024

export function headerOf(request: ReceivedRequest, name: string): string {
  const value = request.headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** What can travel as the value of a header: one line, and the octets of UTF-8 for what is beyond Latin-1. */
export function headerValue(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what must not stand in a header
  const line = text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim()
  return octets(line)
}

/** Percent-encoding of one part of a path or of a query; nothing in the value can leave its part. */
export function encodePart(value: string): string {
  // Nearly every name is plain, and found to be so in a twentieth of the time.
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
 * A body as a text of octets, to be written as Latin-1 together with the headers, in one piece. (As UTF-8, node would
 * write the headers in UTF-8 with it; as a buffer, both would go out one after the other, which takes longer.)
 */
export function octets(body: string): string {
  return isAscii(body) ? body : Buffer.from(body, 'utf8').toString('latin1')
}

function isAscii(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- the whole of ASCII
  return /^[\u0000-\u007f]*$/.test(text)
}

/** The whole body; undefined when it is larger than any tool would send. @throws Error when the connection breaks */
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
