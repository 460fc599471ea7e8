import type { Account } from '../../model/domain/account.ts'
import { TRAITS } from '../../model/domain/authorization-type.ts'
import type {
  AuthRequest,
  AuthorizationCode,
  BearerToken,
  Grant,
  MagicLink,
} from '../../model/domain/generated/tables.ts'
import { type Instant, instant } from '../../model/domain/instant.ts'
import { firstWhere } from './rows-in-order.ts'
import type { Index, Row } from './table.ts'

/* What time does to rows: the due index finds what the clock changes, the expiry index what can be removed. */

export interface Deadline<TableName extends string = string> {
  readonly at: Instant
  readonly table: TableName
  readonly id: string
}

/** Rows by a time of theirs, the earliest first. */
class Schedule<TableName extends string> {
  readonly #inOrder: Deadline<TableName>[] = []
  /** How many at the front are gone. They leave the list together, because that moves all others. */
  #gone = 0

  get size(): number {
    return this.#inOrder.length - this.#gone
  }

  get first(): Deadline<TableName> | undefined {
    return this.#inOrder[this.#gone]
  }

  /** The time of a row has changed; undefined: it has none. */
  change(table: TableName, id: string, before: Instant | undefined, after: Instant | undefined): void {
    if (before === after) return
    const [former, next] = [before, after].map((at) => (at === undefined ? undefined : { at, table, id }))
    // It may have been taken out already.
    if (former && this.#inOrder[this.#place(former)]?.id === id) this.#remove(this.#place(former), 1)
    if (next) this.#inOrder.splice(this.#place(next), 0, next)
  }

  /** Removes and returns the earliest ones up to a time in milliseconds, at most so many. */
  take(most: number, upto = Infinity): Deadline<TableName>[] {
    if (most <= 0 || upto < 0) return []
    const latest = upto === Infinity ? undefined : instant(upto)
    const later = latest === undefined ? Infinity : this.#firstFrom(({ at }) => at > latest) - this.#gone
    return this.#remove(this.#gone, Math.min(most, later))
  }

  #remove(place: number, count: number): Deadline<TableName>[] {
    if (place > this.#gone) return this.#inOrder.splice(place, count)
    const removed = this.#inOrder.slice(place, place + count)
    this.#gone += removed.length
    if (this.#gone > this.size) {
      this.#inOrder.splice(0, this.#gone)
      this.#gone = 0
    }
    return removed
  }

  #place(deadline: Deadline): number {
    return this.#firstFrom((placed) => !isEarlier(placed, deadline))
  }

  #firstFrom(test: (deadline: Deadline) => boolean): number {
    return firstWhere(this.#inOrder, test, this.#gone)
  }
}

/** What falls due: tokens of accounts that cannot be renewed, and auth requests that wait for verification. */
export class DueIndex {
  readonly #schedule = new Schedule<'accounts' | 'auth_requests'>()

  readonly accounts = byTime(this.#schedule, 'accounts', accountDue)
  readonly authRequests = byTime(this.#schedule, 'auth_requests', (request: AuthRequest) =>
    request.outcome === 'pending' ? request.expires_at : undefined,
  )

  get next(): Instant | undefined {
    return this.#schedule.first?.at
  }

  /** The earliest item that is due. The change of its row that makes it undue also takes it from here. */
  first(now: Instant): Deadline<'accounts' | 'auth_requests'> | undefined {
    const { first } = this.#schedule
    return first && first.at <= now ? first : undefined
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

/** Each commit removes some, so that neither memory nor file grow without bound, and reading never pays for it. */
export class ExpiryIndex {
  readonly #ended = new Schedule<ExpiringTable>()
  /** Those of them that are never valid again, at any time of the clock. */
  readonly #neverValidAgain = new Schedule<ExpiringTable>()
  readonly #tokens = new Schedule<ExpiringTable>()

  readonly bearerTokens = [byTime(this.#ended, 'bearer_tokens', endsAt), byTime(this.#tokens, 'bearer_tokens', endsAt)]
  readonly magicLinks = [byTime(this.#ended, 'magic_links', endsAt)]
  readonly authorizationCodes = [byTime(this.#ended, 'authorization_codes', endsAt)]
  readonly authRequests = [
    byTime(this.#ended, 'auth_requests', requestEnd),
    byTime(this.#neverValidAgain, 'auth_requests', requestEnd),
  ]
  /** A credential that was revoked is refused as an unknown one is. */
  readonly grants = [
    byTime(this.#ended, 'grants', grantEnd),
    byTime(this.#neverValidAgain, 'grants', (grant: Grant) => (isRevoked(grant) ? grantEnd(grant) : undefined)),
  ]

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
}

/** Rows by when they end; undefined for one that has no end yet. */
function byTime<Name extends string, T extends Row>(
  schedule: Schedule<Name>,
  table: NoInfer<Name>,
  timeOf: (row: T) => Instant | undefined,
): Index<T> {
  return {
    update: (before, after) => {
      const row = after ?? before
      if (row) schedule.change(table, row.id, before && timeOf(before), after && timeOf(after))
    },
  }
}

function endsAt({ expires_at }: BearerToken | MagicLink | AuthorizationCode): Instant {
  return expires_at
}

/** A pending one has its end still to come ("States"); the others answer 404, as unknown ones do. */
function requestEnd({ outcome, expires_at }: AuthRequest): Instant | undefined {
  return outcome === 'pending' ? undefined : expires_at
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
