import { ToolSchemas } from '../contract/tool-schemas.ts'
import type { Reports } from '../control/context.ts'
import { StartError } from '../domain/start-error.ts'
import { documentChecks } from './document-checks.ts'
import { mountDoors } from './routes.ts'
import { BUNDLED, loadSeeds } from '../documents/load-seeds.ts'
import { Vocabularies } from '../domain/vocabulary.ts'
import { Environments } from '../environments/environments.ts'
import { createBodyReader } from '../http/body.ts'
import type { AppServices } from '../app-services.ts'
import { type ExpressApp, createFastExpress } from '../http/fast-express.ts'
import { ResponseCache } from '../http/cached-responses.ts'
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
import { notApplied, type AppOptions } from './options.ts'
import { systemTime } from '../state/model/clock.ts'
import { ConnectorDirectory } from '../state/model/connector-directory.ts'
import type { Environment } from '../state/environment.ts'
import { ClientIdTakenError } from '../state/credential-index.ts'
import { RandomIds } from '../state/model/ids.ts'
import type { Model } from '../state/model/model.ts'
import { finishIndexes } from '../state/registry-loading.ts'
import { openRegistry, type EnvironmentRegistry } from '../state/environment-registry.ts'
import { reportsOf } from './reports.ts'
import { ContractRecords } from '../verdict/records.ts'
import { startThirdParties, type ThirdParties } from '../third-party/third-parties.ts'

export type { AppOptions } from './options.ts'

export interface App {
  /** For tests without a port. */
  readonly express: ExpressApp
  readonly registry: EnvironmentRegistry
  /** What was asked and what it caused, by environment. */
  readonly journals: Journals
  /** Which scenarios an environment has, in which state, and how often their rules fired. */
  scenarios(environment: Environment): EnvironmentScenarios
  /** The first client of the default environment. */
  readonly client: { readonly id: string; readonly secret: string }
  /** What the start has to say. */
  readonly notices: readonly string[]
  /** The certificate that clients of an HTTPS server with a temporary certificate have to trust. */
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
export async function createApp(options: AppOptions = {}): Promise<App> {
  const connectors = new WeakMap<Model, ConnectorDirectory>()
  const registry = await openRegistry({
    file: options.state ?? undefined,
    fresh: options.fresh,
    durability: options.durability,
    fileSystem: options.fileSystem,
    time: options.time,
    resolveConnector: (model, keyId) => memo(connectors, model, () => new ConnectorDirectory(model)).find(keyId),
  })
  const scenarios: ScenarioJoint = new ScenarioJoint({
    registry,
    documents: documentChecks(options.allowOutbound),
    thirdParty: (environment) => thirdParties.client(environment),
  })
  const thirdParties = await startThirdParties({
    environment: (name) => registry.environment(name),
    intercept: scenarios.intercept,
    allowOutbound: options.allowOutbound,
    // What a third party has issued it must not forget: the service would come with a token that nobody knows.
    durable: () => registry.flushed(),
  })
  const environments = new Environments({
    registry,
    thirdParty: (environment) => thirdParties.client(environment),
    seed: () => loadSeeds(options.seeds ?? [BUNDLED], documentChecks(options.allowOutbound)),
    clock: { now: options.clock, frozen: options.freeze },
    idSeed: options.idSeed,
    time: options.time,
    // The scenarios of the start begin with the environment, not with its first request.
    created: (environment) => void scenarios.directory.of(environment),
  })
  try {
    const notices = [...registry.notices, ...(await seedDefault(registry, environments, options))]
    await startScenarios(registry, scenarios, options)
    return await assemble({ registry, thirdParties, environments, scenarios, notices, options })
  } catch (error) {
    await thirdParties.close()
    await registry.close()
    throw error
  }
}

/** A new environment gets the seed; one that the state file holds stays as it is. */
async function seedDefault(
  registry: EnvironmentRegistry,
  environments: Environments,
  options: AppOptions,
): Promise<string[]> {
  if (registry.environment(DEFAULT_ENVIRONMENT)) return notApplied(options)
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
  await registry.flushed()
  return []
}

async function startScenarios(
  registry: EnvironmentRegistry,
  scenarios: ScenarioJoint,
  options: AppOptions,
): Promise<void> {
  const standard = registry.environment(DEFAULT_ENVIRONMENT)
  if (standard && options.scenarios) await scenarios.startWith(options.scenarios, standard)
}

interface Parts {
  registry: EnvironmentRegistry
  thirdParties: ThirdParties
  environments: Environments
  scenarios: ScenarioJoint
  notices: readonly string[]
  options: AppOptions
}

async function assemble({ registry, thirdParties, environments, scenarios, notices, options }: Parts): Promise<App> {
  const { app: express, createFastServer } = createFastExpress()
  const services = appServices({ registry, thirdParties, environments, scenarios, options })
  const { journals } = services
  const reports = reportsOf(services)
  const journalFile = journalFileOf(options, services)
  const closing = new AbortController()
  mountDoors(express, services, { environments, scenarios, reports, options, closing: closing.signal })
  const { serving, tls } = await transport(createFastServer, services, options)
  const reloadable = { registry, environments, directory: scenarios.directory, defaultEnvironment: DEFAULT_ENVIRONMENT }
  const reloading = options.watch ? await watchFiles(options, reloadable, services.log) : undefined
  const [client] = registry.environment(DEFAULT_ENVIRONMENT)?.model.tables.clients.values() ?? []
  return {
    express,
    registry,
    journals,
    scenarios: (environment) => scenarios.directory.of(environment),
    notices,
    client: { id: client?.id ?? '', secret: client?.client_secret ?? '' },
    authorityFile: tls?.authorityFile,
    reports,
    listen: async (address) => {
      const where = await serving.listen(address)
      void finishIndexes(registry.environments())
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
      await registry.close()
    },
  }
}

function journalFileOf({ journalFile: path }: AppOptions, { journals, log }: AppServices): JournalFile | undefined {
  if (path === undefined) return undefined
  const file = openJournalFile(path, (message) => log.warn(message))
  journals.observe((entry) => file.append(entry))
  return file
}

/** The server, with its certificate when it has one. Certificates are for clients, who live in real time. */
async function transport(createFastServer: CreateFastServer, services: AppServices, options: AppOptions) {
  const { tls: asked } = options
  const limits = limitsOf(options.limits)
  const certificates = asked && (await import('../tls/server-credentials.ts'))
  const tls = certificates && (await certificates.serverCredentials(asked, systemTime()))
  const server = await createFastServer(limits, tls)
  const ids = new RandomIds()
  server.on('clientError', answerUnreadable(ids, services))
  server.on('checkExpectation', refuseExpectation(services, ids))
  return { serving: servingOf(server, tls ? 'https' : 'http', limits.closeTimeout), tls }
}
type CreateFastServer = ReturnType<typeof createFastExpress>['createFastServer']

function appServices({
  registry,
  thirdParties,
  environments,
  scenarios,
  options,
}: Omit<Parts, 'notices'>): AppServices {
  return {
    registry,
    arrive: (clientId, secret) => environments.arrive(clientId, secret),
    thirdParty: (environment, trace) => thirdParties.client(environment, trace),
    operations: options.operations ?? OPERATIONS,
    toolSchemas: new ToolSchemas(),
    cacheable: new ResponseCache(),
    vocabularies: new Vocabularies(),
    scenarios: (environment) => scenarios.directory.of(environment),
    pauses: scenarios.pauses,
    journals: new Journals({
      capacity: options.journalCapacity ?? JOURNAL_CAPACITY,
      maxBytes: JOURNAL_BYTES,
      realTime: options.time ?? systemTime,
      defaultEnvironment: () => registry.environment(DEFAULT_ENVIRONMENT),
    }),
    records: new ContractRecords(),
    defaultEnvironment: () => registry.environment(DEFAULT_ENVIRONMENT),
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
