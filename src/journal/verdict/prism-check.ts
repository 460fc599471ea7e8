import { setImmediate as turn } from 'node:timers/promises'
import { meaningfulBody } from '../../model/contract/contract.ts'
import type { PrismInput, PrismValidator, PrismViolation } from '../../model/contract/prism-validator.ts'
import { isOperation, routeOf } from '../../model/contract/route.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import { responseInDocumentWords, bodyInDocumentWords, queryInDocumentWords } from '../../model/contract/vocabulary.ts'
import type { PrismCheck } from './report-types.ts'
import { errorTraits, type FieldViolation } from '../../model/domain/errors.ts'
import type { JsonValue } from '../../model/domain/json.ts'
import type { StoredEntry } from '../request-journal/entry.ts'
import {
  entryPath,
  entryQuery,
  requestHeadersOf,
  requestText,
  responseHeadersOf,
  responseText,
} from '../request-journal/view.ts'

/** How many exchanges are checked before other requests get a turn. */
const BATCH = 10
const MAX_DISAGREEMENTS = 200

/** Checks every exchange in the entries of journals by Prism, which shares no code with the mock's own check. */
export async function prismCheck(prism: PrismValidator, entries: readonly StoredEntry[]): Promise<PrismCheck> {
  const check = {
    judged: { requests: 0, answers: 0 },
    not_judged: { refused: 0, injected: 0, shortened: 0 } satisfies Record<Unchecked, number>,
    disagreements: [] as PrismCheck['disagreements'][number][],
    left_out: 0,
  }
  let count = 0
  for (const entry of entries) {
    const entryExchange = exchangeOf(entry)
    if (!entryExchange) continue
    if (++count % BATCH === 0) await turn()
    const { exchange, unchecked } = entryExchange
    const { request, response } = unchecked
    for (const reason of [request, response]) if (reason) check.not_judged[reason] += 1
    if (!request) check.judged.requests += 1
    if (!response) check.judged.answers += 1
    for (const disagreement of disagreementsOf(prism, exchange)) {
      if (check.disagreements.length === MAX_DISAGREEMENTS) check.left_out += 1
      else check.disagreements.push(disagreementView(entry, disagreement))
    }
  }
  return { judge: 'prism', ...check }
}

function disagreementView({ environment, id, operation }: StoredEntry, { part, ours, theirs }: Disagreement) {
  return {
    environment,
    request: id,
    operation: operation ?? '',
    part,
    contract: ours.map(({ field, description }) => `${field}: ${description}`),
    prism: theirs.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)),
  }
}

/** As they were on the wire; query and bodies in the document's words where the environment has a vocabulary (G48). */
export interface ObservedExchange {
  readonly operation: Operation
  readonly request: {
    readonly method: string
    /** Without the query, percent-encoded as it was sent. */
    readonly path: string
    /** Without the question mark; empty when there is none. */
    readonly query: string
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** As it was sent; empty when there is none. */
    readonly body: string
  }
  /** Undefined when the request was refused before the contract check: no bearer token, a body that is not JSON. */
  readonly requestViolations: readonly FieldViolation[] | undefined
  readonly response: {
    readonly status: number
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>
    /** Parsed JSON; undefined when there is no body content. */
    readonly body: unknown
  }
  /** Undefined when the answer was not checked. */
  readonly responseViolations: readonly FieldViolation[] | undefined
  /** Whether a scenario answered or changed the answer, which then proves nothing about the service. */
  readonly injected?: boolean
}

type Unchecked = 'refused' | 'injected' | 'shortened'

interface EntryExchange {
  readonly exchange: ObservedExchange
  readonly unchecked: { readonly request?: Unchecked; readonly response?: Unchecked }
}

/** An error of the mock's disk, which no operation declares. */
const STORAGE_ERROR = 'STORAGE_UNAVAILABLE'

/** The exchange of an entry, in the document's words. Undefined for entries without a contract. */
export function exchangeOf(entry: StoredEntry): EntryExchange | undefined {
  const { operation, kind, protocol, vocabulary } = entry
  if (kind !== 'request' || operation === null || !isOperation(operation)) return undefined
  const request = uncheckedRequest(entry)
  const response = uncheckedResponse(entry)
  const query = protocol === 'mcp' ? '' : entryQuery(entry)
  return {
    unchecked: { ...(request && { request }), ...(response && { response }) },
    exchange: {
      operation,
      request: {
        method: routeOf(operation).method,
        // The path of an MCP server stands for the one operation that it serves.
        path: protocol === 'mcp' ? routeOf(operation).path : entryPath(entry),
        query: vocabulary ? queryInDocumentWords(operation, query, vocabulary) : query,
        // A call's own content type is that of its protocol; what was transcoded is JSON.
        headers: { ...requestHeadersOf(entry), ...(protocol === 'http' ? {} : { 'content-type': 'application/json' }) },
        body: request ? '' : sentBody(entry, operation),
      },
      requestViolations: request ? undefined : entry.checkViolations,
      response: {
        status: entry.status,
        headers: Object.fromEntries(responseHeadersOf(entry)),
        body: response ? undefined : answeredBody(entry, operation),
      },
      responseViolations: response ? undefined : responseViolations(entry),
      ...(response === 'injected' && { injected: true }),
    },
  }
}

function uncheckedRequest({ errorCode, checkViolations, isRequestShortened }: StoredEntry): Unchecked | undefined {
  const isEarly = errorTraits(errorCode).early === true || errorCode === 'INTERNAL'
  if (isEarly && checkViolations.length === 0) return 'refused'
  return isRequestShortened ? 'shortened' : undefined
}

function uncheckedResponse({ status, errorCode, trace, isResponseShortened }: StoredEntry): Unchecked | undefined {
  if (status === 0 || trace.injected) return 'injected'
  if (errorCode === STORAGE_ERROR) return 'refused'
  return isResponseShortened ? 'shortened' : undefined
}

function sentBody(entry: StoredEntry, operation: Operation): string {
  const text = requestText(entry)
  const { vocabulary } = entry
  if (text === '' || !vocabulary) return text
  return JSON.stringify(bodyInDocumentWords(operation, parseWithoutMark(text), vocabulary))
}

function answeredBody(entry: StoredEntry, operation: Operation): unknown {
  const { status, vocabulary } = entry
  const text = responseText(entry)
  if (text === '') return undefined
  const body = JSON.parse(text) as JsonValue
  return vocabulary ? responseInDocumentWords(operation, { status, body }, vocabulary) : body
}

function responseViolations({ findings }: StoredEntry): FieldViolation[] {
  const ofMock = findings.filter(({ code }) => code === 'mock_answer')
  return ofMock.map(({ field, allowed, code }) => ({ field, description: allowed, constraint: code }))
}

/** A request or answer in which either the contract check or Prism found violations, and the other found none. */
interface Disagreement {
  readonly part: 'request' | 'answer'
  readonly ours: readonly FieldViolation[]
  readonly theirs: readonly PrismViolation[]
}

/** The disagreements on an exchange. Parts that the contract check did not check are not compared. */
export function disagreementsOf(prism: PrismValidator, exchange: ObservedExchange): Disagreement[] {
  const { operation, response, requestViolations, responseViolations } = exchange
  const results: Disagreement[] = []
  if (requestViolations) {
    const theirs = prism.request(operation, prismInput(exchange))
    results.push({ part: 'request', ours: comparableViolations(exchange, requestViolations), theirs })
  }
  if (responseViolations) {
    const ours = responseViolations.filter(({ constraint }) => constraint !== 'content')
    const theirs = prism.response(operation, response.status, response.headers, response.body)
    results.push({ part: 'answer', ours, theirs })
  }
  return results.filter(({ ours, theirs }) => ours.length > 0 !== theirs.length > 0)
}

/**
 * The known differences between Prism and the contract check. Each either changes the request into one that both read alike,
 * or removes the violations that Prism does not look for. Everything else is a disagreement.
 *
 * | the contract | Prism | what is done |
 * |---|---|---|
 * | strict mode refuses unknown names (G6) | has no strict mode | those violations do not count |
 * | `page_size=1.0`, `0x1`, ` 1` are no integers (G5) | coerces them | those violations do not count |
 * | an empty `page_size=` is no integer | takes an empty parameter as absent | the same |
 * | parameter names have a case, unknown ones are ignored | ignores case | Prism does not see unknown names |
 * | a repeated form field is a violation | takes the last one | the same as for strict mode |
 * | a query that is not well percent-encoded is a violation (G59) | sees it decoded | those violations do not count |
 * | `null` for a known field, or an empty URL, counts as absent (G58) | is of another type or form | Prism does not see that field |
 * | a body where none belongs is a warning | 415 | Prism does not see that body |
 * | a body where none belongs in an answer is a violation | does not look | that violation does not count |
 */
function comparableViolations(
  { operation, request }: ObservedExchange,
  violations: readonly FieldViolation[],
): readonly FieldViolation[] {
  const query = new URLSearchParams(request.query)
  const form = new URLSearchParams(isForm(operation) ? request.body : '')
  return violations.filter(({ field, constraint }) => {
    if (constraint === 'unknown' || constraint === 'encoding') return false
    if (constraint !== 'type') return true
    return form.getAll(field).length <= 1 && !isLoose(operation, field, query.get(field))
  })
}

function isLoose(operation: Operation, name: string, text: string | null): boolean {
  const parameter = routeOf(operation).query.find((declared) => declared.name === name)
  if (!parameter || text === null) return false
  return text === '' || (parameter.type === 'integer' && Number.isSafeInteger(Number(text)))
}

function prismInput({ operation, request: { method, path, query, headers, body } }: ObservedExchange): PrismInput {
  const route = routeOf(operation)
  const pairs = [...new URLSearchParams(query)].filter(([name]) =>
    route.query.some((parameter) => parameter.name === name),
  )
  const input = { method, path, query: new URLSearchParams(pairs) }
  if (route.bodyMediaType === null) return { ...input, headers: {}, body: undefined }
  if (body === '') return { ...input, headers, body: undefined }
  return { ...input, headers, body: isForm(operation) ? body : meaningfulBody(operation, parseWithoutMark(body)) }
}

/** Parses JSON as the operations do: after a byte order mark too. */
function parseWithoutMark(text: string): JsonValue {
  return JSON.parse(text.replace(/^\ufeff/, '')) as JsonValue
}

function isForm(operation: Operation): boolean {
  return routeOf(operation).bodyMediaType === 'application/x-www-form-urlencoded'
}
