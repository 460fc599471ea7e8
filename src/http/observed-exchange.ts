import type { ObservedExchange } from '../contract/observed-exchange.ts'
import type { OperationContext } from './request-context.ts'

export function observedExchange(context: OperationContext): ObservedExchange {
  const { request, route, body, documentQuery, reply, requestId, checked, responseViolations, fault } = context
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) sent[name] = String(value)
  const answered = Object.entries(reply?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const json = reply?.body === undefined ? [] : [['content-type', 'application/json'] as const]
  const isTranslated = documentQuery !== undefined && body !== undefined
  return {
    operation: route.operation,
    request: {
      method: request.method,
      path: request.url.split('?', 1).join(),
      query: documentQuery ?? request.query,
      headers: sent,
      body: isTranslated ? JSON.stringify(body) : context.rawBody.toString(),
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
