import { diffStates } from '../state/state-diff.ts'
import { restoreSnapshot, type Snapshot, Snapshots } from '../state/snapshots.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { ControlCall, ControlReply, ControlRoute } from './context.ts'
import { ControlError, faulty } from './control-error.ts'
import { checkedName } from './documents.ts'
import { changed } from './state-routes.ts'

type Handle = (call: ControlCall, snapshots: Snapshots) => ControlReply

/** The model as it was. Each server has its own snapshots, and each environment in it. */
export function snapshotRoutes(): readonly ControlRoute[] {
  const byEnvironment = new WeakMap<StoredEnvironment, Snapshots>()
  const of = (handle: Handle) => (call: ControlCall) => {
    const snapshots = byEnvironment.get(call.environment) ?? new Snapshots()
    byEnvironment.set(call.environment, snapshots)
    return handle(call, snapshots)
  }
  const about = 'environment'
  const path = '/snapshots/{name}'
  return [
    { about, operation: 'list_snapshots', method: 'GET', path: '/snapshots', handle: of(listed) },
    { about, operation: 'take_snapshot', method: 'PUT', path, handle: of(take) },
    { about, operation: 'restore_snapshot', method: 'POST', path: `${path}/restore`, handle: of(restore) },
    { about, operation: 'delete_snapshot', method: 'DELETE', path, handle: of(expiry) },
    { about, operation: 'get_state_diff', method: 'GET', path: '/state/diff', query: ['snapshot'], handle: of(diff) },
  ]
}

function listed(_call: ControlCall, snapshots: Snapshots): ControlReply {
  return { status: 200, body: { snapshots: snapshots.list().map(shown) } }
}

function take({ environment, path }: ControlCall, snapshots: Snapshots): ControlReply {
  const snapshot = snapshots.take(checkedName('a snapshot', path['name'] ?? ''), environment)
  return { status: 200, body: shown(snapshot) }
}

function restore(call: ControlCall, snapshots: Snapshots): ControlReply {
  const snapshot = found(snapshots, call.path['name'])
  restoreSnapshot(call.context.registry, call.environment, snapshot)
  return changed(call, `the snapshot ${snapshot.name} was restored`)
}

function expiry({ path }: ControlCall, snapshots: Snapshots): ControlReply {
  snapshots.remove(found(snapshots, path['name']).name)
  return { status: 200, body: {} }
}

function diff({ environment, query }: ControlCall, snapshots: Snapshots): ControlReply {
  const name = query.get('snapshot')
  if (!name) {
    throw faulty('INVALID_QUERY', [
      { path: 'snapshot', found: 'nothing', allowed: 'the name of a snapshot (required)' },
    ])
  }
  const snapshot = found(snapshots, name)
  return { status: 200, body: { snapshot: name, ...diffStates(snapshot.image, environment.image()) } }
}

function found(snapshots: Snapshots, name = ''): Snapshot {
  const snapshot = snapshots.get(name)
  if (snapshot) return snapshot
  const known = snapshots.list().map((each) => each.name)
  const there = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`
  throw new ControlError('SNAPSHOT_NOT_FOUND', `there is no snapshot ${JSON.stringify(name.slice(0, 100))}; ${there}`)
}

function shown({ name, taken_at }: Snapshot): object {
  return { name, taken_at }
}
