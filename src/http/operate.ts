import type { Operation } from '../contract/shapes.ts'
import type { Call, Handler } from '../operations/operation.ts'
import type { AppServices } from '../app-services.ts'
import { environmentOf, type RequestContext } from './request-context.ts'
import { baseUrlOf } from './request-identity.ts'

/** Hands the request to its operation, unless a scenario has answered it. */
export function operate(context: RequestContext, services: AppServices): Promise<void> | undefined {
  if (context.fault && (context.fault.injected || context.fault.cut)) return undefined
  // A fault may have waited since the request was looked at.
  context.readGuard?.hold()
  // The table pairs each operation with its own handler; the compiler cannot see that a route's name picks both.
  const handler = services.operations[context.route.operation] as Handler<Operation>
  const reply = handler(callOf(context, services))
  if (reply instanceof Promise) return reply.then((given) => void (context.reply = given))
  context.reply = reply
  return undefined
}

function callOf(context: RequestContext, services: AppServices): Call<Operation> {
  const environment = environmentOf(context)
  const { checked, trace, client, request } = context
  if (!checked) throw new Error('the operation comes after the contract check')
  return {
    environment,
    thirdParty: services.thirdParties.client(environment, trace),
    clientId: client?.id ?? '',
    baseUrl: baseUrlOf(request, services.baseUrl),
    strict: services.strict,
    query: checked.query,
    path: checked.path,
    body: checked.body,
    checkToolInput: (tool, input) => services.toolSchemas.check(tool, input),
    trace,
  }
}
