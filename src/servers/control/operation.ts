import type { Operation, RequestBody } from '../../model/contract/shapes.ts'
import { baseUrlOf } from '../../model/domain/request-headers.ts'
import type { Call, Handler, Reply } from '../../service/operations/operation.ts'
import type { EnvironmentCall } from './call.ts'

type Caller = Pick<EnvironmentCall<'get_clock'>, 'services' | 'environment' | 'request' | 'trace'>

/** Runs an operation of the service in place of a client; what it causes is noted in the trace of the control call. */
export async function runOperation<Id extends Operation>(
  operation: Id,
  { services, environment, request, trace }: Caller,
  body: RequestBody<Id>,
): Promise<Reply> {
  const handler = services.operations[operation] as Handler<Id>
  const call: Call<Operation> = {
    environment,
    thirdParty: services.thirdParties.client(environment, trace),
    clientId: '',
    baseUrl: () => baseUrlOf(request, services.baseUrl),
    documentedOnly: false,
    mcp: services.mcp,
    query: {},
    path: {},
    body,
    toolSchemas: services.toolSchemas,
    trace,
  }
  return handler(call)
}
