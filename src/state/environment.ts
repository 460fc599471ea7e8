import type { Account } from '../model/domain/account.ts'
import { BoundedCache } from '../model/domain/bounded-cache.ts'
import type { Connection } from '../model/domain/connection.ts'
import { type Connector, providerOf, type Responder } from '../model/domain/connector.ts'
import { connectorOfConnection, connectorOfProvider } from '../model/domain/connector-defaults.ts'
import type { Instant } from '../model/domain/instant.ts'
import type { Ids } from '../model/domain/ports.ts'
import type { Provider } from '../model/domain/provider.ts'
import type { Settings } from '../model/domain/settings.ts'
import type { TestLabel } from '../model/domain/test-label.ts'
import { Vocabulary, type VocabularyWords } from '../model/domain/vocabulary.ts'
import { EnvironmentClock, RandomIds, SeededIds, type TimeSource } from './model/time-and-ids.ts'
import { type Cause, type EnvironmentRow, type ExtraIndexes, Model, SECTION_NAMES, TABLE_NAMES } from './model/model.ts'
import type { EnvironmentImage, EnvironmentBasics, StoredImage } from './model/state-image.ts'
import type { Change } from './model/table.ts'
import { removedEnvironmentError, StorageError } from './wal/state-errors.ts'
import type { EnvironmentChange, WalChange } from './wal/log-lines.ts'
import type { WriteAheadLog } from './wal/write-ahead-log.ts'

/** How a renewal of an account's credentials ended; `unavailable`: neither granted nor refused, the account stays. */
export interface Renewal {
  readonly account: Account
  readonly outcome: 'renewed' | 'refused' | 'unavailable'
  /** What the third party said, for messages. */
  readonly reason: string
}

/** What sends events to webhooks (G68). */
export interface EventSender {
  /** Puts the events that changes cause into rows. Called in each transaction that a request, a page or the clock causes. */
  addEvents(environment: Environment, changes: readonly Change[], cause: Cause): void
  /** Called after each commit and after each rollback. */
  committed(environment: Environment): void
}

export interface EnvironmentServices {
  readonly name: string
  readonly basics: EnvironmentBasics
  readonly time?: TimeSource | undefined
  /** Indexes over the environments of a server. */
  readonly indexes?: ((environment: Environment) => ExtraIndexes) | undefined
  /** Where its commits go; absent when it is in memory only. */
  readonly log?: WriteAheadLog | undefined
  readonly events?: EventSender | undefined
}

const CACHED_DETAILS = 1024

/** A state of its own: rows, settings, clock and ids (1.2). The client credentials of a request choose the environment. */
export class Environment {
  readonly name: string
  readonly clock: EnvironmentClock
  readonly ids: Ids
  /** Credential renewals under way, by account id; not stored. */
  readonly renewals = new Map<string, Promise<Renewal>>()
  /** Cache of the answers of get-details; not stored. */
  readonly details = new BoundedCache<Account, object>(CACHED_DETAILS)
  /** How often each responder of a third party has answered; not stored. */
  readonly responderHits = new WeakMap<Responder, number>()
  /** The sessions of its virtual MCP servers, by their ids: the path of the server, and `replacements` at their beginning; not stored. */
  readonly mcpSessions = new Map<string, { readonly path: string; readonly replacements: number }>()
  /** How many of its commits were rolled back because the disk refused them. */
  rollbacks = 0
  /** How often its rows were replaced: by a reset, a snapshot, or a state that was loaded. */
  replacements = 0
  /** How many commits there have been; by a new number the timeline sees that the environment has changed. */
  commits = 0
  /** Whether the registry no longer has it. */
  isRemoved = false
  readonly #log: WriteAheadLog | undefined
  readonly #events: EventSender | undefined
  readonly model: Model
  readonly #connectors = new ConnectorCache()
  #settings: Settings
  #vocabulary: { readonly words: VocabularyWords; readonly vocabulary: Vocabulary | undefined } | undefined
  /** Until the commit that makes it. */
  #onUndoOfBegin: (() => void) | undefined

  constructor({ name, basics: record, time, indexes, log, events }: EnvironmentServices) {
    this.name = name
    this.#events = events
    this.#log = log
    this.#settings = record.settings
    this.ids = record.ids
      ? new SeededIds(name, record.ids, (upto, undo) => log?.append({ environment: name, ids: upto }, undo))
      : new RandomIds()
    this.clock = new EnvironmentClock(time, record.clock, (clock) => this.#put({ id: 'clock', clock }))
    this.model = new Model((changes) => this.#commitRows(changes), {
      present: () => this.clock.now(),
      addEvents: events && ((changes, cause) => events.addEvents(this, changes, cause)),
      indexes: { ...indexes?.(this), environment: [{ update: (_before, row) => row && this.#take(row) }] },
    })
    this.load(record)
  }

  get settings(): Settings {
    return this.#settings
  }

  get test(): TestLabel | undefined {
    return this.model.tables.origins.get('origin')?.test
  }

  /** Undefined when the environment says everything in the document's words (G48). */
  get vocabulary(): Vocabulary | undefined {
    const words = this.#settings.vocabulary
    if (this.#vocabulary?.words !== words)
      this.#vocabulary = { words, vocabulary: Object.keys(words).length > 0 ? new Vocabulary(words) : undefined }
    return this.#vocabulary.vocabulary
  }

  /** Changes settings; those not given stay as they are. */
  configure(settings: Partial<Settings>): void {
    this.replaceSettings({ ...this.#settings, ...settings })
  }

  /** Puts settings in place of all that there are: some may be absent. */
  replaceSettings(settings: Settings): void {
    this.#put({ id: 'settings', settings })
  }

  #put(row: EnvironmentRow): void {
    this.model.transact(() => this.model.tables.environment.put(row))
  }

  /** Follows a row that has changed, also when a change is undone. */
  #take(row: EnvironmentRow): void {
    if (row.id === 'clock') this.clock.restore(row.clock)
    else this.#settings = row.settings
  }

  /** The connector that `key_id` names (G19), with its tools: of a connector file, a custom provider, or a bare connection. */
  connector(keyId: string): Connector | undefined {
    return this.#connectors.find(this.model, keyId)
  }

  /** Every connector by its name, in the order of the connections (G42); those of sign-on types are none. */
  get connectors(): ReadonlyMap<string, Connector> {
    const byName = new Map<string, Connector>()
    for (const { key_id } of this.model.tables.connections.values()) {
      const connector = this.connector(key_id)
      if (connector) byName.set(key_id, connector)
    }
    return byName
  }

  /** Makes a new environment with all that `fill` puts, in one commit. @param onUndo called when there is none then */
  begin(fill: () => void, onUndo: () => void): void {
    this.#onUndoOfBegin = onUndo
    try {
      this.model.transact(fill)
      // Nothing was put, so that nothing was committed.
      if (this.commits === 0) this.#commitRows([])
    } catch (error) {
      onUndo()
      throw error
    } finally {
      this.#onUndoOfBegin = undefined
    }
  }

  /** Stores what the model already shows. `undo` rolls it back if the disk refuses it. */
  commit(change: Omit<EnvironmentChange, 'environment' | 'ids'>, undo: () => void): void {
    if (this.isRemoved) throw removedEnvironmentError(this.name)
    this.commits++
    this.#log?.append({ environment: this.name, ...change }, () => {
      undo()
      this.rollbacks++
      this.#events?.committed(this)
    })
    this.#events?.committed(this)
  }

  get record(): EnvironmentBasics {
    const ids = this.ids instanceof SeededIds ? this.ids.reservedState : null
    return { settings: this.#settings, clock: this.clock.state, ids }
  }

  /** The service's state at this moment. Rows are immutable, so that their arrays are enough. */
  image(): EnvironmentImage {
    const { tables } = this.model
    const rows = TABLE_NAMES.map((name) => [name, tables[name].values()])
    const ids = this.ids instanceof SeededIds ? this.ids.state : null
    return { ...this.record, ids, tables: Object.fromEntries(rows) as EnvironmentImage['tables'] }
  }

  /** Everything that the state file holds of this environment; `isLast` when nothing comes after it. */
  stored(isLast: boolean): StoredImage {
    const { tables } = this.model
    const sections = SECTION_NAMES.map((name) => [name, tables[name].values()])
    return {
      ...this.image(),
      ...(!isLast && { ids: this.record.ids }),
      ...(Object.fromEntries(sections) as Omit<StoredImage, keyof EnvironmentImage>),
    }
  }

  /** Takes over settings and clock as they are stored. */
  load({ settings, clock }: EnvironmentBasics): void {
    const rows = [
      { id: 'settings', settings },
      { id: 'clock', clock },
    ]
    for (const row of rows) this.model.restore('environment', row.id, row)
  }

  /** Goes on behind the seeded ids that were given out, or may have been. */
  skipIds(position = 0): void {
    if (this.ids instanceof SeededIds) this.ids.skipTo(position)
  }

  /** Takes over a change of the log. The log says when a snapshot was taken, and not what it holds. */
  redo(change: WalChange): void {
    if ('remove' in change) this.model.restore(change.remove, change.id, undefined)
    else {
      const row = change.put === 'snapshots' ? { ...this.image(), ...change.row } : change.row
      this.model.restore(change.put, row.id, row)
    }
  }

  #commitRows(changes: readonly Change[]): void {
    const onUndo = this.#onUndoOfBegin
    this.#onUndoOfBegin = undefined
    this.commit({ ...(onUndo && { record: this.record }), changes }, () => {
      this.model.undo(changes)
      onUndo?.()
    })
  }
}

/** The connection of a `key_id`; undefined once it is deleted. */
export function connectionOf({ model }: Pick<Environment, 'model'>, keyId: string): Connection | undefined {
  return model.connectionsByKey.get(keyId)[0]
}

/** All connections of a connector: its own, and those that name its provider (G73). */
export function connectionsOf(environment: Environment, connector: string): Connection[] {
  const { connections } = environment.model.tables
  return [...connections.values()].filter(({ key_id }) => environment.connector(key_id)?.connector === connector)
}

export function accountsOf(environment: Environment, connector: string): Account[] {
  const { accountIndex } = environment.model
  const keys = new Set([connector, ...connectionsOf(environment, connector).map(({ key_id }) => key_id)])
  return [...keys].flatMap((key) => accountIndex.where({ connector: key }))
}

/** The provider of an identifier, which a custom one and one of a connector file can both have. */
export function providerNamed({ tables }: Model, identifier: string, isCustom: boolean): Provider | undefined {
  return tables.providers.values().find((each) => each.is_custom === isCustom && each.identifier === identifier)
}

/** The environment's present time as it is stored and returned (G54). */
export function now(environment: Environment): Instant {
  return environment.clock.instant()
}

/** Detects that a commit which this request may have read was rolled back while it waited. */
export class ReadGuard {
  readonly #environment: Environment
  readonly #rollbacks: number

  constructor(environment: Environment) {
    this.#environment = environment
    this.#rollbacks = environment.rollbacks
  }

  /** @throws StorageError (503) when what was read may be gone: nothing must be answered or changed by it */
  assertValid(): void {
    if (this.#environment.rollbacks === this.#rollbacks) return
    throw new StorageError('the state could not be written', new Error('what this request had read was rolled back'))
  }

  /** @throws StorageError as above; UNAUTHENTICATED when the environment was removed: another may have its name */
  assertUsable(): void {
    this.assertValid()
    if (this.#environment.isRemoved) throw removedEnvironmentError(this.#environment.name)
  }
}

/** By `key_id` (G19): files, custom providers, a connection's provider (G73), bare connections; cached by row. */
class ConnectorCache {
  readonly #ofRow = new WeakMap<object, { template: Connector | undefined; connector: Connector | undefined }>()

  find(model: Model, keyId: string): Connector | undefined {
    const ofConnection = this.#connectorNamed(model, keyId)
    if (ofConnection) return ofConnection
    const connection = connectionOf({ model }, keyId)
    const bare = connection && this.#of(connection, undefined, () => connectorOfConnection(connection))
    return bare && (this.#ofProvider(model, connection.provider_key) ?? bare)
  }

  #connectorNamed(model: Model, name: string): Connector | undefined {
    const { connectors } = model.tables
    const file = connectors.get(name)
    if (file?.custom_provider === null) return file
    const provider = providerNamed(model, name, true)
    if (!provider) return undefined
    // The connector file that names its display name gives it tools and responders (G39, G47).
    const displayName = provider.created_as ?? provider.display_name
    const template = connectors.values().find(({ custom_provider }) => custom_provider === displayName)
    return this.#of(provider, template, () => connectorOfProvider(provider, template))
  }

  /** A connector file may name another word for its provider. */
  #ofProvider(model: Model, name: string): Connector | undefined {
    const files = model.tables.connectors.values()
    return (
      this.#connectorNamed(model, name) ??
      [...files].find((file) => file.custom_provider === null && providerOf(file) === name)
    )
  }

  #of(row: object, template: Connector | undefined, make: () => Connector | undefined): Connector | undefined {
    const cached = this.#ofRow.get(row)
    if (cached && cached.template === template) return cached.connector
    const connector = make()
    this.#ofRow.set(row, { template, connector })
    return connector
  }
}
