import { checkRequest, checkResponse } from '../../model/contract/contract.ts'
import { operationAt, pathPattern, routeOf } from '../../model/contract/route.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import {
  fieldValues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsedJson,
  textOf,
} from '../../model/domain/json.ts'
import { valueAt } from '../../model/domain/value-match.ts'
import { bodyText, headerIn, type Recorded } from './recorded.ts'

/** A recorded exchange as the contract sees it. */
export interface Observed {
  /** Undefined for what is no operation of the service. */
  readonly operation: Operation | undefined
  readonly query: URLSearchParams
  /** JSON, or the fields of a form; undefined without a body, or for one that cannot be read. */
  readonly sent: JsonValue | undefined
  /** JSON of the answer; undefined where it has none. */
  readonly responseBody: JsonValue | undefined
  /** 0 where no whole answer came. */
  readonly status: number
  /** The `error_code` of a refusal, or the `error` of a token request; empty where there is none. */
  readonly code: string
}

export function parsedExchange({ method, target, request, response }: Recorded): Observed {
  const [path = '', query = ''] = target.split('?')
  const text = bodyText(request)
  const isForm = headerIn(request, 'content-type')?.includes('x-www-form-urlencoded') === true
  const received = bodyText(response)
  const responseBody = received === undefined ? undefined : parsedJson(received)
  return {
    operation: operationAt(method, path),
    query: new URLSearchParams(query),
    sent:
      text === undefined || text === ''
        ? undefined
        : isForm
          ? fieldValues(new URLSearchParams(text))
          : parsedJson(text),
    responseBody,
    status: response && !response.isTorn ? response.status : 0,
    code: observedCode(responseBody),
  }
}

/** What a body of an error says that went wrong. */
export function observedCode(body: JsonValue | undefined): string {
  return textOf(valueAt(body, 'details.0.error_code') ?? valueAt(body, 'error'))
}

/** The `tool_error_info` of an answer. */
export function toolErrorOf(body: JsonValue | undefined): JsonObject | undefined {
  const info = valueAt(body, 'details.0.tool_error_info')
  return isJsonObject(info) ? info : undefined
}

/** What the contract says against an exchange, one sentence each. A request that was refused may be wrong on purpose. */
export function contractBreaches(exchange: Recorded): string[] {
  const { operation, query, sent, responseBody, status } = parsedExchange(exchange)
  if (operation === undefined) return []
  const route = routeOf(operation)
  const path = { ...pathPattern(route.path).exec(exchange.target.split('?', 1).join())?.groups }
  const raw = { query: query.toString(), path, body: sent }
  const violations = status >= 200 && status < 300 ? checkRequest(route, raw).violations : []
  return [
    ...violations.map(({ field, description }) => `the request breaks it: ${field} ${description}`),
    ...(status === 0 ? [] : checkResponse(operation, status, responseBody)).map(
      ({ field, description }) => `the answer breaks it: ${field} ${description}`,
    ),
  ]
}
