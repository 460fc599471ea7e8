import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import type { RecordedEntry } from './entry.ts'
import { viewOf } from './view.ts'

/** Where the entries of every environment are appended as they come, one JSON object a line, masked. */
export interface JournalFile {
  append(entry: RecordedEntry): void
  /** Everything that was appended is written; nothing is written afterwards. */
  close(): Promise<void>
}

/** Entries are formatted in batches, so that requests do not wait for it. */
const BATCH = 100

/**
 * Appends to a file, which is made when there is none. A file that cannot be written costs one warning and the entries that
 * would have been in it, never a request.
 */
export function openJournalFile(path: string, warn: (message: string) => void): JournalFile {
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  let waiting: RecordedEntry[] = []
  let broken = false
  stream.on('error', (error) => {
    if (!broken) warn(`the journal file ${path} cannot be written, its entries are lost: ${error.message}`)
    broken = true
    waiting = []
  })
  const flush = (): void => {
    const batch = waiting.splice(0)
    if (batch.length > 0 && !broken) stream.write(batch.map((entry) => `${JSON.stringify(viewOf(entry))}\n`).join(''))
  }
  return {
    append: (entry) => {
      if (broken || stream.writableEnded) return
      waiting.push(entry)
      if (waiting.length === 1) setImmediate(flush)
      else if (waiting.length >= BATCH) flush()
    },
    close: async () => {
      flush()
      if (broken || stream.destroyed) return
      const closed = once(stream, 'close').catch(() => undefined)
      stream.end()
      await closed
    },
  }
}
