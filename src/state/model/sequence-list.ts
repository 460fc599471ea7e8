import type { Account } from '../../domain/account.ts'

/** Ascending numbers, in one list or in several. */
export interface Sequences {
  readonly size: number
  readonly first: number | undefined
  readonly last: number | undefined
  /** The first `count` numbers greater than `position`. */
  after(position: number, count: number): number[]
  /** The last `count` numbers smaller than `position`, ascending. */
  before(position: number, count: number): number[]
  toArray(): number[]
  /** The numbers that are in here too, of numbers that ascend. */
  common(ascending: readonly number[]): number[]
}

/** Longest part; adding to and removing from the middle moves at most this many numbers. */
const PART = 1024

/** Ascending numbers without repetition, that stay quick to add to and remove from when there are many. */
export class SequenceList implements Sequences {
  readonly #parts: number[][] = []
  #size = 0

  /** From numbers that ascend already. */
  static of(ascending: readonly number[]): SequenceList {
    const list = new SequenceList()
    for (let at = 0; at < ascending.length; at += PART) list.#parts.push(ascending.slice(at, at + PART))
    list.#size = ascending.length
    return list
  }

  get size(): number {
    return this.#size
  }

  get first(): number | undefined {
    return this.#parts[0]?.[0]
  }

  get last(): number | undefined {
    return this.#parts.at(-1)?.at(-1)
  }

  has(value: number): boolean {
    const part = this.#parts[this.#partOf(value)]
    return part !== undefined && part[lowerBound(part, value)] === value
  }

  add(value: number): void {
    const last = this.#parts.at(-1)
    if (last && last.length < PART && value > (last.at(-1) ?? 0)) {
      last.push(value)
      this.#size++
    } else this.#insert(value)
  }

  #insert(value: number): void {
    const index = this.#partOf(value)
    const part = this.#parts[index]
    if (!part) {
      this.#parts.push([value])
      this.#size++
      return
    }
    const at = lowerBound(part, value)
    if (part[at] === value) return
    if (at === part.length) part.push(value)
    else part.splice(at, 0, value)
    this.#size++
    if (part.length > PART) this.#split(index, part)
  }

  remove(value: number): void {
    const index = this.#partOf(value)
    const part = this.#parts[index]
    const at = part ? lowerBound(part, value) : 0
    if (part?.[at] !== value) return
    part.splice(at, 1)
    this.#size--
    if (part.length === 0) this.#parts.splice(index, 1)
  }

  after(position: number, count: number): number[] {
    const found: number[] = []
    let index = this.#partOf(position)
    let part = this.#parts[index]
    let at = part ? lowerBound(part, position + 1) : 0
    for (; part && found.length < count; part = this.#parts[++index], at = 0) {
      found.push(...part.slice(at, at + Math.min(PART, count - found.length)))
    }
    return found
  }

  before(position: number, count: number): number[] {
    const found: number[][] = []
    let [missing, index] = [count, this.#partOf(position)]
    let part = this.#parts[index]
    let end = part ? lowerBound(part, position) : 0
    for (; part && missing > 0; part = this.#parts[--index], end = part?.length ?? 0) {
      const piece = part.slice(Math.max(0, end - missing), end)
      missing -= piece.length
      found.unshift(piece)
    }
    return joined(found)
  }

  toArray(): number[] {
    return joined(this.#parts)
  }

  common(ascending: readonly number[]): number[] {
    if (ascending.length * 8 < this.#size) return ascending.filter((value) => this.has(value))
    const found: number[] = []
    let [index, at] = [0, 0]
    let part = this.#parts[0]
    for (const value of ascending) {
      while (part && (part[part.length - 1] ?? 0) < value) [part, at] = [this.#parts[++index], 0]
      if (!part) break
      while ((part[at] ?? Infinity) < value) at++
      if (part[at] === value) found.push(value)
    }
    return found
  }

  /** The part that holds a number, or would: the last one that begins at or before it. */
  #partOf(value: number): number {
    let [low, high] = [0, this.#parts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#parts[middle]?.[0] ?? 0) <= value) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Numbers mostly arrive ascending, so that a full last part stays full. */
  #split(index: number, part: number[]): void {
    const isLast = index === this.#parts.length - 1
    this.#parts.splice(index + 1, 0, part.splice(isLast ? PART : PART >> 1))
  }
}

/** Lists that have no number in common, as one. */
export class DisjointLists implements Sequences {
  readonly #lists: readonly SequenceList[]

  constructor(lists: readonly SequenceList[]) {
    this.#lists = lists.filter(({ size }) => size > 0)
  }

  get size(): number {
    return this.#lists.reduce((size, list) => size + list.size, 0)
  }

  get first(): number | undefined {
    return this.#ends((list) => list.first).at(0)
  }

  get last(): number | undefined {
    return this.#ends((list) => list.last).at(-1)
  }

  after(position: number, count: number): number[] {
    return union(this.#lists.map((list) => list.after(position, count))).slice(0, count)
  }

  before(position: number, count: number): number[] {
    return union(this.#lists.map((list) => list.before(position, count))).slice(-count)
  }

  toArray(): number[] {
    return union(this.#lists.map((list) => list.toArray()))
  }

  common(ascending: readonly number[]): number[] {
    return union(this.#lists.map((list) => list.common(ascending)))
  }

  #ends(end: (list: SequenceList) => number | undefined): number[] {
    return this.#lists.flatMap((list) => end(list) ?? []).sort((a, b) => a - b)
  }
}

/** Merges ascending numbers into ascending numbers, each once. */
export function union(lists: readonly (readonly number[])[]): number[] {
  if (lists.length <= 1) return [...(lists[0] ?? [])]
  const middle = lists.length >> 1
  const [a, b] = [union(lists.slice(0, middle)), union(lists.slice(middle))]
  const merged: number[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const [left, right] = [a[i] ?? Infinity, b[j] ?? Infinity]
    merged.push(Math.min(left, right))
    if (left <= right) i++
    if (right <= left) j++
  }
  return merged
}

/** Much faster than `flat` where there are many. */
function joined(parts: readonly (readonly number[])[]): number[] {
  return ([] as number[]).concat(...parts)
}

/** The first index whose number is not smaller than `value`. */
function lowerBound(part: readonly number[], value: number): number {
  let [low, high] = [0, part.length]
  if (high > 0 && (part[high - 1] ?? 0) < value) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if ((part[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Which rows have a value in one field, by value. A value that only one row has costs no list. */
export class ValueIndex {
  readonly #byValue = new Map<string, number | SequenceList>()

  add(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === undefined) this.#byValue.set(value, sequence)
    else if (typeof present !== 'number') present.add(sequence)
    else if (present !== sequence) {
      const list = SequenceList.of([present])
      list.add(sequence)
      this.#byValue.set(value, list)
    }
  }

  remove(value: string, sequence: number): void {
    const present = this.#byValue.get(value)
    if (present === sequence) this.#byValue.delete(value)
    else if (typeof present === 'object') {
      present.remove(sequence)
      if (present.size === 0) this.#byValue.delete(value)
    }
  }

  /** The rows with a value; not to be changed. */
  list(value: string): SequenceList {
    const present = this.#byValue.get(value)
    if (present === undefined) return SequenceList.of([])
    return typeof present === 'number' ? SequenceList.of([present]) : present
  }

  get size(): number {
    return this.#byValue.size
  }

  values(): IterableIterator<string> {
    return this.#byValue.keys()
  }
}

interface Kept {
  readonly sequences: SequenceList
  readonly isMatch: (account: Account) => boolean
}

/** Answers to questions that were dear to find, kept true while accounts come and go: pages are mostly asked for in a row. */
export class QueryCache {
  /** By question, the least recently asked first. */
  readonly #kept = new Map<string, Kept>()
  readonly #atMost: number

  constructor(atMost: number) {
    this.#atMost = atMost
  }

  /** The accounts that match, in creation order; not to be changed. `find` is asked when they are not known. */
  of(question: string, isMatch: (account: Account) => boolean, find: () => readonly number[]): SequenceList {
    const kept = this.#kept.get(question) ?? { sequences: SequenceList.of(find()), isMatch }
    this.#kept.delete(question)
    this.#kept.set(question, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#atMost && oldest !== undefined) this.#kept.delete(oldest)
    return kept.sequences
  }

  update(before: Account | undefined, after: Account | undefined): void {
    for (const { sequences, isMatch } of this.#kept.values()) {
      if (before) sequences.remove(before.sequence)
      if (after && isMatch(after)) sequences.add(after.sequence)
    }
  }
}
