import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { setTimeout as pause } from 'node:timers/promises'
import { admit } from '../control/admission.ts'
import type { AppServices } from '../control/app-services.ts'
import { type ControlError, controlErrorOf } from '../control/errors.ts'
import { stopAfter } from '../control/server.ts'
import { sendReply } from '../control/routes.ts'
import { ServiceError } from '../domain/errors.ts'
import { errorReply, sendAnswer, wireAnswer } from '../http/answer.ts'
import { readSentBody, hasBody, type SentBody } from '../http/body.ts'
import type { Log } from '../http/log.ts'
import { monotonicTime, RandomIds } from '../state/model/time-and-ids.ts'
import type { RegistryOptions } from '../state/environment-registry.ts'
import { type Database, type Leader, reasonOf, type ReplicaRow, STATE_NAME } from './database.ts'
import { databaseFiles } from './database-files.ts'
import { type Arrival, EPOCH, Forwarder, NOT_ACTIVE, type Target } from './forwarder.ts'
import { Http2Forwarder, needsHttp2 } from './http2-forwarder.ts'
import { Lease } from './lease.ts'
import { SCHEMA_VERSION } from './schema.ts'

/** What serves the state for as long as this replica is active. */
export interface Term {
  readonly listener: RequestListener
  readonly services: AppServices
  readonly notices: readonly string[]
  readonly rpc: { handle(request: Http2ServerRequest, response: Http2ServerResponse): boolean } | undefined
  endWaits(): Promise<void>
  close(leave: boolean): Promise<void>
}

/** Where a term finds the state, and what other replicas have judged about the requests that they send on. */
export interface TermParts {
  readonly place: Pick<RegistryOptions, 'file' | 'fileSystem' | 'lock' | 'lease'>
  readonly arrivalOf: (request: IncomingMessage) => Arrival | undefined
  readonly replicas: AppServices['replicas']
}

export interface ReplicaOptions<Serving extends Term> {
  readonly database: Database
  readonly secret: string
  readonly leaseMs: number
  readonly self: ReplicaRow
  readonly admission: AppServices['admission']
  readonly shutdown: AppServices['shutdown']
  readonly log: Log
  readonly startTerm: (parts: TermParts) => Promise<Serving>
}

/** Requests that wait while no replica is active. */
const MAX_WAITING = 1000
/** Bytes of their bodies. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Of a larger body only the beginning is kept: it is sent on while it comes in, and only once. */
const MAX_KEPT_BODY = 1024 * 1024
const MAX_BODY = 512 * 1024 * 1024
/** How long a request waits for an active replica, beside the lease of the one before. */
const WAIT_MS = 30_000

/** Looks at the row of the active replica within one lease. */
const LOOKS = 4
/** Between two looks while requests wait. */
const LOOK_SOON_MS = 25
/** How often a replica tells the others that it is there. */
const ANNOUNCE_MS = 5000
/** How long requests under way may take when the active replica leaves. */
const DRAIN_MS = 5000

type Phase = 'standby' | 'loading' | 'active' | 'leaving' | 'left'

interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** One of several servers on the same state: the active one answers, the others stand by and forward. */
export class Replica<Serving extends Term> {
  readonly #options: ReplicaOptions<Serving>
  readonly #forwarder: Forwarder
  readonly #http2 = new Http2Forwarder()
  readonly #ids = new RandomIds()
  readonly #arrivals = new WeakMap<IncomingMessage, Arrival>()
  #phase: Phase = 'standby'
  #lease: Lease | undefined
  #term: Serving | undefined
  /** Answers that the term has not finished. */
  #running = 0
  #leader: Leader | undefined
  /** When `#leader` was asked for, by the monotonic clock. */
  #lookedAt = -Infinity
  #announcedAt = -Infinity
  /** After a takeover that failed. */
  #nextAttemptAt = -Infinity
  /** Why the database could not be asked the last time. */
  #away: string | undefined
  /** The end of the lease under which the active replica was found not to serve. */
  #suspect: string | undefined
  #waiting = 0
  #waitingBytes = 0
  #wake: () => void = () => undefined
  readonly #changed = new Set<() => void>()
  readonly #stop = new AbortController()
  #looking: Promise<void> | undefined

  constructor(options: ReplicaOptions<Serving>) {
    this.#options = options
    this.#forwarder = new Forwarder(options.secret)
  }

  get term(): Serving | undefined {
    return this.#term
  }

  /** Becomes active, or stands by. @throws what a first term throws */
  async start(): Promise<void> {
    await this.#look()
    if (this.#isFree) await this.#takeOver(true)
    this.#looking = this.#keepLooking()
  }

  /** Lets another replica become active, and forwards until everything that waits is answered. */
  async leave(): Promise<void> {
    const term = this.#term
    const lease = this.#lease
    const wasActive = this.#phase === 'active'
    this.#phase = wasActive ? 'leaving' : 'left'
    this.#notify()
    if (wasActive && term && lease) {
      await term.endWaits()
      await this.#drained(DRAIN_MS)
      try {
        await term.close(true)
      } catch (error) {
        this.#options.log.error('the last changes could not be written', this.#fields({ error: reasonOf(error) }))
      }
      this.#term = undefined
      await lease.release().catch(() => undefined)
      this.#phase = 'left'
      this.#options.log.info('this replica has left; another one becomes active', this.#fields())
      // Until they have looked again, the others send requests here. One that comes as the process ends would have no answer.
      await pause(this.#options.leaseMs / LOOKS + LOOK_SOON_MS)
    }
    await this.#options.database.forget(this.#options.self.id).catch(() => undefined)
    // What waits here is answered by the next one.
    const until = monotonicTime() + this.#options.leaseMs + WAIT_MS
    while (this.#waiting > 0 && monotonicTime() < until) await pause(LOOK_SOON_MS)
  }

  /** After `leave`, once no request is under way. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#looking
    await this.#forwarder.close()
    this.#http2.close()
    await this.#options.database.close()
  }

  readonly listener: RequestListener = (request, response) => {
    const arrival = this.#forwarder.arrivalOf(request)
    if (arrival) {
      this.#arrivals.set(request, arrival)
      if (arrival.isEncrypted) request.headers['x-forwarded-proto'] ??= 'https'
    }
    if (this.#phase === 'active' && this.#lease?.isHeld === true) {
      if (arrival && isHealth(request)) response.setHeader(EPOCH, String(this.#lease.epoch))
      this.#serve({ request, response })
    } else if (arrival) {
      // The connection is not used again: this process may end at any time.
      response.writeHead(421, { [NOT_ACTIVE]: '1', 'Content-Length': '0', Connection: 'close' }).end()
    } else this.#standBy({ request, response }).catch(() => response.destroy())
  }

  /** HTTP/2 on the port of the server; false leaves a request to the HTTP/1.1 side. */
  serveHttp2(request: Http2ServerRequest, response: Http2ServerResponse): boolean {
    const isActive = this.#phase === 'active' && this.#lease?.isHeld === true
    if (!isActive && !needsHttp2(request)) return false
    const arrival = this.#forwarder.arrivalOf(request)
    if (isActive) return this.#serveRpc(request, response)
    if (arrival) request.stream.respond({ ':status': 421, [NOT_ACTIVE]: '1' }, { endStream: true })
    else this.#standByHttp2(request, response).catch(() => request.stream.close())
    return true
  }

  #serveRpc(request: Http2ServerRequest, response: Http2ServerResponse): boolean {
    if (this.#term?.rpc?.handle(request, response) !== true) return false
    this.#running += 1
    request.stream.once('close', () => (this.#running -= 1))
    return true
  }

  async #standByHttp2(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { stream } = request
    const refuseCall = (message: string): void => {
      if (stream.destroyed) return
      const status = { 'grpc-status': UNAVAILABLE, 'grpc-message': encodeURIComponent(message) }
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...status }, { endStream: true })
    }
    try {
      const target = this.#target() ?? (await this.#targetSoon(() => stream.destroyed, 0))
      if (stream.destroyed) return
      if (target === 'self') {
        this.#serveRpc(request, response)
        return
      }
      const trusted = this.#forwarder.trusted({ isAdmitted: false, isEncrypted: 'encrypted' in request.socket })
      const problem = await this.#http2.forward(target.url, request, response, trusted)
      if (problem !== undefined) refuseCall(problem)
    } catch (error) {
      refuseCall(reasonOf(error))
    }
  }

  async describe(): ReturnType<AppServices['replicas']> {
    const { database } = this.#options
    const [leader, rows] = await Promise.all([database.leader(), database.replicas()]).catch((error: unknown) => {
      throw new ServiceError(
        'STORAGE_UNAVAILABLE',
        `${database.place}: the database does not answer: ${reasonOf(error)}`,
      )
    })
    const active = rows.find(({ id }) => id === leader.id)
    const { id, url, epoch, expires_at, left_ms: left } = leader
    return {
      active: left > 0 && id !== null && url !== null && expires_at !== null ? { id, url, epoch, expires_at } : null,
      replicas: rows.map(({ settings, ...row }) => ({
        ...row,
        differs: active ? differences(settings, active.settings) : [],
      })),
    }
  }

  get #isFree(): boolean {
    const { schema_version: version = 0, left_ms: left = 0 } = this.#leader ?? {}
    return this.#phase === 'standby' && left <= 0 && version <= SCHEMA_VERSION && monotonicTime() >= this.#nextAttemptAt
  }

  /** The phase may have changed at each `await`. */
  #isIn(phase: Phase): boolean {
    return this.#phase === phase
  }

  #serve({ request, response }: Arrived): void {
    this.#running += 1
    response.once('close', () => (this.#running -= 1))
    this.#term?.listener(request, response)
  }

  async #drained(within: number): Promise<void> {
    const until = monotonicTime() + within
    while (this.#running > 0 && monotonicTime() < until) await pause(5)
  }

  // Looking for the active replica

  async #keepLooking(): Promise<void> {
    const every = this.#options.leaseMs / LOOKS
    for (;;) {
      const isWaitedFor = this.#waiting > 0 || this.#suspect !== undefined
      const left = this.#leader === undefined ? every : this.#leader.left_ms - (monotonicTime() - this.#lookedAt)
      const isActive = this.#phase === 'active'
      await this.#sleep(
        isActive ? every : isWaitedFor ? LOOK_SOON_MS : Math.min(every, Math.max(LOOK_SOON_MS, left + 1)),
      )
      if (this.#stop.signal.aborted) return
      await this.#look()
      if (this.#isFree && this.#away === undefined) await this.#takeOver(false)
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async #look(): Promise<void> {
    const { database, self, log } = this.#options
    const at = monotonicTime()
    try {
      const isDue = at - this.#announcedAt > ANNOUNCE_MS && this.#phase !== 'left'
      const leader = await (isDue ? database.announce(self) : database.leader())
      if (isDue) this.#announcedAt = at
      if (this.#away !== undefined) log.info('the database answers again', this.#fields())
      this.#away = undefined
      if (leader.epoch !== this.#leader?.epoch) this.#newLeader(leader)
      this.#leader = leader
      this.#lookedAt = at
      if (this.#suspect !== leader.expires_at) this.#suspect = undefined
    } catch (error) {
      if (this.#away === undefined) log.warn('the database does not answer', this.#fields({ error: reasonOf(error) }))
      this.#away = reasonOf(error)
    }
    this.#notify()
  }

  #newLeader({ epoch, id, url, schema_version: version }: Leader): void {
    const { self, log, database } = this.#options
    this.#forwarder.endBefore(epoch)
    this.#http2.endOthers(url)
    if (id === self.id || id === null) return
    log.info('another replica is active; this one stands by', this.#fields({ active: url, active_epoch: epoch }))
    if (version > SCHEMA_VERSION) log.warn(database.newerSchema(version), this.#fields())
    void this.#warnOfDifferences()
  }

  async #warnOfDifferences(): Promise<void> {
    const { self, log } = this.#options
    const described = await this.describe().catch(() => undefined)
    const own = described?.replicas.find(({ id }) => id === self.id)
    if (!own || own.differs.length === 0) return
    log.warn(
      `the active replica was started with another ${own.differs.join(', ')}: its options count until it leaves`,
      this.#fields(),
    )
  }

  #notify(): void {
    for (const notify of [...this.#changed]) notify()
  }

  // Being active

  /** @throws what the start of the term throws, when it is the first */
  async #takeOver(isFirst: boolean): Promise<void> {
    const { database, self, leaseMs, log, startTerm } = this.#options
    let lease: Lease | undefined
    try {
      lease = await Lease.take(database, self, leaseMs)
      if (!lease) {
        await this.#look()
        return
      }
      this.#lease = lease
      this.#phase = 'loading'
      const began = monotonicTime()
      this.#forwarder.endBefore(lease.epoch)
      this.#http2.endOthers(self.url)
      this.#term = await startTerm({
        place: {
          file: `${database.place}/${STATE_NAME}`,
          fileSystem: databaseFiles(database, lease),
          lock: () => Promise.resolve({ release: () => Promise.resolve() }),
          lease,
        },
        arrivalOf: (request) => this.#arrivals.get(request),
        replicas: () => this.describe(),
      })
      if (!lease.isHeld) throw new Error('the lease ended while the state was read')
      if (!this.#isIn('loading')) throw new Error('it was asked to leave')
      const ms = Math.round(monotonicTime() - began)
      log.info('this replica is active', this.#fields({ loaded_in_ms: ms }))
      if (!isFirst) for (const notice of this.#term.notices) log.warn(notice, this.#fields())
      this.#phase = 'active'
      void lease.ended.then((reason) => this.#endTerm(reason))
      await this.#look()
    } catch (error) {
      // A machine that is too slow for its lease stands by and tries again.
      const isLost = lease?.isHeld === false
      await this.#term?.close(true).catch(() => undefined)
      this.#term = undefined
      await lease?.release().catch(() => undefined)
      if (this.#isIn('loading')) this.#phase = 'standby'
      if (isFirst && !isLost) throw error
      log.error('this replica could not become active', this.#fields({ error: reasonOf(error) }))
      // Others have a chance before it tries again.
      this.#nextAttemptAt = monotonicTime() + leaseMs
    }
  }

  /** The model is dropped without writing: another replica may have it. */
  async #endTerm(reason: string | undefined): Promise<void> {
    const term = this.#term
    if (reason === undefined || !term) return
    this.#options.log.warn(`this replica is active no more: ${reason}`, this.#fields())
    if (this.#phase === 'active') this.#phase = 'standby'
    this.#term = undefined
    this.#leader = undefined
    await term.endWaits()
    await this.#drained(DRAIN_MS)
    await term.close(true).catch(() => undefined)
    this.#wake()
  }

  #fields(more: object = {}): object {
    const { epoch } = this.#lease ?? {}
    return { replica: this.#options.self.id, ...(epoch === undefined ? {} : { epoch }), ...more }
  }

  // Standing by

  async #standBy(arrived: Arrived): Promise<void> {
    const { request, response } = arrived
    if (isOwn(request)) {
      await this.#answerOwn(arrived)
      return
    }
    const arrival = this.#judge(request)
    let body: SentBody | undefined
    try {
      for (;;) {
        const target = this.#target() ?? (await this.#targetSoon(() => response.destroyed, body?.start.length ?? 0))
        if (response.destroyed) return
        // Not begun here or anywhere: the term answers it as one that has just come.
        if (target === 'self' && !body) {
          this.#serve(arrived)
          return
        }
        const { url } = this.#options.self
        const to = target === 'self' ? { url, epoch: this.#lease?.epoch ?? 0 } : target
        body ??= hasBody(request) ? await readSentBody(request, MAX_BODY, MAX_KEPT_BODY) : NO_BODY
        const outcome = await this.#forwarder.forward(to, { request, response, body, arrival })
        if (outcome === 'answered') return
        if (outcome === 'unknown') throw unavailable(UNKNOWN)
        if (body.rest) throw unavailable('the request was not begun, and its body is too long to be sent again')
        this.#suspect = this.#leader?.expires_at ?? undefined
        this.#wake()
      }
    } catch (error) {
      refuse(arrived, error, this.#ids)
    }
  }

  /** Web pages are kept out of the control API by the names and addresses of the replica that they called. */
  #judge(request: IncomingMessage): Arrival {
    const { admission } = this.#options
    const isEncrypted = 'encrypted' in request.socket
    if (!(request.url ?? '').startsWith('/_mock')) return { isAdmitted: false, isEncrypted }
    try {
      admit(request, admission)
      return { isAdmitted: true, isEncrypted }
    } catch {
      return { isAdmitted: false, isEncrypted }
    }
  }

  /** Where a request is answered now; undefined while no replica is known to be active. */
  #target(): Target | 'self' | undefined {
    if (this.#phase === 'active' && this.#lease?.isHeld === true) return 'self'
    const leader = this.#leader
    if (!leader || leader.id === null || leader.url === null || this.#isSelf(leader)) return undefined
    if (leader.left_ms <= monotonicTime() - this.#lookedAt) return undefined
    if (this.#suspect !== undefined && this.#suspect === leader.expires_at) return undefined
    return { epoch: leader.epoch, url: leader.url }
  }

  /** Also the lease of a process that was here before, at the same address. */
  #isSelf({ id, url }: Leader): boolean {
    return id === this.#options.self.id || url === this.#options.self.url
  }

  /** Waits until a replica is active. @throws ServiceError when that takes too long, or too many wait already */
  async #targetSoon(isGone: () => boolean, bytes: number): Promise<Target | 'self'> {
    if (this.#waiting >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      throw unavailable('no replica is active, and too many requests wait for one')
    }
    const until = monotonicTime() + this.#options.leaseMs + WAIT_MS
    this.#waiting += 1
    this.#waitingBytes += bytes
    this.#wake()
    try {
      for (;;) {
        const target = this.#target()
        if (target !== undefined || isGone()) return target ?? 'self'
        if (this.#away !== undefined)
          throw unavailable(`no replica is active, and the database does not answer: ${this.#away}`)
        const left = until - monotonicTime()
        if (left <= 0) throw unavailable('no replica has become active')
        await this.#change(Math.min(left, 1000))
      }
    } finally {
      this.#waiting -= 1
      this.#waitingBytes -= bytes
    }
  }

  #change(within: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#changed.delete(done)
        resolve()
      }
      const timer = setTimeout(done, within)
      this.#changed.add(done)
    })
  }

  /** Health, readiness, the replicas and the end of the process are those of the replica that is asked. */
  async #answerOwn({ request, response }: Arrived): Promise<void> {
    const path = pathOf(request)
    try {
      if (path === HEALTH) sendReply(response, { body: { status: 'ok' } })
      else if (path === READY) {
        const isReady = await this.#isReady()
        sendReply(response, isReady ? { body: { status: 'ready' } } : { status: 503, body: { status: 'starting' } })
      } else {
        admit(request, this.#options.admission)
        if (path === SHUTDOWN) stopAfter(response, this.#options.shutdown)
        sendReply(response, { body: path === SHUTDOWN ? {} : await this.describe() })
      }
    } catch (error) {
      const known: ControlError | undefined = controlErrorOf(error)
      if (!known) throw error
      sendReply(response, known)
    }
  }

  async #isReady(): Promise<boolean> {
    const target = this.#target()
    if (target === undefined || this.#away !== undefined || this.#phase === 'left' || this.#phase === 'leaving')
      return false
    return target === 'self' || this.#forwarder.isActive(target)
  }
}

const UNKNOWN =
  'the active replica stopped to answer: what the request asked for may or may not have happened; send it again if it can be repeated'

const NO_BODY: SentBody = { start: Buffer.alloc(0), rest: undefined }

/** The status of gRPC. */
const UNAVAILABLE = '14'

const HEALTH = '/_mock/health'
const READY = '/_mock/ready'
const REPLICAS = '/_mock/replicas'
const SHUTDOWN = '/_mock/shutdown'

function isHealth(request: IncomingMessage): boolean {
  return request.url === HEALTH
}

function isOwn(request: IncomingMessage): boolean {
  const { method = '' } = request
  if (method === 'POST') return pathOf(request) === SHUTDOWN
  return (method === 'GET' || method === 'HEAD') && [HEALTH, READY, REPLICAS].includes(pathOf(request))
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1).join()
}

function unavailable(message: string): ServiceError {
  return new ServiceError('STORAGE_UNAVAILABLE', message, { headers: { 'Retry-After': '1' } })
}

function refuse({ request, response }: Arrived, error: unknown, ids: RandomIds): void {
  const sent = request.headers['x-request-id']
  const id = typeof sent === 'string' ? sent.slice(0, 128) : ids.id('req')
  sendAnswer(response, wireAnswer(errorReply(error, id), id))
}

function differences(one: ReplicaRow['settings'], other: ReplicaRow['settings']): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].filter((name) => one[name] !== other[name]).sort()
}
