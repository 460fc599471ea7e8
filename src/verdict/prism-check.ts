import { setImmediate as turn } from 'node:timers/promises'
import type { ObservedExchange } from '../contract/observed-exchange.ts'
import { type Disagreement, disagreementsOf, readJson } from '../contract/prism-check.ts'
import type { PrismValidator } from '../contract/prism-validator.ts'
import { isOperation, routeOf } from '../contract/route.ts'
import type { Operation } from '../contract/shapes.ts'
import { answerInDocumentWords, bodyInDocumentWords, queryInDocumentWords } from '../contract/vocabulary.ts'
import type { PrismCheck } from './report-types.ts'
import { errorTraits, type FieldViolation } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import {
  pathOf,
  queryOf,
  requestHeadersOf,
  requestText,
  responseHeadersOf,
  responseText,
} from '../request-journal/view.ts'

export interface JournalOf {
  readonly environment: string
  readonly entries: readonly RecordedEntry[]
}

/** How many exchanges are checked before other requests get a turn. */
const BATCH = 10
const MAX_DISAGREEMENTS = 200

/** Checks every exchange in the journals by Prism, which shares no code with the mock's own check. */
export async function prismCheck(prism: PrismValidator, journals: readonly JournalOf[]): Promise<PrismCheck> {
  const check = {
    judged: { requests: 0, answers: 0 },
    not_judged: { refused: 0, injected: 0, shortened: 0 } satisfies Record<Unchecked, number>,
    disagreements: [] as PrismCheck['disagreements'][number][],
    left_out: 0,
  }
  let seen = 0
  for (const { environment, entry } of journals.flatMap(entriesOf)) {
    const recorded = exchangeOf(entry)
    if (!recorded) continue
    if (++seen % BATCH === 0) await turn()
    const { exchange, unchecked } = recorded
    const { request, answer } = unchecked
    for (const reason of [request, answer]) if (reason) check.not_judged[reason] += 1
    if (!request) check.judged.requests += 1
    if (!answer) check.judged.answers += 1
    for (const disagreement of disagreementsOf(prism, exchange)) {
      if (check.disagreements.length === MAX_DISAGREEMENTS) check.left_out += 1
      else check.disagreements.push(described(environment, entry, disagreement))
    }
  }
  return { judge: 'prism', ...check }
}

function entriesOf({ environment, entries }: JournalOf) {
  return entries.map((entry) => ({ environment, entry }))
}

function described(environment: string, { id, operation }: RecordedEntry, { part, ours, theirs }: Disagreement) {
  return {
    environment,
    request: id,
    operation: operation ?? '',
    part,
    contract: ours.map(({ field, description }) => `${field}: ${description}`),
    prism: theirs.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)),
  }
}

export type Unchecked = 'refused' | 'injected' | 'shortened'

interface RecordedExchange {
  readonly exchange: ObservedExchange
  readonly unchecked: { readonly request?: Unchecked; readonly answer?: Unchecked }
}

/** An error of the mock's disk, which no operation declares. */
const STORAGE_ERROR = 'STORAGE_UNAVAILABLE'

/** The exchange of an entry, in the document's words. Undefined for entries without a contract. */
export function exchangeOf(entry: RecordedEntry): RecordedExchange | undefined {
  const { operation, kind, protocol, vocabulary } = entry
  if (kind !== 'request' || operation === null || !isOperation(operation)) return undefined
  const request = uncheckedRequest(entry)
  const answer = uncheckedAnswer(entry)
  const query = protocol === 'mcp' ? '' : queryOf(entry)
  return {
    unchecked: { ...(request && { request }), ...(answer && { answer }) },
    exchange: {
      operation,
      request: {
        method: routeOf(operation).method,
        // The path of an MCP server stands for the one operation that it serves.
        path: protocol === 'mcp' ? routeOf(operation).path : pathOf(entry),
        query: vocabulary ? queryInDocumentWords(operation, query, vocabulary) : query,
        // A call's own content type is that of its protocol; what was transcoded is JSON.
        headers: { ...requestHeadersOf(entry), ...(protocol === 'http' ? {} : { 'content-type': 'application/json' }) },
        body: request ? '' : sentBody(entry, operation),
      },
      requestViolations: request ? undefined : inDocumentWords(entry),
      response: {
        status: entry.status,
        headers: Object.fromEntries(responseHeadersOf(entry)),
        body: answer ? undefined : answeredBody(entry, operation),
      },
      responseViolations: answer ? undefined : entry.responseViolations,
      ...(answer === 'injected' && { injected: true }),
    },
  }
}

function uncheckedRequest({ errorCode, violations, isRequestShortened }: RecordedEntry): Unchecked | undefined {
  const isEarly = errorTraits(errorCode).early === true || errorCode === 'INTERNAL'
  if (isEarly && violations.length === 0) return 'refused'
  return isRequestShortened ? 'shortened' : undefined
}

function uncheckedAnswer({ status, errorCode, trace, isResponseShortened }: RecordedEntry): Unchecked | undefined {
  if (status === 0 || trace.injected) return 'injected'
  if (errorCode === STORAGE_ERROR) return 'refused'
  return isResponseShortened ? 'shortened' : undefined
}

function sentBody(entry: RecordedEntry, operation: Operation): string {
  const text = requestText(entry)
  const { vocabulary } = entry
  if (text === '' || !vocabulary) return text
  return JSON.stringify(bodyInDocumentWords(operation, readJson(text), vocabulary))
}

function answeredBody(entry: RecordedEntry, operation: Operation): unknown {
  const { status, vocabulary } = entry
  const text = responseText(entry)
  if (text === '') return undefined
  const body = JSON.parse(text) as JsonValue
  return vocabulary ? answerInDocumentWords(operation, { status, body }, vocabulary) : body
}

/** The journal has them in the words of the wire. */
function inDocumentWords({ violations, vocabulary }: RecordedEntry): readonly FieldViolation[] {
  if (!vocabulary) return violations
  return violations.map((violation) => {
    return { ...violation, field: violation.field.replaceAll(/\w+/g, (word) => vocabulary.document(word)) }
  })
}
