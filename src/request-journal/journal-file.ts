import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
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

/** Opens or creates the file. When it cannot be written, there is one warning and its entries are lost; no request fails. */
export function openJournalFile(path: string, warn: (message: string) => void): JournalFile {
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  let waiting: RecordedEntry[] = []
  let broken = false
  stream.on('error', (error) => {
    if (!broken) warn(`the journal file ${path} cannot be written and its entries are lost: ${error.message}`)
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
