import type { Account } from '../../domain/account.ts'
import { QueryCache } from './query-cache.ts'
import type { PostingLists } from './posting-lists.ts'
import { type SequenceList, union } from './sequence-list.ts'
import { TrigramIndex } from './trigram-index.ts'

/** The accounts that are searched. */
export interface Searched {
  readonly order: SequenceList
  /** All of them, in whatever order. */
  accounts(): Iterable<Account>
  bySequence(sequence: number): Account | undefined
  /** By the values of the two fields that few values are spread over. */
  byField(field: 'connector' | 'provider'): PostingLists
}

/** Answers that are kept up to date for the next page of the same search. */
const KEPT_SEARCHES = 8
/** Texts that one search takes into the index at most, so that building it never holds up the event loop. */
const INDEXED_PER_SEARCH = 5_000

/** Case-insensitive search for a part of identifier, connector or provider (G1, G3). */
export class TextSearch {
  readonly #accounts: Searched
  #trigrams = new TrigramIndex()
  /** Accounts up to this sequence are in the trigram index. */
  #indexedUpTo = 0
  readonly #kept = new QueryCache(KEPT_SEARCHES)

  constructor(accounts: Searched) {
    this.#accounts = accounts
  }

  /** The accounts that contain a text; not to be changed. */
  matches(query: string): SequenceList {
    const text = query.toLowerCase()
    return this.#kept.of(
      text,
      (account) => contains(account, text),
      () => this.#search(text),
    )
  }

  update(before: Account | undefined, after: Account | undefined): void {
    if (before && after && sameTexts(before, after)) return
    if (after && after.sequence <= this.#indexedUpTo) this.#trigrams.add(after.sequence, after.identifier.toLowerCase())
    this.#kept.update(before, after)
  }

  #search(text: string): number[] {
    const found = (['connector', 'provider'] as const).flatMap((field) => {
      const postings = this.#accounts.byField(field)
      const values = [...postings.values()].filter((value) => value.toLowerCase().includes(text))
      return values.map((value) => postings.list(value).toArray())
    })
    return union([this.#inIdentifiers(text), ...found])
  }

  #inIdentifiers(text: string): number[] {
    if (text.length < 3) return this.#scan(text)
    this.#index()
    const candidates = this.#trigrams.candidates(text)
    if (!candidates) return this.#scan(text)
    const indexed = [...new Set(candidates)].sort((a, b) => a - b)
    return [...indexed, ...this.#accounts.order.after(this.#indexedUpTo, Infinity)].filter((sequence) =>
      this.#accounts.bySequence(sequence)?.identifier.toLowerCase().includes(text),
    )
  }

  #scan(text: string): number[] {
    const found: number[] = []
    let ascending = true
    for (const { identifier, sequence } of this.#accounts.accounts()) {
      if (!identifier.includes(text) && !identifier.toLowerCase().includes(text)) continue
      if (sequence < (found.at(-1) ?? 0)) ascending = false
      found.push(sequence)
    }
    return ascending ? found : found.sort((a, b) => a - b)
  }

  #index(): void {
    const { order } = this.#accounts
    // Accounts that are gone are only forgotten by building anew.
    if (this.#trigrams.rows > 2 * order.size + INDEXED_PER_SEARCH) {
      this.#trigrams = new TrigramIndex()
      this.#indexedUpTo = 0
    }
    for (const sequence of order.after(this.#indexedUpTo, INDEXED_PER_SEARCH)) {
      this.#trigrams.add(sequence, this.#accounts.bySequence(sequence)?.identifier.toLowerCase() ?? '')
      this.#indexedUpTo = sequence
    }
  }
}

/** `text` being in lower case. */
export function contains({ identifier, connector, provider }: Account, text: string): boolean {
  return [identifier, connector, provider].some((value) => value.toLowerCase().includes(text))
}

function sameTexts(a: Account, b: Account): boolean {
  return (
    a.sequence === b.sequence &&
    a.identifier === b.identifier &&
    a.connector === b.connector &&
    a.provider === b.provider
  )
}
