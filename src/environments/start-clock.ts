import { CLOCK_YEARS, type Instant, instant, isClockTime, milliseconds } from '../domain/instant.ts'
import type { ClockState } from '../state/model/clock.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'

/** How the clock of an environment starts (`--clock`, `--freeze`, `POST environments`). */
export interface StartClock {
  /** Real time when absent. */
  now?: Instant | undefined
  frozen?: boolean | undefined
}

/** The clock as it is stored, given real time. @throws RangeError for a time that no clock may show */
export function clockStateOf({ now, frozen = false }: StartClock, realTime: number): ClockState {
  if (now !== undefined && !isClockTime(milliseconds(now))) throw new RangeError(`a clock shows ${CLOCK_YEARS}`)
  if (frozen) return { offset_ms: 0, frozen_at: now ?? instant(realTime) }
  return { offset_ms: now === undefined ? 0 : milliseconds(now) - realTime, frozen_at: null }
}

/** The same start for every reset: a clock that stood still from where it happened to be stands there again. */
export function standing(clock: StartClock, { clock: present }: StoredEnvironment): StartClock {
  return clock.frozen ? { ...clock, now: clock.now ?? present.state.frozen_at ?? undefined } : clock
}
