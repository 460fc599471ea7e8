import type { IncomingMessage, ServerResponse } from 'node:http'
// Fake timers of a test replace the global function, and a server in its process still answers.
import { setImmediate } from 'node:timers'

export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * How long requests are begun in one turn of the event loop, in milliseconds. While V8 looks for garbage, each request does a part
 * of that work, and without a limit those of many connections make one turn of half a second.
 */
const TURN_MS = 10

/** Which requests of all connections begin in a turn of the event loop, and when their answers are sent. */
export class EventLoopTurn {
  readonly #waiting: (() => void)[] = []
  #answers: (() => void)[] = []
  /** Until when this turn begins requests; undefined before its first one. */
  #until: number | undefined

  /** Begins a request at once. After a turn that has taken long the next ones wait, and each later turn begins one, in their order. */
  begin(listener: Listener, request: IncomingMessage, response: ServerResponse): void {
    if (this.#until === undefined) this.#beginTurn()
    else if (this.#waiting.length > 0 || performance.now() > this.#until) {
      this.#waiting.push(() => listener(request, response))
      return
    }
    listener(request, response)
  }

  /**
   * Sends an answer with all others of this turn. A client that waits is woken by the first of them and finds the rest: waking it
   * for each costs the server a sixth of the CPU of a GET with 16 connections, and a third where the client waits for a core.
   */
  sendAtEnd(send: () => void): void {
    if (this.#answers.length === 0) setImmediate(this.sendAnswers)
    this.#answers.push(send)
  }

  readonly sendAnswers = (): void => {
    const answers = this.#answers
    this.#answers = []
    for (const send of answers) send()
  }

  #beginTurn(): void {
    this.#until = performance.now() + TURN_MS
    setImmediate(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    this.#until = undefined
    this.sendAnswers()
    const first = this.#waiting.shift()
    if (!first) return
    this.#beginTurn()
    first()
  }
}
