import type { Client } from '../domain/client.ts'
import type { ThirdParty } from '../domain/ports.ts'
import { isClientPattern, type SeedBundle } from '../domain/seed.ts'
import { systemTime, type TimeSource } from '../state/model/clock.ts'
import { putSeed, seedExpander } from '../state/seeding.ts'
import type { StoredEnvironment } from '../state/stored-environment.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import { environmentNameFor, fittingPattern } from './client-pattern.ts'
import {
  changedSeed,
  exactSeed,
  extended,
  keptRows,
  type Origin,
  refill,
  reseeded,
  withConnectors,
  withoutClients,
} from './origin.ts'
import { clockStateOf, type StartClock, standing } from './start-clock.ts'

export interface EnvironmentsOptions {
  readonly registry: EnvironmentRegistry
  readonly thirdParty: (environment: StoredEnvironment) => ThirdParty
  /** The seed of the server, which every environment without one of its own is made from; loaded when it is first needed. */
  readonly seed: () => Promise<SeedBundle>
  /** How clocks start, where nobody says otherwise. */
  readonly clock?: StartClock | undefined
  /** Ids of new environments repeat between runs; random when absent. */
  readonly idSeed?: number | undefined
  readonly time?: TimeSource | undefined
  /** Told of every environment but the first as soon as it is there. */
  readonly created?: ((environment: StoredEnvironment) => void) | undefined
}

/** What a new environment may be given. */
export interface EnvironmentRequest {
  /** Generated when absent. */
  readonly name?: string | undefined
  /** Instead of the server's seed. */
  readonly seed?: SeedBundle | undefined
  readonly clock?: StartClock | undefined
  readonly idSeed?: number | undefined
  /** Its only client; else those of the given seed, else a generated one. */
  readonly client?: Client | undefined
}

export interface CreatedEnvironment {
  readonly environment: StoredEnvironment
  /** Its first client. */
  readonly client: Client
}

/** There is an environment of that name. */
export class EnvironmentExistsError extends Error {
  override readonly name = 'EnvironmentExistsError'

  constructor(readonly environment: string) {
    super(`there is an environment ${JSON.stringify(environment)} already; take another name, or remove that one first`)
  }
}

/** Makes, fills, resets and removes environments (1.2): worlds of their own that the client credentials choose. */
export class Environments {
  readonly #options: EnvironmentsOptions
  /** By environment; what a state file brought has none until it is asked for. */
  readonly #origins = new WeakMap<StoredEnvironment, Origin>()
  /** Environments being made for a client id, so that concurrent first requests make one. */
  readonly #arriving = new Map<string, Promise<CreatedEnvironment>>()
  #generatedNames = 0
  #seed: Promise<SeedBundle> | undefined

  constructor(options: EnvironmentsOptions) {
    this.#options = options
  }

  /**
   * Makes an environment with everything in it, or nothing.
   * @throws EnvironmentExistsError; ClientIdTakenError for a client that another environment has
   */
  async create(request: EnvironmentRequest = {}): Promise<CreatedEnvironment> {
    const ofServer = await this.serverSeed()
    const { seed } = request
    const created = await (seed
      ? this.#make(request, withConnectors(seed, ofServer), false)
      : this.#make(request, withoutClients(ofServer), true))
    this.#options.created?.(created.environment)
    return created
  }

  /** Makes the environment that has the server's seed together with its clients. */
  async createDefault(name: string): Promise<CreatedEnvironment> {
    const seed = await this.serverSeed()
    return this.#make({ name, seed }, seed, true)
  }

  async #make(request: EnvironmentRequest, seed: SeedBundle, ofServer: boolean): Promise<CreatedEnvironment> {
    const { registry, thirdParty } = this.#options
    const expand = await seedExpander(seed)
    const name = request.name ?? this.#generatedName()
    if (registry.environment(name)) throw new EnvironmentExistsError(name)
    const clock = request.clock ?? this.#options.clock ?? {}
    let exact = seed
    const environment = registry.create(name, {
      settings: seed.settings,
      clock: clockStateOf(clock, (this.#options.time ?? systemTime)()),
      idSeed: request.idSeed ?? this.#options.idSeed,
      fill: (made) => {
        for (const client of this.#clientsOf(made, request)) made.model.tables.clients.put(client)
        exact = exactSeed(made, expand(made))
        putSeed(made, thirdParty(made), withoutClients(exact))
      },
    })
    const kept = keptRows(environment, exact)
    this.#origins.set(environment, { seed, exact, ofServer, clock: standing(clock, environment), kept })
    const [client] = environment.model.tables.clients.values()
    if (!client) throw new Error(`the environment ${name} was made without a client`)
    return { environment, client }
  }

  /** The seed that every environment without one of its own is made from. */
  serverSeed(): Promise<SeedBundle> {
    this.#seed ??= this.#options.seed()
    return this.#seed
  }

  /** Removes an environment with everything in it; false when there is none of that name. */
  remove(name: string): boolean {
    return this.#options.registry.remove(name)
  }

  /**
   * The environment of a client id that nobody has, but that fits a client id pattern of a seed with this secret: made now,
   * once. Undefined when there is no such pattern.
   */
  async arrive(clientId: string, secret: string): Promise<CreatedEnvironment | undefined> {
    const seed = await this.#seedWithPattern(clientId, secret)
    if (!seed) return undefined
    const own = seed === (await this.serverSeed()) ? undefined : withoutClients(seed)
    const arriving = this.#arriving.get(clientId)
    if (arriving) return arriving
    const { registry } = this.#options
    const known = registry.byClient(clientId)
    if (known) return known
    const name = environmentNameFor(clientId, (taken) => registry.environment(taken) !== undefined)
    const made = this.create({ name, seed: own, client: { id: clientId, client_secret: secret } })
    this.#arriving.set(clientId, made)
    return made.finally(() => this.#arriving.delete(clientId))
  }

  /** Adds a seed to an environment, now and for every reset to come. @throws ClientIdTakenError */
  async add(environment: StoredEnvironment, seed: SeedBundle): Promise<void> {
    const { registry, thirdParty } = this.#options
    const origin = await this.#originOf(environment)
    const expand = await seedExpander(seed)
    const exact = registry.change(environment, () => {
      const written = exactSeed(environment, expand(environment))
      environment.configure(seed.settings)
      putSeed(environment, thirdParty(environment), written)
      return written
    })
    this.#origins.set(environment, extended(origin, environment, { seed, exact }))
  }

  /**
   * Takes another seed for the server's. New environments are made from it, and each that was made from the earlier one gets
   * it on top of what it holds; its clients belong to the environment of the given name.
   * @throws ClientIdTakenError
   */
  async reseed(seed: SeedBundle, ownerOfClients: string): Promise<void> {
    const { registry, thirdParty } = this.#options
    for (const environment of registry.environments()) {
      const origin = await this.#originOf(environment)
      if (!origin.ofServer) continue
      const changed = changedSeed(origin, environment.name === ownerOfClients ? seed : withoutClients(seed))
      const exact = registry.change(environment, () => {
        const written = exactSeed(environment, changed)
        environment.configure(seed.settings)
        putSeed(environment, thirdParty(environment), written)
        return written
      })
      this.#origins.set(environment, reseeded(origin, environment, { seed: changed, exact }))
    }
    this.#seed = Promise.resolve(seed)
  }

  /** Takes model, settings and clock back to the seed, in one commit; clients and bearer tokens stay. */
  async reset(environment: StoredEnvironment): Promise<void> {
    const { registry, thirdParty, time = systemTime } = this.#options
    const origin = await this.#originOf(environment)
    registry.change(environment, () => {
      environment.clock.restore(clockStateOf(origin.clock, time()))
      refill(environment, thirdParty(environment), origin)
    })
  }

  /** What a state file brought goes back to the server's seed; entities of the seed that are there keep their ids. */
  async #originOf(environment: StoredEnvironment): Promise<Origin> {
    const known = this.#origins.get(environment)
    if (known) return known
    const seed = withoutClients(await this.serverSeed())
    const expand = await seedExpander(seed)
    const exact = exactSeed(environment, expand(environment))
    const origin = {
      seed,
      exact,
      ofServer: true,
      clock: standing(this.#options.clock ?? {}, environment),
      kept: keptRows(environment, exact),
    }
    this.#origins.set(environment, origin)
    return origin
  }

  /** A pattern of the server's seed makes environments from that; one that was added to an environment, from its seed. */
  async #seedWithPattern(clientId: string, secret: string): Promise<SeedBundle | undefined> {
    const ofServer = await this.serverSeed()
    if (fittingPattern(ofServer, clientId, secret)) return ofServer
    for (const environment of this.#options.registry.environments()) {
      const origin = this.#origins.get(environment)
      if (origin && fittingPattern(origin.seed, clientId, secret)) return origin.seed
    }
    return undefined
  }

  #clientsOf(made: StoredEnvironment, { client, seed }: EnvironmentRequest): readonly Client[] {
    if (client) return [client]
    const given = (seed?.clients ?? []).filter(({ id }) => !isClientPattern(id))
    if (given.length > 0) return given
    let id = made.ids.id('client')
    while (this.#options.registry.byClient(id)) id = made.ids.id('client')
    return [{ id, client_secret: made.ids.opaque() }]
  }

  #generatedName(): string {
    const next = (): string => `env-${++this.#generatedNames}`
    let name = next()
    while (this.#options.registry.environment(name)) name = next()
    return name
  }
}
