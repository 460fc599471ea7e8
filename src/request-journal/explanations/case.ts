import { quote } from '../../domain/text.ts'
import { answerInDocumentWords, bodyInDocumentWords, queryInDocumentWords } from '../../contract/vocabulary.ts'
import type { Account } from '../../domain/account.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../domain/json.ts'
import { LIFECYCLE_EVENTS } from '../../domain/lifecycle.ts'
import type { Environment } from '../../state/environment.ts'
import { parsedBody } from '../body-text.ts'
import type { RecordedEntry } from '../entry.ts'
import { requestText } from '../view.ts'

/** Everything that an explanation may look at. */
export interface Case {
  readonly entry: RecordedEntry
  /** What came before it in the same journal, oldest first. */
  readonly earlier: readonly RecordedEntry[]
  /** As it is now; undefined once it has been removed. */
  readonly environment: Environment | undefined
  /** What the answer says is wrong; empty when it says nothing. */
  readonly message: string
}

/** Why an answer is what it is. */
export interface Finding {
  /** Which check or rule decided, in one sentence. */
  readonly because: string
  /** The part of the service document, the id of the choice in `docs/fidelity.md`, or both. */
  readonly basis: string
  /** Clock values and the entities behind the answer. */
  readonly facts?: readonly string[]
  /** What to do about it. */
  readonly advice: readonly string[]
}

export type Explainer = (of: Case) => Finding

/** The fields that the request sent, in its body or its query, by the document's names whatever the wire calls them (G48). */
function sentFields(entry: RecordedEntry): JsonObject {
  const { url, operation, vocabulary } = entry
  const query = url.split('?').slice(1).join('?')
  const body = parsedBody(requestText(entry)) ?? null
  const [known, said] =
    vocabulary && operation
      ? [queryInDocumentWords(operation, query, vocabulary), bodyInDocumentWords(operation, body, vocabulary)]
      : [query, body]
  return { ...Object.fromEntries(new URLSearchParams(known)), ...(isJsonObject(said) ? said : {}) }
}

/** A field that the request sent, by its name in the document, when it is text. */
export function sentText(entry: RecordedEntry, field: string): string | undefined {
  const value = own(sentFields(entry), field)
  return typeof value === 'string' ? value : undefined
}

/** The body of an entry's answer, in the document's words. */
export function answerOf({ responseBody, status, operation, vocabulary }: RecordedEntry): JsonObject {
  const body: JsonValue = parsedBody(responseBody) ?? null
  const said = vocabulary && operation ? answerInDocumentWords(operation, { status, body }, vocabulary) : body
  return isJsonObject(said) ? said : {}
}

/** `POST /path (req_…) at …`, to name an entry by. */
export function named({ method, url, id, at }: RecordedEntry): string {
  // What was changed from outside has no method, and says so in a sentence.
  const what = method === '' ? JSON.stringify(url || 'something unreadable') : `${method} ${url.split('?', 1).join()}`
  return `${what} (${id}) at ${instant(at)}`
}

/** The account as the request found it: its status, how it came to that, and when its token ends. */
export function accountFacts({ entry, earlier }: Case): string[] {
  const { account } = entry.trace
  if (!account) return []
  const { id, connector, identifier, status, token_expires_at } = account
  return [
    `Account ${id} (${quote(identifier)} at ${connector}) was ${status} when the request came.`,
    ...cameBy(account, [...earlier, entry]),
    ...(token_expires_at === undefined ? [] : [tokenFact(token_expires_at, instant(entry.at))]),
  ]
}

function tokenFact(end: Instant, at: Instant): string {
  return `Its token ${end <= at ? 'had ended at' : 'was good until'} ${end}; the clock said ${at}.`
}

/** The latest event that brought an account to its status. */
function cameBy(account: Account, entries: readonly RecordedEntry[]): string[] {
  for (const entry of entries.toReversed()) {
    const { due, transitions } = entry.trace
    const brought = [...due, ...transitions].findLast(
      ({ account_id, from, to }) => account_id === account.id && from !== to && to === account.status,
    )
    if (!brought) continue
    const how = `${brought.event} (${LIFECYCLE_EVENTS[brought.event]})`
    return [`It became ${brought.to} at ${brought.at} by ${how}, from ${brought.from}, noted in ${named(entry)}.`]
  }
  return []
}

/** What the third party was asked and answered, and what scenarios did there. */
export function upstreamFacts({ entry: { trace } }: Case): string[] {
  const calls = trace.upstream.map(({ kind, grant, method, url, status, ms }) => {
    const what = kind === 'token' ? `the token endpoint (${grant ?? 'unknown grant'})` : 'the API'
    const answered = status === null ? 'got no answer' : `was answered with ${status}`
    return `The call of ${what} of the third party, ${method} ${url}, ${answered} after ${Math.round(ms)} ms.`
  })
  const refreshes = trace.refreshes.map(({ outcome, reason, shared }) => {
    const by = shared ? ' by another request at the same time' : ''
    return `The token was ${outcome === 'renewed' ? 'renewed' : `to be renewed, which was ${outcome} (${reason})`}${by}.`
  })
  return [...calls, ...refreshes]
}
