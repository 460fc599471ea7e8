import type { Exchange } from './request-context.ts'
import { errorCodeOf } from './record.ts'
import type { Corridor } from '../app-services.ts'

/** The request and its answer in the contract record of its environment, in the document's words (G48). */
export function takeStock(exchange: Exchange, corridor: Corridor): void {
  const { route, request, requestId, checked, body, error, fault, reply, responseViolations, trail } = exchange
  const { name = '' } = exchange.environment ?? corridor.defaultEnvironment() ?? {}
  corridor.records.of(name).walked({
    operation: route.operation,
    request: requestId,
    authorization: request.headers.authorization,
    checked,
    body,
    error,
    status: fault?.cut ? 0 : (reply?.status ?? 500),
    errorCode: errorCodeOf(exchange),
    answer: reply?.body,
    answerViolations: responseViolations,
    injected: fault !== undefined,
    trail,
  })
}
