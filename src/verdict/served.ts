import { didYouMean } from '../request-journal/view.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import type { ContractRecords } from './records.ts'

/**
 * What browsers ask every server for by themselves, and whoever waits for one to be up: no client has mistaken it for a path
 * of the service.
 */
const ASKED_OF_EVERY_SERVER =
  /^\/(|favicon\.ico|robots\.txt|apple-touch-icon[\w.-]*\.png|\.well-known\/appspecific\/.*)$/
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

const LONGEST_PATH = 200

/** What the journal sees beside the request pipeline: paths that are not served, and accounts that moved, whoever moved them. */
export function noteEntry(records: ContractRecords, entry: RecordedEntry): void {
  const { kind, operation, status, url, method, id, environment, trace } = entry
  if (trace.due.length > 0 || trace.transitions.length > 0) records.of(environment).moved(trace)
  if (kind !== 'request' || operation !== null || (status !== 404 && status !== 405)) return
  const path = url.split('?', 1).join()
  if (READS.has(method) && ASKED_OF_EVERY_SERVER.test(path)) return
  const unserved = { method, path: path.slice(0, LONGEST_PATH), status, did_you_mean: didYouMean(entry) } as const
  records.of(environment).unknownPaths.note(unserved, id)
}
