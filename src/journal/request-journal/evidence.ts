import { quote } from '../../model/domain/text.ts'
import { responseInDocumentWords } from '../../model/contract/vocabulary.ts'
import type { Account } from '../../model/domain/account.ts'
import { type Instant, instant } from '../../model/domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/domain/json.ts'
import { LIFECYCLE_EVENTS } from '../../model/domain/lifecycle.ts'
import type { Environment } from '../../state/environment.ts'
import type { StoredEntry } from './entry.ts'
import { recordedBody, entryPath, responseText } from './view.ts'

export interface Evidence {
  readonly entry: StoredEntry
  /** What came before it in the same journal, oldest first. */
  readonly earlier: readonly StoredEntry[]
  /** As it is now; undefined when it was removed. */
  readonly environment: Environment | undefined
  /** The message of an error answer; empty when it has none. */
  readonly message: string
}

/** The body of an entry's answer, by the document's names. */
export function responseOf(entry: StoredEntry): JsonObject {
  const { status, operation, vocabulary } = entry
  const body: JsonValue = recordedBody(responseText(entry)) ?? null
  const response = vocabulary && operation ? responseInDocumentWords(operation, { status, body }, vocabulary) : body
  return isJsonObject(response) ? response : {}
}

/** `POST /path (req_…) at …` */
export function entryName(entry: StoredEntry): string {
  const { method, url, id, at } = entry
  // A change by the control API has no method; its `url` is a sentence.
  const what = method === '' ? JSON.stringify(url || 'an unreadable request') : `${method} ${entryPath(entry)}`
  return `${what} (${id}) at ${instant(at)}`
}

/** The account as the request found it: its status, the event that led to it, and when its token expires. */
export function accountFacts({ entry, earlier }: Evidence): string[] {
  const { account } = entry.trace
  if (!account) return []
  const { id, connector, identifier, status, token_expires_at } = account
  return [
    `Account ${id} (${quote(identifier)} at ${connector}) was ${status} when the request arrived.`,
    ...statusFacts(account, [...earlier, entry]),
    ...(token_expires_at === undefined ? [] : [tokenFact(token_expires_at, instant(entry.at))]),
  ]
}

function tokenFact(end: Instant, at: Instant): string {
  return `Its token ${end <= at ? 'had expired at' : 'was valid until'} ${end}; the clock said ${at}.`
}

function statusFacts(account: Account, entries: readonly StoredEntry[]): string[] {
  for (const entry of entries.toReversed()) {
    const { due, transitions } = entry.trace
    const transition = [...due, ...transitions].findLast(
      ({ account_id, from, to }) => account_id === account.id && from !== to && to === account.status,
    )
    if (!transition) continue
    const { event, from, to, at } = transition
    const why = `${event} (${LIFECYCLE_EVENTS[event]})`
    return [`It went from ${from} to ${to} at ${at} by ${why}, recorded in ${entryName(entry)}.`]
  }
  return []
}

/** The calls to the third party with their answers, and the refreshes of the token. */
export function upstreamFacts({ entry: { trace } }: Evidence): string[] {
  const calls = trace.upstream.map(({ kind, grant, method, url, status, ms }) => {
    const target = kind === 'token' ? `the token endpoint (${grant ?? 'unknown grant'})` : 'the API'
    const answered = status === null ? 'got no answer' : `was answered with ${status}`
    return `The call to ${target} of the third party, ${method} ${url}, ${answered} after ${Math.round(ms)} ms.`
  })
  const refreshes = trace.refreshes.map(({ outcome, reason, shared }) => {
    const by = shared ? ' in another request at the same time' : ''
    if (outcome === 'renewed') return `The token was refreshed${by}.`
    return `The refresh of the token ${outcome === 'refused' ? 'was refused' : 'got no usable answer'}${by}: ${reason}.`
  })
  return [...calls, ...refreshes]
}
