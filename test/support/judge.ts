import type { FieldViolation } from '../../src/domain/errors.ts'
import { routeOf } from '../../src/contract/contract.ts'
import type { ObservedExchange } from '../../src/contract/observed-exchange.ts'
import { createPrismJudge, type JudgedRequest, type JudgeViolation } from '../../src/contract/prism-judge.ts'
import type { Operation } from '../../src/contract/shapes.ts'

const prism = await createPrismJudge()

/**
 * Where Prism reads a request otherwise than this contract does. Each turns the request into one on which both can agree, or
 * takes away from our violations what Prism does not look for; anything beyond this list is a disagreement, and fails.
 *
 * | the contract | Prism | what is done |
 * |---|---|---|
 * | strict mode refuses unknown names (G6) | has no strict mode | those violations do not count |
 * | `page_size=1.0`, `0x1`, ` 1` are no integers (G5) | coerces them | those violations do not count |
 * | an empty `page_size=` is no integer | takes an empty parameter as absent | the same |
 * | parameter names have a case, unknown ones are ignored | ignores case | Prism does not see unknown names |
 * | a repeated form field is a violation | takes the last one | the same as for strict mode |
 * | a body where none belongs is a warning | 415 | Prism does not see that body |
 * | a body where none belongs in an answer is a violation | does not look | that violation does not count |
 */
function countable(exchange: ObservedExchange, operation: Operation): FieldViolation[] {
  const query = new URLSearchParams(exchange.request.query)
  const form = new URLSearchParams(isForm(operation) ? exchange.request.body : '')
  return (exchange.requestViolations ?? []).filter(({ field, constraint }) => {
    if (constraint === 'unknown') return false
    if (constraint === 'type' && form.getAll(field).length > 1) return false
    return !(constraint === 'type' && isLoose(operation, field, query.get(field)))
  })
}

function isLoose(operation: Operation, name: string, text: string | null): boolean {
  const parameter = routeOf(operation).query.find((known) => known.name === name)
  if (!parameter || text === null) return false
  return text === '' || (parameter.type === 'integer' && Number.isSafeInteger(Number(text)))
}

/** Throws when our verdict on an exchange is not Prism's: one found something and the other nothing. */
export function judgeExchange(exchange: ObservedExchange): void {
  const { operation, response } = exchange
  if (operation === null) return
  if (exchange.requestViolations) {
    compare('request', exchange, countable(exchange, operation), prism.request(operation, judged(exchange, operation)))
  }
  if (exchange.responseViolations) {
    const ours = exchange.responseViolations.filter(({ constraint }) => constraint !== 'content')
    compare('answer', exchange, ours, prism.response(operation, response.status, response.headers, response.body))
  }
}

function judged(exchange: ObservedExchange, operation: Operation): JudgedRequest {
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
    body: route.bodyMediaType === null || body === '' ? undefined : isForm(operation) ? body : JSON.parse(body),
  }
}

function isForm(operation: Operation): boolean {
  return routeOf(operation).bodyMediaType === 'application/x-www-form-urlencoded'
}

function compare(
  part: 'request' | 'answer',
  exchange: ObservedExchange,
  ours: readonly FieldViolation[],
  theirs: readonly JudgeViolation[],
): void {
  if (ours.length > 0 === theirs.length > 0) return
  const { operation, request, response } = exchange
  throw new Error(
    [
      `The contract and Prism disagree on the ${part} of ${operation}: ${request.method} ${request.path}?${request.query}`,
      `  body: ${part === 'request' ? request.body : `${response.status} ${JSON.stringify(response.body)}`}`,
      `  the contract: ${ours.map(({ field, description }) => `${field}: ${description}`).join('; ') || 'nothing wrong'}`,
      `  Prism: ${theirs.map(({ message }) => message).join('; ') || 'nothing wrong'}`,
    ].join('\n'),
  )
}
