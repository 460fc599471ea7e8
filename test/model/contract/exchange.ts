import { checkRequest, checkResponse } from '../../../src/model/contract/contract.ts'
import { routeOf } from '../../../src/model/contract/route.ts'
import type { ObservedExchange } from '../../../src/journal/verdict/prism-check.ts'
import type { Operation } from '../../../src/model/contract/shapes.ts'

export interface Sent {
  query?: string
  path?: Record<string, string>
  body?: unknown
}

/** A value for each parameter of a path; an operation reads its own. */
const PATH_PARAMETERS: Record<string, string> = {
  identifier: 'some-provider',
  config_id: 'cfg_1',
  mcp_config_id: 'cfg_1',
  key_id: 'mail',
  instance_id: 'inst_1',
}

/** The exchange that the request pipeline observes for a request of this operation, checked by the contract. */
export function exchangeOf(
  operation: Operation,
  sent: Sent,
  answer?: { status: number; body: unknown },
): ObservedExchange {
  const route = routeOf(operation)
  const { method, path, bodyMediaType } = route
  const { query = '', path: parameters = PATH_PARAMETERS, body } = sent
  const form = bodyMediaType === 'application/x-www-form-urlencoded'
  const text = body === undefined ? '' : form ? formOf(body) : JSON.stringify(body)
  const checked = checkRequest(route, { query, path: parameters, body })
  return {
    operation,
    request: {
      method,
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? '')),
      query,
      headers: { 'content-type': bodyMediaType ?? 'application/json', 'content-length': String(text.length) },
      body: text,
    },
    requestViolations: checked.violations,
    response: {
      status: answer?.status ?? 200,
      headers: answer?.body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' },
      body: answer?.body,
    },
    responseViolations: answer && checkResponse(operation, answer.status, answer.body),
  }
}

/** Sends a field once for each item of an array. */
function formOf(body: unknown): string {
  const fields = Object.entries(body as Record<string, string | string[]>)
  return new URLSearchParams(
    fields.flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  ).toString()
}
