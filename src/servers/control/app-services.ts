import type { ServerResponse } from 'node:http'
import type { components } from '../../model/contract/generated/control-types.ts'
import type { DocumentChecks } from '../../files/connector-checks.ts'
import type { Instant } from '../../model/domain/instant.ts'
import type { ServiceParts } from '../http/services.ts'
import type { StoredEntry } from '../../journal/request-journal/entry.ts'
import type { ThirdParties } from '../../service/third-party/client.ts'
import type { ContractRecords } from '../../journal/verdict/contract-record.ts'
import type { Reports } from '../../journal/verdict/reports.ts'
import type { Webhooks } from '../../service/webhooks/webhooks.ts'
import type { AdmissionRules } from './admission.ts'

/** Everything that the parts of one server share. `app/app.ts` makes it; each module takes the members that it uses. */
export interface AppServices extends ServiceParts {
  readonly version: string
  /** When the server was started, in real time. */
  readonly startedAt: Instant
  readonly thirdParties: ThirdParties
  readonly records: ContractRecords
  /** Loaded when they are first asked for. */
  readonly reports: () => Promise<Reports>
  readonly webhooks: Webhooks
  readonly documentChecks: DocumentChecks
  readonly admission: AdmissionRules
  /** The servers on the same state, and which of them is active; none where the state is in no database. */
  readonly replicas: () => Promise<components['schemas']['Replicas']>
  readonly controlBodyLimit: number
  /** Largest state in bytes that can be got, and put back. */
  readonly stateLimit: number
  readonly observeControl: ((entry: StoredEntry) => void) | undefined
  /** Stops the process; undefined where the program that made the server stops it. */
  readonly shutdown: ((exitCode?: number) => void) | undefined
  /** The event streams that are open, and how many may be. */
  readonly eventStreams: { readonly open: Set<ServerResponse>; readonly most: number }
}
