import { setImmediate as turn } from 'node:timers/promises'
import type { PrismValidator } from '../contract/prism-validator.ts'
import { type Disagreement, disagreementsOf } from '../contract/prism-check.ts'
import type { PrismCheck } from '../documents/report-schemas.ts'
import type { RecordedEntry } from '../request-journal/entry.ts'
import { keptExchange, type Unjudged } from './kept-exchange.ts'

/** The journal of an environment. */
export interface KeptEntries {
  readonly environment: string
  readonly entries: readonly RecordedEntry[]
}

/** How many exchanges are judged before other requests have their turn. */
const AT_A_TIME = 10
const MOST_DISAGREEMENTS = 200

/** Every exchange that the journals keep, held against the contract by Prism, which shares no code with our own check. */
export async function prismCheck(prism: PrismValidator, journals: readonly KeptEntries[]): Promise<PrismCheck> {
  const opinion = {
    judged: { requests: 0, answers: 0 },
    not_judged: { refused: 0, injected: 0, shortened: 0 } satisfies Record<Unjudged, number>,
    disagreements: [] as PrismCheck['disagreements'][number][],
    left_out: 0,
  }
  let seen = 0
  for (const { environment, entry, kept } of keptOf(journals)) {
    if (++seen % AT_A_TIME === 0) await turn()
    const { request, answer } = kept.unjudged
    for (const reason of [request, answer]) if (reason) opinion.not_judged[reason] += 1
    if (!request) opinion.judged.requests += 1
    if (!answer) opinion.judged.answers += 1
    for (const disagreement of disagreementsOf(prism, kept.exchange)) {
      if (opinion.disagreements.length === MOST_DISAGREEMENTS) opinion.left_out += 1
      else opinion.disagreements.push(told(environment, entry, disagreement))
    }
  }
  return { judge: 'prism', ...opinion }
}

function* keptOf(journals: readonly KeptEntries[]) {
  for (const { environment, entries } of journals) {
    for (const entry of entries) {
      const kept = keptExchange(entry)
      if (kept) yield { environment, entry, kept }
    }
  }
}

function told(environment: string, { id, operation }: RecordedEntry, { part, ours, theirs }: Disagreement) {
  return {
    environment,
    request: id,
    operation: operation ?? '',
    part,
    contract: ours.map(({ field, description }) => `${field}: ${description}`),
    prism: theirs.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)),
  }
}
