import type { Account } from '../../domain/account.ts'
import {
  type AccountIndex,
  contains,
  QueryCache,
  type SequenceList,
  type TextSearcher,
  union,
} from './account-index.ts'

/** How many searches are cached for their next page. */
const KEPT_SEARCHES = 8
/** Texts that one search takes into the index at most, so that building it never blocks the event loop for long. */
const INDEXED_PER_SEARCH = 5_000

/** Case-insensitive search for a part of identifier, connector or provider (G1, G3). */
export class TextSearch implements TextSearcher {
  readonly #accounts: AccountIndex
  #trigrams = new TrigramIndex()
  /** Accounts up to this sequence are in the trigram index. */
  #indexedUpTo = 0
  readonly #kept = new QueryCache(KEPT_SEARCHES)

  constructor(accounts: AccountIndex) {
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
      const index = this.#accounts.byField(field)
      const values = [...index.values()].filter((value) => value.toLowerCase().includes(text))
      return values.map((value) => index.list(value).toArray())
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
    // Only a new index is without the accounts that were deleted.
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

function sameTexts(a: Account, b: Account): boolean {
  return (
    a.sequence === b.sequence &&
    a.identifier === b.identifier &&
    a.connector === b.connector &&
    a.provider === b.provider
  )
}

const BUCKETS = 1 << 16
/** A trigram in more than one row out of so many narrows nothing down, and its list is dropped. */
const COMMON = 4
const COMMON_AT_LEAST = 4096

type Bucket = number[] | 'common' | undefined

/**
 * Narrows down which texts can contain another, by the runs of three characters in them. It answers too many rather than
 * too few: runs share buckets, and texts that are gone stay in until everything is built again.
 */
class TrigramIndex {
  readonly #buckets: Bucket[] = new Array<Bucket>(BUCKETS)
  #rows = 0

  /** How many texts were added. */
  get rows(): number {
    return this.#rows
  }

  add(sequence: number, text: string): void {
    this.#rows++
    for (let at = 0; at + 2 < text.length; at++) {
      const index = bucketOf(text, at)
      const bucket = this.#buckets[index]
      if (bucket === 'common') continue
      if (!bucket) this.#buckets[index] = [sequence]
      else if (bucket[bucket.length - 1] !== sequence) this.#append(index, bucket, sequence)
    }
  }

  /** Rows that may contain `text`; undefined when that could be any. */
  candidates(text: string): readonly number[] | undefined {
    let best: readonly number[] | undefined
    for (let at = 0; at + 2 < text.length; at++) {
      const bucket = this.#buckets[bucketOf(text, at)]
      if (bucket === undefined) return []
      if (bucket !== 'common' && (!best || bucket.length < best.length)) best = bucket
    }
    return best
  }

  #append(index: number, bucket: number[], sequence: number): void {
    bucket.push(sequence)
    if (bucket.length > COMMON_AT_LEAST && bucket.length * COMMON > this.#rows) this.#buckets[index] = 'common'
  }
}

function bucketOf(text: string, at: number): number {
  const hash = (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) * 0x9e37
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1)
}
