import { faulty } from './control-error.ts'

/** Nobody is kept longer: connections break on the way, and whoever wants to wait on asks again. */
export const LONGEST_WAIT = 600_000

/** How long `?wait_ms=` asks to wait, in real milliseconds; 0 when it is absent. @throws ControlError INVALID_QUERY */
export function waitMsOf(query: URLSearchParams): number {
  const text = query.get('wait_ms')
  if (text === null) return 0
  const ms = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (ms <= LONGEST_WAIT) return ms
  const found = JSON.stringify(text.slice(0, 60))
  throw faulty('INVALID_QUERY', [{ path: 'wait_ms', found, allowed: `milliseconds, 0 to ${LONGEST_WAIT}` }])
}
