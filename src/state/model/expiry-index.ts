import type { BearerToken } from '../../domain/client.ts'
import type { AuthorizationCode, Grant } from '../../domain/grant.ts'
import { type Instant, instant } from '../../domain/instant.ts'
import type { AuthRequest, MagicLink } from '../../domain/magic-link.ts'
import { Heap } from './heap.ts'
import type { Index, Row } from './table.ts'

type ExpiringTable = 'bearer_tokens' | 'magic_links' | 'auth_requests' | 'authorization_codes' | 'grants'

interface RowName {
  readonly table: ExpiringTable
  readonly id: string
}

/** A row that nobody needs once enough time has passed since it ended. */
interface Expiring extends RowName {
  /** When it ended, or will. */
  readonly at: Instant
}

/** Ended rows answer for so long what became of them: that a link is used up, that a token has expired. */
const REMEMBERED_MS = 24 * 60 * 60_000
/** As many stay in any case, so that a clock that is moved forth and back finds a small model as it was. */
const REMEMBERED_ROWS = 1000
/** Rows kept that are over for good, and that nobody can tell from unknown ones: use at full speed makes many in a day. */
const REMEMBERED_OVER = 10_000
/** More than this of what has ended goes before its time, and so do bearer tokens that would still work. */
const REMEMBERED_MOST = 50_000
/** Rows that one commit removes at most: more than it can make, and few enough not to be noticed. */
const PER_COMMIT = 16
/** Outdated items are swept out once they outnumber the others by this many. */
const SWEEP_AT = 1024

/**
 * Rows that come with use and end by themselves, the earliest end first. Commits remove them in passing, so that neither
 * memory nor file grow without bound, and reading never pays for it.
 */
export class ExpiryIndex {
  readonly #ended = new Endings()
  /** Those of them that are over for good, whatever the clock says. */
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

  /** Rows that can be forgotten now, `now` being milliseconds; they count as present until they are removed. */
  due(now: number): RowName[] {
    const due: Expiring[] = []
    for (const { of, most, upto } of [
      { of: this.#ended, most: REMEMBERED_ROWS, upto: endedBy(now - REMEMBERED_MS) },
      { of: this.#over, most: REMEMBERED_OVER, upto: undefined },
      { of: this.#ended, most: REMEMBERED_MOST, upto: endedBy(now) },
      { of: this.#tokens, most: REMEMBERED_MOST, upto: undefined },
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
        // Most rows of a large file never had an end: nothing is known of them.
        if (!row || (!before && at === undefined)) return
        this.#ended.expect({ table, id: row.id }, at)
        also?.expect({ table, id: row.id }, after && isOfThose(after) ? at : undefined)
      },
    }
  }
}

/** When rows ended or will, the earliest first: a heap in which outdated items stay until they surface or are swept out. */
class Endings {
  #heap = new Heap<Expiring>(earlier)
  readonly #ends = new Map<string, Expiring>()

  get size(): number {
    return this.#ends.size
  }

  /** The earliest ones up to a time, at most so many. */
  take(most: number, upto?: Instant): Expiring[] {
    const taken: Expiring[] = []
    if (most <= 0) return taken
    for (let { first } = this.#heap; first && (upto === undefined || first.at <= upto); first = this.#heap.first) {
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
    this.#heap = new Heap<Expiring>(earlier)
    for (const item of this.#ends.values()) this.#heap.push(item)
  }

  #isPresent(item: Expiring): boolean {
    return this.#ends.get(`${item.table} ${item.id}`) === item
  }
}

function endedBy(milliseconds: number): Instant {
  return instant(Math.max(0, milliseconds))
}

/** Only what can do nothing any more: revoked as a whole, or expired without an account that would be renewed with it. */
function grantEnd(grant: Grant): Instant | undefined {
  const isAlone = grant.account_id === '' && (grant.refresh_token === '' || grant.refresh_revoked)
  return isRevoked(grant) || isAlone ? grant.expires_at : undefined
}

function isRevoked({ revoked, refresh_revoked }: Grant): boolean {
  return revoked && refresh_revoked
}

/** In the order of time; at the same time by table and id, so that two runs do the same (1.3). */
function earlier(a: Expiring, b: Expiring): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.table === b.table ? a.id < b.id : a.table < b.table
}
