import type { Account } from '../../domain/account.ts'
import type { BearerToken, Client } from '../../domain/client.ts'
import type { Connection } from '../../domain/connection.ts'
import type { Connector } from '../../domain/connector.ts'
import type { AuthorizationCode, Grant } from '../../domain/grant.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Provider } from '../../domain/provider.ts'
import { AccountIndex } from './account-index.ts'
import { DefinitionTimes } from './definition-times.ts'
import { DueIndex } from './due-index.ts'
import { ExpiryIndex } from './expiry-index.ts'
import { GrantIndex } from './grant-index.ts'
import { LinkIndex } from './link-index.ts'
import { type Change, type Index, type Row, Table } from './table.ts'

/** A running number that must not repeat after a restart: `account_sequence`, a responder's calls, the seeded ids. */
export interface Counter extends Row {
  value: number
}

/** The rows of an environment, by table. The keys are those of the state file. */
export interface Rows {
  clients: Client
  bearer_tokens: BearerToken
  connections: Connection
  providers: Provider
  /** By `connector`. */
  connectors: Connector & Row
  accounts: Account
  magic_links: MagicLink
  auth_requests: AuthRequest
  grants: Grant
  authorization_codes: AuthorizationCode
  counters: Counter
}
export type TableName = keyof Rows
export const TABLE_NAMES = [
  'clients',
  'bearer_tokens',
  'connections',
  'providers',
  'connectors',
  'accounts',
  'magic_links',
  'auth_requests',
  'grants',
  'authorization_codes',
  'counters',
] as const satisfies readonly TableName[]

/** Indexes that reach beyond one environment, by table. */
export type ExtraIndexes = { readonly [Name in TableName]?: readonly Index<Rows[Name]>[] }

/** Where the changes of a transaction go once it has succeeded. */
export type CommitSink = (changes: readonly Change[]) => void

/**
 * The whole model of one environment, in memory. Reading is free; changing happens inside `transact`, which is synchronous,
 * so that no other request sees half of it, and all or nothing.
 */
export class Model {
  readonly accountIndex = new AccountIndex((id) => this.tables.accounts.get(id))
  readonly grantIndex = new GrantIndex()
  readonly linkIndex = new LinkIndex(() => this.tables.magic_links.values())
  readonly due = new DueIndex()
  readonly definitions = new DefinitionTimes(() => this.present())
  readonly #expiry = new ExpiryIndex()
  readonly tables: { readonly [Name in TableName]: Table<Rows[Name]> }
  /** The time of its environment, in milliseconds; until it has one, nothing is forgotten. */
  present: () => number = () => 0
  #open: Change[] | undefined
  readonly #sink: CommitSink

  constructor(sink: CommitSink, extra: ExtraIndexes = {}) {
    this.#sink = sink
    const record = (change: Change): void => {
      if (!this.#open) throw new Error(`${change.table} was changed outside a transaction`)
      this.#open.push(change)
    }
    const own: ExtraIndexes = {
      bearer_tokens: [this.#expiry.bearerTokens],
      connections: [this.definitions.connections],
      providers: [this.definitions.providers],
      connectors: [this.definitions.connectors],
      accounts: [this.accountIndex, this.due.accounts],
      magic_links: [this.linkIndex.links, this.#expiry.magicLinks],
      auth_requests: [this.linkIndex.requests, this.due.authRequests, this.#expiry.authRequests],
      grants: [this.grantIndex, this.#expiry.grants],
      authorization_codes: [this.#expiry.authorizationCodes],
    }
    const table = <Name extends TableName>(name: Name): Table<Rows[Name]> =>
      new Table(name, record, [...(own[name] ?? []), ...(extra[name] ?? [])] as Index<Rows[Name]>[])
    this.tables = {
      clients: table('clients'),
      bearer_tokens: table('bearer_tokens'),
      connections: table('connections'),
      providers: table('providers'),
      connectors: table('connectors'),
      accounts: table('accounts'),
      magic_links: table('magic_links'),
      auth_requests: table('auth_requests'),
      grants: table('grants'),
      authorization_codes: table('authorization_codes'),
      counters: table('counters'),
    }
  }

  /** Runs `work`; when it throws, every change it made is undone. Transactions inside one another are one. */
  transact<R>(work: () => R): R {
    if (this.#open) return work()
    const changes: Change[] = (this.#open = [])
    try {
      const result = work()
      if (changes.length > 0) this.#removeExpired()
      this.#open = undefined
      if (changes.length > 0) this.#sink(changes)
      this.due.keepTaken()
      return result
    } catch (error) {
      this.#open = undefined
      this.undo(changes)
      this.due.putBackTaken()
      throw error
    }
  }

  /** Takes changes back, the last one first. */
  undo(changes: readonly Change[]): void {
    for (const change of changes.toReversed()) this.#table(change).restore(change.id, change.before, change.place)
  }

  /** Applies changes that were committed before, in their order: the replay of a journal. */
  redo(changes: readonly Pick<Change, 'table' | 'id' | 'after'>[]): void {
    for (const change of changes) this.#table(change).restore(change.id, change.after)
  }

  /** Enters some of the loaded rows that indexes left for later; false when none are left. */
  enterSome(): boolean {
    return this.accountIndex.enterSome() || this.grantIndex.enterSome()
  }

  /** The next value of a counter, starting at 1. Only inside a transaction. */
  count(id: string): number {
    const value = (this.tables.counters.get(id)?.value ?? 0) + 1
    this.tables.counters.put({ id, value })
    return value
  }

  /** Every commit takes some of what has had its time along. */
  #removeExpired(): void {
    for (const { table, id } of this.#expiry.due(this.present())) this.tables[table].remove(id)
  }

  /** Rows of a change belong to its table: whoever recorded or read it has seen to that. */
  #table(change: Pick<Change, 'table'>): Table<Row> {
    return this.tables[change.table as TableName]
  }
}
