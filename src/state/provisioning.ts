import { createHash } from 'node:crypto'
import type { Client } from '../model/domain/generated/tables.ts'
import { matchesGlob } from '../model/domain/value-match.ts'
import { CLOCK_YEARS, instant, isClockTime, milliseconds } from '../model/domain/instant.ts'
import { once } from '../model/domain/once.ts'
import type { ThirdParty } from '../model/domain/ports.ts'
import type { RequestTrace } from '../model/domain/request-trace.ts'
import type { Scenario } from '../model/domain/scenario.ts'
import { isSameSecret } from '../model/domain/secret.ts'
import { isClientPattern, type SeedBundle } from '../model/domain/seed.ts'
import { DEFAULT_SETTINGS } from '../model/domain/settings.ts'
import type { TestLabel } from '../model/domain/test-label.ts'
import type { Environment } from './environment.ts'
import { ClientIdTakenError, type EnvironmentRegistry } from './environment-registry.ts'
import { type ClockState, systemTime, type TimeSource } from './model/time-and-ids.ts'
import type { Baseline, StartClock } from './model/model.ts'
import { changedSeed, extendedBaseline, keptRows, reseededBaseline, withoutClients } from './baseline.ts'
import { EMPTIED_BY_RESET, rebuild } from './rebuild.ts'
import { exactSeed, fakerFor, putSeed } from './seeding.ts'
import { removedEnvironmentError, StorageError } from './wal/state-errors.ts'

export interface ProvisioningOptions {
  readonly registry: EnvironmentRegistry
  readonly thirdParty: (environment: Environment) => ThirdParty
  /** The seed of the server, which every environment without one of its own is made from; loaded when it is first needed. */
  readonly seed: () => Promise<SeedBundle>
  /** How clocks start when the request does not say. */
  readonly clock?: StartClock | undefined
  /** Ids of new environments repeat between runs; random when absent. */
  readonly idSeed?: number | undefined
  readonly time?: TimeSource | undefined
  /** Called for every environment but the first, as soon as it exists. */
  readonly created?: ((environment: Environment) => void) | undefined
}

export interface EnvironmentRequest {
  /** Generated when absent. */
  readonly name?: string | undefined
  /** Instead of the server's seed. */
  readonly seed?: SeedBundle | undefined
  readonly clock?: StartClock | undefined
  readonly idSeed?: number | undefined
  /** Its only client; else those of the given seed, else a generated one. */
  readonly client?: Client | undefined
  /** Scenarios that run from its start, beside those of the server. */
  readonly scenarios?: readonly Scenario[] | undefined
  readonly test?: TestLabel | undefined
}

export interface CreatedEnvironment {
  readonly environment: Environment
  /** Its first client. */
  readonly client: Client
}

export class EnvironmentExistsError extends Error {
  override readonly name = 'EnvironmentExistsError'

  constructor(readonly environment: string) {
    super(`there is an environment ${JSON.stringify(environment)} already; take another name, or remove that one first`)
  }
}

/** Makes environments from seeds and by client id patterns, and resets them (1.2). */
export class EnvironmentProvisioner {
  readonly #options: ProvisioningOptions
  /** Environments being made for a client id, so that concurrent first requests make one. */
  readonly #creating = new Map<string, Promise<CreatedEnvironment>>()
  #generatedNames = 0
  #seed: () => Promise<SeedBundle>
  /** Why the server's seed could not be read the last time; undefined when it could, or was not asked for. */
  seedProblem: string | undefined

  constructor(options: ProvisioningOptions) {
    this.#options = options
    this.#seed = once(options.seed)
  }

  /** All or nothing. @throws EnvironmentExistsError, ClientIdTakenError; StorageError where the seed cannot be read */
  async create(request: EnvironmentRequest = {}): Promise<CreatedEnvironment> {
    const source = this.#seed
    const ofServer = await this.serverSeed()
    const { seed } = request
    const created = await (seed
      ? this.#make(request, withConnectors(seed, ofServer))
      : this.#make(request, withoutClients(ofServer), source))
    if (!created) return this.create(request)
    this.#options.created?.(created.environment)
    return created
  }

  /** Makes the environment that has the server's seed together with its clients. @throws what reading the seed throws */
  async createDefault(name: string, test?: TestLabel): Promise<CreatedEnvironment> {
    const source = this.#seed
    const seed = await source()
    return (await this.#make({ name, seed, test }, seed, source)) ?? this.createDefault(name, test)
  }

  /** @param source where the server's seed came from. @returns undefined when the server has got another one meanwhile */
  async #make(
    request: EnvironmentRequest,
    seed: SeedBundle,
    source?: () => Promise<SeedBundle>,
  ): Promise<CreatedEnvironment | undefined> {
    const { registry, thirdParty, time } = this.#options
    const faker = await fakerFor(seed)
    if (source && source !== this.#seed) return undefined
    const name = request.name ?? this.#generatedName()
    if (registry.environment(name)) throw new EnvironmentExistsError(name)
    const start = request.clock ?? this.#options.clock ?? {}
    const clock = clockStateOf(start, (time ?? systemTime)())
    const idSeed = request.idSeed ?? this.#options.idSeed
    const settings = { ...DEFAULT_SETTINGS, ...seed.settings }
    const ids = idSeed === undefined ? null : { seed: idSeed, position: 0 }
    const environment = registry.create(name, { settings, clock, ids }, (created) => {
      for (const client of this.#clientsOf(created, request)) created.model.tables.clients.put(client)
      const exact = exactSeed(created, seed, faker)
      putSeed(created, thirdParty(created), withoutClients(exact))
      created.model.tables.origins.put({
        id: 'origin',
        seed,
        exact,
        of_server: source !== undefined,
        clock: repeatable(start, created),
        kept: keptRows(created, exact),
        ...(request.scenarios && { scenarios: [...request.scenarios] }),
        ...(request.test && { test: request.test }),
      })
    })
    const [client] = environment.model.tables.clients.values()
    if (!client) throw new Error(`the environment ${name} was made without a client`)
    return { environment, client }
  }

  /** @throws StorageError when it cannot be read; the next call tries again */
  async serverSeed(): Promise<SeedBundle> {
    try {
      const seed = await this.#seed()
      this.seedProblem = undefined
      return seed
    } catch (error) {
      const what = 'the seed of the server cannot be read'
      this.seedProblem = `${what}: ${error instanceof Error ? error.message : String(error)}`
      throw new StorageError(what, error)
    }
  }

  /**
   * Made once, for an unknown client id that fits a pattern of a seed with this secret; undefined when no seed has one.
   * @throws StorageError when there is one, and the server's seed cannot be read
   */
  async createForClient(clientId: string, secret: string): Promise<CreatedEnvironment | undefined> {
    const seed = await this.#seedWithPattern(clientId, secret)
    if (!seed) return undefined
    const ownSeed = seed === (await this.serverSeed()) ? undefined : withoutClients(seed)
    const creating = this.#creating.get(clientId)
    if (creating) return creating
    const { registry } = this.#options
    const existing = registry.byClient.get(clientId)
    if (existing) return existing
    const client = { id: clientId, client_secret: secret }
    const make = (): Promise<CreatedEnvironment> => {
      const name = environmentNameFor(clientId, (taken) => registry.environment(taken) !== undefined)
      return this.create({ name, seed: ownSeed, client })
    }
    const creation = make()
      .catch((error: unknown) => {
        if (!(error instanceof EnvironmentExistsError || error instanceof ClientIdTakenError)) throw error
        // Another request has taken the name or the client id meanwhile.
        return registry.byClient.get(clientId) ?? make()
      })
      .finally(() => this.#creating.delete(clientId))
    this.#creating.set(clientId, creation)
    return creation
  }

  /** Adds a seed to an environment, now and for every reset to come. @throws ClientIdTakenError */
  async add(environment: Environment, seed: SeedBundle, trace?: RequestTrace): Promise<void> {
    const faker = await fakerFor(seed)
    await this.#ensureBaseline(environment)
    environment.model.transact(() => {
      const exact = exactSeed(environment, seed, faker)
      this.#put(environment, seed, exact, trace)
      environment.model.tables.origins.put(extendedBaseline(baselineOf(environment), environment, { seed, exact }))
    })
  }

  /** Puts a seed on top of what an environment holds. Only inside a transaction. */
  #put(environment: Environment, seed: SeedBundle, exact: SeedBundle, trace?: RequestTrace): void {
    environment.configure(seed.settings)
    putSeed(environment, this.#options.thirdParty(environment), exact, trace)
  }

  /** Each environment made from the earlier seed gets it on top of what it holds. @throws ClientIdTakenError */
  async reseed(seed: SeedBundle, ownerOfClients: string): Promise<void> {
    const { registry } = this.#options
    const reached = new Set<Environment>()
    const next = (): Environment | undefined => registry.environments().find((each) => !reached.has(each))
    for (let environment = next(); environment; environment = next()) {
      reached.add(environment)
      await this.#reseed(environment, environment.name === ownerOfClients ? seed : withoutClients(seed))
      // New environments are made from it only once no disk can refuse it any more, and get the earlier one until then.
      await registry.flushed()
    }
    this.#seed = () => Promise.resolve(seed)
  }

  async #reseed(environment: Environment, serverSeed: SeedBundle): Promise<void> {
    await this.#ensureBaseline(environment)
    if (environment.isRemoved || !baselineOf(environment).of_server) return
    environment.model.transact(() => {
      const seed = changedSeed(baselineOf(environment), serverSeed)
      // Accounts that were generated once are not generated again.
      const exact = exactSeed(environment, seed, undefined)
      this.#put(environment, seed, exact)
      environment.model.tables.origins.put(reseededBaseline(baselineOf(environment), environment, { seed, exact }))
    })
  }

  /**
   * Resets model, settings and clock, together with what `more` changes, in one commit; clients and bearer tokens stay.
   * A `replacement` is the seed of later resets too. @throws ClientIdTakenError
   */
  async reset(environment: Environment, more: () => void = () => undefined, replacement?: SeedBundle): Promise<void> {
    const { thirdParty, time = systemTime } = this.#options
    const seed = replacement && withConnectors(replacement, await this.serverSeed())
    const faker = seed && (await fakerFor(seed))
    await this.#ensureBaseline(environment)
    const baseline = baselineOf(environment)
    const exact = seed ? exactSeed(environment, seed, faker) : baseline.exact
    const survivors = seed ? keptRows(environment, exact) : baseline.kept
    rebuild(environment, EMPTIED_BY_RESET, () => {
      environment.clock.become(clockStateOf(baseline.clock, time()))
      environment.replaceSettings({ ...DEFAULT_SETTINGS, ...exact.settings })
      const { connections, providers, origins, clients } = environment.model.tables
      for (const connection of survivors.connections) connections.put(connection)
      for (const provider of survivors.providers) providers.put(provider)
      putSeed(environment, thirdParty(environment), withoutClients(exact))
      if (seed) {
        for (const client of seed.clients) if (!isClientPattern(client.id)) clients.put(client)
        origins.put({ ...baseline, seed, exact, of_server: false, kept: keptRows(environment, exact) })
      }
      more()
    })
  }

  /** What an older state file brought goes back to the server's seed; entities of the seed that are there keep their ids. */
  async #ensureBaseline(environment: Environment): Promise<void> {
    const { origins } = environment.model.tables
    if (origins.get('origin')) return
    const seed = withoutClients(await this.serverSeed())
    const faker = await fakerFor(seed)
    if (origins.get('origin') || environment.isRemoved) return
    environment.model.transact(() => {
      const exact = exactSeed(environment, seed, faker)
      const clock = repeatable(this.#options.clock ?? {}, environment)
      origins.put({ id: 'origin', seed, exact, of_server: true, clock, kept: keptRows(environment, exact) })
    })
  }

  /** A pattern of the server's seed makes environments from that; one that was added to an environment, from its seed. */
  async #seedWithPattern(clientId: string, secret: string): Promise<SeedBundle | undefined> {
    const ofServer = await this.serverSeed().catch(() => undefined)
    if (ofServer && fittingPattern(ofServer, clientId, secret)) return ofServer
    for (const environment of this.#options.registry.environments()) {
      const seed = environment.model.tables.origins.get('origin')?.seed
      if (seed && fittingPattern(seed, clientId, secret)) return seed
    }
    return undefined
  }

  #clientsOf(environment: Environment, { client, seed }: EnvironmentRequest): readonly Client[] {
    if (client) return [client]
    const seedClients = (seed?.clients ?? []).filter(({ id }) => !isClientPattern(id))
    if (seedClients.length > 0) return seedClients
    let id = environment.ids.id('client')
    while (this.#options.registry.byClient.get(id)) id = environment.ids.id('client')
    return [{ id, client_secret: environment.ids.opaque() }]
  }

  #generatedName(): string {
    const next = (): string => `env-${++this.#generatedNames}`
    let name = next()
    while (this.#options.registry.environment(name)) name = next()
    return name
  }
}

/** @throws ServiceError UNAUTHENTICATED when the environment was removed: every other one has a baseline */
function baselineOf({ model, name }: Environment): Baseline {
  const baseline = model.tables.origins.get('origin')
  if (!baseline) throw removedEnvironmentError(name)
  return baseline
}

/** A seed that brings neither connectors nor connections is about those of the server. */
function withConnectors(seed: SeedBundle, ofServer: SeedBundle): SeedBundle {
  if (seed.connectors.length > 0 || seed.connections.length > 0) return seed
  return { ...seed, connectors: ofServer.connectors, connections: ofServer.connections }
}

const MAX_NAME = 64

/** The first client id pattern of a seed that fits both the id and the secret. */
function fittingPattern({ clients }: SeedBundle, id: string, secret: string): Client | undefined {
  return clients.find(
    (client) => isClientPattern(client.id) && matchesGlob(client.id, id) && isSameSecret(secret, client.client_secret),
  )
}

/** What a name cannot hold is replaced; a mark made of the id keeps two apart where that changes it or is taken. */
function environmentNameFor(clientId: string, isTaken: (name: string) => boolean): string {
  const plain = clientId.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, MAX_NAME)
  if (plain === clientId && !isTaken(plain)) return plain
  const mark = createHash('sha256').update(clientId.toWellFormed()).digest('hex').slice(0, 8)
  return `${plain.slice(0, MAX_NAME - mark.length - 1)}-${mark}`
}

/** The clock as it is stored, given real time. @throws RangeError for a time that no clock may show */
function clockStateOf({ now, frozen = false }: StartClock, realTime: number): ClockState {
  if (now !== undefined && !isClockTime(milliseconds(now))) throw new RangeError(`a clock shows ${CLOCK_YEARS}`)
  if (frozen) return { offset_ms: 0, frozen_at: instant(now === undefined ? realTime : milliseconds(now)) }
  return { offset_ms: now === undefined ? 0 : milliseconds(now) - realTime, frozen_at: null }
}

/** The same start for every reset, as it is stored: a clock that was frozen at the time of the start is frozen at that time again. */
function repeatable({ now, ...clock }: StartClock, { clock: currentClock }: Environment): StartClock {
  const at = now === undefined ? clock.frozen && currentClock.state.frozen_at : instant(milliseconds(now))
  return at ? { ...clock, now: at } : clock
}
