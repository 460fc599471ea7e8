import { applyDueEvents } from '../operations/account-events.ts'
import { ReadGuard } from '../state/read-guard.ts'
import type { RequestContext } from './request-context.ts'
import { environmentOf } from './request-context.ts'

/** Before anything is looked up: what has fallen due by the environment's clock happens, in its order. */
export function applyDue(context: RequestContext): void {
  const environment = environmentOf(context)
  context.readGuard = new ReadGuard(environment)
  applyDueEvents(environment, context.trace)
}
