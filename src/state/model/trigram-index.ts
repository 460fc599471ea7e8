const BUCKETS = 1 << 16
/** A trigram in more than one row out of so many narrows nothing down, and its list is dropped. */
const COMMON = 4
const COMMON_AT_LEAST = 4096

type Bucket = number[] | 'common' | undefined

/**
 * Narrows down which texts can contain another, by the runs of three characters in them. It answers too many rather than
 * too few: runs share buckets, and texts that are gone stay in until everything is built anew.
 */
export class TrigramIndex {
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
