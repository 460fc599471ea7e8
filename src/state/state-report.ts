import { systemCode } from '../model/domain/system-error.ts'
import { plural } from '../model/domain/text.ts'
import { readStored } from './disk-store.ts'
import { readRegistry } from './environment-registry.ts'
import { refuseIfHeld } from './state-file/state-lock.ts'
import { type FileSystem, nodeFileSystem } from './wal/file-system.ts'
import { logGenerations } from './wal/log-lines.ts'
import { StateError } from './wal/state-errors.ts'

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
    const logs = await logGenerations(fileSystem, file)
    if ((await fileSystem.read(file)) === undefined && logs.length === 0)
      return { kind: 'unreadable', message: `${path}: there is no such file` }
    return await stateReportOf(fileSystem, file)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (error instanceof StateError) return { kind: 'unreadable', message: error.message }
    if (systemCode(error) === undefined) throw error
    return { kind: 'unreadable', message: `${path}: ${error.message}` }
  }
}

async function stateReportOf(fileSystem: FileSystem, file: string): Promise<StateReport> {
  try {
    const stored = await readStored(fileSystem, file)
    const environments = readRegistry(stored).environments()
    const accounts = environments.reduce((sum, { model }) => sum + model.tables.accounts.size, 0)
    const holds = `${plural(environments.length, 'environment')}, ${plural(accounts, 'account')}`
    return { kind: 'valid', notices: stored.notices, holds }
  } catch (error) {
    if (error instanceof StateError) return { kind: 'refused', message: error.message }
    throw error
  }
}
