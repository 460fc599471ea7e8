import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JournalFile } from './wal-file.ts'
import { encodeLine, type Entry, type Identity, type JournalLine, linesOf } from './wal-record.ts'
import { StorageError } from './state-errors.ts'

/** `strict`: a commit is acknowledged once it is on disk. `relaxed`: at once; the disk follows. */
export type Durability = 'strict' | 'relaxed'

/** Where commits go. */
export interface CommitSink {
  /** Takes a commit that the model already shows; `undo` takes it back should the disk refuse it. */
  append(entry: Entry, undo: () => void): void
  /**
   * Resolves once every commit made so far is durable. Rejects with a StorageError when the disk refused; by then the
   * model shows again what is durable. Undefined when nothing is pending: what only reads need not wait a turn for that.
   */
  durable(): Promise<void> | undefined
}

interface Pending {
  entry: Entry | { checkpointed: Identity & { upto: number } }
  undo: () => void
}

/** A point between two commits at which everything before it is durable and goes into a state file. */
export interface Cut<T> {
  captured: T
  /** The last journal line before the cut. */
  upto: number
  /** The journal file that begins after the cut. */
  segment: number
}

interface Deferred {
  readonly promise: Promise<void>
  resolve(): void
  reject(reason: Error): void
}

const RESOLVED: Promise<void> = Promise.resolve()
/** Longer text is written in parts, with a turn of the event loop between them. */
const TURN_EVERY = 256 * 1024

/** Group commit: whatever was committed while the disk was busy shares the next write and the next sync. */
export class CommitLog implements CommitSink {
  readonly #journal: JournalFile
  readonly #durability: Durability
  #queue: Pending[] = []
  #writing: Pending[] = []
  #queued = deferred()
  #inFlight: Promise<void> = RESOLVED
  #running: Promise<void> | undefined
  #cut: (() => Promise<void>) | undefined
  #lastDurable: number
  /** The refusal that nobody has been told of yet (`relaxed`). */
  #refusal: StorageError | undefined
  /** Told after each write that succeeded. */
  onWritten: () => void = () => undefined

  constructor(journal: JournalFile, lastLine: number, durability: Durability) {
    this.#journal = journal
    this.#lastDurable = lastLine
    this.#durability = durability
  }

  append(entry: Pending['entry'], undo: () => void = () => undefined): void {
    this.#queue.push({ entry, undo })
    this.#start()
  }

  durable(): Promise<void> | undefined {
    if (this.#durability === 'strict') return this.flushed()
    const refusal = this.#refusal
    if (!refusal) return undefined
    this.#refusal = undefined
    return Promise.reject(refusal)
  }

  /** As `settled`, whatever the durability. */
  flushed(): Promise<void> | undefined {
    if (this.#queue.length > 0) return this.#queued.promise
    return this.#writing.length > 0 ? this.#inFlight : undefined
  }

  /** Calls `capture` between two commits and resolves once everything before that is durable, and the journal rotated. */
  cut<T>(capture: () => T, rotate: boolean): Promise<Cut<T>> {
    return new Promise((resolve, reject) => {
      this.#cut = async () => {
        try {
          const captured = capture()
          await this.#writeQueue()
          const upto = this.#lastDurable
          if (rotate) await this.#journal.rotate()
          resolve({ captured, upto, segment: this.#journal.segment })
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      this.#start()
    })
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  #start(): void {
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // The commits of all requests that came in this turn of the event loop share one write.
    await nextTurn()
    while (this.#queue.length > 0 || this.#cut) {
      const cut = this.#cut
      this.#cut = undefined
      if (cut) await cut()
      else await this.#writeQueue().catch(() => undefined)
    }
    this.#running = undefined
  }

  /** Writes what is queued; when the disk refuses, takes it and everything committed since back. */
  async #writeQueue(): Promise<void> {
    if (this.#queue.length === 0) return
    const done = this.#queued
    this.#writing = this.#queue
    this.#inFlight = done.promise
    this.#queue = []
    this.#queued = deferred()
    done.promise.catch(() => undefined)
    try {
      const { texts, last } = await this.#encode(this.#writing)
      await this.#journal.append(texts)
      this.#lastDurable = last
      this.#writing = []
      done.resolve()
    } catch (error) {
      throw this.#markRolledBack(done, error)
    }
    this.onWritten()
  }

  async #encode(commits: readonly Pending[]): Promise<{ texts: string[]; last: number }> {
    const synced = this.#lastDurable
    const texts: string[] = []
    let [text, last] = ['', synced]
    for (const { entry } of commits) {
      for (const line of pendingLines(entry, last + 1, synced)) {
        text += encodeLine(line)
        last = line.n
        if (text.length < TURN_EVERY) continue
        texts.push(text)
        text = ''
        await nextTurn()
      }
    }
    return { texts: [...texts, text], last }
  }

  #markRolledBack(done: Deferred, cause: unknown): StorageError {
    const error = new StorageError('the state could not be written', cause)
    const lost = [...this.#writing, ...this.#queue]
    const queued = this.#queued
    this.#writing = []
    this.#queue = []
    this.#queued = deferred()
    this.#refusal = error
    for (const { undo } of lost.toReversed()) undo()
    queued.promise.catch(() => undefined)
    done.reject(error)
    queued.reject(error)
    return error
  }
}

function deferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> = { resolve: () => undefined, reject: () => undefined }
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }))
  return { promise, resolve: () => settle.resolve(), reject: (reason) => settle.reject(reason) }
}

function pendingLines(entry: Pending['entry'], n: number, synced: number): Iterable<JournalLine> {
  return 'checkpointed' in entry ? [{ n, synced, checkpointed: entry.checkpointed }] : linesOf(entry, n, synced)
}
