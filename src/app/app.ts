import { setMaxListeners } from 'node:events'
import type { RequestListener } from 'node:http'
import type { AppServices } from '../servers/control/app-services.ts'
import { ToolSchemas } from '../model/contract/tool-schemas.ts'
import type { DocumentChecks } from '../files/connector-checks.ts'
import {
  bundledScenario,
  bundledScenarios,
  loadExtensions,
  loadScenarios,
  loadSeeds,
  withExtensions,
} from '../files/load.ts'
import { BUNDLED, bundledNames } from '../files/package-files.ts'
import { mayBeCalled } from '../model/domain/base-url.ts'
import { instant } from '../model/domain/instant.ts'
import type { SeedBundle } from '../model/domain/seed.ts'
import { StartError } from '../model/domain/start-error.ts'
import type { Webhook } from '../model/domain/webhook.ts'
import { EnvironmentProvisioner } from '../state/provisioning.ts'
import { ResponseCache } from '../servers/http/wire-response.ts'
import { Extensions } from '../servers/http/extensions.ts'
import { SILENT } from '../servers/http/log.ts'
import { createFastExpress, type FastExpress, type Serving } from '../servers/http/server.ts'
import { lazyImport, once } from '../model/domain/once.ts'
import { OPERATIONS } from '../service/operations/table.ts'
import type { JournalFile } from '../journal/request-journal/journal-file.ts'
import { Journals } from '../journal/request-journal/journal.ts'
import { RequestEntries } from '../journal/request-journal/request-entries.ts'
import { ScenarioRegistry } from '../scenarios/environment-scenarios.ts'
import { Pauses } from '../scenarios/pauses.ts'
import { thirdPartyInterceptor } from '../scenarios/third-party.ts'
import { restartRekeyed } from '../state/collections.ts'
import { ClientIdTakenError, EnvironmentRegistry } from '../state/environment-registry.ts'
import { RandomIds, systemTime } from '../state/model/time-and-ids.ts'
import { startThirdParties } from '../service/third-party/client.ts'
import type { Term, TermParts } from '../servers/replicas/replica.ts'
import { ContractRecords, countEntry } from '../journal/verdict/contract-record.ts'
import { VERSION } from '../model/version.ts'
import { Webhooks } from '../service/webhooks/webhooks.ts'
import { documentChecks } from './document-checks.ts'
import { createHttpServer } from './http-server.ts'
import { type AppOptions, DEFAULT_ENVIRONMENT, isDatabaseUrl, notApplied } from './options.ts'
import { mountRoutes } from './routes.ts'

export type { AppOptions } from './options.ts'

export interface App {
  /** For tests without a port. */
  readonly listener: RequestListener
  readonly services: AppServices
  /** The first client of the default environment. */
  readonly client: { readonly id: string; readonly secret: string }
  /** Whether another replica is active: this one then knows no client. */
  readonly standsBy: boolean
  /** Notices for the user once the server is started. */
  readonly notices: readonly string[]
  /** The certificate that clients of an HTTPS server with a temporary certificate have to trust. */
  readonly authorityFile: string | undefined
  /** The variables by which clients of every language trust that authority; empty without one. */
  readonly trust: Readonly<Record<string, string>>
  /** What is served as gRPC, gRPC-Web and Connect; undefined without descriptors. */
  readonly methodTable: string | undefined
  listen: Serving['listen']
  /** Stops serving, then writes the state. */
  close(): Promise<void>
}

const MAX_BODY = 1024 * 1024
/** Documents are larger than what operations take. */
const MAX_CONTROL_BODY = 64 * 1024 * 1024
/** Of a whole state, got or put. The longest text that Node.js can make is twice as long. */
const MAX_STATE = 256 * 1024 * 1024
const MAX_EVENT_STREAMS = 500
/** Accounts that take about two seconds to generate. */
const MANY_ACCOUNTS = 20_000
const WEBHOOK_TIMEOUT = 10_000
const JOURNAL_CAPACITY = 10_000
const JOURNAL_BYTES = 64 * 1024 * 1024

/** Starts everything but the listening. @throws StartError for a file that cannot be used */
export async function createApp(options: AppOptions = {}): Promise<App> {
  const fast = createFastExpress()
  const { state } = options
  if (isDatabaseUrl(state)) {
    const { createReplicaApp } = await import('./replica-app.ts')
    return createReplicaApp({ ...options, state }, fast, createCore)
  }
  const core = await createCore(options, fast)
  const { listener, services, client, notices, rpc } = core
  try {
    const server = await createHttpServer(options, fast, listener, () => services)
    return {
      ...server,
      listener,
      services,
      client,
      standsBy: false,
      notices,
      methodTable: rpc?.table,
      close: async () => {
        await core.endWaits()
        await server.close()
        await core.close(false)
      },
    }
  } catch (error) {
    await core.endWaits()
    await core.close(false)
    throw error
  }
}

/** Everything of a server but the server itself. */
async function createCore(options: AppOptions, { createFastApp }: FastExpress, replica?: TermParts): Promise<Term> {
  const closing = new AbortController()
  // Each event stream listens; Node.js warns of more than ten.
  setMaxListeners(0, closing.signal)
  const services = await createServices(options, closing.signal, replica)
  const { registry, thirdParties } = services
  try {
    if (replica) markIncomplete(services)
    const notices = [
      ...registry.notices,
      ...(await seedDefault(services, options, replica?.place.file ?? options.state)),
      ...restartReloadedCollections(services),
    ]
    refuseUndocumentedMcp(services)
    // Once it is loaded, what imports it for a request cannot fail.
    if (options.mcp) await import('../servers/mcp/virtual-servers.ts')
    await startScenarios(services, options)
    const rpc = await rpcOf(options, services)
    const listener = mountRoutes(createFastApp(), services, rpc)
    const journalFile = options.journalFile === undefined ? undefined : await openJournal(options.journalFile, services)
    const reloading = options.watch ? await (await import('./reload.ts')).watchFiles(options, services) : undefined
    // A start that fails sends no event, and the journal file has each attempt.
    services.webhooks.start()
    const [client] = services.defaultEnvironment()?.model.tables.clients.values() ?? []
    return {
      listener,
      services,
      notices,
      rpc,
      client: { id: client?.id ?? '', secret: client?.client_secret ?? '' },
      endWaits: async () => {
        closing.abort()
        services.journals.close()
        services.pauses.close()
        services.webhooks.close()
        await reloading?.close()
      },
      close: async (leave) => {
        await journalFile?.close()
        await thirdParties.close()
        await (leave ? registry.leave() : registry.close())
      },
    }
  } catch (error) {
    await thirdParties.close()
    await (replica ? registry.leave() : registry.close())
    throw error
  }
}

/** Opens the state, and makes everything that the parts of the server share. @throws StartError */
async function createServices(
  options: AppOptions,
  closing: AbortSignal,
  replica: TermParts | undefined,
): Promise<AppServices> {
  const { documentedOnly = false, mcp = false, time, log, idSeed } = options
  const realTime = time ?? systemTime
  const pauses = new Pauses()
  const ownChecks = documentChecks(options.allowOutbound)
  const extensions = new Extensions(await loadExtensions(options, ownChecks), { documentedOnly })
  const checks = withExtensions(ownChecks, extensions)
  const scenarios = new ScenarioRegistry({
    named: (name, environment) => bundledScenario(name, { checks, connectors: environment.connectors }),
    names: () => bundledNames('scenario'),
    all: once(() => bundledScenarios(checks)),
  })
  const environmentTime = replica?.time ?? time
  const registry = new EnvironmentRegistry({ time: environmentTime, lease: replica?.place.lease })
  const defaultEnvironment = () => registry.environment(DEFAULT_ENVIRONMENT)
  const journals = new Journals({
    capacity: options.journalCapacity ?? JOURNAL_CAPACITY,
    maxBytes: JOURNAL_BYTES,
    realTime,
    defaultEnvironment,
  })
  const records = new ContractRecords((name) => registry.environment(name))
  journals.observe(countEntry.bind(undefined, records))
  if (options.observeEntry) journals.observe(options.observeEntry)
  const entries = new RequestEntries({
    journals,
    realTime,
    requestIds: (use) => (use === 'control' ? new RandomIds() : registry.requestIds(use, idSeed)),
    durable: (readGuard) => registry.durable(readGuard),
  })
  const webhooks = new Webhooks({
    ofServer: callableWebhooks(options),
    isOff: documentedOnly,
    warn: (message) => log?.warn(message),
    registry,
    journals,
    entries,
    scenarios,
    pauses,
    realTime,
    timeout: options.webhookTimeout ?? WEBHOOK_TIMEOUT,
  })
  const seed = once(async () => {
    const read = await loadSeeds(options.seeds ?? [BUNDLED], checks, (line) => log?.info(line))
    const count = read.generate.reduce((sum, { accounts }) => sum + accounts, 0)
    if (count >= MANY_ACCOUNTS) options.progress?.(`the seed generates ${count} accounts`)
    return read
  })
  await registry.open({
    file: options.state ?? undefined,
    fresh: options.fresh,
    durability: options.durability,
    fileSystem: options.fileSystem,
    events: webhooks,
    beforeNew: replica ? undefined : async () => checkParts(options, checks, await seed()),
    ...replica?.place,
  })
  const thirdParties = await startThirdParties({
    registry,
    intercept: thirdPartyInterceptor({ scenarios, pauses }),
    allowOutbound: options.allowOutbound,
    wait: (milliseconds, response) => pauses.wait(milliseconds, response),
  })
  return {
    registry,
    thirdParties,
    scenarios,
    webhooks,
    pauses,
    closing,
    documentChecks: checks,
    extensions,
    replicas: replica?.replicas ?? (() => Promise.resolve({ active: null, replicas: [] })),
    admission: { ...options, judgedElsewhere: replica?.judgedElsewhere },
    version: VERSION,
    startedAt: instant(realTime()),
    environments: new EnvironmentProvisioner({
      registry,
      thirdParty: (environment) => thirdParties.client(environment),
      seed,
      clock: { now: options.clock, frozen: options.freeze },
      idSeed,
      time: environmentTime,
      // Scenarios of the start count from the creation of an environment, not from its first request.
      created: (environment) => void scenarios.of(environment),
    }),
    defaultEnvironment,
    operations: options.operations ?? OPERATIONS,
    toolSchemas: new ToolSchemas((message) => log?.warn(message)),
    responseCache: new ResponseCache(),
    journals,
    records,
    reports: lazyImport(async () => {
      const { createReports } = await import('../journal/verdict/reports.ts')
      const parts = { version: VERSION, registry, journals, records, scenarios, realTime, documentedOnly, mcp }
      return createReports({ ...parts, bundledScenarios: () => bundledNames('scenario') })
    }),
    entries,
    bodyLimit: options.bodyLimit ?? MAX_BODY,
    controlBodyLimit: options.bodyLimit ?? MAX_CONTROL_BODY,
    stateLimit: options.stateLimit ?? MAX_STATE,
    baseUrl: options.baseUrl,
    strict: options.strict ?? false,
    documentedOnly,
    mcp,
    log: log ?? SILENT,
    realTime,
    observeControl: options.observeControl,
    shutdown: options.shutdown,
    eventStreams: { open: new Set(), most: options.eventStreams ?? MAX_EVENT_STREAMS },
  }
}

/** @throws StartError for a webhook that may not be called */
function callableWebhooks({ webhooks = [], allowOutbound = false }: AppOptions): readonly Webhook[] {
  for (const { id, url } of webhooks)
    if (!mayBeCalled(url, allowOutbound))
      throw new StartError(
        `the webhook ${id} is not on loopback: name a server on loopback, or allow it with --allow-outbound`,
      )
  return webhooks
}

/** What another replica has recorded about the environments of a state is gone with it. */
function markIncomplete({ registry, journals, records, realTime }: AppServices): void {
  const since = instant(realTime())
  for (const environment of registry.environments()) {
    journals.of(environment).incompleteSince = since
    records.of(environment.name).incompleteSince = since
  }
}

/** A new default environment gets the seed; one that the state file holds stays as it is. */
async function seedDefault(
  { registry, environments }: AppServices,
  options: AppOptions,
  place: string | null | undefined,
): Promise<string[]> {
  if (registry.environment(DEFAULT_ENVIRONMENT)) return notApplied(options)
  try {
    await environments.createDefault(DEFAULT_ENVIRONMENT, options.test)
  } catch (error) {
    if (!(error instanceof ClientIdTakenError)) throw error
    throw new StartError(
      `${place ?? 'the state'}: it has no environment ${DEFAULT_ENVIRONMENT}, and cannot get one from the seed: ` +
        `${error.message}. Rename that environment, or use another --state file or --fresh`,
    )
  }
  // A server whose disk refuses the seed must not start.
  await registry.flushed()
  return []
}

/** The state can have items of an extension as another file described it. */
function restartReloadedCollections({ registry, extensions }: AppServices): string[] {
  return registry
    .environments()
    .flatMap((environment) =>
      extensions.all.flatMap((extension) =>
        environment.model.transact(() =>
          restartRekeyed(environment, extension).map(
            (name) =>
              `the collection ${name} of ${extension.connector} begins again in the environment ${environment.name}: its items had another key`,
          ),
        ),
      ),
    )
}

/** @throws StartError for virtual MCP servers together with `--documented-only` (G61) */
function refuseUndocumentedMcp({ documentedOnly, mcp, defaultEnvironment }: AppServices): void {
  const isSet = defaultEnvironment()?.settings.virtual_mcp === true
  if (!documentedOnly || !(mcp || isSet)) return
  const asked = mcp ? '--mcp' : 'the setting virtual_mcp of the default environment'
  throw new StartError(
    `${asked} and --documented-only cannot be used together: the service document lists no MCP server. Leave one of them out`,
  )
}

/** Starts the scenarios of `--scenario` in every environment. @throws StartError for a name or file that cannot be used */
async function startScenarios(services: AppServices, { scenarios: names, seeds }: AppOptions): Promise<void> {
  const environment = services.defaultEnvironment()
  if (!environment || !names) return
  const { connectors } = environment
  services.scenarios.startWith(await loadScenarios(names, { checks: services.documentChecks, connectors, seeds }))
  services.scenarios.of(environment)
}

/** One that fails neither replaces a state nor leaves one, whose seed a later start would not apply. */
async function checkParts(options: AppOptions, checks: DocumentChecks, seed: SeedBundle): Promise<void> {
  const { seeds, scenarios, descriptors, tls } = options
  if (scenarios?.length) {
    const { connectorsIn } = await import('../files/seed-checks.ts')
    await loadScenarios(scenarios, { checks, connectors: connectorsIn(seed), seeds })
  }
  if (descriptors?.length) await (await import('../servers/rpc/descriptors.ts')).readDescriptors(descriptors)
  if (tls && 'cert' in tls)
    await (await import('../servers/tls/server-credentials.ts')).serverCredentials(tls, systemTime())
  await options.tryAddress?.()
}

/** Loaded only where there are descriptors. */
async function rpcOf({ descriptors = [] }: AppOptions, services: AppServices) {
  if (descriptors.length === 0) return undefined
  const { createRpc } = await import('../servers/rpc/rpc.ts')
  return createRpc(descriptors, services)
}

async function openJournal(path: string, { journals, log, registry }: AppServices): Promise<JournalFile> {
  const [{ openJournalFile }, { explainEntry: explain }] = await Promise.all([
    import('../journal/request-journal/journal-file.ts'),
    import('../journal/request-journal/explain.ts'),
  ])
  const file = openJournalFile(path, (message) => log.warn(message))
  journals.observe((entry) => {
    const environment = registry.environment(entry.environment)
    // Its journal is asked for now, because the environment may be removed before the entry is written.
    const journal = environment && journals.of(environment)
    file.append(entry, () => journal && explain(journal, entry.id, environment))
  })
  return file
}
