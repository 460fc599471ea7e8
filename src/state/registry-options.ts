import type { Client } from '../domain/client.ts'
import type { Settings } from '../domain/settings.ts'
import type { ClockState, TimeSource } from './model/clock.ts'
import type { Durability } from './wal/write-ahead-log.ts'
import type { FileSystem } from './wal/file-system.ts'
import type { ResolveConnector, StoredEnvironment } from './stored-environment.ts'

export interface RegistryOptions {
  /** The state file; absent to keep everything in memory only. */
  file?: string | undefined
  /** Ignore and replace what the file holds. */
  fresh?: boolean | undefined
  /** `strict` when absent: a commit is acknowledged once it is on disk. */
  durability?: Durability | undefined
  /** Bytes of log from which on a checkpoint writes the state file: 64 MiB, and the size of the state file, at least. */
  checkpointAt?: number | undefined
  time?: TimeSource | undefined
  fileSystem?: FileSystem | undefined
  resolveConnector: ResolveConnector
}

export interface NewEnvironment {
  settings?: Partial<Settings> | undefined
  clients?: readonly Client[] | undefined
  clock?: ClockState | undefined
  /** Ids repeat between runs; random when absent. */
  idSeed?: number | undefined
  /** Fills the model, in the transaction that makes the environment: both are there, or neither is. */
  fill?: ((environment: StoredEnvironment) => void) | undefined
}
