import { ANYTHING, checkNamed, type Kind } from './arguments.ts'
import type { Control } from './control.ts'
import type { EntryKind, JournalEntry, OperationName } from './views/journal-entry.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { Explanation, JournalVerdict, NearMiss } from './views/journal.ts'

/** A value, a text with `*` for any run of characters, or a list of which any will do. */
export type Wanted<T extends string | number | boolean> = T | Glob | readonly (T | Glob)[]
type Glob = `${string}*${string}`

/** What a request has to be to count; what is absent does not matter. */
export interface JournalMatch {
  readonly operation?: Wanted<OperationName>
  readonly status?: Wanted<number>
  /** The id of a connected account. */
  readonly account?: Wanted<string>
  readonly connector?: Wanted<string>
  readonly identifier?: Wanted<string>
  readonly client?: Wanted<string>
  readonly tool?: Wanted<string>
  readonly execution?: Wanted<string>
  readonly agent_run_id?: Wanted<string>
  readonly error_code?: Wanted<string>
  readonly kind?: Wanted<EntryKind>
  readonly method?: Wanted<string>
  readonly path?: Wanted<string>
  /** Whether a scenario answered. */
  readonly injected?: boolean
  readonly scenario?: Wanted<string>
  readonly rule?: Wanted<string>
  /** By dotted path into the JSON body: `{ 'tool_input.to': '*@example.com' }`. */
  readonly body?: Readonly<Record<string, unknown>>
}

/** Which entries are asked for. */
export interface JournalQuery {
  readonly operation?: OperationName
  readonly status?: number
  readonly account?: string
  readonly connector?: string
  readonly identifier?: string
  readonly client?: string
  readonly tool?: string
  readonly execution?: string
  readonly agent_run_id?: string
  readonly error_code?: string
  readonly kind?: EntryKind
  readonly method?: string
  readonly path?: string
  readonly injected?: boolean
  readonly scenario?: string
  readonly rule?: string
  /** From this instant of the environment's clock on, or after the entry with this id. */
  readonly since?: string
  /** At most so many; 1,000 when absent. */
  readonly limit?: number
}

/** How long to wait, and for how many. */
export interface WaitOptions {
  /** 1 when absent. */
  readonly times?: number
  /** Real milliseconds; 5,000 when absent, 600,000 at most. */
  readonly timeoutMs?: number
}

/** What was asked of an environment, and what it caused. A question that is put wrongly: ToolmockError INVALID_QUERY. */
export interface MockJournal {
  /** Oldest first. */
  requests(query?: JournalQuery): Promise<readonly JournalEntry[]>
  /** The entry with this `X-Request-Id`. @throws ToolmockError REQUEST_NOT_FOUND */
  get(id: string): Promise<JournalEntry>
  count(match?: JournalMatch): Promise<number>
  /**
   * Holds when exactly `times` entries match; at least one when it is absent.
   * @throws ToolmockError NOT_VERIFIED when it does not hold, with the entries that come closest in the message and in `details`
   */
  verify(match: JournalMatch, times?: number): Promise<JournalVerdict>
  /**
   * Answers as soon as enough entries match, those that are there already included.
   * @throws ToolmockError TIMED_OUT when the time is over, with the entries that come closest in the message and in `details`
   */
  wait(match: JournalMatch, options?: WaitOptions): Promise<JournalVerdict>
  /** Why the request with this `X-Request-Id` was answered as it was. @throws ToolmockError REQUEST_NOT_FOUND */
  explain(id: string): Promise<Explanation>
  /** Forgets every entry. */
  clear(): Promise<void>
}

const WAIT_KINDS = { times: ANYTHING, timeoutMs: ANYTHING } satisfies Record<keyof WaitOptions, Kind>

/** @internal */
export function journalOf(control: Control): MockJournal {
  return {
    requests: async (query = {}) => (await control.call('GET /requests', { query: { ...query } })).requests,
    get: async (id) => (await control.call('GET /requests/{id}', { path: { id } })).request,
    count: async (match = {}) => (await control.call('POST /requests/count', { body: { match } })).count,
    verify: async (match, times) => {
      const verdict = await control.call('POST /requests/verify', { body: { match, times } })
      if (verdict.ok) return verdict
      throw notVerified(verdict, match, times)
    },
    wait: async (match, options = {}) => {
      checkNamed('journal.wait', options, WAIT_KINDS)
      const { times, timeoutMs } = options
      try {
        return await control.call('POST /requests/wait', { body: { match, times, timeout_ms: timeoutMs } })
      } catch (error) {
        throw timedOut(error, match, times)
      }
    },
    explain: (id) => control.call('GET /requests/{id}/explain', { path: { id } }),
    clear: async () => {
      await control.call('DELETE /requests')
    },
  }
}

function notVerified({ matched, near_misses }: JournalVerdict, match: JournalMatch, times?: number): ToolmockError {
  const wanted = times === undefined ? 'at least 1' : `exactly ${times}`
  const lines = [matchedInWords(matched, match, wanted), ...near_misses.map(missInWords)]
  return new ToolmockError('NOT_VERIFIED', lines.join('\n'), { details: [{ matched, near_misses }] })
}

/** What was waited for, and what came in its place; other errors say enough. */
function timedOut(error: unknown, match: JournalMatch, times = 1): unknown {
  if (!(error instanceof ToolmockError) || error.code !== 'TIMED_OUT') return error
  const { details, status } = error
  const [told] = details as readonly Partial<JournalVerdict>[]
  const head = `${matchedInWords(told?.matched ?? 0, match, `at least ${times}`)}, and the time to wait is over`
  return new ToolmockError('TIMED_OUT', [head, ...(told?.near_misses ?? []).map(missInWords)].join('\n'), {
    details,
    status,
  })
}

function matchedInWords(matched: number, match: JournalMatch, wanted: string): string {
  return `${matched} ${matched === 1 ? 'request matches' : 'requests match'} ${JSON.stringify(match)}; wanted: ${wanted}`
}

function missInWords({ id, method, path, status, differences }: NearMiss): string {
  const words = differences.map(
    ({ field, wanted, found }) => `${field} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`,
  )
  return `- close: ${method} ${path} ${status} (${id}): ${words.join('; ')}`
}
