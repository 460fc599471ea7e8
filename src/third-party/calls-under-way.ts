import type { RequestTrace } from '../domain/request-trace.ts'

/** Names the call to the third party's side, so that what happens there is noted with the request behind it. */
export const TRAIL_HEADER = 'x-mock-call'

/** The calls from the service to the in-process third parties that have no answer yet. One per server. */
export class CallsUnderWay {
  readonly #traces = new Map<string, RequestTrace>()
  #count = 0

  /** @returns the call's name for {@link TRAIL_HEADER} */
  open(trace: RequestTrace): string {
    this.#count++
    const ticket = String(this.#count)
    this.#traces.set(ticket, trace)
    return ticket
  }

  /** What the request behind a call causes; undefined for calls that nobody noted. */
  find(ticket: string): RequestTrace | undefined {
    return this.#traces.get(ticket)
  }

  close(ticket: string): void {
    this.#traces.delete(ticket)
  }
}
