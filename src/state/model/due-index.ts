import type { Account } from '../../domain/account.ts'
import { TRAITS } from '../../domain/authorization-type.ts'
import type { AuthRequest } from '../../domain/magic-link.ts'
import type { Instant } from '../../domain/instant.ts'
import { Heap } from './heap.ts'
import type { Index } from './table.ts'

/** Something that the clock will bring about: an account's token expires, or an auth request does. */
export interface DueItem {
  at: Instant
  kind: 'account' | 'auth_request'
  id: string
}

/** Outdated items are swept out once they outnumber the others by this many. */
const SWEEP_AT = 1024

/**
 * What falls due, earliest first, without looking at every row: a heap in which outdated items stay until they surface or
 * are swept out, and by row what is true now.
 */
export class DueIndex {
  #heap = new Heap<DueItem>(earlier)
  readonly #present = { account: new Map<string, Instant>(), auth_request: new Map<string, Instant>() }
  /** Taken in a transaction that is not over, or just before it. */
  #taken: DueItem[] = []

  readonly accounts: Index<Account> = {
    update: (before, after) => this.#expect('account', before ?? after, after && accountDue(after)),
  }

  readonly authRequests: Index<AuthRequest> = {
    update: (before, after) =>
      this.#expect('auth_request', before ?? after, after?.outcome === 'pending' ? after.expires_at : undefined),
  }

  /**
   * Removes and returns the earliest item that is due at `now`. It comes back when the transaction around or after it
   * fails, and when the row it is about is rolled back to what it was.
   */
  take(now: Instant): DueItem | undefined {
    for (let first = this.#heap.first; first && first.at <= now; first = this.#heap.first) {
      this.#heap.pop()
      if (!this.#isPresent(first)) continue
      this.#present[first.kind].delete(first.id)
      this.#taken.push(first)
      return first
    }
    return undefined
  }

  /** What was taken has been dealt with. */
  keepTaken(): void {
    if (this.#taken.length > 0) this.#taken = []
  }

  /** What was taken has not been dealt with: it is due again. */
  putBackTaken(): void {
    for (const item of this.#taken.splice(0)) {
      if (!this.#present[item.kind].has(item.id)) this.#add(item)
    }
  }

  #expect(kind: DueItem['kind'], row: { id: string } | undefined, at: Instant | undefined): void {
    if (!row) return
    const present = this.#present[kind]
    if (at === undefined) present.delete(row.id)
    else if (present.get(row.id) !== at) this.#add({ at, kind, id: row.id })
  }

  #add(item: DueItem): void {
    this.#present[item.kind].set(item.id, item.at)
    this.#heap.push(item)
    const live = this.#present.account.size + this.#present.auth_request.size
    if (this.#heap.size > 2 * live + SWEEP_AT) this.#sweep()
  }

  #sweep(): void {
    const heap = new Heap<DueItem>(earlier)
    for (const kind of ['account', 'auth_request'] as const) {
      for (const [id, at] of this.#present[kind]) heap.push({ at, kind, id })
    }
    this.#heap = heap
  }

  #isPresent(item: DueItem): boolean {
    return this.#present[item.kind].get(item.id) === item.at
  }
}

/** When an active account's token expires with nothing to renew it; undefined when the clock changes nothing. */
export function accountDue(account: Account): Instant | undefined {
  if (account.status !== 'ACTIVE' || account.token_expires_at === undefined) return undefined
  const renewable =
    TRAITS[account.authorization_type].source === 'service' || account.credentials.oauth_token?.refresh_token
  return renewable ? undefined : account.token_expires_at
}

/** In the order of time; at the same time by kind and id, so that two runs do the same (1.3). */
function earlier(a: DueItem, b: DueItem): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.kind === b.kind ? a.id < b.id : a.kind < b.kind
}
