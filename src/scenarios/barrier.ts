import type { ServerResponse } from 'node:http'
import type { RequestTrace } from '../model/domain/request-trace.ts'
import type { Pause, Pauses } from './pauses.ts'

export interface BarrierTerms {
  /** How many requests open it. */
  readonly requests: number
  /** Milliseconds of real time after which it opens with fewer. */
  readonly within: number
  readonly release: 'arrival' | 'reverse'
}

interface Arrival {
  readonly pauses: Pauses
  readonly trace: RequestTrace
  /** Absent at `consent`. */
  readonly response?: ServerResponse
}

interface Waiter extends Arrival {
  readonly pause: Pause
  readonly go: () => void
}

/** Once in a run. Requests then go on one by one; one without an answer is waited for as long as the barrier has. */
export class Barrier {
  readonly #terms: BarrierTerms
  /** By which the request journal names it. */
  readonly #rule: { readonly scenario: string; readonly rule: string }
  #waiting: Waiter[] = []
  #isOpen: boolean

  constructor(terms: BarrierTerms, rule: { scenario: string; rule: string }, isOpen: boolean) {
    this.#terms = terms
    this.#rule = rule
    this.#isOpen = isOpen
  }

  /** Returns when it is the request's turn, or its client has gone. */
  async pass(arrival: Arrival): Promise<void> {
    if (this.#isOpen) return
    const { requests, within } = this.#terms
    const { pauses, response } = arrival
    const pause = pauses.start(within, response)
    const turn = new Promise<void>((go) => this.#waiting.push({ ...arrival, pause, go }))
    if (this.#waiting.length === requests) this.open()
    await pause.over
    const others = this.#waiting.filter((waiter) => waiter.pause !== pause)
    if (others.length === this.#waiting.length) return turn
    if (response?.req.socket.destroyed) {
      this.#waiting = others
      return undefined
    }
    const text = `opened its barrier after ${within} ms with ${this.#waiting.length} of ${requests} requests`
    for (const waiter of this.#waiting) waiter.trace.openedLate(this.#rule, text)
    this.open()
    return turn
  }

  /** Lets all that wait go on, and holds no more. */
  open(): void {
    this.#isOpen = true
    const waiting = this.#terms.release === 'reverse' ? this.#waiting.toReversed() : this.#waiting
    this.#waiting = []
    for (const { pause } of waiting) pause.end()
    void this.#releaseInTurn(waiting)
  }

  async #releaseInTurn(waiting: readonly Waiter[]): Promise<void> {
    for (const { pauses, response, trace, go } of waiting) {
      const answering = pauses.start(this.#terms.within, response)
      trace.onResponse(answering.end)
      go()
      await answering.over
    }
  }
}
