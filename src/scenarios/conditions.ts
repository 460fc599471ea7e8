import { milliseconds } from '../domain/instant.ts'
import type { RuleConditions, ScenarioTime } from '../domain/scenario.ts'

/** What conditions are held against. */
export interface Circumstances {
  /** Which request this is, of all that fit the rule's place and match since the scenario started; the first is 1. */
  readonly number: number
  readonly state: string
  /** Milliseconds of the environment's clock. */
  readonly now: number
  readonly startedAt: number
  /** From 0 to below 1; asked for only when all else holds. */
  readonly chance: () => number
}

/** Whether all the conditions of a rule hold. */
export function hold(when: RuleConditions, { number, state, now, startedAt, chance }: Circumstances): boolean {
  const { nth, first, every, after, times = Infinity, from, until, probability } = when
  return (
    (when.state === undefined || when.state === state) &&
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
