import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageError } from './state-errors.ts'
import { encodeLine, type EnvironmentChange, type Identity, linesOf, type WalFile, type WalLine } from './wal-file.ts'

/** `strict`: a commit is acknowledged once it is on disk. `relaxed`: at once; the disk follows. */
export type Durability = 'strict' | 'relaxed'

/** A commit, or the note that a state file holds everything up to a line. */
type Entry = EnvironmentChange | { checkpointed: Identity & { upto: number } }

/** A point between two commits. Everything before it is durable and goes into a state file. */
export interface Cut<T> {
  captured: T
  /** The last line before the cut. */
  upto: number
  /** The file that begins after the cut. */
  segment: number
}

/** A commit waits at most this long for somebody who asks for it to be durable; commits until then share one write. */
const WRITE_WITHIN_MS = 5
/** Longer text is written in parts, with a turn of the event loop between them. */
const TURN_EVERY = 256 * 1024

/** The commits that are to be written together, and the promise that they are durable. */
class Batch {
  readonly commits: { entry: Entry; undo: () => void }[] = []
  resolve: () => void = () => undefined
  reject: (reason: Error) => void = () => undefined
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // Nobody need wait for it.
    this.durable.catch(() => undefined)
  }
}

/**
 * The log of the commits since the state file was written. A commit is written when somebody waits for it, or shortly
 * after; whatever was committed until then, and while the disk was busy, shares one write and one sync.
 */
export class WriteAheadLog {
  readonly #file: WalFile
  readonly #durability: Durability
  #next = new Batch()
  #writing: Batch | undefined
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether somebody waits for the disk. */
  #isDue = false
  #cut: (() => Promise<void>) | undefined
  #lastDurable: number
  /** The refusal that nobody has been told of yet (`relaxed`). */
  #refusal: StorageError | undefined
  #closed = false
  /** Bytes of log from which on `onFull` is called after each write. */
  fullAt = Infinity
  onFull: () => void = () => undefined

  constructor(file: WalFile, lastLine: number, durability: Durability) {
    this.#file = file
    this.#lastDurable = lastLine
    this.#durability = durability
  }

  /** Takes a commit that the model already shows. `undo` takes it back if the disk refuses it. */
  append(entry: Entry, undo: () => void = () => undefined): void {
    if (this.#closed && !('checkpointed' in entry))
      throw new StorageError('the state could not be written', new Error('the server is stopping'))
    this.#next.commits.push({ entry, undo })
    this.#writeSoon()
  }

  /**
   * Resolves once every commit made so far is durable. Undefined when nothing is pending: a request that only reads need
   * not wait a turn of the event loop for that.
   * @throws StorageError when the disk refused; by then the model shows again what is durable
   */
  durable(): Promise<void> | undefined {
    if (this.#durability === 'strict') return this.flushed()
    const refusal = this.#refusal
    if (!refusal) return undefined
    this.#refusal = undefined
    return Promise.reject(refusal)
  }

  /** As `durable`, whatever the durability. */
  flushed(): Promise<void> | undefined {
    if (this.#next.commits.length === 0) return this.#writing?.durable
    this.#start()
    return this.#next.durable
  }

  /** Calls `capture` between two commits and resolves once everything before that is durable, and the log rotated. */
  cut<T>(capture: () => T, rotate: boolean): Promise<Cut<T>> {
    return new Promise((resolve, reject) => {
      this.#cut = async () => {
        try {
          const captured = capture()
          await this.#write()
          const upto = this.#lastDurable
          if (rotate) await this.#file.rotate()
          resolve({ captured, upto, segment: this.#file.segment })
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }
      this.#start()
    })
  }

  /** Refuses commits from now on. */
  close(): void {
    this.#closed = true
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#start(), WRITE_WITHIN_MS)
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isDue = true
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // The commits of all requests of this turn of the event loop share one write.
    await nextTurn()
    while (this.#isDue) {
      this.#isDue = false
      const cut = this.#cut
      this.#cut = undefined
      if (cut) await cut()
      else await this.#write().catch(() => undefined)
    }
    this.#running = undefined
  }

  /** Writes what was committed. When the disk refuses, takes that and everything committed since back. */
  async #write(): Promise<void> {
    const batch = this.#next
    if (batch.commits.length === 0) return
    this.#writing = batch
    this.#next = new Batch()
    try {
      const { texts, last } = await this.#encode(batch)
      await this.#file.append(texts)
      this.#lastDurable = last
    } catch (cause) {
      throw this.#rollBack(batch, cause)
    }
    this.#writing = undefined
    batch.resolve()
    if (this.#file.size >= this.fullAt) this.onFull()
  }

  async #encode({ commits }: Batch): Promise<{ texts: string[]; last: number }> {
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

function pendingLines(entry: Entry, n: number, synced: number): Iterable<WalLine> {
  return 'checkpointed' in entry ? [{ n, synced, checkpointed: entry.checkpointed }] : linesOf(entry, n, synced)
}
