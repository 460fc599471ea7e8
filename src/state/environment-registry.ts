import type { BearerToken, Client, MagicLink } from '../model/domain/generated/tables.ts'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../model/domain/environment-name.ts'
import type { McpInstance, McpKey } from '../model/domain/session-token.ts'
import type { Ids } from '../model/domain/ports.ts'
import { type DiskOptions, type DiskStore, openDisk, type Stored } from './disk-store.ts'
import { Environment, type EventSender, type ReadGuard } from './environment.ts'
import { RandomIds, SeededIds, systemTime, type TimeSource } from './model/time-and-ids.ts'
import { type ExtraIndexes, SECTION_NAMES, TABLE_NAMES, type TableName } from './model/model.ts'
import { byName, type EnvironmentBasics, type StateContent } from './model/state-image.ts'
import type { Index, Row } from './model/table.ts'
import { SeedConflictError } from './seeding.ts'
import { lockState } from './state-file/state-lock.ts'
import { nodeFileSystem } from './wal/file-system.ts'
import type { LoggedCommit } from './wal/log-lines.ts'
import type { WriteAheadLog } from './wal/write-ahead-log.ts'

export interface RegistryOptions {
  time?: TimeSource | undefined
  /** Until when this process may answer from the model; for as long as it runs when absent. */
  lease?: ModelLease | undefined
}

/** What is stored where, and what hears of changes. Without a file everything is in memory only. */
export interface OpenOptions extends Optional<Omit<DiskOptions, 'capture'>> {
  /** What sends events of the environments. */
  readonly events?: EventSender | undefined
}

type Optional<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

export interface ModelLease {
  readonly isHeld: boolean
  /** @throws StorageError once another process may have the state */
  assertHeld(): void
}

const CHECKPOINT_AT = 64 * 1024 * 1024

type LoadedState = Pick<Stored, 'image' | 'commits'>

/** The environments of what was read, without a place to store them. */
export function readRegistry(stored: LoadedState): EnvironmentRegistry {
  const registry = new EnvironmentRegistry()
  registry.load(stored)
  return registry
}

export class EnvironmentRegistry {
  /** Notices of the start: a write cut short that was dropped. */
  notices: readonly string[] = []
  readonly #time: TimeSource
  #events: EventSender | undefined
  readonly #lease: ModelLease | undefined
  /** Absent when everything is in memory only. */
  #disk: DiskStore | undefined
  #environments = new Map<string, Environment>()
  #isLoading = false
  /** The positions of the ids of requests as they were stored, and the sequences that are in use. */
  #requestIds: Record<string, number> = {}
  readonly #sequences = new Map<string, SeededIds>()
  // The rows that identify the environment of a request, without a search in each environment (1.2). Only indexes change them.
  readonly byClient = new Map<string, { environment: Environment; client: Client }>()
  readonly byBearer = new Map<string, { environment: Environment; token: BearerToken }>()
  readonly byMagicLink = new Map<string, { environment: Environment; link: MagicLink }>()
  /** By the OAuth `state` that ties a third party's redirect back to its link. */
  readonly byOauthState = new Map<string, { environment: Environment; link: MagicLink }>()
  /** By the `kid` of a session token (G61). */
  readonly byMcpKey = new Map<string, { environment: Environment; key: McpKey }>()
  /** By the last part of the URL of an MCP instance (G67). */
  readonly byMcpInstance = new Map<string, { environment: Environment; instance: McpInstance }>()

  constructor({ time = systemTime, lease }: RegistryOptions = {}) {
    this.#time = time
    this.#lease = lease
  }

  get #log(): WriteAheadLog | undefined {
    return this.#disk?.log
  }

  /** Takes what a disk holds, and stores everything there from now on. Before anything is asked of it. @throws StateError */
  async open({ file, events, ...options }: OpenOptions): Promise<void> {
    this.#events = events
    if (file === undefined) return
    const { disk, stored } = await openDisk({
      file,
      fresh: options.fresh ?? false,
      durability: options.durability ?? 'strict',
      checkpointAt: options.checkpointAt ?? CHECKPOINT_AT,
      fileSystem: options.fileSystem ?? nodeFileSystem,
      lock: options.lock ?? ((path) => lockState(path, this.#time)),
      beforeNew: options.beforeNew,
      capture: (isLast) => this.image(isLast),
    })
    this.#disk = disk
    this.notices = stored.notices
    try {
      this.load(stored)
      // Once the lease is over, another process may have the state.
      this.#lease?.assertHeld()
      await disk.removeOldLogs(stored.image?.generation ?? 0)
    } catch (error) {
      await disk.abandon()
      throw error
    }
  }

  /** Fills the model, before anything is asked of it. */
  load({ image, commits }: LoadedState): void {
    this.#isLoading = true
    this.#loadImage(image)
    this.#replayCommits(commits)
    this.#isLoading = false
  }

  environment(name: string): Environment | undefined {
    return this.#environments.get(name)
  }

  environments(): Environment[] {
    return [...this.#environments.values()]
  }

  /** In one commit. @throws RangeError for a name that is taken or of another form; ClientIdTakenError */
  create(name: string, basics: EnvironmentBasics, fill: (environment: Environment) => void): Environment {
    if (!ENVIRONMENT_NAME.test(name)) throw new RangeError(`an environment has ${ENVIRONMENT_NAME_RULE}`)
    if (this.#environments.has(name)) throw new RangeError(`there is an environment ${name} already`)
    const environment = this.#makeEnvironment(name, basics)
    this.#environments.set(name, environment)
    const undo = (): void => {
      this.#environments.delete(name)
      environment.isRemoved = true
    }
    environment.begin(() => fill(environment), undo)
    return environment
  }

  /** Removes an environment with everything in it; false when there is none of that name. */
  remove(name: string): boolean {
    const environment = this.#environments.get(name)
    if (!environment) return false
    const before = this.#environments
    environment.commit({ record: null }, () => {
      environment.isRemoved = false
      this.#environments = before
      this.#index(environment, true)
    })
    environment.isRemoved = true
    this.#environments = new Map([...before].filter(([key]) => key !== name))
    this.#index(environment, false)
    return true
  }

  /**
   * Every answer waits for this once before it leaves: a second time would make it depend on later commits.
   * @param readGuard of a request that has waited for something else since it began to read
   * @throws StorageError (503) when the disk refused, by when the model shows again what is durable, or the lease is over
   */
  durable(readGuard?: ReadGuard): Promise<void> | undefined {
    const assertValid = (): void => {
      this.#lease?.assertHeld()
      readGuard?.assertValid()
    }
    try {
      this.#lease?.assertHeld()
      const pending = this.#log?.durable()
      if (pending) return pending.then(assertValid)
      assertValid()
      return undefined
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** Whether another process may have the state: an answer that was begun does not go on. */
  get isOver(): boolean {
    return this.#lease?.isHeld === false
  }

  /** As `durable`, with every durability. */
  flushed(): Promise<void> | undefined {
    return this.#log?.flushed()
  }

  /** Writes the whole model into the state file while requests go on. @throws StorageError when the log had to stay */
  async checkpoint(): Promise<void> {
    await this.#disk?.checkpoint()
  }

  /** Writes everything into the state file and gives it back. @throws StorageError when the log had to stay */
  async close(): Promise<void> {
    await this.#disk?.close()
  }

  /** As `close`, without a last state file: the write-ahead log stays beside it. For a state that others wait for. */
  async leave(): Promise<void> {
    await this.#disk?.leave()
  }

  /** Of no environment, whose names have no space. Seeded, each use has a sequence that others do not change. */
  requestIds(use: string, seed: number | undefined): Ids {
    if (seed === undefined) return new RandomIds()
    const position = this.#requestIds[use] ?? 0
    const ids = new SeededIds(`requests of ${use}`, { seed, position }, (upto, undo) =>
      this.#log?.append({ request_ids: { [use]: upto } }, undo),
    )
    this.#sequences.set(use, ids)
    return ids
  }

  image(isLast = false): StateContent {
    const environments = this.environments().map((each) => [each.name, each.stored(isLast)] as const)
    const request_ids = { ...this.#requestIds }
    for (const [use, ids] of this.#sequences)
      request_ids[use] = isLast ? ids.state.position : ids.reservedState.position
    return {
      ...(Object.keys(request_ids).length > 0 && { request_ids }),
      environments: byName(environments),
    }
  }

  #makeEnvironment(name: string, basics: EnvironmentBasics): Environment {
    return new Environment({
      name,
      basics,
      time: this.#time,
      log: this.#log,
      events: this.#events,
      indexes: (environment) => this.#indexesOf(environment),
    })
  }

  #loadImage(state: StateContent | undefined): void {
    this.#requestIds = { ...state?.request_ids }
    for (const [name, image] of Object.entries(state?.environments ?? {})) {
      const { settings, clock, ids, tables } = image
      const environment = this.#makeEnvironment(name, { settings, clock, ids })
      const { model } = environment
      this.#environments.set(name, environment)
      for (const name of TABLE_NAMES) for (const row of tables[name]) model.tables[name].load(row as never)
      for (const name of SECTION_NAMES) for (const row of image[name]) model.tables[name].load(row as never)
    }
  }

  #replayCommits(commits: readonly LoggedCommit[]): void {
    for (const commit of commits) {
      if ('request_ids' in commit) {
        Object.assign(this.#requestIds, commit.request_ids)
        continue
      }
      const { environment: name, record, ids, emptied = [], changes = [] } = commit
      let environment = this.#environments.get(name)
      if (record === null) {
        if (environment) this.#index(environment, false)
        this.#environments.delete(name)
        continue
      }
      // In the log of an earlier build also each change of settings or clock.
      if (environment && record) environment.load(record)
      else if (record) this.#environments.set(name, (environment = this.#makeEnvironment(name, record)))
      environment?.skipIds(ids)
      for (const table of emptied) environment?.model.empty(table)
      for (const change of changes) environment?.redo(change)
    }
  }

  #indexesOf(environment: Environment) {
    const { byClient, byBearer, byMagicLink, byOauthState, byMcpKey, byMcpInstance } = this
    const id = (row: Row): string => row.id
    const uuid = (instance: McpInstance): string => instance.uuid
    const foundLink = (link: MagicLink) => ({ environment, link })
    // The client credentials choose the environment, so that no two environments can share a client id.
    const refuseClient = (name: string, clientId: string): never => {
      throw new ClientIdTakenError(clientId, name)
    }
    // Random ids: the same one comes only with a state or a snapshot. What is on disk is loaded as it is.
    const refuse = (what: string) => (name: string) => {
      if (!this.#isLoading)
        throw new SeedConflictError(`${what} of the state belongs to the environment ${name}; nothing was changed`)
    }
    return {
      clients: [indexBy(environment, byClient, id, (client: Client) => ({ environment, client }), refuseClient)],
      bearer_tokens: [
        indexBy(environment, byBearer, id, (token: BearerToken) => ({ environment, token }), refuse('a bearer token')),
      ],
      magic_links: [
        indexBy(environment, byMagicLink, id, foundLink, refuse('a magic link')),
        indexBy(environment, byOauthState, ({ oauth_state }) => oauth_state, foundLink),
      ],
      mcp_instances: [
        indexBy(environment, byMcpInstance, uuid, (instance) => ({ environment, instance }), refuse('an MCP instance')),
      ],
      mcp_keys: [
        indexBy(environment, byMcpKey, id, (key: McpKey) => ({ environment, key }), refuse('a key of session tokens')),
      ],
    } satisfies ExtraIndexes
  }

  /** Puts the rows of a whole environment into the indexes over all environments, or takes them out. */
  #index(environment: Environment, isThere: boolean): void {
    for (const [name, indexes] of Object.entries(this.#indexesOf(environment)) as [TableName, Index<Row>[]][]) {
      for (const row of environment.model.tables[name].values())
        for (const index of indexes) index.update(isThere ? undefined : row, isThere ? row : undefined)
    }
  }
}

/** @param refuse called with the name of another environment that has the key */
function indexBy<T extends Row, Found extends { environment: Environment }>(
  environment: Environment,
  map: Map<string, Found>,
  keyOf: (row: T) => string,
  foundBy: (row: T) => Found,
  refuse: (environment: string, key: string) => void = () => undefined,
): Index<T> {
  return {
    update(before, after) {
      const owner = after && map.get(keyOf(after))?.environment
      if (owner && owner !== environment) refuse(owner.name, keyOf(after))
      if (before && map.get(keyOf(before))?.environment === environment) map.delete(keyOf(before))
      if (after) map.set(keyOf(after), foundBy(after))
    },
  }
}

export class ClientIdTakenError extends Error {
  override readonly name = 'ClientIdTakenError'

  constructor(
    readonly clientId: string,
    readonly environment: string,
  ) {
    super(`the client id ${JSON.stringify(clientId)} belongs to the environment ${environment}; client ids are unique`)
  }
}
