import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import type { Ids } from '../domain/ports.ts'
import { BoundedCache } from '../domain/bounded-cache.ts'
import type { Settings } from '../domain/settings.ts'
import { EnvironmentClock, type TimeSource } from './model/clock.ts'
import type { Environment, Renewal } from './environment.ts'
import { RandomIds, SeededIds } from './model/ids.ts'
import type { Model } from './model/model.ts'
import type { EnvironmentImage, EnvironmentRecord, StoredEnvironment as StoredImage } from './model/state-image.ts'
import type { WalChange } from './wal/wal-file.ts'
import { SECTION_NAMES, TABLE_NAMES } from './model/model.ts'

/** Finds the connector that a `key_id` names in an environment's model. */
export type ResolveConnector = (model: Model, keyId: string) => Connector | undefined

const RECENT_DETAILS = 1024

export interface EnvironmentParts {
  name: string
  model: Model
  record: EnvironmentRecord
  time: TimeSource
  resolveConnector: ResolveConnector
  /** Told after settings or clock have changed; `undo` takes the change back. */
  changed: (environment: StoredEnvironment, undo: () => void) => void
}

/** An environment whose settings and clock are kept with its model. */
export class StoredEnvironment implements Environment {
  readonly name: string
  readonly model: Model
  readonly clock: EnvironmentClock
  readonly ids: Ids
  readonly renewals = new Map<string, Promise<Renewal>>()
  readonly details = new BoundedCache<Account, object>(RECENT_DETAILS)
  rollbacks = 0
  readonly #resolveConnector: ResolveConnector
  readonly #changed: EnvironmentParts['changed']
  #settings: Settings

  constructor(parts: EnvironmentParts) {
    const { name, model, record, time, resolveConnector, changed } = parts
    this.name = name
    this.model = model
    this.#settings = record.settings
    this.#resolveConnector = resolveConnector
    this.#changed = changed
    this.ids = record.ids ? new SeededIds(name, record.ids) : new RandomIds()
    this.clock = new EnvironmentClock(time, record.clock, (before) => {
      changed(this, () => this.clock.restore(before))
    })
    model.present = () => this.clock.now()
  }

  get settings(): Settings {
    return this.#settings
  }

  /** Changes settings; those not given stay as they are. */
  configure(settings: Partial<Settings>): void {
    const before = this.#settings
    this.#settings = { ...before, ...settings }
    this.#changed(this, () => (this.#settings = before))
  }

  connector(keyId: string): Connector | undefined {
    return this.#resolveConnector(this.model, keyId)
  }

  /** Where its seeded ids stand; undefined when they are random. */
  get idsPosition(): number | undefined {
    return this.ids instanceof SeededIds ? this.ids.state.position : undefined
  }

  get record(): EnvironmentRecord {
    return {
      settings: this.#settings,
      clock: this.clock.state,
      ids: this.ids instanceof SeededIds ? this.ids.state : null,
    }
  }

  /** The service's state at this moment. Rows are immutable, so that their arrays are enough. */
  image(): EnvironmentImage {
    const { tables } = this.model
    const rows = TABLE_NAMES.map((name) => [name, [...tables[name].values()]])
    return { ...this.record, tables: Object.fromEntries(rows) as EnvironmentImage['tables'] }
  }

  /** Everything that the state file holds of this environment. */
  stored(): StoredImage {
    const { tables } = this.model
    const sections = SECTION_NAMES.map((name) => [name, [...tables[name].values()]])
    return { ...this.image(), ...(Object.fromEntries(sections) as Omit<StoredImage, keyof EnvironmentImage>) }
  }

  /** Applies a change that was committed before. The log says of a snapshot when it was taken, and not what it holds. */
  redo(change: WalChange): void {
    if ('remove' in change) this.model.restore(change.remove, change.id, undefined)
    else {
      const row = change.put === 'snapshots' ? { ...change.row, ...this.image() } : change.row
      this.model.restore(change.put, row.id, row)
    }
  }

  /** Takes over what the log says; nobody is told. */
  replay(record: EnvironmentRecord | undefined, idsPosition: number | undefined): void {
    if (record) {
      this.#settings = record.settings
      this.clock.restore(record.clock)
    }
    if (this.ids instanceof SeededIds && idsPosition !== undefined) this.ids.skipTo(idsPosition)
  }
}
