import { milliseconds } from '../domain/instant.ts'
import type { RuleConditions, ScenarioTime } from '../domain/scenario.ts'

/** What conditions are held against. */
export interface Circumstances {
  /** Which request this is, of all that fit the rule's place, match and state since the scenario started; the first is 1. */
  readonly number: number
  /** Milliseconds of the environment's clock. */
  readonly now: number
  readonly startedAt: number
  /** From 0 to below 1; asked for only when all else holds. */
  readonly chance: () => number
}

/** Whether the conditions of a rule hold, but for its state, which decides what is counted at all. */
export function hold(when: RuleConditions, { number, now, startedAt, chance }: Circumstances): boolean {
  const { nth, first, every, after, times = Infinity, from, until, probability } = when
  return (
    (nth === undefined || number === nth) &&
    (first === undefined || number <= first) &&
    (every === undefined || number % every === 0) &&
    (after === undefined || (number > after && number <= after + times)) &&
    (from === undefined || now >= timeOf(from, startedAt)) &&
    (until === undefined || now < timeOf(until, startedAt)) &&
    (probability === undefined || chance() < probability)
  )
}

function timeOf(time: ScenarioTime, startedAt: number): number {
  return 'at' in time ? milliseconds(time.at) : startedAt + time.after
}
