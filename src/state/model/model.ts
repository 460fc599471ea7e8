import {
  type AuthRequest,
  type ClockState,
  type Connection,
  COLUMNS,
  type MagicLink,
  type Baseline,
  SECTION_NAMES,
  type Sections,
  type Settings,
  type Tables,
} from '../../model/domain/generated/tables.ts'
import type { NotedChange, RequestTrace, AccountTransition } from '../../model/domain/request-trace.ts'
import { AccountIndex } from './account-index.ts'
import { CollectionIndex } from './collection-index.ts'
import { DeliveryQueues } from './delivery-queues.ts'
import { DefinitionTimes } from './definition-times.ts'
import { DueIndex, ExpiryIndex } from './deadlines.ts'
import { GrantIndex } from './grant-index.ts'
import { Lookup } from './rows-in-order.ts'
import { type Change, type Index, type Row, Table } from './table.ts'

export {
  type Baseline,
  SECTION_NAMES,
  type Snapshot,
  type StoredScenarioRun,
} from '../../model/domain/generated/tables.ts'

/** The tables of the service's state: what `GET /_mock/state` shows, a snapshot holds and a reset replaces. */
export type TableName = keyof Tables
export const TABLE_NAMES = Object.keys(COLUMNS) as readonly TableName[]
export type Rows = { readonly [Name in TableName]: Tables[Name][number] }

/** What an environment is beside its tables, as rows that change, are undone and are logged as any others. */
export type EnvironmentRow =
  { readonly id: 'settings'; readonly settings: Settings } | { readonly id: 'clock'; readonly clock: ClockState }

type AllTables = Tables & Sections & { readonly environment: readonly EnvironmentRow[] }
type AnyTable = keyof AllTables
const ALL_TABLES: readonly AnyTable[] = [...TABLE_NAMES, ...SECTION_NAMES, 'environment']

/** The same row with its fields in the order of the declaration of its table, however it was made. */
export function inColumnOrder(table: TableName, row: object): object {
  const ordered: Record<string, unknown> = {}
  for (const name of COLUMNS[table]) ordered[name] = (row as Record<string, unknown>)[name]
  return ordered
}

/** The counter of accounts in creation order. */
export const ACCOUNT_SEQUENCE = 'account_sequence'

/** How the clock of an environment starts (`--clock`, `--freeze`, `POST environments`). */
export type StartClock = Baseline['clock']

/** Indexes beside those of the model, by table. */
export type ExtraIndexes = { readonly [Name in AnyTable]?: readonly Index<AllTables[Name][number]>[] }

/** What caused a transaction, and what was noted of its accounts. */
export interface Cause {
  readonly request: string | undefined
  readonly transitions: readonly AccountTransition[]
  readonly changes: readonly NotedChange[]
}

/** What a model needs of its environment beside that. */
export interface ModelPorts {
  readonly indexes?: ExtraIndexes | undefined
  /** The time of its environment, in milliseconds; without it, expired rows are not removed. */
  readonly present?: () => number
  /** Adds the events that the changes of a transaction cause (G68). Called for those that have a cause. */
  readonly addEvents?: ((changes: readonly Change[], cause: Cause) => void) | undefined
}

/** Changing happens inside `transact`, which is synchronous: no request sees half of it, and it is all or nothing. */
export class Model {
  readonly accountIndex = new AccountIndex((id) => this.tables.accounts.get(id))
  readonly grantIndex = new GrantIndex()
  readonly collections = new CollectionIndex()
  /** The auth requests that wait for verification, by account. */
  readonly pendingRequests = new Lookup<AuthRequest>(({ outcome, account_id }) =>
    outcome === 'pending' ? account_id : undefined,
  )
  readonly connectionsByKey = new Lookup<Connection>(({ key_id }) => key_id)
  readonly due = new DueIndex()
  readonly deliveryQueues = new DeliveryQueues()
  readonly definitions = new DefinitionTimes(() => this.#presentTime())
  readonly #expiry = new ExpiryIndex()
  readonly tables: { readonly [Name in keyof AllTables]: Table<AllTables[Name][number]> }
  #open: Change[] | undefined
  /** What is to be kept of an open transaction that may be rolled back. */
  readonly #kept: (() => void)[] = []
  /** The trace of the open transaction, and how much it had noted before. */
  #cause: { readonly trace: RequestTrace; readonly transitions: number; readonly changes: number } | undefined
  /** Where the changes of a transaction go once it has succeeded. */
  readonly #sink: (changes: readonly Change[]) => void
  readonly #ports: ModelPorts

  constructor(sink: (changes: readonly Change[]) => void, ports: ModelPorts = {}) {
    this.#sink = sink
    this.#ports = ports
    const onChange = (change: Change): void => {
      if (!this.#open) throw new Error(`${change.table} was changed outside a transaction`)
      this.#open.push(change)
    }
    const extraIndexes: ExtraIndexes = {
      bearer_tokens: this.#expiry.bearerTokens,
      connections: [this.definitions.connections, this.connectionsByKey],
      providers: [this.definitions.providers],
      connectors: [this.definitions.connectors],
      accounts: [this.accountIndex, this.due.accounts],
      magic_links: this.#expiry.magicLinks,
      auth_requests: [this.pendingRequests, this.due.authRequests, ...this.#expiry.authRequests],
      grants: [this.grantIndex, ...this.#expiry.grants],
      authorization_codes: this.#expiry.authorizationCodes,
      collection_items: [this.collections],
      webhook_deliveries: [this.deliveryQueues],
    }
    const tables = ALL_TABLES.map(
      (name) =>
        new Table(name, onChange, [...(extraIndexes[name] ?? []), ...(ports.indexes?.[name] ?? [])] as Index<Row>[]),
    )
    this.tables = Object.fromEntries(tables.map((table) => [table.name, table])) as unknown as Model['tables']
  }

  /** A transaction inside another is part of it. @param trace without one, as for seeds, changes cause no events */
  transact<R>(work: () => R, trace?: RequestTrace): R {
    if (trace) this.#cause ??= { trace, transitions: trace.transitions.length, changes: trace.changes.length }
    if (this.#open) return work()
    const changes: Change[] = (this.#open = [])
    try {
      const result = work()
      if (changes.length > 0) {
        this.#addEvents(changes)
        this.#removeExpired()
      }
      this.#open = undefined
      if (changes.length > 0) this.#sink(changes)
      return result
    } catch (error) {
      this.#open = undefined
      this.undo(changes)
      throw error
    } finally {
      this.#cause = undefined
      for (const work of this.#kept.splice(0)) this.transact(work)
    }
  }

  /** Runs `work` in a commit of its own, after an open transaction, which may be rolled back. */
  keep(work: () => void): void {
    if (this.#open) this.#kept.push(work)
    else this.transact(work)
  }

  #addEvents(changes: readonly Change[]): void {
    if (!this.#cause) return
    const { trace, transitions, changes: noted } = this.#cause
    this.#ports.addEvents?.(changes, {
      request: trace.request,
      transitions: trace.transitions.slice(transitions),
      changes: trace.changes.slice(noted),
    })
  }

  /** Rolls changes back, the last one first. */
  undo(changes: readonly Change[]): void {
    for (const change of changes.toReversed()) this.#table(change).restore(change.id, change.before, change.place)
  }

  /** Applies a row of the log, or removes it, without a new commit. */
  restore(table: string, id: string, row: Row | undefined, place?: number): void {
    this.#table({ table }).restore(id, row, place)
  }

  /** Removes every row of a table, as the log says, without a new commit. */
  empty(table: TableName): void {
    // From the end, where a removal moves nothing.
    for (const id of this.tables[table].ids().reverse()) this.restore(table, id, undefined)
  }

  /** Links whose flow has not completed, expired ones among them, oldest first. */
  openLinks(): MagicLink[] {
    return [...this.tables.magic_links.values()].filter(({ completed_at }) => completed_at === undefined)
  }

  /** The next value of a counter, starting at 1. Only inside a transaction. */
  count(id: string): number {
    const value = (this.tables.counters.get(id)?.value ?? 0) + 1
    this.tables.counters.put({ id, value })
    return value
  }

  #presentTime(): number {
    return this.#ports.present?.() ?? 0
  }

  /** Every commit also removes some expired rows. */
  #removeExpired(): void {
    for (const { table, id } of this.#expiry.due(this.#presentTime())) this.tables[table].remove(id)
  }

  /** The row of a change fits its table: the table recorded it, or the log was checked when it was read. */
  #table(change: Pick<Change, 'table'>): Table<Row> {
    return this.tables[change.table as AnyTable]
  }
}
