import { createHmac } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { StartError } from '../domain/start-error.ts'
import { SILENT } from '../http/log.ts'
import { refuseExpectation } from '../http/refusal.ts'
import { type FastExpress, limitsOf, servingOf } from '../http/server.ts'
import { answerUnreadable } from '../http/unreadable-request.ts'
import { Database } from '../replicas/database.ts'
import { Replica, type Term, type TermParts } from '../replicas/replica.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { RandomIds } from '../state/model/time-and-ids.ts'
import type { ServerCredentials } from '../tls/server-credentials.ts'
import { VERSION } from '../version.ts'
import type { AppOptions } from './options.ts'

const DEFAULT_SCHEMA = 'toolmock'
const DEFAULT_LEASE = 6000

interface ReplicaTerm extends Term {
  readonly client: { readonly id: string; readonly secret: string }
  readonly rpc: Rpc | undefined
}

type CoreParts = Pick<TermParts, 'place' | 'replicas'> & {
  readonly judgedElsewhere: (request: IncomingMessage) => boolean | undefined
}

interface Parts {
  readonly fast: FastExpress
  readonly createCore: (options: AppOptions, fast: FastExpress, replica: CoreParts) => Promise<ReplicaTerm>
  readonly tlsOf: (options: AppOptions) => Promise<ServerCredentials | undefined>
}

/**
 * A server whose state is in PostgreSQL, beside others on the same one. It knows whether it is active once it listens: the
 * others need its address.
 */
export async function createReplicaApp(
  options: AppOptions & { readonly state: string },
  { fast, createCore, tlsOf }: Parts,
) {
  refuseTogether(options)
  const { log = SILENT, lease: leaseMs = DEFAULT_LEASE } = options
  const database = new Database(options.state, options.stateSchema ?? DEFAULT_SCHEMA, leaseMs)
  const limits = limitsOf(options.limits)
  const notices: string[] = []
  let replica: Replica<ReplicaTerm> | undefined
  try {
    const { secret, settings, warnings } = await database.open()
    notices.push(...warnings)
    log.info(settings)
    const tls = await tlsOf(options)
    const server = await fast.createFastServer(
      (request, response) => replica?.listener(request, response),
      limits,
      tls && { ...tls, ...(options.descriptors?.length && { ALPNProtocols: ['h2', 'http/1.1'] }) },
    )
    const serving = servingOf(server, tls ? 'https' : 'http', limits.closeTimeout)
    server.on(
      'clientError',
      ofTerm(() => replica?.term, answerUnreadable, dropUnreadable),
    )
    server.on(
      'checkExpectation',
      ofTerm(() => replica?.term, refuseExpectation, refuseExpected),
    )
    const http2 = options.descriptors?.length
      ? (await import('../rpc/one-port.ts')).serveHttp2(server, limits, (request, response) =>
          replica ? replica.serveHttp2(request, response) : false,
        )
      : undefined
    return {
      listener: (request: IncomingMessage, response: ServerResponse) => replica?.listener(request, response),
      get services() {
        if (replica?.term) return replica.term.services
        throw new Error('this replica is not active')
      },
      get client() {
        return replica?.term?.client ?? { id: '', secret: '' }
      },
      get standsBy() {
        return replica?.term === undefined
      },
      notices,
      authorityFile: undefined,
      trust: {},
      get methodTable() {
        return replica?.term?.rpc?.table
      },
      listen: async (address: { host: string; port: number }) => {
        const bound = await serving.listen(address)
        const url = options.replicaUrl ?? ownUrl(bound)
        const self = {
          id: new RandomIds().id('replica'),
          url,
          version: VERSION,
          settings: await settingsOf(options, secret),
        }
        const startTerm = async ({ place, replicas, arrivalOf }: TermParts): Promise<ReplicaTerm> => {
          const judgedElsewhere = (request: IncomingMessage) => arrivalOf(request)?.isAdmitted
          const term = await createCore(options, fast, { place, replicas, judgedElsewhere })
          void term.services.registry.makeIndexes()
          return term
        }
        replica = new Replica({
          database,
          secret,
          leaseMs,
          self,
          admission: options,
          shutdown: options.shutdown,
          log,
          startTerm,
        })
        await replica.start()
        notices.push(...(replica.term?.notices ?? []))
        return bound
      },
      close: async () => {
        await replica?.leave()
        http2?.close()
        await serving.close()
        await tls?.release()
        await (replica ?? database).close()
      },
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

/** The handler of the active term, whose journal records what it answers; the other one while this replica stands by. */
function ofTerm<Given extends unknown[]>(
  term: () => Term | undefined,
  create: (services: Term['services']) => (...given: Given) => void,
  otherwise: (...given: Given) => void,
): (...given: Given) => void {
  const handlers = new WeakMap<Term, (...given: Given) => void>()
  return (...given) => {
    const active = term()
    if (!active) {
      otherwise(...given)
      return
    }
    const handler = handlers.get(active) ?? create(active.services)
    handlers.set(active, handler)
    handler(...given)
  }
}

function dropUnreadable(_error: Error, socket: Duplex): void {
  if (!socket.writable) socket.destroy()
  else socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
}

function refuseExpected(_request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
  response.writeHead(417, { 'Content-Length': '0' }).end()
}

/** Every address of this machine is none that others can call: its name is. */
function ownUrl({ url, host, port }: { url: string; host: string; port: number }): string {
  return host === '0.0.0.0' || host === '::' ? `${new URL(url).protocol}//${hostname()}:${port}` : url
}

/** What all replicas should have been started with: digests, because values can be secrets and the contents of files long. */
async function settingsOf(options: AppOptions, secret: string): Promise<Record<string, string>> {
  const { seeds = [], scenarios = [], extensions = [], descriptors = [] } = options
  const given: Record<string, unknown> = {
    seed: await contents(seeds),
    scenario: await contents(scenarios),
    extension: await contents(extensions),
    descriptors: await contents(descriptors),
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
      .update(JSON.stringify(value ?? null))
      .digest('hex')
      .slice(0, 16)
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, digest(value)]))
}

/** The contents of files and folders; a name that is no path stands for itself. */
async function contents(paths: readonly string[]): Promise<string[]> {
  const read = async (path: string): Promise<string[]> => {
    const found = await stat(path).catch(() => undefined)
    if (!found) return [path]
    if (!found.isDirectory()) return [await readFile(path, 'base64')]
    const names = await readdir(path)
    return (await Promise.all(names.sort().map((name) => read(join(path, name))))).flat()
  }
  return (await Promise.all(paths.map(read))).flat()
}
