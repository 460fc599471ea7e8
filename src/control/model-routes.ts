import { ACCOUNT_EVENTS, isAccountEvent } from '../operations/account-events.ts'
import { withoutCredentials } from '../operations/account-view.ts'
import { CONNECTION_EVENTS } from '../operations/connection-events.ts'
import { accountEvent, connectionEvent } from './actions.ts'
import { valueOf } from './body.ts'
import { changeClock, readClockChange, viewClock } from './clock.ts'
import type { ControlCall, ControlReply, ControlRoute } from './context.ts'
import { ControlError } from './control-error.ts'
import { scenarioIn } from './documents.ts'

/** What happens to the model: time, accounts, connections, scenarios. */
export const MODEL_ROUTES: readonly ControlRoute[] = [
  { about: 'environment', operation: 'get_clock', method: 'GET', path: '/clock', handle: getClock },
  { about: 'environment', operation: 'put_clock', method: 'PUT', path: '/clock', body: 'required', handle: putClock },
  {
    about: 'environment',
    operation: 'account_event',
    method: 'POST',
    path: '/accounts/{id}/{event}',
    handle: onAccount,
  },
  {
    about: 'environment',
    operation: 'connection_event',
    method: 'POST',
    path: '/connections/{id}/{event}',
    handle: onConnection,
  },
  { about: 'environment', operation: 'list_scenarios', method: 'GET', path: '/scenarios', handle: listScenarios },
  {
    about: 'environment',
    operation: 'put_scenario',
    method: 'PUT',
    path: '/scenarios/{name}',
    body: 'required',
    handle: putScenario,
  },
  {
    about: 'environment',
    operation: 'start_scenario',
    method: 'POST',
    path: '/scenarios/{name}/start',
    handle: startScenario,
  },
  {
    about: 'environment',
    operation: 'stop_scenario',
    method: 'POST',
    path: '/scenarios/{name}/stop',
    handle: stopScenario,
  },
  { about: 'environment', operation: 'clear_scenarios', method: 'DELETE', path: '/scenarios', handle: clearScenarios },
]

function getClock({ environment }: ControlCall): ControlReply {
  return { status: 200, body: viewClock(environment) }
}

async function putClock({ context, environment, body, trace }: ControlCall): Promise<ControlReply> {
  const change = readClockChange(body && (await valueOf(body)))
  return { status: 200, body: changeClock(context, environment, change, trace) }
}

function onAccount({ context, environment, path: { id = '', event = '' }, trace }: ControlCall): ControlReply {
  if (!isAccountEvent(event)) throw unknownEvent(event, ACCOUNT_EVENTS)
  return {
    status: 200,
    body: { account: withoutCredentials(accountEvent(context, environment, { id, event, trace })) },
  }
}

function onConnection({ context, environment, path: { id = '', event: name = '' }, trace }: ControlCall): ControlReply {
  const event = CONNECTION_EVENTS.find((known) => known === name)
  if (!event) throw unknownEvent(name, CONNECTION_EVENTS)
  return { status: 200, body: { connection: connectionEvent(context, environment, { id, event, trace }) } }
}

async function listScenarios({ context, environment }: ControlCall): Promise<ControlReply> {
  return { status: 200, body: { scenarios: await context.scenarios(environment).known() } }
}

async function putScenario(call: ControlCall): Promise<ControlReply> {
  const { context, environment, body, path } = call
  if (!body) throw new Error('a route that needs a body was called without one')
  const scenario = await scenarioIn(body, context, { environment, name: path['name'] ?? '' })
  context.scenarios(environment).define(scenario)
  return viewed(call)
}

async function startScenario(call: ControlCall): Promise<ControlReply> {
  await call.context.scenarios(call.environment).start(call.path['name'] ?? '')
  return viewed(call)
}

function stopScenario(call: ControlCall): ControlReply {
  call.context.scenarios(call.environment).stop(call.path['name'] ?? '')
  return viewed(call)
}

function clearScenarios({ context, environment }: ControlCall): ControlReply {
  context.scenarios(environment).clear()
  return { status: 200, body: {} }
}

/** The scenario that the path names, as the list shows it. */
function viewed({ context, environment, path }: ControlCall): ControlReply {
  const scenario = context
    .scenarios(environment)
    .list()
    .find(({ name }) => name === path['name'])
  return { status: 200, body: { scenario } }
}

function unknownEvent(name: string, allowed: readonly string[]): ControlError {
  const message = `there is no event ${JSON.stringify(name.slice(0, 60))}; there are ${allowed.join(', ')}`
  return new ControlError('EVENT_NOT_FOUND', message, [{ event: name.slice(0, 60), allowed: [...allowed] }])
}
