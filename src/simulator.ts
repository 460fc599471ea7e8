import { connectRoutes } from './connect/routes.ts'
import type { ObservedExchange } from './contract/observed-exchange.ts'
import { ToolSchemas } from './contract/tool-schemas.ts'
import { controlRoutes } from './control/routes.ts'
import { documentChecks } from './document-checks.ts'
import { BUNDLED, loadSeeds } from './documents/load-seeds.ts'
import type { Instant } from './domain/instant.ts'
import type { ThirdParty } from './domain/ports.ts'
import { Vocabularies } from './domain/vocabulary.ts'
import { Environments } from './environments/environments.ts'
import { createBodyReader } from './http/body.ts'
import type { Corridor } from './http/step.ts'
import { type App, createFastExpress } from './http/fast-express.ts'
import { PageJournal } from './http/page-journal.ts'
import { type Log, SILENT } from './http/log.ts'
import { openJournalFile } from './journal/journal-file.ts'
import { Journals } from './journal/journals.ts'
import { baseUrlOf } from './http/request-identity.ts'
import { type Serving, servingOf } from './http/serving.ts'
import { answerUnreadable } from './http/unreadable-request.ts'
import { requestIds, serviceRoutes, unexpectedError, unknownPath } from './http/routes.ts'
import { settleDue } from './operations/due.ts'
import { systemTime, type TimeSource } from './store/clock.ts'
import { ConnectorDirectory } from './store/connector-directory.ts'
import type { Environment } from './store/environment.ts'
import { RandomIds } from './store/ids.ts'
import type { Model } from './store/model.ts'
import { openWorld, type World } from './store/world.ts'
import { authorizeRouter } from './third-party/authorize.ts'
import { authorizeUrl, decide } from './third-party/consent.ts'
import { startThirdParties, type ThirdParties } from './third-party/third-parties.ts'
import type { TlsOptions } from './tls/options.ts'
import type { ServerCredentials } from './tls/server-credentials.ts'
import { VERSION } from './version.ts'

export interface SimulatorOptions {
  /** The state file; null or absent keeps everything in memory. */
  state?: string | null | undefined
  /** Ignore and replace what the state file holds. */
  fresh?: boolean | undefined
  /** Files, folders or `bundled`; the bundled seed when absent. */
  seeds?: readonly string[] | undefined
  /** Scenarios that run from the start in every environment: names of bundled ones, or files. */
  scenarios?: readonly string[] | undefined
  /** Where the clock of a new environment starts; real time when absent. */
  clock?: Instant | undefined
  /** Clocks of new environments stand still. */
  freeze?: boolean | undefined
  /** Ids, tokens and generated data of new environments repeat between runs; random when absent. */
  idSeed?: number | undefined
  /** Refuse what is otherwise ignored with a warning, and serve no Discovery operations. */
  strict?: boolean | undefined
  /** What the control API asks for. */
  adminToken?: string | undefined
  /** Hosts, beside those that are safe by themselves, at which the control API may be called. */
  allowHosts?: readonly string[] | undefined
  /** Connectors may name a server that is not on loopback. */
  allowOutbound?: boolean | undefined
  /** Reload seeds, connectors and scenarios when their files change. */
  watch?: boolean | undefined
  /** HTTPS; plain HTTP when absent (G50). */
  tls?: TlsOptions | undefined
  /** What links and redirects are built on; from each request when absent. */
  baseUrl?: string | undefined
  /** Largest body that is taken, in bytes; 1 MiB when absent (G7). */
  bodyLimit?: number | undefined
  /** How many requests the journal of an environment keeps; 10,000 when absent. */
  journalCapacity?: number | undefined
  /** Journal entries are appended to it as JSON lines too. */
  journalFile?: string | undefined
  log?: Log | undefined
  /** Sees every exchange of the API once it is over. */
  observe?: ((exchange: ObservedExchange) => void) | undefined
  time?: TimeSource | undefined
}

export interface Simulator {
  /** For tests without a port. */
  readonly app: App
  readonly world: World
  /** What was asked and what it caused, by environment. */
  readonly journals: Journals
  /** The first client of the default environment. */
  readonly client: { readonly id: string; readonly secret: string }
  /** What the start has to say. */
  readonly notices: readonly string[]
  /** The certificate that clients of an HTTPS server with a throw-away certificate have to trust. */
  readonly authorityFile: string | undefined
  listen: Serving['listen']
  /** Stops serving, then writes the state. */
  close(): Promise<void>
}

const DEFAULT_ENVIRONMENT = 'default'
const BODY_LIMIT = 1024 * 1024
const JOURNAL_CAPACITY = 10_000
const JOURNAL_BYTES = 64 * 1024 * 1024

/** Puts the rooms together. @throws StartError for a file that cannot be used */
export async function createSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const connectors = new WeakMap<Model, ConnectorDirectory>()
  const world = await openWorld({
    file: options.state ?? undefined,
    fresh: options.fresh,
    time: options.time,
    resolveConnector: (model, keyId) => memo(connectors, model, () => new ConnectorDirectory(model)).find(keyId),
  })
  const thirdParties = await startThirdParties({
    environment: (name) => world.environment(name),
    allowOutbound: options.allowOutbound,
  })
  const environments = new Environments({
    world,
    thirdParty: (environment) => thirdParties.client(environment),
    seed: () => loadSeeds(options.seeds ?? [BUNDLED], documentChecks(options.allowOutbound)),
    clock: { now: options.clock, frozen: options.freeze },
    idSeed: options.idSeed,
    time: options.time,
  })
  try {
    const notices = [...world.notices, ...(await seedDefault(world, environments, options))]
    return await assemble({ world, thirdParties, environments, notices, options })
  } catch (error) {
    await thirdParties.close()
    await world.close()
    throw error
  }
}

/** A new environment gets the seed; one that the state file holds stays as it is. */
async function seedDefault(world: World, environments: Environments, options: SimulatorOptions): Promise<string[]> {
  if (!world.environment(DEFAULT_ENVIRONMENT)) {
    await environments.createDefault(DEFAULT_ENVIRONMENT)
    return []
  }
  const { seeds, clock, freeze, idSeed } = options
  const unused = [
    ...(seeds === undefined ? [] : ['the seed']),
    ...(clock === undefined && freeze !== true ? [] : ['the clock']),
    ...(idSeed === undefined ? [] : ['the id seed']),
  ]
  const were = unused.length === 1 ? 'was' : 'were'
  return unused.length === 0
    ? []
    : [
        `the state file holds an environment already, which keeps its own: ${unused.join(', ')} ${were} not applied; --fresh starts anew`,
      ]
}

interface Parts {
  world: World
  thirdParties: ThirdParties
  environments: Environments
  notices: readonly string[]
  options: SimulatorOptions
}

async function assemble({ world, thirdParties, environments, notices, options }: Parts): Promise<Simulator> {
  const { app, createFastServer } = createFastExpress()
  const corridor = corridorOf({ world, thirdParties, environments, options })
  const { journals } = corridor
  const journalFile =
    options.journalFile === undefined ? undefined : openJournalFile(options.journalFile, corridor.log.warn)
  if (journalFile) journals.observe(journalFile.append)
  mount(app, corridor)
  const tls = options.tls && (await credentialsOf(options.tls))
  const server = await createFastServer(tls)
  server.on('clientError', answerUnreadable(new RandomIds()))
  const serving = servingOf(server, tls ? 'https' : 'http')
  const [client] = world.environment(DEFAULT_ENVIRONMENT)?.model.tables.clients.values() ?? []
  return {
    app,
    world,
    journals,
    notices,
    client: { id: client?.id ?? '', secret: client?.client_secret ?? '' },
    authorityFile: tls?.authorityFile,
    listen: (address) => serving.listen(address),
    close: async () => {
      // Whoever waits for an entry would keep the server open.
      journals.close()
      await serving.close()
      await journalFile?.close()
      await tls?.release()
      await thirdParties.close()
      await world.close()
    },
  }
}

/** Certificates are for clients, who live in real time. */
async function credentialsOf(options: TlsOptions): Promise<ServerCredentials> {
  const { serverCredentials } = await import('./tls/server-credentials.ts')
  return serverCredentials(options, systemTime())
}

function corridorOf({ world, thirdParties, environments, options }: Omit<Parts, 'notices'>): Corridor {
  return {
    world,
    arrive: (clientId, secret) => environments.arrive(clientId, secret),
    thirdParty: (environment, trail) => thirdParties.client(environment, trail),
    toolSchemas: new ToolSchemas(),
    vocabularies: new Vocabularies(),
    journals: new Journals({ capacity: options.journalCapacity ?? JOURNAL_CAPACITY, maxBytes: JOURNAL_BYTES }),
    defaultEnvironment: () => world.environment(DEFAULT_ENVIRONMENT),
    readBody: createBodyReader(options.bodyLimit ?? BODY_LIMIT),
    log: options.log ?? SILENT,
    realTime: options.time ?? systemTime,
    baseUrl: options.baseUrl,
    strict: options.strict ?? false,
    observe: options.observe,
  }
}

/** Every door of the house, in the order in which they are tried. */
function mount(app: App, corridor: Corridor): void {
  const { world, thirdParty } = corridor
  const ids = new RandomIds()
  const pages = new PageJournal(corridor, ids)
  app.use(serviceRoutes(corridor, ids))
  app.use(requestIds(ids))
  app.use(
    '/_mock',
    controlRoutes({ version: VERSION, ready: () => world.environment(DEFAULT_ENVIRONMENT) !== undefined }),
  )
  app.use(['/magic', '/connect', '/third-party'], pages.begin)
  app.use(
    '/third-party',
    authorizeRouter({
      environment: (name) => world.environment(name),
      visited: (request, environment, form) => void pages.visited(request, environment, form),
      failed: (request, message) => pages.failed(request, 'AUTHORIZATION_REFUSED', message),
      baseUrl: (request) => baseUrlOf(request, corridor.baseUrl),
    }),
  )
  app.use(
    connectRoutes({
      findLink: (id) => world.byMagicLink(id),
      findOauthState: (state) => world.byOauthState(state),
      thirdParty,
      authorizations: { authorizeUrl, decide },
      baseUrl: (request) => baseUrlOf(request, corridor.baseUrl),
      trail: (request, environment) => pages.visited(request, environment),
      failed: (request, code, message) => pages.failed(request, code, message),
      settle: (environment, trail) => void settleDue(environment, trail),
      settled: () => world.settled(),
    }),
  )
  app.use(unknownPath(corridor, ids))
  app.use(unexpectedError(corridor, ids))
}

function memo<Key extends object, Value>(map: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
