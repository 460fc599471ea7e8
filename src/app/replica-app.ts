import { jsonText } from '../model/domain/json.ts'
import { createHmac } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { readTextFiles } from '../files/text-files.ts'
import { once } from '../model/domain/once.ts'
import { StartError } from '../model/domain/start-error.ts'
import { SILENT } from '../servers/http/log.ts'
import type { FastExpress } from '../servers/http/server.ts'
import { Database } from '../servers/replicas/database.ts'
import { Replica, type Term, type TermParts } from '../servers/replicas/replica.ts'
import { RandomIds, systemTime } from '../state/model/time-and-ids.ts'
import { VERSION } from '../model/version.ts'
import { createHttpServer } from './http-server.ts'
import type { AppOptions } from './options.ts'

const DEFAULT_SCHEMA = 'toolmock'
const DEFAULT_LEASE = 6000

const NOT_SYNCHRONOUS = 'synchronous_commit is off: a crash of the database may lose changes that were answered'

/** It knows whether it is active once it listens: the others need its address. */
export async function createReplicaApp(
  options: AppOptions & { readonly state: string },
  fast: FastExpress,
  createCore: (options: AppOptions, fast: FastExpress, replica: TermParts) => Promise<Term>,
) {
  refuseTogether(options)
  const { log = SILENT, lease: leaseMs = DEFAULT_LEASE } = options
  const database = new Database(options.state, options.stateSchema ?? DEFAULT_SCHEMA, leaseMs)
  let replica: Replica | undefined
  const term = (): Term | undefined => replica?.term
  try {
    const { secret, synchronous_commit: commit, synchronous_standby_names: standbys } = await database.open()
    log.info(`${database.place}: synchronous_commit is ${commit}, synchronous_standby_names is ${standbys || 'empty'}`)
    const settings = await replicaSettings(options, secret)
    const listener = (request: IncomingMessage, response: ServerResponse): void => replica?.listener(request, response)
    const server = await createHttpServer(options, fast, listener, () => term()?.services)
    return {
      ...server,
      listener,
      get services() {
        const active = term()
        if (active) return active.services
        throw new Error('this replica is not active')
      },
      get client() {
        return term()?.client ?? { id: '', secret: '' }
      },
      get standsBy() {
        return term() === undefined
      },
      notices: commit === 'off' ? [NOT_SYNCHRONOUS] : [],
      get methodTable() {
        return term()?.rpc?.table
      },
      listen: async (address: { host: string; port: number }) => {
        const bound = await server.listen(address)
        const self = {
          id: new RandomIds().id('replica'),
          url: options.replicaUrl ?? ownUrl(bound),
          version: VERSION,
          settings,
        }
        const startTerm = (parts: TermParts): Promise<Term> => createCore(options, fast, parts)
        const { shutdown, time = systemTime } = options
        replica = new Replica({ database, secret, leaseMs, self, admission: options, shutdown, log, time, startTerm })
        await replica.start()
        return bound
      },
      close: once(async () => {
        await replica?.leave()
        await server.close()
        await (replica ?? database).close()
      }),
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** @throws StartError */
function refuseTogether({ fresh, tls }: AppOptions): void {
  if (fresh === true) {
    throw new StartError(
      '--fresh replaces the whole state, which other replicas may be serving: it cannot be used with a database. POST /_mock/reset resets an environment; --state-schema NAME starts in other tables',
    )
  }
  if (tls && !('cert' in tls)) {
    throw new StartError(
      '--tls makes a certificate that other replicas do not trust: give --tls-cert and --tls-key of one that they do, or let the load balancer serve HTTPS',
    )
  }
}

/** Every address of this machine is none that others can call: its name is. */
function ownUrl({ url, host, port }: { url: string; host: string; port: number }): string {
  return host === '0.0.0.0' || host === '::' ? `${new URL(url).protocol}//${hostname()}:${port}` : url
}

/** What all replicas should have been started with: digests, because values can be secrets and the contents of files long. */
async function replicaSettings(options: AppOptions, secret: string): Promise<Record<string, string>> {
  const { seeds = [], scenarios = [], extensions = [], descriptors = [] } = options
  const settings: Record<string, unknown> = {
    seed: await fileContents(seeds),
    scenario: await fileContents(scenarios),
    extension: await fileContents(extensions),
    descriptors: await fileContents(descriptors),
    clock: [options.clock, options.freeze],
    'id-seed': options.idSeed,
    strict: options.strict,
    'documented-only': options.documentedOnly,
    mcp: options.mcp,
    'allow-outbound': options.allowOutbound,
    'base-url': options.baseUrl,
    'admin-token': options.adminToken,
    'allow-host': options.allowHosts,
    durability: options.durability,
    'body-limit': options.bodyLimit,
    'journal-size': options.journalCapacity,
    webhook: options.webhooks,
    lease: options.lease ?? DEFAULT_LEASE,
  }
  const digest = (value: unknown): string =>
    createHmac('sha256', secret)
      .update(jsonText(value ?? null))
      .digest('hex')
      .slice(0, 16)
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, digest(value)]))
}

/** The contents of files and folders; a name that is no path stands for itself. */
async function fileContents(paths: readonly string[]): Promise<string[]> {
  const read = async (path: string): Promise<string[]> => {
    const stats = await stat(path).catch(() => undefined)
    if (!stats?.isDirectory()) return [stats ? await readFile(path, 'base64') : path]
    return (await readTextFiles(path, [])).map(({ text }) => text)
  }
  return (await Promise.all(paths.map(read))).flat()
}
