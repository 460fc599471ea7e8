import { emptyBundle } from '../domain/seed.ts'
import { quote } from '../domain/text.ts'
import { knownConnectors } from '../scenarios/known-connectors.ts'
import { fieldNames } from '../state/state-file/row-shapes.ts'
import { type TableName, TABLE_NAMES } from '../state/model/model.ts'
import { diffStates } from '../state/state-diff.ts'
import { readState, replaceState } from '../state/state-replacement.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import { restoreSnapshot, type Snapshot, Snapshots } from '../state/snapshots.ts'
import { changed, checkDocumentName, checkedName, type EnvironmentCall, type Reply } from './call.ts'
import { ControlError, type InputProblem, invalidInput } from './errors.ts'

/** Keys in the order of the state file. */
export function getState({ environment }: EnvironmentCall<'get_state'>): Reply {
  const { settings, clock, ids, tables } = environment.image()
  const ordered = TABLE_NAMES.map((name) => [name, tables[name].map((row) => inOrder(name, row))] as const)
  return { body: { settings, clock, ids, tables: Object.fromEntries(ordered) } }
}

function inOrder(table: TableName, row: object): object {
  const fields = new Map<string, unknown>(Object.entries(row))
  return Object.fromEntries(fieldNames(table).map((name) => [name, fields.get(name)]))
}

export function putState(call: EnvironmentCall<'put_state'>): Reply {
  const { services, environment, body } = call
  const { registry } = services
  const problems: InputProblem[] = []
  const state = readState(body, { registry, environment }, ({ path, found, allowed }) => {
    const message = `\`${path}\` is ${found}; allowed: ${allowed}`
    problems.push({ path, found, allowed, message })
  })
  if (!state) throw invalidInput('INVALID_STATE', problems)
  replaceState(registry, environment, state)
  return changed(call, 'the state was replaced')
}

export async function reset({ services, environment }: EnvironmentCall<'reset'>): Promise<Reply> {
  const journal = services.journals.of(environment)
  await services.environments.reset(environment)
  services.scenarios.of(environment).reset()
  // Entries that come while the reset is being written belong to the new state.
  const before = journal.appended
  return { body: {}, onceDurable: () => journal.clear(before) }
}

export async function addSeed(call: EnvironmentCall<'add_seed'>): Promise<Reply> {
  const { services, environment, body } = call
  const { parseSeed } = await import('../documents/seed-files.ts')
  const source = { file: 'body', text: body.text }
  const seed = await parseSeed(source, services.documentChecks, knownConnectors(environment))
  await services.environments.add(environment, seed)
  return changed(call, 'a seed was added')
}

export async function putConnector(call: EnvironmentCall<'put_connector'>): Promise<Reply> {
  const { services, environment, body, path } = call
  const { parseConnector } = await import('../documents/read.ts')
  const connector = await parseConnector(body.text, 'body', services.documentChecks)
  checkDocumentName('connector', connector.connector, path.name)
  await services.environments.add(environment, { ...emptyBundle(), connectors: [connector] })
  return changed(call, `the connector ${connector.connector} was put`)
}

export function listSnapshots({ environment }: EnvironmentCall<'list_snapshots'>): Reply {
  return { body: { snapshots: snapshotsOf(environment).list().map(viewOf) } }
}

export function takeSnapshot({ environment, path }: EnvironmentCall<'take_snapshot'>): Reply {
  return { body: viewOf(snapshotsOf(environment).take(checkedName('a snapshot', path.name), environment)) }
}

export function restore(call: EnvironmentCall<'restore_snapshot'>): Reply {
  const { services, environment, path } = call
  const snapshot = snapshotNamed(environment, path.name)
  restoreSnapshot(services.registry, environment, snapshot)
  return changed(call, `the snapshot ${snapshot.name} was restored`)
}

export function deleteSnapshot({ environment, path }: EnvironmentCall<'delete_snapshot'>): Reply {
  snapshotsOf(environment).remove(snapshotNamed(environment, path.name).name)
  return { body: {} }
}

export function getStateDiff({ environment, query }: EnvironmentCall<'get_state_diff'>): Reply {
  const { name, image } = snapshotNamed(environment, query.snapshot)
  return { body: { snapshot: name, ...diffStates(image, environment.image()) } }
}

/** @throws ControlError SNAPSHOT_NOT_FOUND */
function snapshotNamed(environment: StoredEnvironment, name: string): Snapshot {
  const snapshots = snapshotsOf(environment)
  const snapshot = snapshots.get(name)
  if (snapshot) return snapshot
  const names = snapshots.list().map((each) => each.name)
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`
  throw new ControlError('SNAPSHOT_NOT_FOUND', `there is no snapshot ${quote(name)}; ${there}`)
}

function viewOf({ name, taken_at }: Snapshot): object {
  return { name, taken_at }
}

const SNAPSHOTS = new WeakMap<StoredEnvironment, Snapshots>()
function snapshotsOf(environment: StoredEnvironment): Snapshots {
  const known = SNAPSHOTS.get(environment) ?? new Snapshots()
  SNAPSHOTS.set(environment, known)
  return known
}
