import { isUtf8 } from 'node:buffer'
import { charsetOf, decodeBody, decodeContent } from '../../platform/body-text.ts'

/** As much of a body as is kept. */
export const MAX_KEPT = 5 * 1024 * 1024

export type Headers = readonly (readonly [name: string, value: string])[]

/** A body as it was on the wire, its beginning where it is long. */
export interface RecordedBody {
  readonly bytes: Buffer
  /** How long it was, with what is not kept. */
  readonly size: number
}

export interface Message {
  readonly headers: Headers
  readonly body: RecordedBody
}

/** A request that came through the proxy, and its answer, with all secrets. */
export interface Recorded {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly durationMs: number
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  readonly request: Message
  /** Undefined where no head of an answer came. */
  readonly response: RecordedResponse | undefined
}

export interface RecordedResponse extends Message {
  readonly status: number
  readonly reason: string
  /** Whether the connection ended inside the body. */
  readonly isTorn: boolean
}

export function headerIn(message: Message | undefined, name: string): string | undefined {
  return message?.headers.find(([each]) => each.toLowerCase() === name)?.[1]
}

/** The body as text, without its content encoding; undefined where it is none, or where the encoding is broken. */
export function bodyText(message: Message | undefined): string | undefined {
  if (!message) return undefined
  const { bytes, size } = message.body
  const type = headerIn(message, 'content-type')
  try {
    const content = decodeContent(bytes, headerIn(message, 'content-encoding'), MAX_KEPT)
    // What is cut may end inside a character.
    const isText = charsetOf(type) !== undefined || isUtf8(content) || bytes.length < size
    return isText ? decodeBody(content, { 'content-type': type }, MAX_KEPT) : undefined
  } catch {
    return undefined
  }
}
