import type { FieldViolation } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import { meaningfulBody } from './contract.ts'
import type { ObservedExchange } from './observed-exchange.ts'
import type { PrismInput, PrismViolation, PrismValidator } from './prism-validator.ts'
import { routeOf } from './route.ts'
import type { Operation } from './shapes.ts'

/** A request or answer in which either the contract check or Prism found violations, and the other found none. */
export interface Disagreement {
  readonly part: 'request' | 'answer'
  readonly ours: readonly FieldViolation[]
  readonly theirs: readonly PrismViolation[]
}

/** The disagreements on an exchange. Parts that the contract check did not check are not compared. */
export function disagreementsOf(prism: PrismValidator, exchange: ObservedExchange): Disagreement[] {
  const { operation, response, requestViolations, responseViolations } = exchange
  if (operation === null) return []
  const results: Disagreement[] = []
  if (requestViolations) {
    const theirs = prism.request(operation, prismInput(exchange, operation))
    results.push({ part: 'request', ours: comparable(exchange, operation), theirs })
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
function comparable(exchange: ObservedExchange, operation: Operation): FieldViolation[] {
  const query = new URLSearchParams(exchange.request.query)
  const form = new URLSearchParams(isForm(operation) ? exchange.request.body : '')
  return (exchange.requestViolations ?? []).filter(({ field, constraint }) => {
    if (constraint === 'unknown' || constraint === 'encoding') return false
    if (constraint === 'type' && form.getAll(field).length > 1) return false
    return !(constraint === 'type' && isLoose(operation, field, query.get(field)))
  })
}

function isLoose(operation: Operation, name: string, text: string | null): boolean {
  const parameter = routeOf(operation).query.find((known) => known.name === name)
  if (!parameter || text === null) return false
  return text === '' || (parameter.type === 'integer' && Number.isSafeInteger(Number(text)))
}

function prismInput(exchange: ObservedExchange, operation: Operation): PrismInput {
  const { method, path, query, headers, body } = exchange.request
  const route = routeOf(operation)
  const known = [...new URLSearchParams(query)].filter(([name]) =>
    route.query.some((parameter) => parameter.name === name),
  )
  return {
    method,
    path,
    query: new URLSearchParams(known),
    headers: route.bodyMediaType === null ? {} : headers,
    body: route.bodyMediaType === null || body === '' ? undefined : prismBody(operation, body),
  }
}

function prismBody(operation: Operation, text: string): unknown {
  return isForm(operation) ? text : meaningfulBody(operation, readJson(text))
}

/** Parses JSON as the operations do: after a byte order mark too. */
export function readJson(text: string): JsonValue {
  return JSON.parse(text.replace(/^\ufeff/, '')) as JsonValue
}

function isForm(operation: Operation): boolean {
  return routeOf(operation).bodyMediaType === 'application/x-www-form-urlencoded'
}
