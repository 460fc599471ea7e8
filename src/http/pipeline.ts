import { checkAnswer } from './check-answer.ts'
import { checkBearer } from './bearer.ts'
import { commit, errorAfterCommit } from './commit.ts'
import { errorReply } from './error-body.ts'
import type { Exchange } from './request-context.ts'
import { operate } from './operate.ts'
import { readBody } from './read-body.ts'
import { record } from './record.ts'
import { checkRequestContract } from './request-contract.ts'
import { actOutScenarios } from './scenario.ts'
import { send } from './send.ts'
import { serialize } from './serialize.ts'
import { settle } from './due-events.ts'
import { takeStock } from './contract-use.ts'
import type { Corridor, Step } from '../app-services.ts'
import { checkClient, inTokenWords } from './token-request.ts'
import { speak, understand } from './vocabulary.ts'

/** From the request to the reply; whatever is thrown here becomes the reply. The order is that of G17. */
const INWARD: readonly Step[] = [
  checkBearer,
  readBody,
  understand,
  checkClient,
  settle,
  checkRequestContract,
  actOutScenarios,
  operate,
  commit,
]

/** From the reply to the wire. */
const OUTWARD: readonly Step[] = [checkAnswer, takeStock, speak, serialize, record, send]

/**
 * Every request of the API walks this once. A promise only where a step has to wait: what need not, such as most reads, is
 * answered within one turn, which saves them 5 of 75 µs.
 */
export function walk(exchange: Exchange, corridor: Corridor): Promise<void> | undefined {
  const outward = (): Promise<void> | undefined => take(OUTWARD, exchange, corridor)
  try {
    const pending = take(INWARD, exchange, corridor)
    if (pending) return pending.catch((error: unknown) => turnBack(error, exchange, corridor)).then(outward)
  } catch (error) {
    return turnBack(error, exchange, corridor).then(outward)
  }
  return outward()
}

/** Takes the steps in turn. */
function take(steps: readonly Step[], exchange: Exchange, corridor: Corridor, from = 0): Promise<void> | undefined {
  for (let at = from; at < steps.length; at++) {
    const pending = steps[at]?.(exchange, corridor)
    if (pending) return pending.then(() => take(steps, exchange, corridor, at + 1))
  }
  return undefined
}

/** What was thrown becomes the reply. */
async function turnBack(thrown: unknown, exchange: Exchange, corridor: Corridor): Promise<void> {
  const error = await errorAfterCommit(thrown, exchange, corridor)
  exchange.error = exchange.route.bearer ? error : inTokenWords(error)
  exchange.reply = errorReply(exchange.error, exchange.requestId)
}
