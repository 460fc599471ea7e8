import type { Control } from './control.ts'
import type { ClockView } from './views/clock.ts'

/**
 * The one clock of an environment: bearer tokens, magic links, auth requests, tokens of accounts, journal and scenarios obey it.
 * Each change answers once everything that fell due by it has happened.
 */
export interface MockClock {
  /** The time of the environment, ISO 8601 in UTC. */
  now(): Promise<string>
  get(): Promise<ClockView>
  /**
   * Moves on.
   * @param by `90s`, `2h`, `1h30m`, or an ISO 8601 duration such as `PT5M`
   * @throws ToolmockError INVALID_BODY for what is no duration, or leads past the year 9999
   */
  advance(by: string): Promise<ClockView>
  /**
   * Goes there, back too: what has happened stays.
   * @param to an instant in ISO 8601 with its time zone, or a Date
   * @throws ToolmockError INVALID_BODY outside the years 1970 to 9999
   */
  set(to: string | Date): Promise<ClockView>
  /** Stands still from now on, or at an instant. @throws ToolmockError INVALID_BODY */
  freeze(at?: string | Date): Promise<ClockView>
  /** Runs on from where it stands. */
  run(): Promise<ClockView>
}

/** @internal */
export function clockOf(control: Control): MockClock {
  const get = (): Promise<ClockView> => control.call('GET /clock')
  const put = (change: object): Promise<ClockView> => control.call('PUT /clock', { body: change })
  return {
    get,
    now: async () => (await get()).now,
    advance: (by) => put({ advance: by }),
    set: (to) => put({ now: to }),
    freeze: (at) => put({ frozen: true, ...(at === undefined ? {} : { now: at }) }),
    run: () => put({ frozen: false }),
  }
}
