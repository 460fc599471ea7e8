import { dirname } from 'node:path'
import { hasCode } from '../../model/domain/system-error.ts'
import type { StateContent, StateImage } from '../../state/model/state-image.ts'
import { RandomIds } from '../../state/model/time-and-ids.ts'
import type { FileSystem } from '../../state/wal/file-system.ts'
import { logGenerations } from '../../state/wal/log-lines.ts'
import { StateError } from '../../state/wal/state-errors.ts'
import { StateFile } from '../../state/state-file/state-file.ts'

/** A state of its own: no log belongs to it. */
export function newState(content: StateContent): StateImage {
  return { ...content, state_id: new RandomIds().id('state'), generation: 1 }
}

/**
 * An empty file is made first, so that no other program makes one meanwhile. @throws StateError when something is at
 * the path; what `read` throws, and then there is nothing again
 */
export async function writeNewState(
  fileSystem: FileSystem,
  path: string,
  read: () => Promise<StateContent>,
): Promise<{ content: StateContent; size: number }> {
  await reserve(fileSystem, path)
  try {
    const content = await read()
    return { content, size: await new StateFile(fileSystem, path).write(newState(content)) }
  } catch (error) {
    await fileSystem.remove(path)
    throw error
  }
}

async function reserve(fileSystem: FileSystem, path: string): Promise<void> {
  const folder = dirname(path)
  await fileSystem.list(folder).catch(() => {
    throw new StateError(`${path}: there is no folder ${folder} that can be read; nothing was written`)
  })
  const taken = new StateError(
    `${path}: it is there already, or its write-ahead log is, and stays as it is; name another file`,
  )
  if ((await logGenerations(fileSystem, path)).length > 0) throw taken
  const file = await fileSystem.createNew(path).catch((error: unknown) => {
    throw hasCode(error, 'EEXIST') ? taken : new StateError(`${path}: ${String(error)}; nothing was written`)
  })
  await file.close()
}
