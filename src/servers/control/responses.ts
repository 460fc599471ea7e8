import type { ControlCall } from '../../model/contract/control-call.ts'
import { CONTROL_ROUTES } from '../../model/contract/generated/control-routes.ts'
import { type JsonObject, jsonText } from '../../model/domain/json.ts'
import { applyDueEvents } from '../../state/account-events.ts'
import { accountHandlers } from './accounts.ts'
import type { AppServices } from './app-services.ts'
import {
  type ControlHandler,
  type ControlHandlers,
  type ControlReply,
  environmentNamed,
  endCall,
  type ServerCall,
} from './call.ts'
import { clockHandlers } from './clock.ts'
import { collectionHandlers } from './collections.ts'
import { environmentHandlers } from './environments.ts'
import { ControlError, failedCall, pathNotFound } from './errors.ts'
import { type ControlOperation, type ControlRoute, readCallDocument, readDocumentBody, readQuery } from './input.ts'
import { linkHandlers } from './links.ts'
import { callMcp } from './mcp.ts'
import { PROBES } from './probes.ts'
import { reportHandlers } from './reports.ts'
import { requestHandlers } from './requests.ts'
import { scenarioHandlers } from './scenarios.ts'
import { serverHandlers } from './server.ts'
import { stateHandlers } from './state.ts'
import { webhookHandlers } from './webhooks.ts'

// `routes.ts` imports this file, and with it all handlers and zod, when the first call needs it: a start is faster without.

const HANDLERS: ControlHandlers = {
  ...PROBES,
  ...accountHandlers,
  ...clockHandlers,
  ...collectionHandlers,
  ...environmentHandlers,
  ...linkHandlers,
  ...reportHandlers,
  ...requestHandlers,
  ...scenarioHandlers,
  ...serverHandlers,
  ...stateHandlers,
  ...webhookHandlers,
  call_mcp: (call) => callMcp(call, callFrom(call)),
}

export async function controlResponse(
  services: AppServices,
  route: ControlRoute,
  path: JsonObject,
  { request, response, entry }: Pick<AnyCall, 'request' | 'response' | 'entry'>,
): Promise<ControlReply> {
  const parameters = new URLSearchParams(request.url.slice(request.path.length + 1))
  const query = readQuery(route, parameters)
  const name = parameters.get('environment') ?? 'default'
  if (route.environment) environmentNamed(services, name)
  const limit = route.operation === 'put_state' ? services.stateLimit : services.controlBodyLimit
  const body = await readCallDocument(route, request, limit)
  return callHandler(route, { services, request, response, entry, path, query, body }, name)
}

type AnyCall = Omit<ServerCall<ControlOperation>, 'path' | 'query' | 'body'> &
  Record<'path' | 'query' | 'body', unknown>

/** Calls of other operations in the course of one, which was admitted, about its environment. Checked as over HTTP. */
function callFrom({ services, request, response, query: { environment } }: ServerCall<'call_mcp'>): ControlCall {
  return async (asked, { path = {}, query = {}, body } = {}) => {
    const route = CONTROL_ROUTES.find((each) => `${each.method} ${each.path}` === asked)
    if (!route) throw pathNotFound(asked)
    const parameters: object = query
    const pairs = Object.entries(parameters).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    )
    const document = body && ({ text: jsonText(body), format: 'json' } as const)
    const entry = services.entries.begin('control', 'control')
    const answering = async (): Promise<ControlReply> => {
      const called = {
        ...{ services, request, response, entry, path },
        query: readQuery(route, new URLSearchParams([...pairs, ['environment', environment]])),
        body: await readDocumentBody(route, document),
      }
      return callHandler(route, called, environment)
    }
    const reply = await endCall(services, entry, answering(), (error) => failedCall(services, asked, error))
    if (reply instanceof ControlError) throw reply
    return ('body' in reply ? reply.body : undefined) as never
  }
}

/** Everything that is due by the environment's clock is applied before a handler looks at it. */
function environmentParts({ services, entry }: AnyCall, name: string) {
  const environment = environmentNamed(services, name)
  const { journals, scenarios } = services
  const { requestId, trace } = entry
  entry.environment = environment
  // The clock causes these: most calls have no entry that could be named as their cause.
  delete trace.request
  applyDueEvents(environment, trace)
  trace.request = requestId
  return { environment, journal: journals.of(environment), scenarios: scenarios.of(environment), trace }
}

/** The route says which type the call has; its query and body were read by the schemas of that type. */
async function callHandler(route: ControlRoute, call: AnyCall, environment: string): Promise<ControlReply> {
  const handler = HANDLERS[route.operation] as (call: object) => ReturnType<ControlHandler<ControlOperation>>
  return handler(route.environment ? { ...call, ...environmentParts(call, environment) } : call)
}
