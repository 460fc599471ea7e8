import type { Account } from '../domain/account.ts'
import { TRAITS } from '../domain/authorization-type.ts'
import type { AuthRequest } from '../domain/magic-link.ts'
import type { Instant } from '../domain/instant.ts'
import type { Index, Row } from './table.ts'

/** Something that the clock will bring about: an account's token expires, or an auth request does. */
export interface DueItem {
  at: Instant
  kind: 'account' | 'auth_request'
  id: string
}

/**
 * What falls due, earliest first, without looking at every row: a binary heap in which outdated items stay until they
 * surface, where whoever takes them sees that the row no longer says so.
 */
export class DueIndex {
  readonly #heap: DueItem[] = []

  readonly accounts: Index<Account> = {
    update: (before, after) => {
      const at = after && accountDue(after)
      if (after && at !== undefined && at !== (before && accountDue(before)))
        this.#push({ at, kind: 'account', id: after.id })
    },
  }

  readonly authRequests: Index<AuthRequest> = {
    update: (before, after) => {
      if (after?.outcome === 'pending' && after.expires_at !== before?.expires_at) {
        this.#push({ at: after.expires_at, kind: 'auth_request', id: after.id })
      }
    },
  }

  /** Removes and returns the earliest item that is due at `now`. */
  take(now: Instant): DueItem | undefined {
    const first = this.#heap[0]
    return first && first.at <= now ? this.#pop() : undefined
  }

  #push(item: DueItem): void {
    const heap = this.#heap
    heap.push(item)
    let at = heap.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!earlier(heap[at], heap[parent])) break
      swap(heap, at, parent)
      at = parent
    }
  }

  #pop(): DueItem | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!last || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ;) {
      const left = 2 * at + 1
      const child = earlier(heap[left + 1], heap[left]) ? left + 1 : left
      if (!earlier(heap[child], heap[at])) return first
      swap(heap, at, child)
      at = child
    }
  }
}

/** When an active account's token expires with nothing to renew it; undefined when the clock changes nothing. */
export function accountDue(account: Account): Instant | undefined {
  const renewable =
    TRAITS[account.authorization_type].source === 'service' || account.credentials.oauth_token?.refresh_token
  return account.status === 'ACTIVE' && !renewable ? account.token_expires_at : undefined
}

function earlier(a: DueItem | undefined, b: DueItem | undefined): boolean {
  return a !== undefined && (b === undefined || a.at < b.at)
}

function swap(heap: (DueItem & Partial<Row>)[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first && second) [heap[a], heap[b]] = [second, first]
}
