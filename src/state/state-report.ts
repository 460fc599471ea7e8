import { plural } from '../domain/text.ts'
import type { FileSystem } from './wal/file-system.ts'
import { nodeFileSystem } from './wal/file-system.ts'
import { formerWalPath, segmentsOf, walPath } from './wal/write-ahead-log.ts'
import { readWal } from './wal/recovery.ts'
import { STATE_VERSION } from './model/state-image.ts'
import { VersionError } from './state-file/read-state.ts'
import { StateFile } from './state-file/state-file.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { readOlder } from './state-file/migration.ts'
import { StateError } from './wal/state-errors.ts'
import type { Stored } from './disk-store.ts'
import { EnvironmentRegistry, withPosition } from './environment-registry.ts'

/** What a start would say to a state file. */
export type StateReport =
  /** It would start; `notices` as it would say them. */
  | { readonly kind: 'valid'; readonly notices: readonly string[]; readonly holds: string }
  /** It would refuse the file. */
  | { readonly kind: 'refused'; readonly message: string }
  /** There is nothing to look at, or a server has it open. */
  | { readonly kind: 'unreadable'; readonly message: string }

/** Does all that a start does with a state file, and touches nothing: neither the file nor its lock. */
export async function checkState(path: string, fileSystem: FileSystem = nodeFileSystem): Promise<StateReport> {
  try {
    const file = await fileSystem.realPath(path)
    await refuseIfHeld(file)
    const there = (await fileSystem.read(file)) !== undefined || (await logFiles(fileSystem, file)) > 0
    if (!there) return { kind: 'unreadable', message: `${path}: there is no such file` }
    return await report(fileSystem, file)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const isOfSystem = 'code' in error || error instanceof StateError
    if (!isOfSystem) throw error
    return { kind: 'unreadable', message: error instanceof StateError ? error.message : `${path}: ${error.message}` }
  }
}

async function report(fileSystem: FileSystem, file: string): Promise<StateReport> {
  try {
    const stored = await readStored(fileSystem, file)
    const registry = new EnvironmentRegistry({}, { stored })
    return { kind: 'valid', notices: stored.notices, holds: contentOf(registry) }
  } catch (error) {
    const problem = await withPosition(error, file, fileSystem)
    if (problem instanceof StateError) return { kind: 'refused', message: problem.message }
    throw problem
  }
}

async function readStored(fileSystem: FileSystem, file: string): Promise<Stored> {
  const hasFormerLog = (await segmentsOf(fileSystem, formerWalPath(file))).length > 0
  try {
    const read = hasFormerLog ? undefined : await new StateFile(fileSystem, file).read()
    if (!hasFormerLog) {
      const { commits, notices } = await readWal(fileSystem, walPath(file), read?.identity ?? null)
      return { image: read?.image, commits, notices }
    }
  } catch (error) {
    if (!(error instanceof VersionError)) throw error
  }
  const { version, image, log } = await readOlder(fileSystem, file)
  const migration = `${file}: of version ${version ?? 1}; a start migrates it to ${STATE_VERSION} and keeps the former file beside it`
  return { image, commits: [], notices: [...log.notices, migration] }
}

async function logFiles(fileSystem: FileSystem, file: string): Promise<number> {
  const [present, former] = [walPath(file), formerWalPath(file)]
  return (await segmentsOf(fileSystem, present)).length + (await segmentsOf(fileSystem, former)).length
}

function contentOf(registry: EnvironmentRegistry): string {
  const environments = registry.environments()
  const accounts = environments.reduce((sum, { model }) => sum + model.tables.accounts.size, 0)
  return `${plural(environments.length, 'environment')}, ${plural(accounts, 'account')}`
}
