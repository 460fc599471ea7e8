import { Journals } from '../../src/journal/request-journal/journal.ts'
import { RequestEntries } from '../../src/journal/request-journal/request-entries.ts'
import { RandomIds } from '../../src/state/model/time-and-ids.ts'

/** Entries of journals that nobody reads. @param durable resolves when data is on disk; immediately by default */
export function unreadEntries(durable: () => Promise<void> | undefined = () => undefined): RequestEntries {
  const realTime = (): number => 0
  const journals = new Journals({ capacity: 1, maxBytes: 1, realTime, defaultEnvironment: () => undefined })
  return new RequestEntries({ journals, realTime, requestIds: () => new RandomIds(), durable })
}
