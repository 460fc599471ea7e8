import type { FaultResponse, FaultSocket } from './faults/fault-response.ts'

/** Waiting in real time, which never keeps a server from closing. */
export class Pauses {
  readonly #waiting = new Set<() => void>()
  #closed = false

  /** Waits so many milliseconds, or until the client has gone or the server closes. */
  wait(ms: number, response?: FaultResponse): Promise<void> {
    return this.#pause(response?.req.socket, ms)
  }

  /** Waits until the client has gone or the server closes. */
  untilClosed(response: FaultResponse): Promise<void> {
    return this.#pause(response.req.socket, undefined)
  }

  /** Ends every pause, those to come too. */
  close(): void {
    this.#closed = true
    for (const end of [...this.#waiting]) end()
  }

  #pause(socket: FaultSocket | undefined, ms: number | undefined): Promise<void> {
    if (this.#closed || ms === 0 || socket?.destroyed) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        socket?.off('close', end)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = ms === undefined ? undefined : setTimeout(end, ms)
      socket?.on('close', end)
      this.#waiting.add(end)
    })
  }
}
