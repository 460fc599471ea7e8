import type { ToolSchemas } from '../contract/tool-schemas.ts'
import type { ObservedExchange } from '../contract/observed-exchange.ts'
import type { ThirdParty } from '../domain/ports.ts'
import type { Environment } from '../store/environment.ts'
import type { World } from '../store/world.ts'
import type { BodyReader } from './body.ts'
import { checkAnswer } from './check-answer.ts'
import { checkBearer } from './bearer.ts'
import { commit } from './commit.ts'
import { errorReply } from './error-body.ts'
import type { Exchange } from './exchange.ts'
import type { Journal } from './journal.ts'
import type { Log } from './log.ts'
import { operate } from './operate.ts'
import { readBody } from './read-body.ts'
import { record } from './record.ts'
import { checkRequestContract } from './request-contract.ts'
import { send } from './send.ts'
import { settle } from './settle.ts'
import { checkClient } from './token-request.ts'

/** What the steps of the corridor share: the world and the settings of one simulator. */
export interface Corridor {
  readonly world: World
  readonly thirdParty: (environment: Environment) => ThirdParty
  readonly toolSchemas: ToolSchemas
  readonly journal: (environment: Environment | undefined) => Journal
  readonly readBody: BodyReader
  readonly log: Log
  /** Real time in milliseconds. */
  readonly realTime: () => number
  readonly baseUrl: string | undefined
  readonly strict: boolean
  /** Sees every exchange once it is over. */
  readonly observe: ((exchange: ObservedExchange) => void) | undefined
}

/** One step: it finds something out and notes it in the exchange, or throws what the caller is to be told. */
export type Step = (exchange: Exchange, corridor: Corridor) => Promise<void> | void

/** From the request to the reply; whatever is thrown here becomes the reply. The order is that of G17. */
const INWARD: readonly Step[] = [checkBearer, readBody, checkClient, settle, checkRequestContract, operate, commit]

/** From the reply to the wire. */
const OUTWARD: readonly Step[] = [checkAnswer, record, send]

/** Every request of the API walks this once. */
export async function walk(exchange: Exchange, corridor: Corridor): Promise<void> {
  try {
    for (const step of INWARD) {
      const pending = step(exchange, corridor)
      if (pending) await pending
    }
  } catch (error) {
    exchange.error = error
    exchange.reply = errorReply(error, exchange.requestId)
  }
  for (const step of OUTWARD) {
    const pending = step(exchange, corridor)
    if (pending) await pending
  }
}
