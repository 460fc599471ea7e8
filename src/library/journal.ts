import type { components, paths } from '../contract/generated/control-types.ts'
import { matchedText, nearMissText } from '../domain/value-match.ts'
import { ANYTHING, checkOptions, type Rule } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { EntryKind, Explanation, JournalEntry, JournalVerdict, NearMiss, OperationName } from './types.ts'

/** A value, a text with `*` for any characters, or a list of which one has to match. */
export type Wanted<T extends string | number | boolean> = T | Glob | readonly (T | Glob)[]
type Glob = `${string}*${string}`

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

/** How long to wait, and for how many entries. */
export interface WaitOptions {
  /** 1 when absent. */
  readonly times?: number
  /** Real milliseconds; 5,000 when absent, 600,000 at most. */
  readonly timeoutMs?: number
}

/**
 * The request journal: the requests to an environment and what they caused. A query or match that is not valid: ToolmockError
 * INVALID_QUERY.
 */
export interface MockJournal {
  /** Oldest first; at most 1,000 unless `limit` says otherwise. */
  requests(query?: JournalQuery): Promise<readonly JournalEntry[]>
  /** The entry with this `X-Request-Id`. @throws ToolmockError REQUEST_NOT_FOUND */
  get(id: string): Promise<JournalEntry>
  count(match?: JournalMatch): Promise<number>
  /**
   * Checks that exactly `times` entries match; at least one when it is absent.
   * @throws ToolmockError NOT_VERIFIED otherwise, with the entries that come closest in the message and in `details`
   */
  verify(match: JournalMatch, times?: number): Promise<JournalVerdict>
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
      const verdict = await control.call('POST /requests/verify', { body: { match, times } })
      if (verdict.ok) return verdict
      const { matched, near_misses } = verdict
      const wanted = times === undefined ? 'at least 1' : `exactly ${times}`
      const lines = [matchedText(verdict, match, wanted), ...near_misses.map(nearMissLine)]
      throw new ToolmockError('NOT_VERIFIED', lines.join('\n'), { details: [{ matched, near_misses }] })
    },
    wait: async (match, options = {}) => {
      checkOptions('journal.wait', options, WAIT_RULES)
      const { times, timeoutMs } = options
      try {
        return await control.call('POST /requests/wait', { body: { match, times, timeout_ms: timeoutMs } })
      } catch (error) {
        throw timedOut(error, match, times)
      }
    },
    explain: (id) => control.call('GET /requests/{id}/explain', { path: { id } }),
    clear: () => control.send('DELETE /requests'),
  }
}

/** Adds the match and the nearest entries to the message of a time-out. */
function timedOut(error: unknown, match: JournalMatch, times = 1): unknown {
  if (!(error instanceof ToolmockError) || error.code !== 'TIMED_OUT') return error
  const { details, status } = error
  const { matched = 0, near_misses = [] } = (details as readonly Partial<JournalVerdict>[])[0] ?? {}
  const [over = ''] = error.message.split(':')
  const head = `${matchedText({ matched }, match, `at least ${times}`)}, and ${over}`
  return new ToolmockError('TIMED_OUT', [head, ...near_misses.map(nearMissLine)].join('\n'), { details, status })
}

function nearMissLine(near: NearMiss): string {
  return `- ${nearMissText(near)}`
}
