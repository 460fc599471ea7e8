import { settleDue } from '../operations/due.ts'
import { Footing } from '../store/footing.ts'
import type { Exchange } from './exchange.ts'
import { environmentOf } from './exchange.ts'

/** Before anything is looked up: what has fallen due by the environment's clock happens, in its order. */
export function settle(exchange: Exchange): void {
  const environment = environmentOf(exchange)
  exchange.footing = new Footing(environment)
  settleDue(environment, exchange.trail)
}
