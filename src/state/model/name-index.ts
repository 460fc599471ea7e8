import type { Account } from '../../domain/account.ts'
import { DeferredRows } from './deferred-index.ts'
import { PostingLists } from './posting-lists.ts'
import { SequenceList, union } from './sequence-list.ts'

/** Accounts by connector, then by identifier. */
export class NameIndex {
  readonly #byConnector = new Map<string, PostingLists>()
  readonly #later = new DeferredRows<Account>((account) => this.#enter(account))

  load(account: Account): void {
    this.#later.add(account)
  }

  add(account: Account): void {
    this.#later.enterAll()
    this.#enter(account)
  }

  remove({ connector, identifier, sequence }: Account): void {
    this.#later.enterAll()
    const named = this.#byConnector.get(connector)
    named?.remove(identifier, sequence)
    if (named?.size === 0) this.#byConnector.delete(connector)
  }

  /** The accounts of a name; not to be changed. */
  list(connector: string, identifier: string): SequenceList {
    this.#later.enterAll()
    return this.#byConnector.get(connector)?.list(identifier) ?? SequenceList.of([])
  }

  /** The accounts with an identifier at any connector. */
  identified(identifier: string): SequenceList {
    this.#later.enterAll()
    return SequenceList.of(union([...this.#byConnector.values()].map((named) => named.list(identifier).toArray())))
  }

  /** Enters some of what was loaded; false when all of it is. */
  enterSome(): boolean {
    return this.#later.enterSome()
  }

  #enter({ connector, identifier, sequence }: Account): void {
    let named = this.#byConnector.get(connector)
    if (!named) this.#byConnector.set(connector, (named = new PostingLists()))
    named.add(identifier, sequence)
  }
}
