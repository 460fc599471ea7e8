import type { Account } from '../../domain/account.ts'
import { SequenceList } from './sequence-list.ts'

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
