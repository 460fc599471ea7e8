import { z } from 'zod'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import type { ScenarioTime } from '../domain/scenario.ts'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** A time in `when`; undefined for anything else. */
export function timeOf(value: unknown): ScenarioTime | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  if (typeof value === 'string' && RFC_3339.test(value) && !Number.isNaN(Date.parse(value))) {
    return { at: new Date(value).toISOString() }
  }
  const after = parseDuration(value)
  return after === undefined ? undefined : { after }
}

export const scenarioTime = z
  .custom<string | number>((value) => timeOf(value) !== undefined, {
    error: `a date and time such as 2026-01-31T12:00:00Z, or a duration since the scenario started (${DURATION_FORMS})`,
  })
  .transform((value): ScenarioTime => timeOf(value) ?? { after: 0 })
  .meta({ type: ['string', 'number'] })
