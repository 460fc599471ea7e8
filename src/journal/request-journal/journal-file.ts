import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openForWriting, writeAll } from '../../platform/disk/append.ts'
import { makeDirectory } from '../../platform/disk/make-directory.ts'
import { isJsonObject, jsonText, parsedJson } from '../../model/domain/json.ts'
import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'
import { plural } from '../../model/domain/text.ts'
import type { EntryDocument, StoredEntry } from './entry.ts'
import type { ExplanationDocument } from './explain.ts'
import { entryView } from './view.ts'

/** A file to which the entries of all environments are appended, one masked JSON object a line. */
export interface JournalFile {
  /** The line contains the explanation, because the server may have stopped when it is read. */
  append(entry: StoredEntry, explain?: () => ExplanationDocument | undefined): void
  close(): Promise<void>
}

/** Entries are formatted in batches after their requests, so that no request waits for it. */
const BATCH = 100
/** Entries that wait while the file takes none, such as a pipe that is full; more are lost. */
const MAX_WAITING = 10_000

/** Entries are lost while it cannot be written, with one warning; no request fails, and the next entries try again. */
export function openJournalFile(path: string, warn: (message: string) => void): JournalFile {
  let waiting: Waiting[] = []
  let file: FileHandle | undefined
  let lost = 0
  let isFailing = false
  let isCut = false
  let isClosed = false

  const write = async (text: string): Promise<void> => {
    if (!file) {
      await makeDirectory(dirname(path))
      file = await openForWriting(path, 'append', 0o600)
    }
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
  const attempt = async (entries: readonly Waiting[]): Promise<void> => {
    try {
      await write(entries.map(lineOf).join(''))
    } catch (error) {
      lost += entries.length
      const reason = error instanceof Error ? error.message : String(error)
      if (!isFailing) warn(`the journal file ${path} cannot be written and its entries are lost: ${reason}`)
      isFailing = true
      return
    }
    if (lost > 0 && entries.length > 0) {
      warn(`the journal file ${path} is written again; it lacks ${plural(lost, 'entry', 'entries')}`)
      lost = 0
    }
    isFailing = false
  }
  const writeWaiting = async (): Promise<void> => {
    await nextTurn()
    while (waiting.length > 0) await attempt(waiting.splice(0, BATCH))
    writing = undefined
  }
  // Opened now, so that a path that cannot be used is reported at the start.
  let writing: Promise<void> | undefined = attempt([]).then(writeWaiting)
  return {
    append: (entry, explain) => {
      if (isClosed) return
      if (waiting.length >= MAX_WAITING) lost += 1
      else waiting.push({ entry, explain })
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

interface Waiting {
  readonly entry: StoredEntry
  readonly explain: (() => ExplanationDocument | undefined) | undefined
}

function lineOf({ entry, explain }: Waiting): string {
  return `${jsonText({ ...entryView(entry), explanation: explain?.() })}\n`
}

export interface FiledEntry extends EntryDocument {
  readonly explanation?: ExplanationDocument
}

/** Reads the entries of a journal file, oldest first. @throws StartError for a line that is no entry, and a file that cannot be read */
export async function* readJournalFile(path: string): AsyncIterable<FiledEntry> {
  try {
    yield* entriesIn(path)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`the journal file ${path} cannot be read (${systemReason(error)})`)
  }
}

async function* entriesIn(path: string): AsyncIterable<FiledEntry> {
  let line = 0
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line += 1
    if (text.trim() === '') continue
    const value = parsedJson(text)
    if (!isJsonObject(value) || typeof value['id'] !== 'string') {
      throw new StartError(`${path}:${line}: expected an entry of a request journal, as --journal writes it`)
    }
    yield value as unknown as FiledEntry
  }
}
