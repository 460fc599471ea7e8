import type { FileHandle } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openForWriting, writeAll } from '../disk/append.ts'
import { plural } from '../domain/text.ts'
import type { RecordedEntry } from './entry.ts'
import { viewOf } from './view.ts'

/** A file to which the entries of all environments are appended, one masked JSON object a line. */
export interface JournalFile {
  append(entry: RecordedEntry): void
  /** Writes what was appended and closes the file. */
  close(): Promise<void>
}

/** Entries are formatted in batches after their requests, so that no request waits for it. */
const BATCH = 100
/** Entries that wait while the file takes none, such as a pipe that is full; more are lost. */
const MOST_WAITING = 10_000

/**
 * Opens or creates the file. While it cannot be written its entries are lost, with one warning; no request fails, and the next
 * entries try again.
 */
export function openJournalFile(path: string, warn: (message: string) => void): JournalFile {
  let waiting: RecordedEntry[] = []
  let file: FileHandle | undefined
  let lost = 0
  let isFailing = false
  /** Whether the last line was cut short. */
  let isCut = false
  let isClosed = false

  const write = async (text: string): Promise<void> => {
    file ??= await openForWriting(path, 'append', 0o600)
    const whole = isCut ? `\n${text}` : text
    let written = 0
    try {
      await writeAll(
        file,
        whole,
        (bytes) => (written = bytes),
        () => !isClosed,
      )
      isCut = false
    } catch (error) {
      if (written > 0) isCut = true
      await file.close().catch(() => undefined)
      file = undefined
      throw error
    }
  }
  const attempt = async (entries: readonly RecordedEntry[]): Promise<void> => {
    try {
      await write(entries.map((entry) => `${JSON.stringify(viewOf(entry))}\n`).join(''))
    } catch (error) {
      lost += entries.length
      const reason = error instanceof Error ? error.message : String(error)
      if (!isFailing) warn(`the journal file ${path} cannot be written and its entries are lost: ${reason}`)
      isFailing = true
      return
    }
    if (lost > 0 && entries.length > 0) {
      warn(`the journal file ${path} is written again; ${plural(lost, 'entry', 'entries')} are missing from it`)
      lost = 0
    }
    isFailing = false
  }
  const writeWaiting = async (): Promise<void> => {
    await nextTurn()
    while (waiting.length > 0) await attempt(waiting.splice(0, BATCH))
    writing = undefined
  }
  // Opened now, so that a path that cannot be used is told at the start.
  let writing: Promise<void> | undefined = attempt([]).then(writeWaiting)
  return {
    append: (entry) => {
      if (isClosed) return
      if (waiting.length >= MOST_WAITING) lost += 1
      else waiting.push(entry)
      writing ??= writeWaiting()
    },
    close: async () => {
      isClosed = true
      await (writing ?? writeWaiting())
      waiting = []
      await file?.close().catch(() => undefined)
    },
  }
}
