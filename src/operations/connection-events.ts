import type { Connection, ConnectionStatus } from '../domain/connection.ts'
import type { Environment } from '../state/environment.ts'

/** What can happen to a connection, by the control API only ("States"). */
export const CONNECTION_EVENTS = ['start', 'complete', 'enable', 'disable'] as const
export type ConnectionEvent = (typeof CONNECTION_EVENTS)[number]

type State = Pick<Connection, 'status' | 'enabled'>

/** The legal moves: from what, to what. */
const MOVES: { readonly [Event in ConnectionEvent]: { readonly from: Partial<State>; readonly to: Partial<State> } } = {
  start: { from: { status: 'DRAFT' }, to: { status: 'IN_PROGRESS' } },
  complete: { from: { status: 'IN_PROGRESS' }, to: { status: 'COMPLETED' } },
  enable: { from: { enabled: false }, to: { enabled: true } },
  disable: { from: { enabled: true }, to: { enabled: false } },
}

/** An event that cannot happen to this connection: names from, event and what is allowed. */
export class IllegalConnectionMoveError extends Error {
  override readonly name = 'IllegalConnectionMoveError'
  /** The status and whether it is enabled, in words. */
  readonly from: `${ConnectionStatus}, ${'enabled' | 'disabled'}`
  readonly allowed: readonly ConnectionEvent[]

  constructor(
    connection: Connection,
    readonly event: ConnectionEvent,
  ) {
    const from = `${connection.status}, ${connection.enabled ? 'enabled' : 'disabled'}` as const
    const allowed = CONNECTION_EVENTS.filter((each) => isLegal(connection, each))
    super(`connection ${connection.id} is ${from}: ${event} is not allowed, ${allowed.join(', ')} would be`)
    this.from = from
    this.allowed = allowed
  }
}

/** The connection with this id, or with this `key_id` (2.5); undefined when there is none. */
export function findConnection({ model }: Environment, idOrKey: string): Connection | undefined {
  const { connections } = model.tables
  return connections.get(idOrKey) ?? [...connections.values()].find(({ key_id }) => key_id === idOrKey)
}

/** Makes an event happen. @throws IllegalConnectionMoveError */
export function applyConnectionEvent(
  { model }: Environment,
  connection: Connection,
  event: ConnectionEvent,
): Connection {
  if (!isLegal(connection, event)) throw new IllegalConnectionMoveError(connection, event)
  const moved = { ...connection, ...MOVES[event].to }
  model.transact(() => {
    model.tables.connections.put(moved)
  })
  return moved
}

function isLegal(connection: Connection, event: ConnectionEvent): boolean {
  const { from } = MOVES[event]
  return (
    (from.status === undefined || from.status === connection.status) &&
    (from.enabled === undefined || from.enabled === connection.enabled)
  )
}
