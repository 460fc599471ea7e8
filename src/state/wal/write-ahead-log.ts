import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogFile } from './log-file.ts'
import { batchLine, type CommitEntry } from './log-lines.ts'
import { StorageError } from './state-errors.ts'

/** `strict`: a commit is acknowledged once it is on disk. `relaxed`: at once; the disk follows. */
export type Durability = 'strict' | 'relaxed'

/** When no request waits for it: all commits of a tool call are one write, unless its third party takes longer. */
const WRITE_WITHIN_MS: Readonly<Record<Durability, number>> = { strict: 500, relaxed: 5 }

/** The commits that are to be written together, all or none, and the promise that they are durable. */
class Batch {
  readonly commits: { entry: CommitEntry; undo: () => void }[] = []
  resolve: () => void = () => undefined
  reject: (reason: Error) => void = () => undefined
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // A refusal that no request waits for is no unhandled rejection.
    this.durable.catch(() => undefined)
  }
}

/**
 * Written when a request waits, or some time after; all commits until then, and while the disk was busy, share one
 * write and one sync, of which a crash leaves all or nothing.
 */
export class WriteAheadLog {
  readonly #file: LogFile
  readonly #durability: Durability
  readonly #written: () => void
  #next = new Batch()
  #writing: Batch | undefined
  /** Ends once nothing is being written, and nothing waits to be. */
  #turn: Promise<unknown> = Promise.resolve()
  #isScheduled = false
  #timer: NodeJS.Timeout | undefined
  /** The refusal that no request has answered with yet (`relaxed`). */
  #refusal: StorageError | undefined
  #closed = false

  /** @param written called after each write */
  constructor(file: LogFile, durability: Durability, written: () => void) {
    this.#file = file
    this.#durability = durability
    this.#written = written
  }

  /** Takes a commit that the model already shows. `undo` rolls it back if the disk refuses it. */
  append(entry: CommitEntry, undo: () => void = () => undefined): void {
    if (this.#closed) throw new StorageError('the state could not be written', new Error('the server is stopping'))
    this.#next.commits.push({ entry, undo })
    this.#timer ??= setTimeout(() => this.#start(), WRITE_WITHIN_MS[this.#durability])
  }

  /**
   * Undefined when nothing is pending: a request that only reads need not wait a turn of the event loop. @throws
   * StorageError when the disk refused; by then the model shows again what is durable
   */
  durable(): Promise<void> | undefined {
    if (this.#durability === 'strict') return this.flushed()
    const refusal = this.#refusal
    if (!refusal) return undefined
    this.#refusal = undefined
    return Promise.reject(refusal)
  }

  /** As `durable`, with every durability. */
  flushed(): Promise<void> | undefined {
    if (this.#next.commits.length === 0) return this.#writing?.durable
    this.#start()
    return this.#next.durable
  }

  /** Captures between two commits and writes those before; nothing is written during `afterwards`. */
  cut<T, R>(capture: () => T, afterwards: () => Promise<R>): Promise<{ captured: T; result: R }> {
    return this.#inTurn(async () => {
      const captured = capture()
      await this.#write()
      return { captured, result: await afterwards() }
    })
  }

  /** Later commits are refused. */
  close(): void {
    this.#closed = true
  }

  async idle(): Promise<void> {
    let turn
    do {
      turn = this.#turn
      await turn
    } while (turn !== this.#turn)
  }

  #start(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    void this.#inTurn(async () => {
      // The commits of all requests of this turn of the event loop share one write.
      await nextTurn()
      await this.#write().catch(() => undefined)
    })
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** Writes what was committed. When the disk refuses, rolls back that and everything committed since. */
  async #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isScheduled = false
    const batch = this.#next
    if (batch.commits.length === 0) return
    this.#writing = batch
    this.#next = new Batch()
    try {
      await this.#file.append(batchLine(batch.commits.map(({ entry }) => entry)))
    } catch (cause) {
      throw this.#rollBack(batch, cause)
    }
    this.#writing = undefined
    batch.resolve()
    this.#written()
  }

  #rollBack(batch: Batch, cause: unknown): StorageError {
    const error = new StorageError('the state could not be written', cause)
    const since = this.#next
    this.#writing = undefined
    this.#next = new Batch()
    this.#refusal = error
    for (const { undo } of [...batch.commits, ...since.commits].toReversed()) undo()
    batch.reject(error)
    since.reject(error)
    return error
  }
}
