import { checkAnswer } from './check-answer.ts'
import { checkBearer } from './bearer.ts'
import { commit, errorAfterCommit } from './commit.ts'
import { errorReply } from './error-body.ts'
import type { Exchange } from './exchange.ts'
import { operate } from './operate.ts'
import { readBody } from './read-body.ts'
import { record } from './record.ts'
import { checkRequestContract } from './request-contract.ts'
import { actOutScenarios } from './scenario.ts'
import { send } from './send.ts'
import { serialize } from './serialize.ts'
import { settle } from './settle.ts'
import { takeStock } from './take-stock.ts'
import type { Corridor, Step } from './step.ts'
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

/** Every request of the API walks this once. */
export async function walk(exchange: Exchange, corridor: Corridor): Promise<void> {
  try {
    for (const step of INWARD) {
      const pending = step(exchange, corridor)
      if (pending) await pending
    }
  } catch (thrown) {
    const error = await errorAfterCommit(thrown, exchange, corridor)
    exchange.error = exchange.route.bearer ? error : inTokenWords(error)
    exchange.reply = errorReply(exchange.error, exchange.requestId)
  }
  for (const step of OUTWARD) {
    const pending = step(exchange, corridor)
    if (pending) await pending
  }
}
