import type { Request } from 'express'
import type { ObservedExchange } from '../contract/observed-exchange.ts'
import { ServiceError, TokenError } from '../domain/errors.ts'
import { isJsonObject } from '../domain/json.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'
import { queryOf } from './request-contract.ts'
import type { WireAnswer } from './wire-answer.ts'

/** The journal's entry of this request, and whoever observes the request pipeline. */
export function record(context: RequestContext, services: AppServices): void {
  const { request, route, error, answer } = context
  const told = context.wire ?? context.checked
  services.journals.record({
    kind: 'request',
    id: context.requestId,
    environment: context.environment,
    startedAt: context.startedAt,
    operation: route.operation,
    method: request.method,
    url: request.originalUrl,
    requestHeaders: request.rawHeaders,
    requestBody: context.rawBody,
    status: context.fault?.cut ? 0 : (answer?.status ?? 500),
    errorCode: errorCodeOf(context),
    responseHeaders: answer?.headers,
    responseBody: answer?.text,
    client: context.client?.id,
    trace: context.trace,
    vocabulary: context.wire?.vocabulary,
    violations: told?.violations,
    warnings: told?.warnings,
    responseViolations: context.responseViolations,
    failure: error === undefined ? null : failureOf(error),
  })
  services.observe?.(observed(context))
}

/** A request that never came into the request pipeline: a path or method that is not served. */
export function recordRefusal(
  { request, requestId, answer, error }: { request: Request; requestId: string; answer: WireAnswer; error: unknown },
  services: AppServices,
): void {
  // A client with a valid token finds its mistyped path in the journal of its own environment.
  const [, token = ''] = (request.headers.authorization ?? '').split(' ')
  const known = services.registry.byBearer(token)
  services.journals.record({
    kind: 'request',
    id: requestId,
    environment: known?.environment,
    method: request.method,
    url: request.originalUrl,
    requestHeaders: request.rawHeaders,
    status: answer.status,
    errorCode: codeOf(error),
    responseHeaders: answer.headers,
    responseBody: answer.text,
    client: known?.token.client_id,
    failure: failureOf(error),
  })
}

function codeOf(error: unknown): string {
  if (error instanceof ServiceError) return error.errorCode
  return error instanceof TokenError ? error.error : 'INTERNAL'
}

/** The `error_code` of the answer, whoever gave it; null for a success. */
export function errorCodeOf(context: RequestContext): string | null {
  return context.error === undefined ? injectedCode(context) : codeOf(context.error)
}

/** The `error_code` of an answer that a scenario gave. */
function injectedCode({ fault, reply }: RequestContext): string | null {
  if (!fault?.injected || !isJsonObject(reply?.body)) return null
  const { details, error } = reply.body
  const [info] = Array.isArray(details) ? details : []
  const code = isJsonObject(info) ? info['error_code'] : error
  return typeof code === 'string' ? code : null
}

/** A defect of the mock: the caller is told to look here. */
function failureOf(error: unknown): string | null {
  if (error instanceof ServiceError || error instanceof TokenError) return null
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** For the judges of the contract, who know the document's words. */
function observed({
  request,
  route,
  rawBody,
  body,
  query,
  reply,
  requestId,
  checked,
  responseViolations,
  fault,
}: RequestContext): ObservedExchange {
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) sent[name] = String(value)
  const answered = Object.entries(reply?.headers ?? {}).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    value,
  ])
  const json: [string, string][] = reply?.body === undefined ? [] : [['content-type', 'application/json']]
  return {
    operation: route.operation,
    request: {
      method: request.method,
      path: request.originalUrl.split('?', 1).join(),
      query: query ?? queryOf(request.originalUrl),
      headers: sent,
      body: query === undefined || body === undefined ? rawBody.toString() : JSON.stringify(body),
    },
    requestViolations: checked?.violations,
    response: {
      status: reply?.status ?? 500,
      headers: Object.fromEntries([['x-request-id', requestId], ...json, ...answered]),
      body: reply?.body === undefined ? undefined : JSON.parse(JSON.stringify(reply.body)),
    },
    responseViolations: fault ? undefined : responseViolations,
    ...(fault ? { injected: true } : {}),
  }
}
