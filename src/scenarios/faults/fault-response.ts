/** What faults use of the response that they act on; `ServerResponse` of `node:http` has it, other protocols make it. */
export interface FaultResponse {
  readonly destroyed: boolean
  /** Null once the answer has been sent. */
  readonly socket: FaultSocket | null
  readonly req: { readonly socket: FaultSocket }
  writeHead(status: number, headers: Readonly<Record<string, string | number | string[]>>): unknown
  flushHeaders(): void
  write(octets: Buffer, sent?: () => void): unknown
  end(sent?: () => void): unknown
  end(body: string | Buffer, sent: () => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** A connection, or what stands for it: the stream of one call. */
export interface FaultSocket {
  readonly destroyed: boolean
  destroy(): unknown
  destroySoon(): void
  resetAndDestroy(): unknown
  on(event: 'close', listener: () => void): unknown
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}
