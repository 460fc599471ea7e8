import { settleDue } from '../operations/due.ts'
import { Footing } from '../state/read-guard.ts'
import type { Exchange } from './request-context.ts'
import { environmentOf } from './request-context.ts'

/** Before anything is looked up: what has fallen due by the environment's clock happens, in its order. */
export function settle(exchange: Exchange): void {
  const environment = environmentOf(exchange)
  exchange.footing = new Footing(environment)
  settleDue(environment, exchange.trail)
}
