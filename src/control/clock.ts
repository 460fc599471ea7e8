import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { type Instant, milliseconds } from '../domain/instant.ts'
import { RequestTrace } from '../domain/request-trace.ts'
import { applyDueEvents } from '../operations/due.ts'
import { now } from '../state/environment.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { ControlContext } from './context.ts'
import { ControlError, faulty } from './control-error.ts'
import { aBoolean, anInstant, form, readFields } from './fields.ts'
import { journalChange } from './journaled.ts'

/** Where a clock stands. */
export interface ClockView {
  now: Instant
  frozen: boolean
}

/** How a clock is changed; what is not given stays as it is. */
export interface ClockChange {
  readonly now?: Instant | undefined
  readonly frozen?: boolean | undefined
  /** Milliseconds. */
  readonly advance?: number | undefined
}

const CLOCK_FORMS = {
  now: anInstant,
  frozen: aBoolean,
  advance: form(DURATION_FORMS, (value) =>
    typeof value === 'string' || typeof value === 'number' ? parseDuration(value) : undefined,
  ),
}

/** Reads the body of `PUT clock`. @throws ControlError INVALID_BODY */
export function readClockChange(body: unknown): ClockChange {
  const change = readFields(body, CLOCK_FORMS)
  if (Object.keys(change).length === 0) {
    throw faulty('INVALID_BODY', [{ path: '', found: 'an empty object', allowed: 'now or advance, and frozen' }])
  }
  if (change.now === undefined || change.advance === undefined) return change
  throw faulty('INVALID_BODY', [{ path: 'advance', found: 'advance beside now', allowed: 'one of the two' }])
}

export function viewClock(environment: StoredEnvironment): ClockView {
  return { now: now(environment), frozen: environment.clock.frozen }
}

/**
 * Moves an environment's clock; everything that has fallen due by then happens, in the order of time. Time may go back:
 * what has happened stays, and what was to happen later is still to come.
 * @throws ControlError INVALID_BODY outside the years 1970 to 9999
 */
export function changeClock(
  context: ControlContext,
  environment: StoredEnvironment,
  change: ClockChange,
  trace: RequestTrace = new RequestTrace(),
): ClockView {
  const { clock } = environment
  const before = now(environment)
  const from = clock.now()
  const to = change.now === undefined ? from + (change.advance ?? 0) : milliseconds(change.now)
  context.registry.change(environment, () => {
    try {
      if (change.frozen === true) clock.freeze(to)
      else if (change.frozen === false) clock.run()
      if (to !== from) clock.set(to)
    } catch (error) {
      throw error instanceof RangeError ? new ControlError('INVALID_BODY', error.message) : error
    }
    applyDueEvents(environment, trace)
  })
  const view = viewClock(environment)
  const sentence = `the clock went from ${before} to ${view.now} and ${view.frozen ? 'stands still' : 'runs'}`
  journalChange(context, environment, { kind: 'clock', sentence, trace })
  return view
}
