import { emptyBundle } from '../domain/seed.ts'
import { fieldNames } from '../state/state-file/row-shapes.ts'
import type { EnvironmentImage } from '../state/model/state-image.ts'
import { readState, replaceState } from '../state/state-replacement.ts'
import { type TableName, TABLE_NAMES } from '../state/model/model.ts'
import { resetEnvironment } from './actions.ts'
import { type SentBody, valueOf } from './body.ts'
import type { ControlCall, ControlReply, ControlRoute } from './context.ts'
import { type Fault, faulty } from './control-error.ts'
import { connectorIn, seedIn } from './documents.ts'
import { journalChange } from './journaled.ts'

/** The model as a whole. Bad documents change nothing. */
export const STATE_ROUTES: readonly ControlRoute[] = [
  { about: 'environment', operation: 'get_state', method: 'GET', path: '/state', handle: getState },
  { about: 'environment', operation: 'put_state', method: 'PUT', path: '/state', body: 'required', handle: putState },
  { about: 'environment', operation: 'reset', method: 'POST', path: '/reset', handle: reset },
  { about: 'environment', operation: 'add_seed', method: 'POST', path: '/seed', body: 'required', handle: addSeed },
  {
    about: 'environment',
    operation: 'put_connector',
    method: 'PUT',
    path: '/connectors/{name}',
    body: 'required',
    handle: putConnector,
  },
]

/** As in the state file: the same keys in the same order. */
function getState({ environment }: ControlCall): ControlReply {
  const { settings, clock, ids, tables }: EnvironmentImage = environment.image()
  const ordered = TABLE_NAMES.map((name) => [name, tables[name].map((row) => inOrder(name, row))] as const)
  return { status: 200, body: { settings, clock, ids, tables: Object.fromEntries(ordered) } }
}

function inOrder(table: TableName, row: object): object {
  const fields = new Map<string, unknown>(Object.entries(row))
  return Object.fromEntries(fieldNames(table).map((name) => [name, fields.get(name)]))
}

async function putState(call: ControlCall): Promise<ControlReply> {
  const { context, environment } = call
  const value = await valueOf(sent(call))
  const faults: Fault[] = []
  const state = readState(value, { registry: context.registry, environment }, (fault) => faults.push(fault))
  if (!state) throw faulty('INVALID_STATE', faults)
  replaceState(context.registry, environment, state)
  return changed(call, 'the state was replaced')
}

async function reset({ context, environment }: ControlCall): Promise<ControlReply> {
  await resetEnvironment(context, environment)
  return { status: 200, body: {} }
}

async function addSeed(call: ControlCall): Promise<ControlReply> {
  const { context, environment } = call
  await context.environments.add(environment, await seedIn(sent(call), context, environment))
  return changed(call, 'a seed was added')
}

async function putConnector(call: ControlCall): Promise<ControlReply> {
  const { context, environment, path } = call
  const connector = await connectorIn(sent(call), context, path['name'] ?? '')
  await context.environments.add(environment, { ...emptyBundle(), connectors: [connector] })
  return changed(call, `the connector ${connector.connector} was put`)
}

/** The model was changed from outside. */
export function changed({ context, environment, trace }: ControlCall, sentence: string): ControlReply {
  journalChange(context, environment, { kind: 'control', sentence, trace })
  return { status: 200, body: {} }
}

/** The table of routes says that there is one. */
function sent({ body }: ControlCall): SentBody {
  if (!body) throw new Error('a route that needs a body was called without one')
  return body
}
