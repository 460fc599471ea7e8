const HEAD_END = '\r\n\r\n'
const CHUNKS_END = Buffer.from('0\r\n\r\n')

/** Finds the end of each answer in the bytes of a connection with one request under way at a time. */
export class AnswerParser {
  readonly #answered: (status: number) => void
  #bytes: Buffer | undefined

  constructor(answered: (status: number) => void) {
    this.#answered = answered
  }

  feed(chunk: Buffer): void {
    const bytes = this.#bytes ? Buffer.concat([this.#bytes, chunk]) : chunk
    const status = complete(bytes)
    this.#bytes = status === undefined ? bytes : undefined
    if (status !== undefined) this.#answered(status)
  }
}

/** The status of the answer; undefined until the whole answer has arrived. */
function complete(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return bytes.length >= end + HEAD_END.length + Number(length) ? status : undefined
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return status
  return bytes.subarray(-CHUNKS_END.length).equals(CHUNKS_END) ? status : undefined
}
