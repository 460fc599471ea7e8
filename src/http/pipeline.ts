import { checkAnswer } from './check-answer.ts'
import { checkBearer } from './bearer.ts'
import { commit, errorAfterCommit } from './commit.ts'
import { errorReply } from './error-body.ts'
import type { RequestContext } from './request-context.ts'
import { operate } from './operate.ts'
import { readSentBody } from './read-body.ts'
import { record } from './record.ts'
import { checkRequestContract } from './request-contract.ts'
import { actOutScenarios } from './scenario.ts'
import { send } from './send.ts'
import { serialize } from './serialize.ts'
import { applyDue } from './due-events.ts'
import { recordContractUse } from './contract-use.ts'
import type { AppServices } from '../app-services.ts'
import { checkClient, inTokenWords } from './token-request.ts'
import { toWire, fromWire } from './vocabulary.ts'

/** One step: it notes what it finds out in the context, or throws what the caller is told. */
type Step = (context: RequestContext, services: AppServices) => Promise<void> | void

/** From the request to the reply; whatever is thrown here becomes the reply. The order is that of G17. */
const INWARD: readonly Step[] = [
  checkBearer,
  readSentBody,
  fromWire,
  checkClient,
  applyDue,
  checkRequestContract,
  actOutScenarios,
  operate,
  commit,
]

/** From the reply to the wire. */
const OUTWARD: readonly Step[] = [checkAnswer, recordContractUse, toWire, serialize, record, send]

/**
 * Every request of the API walks this once. A promise only where a step has to wait: what need not, such as most reads, is
 * answered within one turn, which saves them 5 of 75 µs.
 */
export function walk(context: RequestContext, services: AppServices): Promise<void> | undefined {
  const outward = (): Promise<void> | undefined => take(OUTWARD, context, services)
  try {
    const pending = take(INWARD, context, services)
    if (pending) return pending.catch((error: unknown) => turnBack(error, context, services)).then(outward)
  } catch (error) {
    return turnBack(error, context, services).then(outward)
  }
  return outward()
}

/** Takes the steps in turn. */
function take(
  steps: readonly Step[],
  context: RequestContext,
  services: AppServices,
  from = 0,
): Promise<void> | undefined {
  for (let at = from; at < steps.length; at++) {
    const pending = steps[at]?.(context, services)
    if (pending) return pending.then(() => take(steps, context, services, at + 1))
  }
  return undefined
}

/** What was thrown becomes the reply. */
async function turnBack(thrown: unknown, context: RequestContext, services: AppServices): Promise<void> {
  const error = await errorAfterCommit(thrown, context, services)
  context.error = context.route.bearer ? error : inTokenWords(error)
  context.reply = errorReply(context.error, context.requestId)
}
