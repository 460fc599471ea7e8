/** A tag with a wire type that protobuf does not have. */
const ILLEGAL_TAG = 7
/** Flags and length in front of a message. */
const ENVELOPE = 5

/** The body of an answer with a message that cannot be read; undefined for one that is text, or has no message. */
export function malformedMessage(body: Buffer, contentType: string): Buffer | undefined {
  if (/json/.test(contentType)) return undefined
  const at = contentType.startsWith('application/grpc') ? ENVELOPE : 0
  if (body.length > at && (at === 0 || body.readUInt32BE(1) > 0)) {
    const broken = Buffer.from(body)
    broken[at] = ILLEGAL_TAG
    return broken
  }
  return undefined
}
