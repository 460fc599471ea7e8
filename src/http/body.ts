import express, { type Request, type RequestHandler, type Response } from 'express'
import { ServiceError } from '../domain/errors.ts'

/** How deep a body may nest: deeper ones would break whoever serializes them later. */
const MAX_DEPTH = 100

/** Reads a body of at most so many bytes, compressed ones included. */
export interface BodyReader {
  (request: Request, response: Response): Promise<Buffer>
}

/** @throws ServiceError BODY_TOO_LARGE (413), MALFORMED_BODY (400): cut short, or in an unknown encoding (G7) */
export function createBodyReader(limit: number): BodyReader {
  const parse: RequestHandler = express.raw({ type: () => true, limit })
  return (request, response) =>
    new Promise((resolve, reject) => {
      void parse(request, response, (error?: unknown) => {
        if (!error) {
          resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
          return
        }
        drain(request)
        reject(refusal(error, limit))
      })
    })
}

/** Whether the request announces a body at all. */
export function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/** @throws ServiceError UNSUPPORTED_CONTENT_TYPE (G7) */
export function checkContentType(request: Request, wanted: string): void {
  const sent = request.headers['content-type'] ?? ''
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length)
  const utf8 = charset === undefined || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (type === wanted && utf8) return
  const found = sent === '' ? 'no content type' : JSON.stringify(sent.slice(0, 100))
  throw new ServiceError('UNSUPPORTED_CONTENT_TYPE', `the body has ${found}; send ${wanted} in UTF-8`, {
    violations: [
      { field: 'Content-Type', description: `is ${found}; allowed is ${wanted}`, constraint: 'content_type' },
    ],
  })
}

/** @throws ServiceError MALFORMED_BODY: not UTF-8, not JSON, no object, or nested too deeply (G7) */
export function parseJsonObject(bytes: Buffer): object {
  const text = decode(bytes)
  const depth = nesting(text)
  if (depth > MAX_DEPTH) throw malformed(`nests more than ${MAX_DEPTH} levels deep`)
  const value = parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
  throw malformed(`is ${found}; a JSON object is needed`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformed(`is no valid JSON: ${error instanceof Error ? error.message.slice(0, 150) : ''}`)
  }
}

/** @throws ServiceError MALFORMED_BODY */
export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed('is no valid UTF-8')
  }
}

/** The deepest level of brackets and braces outside strings, counted without recursion. */
function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (quoted) {
      if (char === BACKSLASH) at++
      else if (char === QUOTE) quoted = false
    } else if (char === QUOTE) quoted = true
    else if (char === BRACE || char === BRACKET) deepest = Math.max(deepest, ++depth)
    else if (char === BRACE + 2 || char === BRACKET + 2) depth--
  }
  return deepest
}
const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b]

function malformed(found: string): ServiceError {
  return new ServiceError('MALFORMED_BODY', `the body ${found}`, {
    violations: [{ field: 'body', description: found, constraint: 'json_object' }],
  })
}

function refusal(error: unknown, limit: number): ServiceError {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : ''
  if (type === 'entity.too.large') {
    return new ServiceError('BODY_TOO_LARGE', `the body is larger than ${limit} bytes, which is the most that is taken`)
  }
  return malformed(error instanceof Error ? `cannot be read: ${error.message}` : 'cannot be read')
}

/** What is left of a refused body is read and thrown away, within bounds, so that the client gets to read the answer. */
function drain(request: Request): void {
  let left = 64 * 1024 * 1024
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.on('error', () => undefined)
  request.resume()
}
