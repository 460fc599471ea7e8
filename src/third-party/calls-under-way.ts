import type { Trail } from '../domain/request-trace.ts'

/** Names the call to the third party's side, so that what happens there is noted with the request behind it. */
export const TRAIL_HEADER = 'x-mock-call'

/** The calls from the service to the in-process third parties that have no answer yet. One per simulator. */
export class CallsUnderWay {
  readonly #trails = new Map<string, Trail>()
  #count = 0

  /** @returns the call's name for {@link TRAIL_HEADER} */
  open(trail: Trail): string {
    this.#count++
    const ticket = String(this.#count)
    this.#trails.set(ticket, trail)
    return ticket
  }

  /** What the request behind a call causes; undefined for calls that nobody noted. */
  find(ticket: string): Trail | undefined {
    return this.#trails.get(ticket)
  }

  close(ticket: string): void {
    this.#trails.delete(ticket)
  }
}
