import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../domain/errors.ts'
import { ControlError } from './control-error.ts'

/** A body as it was sent, and what it claims to be. */
export interface SentBody {
  readonly text: string
  readonly format: 'json' | 'yaml'
}

/** Whether the request announces a body at all. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * What a body claims to be. A page of another origin can send other types without being asked first, which is why they are
 * refused.
 * @throws ControlError UNSUPPORTED_CONTENT_TYPE
 */
export function formatOf({ headers }: IncomingMessage): SentBody['format'] {
  const sent = headers['content-type'] ?? ''
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8'
  const utf8 = ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (utf8 && (type === 'application/json' || type.endsWith('+json'))) return 'json'
  if (utf8 && /^(?:application|text)\/(?:x-)?yaml$|\+yaml$/.test(type)) return 'yaml'
  const found = sent === '' ? 'no content type' : JSON.stringify(sent.slice(0, 100))
  const message = `the body has ${found}; send application/json or application/yaml in UTF-8`
  throw new ControlError('UNSUPPORTED_CONTENT_TYPE', message)
}

/** @throws ControlError MALFORMED_BODY */
export function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ControlError('MALFORMED_BODY', 'the body is not valid UTF-8')
  }
}

/** The value of a body. YAML is loaded when somebody sends it. @throws ControlError MALFORMED_BODY; DocumentError for YAML */
export async function valueOf({ text, format }: SentBody): Promise<unknown> {
  if (format === 'yaml') {
    const { SourceText } = await import('../documents/source-text.ts')
    return new SourceText(text, 'body').value
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const found = error instanceof Error ? error.message.slice(0, 150) : ''
    throw new ControlError('MALFORMED_BODY', `the body is no valid JSON: ${found}`)
  }
}

/** Turns what the shared reader of bodies refuses into words of the control API. */
export function readingError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const tooLarge = error.errorCode === 'BODY_TOO_LARGE'
  return new ControlError(tooLarge ? 'BODY_TOO_LARGE' : 'MALFORMED_BODY', error.message)
}
