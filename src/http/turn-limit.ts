import type { IncomingMessage, ServerResponse } from 'node:http'

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * How long requests are begun in one turn of the event loop, in milliseconds. While V8 looks for garbage, each request does a part
 * of that work, and without a limit those of many connections make one turn of half a second.
 */
const TURN_MS = 10

/** Begins requests in the order in which they come. Once a turn has taken long, the next ones wait, and each later turn begins one. */
export class TurnLimit {
  readonly #waiting: (() => void)[] = []
  /** Until when this turn begins requests; undefined before its first one. */
  #until: number | undefined

  begin(listener: Listener, request: IncomingMessage, response: ServerResponse): void {
    if (this.#until === undefined) this.#beginTurn()
    else if (this.#waiting.length > 0 || performance.now() > this.#until) {
      this.#waiting.push(() => listener(request, response))
      return
    }
    listener(request, response)
  }

  #beginTurn(): void {
    this.#until = performance.now() + TURN_MS
    setImmediate(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    this.#until = undefined
    const first = this.#waiting.shift()
    if (!first) return
    this.#beginTurn()
    first()
  }
}
