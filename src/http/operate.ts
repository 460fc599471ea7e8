import type { Operation } from '../contract/shapes.ts'
import type { Call, Handler } from '../operations/operation.ts'
import type { Corridor } from '../app-services.ts'
import { environmentOf, type Exchange } from './request-context.ts'
import { baseUrlOf } from './request-identity.ts'

/** Hands the request to its operation, unless a scenario has answered it. */
export function operate(exchange: Exchange, corridor: Corridor): Promise<void> | undefined {
  if (exchange.fault && (exchange.fault.injected || exchange.fault.cut)) return undefined
  // A fault may have waited since the request was looked at.
  exchange.footing?.hold()
  // The table pairs each operation with its own handler; the compiler cannot see that a route's name picks both.
  const handler = corridor.operations[exchange.route.operation] as Handler<Operation>
  const reply = handler(callOf(exchange, corridor))
  if (reply instanceof Promise) return reply.then((given) => void (exchange.reply = given))
  exchange.reply = reply
  return undefined
}

function callOf(exchange: Exchange, corridor: Corridor): Call<Operation> {
  const environment = environmentOf(exchange)
  const { checked, trail, client, request } = exchange
  if (!checked) throw new Error('the operation comes after the contract check')
  return {
    environment,
    thirdParty: corridor.thirdParty(environment, trail),
    clientId: client?.id ?? '',
    baseUrl: baseUrlOf(request, corridor.baseUrl),
    strict: corridor.strict,
    query: checked.query,
    path: checked.path,
    body: checked.body,
    checkToolInput: (tool, input) => corridor.toolSchemas.check(tool, input),
    trail,
  }
}
