import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ServiceError } from '../domain/errors.ts'
import { nesting } from '../domain/json.ts'

/** How deep a body may nest. Serializing a deeper one later could overflow the stack. */
const MAX_DEPTH = 100

/**
 * Reads a body of at most `limit` bytes, counted after decompression. A larger one is refused as soon as that is known: by its
 * `Content-Length`, or once it has gone over.
 * @throws ServiceError BODY_TOO_LARGE (413), MALFORMED_BODY (400): cut short, or in an unknown encoding (G7)
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
    const decoder = DECODERS.get(encoding)?.()
    if (!decoder && encoding !== 'identity') {
      const sent = `the encoding ${JSON.stringify(encoding.slice(0, 60))}`
      const about = { found: sent, expected: `one of ${ENCODINGS}`, constraint: 'content_encoding' }
      reject(malformed(`has ${sent}; allowed are ${ENCODINGS}`, about))
      return
    }
    if (!decoder && Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge(limit))
      return
    }
    collect(request, decoder, { limit, resolve, reject })
  })
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
const ENCODINGS = ['identity', ...DECODERS.keys()].join(', ')

interface Collecting {
  limit: number
  resolve: (body: Buffer) => void
  reject: (error: ServiceError) => void
}

function collect(
  request: IncomingMessage,
  decoder: Transform | undefined,
  { limit, resolve, reject }: Collecting,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const refuse = (error: ServiceError): void => {
    if (decoder) {
      request.unpipe(decoder)
      decoder.destroy()
    }
    size = Infinity
    reject(error)
  }
  const unreadable = (error: Error): void => {
    const about = { found: 'what cannot be read', expected: 'a whole body', constraint: 'content' }
    refuse(malformed(`cannot be read: ${error.message}`, about))
  }
  const source = decoder ? request.pipe(decoder) : request
  source.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else if (size < Infinity) refuse(tooLarge(limit))
  })
  source.on('end', () => {
    resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
  })
  request.on('error', unreadable)
  decoder?.on('error', unreadable)
}

/** Whether a request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/** @throws ServiceError UNSUPPORTED_CONTENT_TYPE (G7) */
export function checkContentType(headers: IncomingHttpHeaders, wanted: string): void {
  const sent = headers['content-type'] ?? ''
  if (sent === wanted) return
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length)
  const utf8 = charset === undefined || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (type === wanted && utf8) return
  const found = sent === '' ? 'no content type' : JSON.stringify(sent.slice(0, 100))
  throw new ServiceError('UNSUPPORTED_CONTENT_TYPE', `the body has ${found}; send ${wanted} in UTF-8`, {
    violations: [
      { field: 'Content-Type', description: `found ${found}, expected ${wanted} in UTF-8`, constraint: 'content_type' },
    ],
  })
}

/** @throws ServiceError MALFORMED_BODY: not UTF-8, not JSON, no object, or nested too deeply (G7) */
export function parseJsonObject(bytes: Buffer): object {
  const text = decodeText(bytes)
  const depth = nesting(text)
  if (depth > MAX_DEPTH) throw malformed(`nests more than ${MAX_DEPTH} levels deep`, TOO_DEEP)
  const value = parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const found = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
  throw malformed(`is ${found}; a JSON object is needed`, {
    found,
    expected: 'a JSON object',
    constraint: 'json_object',
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformed(`is no valid JSON: ${error instanceof Error ? error.message.slice(0, 150) : ''}`, NO_JSON)
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** @throws ServiceError MALFORMED_BODY */
export function decodeText(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes)
  } catch {
    throw malformed('is no valid UTF-8', NO_TEXT)
  }
}

interface Malformed {
  readonly found: string
  readonly expected: string
  readonly constraint: string
}

const NO_JSON: Malformed = { found: 'text that is no valid JSON', expected: 'a JSON object', constraint: 'json' }
const NO_TEXT: Malformed = { found: 'what is no valid UTF-8', expected: 'text in UTF-8', constraint: 'utf8' }
const TOO_DEEP: Malformed = {
  found: `more than ${MAX_DEPTH} levels of nesting`,
  expected: 'at most that many',
  constraint: 'max_depth',
}

/** A parser's message may quote the body, so it goes to the sender alone and not into reports. */
function malformed(message: string, { found, expected, constraint }: Malformed): ServiceError {
  return new ServiceError('MALFORMED_BODY', `the body ${message}`, {
    violations: [{ field: 'body', description: `found ${found}, expected ${expected}`, constraint }],
  })
}

function tooLarge(limit: number): ServiceError {
  const description = `found more than ${limit} bytes, expected at most that many`
  return new ServiceError('BODY_TOO_LARGE', `the body is larger than ${limit} bytes, which is the most that is taken`, {
    violations: [{ field: 'body', description, constraint: 'max_bytes' }],
  })
}
