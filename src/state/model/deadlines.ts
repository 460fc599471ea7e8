import type { Account } from '../../domain/account.ts'
import { TRAITS } from '../../domain/authorization-type.ts'
import type { BearerToken } from '../../domain/client.ts'
import type { AuthorizationCode, Grant } from '../../domain/grant.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Index, Row } from './table.ts'

/*
 * What time does to rows: the due index finds what the clock changes, the expiry index what can be removed. Both keep a
 * heap in which outdated items stay until they surface, or until they outnumber the others.
 */

const SWEEP_AT = 1024

/** An expiry at a known time: of an account's token, or of an auth request. */
export interface DueItem {
  at: Instant
  kind: 'account' | 'auth_request'
  id: string
}

/**
 * What falls due, earliest first, without looking at every row: a heap in which outdated items stay until they surface or
 * are swept out, and by row what is true now.
 */
export class DueIndex {
  #heap = new Heap<DueItem>(isDueEarlier)
  readonly #present = { account: new Map<string, Instant>(), auth_request: new Map<string, Instant>() }
  /** Items that were taken in a transaction that is not over, or just before it. */
  #taken: DueItem[] = []

  readonly accounts: Index<Account> = {
    update: (before, after) => this.#expect('account', before ?? after, after && accountDue(after)),
  }

  readonly authRequests: Index<AuthRequest> = {
    update: (before, after) =>
      this.#expect('auth_request', before ?? after, after?.outcome === 'pending' ? after.expires_at : undefined),
  }

  /** Whether something may be due: an outdated item counts until it is taken. */
  isDue(now: Instant): boolean {
    const { first } = this.#heap
    return first !== undefined && first.at <= now
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

  /** The items that were taken are done. */
  keepTaken(): void {
    if (this.#taken.length > 0) this.#taken = []
  }

  /** The items that were taken are due again. */
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
    const heap = new Heap<DueItem>(isDueEarlier)
    for (const kind of ['account', 'auth_request'] as const) {
      for (const [id, at] of this.#present[kind]) heap.push({ at, kind, id })
    }
    this.#heap = heap
  }

  #isPresent(item: DueItem): boolean {
    return this.#present[item.kind].get(item.id) === item.at
  }
}

/** When the token of an active account expires that cannot be renewed; undefined when there is no such time. */
export function accountDue(account: Account): Instant | undefined {
  if (account.status !== 'ACTIVE' || account.token_expires_at === undefined) return undefined
  const renewable =
    TRAITS[account.authorization_type].source === 'service' || account.credentials.oauth_token?.refresh_token
  return renewable ? undefined : account.token_expires_at
}

/** In the order of time; at the same time by kind and id, so that two runs do the same (1.3). */
function isDueEarlier(a: DueItem, b: DueItem): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.kind === b.kind ? a.id < b.id : a.kind < b.kind
}

type ExpiringTable = 'bearer_tokens' | 'magic_links' | 'auth_requests' | 'authorization_codes' | 'grants'

interface RowName {
  readonly table: ExpiringTable
  readonly id: string
}

/** A row that can be removed once enough time has passed since it ended. */
interface Expiring extends RowName {
  /** When it ended, or will. */
  readonly at: Instant
}

/** How long ended rows are kept, so that answers can say why: a link is used up, a token has expired. */
const KEPT_MS = 24 * 60 * 60_000
/** This many are always kept, so that a small model is unchanged after the clock is moved forward and back. */
const KEPT_ROWS = 1000
/** How many rows that can never be valid again are kept: a busy server makes many in a day. */
const KEPT_OVER = 10_000
/** How many ended rows are kept at most, and how many bearer tokens, valid ones among them. */
const MAX_KEPT = 50_000
/** Rows that one commit removes at most: more than it can make, and few enough not to be noticed. */
const PER_COMMIT = 16

/**
 * Rows that come with use and end by themselves, the earliest end first. Each commit removes some, so that neither
 * memory nor file grow without bound, and reading never pays for it.
 */
export class ExpiryIndex {
  readonly #ended = new Endings()
  /** Those of them that are never valid again, at any time of the clock. */
  readonly #over = new Endings()
  readonly #tokens = new Endings()

  readonly bearerTokens = this.#index<BearerToken>('bearer_tokens', ({ expires_at }) => expires_at, this.#tokens)
  readonly magicLinks = this.#index<MagicLink>('magic_links', ({ expires_at }) => expires_at)
  readonly authorizationCodes = this.#index<AuthorizationCode>('authorization_codes', ({ expires_at }) => expires_at)
  /** A pending one has its end still to come ("States"); the others answer 404, as unknown ones do. */
  readonly authRequests = this.#index<AuthRequest>(
    'auth_requests',
    ({ outcome, expires_at }) => (outcome === 'pending' ? undefined : expires_at),
    this.#over,
  )
  /** A credential that was revoked is refused as an unknown one is. */
  readonly grants = this.#index<Grant>('grants', grantEnd, this.#over, isRevoked)

  /** Rows that can be removed now, `now` being milliseconds. */
  due(now: number): RowName[] {
    const due: Expiring[] = []
    for (const { of, most, upto } of [
      { of: this.#ended, most: KEPT_ROWS, upto: now - KEPT_MS },
      { of: this.#over, most: KEPT_OVER, upto: undefined },
      { of: this.#ended, most: MAX_KEPT, upto: now },
      { of: this.#tokens, most: MAX_KEPT, upto: undefined },
    ])
      due.push(...of.take(Math.min(of.size - most, PER_COMMIT) - due.length, upto))
    return due
  }

  #index<T extends Row>(
    table: ExpiringTable,
    endOf: (row: T) => Instant | undefined,
    also?: Endings,
    isOfThose: (row: T) => boolean = () => true,
  ): Index<T> {
    return {
      update: (before, after) => {
        const row = after ?? before
        const at = after && endOf(after)
        // Most rows of a large file never had an end, and are not in the index.
        if (!row || (!before && at === undefined)) return
        this.#ended.expect({ table, id: row.id }, at)
        also?.expect({ table, id: row.id }, after && isOfThose(after) ? at : undefined)
      },
    }
  }
}

/** When rows ended or will, the earliest first: a heap in which outdated items stay until they surface or are swept out. */
class Endings {
  #heap = new Heap<Expiring>(isEndEarlier)
  readonly #ends = new Map<string, Expiring>()

  get size(): number {
    return this.#ends.size
  }

  /** The earliest ones up to a time in milliseconds, at most so many. */
  take(most: number, upto = Infinity): Expiring[] {
    const taken: Expiring[] = []
    if (most <= 0 || upto < 0) return taken
    const latest = upto === Infinity ? undefined : instant(upto)
    for (let { first } = this.#heap; first && (latest === undefined || first.at <= latest); first = this.#heap.first) {
      if (this.#isPresent(first)) {
        if (taken.length === most) break
        taken.push(first)
      }
      this.#heap.pop()
    }
    return taken
  }

  /** `at` undefined: it is gone, or has no end. */
  expect({ table, id }: RowName, at: Instant | undefined): void {
    const key = `${table} ${id}`
    if (at === undefined) {
      this.#ends.delete(key)
      return
    }
    if (this.#ends.get(key)?.at === at) return
    const item = { at, table, id }
    this.#ends.set(key, item)
    this.#heap.push(item)
    if (this.#heap.size > 2 * this.#ends.size + SWEEP_AT) this.#sweep()
  }

  #sweep(): void {
    this.#heap = new Heap<Expiring>(isEndEarlier)
    for (const item of this.#ends.values()) this.#heap.push(item)
  }

  #isPresent(item: Expiring): boolean {
    return this.#ends.get(`${item.table} ${item.id}`) === item
  }
}

/** Only grants of no further use: revoked, or expired with no account that could be renewed with it. */
function grantEnd(grant: Grant): Instant | undefined {
  const isAlone = grant.account_id === '' && (grant.refresh_token === '' || grant.refresh_revoked)
  return !grant.final && (isRevoked(grant) || isAlone) ? grant.expires_at : undefined
}

function isRevoked({ revoked, refresh_revoked }: Grant): boolean {
  return revoked && refresh_revoked
}

/** In the order of time; at the same time by table and id, so that two runs do the same (1.3). */
function isEndEarlier(a: Expiring, b: Expiring): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.table === b.table ? a.id < b.id : a.table < b.table
}

/** A binary heap: the item that comes before all others is first, in whichever order they were pushed. */
class Heap<T> {
  readonly #items: T[] = []
  readonly #before: (a: T, b: T) => boolean

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#swapUnlessInOrder(parent, at)) return
      at = parent
    }
  }

  pop(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return first
    this.#items[0] = last
    for (let at = 0; ;) {
      const child = this.#smallerChild(at)
      if (child >= this.#items.length || !this.#swapUnlessInOrder(at, child)) return first
      at = child
    }
  }

  #smallerChild(at: number): number {
    const left = 2 * at + 1
    const [a, b] = [this.#items[left], this.#items[left + 1]]
    return a !== undefined && b !== undefined && this.#before(b, a) ? left + 1 : left
  }

  #swapUnlessInOrder(upper: number, lower: number): boolean {
    const [a, b] = [this.#items[upper], this.#items[lower]]
    if (a === undefined || b === undefined || !this.#before(b, a)) return false
    this.#items[upper] = b
    this.#items[lower] = a
    return true
  }
}
