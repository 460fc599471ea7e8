import { realpath, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { renameOver } from '../platform.ts'
import { writeText } from './append.ts'
import { makeDirectory } from './make-directory.ts'

/**
 * Writes a file as a whole: a reader sees the old content or the new one, also after a crash. A folder that is
 * missing is made; what is no plain file, such as `/dev/stdout`, is written to and not replaced. Who may read it stays.
 */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const there = await stat(file).catch(() => undefined)
  if (there && !there.isFile()) return writeText(file, content, 'replace')
  await makeDirectory(dirname(file))
  const target = there ? await realpath(file) : file
  const draft = `${target}.${process.pid}.tmp`
  try {
    await writeFile(draft, content, there && { mode: there.mode })
    await renameOver(draft, target)
  } finally {
    await rm(draft, { force: true })
  }
}
