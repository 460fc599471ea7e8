import type { Instant } from '../model/domain/instant.ts'
import type { Log } from '../servers/http/log.ts'
import type { ServerLimits } from '../servers/http/server.ts'
import type { StoredEntry } from '../journal/request-journal/entry.ts'
import type { TestLabel } from '../model/domain/test-label.ts'
import type { OperationTable } from '../service/operations/table.ts'
import type { TimeSource } from '../state/model/time-and-ids.ts'
import type { Webhook } from '../model/domain/webhook.ts'
import type { FileSystem } from '../state/wal/file-system.ts'
import type { TlsOptions } from '../servers/tls/server-credentials.ts'
import type { SharedOptions } from './shared-options.ts'

/** The environment of calls that name none (1.2). */
export const DEFAULT_ENVIRONMENT = 'default'

/** Whether a state is in a database and in no file. */
export function isDatabaseUrl(state: string | null | undefined): state is string {
  return state !== null && state !== undefined && /^postgres(ql)?:/i.test(state)
}

/** Whether a state is named by a URL of any kind, and not by a file. */
export function isUrl(state: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(state)
}

/** How the server is started; everything may be left out. */
export interface AppOptions extends SharedOptions {
  /** The state file, or the URL of a PostgreSQL database; null or absent keeps everything in memory. */
  state?: string | null | undefined
  /** The schema of the tables in that database; `toolmock` when absent. */
  stateSchema?: string | undefined
  /** How long one replica is the active one without renewing it, in milliseconds; 6 seconds when absent. */
  lease?: number | undefined
  /** The address by which the other replicas call this one; where it listens when absent. */
  replicaUrl?: string | undefined
  /** Scenarios that run from the start in every environment: names of bundled ones, or files. */
  scenarios?: readonly string[] | undefined
  /** Where the clock of a new environment starts; real time when absent. */
  clock?: Instant | undefined
  /** What the default environment is for, when it is new: findings of reports name it. */
  test?: TestLabel | undefined
  /** The token that calls of the control API must carry; none when absent. */
  adminToken?: string | undefined
  /** Where events are sent, from every environment, beside the webhooks of seeds and of the control API (G68). */
  webhooks?: readonly Webhook[] | undefined
  /** How long the answer of a webhook is waited for, in milliseconds; 10 seconds when absent. */
  webhookTimeout?: number | undefined
  /** HTTPS; plain HTTP when absent (G50). */
  tls?: TlsOptions | undefined
  /** Largest state that `GET` and `PUT /_mock/state` take in bytes; 256 MiB when absent. */
  stateLimit?: number | undefined
  /** How long the server waits for its clients. */
  limits?: Partial<ServerLimits> | undefined
  /** How many event streams may be open at once; 500 when absent. */
  eventStreams?: number | undefined
  /** How many requests the journal of an environment keeps; 10,000 when absent. */
  journalCapacity?: number | undefined
  log?: Log | undefined
  /** Tries the address where the server is to listen, before a state begins or is replaced. @throws what refuses it */
  tryAddress?: (() => Promise<void>) | undefined
  /** Says what takes long at the start. */
  progress?: ((line: string) => void) | undefined
  /** Sees every entry of the request journals. */
  observeEntry?: ((entry: StoredEntry) => void) | undefined
  /** Sees every call of the control API once it is over. It is in no journal. */
  observeControl?: ((entry: StoredEntry) => void) | undefined
  /** Stops the process, for `POST /_mock/shutdown` among others; a server that its own program stops has none. */
  shutdown?: ((exitCode?: number) => void) | undefined
  time?: TimeSource | undefined
  /** For tests that need a disk that fails. */
  fileSystem?: FileSystem | undefined
  /** For tests that need a broken mock (`test/mutants`): handlers that answer in place of the mock's own. */
  operations?: OperationTable | undefined
}

/** The options that were given and that only a new environment takes, as a notice; none when there are none. */
export function notApplied({ seeds, clock, freeze, idSeed }: AppOptions): string[] {
  const unused = [
    ...(seeds === undefined ? [] : ['the seed']),
    ...(clock === undefined && freeze !== true ? [] : ['the clock']),
    ...(idSeed === undefined ? [] : ['the id seed']),
  ]
  if (unused.length === 0) return []
  const were = unused.length === 1 ? 'was' : 'were'
  const reason = 'the state file holds an environment already, which keeps its own'
  return [
    `${reason}: ${unused.join(', ')} ${were} not applied; --fresh replaces it, --state FILE starts one in another file`,
  ]
}
