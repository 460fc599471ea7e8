import { TextDecoder } from 'node:util'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

/** What an answer says of its body. Names of headers are in small letters. */
interface BodyHeaders {
  readonly 'content-type'?: string | undefined
  readonly 'content-encoding'?: string | undefined
}

/**
 * By its byte-order mark, else by the charset of its media type, else UTF-8. @param most bytes without its content
 * codings (RFC 9110 8.4) @throws Error for a coding that is unknown or broken, or a body that is too large
 */
export function decodeBody(bytes: Buffer, headers: BodyHeaders, most: number): string {
  const plain = decodeContent(bytes, headers['content-encoding'], most)
  const start = plain.toString('latin1', 0, 3)
  const marked = MARKS.find(([mark]) => start.startsWith(mark))?.[1]
  // An unknown charset is most likely UTF-8 too.
  const decoder = decoderOf(marked ?? charsetOf(headers['content-type'])) ?? new TextDecoder()
  return decodeBytes(decoder, plain)
}

function decodeBytes(decoder: TextDecoder, bytes: Uint8Array): string {
  const text = decoder.decode(bytes)
  // Node.js 20 takes these characters for those of ISO 8859-1.
  if (decoder.encoding !== 'windows-1252') return text
  return text.replaceAll(/[\u0080-\u009f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control)
}

/** Its characters from 0x80 to 0x9F. */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** @throws Error for a content coding that is unknown or broken, or a body that is too large without it */
export function decodeContent(bytes: Buffer, codings = '', most: number): Buffer {
  // An answer to HEAD names the coding of a body that it does not have.
  if (codings === '' || bytes.length === 0) return bytes
  return codings.split(',').reduceRight((body, coding) => {
    const name = coding.trim().toLowerCase()
    const decode = DECODERS.get(name)
    if (!decode) throw new Error(`Content-Encoding is ${name}, allowed are ${[...DECODERS.keys()].join(', ')}`)
    return decode(body, { maxOutputLength: most })
  }, bytes)
}

const DECODERS = new Map<string, (bytes: Buffer, limits: { maxOutputLength: number }) => Buffer>([
  ['identity', (bytes) => bytes],
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
])

const MARKS = [
  ['\u00ef\u00bb\u00bf', 'utf-8'],
  ['\u00ff\u00fe', 'utf-16le'],
  ['\u00fe\u00ff', 'utf-16be'],
] as const

export function charsetOf(type = ''): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1]
}

function decoderOf(charset = 'utf-8'): TextDecoder | undefined {
  try {
    return new TextDecoder(charset)
  } catch {
    return undefined
  }
}

/**
 * A text in the charset of a media type; as it is for UTF-8, which a body is written in anyway. A character that the charset
 * lacks is escaped in JSON, and a question mark elsewhere. Undefined for a charset that texts cannot be written in.
 */
export function encodeText(text: string, type = ''): string | Buffer | undefined {
  const decoder = decoderOf(charsetOf(type))
  if (!decoder || decoder.encoding === 'utf-8') return text
  if (decoder.encoding === 'utf-16le') return Buffer.from(text, 'utf16le')
  const letters = decodeBytes(
    decoder,
    Uint8Array.from({ length: 256 }, (_, byte) => byte),
  )
  if (letters.length !== 256) return undefined
  const escape = (unit: string): string =>
    /json/i.test(type) ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : '?'
  const units = text.split('').map((unit) => (letters.includes(unit) ? unit : escape(unit)))
  return Buffer.from(Array.from(units.join(''), (unit) => letters.indexOf(unit)))
}
