import { CLOCK_YEARS, instant, isClockTime, milliseconds } from '../domain/instant.ts'
import { applyDueEvents } from '../operations/account-events.ts'
import { now } from '../state/environment.ts'
import type { Environment } from '../state/environment.ts'
import { changed, type EnvironmentCall, type Reply } from './call.ts'
import { invalidInput } from './errors.ts'

export function getClock({ environment }: EnvironmentCall<'get_clock'>): Reply {
  return { body: viewOf(environment) }
}

/** Moves the clock and applies everything that falls due by then, in one commit. What was applied stays when time goes back. */
export function putClock(call: EnvironmentCall<'put_clock'>): Reply {
  const { environment, body: change, trace } = call
  const { clock } = environment
  const before = now(environment)
  const from = clock.now()
  const to = change.now === undefined ? from + (change.advance ?? 0) : milliseconds(change.now)
  // By advance, or because a running clock has passed the end of its range.
  if (!isClockTime(to)) {
    const found = `a step to ${instant(to)}`
    throw invalidInput('INVALID_BODY', [{ path: ['advance'], found, allowed: CLOCK_YEARS }])
  }
  environment.change(() => {
    if (change.frozen === true) clock.freeze(to)
    else if (change.frozen === false) clock.run()
    if (to !== from) clock.set(to)
    applyDueEvents(environment, trace)
  })
  const body = viewOf(environment)
  const sentence = `the clock went from ${before} to ${body.now} and ${body.frozen ? 'stands still' : 'runs'}`
  return changed(call, sentence, { body, kind: 'clock' })
}

function viewOf(environment: Environment) {
  return { now: now(environment), frozen: environment.clock.frozen }
}
