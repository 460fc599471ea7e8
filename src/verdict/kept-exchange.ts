import type { ObservedExchange } from '../contract/observed-exchange.ts'
import { readJson } from '../contract/prism-check.ts'
import type { Operation } from '../contract/shapes.ts'
import { answerInDocumentWords, bodyInDocumentWords, queryInDocumentWords } from '../contract/vocabulary.ts'
import type { FieldViolation } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import { KEPT, type RecordedEntry } from '../request-journal/entry.ts'
import { requestText } from '../request-journal/view.ts'

/** Why a side of a kept exchange cannot be judged. */
export type Unjudged = 'refused' | 'injected' | 'shortened'

/** An exchange as the journal keeps it, in the document's words, with why a side of it cannot be judged. */
export interface KeptExchange {
  readonly exchange: ObservedExchange
  readonly unjudged: { readonly request?: Unjudged; readonly answer?: Unjudged }
}

/** Errors that come before the contract check of the request, or from beside the operations. */
const BEFORE_THE_CHECK: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'MALFORMED_BODY',
  'UNSUPPORTED_CONTENT_TYPE',
  'BODY_TOO_LARGE',
  'INTERNAL',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_client',
])

/** The disk that refuses belongs to no operation, so that none declares its answer. */
const BESIDE_THE_OPERATIONS = 'STORAGE_UNAVAILABLE'

/** Undefined for what was no request to an operation. */
export function keptExchange(entry: RecordedEntry): KeptExchange | undefined {
  const { operation, kind, vocabulary } = entry
  if (kind !== 'request' || operation === null) return undefined
  const request = unjudgedRequest(entry)
  const answer = unjudgedAnswer(entry)
  const [path = '', ...search] = entry.url.split('?')
  const query = search.join('?')
  return {
    unjudged: { ...(request && { request }), ...(answer && { answer }) },
    exchange: {
      operation,
      request: {
        method: entry.method,
        path,
        query: vocabulary ? queryInDocumentWords(operation, query, vocabulary) : query,
        headers: headersOf(entry),
        body: request ? '' : sentBody(entry, operation),
      },
      requestViolations: request ? undefined : inDocumentWords(entry),
      response: {
        status: entry.status,
        headers: lowerCase(Object.entries(entry.responseHeaders)),
        body: answer ? undefined : answeredBody(entry, operation),
      },
      responseViolations: answer ? undefined : entry.responseViolations,
    },
  }
}

function unjudgedRequest({ errorCode, violations, requestBody }: RecordedEntry): Unjudged | undefined {
  if (errorCode !== null && BEFORE_THE_CHECK.has(errorCode) && violations.length === 0) return 'refused'
  // Whole bodies are kept as the octets that they were.
  return typeof requestBody === 'string' && requestBody !== '' ? 'shortened' : undefined
}

function unjudgedAnswer({ status, errorCode, trace, responseBody }: RecordedEntry): Unjudged | undefined {
  if (status === 0 || trace.injected) return 'injected'
  if (errorCode === BESIDE_THE_OPERATIONS) return 'refused'
  return responseBody.length >= KEPT ? 'shortened' : undefined
}

function sentBody(entry: RecordedEntry, operation: Operation): string {
  const text = requestText(entry)
  const { vocabulary } = entry
  if (text === '' || !vocabulary) return text
  return JSON.stringify(bodyInDocumentWords(operation, readJson(text), vocabulary))
}

function answeredBody({ responseBody, status, vocabulary }: RecordedEntry, operation: Operation): unknown {
  if (responseBody === '') return undefined
  const body = JSON.parse(responseBody) as JsonValue
  return vocabulary ? answerInDocumentWords(operation, { status, body }, vocabulary) : body
}

/** The journal tells them in the words of the wire. */
function inDocumentWords({ violations, vocabulary }: RecordedEntry): readonly FieldViolation[] {
  if (!vocabulary) return violations
  return violations.map((violation) => {
    return { ...violation, field: violation.field.replaceAll(/\w+/g, (word) => vocabulary.document(word)) }
  })
}

/** Of a header that is sent twice, the first counts. */
function headersOf({ requestHeaders }: RecordedEntry): Record<string, string> {
  const pairs = requestHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, requestHeaders[at + 1] ?? '']] : [],
  )
  return lowerCase(pairs.reverse())
}

function lowerCase(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
}
