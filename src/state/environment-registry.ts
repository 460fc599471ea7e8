import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../domain/environment-name.ts'
import type { BearerToken, Client } from '../domain/client.ts'
import type { MagicLink } from '../domain/magic-link.ts'
import { DEFAULT_SETTINGS } from '../domain/settings.ts'
import { type ClockState, type TimeSource, systemTime } from './model/clock.ts'
import { CredentialIndex } from './credential-index.ts'
import { type DiskStore, openDisk, type Stored } from './disk-store.ts'
import { nodeFileSystem } from './wal/file-system.ts'
import type { EnvironmentChange } from './wal/wal-file.ts'
import type { WriteAheadLog } from './wal/write-ahead-log.ts'
import { Model } from './model/model.ts'
import { byName, type EnvironmentRecord, STATE_VERSION, type StateImage } from './model/state-image.ts'
import { type ResolveConnector, StoredEnvironment } from './stored-environment.ts'
import { removed } from './wal/state-errors.ts'
import type { Change } from './model/table.ts'
import { load, placed, replay } from './registry-loading.ts'
import type { NewEnvironment, RegistryOptions } from './registry-options.ts'

export type { NewEnvironment, RegistryOptions } from './registry-options.ts'

const CHECKPOINT_AT = 64 * 1024 * 1024
const RESOLVED: Promise<void> = Promise.resolve()
const RUNNING: ClockState = { offset_ms: 0, frozen_at: null }

/** Opens the environments that a state file holds; none when it is new. @throws StateError */
export async function openRegistry(options: RegistryOptions): Promise<EnvironmentRegistry> {
  if (options.file === undefined) return new EnvironmentRegistry(options, undefined)
  const { file, fileSystem = nodeFileSystem } = options
  const { store, stored } = await openDisk({
    file,
    fresh: options.fresh ?? false,
    durability: options.durability ?? 'strict',
    checkpointAt: options.checkpointAt ?? CHECKPOINT_AT,
    fileSystem,
    time: options.time ?? systemTime,
  })
  try {
    return new EnvironmentRegistry(options, { store, stored })
  } catch (error) {
    await store.abandon()
    throw await placed(error, file, fileSystem)
  }
}

/** All environments of one server, and how they last. */
export class EnvironmentRegistry {
  /** What the start has to say: a torn write that was dropped. */
  readonly notices: readonly string[]
  readonly #directory = new CredentialIndex()
  readonly #resolveConnector: ResolveConnector
  readonly #time: TimeSource
  readonly #disk: DiskStore | undefined
  /** Absent when everything is in memory only. */
  readonly #log: WriteAheadLog | undefined
  #environments = new Map<string, StoredEnvironment>()
  /** Environments whose changes are gathered into one commit: they are being made, or changed as a whole. */
  readonly #gathering = new Map<StoredEnvironment, Change[]>()

  /** @throws Contradiction */
  constructor(options: RegistryOptions, disk: { store?: DiskStore; stored: Stored } | undefined) {
    this.#resolveConnector = options.resolveConnector
    this.#time = options.time ?? systemTime
    this.#disk = disk?.store
    this.#log = disk?.store?.log
    this.notices = disk?.stored.notices ?? []
    if (!disk) return
    const make = (name: string, record: EnvironmentRecord): StoredEnvironment => this.#make(name, record)
    this.#environments = load(disk.stored.image, make)
    replay(disk.stored.commits, this.#environments, {
      make,
      leave: (environment) => this.#directory.leave(environment),
    })
    if (disk.store) disk.store.capture = () => this.image()
  }

  environment(name: string): StoredEnvironment | undefined {
    return this.#environments.get(name)
  }

  environments(): StoredEnvironment[] {
    return [...this.#environments.values()]
  }

  /**
   * Makes an environment.
   * @throws RangeError for a name that is taken or of another form, ClientIdTakenError for a client of another environment
   */
  create(name: string, given: NewEnvironment = {}): StoredEnvironment {
    if (!ENVIRONMENT_NAME.test(name)) throw new RangeError(`an environment has ${ENVIRONMENT_NAME_RULE}`)
    if (this.#environments.has(name)) throw new RangeError(`there is an environment ${name} already`)
    const environment = this.#make(name, {
      settings: { ...DEFAULT_SETTINGS, ...given.settings },
      clock: given.clock ?? RUNNING,
      ids: given.idSeed === undefined ? null : { seed: given.idSeed, position: 0 },
    })
    this.#environments.set(name, environment)
    this.#gathering.set(environment, [])
    try {
      environment.model.transact(() => {
        for (const client of given.clients ?? []) environment.model.tables.clients.put(client)
        given.fill?.(environment)
      })
      this.#bear(environment)
    } catch (error) {
      this.#environments.delete(name)
      this.#directory.leave(environment)
      throw error
    } finally {
      this.#gathering.delete(environment)
    }
    return environment
  }

  /**
   * Runs `work`, which may change rows, settings and the clock, as one commit: all of it happens, on disk as well, or
   * nothing does.
   */
  change<R>(environment: StoredEnvironment, work: () => R): R {
    if (this.#gathering.has(environment)) return work()
    const before = environment.record
    const changes: Change[] = []
    this.#gathering.set(environment, changes)
    const undo = (): void => {
      environment.model.undo(changes)
      environment.replay(before, undefined)
    }
    try {
      const result = environment.model.transact(work)
      this.#append(environment, { record: environment.record, changes }, undo)
      return result
    } catch (error) {
      undo()
      throw error
    } finally {
      this.#gathering.delete(environment)
    }
  }

  /** Removes an environment with everything in it; false when there is none of that name. */
  remove(name: string): boolean {
    const environment = this.#environments.get(name)
    if (!environment) return false
    const before = this.#environments
    this.#append(environment, { record: null }, () => {
      this.#environments = before
      this.#directory.rejoin(environment)
    })
    this.#environments = new Map([...before].filter(([other]) => other !== name))
    this.#directory.leave(environment)
    return true
  }

  byClient(clientId: string): { environment: StoredEnvironment; client: Client } | undefined {
    const found = this.#directory.clients.get(clientId)
    return found && { environment: found.environment, client: found.row }
  }

  byBearer(token: string): { environment: StoredEnvironment; token: BearerToken } | undefined {
    const found = this.#directory.bearerTokens.get(token)
    return found && { environment: found.environment, token: found.row }
  }

  byMagicLink(linkId: string): { environment: StoredEnvironment; link: MagicLink } | undefined {
    const found = this.#directory.magicLinks.get(linkId)
    return found && { environment: found.environment, link: found.row }
  }

  /** By the OAuth `state` that ties a third party's redirect back to its link. */
  byOauthState(state: string): { environment: StoredEnvironment; link: MagicLink } | undefined {
    const found = this.#directory.oauthStates.get(state)
    return found && { environment: found.environment, link: found.row }
  }

  /**
   * Resolves when every commit made so far is durable; undefined when nothing is pending.
   * @throws StorageError (503) when the disk refused; by then the model shows again what is durable
   */
  durable(): Promise<void> | undefined {
    return this.#log?.durable()
  }

  /** As `durable`, whatever the durability. */
  flushed(): Promise<void> | undefined {
    return this.#log?.flushed()
  }

  /** Writes the whole model into the state file while service goes on. @throws StorageError when the log had to stay */
  checkpoint(): Promise<void> {
    return this.#disk?.checkpoint() ?? RESOLVED
  }

  /** Writes everything into the state file and lets go of it. @throws StorageError when the log had to stay */
  close(): Promise<void> {
    return this.#disk?.close() ?? RESOLVED
  }

  /** Everything there is to store at this moment. */
  image(): StateImage {
    const environments = this.environments().map((environment) => [environment.name, environment.stored()] as const)
    return { version: STATE_VERSION, environments: byName(environments) }
  }

  #make(name: string, record: EnvironmentRecord): StoredEnvironment {
    const known: { environment?: StoredEnvironment } = {}
    const self = (): StoredEnvironment => {
      if (!known.environment) throw new Error(`the environment ${name} is not there yet`)
      return known.environment
    }
    known.environment = new StoredEnvironment({
      name,
      model: new Model((changes) => this.#commit(self(), changes), this.#directory.indexesOf(self)),
      record,
      time: this.#time,
      resolveConnector: this.#resolveConnector,
      changed: (environment, undo) => {
        if (this.#environments.get(name) !== environment || this.#gathering.has(environment)) return
        this.#append(environment, { record: environment.record }, undo)
      },
    })
    return known.environment
  }

  #commit(environment: StoredEnvironment, changes: readonly Change[]): void {
    const gathered = this.#gathering.get(environment)
    if (gathered) for (const change of changes) gathered.push(change)
    else this.#append(environment, { changes }, () => environment.model.undo(changes))
  }

  /** One commit: the environment and everything in it. */
  #bear(environment: StoredEnvironment): void {
    const changes = this.#gathering.get(environment) ?? []
    this.#append(environment, { record: environment.record, changes }, () => {
      environment.model.undo(changes)
      this.#environments.delete(environment.name)
    })
  }

  /** `undo` takes the commit back should the disk refuse it; whoever has read it meanwhile finds out by the count. */
  #append(
    environment: StoredEnvironment,
    commit: Pick<EnvironmentChange, 'record' | 'changes'>,
    undo: () => void,
  ): void {
    const { name, idsPosition: ids } = environment
    if (this.#environments.get(name) !== environment) throw removed(name)
    this.#log?.append({ environment: name, ...commit, ...(ids !== undefined && { ids }) }, () => {
      undo()
      environment.rollbacks++
    })
  }
}
