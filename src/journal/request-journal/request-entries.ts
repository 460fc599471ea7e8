import type { IncomingHttpHeaders } from 'node:http'
import type { Ids } from '../../model/domain/ports.ts'
import { requestIdOf } from '../../model/domain/request-headers.ts'
import { RequestTrace } from '../../model/domain/request-trace.ts'
import type { Environment, ReadGuard } from '../../state/environment.ts'
import type { EntryInput, RequestKind } from './entry.ts'
import type { Journals } from './journal.ts'

/** Whose ids repeat with `--id-seed`: those of operations and pages, each in a sequence of its own. */
export type IdUse = 'operations' | 'pages' | 'control'

/** Everything that arrives or is sent, from its beginning to the end of its journal entry. */
export interface OpenEntry {
  readonly kind: RequestKind
  /** Its `X-Request-Id` (G18). */
  readonly requestId: string
  /** Milliseconds of real time at which it came in. */
  readonly startedAt: number
  readonly trace: RequestTrace
  /** Undefined, as its client, until it is known: the entry of a request of none goes to the default environment. */
  environment: Environment | undefined
  client: { readonly id: string } | undefined
  /** Of a request that has waited for something since it began to read. */
  readGuard: ReadGuard | undefined
}

export interface EntryFacts extends Omit<EntryInput, 'kind' | 'id' | 'startedAt' | 'trace' | 'environment' | 'client'> {
  /** Instead of that of its beginning. */
  readonly kind?: RequestKind
}

export interface EndedEntry {
  /** Undefined for what has no entry: a control call that changes nothing. */
  readonly facts: EntryFacts | undefined
  readonly send?: (() => Promise<void> | undefined) | (() => void)
}

interface EntryParts {
  readonly journals: Journals
  readonly realTime: () => number
  readonly requestIds: (use: IdUse) => Ids
  readonly durable: (readGuard: ReadGuard | undefined) => Promise<void> | undefined
}

/** Begins and ends the entries of the request journals, and so every answer: nothing else writes one. */
export class RequestEntries {
  readonly #parts: EntryParts
  readonly #ids = new Map<IdUse, Ids>()

  constructor(parts: EntryParts) {
    this.#parts = parts
  }

  /** @param headers of a request, which may name its id */
  begin(kind: RequestKind, use: IdUse, headers: IncomingHttpHeaders = NO_HEADERS): OpenEntry {
    let ids = this.#ids.get(use)
    // A seeded sequence goes on where the state, which is read by now, says.
    if (!ids) this.#ids.set(use, (ids = this.#parts.requestIds(use)))
    const requestId = requestIdOf({ headers }, ids)
    const trace = new RequestTrace(requestId)
    const startedAt = this.#parts.realTime()
    return { kind, requestId, startedAt, trace, environment: undefined, client: undefined, readGuard: undefined }
  }

  /**
   * Waits until all that the answer may say is durable (an error says something too), makes the answer, writes the
   * entry, and sends. @param finish answers 503 where `refused` says why the disk did not take the state
   */
  end(entry: OpenEntry, finish: (refused?: Error) => EndedEntry): Promise<void> | undefined {
    const pending = this.#parts.durable(entry.readGuard)
    if (!pending) return this.#finishEntry(entry, finish())
    return pending.then(
      () => this.#finishEntry(entry, finish()),
      (refused: unknown) => {
        entry.trace.markRolledBack()
        return this.#finishEntry(entry, finish(refused as Error))
      },
    )
  }

  #finishEntry({ kind, requestId: id, startedAt, trace, environment, client }: OpenEntry, { facts, send }: EndedEntry) {
    if (facts) this.#parts.journals.add({ kind, ...facts, id, startedAt, trace, environment, client: client?.id })
    const sending = send?.()
    return sending instanceof Promise ? sending : undefined
  }
}

const NO_HEADERS: IncomingHttpHeaders = Object.freeze({})

/** Where a page is, in words: what its footer says. */
export function pageFacts({ environment, requestId }: OpenEntry): string[] {
  return [...(environment ? [`environment ${environment.name}`] : []), `request ${requestId}`]
}
