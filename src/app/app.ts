import { ToolSchemas } from '../contract/tool-schemas.ts'
import type { Reports } from '../control/context.ts'
import { StartError } from '../domain/start-error.ts'
import { documentChecks } from './document-checks.ts'
import { mountDoors } from './routes.ts'
import { BUNDLED, loadSeeds } from '../documents/load-seeds.ts'
import { Vocabularies } from '../domain/vocabulary.ts'
import { Environments } from '../environments/environments.ts'
import { createBodyReader } from '../http/body.ts'
import type { Corridor } from '../app-services.ts'
import { type App, createFastExpress } from '../http/fast-express.ts'
import { LastingReplies } from '../http/cached-responses.ts'
import { SILENT } from '../http/log.ts'
import { type JournalFile, openJournalFile } from '../request-journal/journal-file.ts'
import { Journals } from '../request-journal/journals.ts'
import { limitsOf } from '../http/server-limits.ts'
import { type Serving, servingOf } from '../http/serving.ts'
import { refuseExpectation } from '../http/unmet-expectation.ts'
import { answerUnreadable } from '../http/unreadable-request.ts'
import { OPERATIONS } from '../operations/table.ts'
import { ScenarioJoint } from './scenarios.ts'
import { watchFiles } from './reload.ts'
import type { EnvironmentScenarios } from '../scenarios/scenarios.ts'
import { notApplied, type SimulatorOptions } from './options.ts'
import { systemTime } from '../state/model/clock.ts'
import { ConnectorDirectory } from '../state/model/connector-directory.ts'
import type { Environment } from '../state/environment.ts'
import { ClientIdTakenError } from '../state/credential-index.ts'
import { RandomIds } from '../state/model/ids.ts'
import type { Model } from '../state/model/model.ts'
import { finishIndexes } from '../state/registry-loading.ts'
import { openWorld, type World } from '../state/environment-registry.ts'
import { reportsOf } from './reports.ts'
import { ContractRecords } from '../verdict/records.ts'
import { startThirdParties, type ThirdParties } from '../third-party/third-parties.ts'

export type { SimulatorOptions } from './options.ts'

export interface Simulator {
  /** For tests without a port. */
  readonly app: App
  readonly world: World
  /** What was asked and what it caused, by environment. */
  readonly journals: Journals
  /** Which scenarios an environment has, in which state, and how often their rules fired. */
  scenarios(environment: Environment): EnvironmentScenarios
  /** The first client of the default environment. */
  readonly client: { readonly id: string; readonly secret: string }
  /** What the start has to say. */
  readonly notices: readonly string[]
  /** The certificate that clients of an HTTPS server with a throw-away certificate have to trust. */
  readonly authorityFile: string | undefined
  /** What clients did wrong and what they never exercised. */
  readonly reports: Reports
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
    durability: options.durability,
    fileSystem: options.fileSystem,
    time: options.time,
    resolveConnector: (model, keyId) => memo(connectors, model, () => new ConnectorDirectory(model)).find(keyId),
  })
  const scenarios: ScenarioJoint = new ScenarioJoint({
    world,
    documents: documentChecks(options.allowOutbound),
    thirdParty: (environment) => thirdParties.client(environment),
  })
  const thirdParties = await startThirdParties({
    environment: (name) => world.environment(name),
    intercept: scenarios.intercept,
    allowOutbound: options.allowOutbound,
    // What a third party has issued it must not forget: the service would come with a token that nobody knows.
    settled: () => world.flushed(),
  })
  const environments = new Environments({
    world,
    thirdParty: (environment) => thirdParties.client(environment),
    seed: () => loadSeeds(options.seeds ?? [BUNDLED], documentChecks(options.allowOutbound)),
    clock: { now: options.clock, frozen: options.freeze },
    idSeed: options.idSeed,
    time: options.time,
    // The scenarios of the start begin with the environment, not with its first request.
    created: (environment) => void scenarios.directory.of(environment),
  })
  try {
    const notices = [...world.notices, ...(await seedDefault(world, environments, options))]
    await startScenarios(world, scenarios, options)
    return await assemble({ world, thirdParties, environments, scenarios, notices, options })
  } catch (error) {
    await thirdParties.close()
    await world.close()
    throw error
  }
}

/** A new environment gets the seed; one that the state file holds stays as it is. */
async function seedDefault(world: World, environments: Environments, options: SimulatorOptions): Promise<string[]> {
  if (world.environment(DEFAULT_ENVIRONMENT)) return notApplied(options)
  try {
    await environments.createDefault(DEFAULT_ENVIRONMENT)
  } catch (error) {
    if (!(error instanceof ClientIdTakenError)) throw error
    throw new StartError(
      `${options.state ?? 'the state'}: it has no environment ${DEFAULT_ENVIRONMENT}, and cannot get one from the seed: ` +
        `${error.message}. Rename that environment, or use another --state file or --fresh`,
    )
  }
  // Should the disk refuse it, there would be nobody to serve.
  await world.flushed()
  return []
}

async function startScenarios(world: World, scenarios: ScenarioJoint, options: SimulatorOptions): Promise<void> {
  const standard = world.environment(DEFAULT_ENVIRONMENT)
  if (standard && options.scenarios) await scenarios.startWith(options.scenarios, standard)
}

interface Parts {
  world: World
  thirdParties: ThirdParties
  environments: Environments
  scenarios: ScenarioJoint
  notices: readonly string[]
  options: SimulatorOptions
}

async function assemble({ world, thirdParties, environments, scenarios, notices, options }: Parts): Promise<Simulator> {
  const { app, createFastServer } = createFastExpress()
  const corridor = corridorOf({ world, thirdParties, environments, scenarios, options })
  const { journals } = corridor
  const reports = reportsOf(corridor)
  const journalFile = journalFileOf(options, corridor)
  const closing = new AbortController()
  mountDoors(app, corridor, { environments, scenarios, reports, options, closing: closing.signal })
  const { serving, tls } = await transport(createFastServer, corridor, options)
  const reloadable = { world, environments, directory: scenarios.directory, defaultEnvironment: DEFAULT_ENVIRONMENT }
  const reloading = options.watch ? await watchFiles(options, reloadable, corridor.log) : undefined
  const [client] = world.environment(DEFAULT_ENVIRONMENT)?.model.tables.clients.values() ?? []
  return {
    app,
    world,
    journals,
    scenarios: (environment) => scenarios.directory.of(environment),
    notices,
    client: { id: client?.id ?? '', secret: client?.client_secret ?? '' },
    authorityFile: tls?.authorityFile,
    reports,
    listen: async (address) => {
      const where = await serving.listen(address)
      void finishIndexes(world.environments())
      return where
    },
    close: async () => {
      // Whoever waits or watches would keep the server open.
      closing.abort()
      journals.close()
      scenarios.pauses.close()
      await reloading?.close()
      await serving.close()
      await journalFile?.close()
      await tls?.release()
      await thirdParties.close()
      await world.close()
    },
  }
}

function journalFileOf({ journalFile: path }: SimulatorOptions, { journals, log }: Corridor): JournalFile | undefined {
  if (path === undefined) return undefined
  const file = openJournalFile(path, (message) => log.warn(message))
  journals.observe((entry) => file.append(entry))
  return file
}

/** The server, with its certificate when it has one. Certificates are for clients, who live in real time. */
async function transport(createFastServer: CreateFastServer, corridor: Corridor, options: SimulatorOptions) {
  const { tls: asked } = options
  const limits = limitsOf(options.limits)
  const certificates = asked && (await import('../tls/server-credentials.ts'))
  const tls = certificates && (await certificates.serverCredentials(asked, systemTime()))
  const server = await createFastServer(limits, tls)
  const ids = new RandomIds()
  server.on('clientError', answerUnreadable(ids, corridor))
  server.on('checkExpectation', refuseExpectation(corridor, ids))
  return { serving: servingOf(server, tls ? 'https' : 'http', limits.closeTimeout), tls }
}
type CreateFastServer = ReturnType<typeof createFastExpress>['createFastServer']

function corridorOf({ world, thirdParties, environments, scenarios, options }: Omit<Parts, 'notices'>): Corridor {
  return {
    world,
    arrive: (clientId, secret) => environments.arrive(clientId, secret),
    thirdParty: (environment, trail) => thirdParties.client(environment, trail),
    operations: options.operations ?? OPERATIONS,
    toolSchemas: new ToolSchemas(),
    lasting: new LastingReplies(),
    vocabularies: new Vocabularies(),
    scenarios: (environment) => scenarios.directory.of(environment),
    pauses: scenarios.pauses,
    journals: new Journals({ capacity: options.journalCapacity ?? JOURNAL_CAPACITY, maxBytes: JOURNAL_BYTES }),
    records: new ContractRecords(),
    defaultEnvironment: () => world.environment(DEFAULT_ENVIRONMENT),
    readBody: createBodyReader(options.bodyLimit ?? BODY_LIMIT),
    log: options.log ?? SILENT,
    realTime: options.time ?? systemTime,
    baseUrl: options.baseUrl,
    strict: options.strict ?? false,
    observe: options.observe,
  }
}

function memo<Key extends object, Value>(map: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
