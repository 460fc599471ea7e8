import type { RequestContext } from './request-context.ts'
import { errorCodeOf } from './record.ts'
import type { AppServices } from '../app-services.ts'

/** The request and its answer in the contract record of its environment, in the document's words (G48). */
export function recordContractUse(context: RequestContext, services: AppServices): void {
  const { route, request, requestId, checked, body, error, fault, reply, responseViolations, trace } = context
  const { name = '' } = context.environment ?? services.defaultEnvironment() ?? {}
  services.records.of(name).walked({
    operation: route.operation,
    request: requestId,
    authorization: request.headers.authorization,
    checked,
    body,
    error,
    status: fault?.cut ? 0 : (reply?.status ?? 500),
    errorCode: errorCodeOf(context),
    answer: reply?.body,
    answerViolations: responseViolations,
    injected: fault !== undefined,
    trace,
  })
}
