import { checkResponse } from '../contract/contract.ts'
import { ServiceError } from '../domain/errors.ts'
import type { AppServices } from '../app-services.ts'
import type { RequestContext } from './request-context.ts'

/** Our own answer against the spec: what it breaks is a defect of the mock, logged and kept in the journal. */
export function checkAnswer(context: RequestContext, { log, responseCache }: AppServices): void {
  const { route, reply, error, fault } = context
  // What a scenario answers is its author's, who may want what the spec does not have.
  if (fault && (fault.injected || fault.cut)) return
  if (!reply) throw new Error(`${route.operation} left no reply`)
  // What a third party answered is the seed author's doing, and told to the caller.
  const isOurs = !(error instanceof ServiceError && error.errorCode === 'TOOL_EXECUTION_FAILED')
  if (reply.status === 500 && error !== undefined && isOurs)
    log.error('an operation failed', { operation: route.operation, error: describe(error) })
  if (OUTSIDE_OPERATIONS.has(reply.status)) return
  const known = responseCache.of(reply)
  if (known?.sound?.operation === route.operation && known.sound.status === reply.status) return
  context.responseViolations = checkResponse(route.operation, reply.status, reply.body)
  if (context.responseViolations.length === 0) {
    if (known) known.sound = { operation: route.operation, status: reply.status }
    return
  }
  log.error('an answer of the mock breaks its contract; please report this', {
    operation: route.operation,
    status: reply.status,
    violations: context.responseViolations,
  })
}

/** A disk that refuses is no answer of the service, so its spec does not declare it. */
const OUTSIDE_OPERATIONS: ReadonlySet<number> = new Set([503])

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
