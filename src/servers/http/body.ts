import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { quote } from '../../model/domain/text.ts'
import { type Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { invalidField, ruleAndFound, ServiceError } from '../../model/domain/errors.ts'
import { extentOf, isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../model/domain/json.ts'
import { repeatedIn, type RepeatedMember } from '../../model/domain/repeated-members.ts'

/** How deep a body may nest. Serializing a deeper one later could overflow the stack. */
const MAX_DEPTH = 100

/**
 * At most `limit` bytes after decompression; refused as soon as that is known, by `Content-Length` or once it has gone
 * over. @throws ServiceError BODY_TOO_LARGE (413), MALFORMED_BODY (400): cut short, or in an unknown encoding (G7)
 */
export function readWholeBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  return new Promise((resolve, reject) => {
    const decoder = DECODERS.get(encoding)?.()
    if (!decoder && encoding !== 'identity') {
      const rule = `must have one of the encodings ${ENCODINGS}`
      reject(malformedBody(ruleAndFound(rule, quote(encoding, 60)), 'content_encoding'))
      return
    }
    if (!decoder && Number(request.headers['content-length'] ?? 0) > limit) {
      reject(tooLarge(limit))
      return
    }
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
      refuse(incompleteBody(error))
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
  })
}

/** A body as it was sent: whole, or the beginning of a long one and the rest, which comes in while it is sent on. */
export interface SentBody {
  readonly start: Buffer
  /** Fails with a ServiceError when it breaks off, or goes over the limit. */
  readonly rest: Readable | undefined
}

/** Reads a body of at most `limit` bytes; of one with more than `buffered` bytes only the beginning. @throws as {@link readWholeBody} */
export function readSentBody(request: IncomingMessage, limit: number, buffered: number): Promise<SentBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= buffered) return
      request.off('data', onData)
      resolve({ start: Buffer.concat(chunks), rest: restOf(request, limit, size) })
    }
    if (Number(request.headers['content-length'] ?? 0) > limit) reject(tooLarge(limit))
    else request.on('data', onData)
    request.on('end', () => {
      resolve({ start: Buffer.concat(chunks), rest: undefined })
    })
    request.on('error', (error) => {
      reject(incompleteBody(error))
    })
  })
}

/** What comes of a body, as a stream of its own: ending it early leaves the connection as it is. */
export function restOf(request: IncomingMessage, limit: number, read: number): Readable {
  let size = read
  const remainder = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > limit) done(tooLarge(limit))
      else done(null, chunk)
    },
  })
  request.on('error', (error) => remainder.destroy(incompleteBody(error)))
  // The request may end without anybody who reads the rest.
  remainder.on('error', () => undefined)
  return request.pipe(remainder)
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])
const ENCODINGS = ['identity', ...DECODERS.keys()].join(', ')

export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/** How much of an unread body is discarded, and for how long, so that its client can read the answer. */
const MAX_DISCARDED = 64 * 1024 * 1024
const MAX_DISCARDING_MS = 3000

/** Whether an answer ends before the request's body has come in whole. */
export function isUnread({ req, shouldKeepAlive }: ServerResponse): boolean {
  // A stream of HTTP/2, whose socket is a pair in memory, is answered while its body still comes.
  if (!(req.socket instanceof Socket)) return false
  // A client that waits for `100 Continue` may never send its body.
  return !req.complete && hasBody(req) && (req.headers.expect === undefined || shouldKeepAlive)
}

/** Discards the rest of the body, then calls `end`; the connection of an endless body is dropped. */
export function endAfterBody(response: ServerResponse, end: () => void): void {
  const request = response.req
  request.unpipe()
  response.flushHeaders()
  const drop = setTimeout(() => response.destroy(), MAX_DISCARDING_MS)
  let left = MAX_DISCARDED
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) response.destroy()
  })
  request.on('end', end)
  request.on('error', () => undefined)
  response.on('close', () => {
    clearTimeout(drop)
  })
  request.resume()
}

/** A request that is answered before gets no `100 Continue`, and its connection is closed (RFC 9110 10.1.1). */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const { shouldKeepAlive } = response
  response.shouldKeepAlive = false
  request.on('newListener', function onListener(event: string | symbol) {
    if (event !== 'data' && event !== 'readable') return
    request.off('newListener', onListener)
    if (response.headersSent || response.destroyed) return
    response.shouldKeepAlive = shouldKeepAlive
    response.writeContinue()
  })
}

/** @throws ServiceError UNSUPPORTED_CONTENT_TYPE (G7) */
export function checkContentType(headers: IncomingHttpHeaders, wanted: string): void {
  const contentType = headers['content-type'] ?? ''
  if (contentType === wanted) return
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length)
  const utf8 = charset === undefined || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (type === wanted && utf8) return
  const description = ruleAndFound(`must be ${wanted} in UTF-8`, contentType === '' ? 'nothing' : quote(contentType))
  throw invalidField('Content-Type', description, 'content_type', 'UNSUPPORTED_CONTENT_TYPE')
}

interface ParsedObject {
  readonly value: JsonObject
  readonly repeated: readonly RepeatedMember[]
}

/** @throws ServiceError MALFORMED_BODY: not UTF-8, not JSON, no object, or nested too deeply (G7) */
export function parseJsonObject(text: string): ParsedObject {
  const { depth, keys } = extentOf(text)
  if (depth > MAX_DEPTH)
    throw malformedBody(ruleAndFound(`must nest at most ${MAX_DEPTH} levels deep`, 'more levels'), 'max_depth')
  const value = parsedBody(text)
  if (isJsonObject(value)) return { value, repeated: repeatedIn(text, value, keys) }
  const mistake = Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`
  throw malformedBody(ruleAndFound('must be a JSON object', mistake), 'json_object')
}

function parsedBody(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    throw malformedBody(
      ruleAndFound('must be valid JSON', 'other text'),
      'json',
      // Some messages quote the text, which may hold a secret.
      error instanceof Error ? error.message.replace(/, (?:\.{3})?"[^]*$/, '').slice(0, 150) : '',
    )
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** @throws ServiceError MALFORMED_BODY */
export function decodeText(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes)
  } catch {
    throw malformedBody(ruleAndFound('must be valid UTF-8', 'other bytes'), 'utf8')
  }
}

/** `detail` may quote the body, so only the answer has it and not the reports. */
function malformedBody(description: string, constraint: string, detail = ''): ServiceError {
  const message = `the body ${description}${detail === '' ? '' : `: ${detail}`}`
  return new ServiceError('MALFORMED_BODY', message, { violations: [{ field: 'body', description, constraint }] })
}

function incompleteBody(error: Error): ServiceError {
  return malformedBody(ruleAndFound('must be complete', 'a part of it'), 'content', error.message)
}

function tooLarge(limit: number): ServiceError {
  const description = ruleAndFound(`must have at most ${limit} bytes`, 'more')
  return new ServiceError('BODY_TOO_LARGE', `the body ${description}`, {
    violations: [{ field: 'body', description, constraint: 'max_bytes' }],
  })
}
