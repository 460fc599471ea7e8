import type { ServerResponse } from 'node:http'

export interface Pause {
  readonly over: Promise<void>
  readonly end: () => void
}

/** Waiting in real time, which never keeps a server from closing. */
export class Pauses {
  readonly #waiting = new Set<() => void>()
  #closed = false

  /** Waits so many milliseconds, or until the client has gone or the server closes. */
  wait(ms: number, response?: ServerResponse): Promise<void> {
    return this.start(ms, response).over
  }

  /** The same as {@link wait}, for a pause that something else can end. It may have no time. */
  start(ms: number | undefined, response?: ServerResponse): Pause {
    const socket = response?.req.socket
    if (this.#closed || ms === 0 || socket?.destroyed) return { over: Promise.resolve(), end: () => undefined }
    let end = (): void => undefined
    const over = new Promise<void>((resolve) => {
      end = () => {
        clearTimeout(timer)
        socket?.off('close', end)
        this.#waiting.delete(end)
        resolve()
      }
    })
    const timer = ms === undefined ? undefined : setTimeout(end, ms)
    socket?.on('close', end)
    this.#waiting.add(end)
    return { over, end }
  }

  /** Ends every pause, those to come too. */
  close(): void {
    this.#closed = true
    for (const end of [...this.#waiting]) end()
  }
}
