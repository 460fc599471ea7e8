import type { components, paths } from '../../model/contract/generated/control-types.ts'
import { matchedText, nearMissText } from '../../model/domain/value-match.ts'
import { timesText } from '../../model/domain/times.ts'
import { ANYTHING, checkOptions, type Rule } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { EntryKind, Explanation, JournalEntry, JournalVerdict, NearMiss, OperationName } from './types.ts'

/** A value, a text with `*` for any characters, or a list of which one has to match. */
export type Wanted<T extends string | number | boolean> = T | Glob | readonly (T | Glob)[]
type Glob = `${string}*${string}`

/** How many requests are wanted: exactly so many, or a range of which one end may be absent. */
export type Times = components['schemas']['Times']

type MatchOfSpec = components['schemas']['Match']
type QueryOfSpec = NonNullable<paths['/requests']['get']['parameters']['query']>

/** What an entry has to be to match; a field that is absent matches everything. */
export interface JournalMatch extends Omit<MatchOfSpec, 'operation' | 'kind' | 'status'> {
  readonly operation?: Wanted<OperationName>
  readonly kind?: Wanted<EntryKind>
  readonly status?: Wanted<number>
}

/** Which entries are asked for. */
export interface JournalQuery extends Omit<QueryOfSpec, 'environment' | 'operation' | 'kind' | 'status' | 'short'> {
  readonly operation?: OperationName
  readonly kind?: EntryKind
  readonly status?: number
}

/** Matches of entries that have to be there one after the other; other entries may be between them. */
export interface MatchesInOrder {
  readonly in_order: readonly JournalMatch[]
}

/** How long to wait, and for how many entries. */
export interface WaitOptions {
  /** A number is that many or more; 1 when absent. More than `at_most` is a failure once there are enough. */
  readonly times?: Times
  /** Real milliseconds; 3,000 when absent, 600,000 at most. */
  readonly timeoutMs?: number
}

/**
 * The request journal: the requests to an environment and what they caused. A query or match that is not valid: ToolmockError
 * INVALID_QUERY.
 */
export interface MockJournal {
  /**
   * Oldest first; at most 1,000 unless `limit` says otherwise. Without a query, what a test itself did by the control API is left
   * out: `{ kind: '*' }` has it too. `count` does the same.
   */
  requests(query?: JournalQuery): Promise<readonly JournalEntry[]>
  /** The entry with this `X-Request-Id`. @throws ToolmockError REQUEST_NOT_FOUND */
  get(id: string): Promise<JournalEntry>
  count(match?: JournalMatch): Promise<number>
  /**
   * Checks that exactly `times` entries match, or as many as a range says; at least one when it is absent. With `in_order`, that
   * there is an entry for each match, one after the other.
   * @throws ToolmockError NOT_VERIFIED otherwise, with the entries that come closest in the message and in `details`
   */
  verify(match: JournalMatch | MatchesInOrder, times?: Times): Promise<JournalVerdict>
  /**
   * Answers as soon as enough entries match, those that exist already included.
   * @throws ToolmockError TIMED_OUT, with the entries that come closest in the message and in `details`
   */
  wait(match: JournalMatch, options?: WaitOptions): Promise<JournalVerdict>
  /** Why the request with this `X-Request-Id` was answered as it was. @throws ToolmockError REQUEST_NOT_FOUND */
  explain(id: string): Promise<Explanation>
  /** Removes every entry. */
  clear(): Promise<void>
}

const WAIT_RULES = { times: ANYTHING, timeoutMs: ANYTHING } satisfies Record<keyof WaitOptions, Rule>

/** @internal */
export function journalOf(control: ControlClient): MockJournal {
  return {
    requests: async (query = {}) => (await control.call('GET /requests', { query })).requests,
    get: async (id) => (await control.call('GET /requests/{id}', { path: { id } })).request,
    count: async (match = {}) => (await control.call('POST /requests/count', { body: { match } })).count,
    verify: async (match, times) => {
      const isOrder = 'in_order' in match
      const verdict = await control.call('POST /requests/verify', { body: isOrder ? match : { match, times } })
      if (verdict.ok) return verdict
      const { matched, near_misses } = verdict
      const first = isOrder
        ? `no request matches ${JSON.stringify(match.in_order[matched])}, number ${matched + 1} of ${match.in_order.length} in order`
        : matchedText(verdict, match, timesText(times ?? { at_least: 1 }))
      const lines = [first, ...near_misses.map(nearMissLine)]
      throw new ToolmockError('NOT_VERIFIED', lines.join('\n'), { details: [{ matched, near_misses }] })
    },
    wait: async (match, options = {}) => {
      checkOptions('journal.wait', options, WAIT_RULES)
      const { times, timeoutMs } = options
      try {
        return await control.call('POST /requests/wait', { body: { match, times, timeout_ms: timeoutMs } })
      } catch (error) {
        throw timedOut(error)
      }
    },
    explain: (id) => control.call('GET /requests/{id}/explain', { path: { id } }),
    clear: () => control.send('DELETE /requests'),
  }
}

/** Adds the nearest entries to the message of a time-out. */
function timedOut(error: unknown): unknown {
  if (!(error instanceof ToolmockError) || error.code !== 'TIMED_OUT') return error
  const { message, details, status } = error
  const { near_misses = [] } = (details as readonly Partial<JournalVerdict>[])[0] ?? {}
  return new ToolmockError('TIMED_OUT', [message, ...near_misses.map(nearMissLine)].join('\n'), { details, status })
}

function nearMissLine(near: NearMiss): string {
  return `- ${nearMissText(near)}`
}
