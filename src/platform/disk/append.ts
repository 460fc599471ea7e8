import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { hasCode } from '../../model/domain/system-error.ts'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants
const FLAGS = { append: O_APPEND, replace: O_TRUNC } as const

/** How often a pipe that is full is tried again, and for how long. */
const RETRY_MS = 50
const MAX_WAIT_MS = 5_000

/** A pipe without a reader is refused: opening it would wait for one, which also keeps the process from ending. */
export async function openForWriting(path: string, how: keyof typeof FLAGS, mode = 0o666): Promise<FileHandle> {
  try {
    return await open(path, O_WRONLY | O_CREAT | O_NONBLOCK | FLAGS[how], mode)
  } catch (error) {
    const stats = hasCode(error, 'ENXIO') ? await stat(path).catch(() => undefined) : undefined
    throw stats && isPipe(stats) ? new Error('it is a pipe without a reader') : error
  }
}

/**
 * Waits while a pipe is full. @param progress gets the bytes written so far, also when the rest fails @param goesOn
 * asked before each wait
 */
export async function writeAll(
  file: FileHandle,
  text: string | Uint8Array,
  progress: (bytes: number) => void = () => undefined,
  goesOn: () => boolean = () => true,
): Promise<void> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  let waited = 0
  for (let done = 0; done < bytes.length;) {
    try {
      done += (await file.write(bytes, done)).bytesWritten
      waited = 0
      progress(done)
    } catch (error) {
      if (!hasCode(error, 'EAGAIN') || waited >= MAX_WAIT_MS || !goesOn()) throw error
      waited += RETRY_MS
      await pause(RETRY_MS)
    }
  }
}

/** Opens a file, writes a text and closes it. */
export async function writeText(
  path: string,
  text: string | Uint8Array,
  how: keyof typeof FLAGS,
  mode?: number,
): Promise<void> {
  const file = await openForWriting(path, how, mode)
  try {
    await writeAll(file, text)
  } finally {
    await file.close()
  }
}

function isPipe(stats: Stats): boolean {
  return stats.isFIFO() || stats.isSocket()
}
