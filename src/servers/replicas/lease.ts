import { setTimeout as pause } from 'node:timers/promises'
import type { ModelLease } from '../../state/environment-registry.ts'
import { monotonicTime, systemTime, type TimeSource } from '../../state/model/time-and-ids.ts'
import { StorageError } from '../../state/wal/state-errors.ts'
import type { Database } from './database.ts'

/** Before the end of its lease a replica stops to answer: an answer takes time to leave, and clocks run at different speeds. */
const MARGIN_MS = 750

/** Renewals within one lease. */
const RENEWALS = 4

const ENDED = 'this replica is no longer the active one: its lease is over'

/** The right of one replica to serve the state, for as long as it renews it in time. */
export class Lease implements ModelLease {
  readonly epoch: number
  /** The environments' real time: the clock of this machine, or where it is behind, what the replica before has shown. */
  readonly time: TimeSource
  /** Resolves with the reason once the lease has ended; undefined when it was given back. */
  readonly ended: Promise<string | undefined>
  readonly #database: Database
  readonly #leaseMs: number
  readonly #stop = new AbortController()
  #resolveEnded!: (reason: string | undefined) => void
  #isEnded = false
  /** By the monotonic clock of this process, from before the renewal was sent. */
  #deadline: number
  #timer: NodeJS.Timeout | undefined

  private constructor(database: Database, leaseMs: number, epoch: number, sentAt: number, time: TimeSource) {
    this.#database = database
    this.#leaseMs = leaseMs
    this.epoch = epoch
    this.time = time
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve))
    this.#deadline = sentAt + leaseMs - MARGIN_MS
    this.#endAtDeadline()
    void this.#renewLease()
  }

  /** Undefined while another replica has the lease. */
  static async take(
    database: Database,
    self: { id: string; url: string | null },
    leaseMs: number,
    time: TimeSource = systemTime,
  ): Promise<Lease | undefined> {
    const sentAt = monotonicTime()
    const taken = await database.takeOver(self.id, self.url, leaseMs, time())
    return taken && new Lease(database, leaseMs, taken.epoch, sentAt, () => time() + taken.ahead)
  }

  get isHeld(): boolean {
    if (!this.#isEnded && monotonicTime() >= this.#deadline) this.#endLease('it could not be renewed in time')
    return !this.#isEnded
  }

  /** @throws StorageError */
  assertHeld(): void {
    if (this.isHeld) return
    const outcome = 'what the request asked for may or may not have happened; send it again if it can be repeated'
    throw new StorageError('the state is not available here', new Error(ENDED), outcome)
  }

  /** The database has said that the epoch is over. */
  taken(): Error {
    this.#endLease('another replica has taken over')
    return new Error(ENDED)
  }

  /** Lets another replica take over at once. */
  async release(): Promise<void> {
    if (this.#isEnded) return
    this.#endLease(undefined)
    await this.#database.release(this.epoch)
  }

  #endLease(reason: string | undefined): void {
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#stop.abort()
    this.#resolveEnded(reason)
  }

  /** Ends the lease at its deadline, also when no request asks. */
  #endAtDeadline(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        if (this.isHeld) this.#endAtDeadline()
      },
      Math.max(1, this.#deadline - monotonicTime()),
    )
  }

  async #renewLease(): Promise<void> {
    const every = this.#leaseMs / RENEWALS
    for (let wait = every; ;) {
      await pause(wait, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      if (this.#isEnded) return
      const sentAt = monotonicTime()
      try {
        if (!(await this.#database.renew(this.epoch, this.#leaseMs, this.time()))) {
          this.taken()
          return
        }
        this.#deadline = Math.max(this.#deadline, sentAt + this.#leaseMs - MARGIN_MS)
        wait = every
      } catch {
        // The database is away: it is asked again soon, until the deadline.
        wait = every / RENEWALS
      }
    }
  }
}
