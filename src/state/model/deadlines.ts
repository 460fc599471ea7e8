import type { Account } from '../../domain/account.ts'
import { TRAITS } from '../../domain/authorization-type.ts'
import type { BearerToken } from '../../domain/client.ts'
import type { AuthorizationCode, Grant } from '../../domain/grant.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import type { Index, Row } from './table.ts'

/* What time does to rows: the due index finds what the clock changes, the expiry index what can be removed. */

/** A row of one of some tables, and its time. */
export interface Deadline<TableName extends string = string> {
  readonly at: Instant
  readonly table: TableName
  readonly id: string
}

const SWEEP_AT = 1024

/** Rows by a time of theirs, the earliest first: a heap in which outdated items stay until they surface or are swept out. */
class Schedule<TableName extends string> {
  #heap = new Heap<Deadline<TableName>>(isEarlier)
  readonly #present = new Map<string, Deadline<TableName>>()

  get size(): number {
    return this.#present.size
  }

  /** The earliest one. */
  get first(): Deadline<TableName> | undefined {
    for (let { first } = this.#heap; first; first = this.#heap.first) {
      if (this.#present.get(`${first.table} ${first.id}`) === first) return first
      this.#heap.pop()
    }
    return undefined
  }

  /** `at` undefined: the row is gone, or has no time. */
  set(table: TableName, id: string, at: Instant | undefined): void {
    const key = `${table} ${id}`
    if (at === undefined) {
      this.#present.delete(key)
      return
    }
    if (this.#present.get(key)?.at === at) return
    const item = { at, table, id }
    this.#present.set(key, item)
    this.#heap.push(item)
    if (this.#heap.size <= 2 * this.#present.size + SWEEP_AT) return
    this.#heap = new Heap<Deadline<TableName>>(isEarlier)
    for (const present of this.#present.values()) this.#heap.push(present)
  }

  /** Removes and returns the earliest ones up to a time in milliseconds, at most so many. */
  take(most: number, upto = Infinity): Deadline<TableName>[] {
    const taken: Deadline<TableName>[] = []
    if (most <= 0 || upto < 0) return taken
    const latest = upto === Infinity ? undefined : instant(upto)
    for (let { first } = this; first && taken.length < most; first = this.first) {
      if (latest !== undefined && first.at > latest) break
      taken.push(first)
      this.set(first.table, first.id, undefined)
    }
    return taken
  }
}

/** What falls due: tokens of accounts that cannot be renewed, and auth requests that wait for verification. */
export class DueIndex {
  readonly #schedule = new Schedule<'accounts' | 'auth_requests'>()

  readonly accounts: Index<Account> = {
    update: (before, after) => {
      this.#set('accounts', before ?? after, after && accountDue(after))
    },
  }

  readonly authRequests: Index<AuthRequest> = {
    update: (before, after) => {
      this.#set('auth_requests', before ?? after, after?.outcome === 'pending' ? after.expires_at : undefined)
    },
  }

  /** The earliest item that is due. The change of its row that makes it undue also takes it from here. */
  first(now: Instant): Deadline<'accounts' | 'auth_requests'> | undefined {
    const { first } = this.#schedule
    return first && first.at <= now ? first : undefined
  }

  #set(table: 'accounts' | 'auth_requests', row: Row | undefined, at: Instant | undefined): void {
    if (row) this.#schedule.set(table, row.id, at)
  }
}

/** When the token of an active account expires that cannot be renewed; undefined when there is no such time. */
export function accountDue(account: Account): Instant | undefined {
  if (account.status !== 'ACTIVE' || account.token_expires_at === undefined) return undefined
  const renewable =
    TRAITS[account.authorization_type].source === 'service' || account.credentials.oauth_token?.refresh_token
  return renewable ? undefined : account.token_expires_at
}

type ExpiringTable = 'bearer_tokens' | 'magic_links' | 'auth_requests' | 'authorization_codes' | 'grants'

/** How long ended rows are kept, so that answers can say why: a link is used up, a token has expired. */
const KEPT_MS = 24 * 60 * 60_000
/** This many are always kept, so that a small model is unchanged after the clock is moved forward and back. */
const KEPT_ROWS = 1000
/** How many rows that can never be valid again are kept: a busy server makes many in a day. */
const KEPT_NEVER_VALID_AGAIN = 10_000
/** How many ended rows are kept at most, and how many bearer tokens, valid ones among them. */
const MAX_KEPT = 50_000
/** Rows that one commit removes at most: more than it can make, and few enough not to be noticed. */
const PER_COMMIT = 16

/**
 * Rows that come with use and end by themselves, the earliest end first. Each commit removes some, so that neither
 * memory nor file grow without bound, and reading never pays for it.
 */
export class ExpiryIndex {
  readonly #ended = new Schedule<ExpiringTable>()
  /** Those of them that are never valid again, at any time of the clock. */
  readonly #neverValidAgain = new Schedule<ExpiringTable>()
  readonly #tokens = new Schedule<ExpiringTable>()

  readonly bearerTokens = this.#index<BearerToken>('bearer_tokens', ({ expires_at }) => expires_at, this.#tokens)
  readonly magicLinks = this.#index<MagicLink>('magic_links', ({ expires_at }) => expires_at)
  readonly authorizationCodes = this.#index<AuthorizationCode>('authorization_codes', ({ expires_at }) => expires_at)
  /** A pending one has its end still to come ("States"); the others answer 404, as unknown ones do. */
  readonly authRequests = this.#index<AuthRequest>(
    'auth_requests',
    ({ outcome, expires_at }) => (outcome === 'pending' ? undefined : expires_at),
    this.#neverValidAgain,
  )
  /** A credential that was revoked is refused as an unknown one is. */
  readonly grants = this.#index<Grant>('grants', grantEnd, this.#neverValidAgain, isRevoked)

  /** Rows that can be removed now, `now` being milliseconds. */
  due(now: number): Deadline<ExpiringTable>[] {
    const due: Deadline<ExpiringTable>[] = []
    for (const { of, most, upto } of [
      { of: this.#ended, most: KEPT_ROWS, upto: now - KEPT_MS },
      { of: this.#neverValidAgain, most: KEPT_NEVER_VALID_AGAIN, upto: undefined },
      { of: this.#ended, most: MAX_KEPT, upto: now },
      { of: this.#tokens, most: MAX_KEPT, upto: undefined },
    ])
      due.push(...of.take(Math.min(of.size - most, PER_COMMIT) - due.length, upto))
    return due
  }

  #index<T extends Row>(
    table: ExpiringTable,
    endOf: (row: T) => Instant | undefined,
    also?: Schedule<ExpiringTable>,
    isOfThose: (row: T) => boolean = () => true,
  ): Index<T> {
    return {
      update: (before, after) => {
        const row = after ?? before
        const at = after && endOf(after)
        // Most rows of a large file never had an end, and are not in the index.
        if (!row || (!before && at === undefined)) return
        this.#ended.set(table, row.id, at)
        also?.set(table, row.id, after && isOfThose(after) ? at : undefined)
      },
    }
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
function isEarlier(a: Deadline, b: Deadline): boolean {
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
