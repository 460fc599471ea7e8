import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { admitRequest } from '../control/admission.ts'
import type { AppServices } from '../control/app-services.ts'
import { controlErrorOf } from '../control/errors.ts'
import type { ControlReply } from '../control/call.ts'
import { stopAfter } from '../control/server.ts'
import { sendReply } from '../control/routes.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { isEncrypted, requestIdOf } from '../../model/domain/request-headers.ts'
import { errorReply, sendResponse, wireResponse } from '../http/wire-response.ts'
import { readSentBody, hasBody, restOf, type SentBody } from '../http/body.ts'
import type { Log } from '../http/log.ts'
import { hostError } from '../http/refusal.ts'
import { monotonicTime, RandomIds, type TimeSource } from '../../state/model/time-and-ids.ts'
import type { OpenOptions, RegistryOptions } from '../../state/environment-registry.ts'
import {
  type Database,
  type Leader,
  databaseFailure,
  type ReplicaRow,
  sqlState,
  STATE_NAME,
  UNDEFINED_TABLE,
} from './database.ts'
import { databaseFiles } from './database-files.ts'
import { type Arrival, EPOCH, expectsContinue, Forwarder, type ActiveReplica } from './forwarder.ts'
import { Lease } from './lease.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** What serves one opened state: of a server in a database, for as long as this replica is active. */
export interface Term {
  readonly listener: RequestListener
  readonly services: AppServices
  /** The first client of the default environment. */
  readonly client: { readonly id: string; readonly secret: string }
  readonly notices: readonly string[]
  readonly rpc: { readonly table: string } | undefined
  /** Ends what would keep requests waiting: long polls, event streams and the pauses of faults. */
  endWaits(): Promise<void>
  /** For when no request is under way. @param leave gives the state back without writing it as a whole */
  close(leave: boolean): Promise<void>
}

/** What a replica adds to a server: where the state is, what others have judged about requests, and which replicas there are. */
export interface TermParts {
  readonly place: Pick<OpenOptions & RegistryOptions, 'file' | 'fileSystem' | 'lock' | 'lease'>
  /** The environments' real time. */
  readonly time: TimeSource
  readonly judgedElsewhere: AppServices['admission']['judgedElsewhere']
  readonly replicas: AppServices['replicas']
}

export interface ReplicaOptions {
  readonly database: Database
  readonly secret: string
  readonly leaseMs: number
  readonly self: ReplicaRow
  readonly admission: AppServices['admission']
  readonly shutdown: AppServices['shutdown']
  readonly log: Log
  /** The clock of this machine. */
  readonly time: TimeSource
  readonly startTerm: (parts: TermParts) => Promise<Term>
}

/** Requests that wait while no replica is active. */
const MAX_WAITING = 1000
/** Of a larger body only the beginning is kept: it is sent on while it comes in, and only once. */
const MAX_KEPT_BODY = 1024 * 1024
/** Bytes of bodies that are kept until their requests are answered, because they may have to be sent again. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024
const MAX_BODY = 512 * 1024 * 1024
/** How long a request waits for an active replica, beside the lease of the one before. */
const WAIT_MS = 30_000

/** The lease should last so many times as long as the start of the active replica, which reads the state. */
const LEASE_OF_STARTS = 3
/** Polls of the row of the active replica within one lease. */
const POLLS = 4
/** Between two polls while requests wait. */
const POLL_SOON_MS = 25
/** How often a replica tells the others that it is there. */
const ANNOUNCE_MS = 5000
/** How long requests under way may take when the active replica leaves. */
const DRAIN_MS = 5000

const HEALTH = '/_mock/health'

/** One of several servers on the same state: the one with a term answers, the others stand by and forward. */
export class Replica {
  readonly #options: ReplicaOptions
  readonly #forwarder: Forwarder
  readonly #ids = new RandomIds()
  readonly #arrivals = new WeakMap<IncomingMessage, Arrival>()
  /** `polled` after each poll of the row of the active replica, `wanted` when one is needed now. */
  readonly #events = new EventEmitter<{ polled: []; wanted: [] }>().setMaxListeners(0)
  #lease: Lease | undefined
  /** Undefined while this replica stands by or reads the state. */
  #term: Term | undefined
  /** It does not become active any more. */
  #isLeaving = false
  /** Answers that the term has not finished. */
  #running = 0
  /** Its lease ends by the monotonic clock; `clockBehind`: of this machine, behind that of the environments. */
  #leader: (Leader & { readonly endsAt: number; readonly clockBehind: number }) | undefined
  #announcedAt = -Infinity
  /** After a takeover that failed. */
  #nextAttemptAt = -Infinity
  /** Why the database could not be asked the last time. */
  #databaseFailure: string | undefined
  /** The end of the lease under which the active replica was found not to serve. */
  #suspect: string | undefined
  #waiting = 0
  #keptBytes = 0
  #isClosed = false
  #polling: Promise<void> | undefined

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.#forwarder = new Forwarder(options.secret)
  }

  get term(): Term | undefined {
    return this.#term
  }

  /** Becomes active, or stands by. @throws what a first term throws */
  async start(): Promise<void> {
    const first = this.#pollLeader().then(() => (this.#isFree ? this.#takeOver(true) : undefined))
    this.#polling = first.then(
      () => this.#pollUntilClosed(),
      () => undefined,
    )
    await first
  }

  /** Lets another replica become active, and forwards until everything that waits is answered. */
  async leave(): Promise<void> {
    const { log, leaseMs, database, self } = this.#options
    const term = this.#term
    this.#isLeaving = true
    if (term) {
      await this.#closeTerm(term, (error) => {
        log.error('the last changes could not be written', this.#logFields({ error: databaseFailure(error) }))
      })
      this.#term = undefined
    }
    // This ends the reading of the state too.
    await this.#lease?.release().catch(() => undefined)
    if (term) log.info('this replica has left; another one becomes active', this.#logFields())
    await database.forget(self.id).catch(() => undefined)
    // Until a load balancer and the other replicas have looked again, they send requests here, which need an answer.
    await pause(leaseMs / POLLS + POLL_SOON_MS)
    // What waits here is answered by the next one.
    const until = monotonicTime() + leaseMs + WAIT_MS
    while (this.#waiting > 0 && monotonicTime() < until) await pause(POLL_SOON_MS)
  }

  /** After `leave`, once no request is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#events.emit('wanted')
    await this.#polling
    await this.#forwarder.close()
    await this.#options.database.close()
  }

  readonly listener: RequestListener = (request, response) => {
    const arrival = this.#forwarder.arrivalOf(request)
    if (arrival) {
      this.#arrivals.set(request, arrival)
      if (arrival.isEncrypted) request.headers['x-forwarded-proto'] ??= 'https'
    }
    // Clients that keep connections open go elsewhere before this process ends.
    if (this.#isLeaving) response.shouldKeepAlive = false
    if (this.#activeLease) {
      if (arrival && request.url === HEALTH) response.setHeader(EPOCH, String(this.#activeLease.epoch))
      this.#serveRequest(request, response)
    } else if (arrival) {
      // The connection is not used again: this process may end at any time.
      response.writeHead(421, this.#forwarder.notActive).end()
    } else {
      const error = hostError(request)
      if (error) this.#refuseRequest(request, response, error)
      else this.#standBy(request, response).catch(() => response.destroy())
    }
  }

  async describe(): ReturnType<AppServices['replicas']> {
    const { database } = this.#options
    const [leader, rows] = await Promise.all([database.leader(), database.replicas()]).catch((error: unknown) => {
      throw new ServiceError(
        'STORAGE_UNAVAILABLE',
        `${database.place}: the database does not answer: ${databaseFailure(error)}`,
      )
    })
    const active = rows.find(({ id }) => id === leader.id)
    const { id, url, epoch, expires_at, left_ms: left } = leader
    return {
      active: left > 0 && id !== null && url !== null && expires_at !== null ? { id, url, epoch, expires_at } : null,
      replicas: rows.map(({ settings, ...row }) => ({
        ...row,
        differs: active ? differingSettings(settings, active.settings) : [],
      })),
    }
  }

  get #activeLease(): Lease | undefined {
    return this.#term && !this.#isLeaving && this.#lease?.isHeld === true ? this.#lease : undefined
  }

  get #isFree(): boolean {
    const { schema_version: version = 0 } = this.#leader ?? {}
    const standsBy = !this.#term && !this.#isLeaving
    return standsBy && this.#left <= 0 && version <= SCHEMA_VERSION && monotonicTime() >= this.#nextAttemptAt
  }

  /** Milliseconds that the lease of the active replica lasts, as far as it is known. */
  get #left(): number {
    return this.#leader ? this.#leader.endsAt - monotonicTime() : 0
  }

  /** It may be asked to leave at each `await`. @throws Error */
  #assertStays(): void {
    if (this.#isLeaving) throw new Error('it was asked to leave')
  }

  #serveRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#running += 1
    response.once('close', () => (this.#running -= 1))
    this.#term?.listener(request, response)
  }

  /** Finishes what runs, and gives the state back. */
  async #closeTerm(term: Term, failed: (error: unknown) => void): Promise<void> {
    await term.endWaits()
    const until = monotonicTime() + DRAIN_MS
    while (this.#running > 0 && monotonicTime() < until) await pause(5)
    await term.close(true).catch(failed)
  }

  async #pollUntilClosed(): Promise<void> {
    const every = this.#options.leaseMs / POLLS
    for (;;) {
      const isWaitedFor = this.#waiting > 0 || this.#suspect !== undefined
      const untilFree = this.#leader ? Math.min(every, Math.max(POLL_SOON_MS, this.#left + 1)) : every
      const wait = this.#activeLease ? every : isWaitedFor ? POLL_SOON_MS : untilFree
      const signal = AbortSignal.timeout(Math.ceil(wait))
      if (!this.#isClosed) await once(this.#events, 'wanted', { signal }).catch(() => undefined)
      if (this.#isClosed) return
      await this.#pollLeader()
      if (this.#isFree && this.#databaseFailure === undefined) await this.#takeOver(false)
    }
  }

  async #pollLeader(): Promise<void> {
    const { database, self, log, time, shutdown } = this.#options
    const at = monotonicTime()
    try {
      const isDue = at - this.#announcedAt > ANNOUNCE_MS && !this.#isLeaving
      const leader = await (isDue ? database.announce(self) : database.leader())
      if (isDue) this.#announcedAt = at
      if (this.#databaseFailure !== undefined) log.info('the database answers again', this.#logFields())
      this.#databaseFailure = undefined
      const { epoch } = this.#leader ?? {}
      this.#leader = { ...leader, endsAt: at + leader.left_ms, clockBehind: (leader.clock ?? time()) - time() }
      if (leader.epoch !== epoch) this.#newLeader(leader)
      if (this.#suspect !== leader.expires_at) this.#suspect = undefined
    } catch (error) {
      if (sqlState(error) === UNDEFINED_TABLE && !this.#isLeaving) {
        log.error(
          `${database.place}: its tables were dropped, and with them the state; this replica stops`,
          this.#logFields(),
        )
        this.#isLeaving = true
        shutdown?.(1)
      } else if (this.#databaseFailure === undefined)
        log.warn('the database does not answer', this.#logFields({ error: databaseFailure(error) }))
      this.#databaseFailure = databaseFailure(error)
    }
    this.#events.emit('polled')
  }

  #newLeader({ epoch, id, url, schema_version: version }: Leader): void {
    const { self, log, database } = this.#options
    this.#forwarder.endBefore(epoch)
    if (id === self.id || id === null) return
    this.#warnOfClock()
    log.info('another replica is active; this one stands by', this.#logFields({ active: url, active_epoch: epoch }))
    if (version > SCHEMA_VERSION) log.warn(database.newerSchema(version), this.#logFields())
    void this.#warnOfDifferences()
  }

  #warnOfClock(): void {
    const { log, leaseMs } = this.#options
    const { clockBehind = 0 } = this.#leader ?? {}
    if (Math.abs(clockBehind) <= leaseMs) return
    const difference = `${Math.round(Math.abs(clockBehind) / 1000)} s ${clockBehind > 0 ? 'behind' : 'ahead of'}`
    const what = `the clock of this machine is ${difference} the clock of the replica that is or was active`
    log.warn(`${what}: set both by a time server; no environment's clock goes back`, this.#logFields())
  }

  async #warnOfDifferences(): Promise<void> {
    const { self, log } = this.#options
    const described = await this.describe().catch(() => undefined)
    const { differs = [] } = described?.replicas.find(({ id }) => id === self.id) ?? {}
    if (differs.length === 0) return
    const what = `the active replica was started with another ${differs.join(', ')}`
    log.warn(`${what}: its options count until it leaves`, this.#logFields())
  }

  /** @throws what the start of the term throws, when it is the first */
  async #takeOver(isFirst: boolean): Promise<void> {
    const { database, self, leaseMs, log, time, startTerm } = this.#options
    let lease: Lease | undefined
    let term: Term | undefined
    const began = monotonicTime()
    try {
      lease = await Lease.take(database, self, leaseMs, time)
      if (!lease) {
        await this.#pollLeader()
        return
      }
      this.#lease = lease
      this.#warnOfClock()
      this.#assertStays()
      this.#forwarder.endBefore(lease.epoch)
      term = await startTerm({
        place: {
          file: `${database.place}/${STATE_NAME}`,
          fileSystem: databaseFiles(database, lease),
          lock: () => Promise.resolve({ release: () => Promise.resolve() }),
          lease,
        },
        time: lease.time,
        judgedElsewhere: (request) => this.#arrivals.get(request)?.isAdmitted,
        replicas: () => this.describe(),
      })
      if (!lease.isHeld) throw new Error('the lease ended while the state was read')
      this.#assertStays()
      this.#term = term
      this.#events.emit('polled')
      const ms = Math.round(monotonicTime() - began)
      log.info('this replica is active', this.#logFields({ loaded_in_ms: ms }))
      this.#adviseLease(ms)
      for (const notice of term.notices) log.warn(notice, this.#logFields())
      void lease.ended.then((reason) => this.#endTerm(reason))
      await this.#pollLeader()
    } catch (error) {
      // A machine that is too slow for its lease stands by and tries again.
      const isLost = lease?.isHeld === false
      await term?.close(true).catch(() => undefined)
      await lease?.release().catch(() => undefined)
      if (isFirst && !isLost && !this.#isLeaving) throw error
      this.#adviseLease(Math.round(monotonicTime() - began))
      // Others have a chance before it tries again.
      this.#nextAttemptAt = monotonicTime() + leaseMs
      if (!this.#isLeaving)
        log.error('this replica could not become active', this.#logFields({ error: databaseFailure(error) }))
    }
  }

  /** Reading the state is one piece of work, in which no lease is renewed. */
  #adviseLease(startMs: number): void {
    const { leaseMs, log } = this.#options
    if (startMs <= leaseMs / LEASE_OF_STARTS) return
    log.warn(
      `the start took ${startMs} ms, more than a third of the lease; give --lease ${LEASE_OF_STARTS * startMs} or more`,
      this.#logFields(),
    )
  }

  /** The model is dropped without writing: another replica may have it. */
  async #endTerm(reason: string | undefined): Promise<void> {
    const term = this.#term
    if (reason === undefined || !term) return
    this.#options.log.warn(`this replica is active no more: ${reason}`, this.#logFields())
    this.#term = undefined
    this.#leader = undefined
    await this.#closeTerm(term, () => undefined)
    this.#events.emit('wanted')
  }

  #logFields(more: object = {}): object {
    const { epoch } = this.#lease ?? {}
    return { replica: this.#options.self.id, ...(epoch === undefined ? {} : { epoch }), ...more }
  }

  async #standBy(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = await this.#ownReply(request, response).catch((error: unknown) => {
      const controlError = controlErrorOf(error)
      if (!controlError) throw error
      return controlError
    })
    if (reply) {
      sendReply(response, reply)
      return
    }
    const arrival = this.#judgeArrival(request)
    let body: SentBody | undefined
    let bufferedBytes = 0
    const keep = (bytes: number): void => {
      if (this.#keptBytes + bytes - bufferedBytes > MAX_KEPT_BYTES)
        throw unavailable('this replica forwards too many bodies at the same time, and the request was not begun')
      this.#keptBytes += bytes - bufferedBytes
      bufferedBytes = bytes
    }
    const bodyOf = async (): Promise<SentBody> => {
      if (!hasBody(request) || expectsContinue(request)) return NO_BODY
      // Both sides may send at the same time: it is sent on while it comes in, and only once.
      if (isStreamed(request)) return { start: Buffer.alloc(0), rest: restOf(request, MAX_BODY, 0) }
      // Before it comes in, and as much as it can be where its length is not known.
      keep(Math.min(Number(request.headers['content-length'] ?? Infinity), MAX_KEPT_BODY))
      const body = await readSentBody(request, MAX_BODY, MAX_KEPT_BODY)
      keep(Math.min(body.start.length, MAX_KEPT_BODY))
      return body
    }
    try {
      for (;;) {
        const target = await this.#activeTarget(() => response.destroyed)
        if (response.destroyed) return
        // Not begun here or anywhere: the term answers it as one that has just come.
        if (target === 'self' && !body) {
          this.#serveRequest(request, response)
          return
        }
        const { url } = this.#options.self
        const to = target === 'self' ? { url, epoch: this.#lease?.epoch ?? 0 } : target
        body ??= await bodyOf()
        const outcome = await this.#forwarder.forward(to, { request, response, body, arrival })
        if (outcome === 'answered') return
        if (outcome === 'unknown') throw unavailable(UNKNOWN)
        if (outcome === 'unsendable')
          throw new ServiceError('MALFORMED_BODY', 'the request cannot be sent on to the active replica')
        if (body.rest) throw unavailable('the request was not begun, and its body cannot be sent again; send it again')
        // Another one may have become active meanwhile.
        if (this.#leader?.epoch === to.epoch) this.#suspect = this.#leader.expires_at ?? undefined
        this.#events.emit('wanted')
      }
    } catch (error) {
      if (isStreamed(request) && !response.headersSent) {
        const status = { 'grpc-status': UNAVAILABLE, 'grpc-message': encodeURIComponent(databaseFailure(error)) }
        response.writeHead(200, { 'content-type': 'application/grpc', ...status }).end()
        return
      }
      this.#refuseRequest(request, response, error)
    } finally {
      keep(0)
    }
  }

  #refuseRequest(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const id = requestIdOf(request, this.#ids)
    sendResponse(response, wireResponse(errorReply(error, id), id))
  }

  /** Web pages are kept out of the control API by the names and addresses of the replica that they called. */
  #judgeArrival(request: IncomingMessage): Arrival {
    let isAdmitted = requestPath(request).startsWith('/_mock')
    try {
      if (isAdmitted) admitRequest(request, this.#options.admission)
    } catch {
      isAdmitted = false
    }
    return { isAdmitted, isEncrypted: isEncrypted(request.socket) }
  }

  /** Where a request is answered now; undefined while no replica is known to be active. */
  #activeReplica(): ActiveReplica | 'self' | undefined {
    if (this.#activeLease) return 'self'
    const { epoch = 0, id, url, expires_at: end } = this.#leader ?? {}
    const { self } = this.#options
    // Also the lease of a process that was here before, at the same address.
    const isNone = !id || !url || id === self.id || url === self.url
    return isNone || this.#left <= 0 || this.#suspect === end ? undefined : { epoch, url }
  }

  /** Waits until a replica is active. @throws ServiceError when that takes too long, or too many wait already */
  async #activeTarget(isGone: () => boolean): Promise<ActiveReplica | 'self'> {
    const active = this.#activeReplica()
    if (active) return active
    if (this.#waiting >= MAX_WAITING) throw unavailable('no replica is active, and too many requests wait for one')
    const until = monotonicTime() + this.#options.leaseMs + WAIT_MS
    this.#waiting += 1
    this.#events.emit('wanted')
    try {
      for (;;) {
        const target = this.#activeReplica()
        if (target !== undefined || isGone()) return target ?? 'self'
        if (this.#databaseFailure !== undefined)
          throw unavailable(`no replica is active, and the database does not answer: ${this.#databaseFailure}`)
        if (monotonicTime() >= until) throw unavailable('no replica has become active')
        await once(this.#events, 'polled')
      }
    } finally {
      this.#waiting -= 1
    }
  }

  /** What each replica answers about itself, whichever is active. Undefined for every other request. */
  async #ownReply(request: IncomingMessage, response: ServerResponse): Promise<ControlReply | undefined> {
    const { admission, shutdown } = this.#options
    const { method = '' } = request
    switch (`${method === 'HEAD' ? 'GET' : method} ${requestPath(request)}`) {
      case `GET ${HEALTH}`:
        return { body: { status: 'ok' } }
      case 'GET /_mock/ready':
        return (await this.#isReady()) ? { body: { status: 'ready' } } : { status: 503, body: { status: 'starting' } }
      case 'GET /_mock/replicas':
        admitRequest(request, admission)
        return { body: await this.describe() }
      case 'POST /_mock/shutdown':
        admitRequest(request, admission)
        stopAfter(response, shutdown)
        return { body: {} }
      default:
        return undefined
    }
  }

  async #isReady(): Promise<boolean> {
    const target = this.#activeReplica()
    if (target === undefined || this.#databaseFailure !== undefined || this.#isLeaving) return false
    return target === 'self' || this.#forwarder.isActive(target)
  }
}

const UNKNOWN =
  'the active replica stopped to answer: what the request asked for may or may not have happened; send it again if it can be repeated'

const NO_BODY: SentBody = { start: Buffer.alloc(0), rest: undefined }

/** The status of gRPC. */
const UNAVAILABLE = '14'

/** gRPC, and streams of Connect. */
function isStreamed({ headers }: IncomingMessage): boolean {
  return /^application\/(grpc(?!-web)|connect\+)/.test(headers['content-type'] ?? '')
}

function requestPath({ url = '' }: IncomingMessage): string {
  return url.split('?', 1).join()
}

function unavailable(message: string): ServiceError {
  return new ServiceError('STORAGE_UNAVAILABLE', message, { headers: { 'Retry-After': '1' } })
}

function differingSettings(one: ReplicaRow['settings'], another: ReplicaRow['settings']): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(another)])
  return [...names].filter((name) => one[name] !== another[name]).sort()
}
