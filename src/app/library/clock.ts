import type { ControlClient } from './control-client.ts'
import type { ClockView } from './types.ts'

/**
 * The one clock of an environment: bearer tokens, magic links, auth requests, tokens of accounts, request journal and scenarios
 * use it. Each change answers once every event that it made due has been applied.
 */
export interface MockClock {
  /** The time of the environment, ISO 8601 in UTC. */
  now(): Promise<string>
  get(): Promise<ClockView>
  /**
   * Moves the clock on.
   * @param by `90s`, `2h`, `1h30m`, `250ms`, an ISO 8601 duration such as `PT5M`, or a number of seconds: 5 is `5s`
   * @throws ToolmockError INVALID_BODY for what is no duration, or leads past the year 7999
   */
  advance(by: string | number): Promise<ClockView>
  /**
   * Sets the clock, also back; events that were applied are not undone.
   * @param to an instant in ISO 8601 with its time zone, a day in UTC, or a Date
   * @throws ToolmockError INVALID_BODY outside the years 1970 to 7999
   */
  set(to: string | Date): Promise<ClockView>
  /** Stops the clock where it is, or at an instant. @throws ToolmockError INVALID_BODY */
  freeze(at?: string | Date): Promise<ClockView>
  /** Lets the clock run on from where it stopped. */
  run(): Promise<ClockView>
}

/** @internal */
export function clockOf(control: ControlClient): MockClock {
  const get = () => control.call('GET /clock')
  // A Date becomes a text in ISO 8601 on its way into JSON.
  const put = async (change: { advance?: string | number; now?: string | Date | undefined; frozen?: boolean }) => {
    const { now, frozen } = await control.call('PUT /clock', { body: change as { now?: string } })
    return { now, frozen }
  }
  return {
    get,
    now: async () => (await get()).now,
    advance: (by) => put({ advance: by }),
    set: (to) => put({ now: to }),
    freeze: (at) => put({ frozen: true, now: at }),
    run: () => put({ frozen: false }),
  }
}
