import { StartError } from '../../model/domain/start-error.ts'
import { systemReason } from '../../model/domain/system-error.ts'
import { replaceFile } from './replace-file.ts'

/** Writes a file in place of the one that is there; `what` is how messages name it. @throws StartError */
export async function writeOver(file: string, content: string | Uint8Array, what = file): Promise<void> {
  await reportWrite(what, () => replaceFile(file, content))
}

/** Writes what messages call `what`. @throws StartError */
export async function reportWrite(what: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw new StartError(notWritten(what, error))
  }
}

export function notWritten(what: string, error: unknown): string {
  return `${what} cannot be written (${systemReason(error)})`
}
