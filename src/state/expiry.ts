import type { Instant } from '../model/domain/instant.ts'
import { type Environment, now } from './environment.ts'
import type { Rows } from './model/model.ts'

/** What ends at a time. */
interface Expiring {
  readonly expires_at?: Instant | undefined
  /** Somebody has met it expired, so that it is at any time of the clock (G74). */
  readonly expired?: true | undefined
}

/** Whether a row has expired, for who only looks at it. */
export function hasExpired(environment: Environment, { expires_at, expired }: Expiring): boolean {
  return expired === true || (expires_at !== undefined && expires_at <= now(environment))
}

/** Whether a row has expired, for who uses it: one that has stays expired, also when the clock is set back (G74). */
export function meetsExpiry<Name extends 'bearer_tokens' | 'magic_links' | 'grants'>(
  environment: Environment,
  table: Name,
  row: Rows[Name] & Expiring,
): boolean {
  if (!hasExpired(environment, row)) return false
  if (row.expired) return true
  const { model } = environment
  const stored = model.tables[table].get(row.id)
  model.keep(() => {
    // An open transaction may have changed or removed it meanwhile.
    if (model.tables[table].get(row.id) === stored) model.tables[table].put({ ...row, expired: true } as never)
  })
  return true
}
