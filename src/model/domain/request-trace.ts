import { hash } from 'node:crypto'
import type { Account, AccountStatus } from './account.ts'
import type { Instant } from './instant.ts'
import { type LifecycleEvent, type LifecycleState, accountAfter } from './lifecycle.ts'
import type { AuthRequest, MagicLink } from './generated/tables.ts'
import type { FiredRule } from './scenario.ts'

/** An event of an account and where it led; `from` and `to` are equal where the table has no move. */
export interface AccountTransition {
  readonly account_id: string
  readonly event: LifecycleEvent
  readonly from: LifecycleState
  readonly to: LifecycleState
  /** In the environment's own time. */
  readonly at: Instant
  /** A scenario or the control API caused it. */
  readonly forced?: true
}

export interface TracedCall {
  readonly environment: string
  readonly connector: string
  readonly account_id: string
  readonly kind: 'api' | 'token'
  /** The grant type that a token endpoint was asked for; null for calls of the API. */
  readonly grant: string | null
  readonly method: string
  /** Without the query, which may carry a key. */
  readonly url: string
  /** Null when no answer came. */
  readonly status: number | null
  /** Real milliseconds. */
  readonly ms: number
  /** The body that came back, or why none did; cut short where it is long. */
  readonly answer: string
}

/** A renewal of credentials (G45, G46). */
export interface TracedRefresh {
  readonly account_id: string
  readonly outcome: 'renewed' | 'refused' | 'unavailable'
  readonly reason: string
  /** Another request started it, and the call to the third party is in the entry of that one. */
  readonly shared: boolean
}

/** A rule of a scenario that fired on a request, or on what it caused. */
export interface TracedRule extends FiredRule {
  /** It answered, or changed the answer on the wire. */
  readonly injected: boolean
  /** At a third party: on which call of `upstream` it fired. */
  readonly call: number | null
  /** That its barrier opened by its time; absent where it did not. */
  readonly late?: string
}

/** What a request did with refresh tokens of a third party that rotates them; a token is told by its digest. */
export type TokenEvent =
  | { readonly kind: 'renewed'; readonly token: string; readonly next: string }
  /** Spent before, and presented again by a client itself. */
  | { readonly kind: 'replayed'; readonly token: string }
  /** Stored by a client, in place of another one. */
  | { readonly kind: 'stored'; readonly token: string; readonly former: string }

export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Something in a request that breaks no rule and is still worth telling its author (G6, G9, G10, G11). */
export interface RequestWarning {
  readonly field: string
  readonly description: string
  /**
   * `ignored`: a value without effect; `near_miss`: an unknown name that most likely is a slip in a known one;
   * `duplicate_member`: a member of a JSON object that was sent more than once (G76);
   * `similar_identifier`: an identifier that nearly is an account's; `buf.validate.…`: a rule of the client's descriptors (G70).
   */
  readonly kind:
    | 'unknown'
    | 'output_only'
    | 'alias'
    | 'ignored'
    | 'near_miss'
    | 'duplicate_member'
    | 'similar_identifier'
    | `buf.validate.${string}`
  /** The known name that a near miss most likely means. */
  readonly did_you_mean?: string
}

/** A magic link that a request made, or whose consent it approved. */
export interface NotedLink {
  readonly id: string
  readonly event: 'made' | 'approved'
  /** Whether it has a `user_verify_url`. */
  readonly verified: boolean
}

/** A change of an account by an update, or by a renewal of its credentials. */
export interface NotedChange {
  readonly account_id: string
  readonly by: 'update' | 'renewal'
}

/** Passed along explicitly; the request journal reads it. Arrays are shared and empty until something is noted. */
export class RequestTrace {
  /** The account as the request found or created it. Rows are immutable, so later changes do not show here. */
  account: Account | undefined
  execution_id: string | undefined
  agent_run_id: string | undefined
  warnings: readonly RequestWarning[] = NOTHING
  link: NotedLink | undefined
  /** As the request found them. */
  authRequest: AuthRequest | undefined
  magicLink: MagicLink | undefined
  /** The responder of an extension that answered, and of which. */
  responder: string | undefined
  /** Due events that were applied before the request was handled. */
  due: readonly AccountTransition[] = NOTHING
  transitions: readonly AccountTransition[] = NOTHING
  upstream: readonly TracedCall[] = NOTHING
  refreshes: readonly TracedRefresh[] = NOTHING
  rules: readonly TracedRule[] = NOTHING
  /** What the rows of accounts alone do not say of their changes (G68). */
  changes: readonly NotedChange[] = NOTHING
  tokens: readonly TokenEvent[] = NOTHING
  #whenAnswered: readonly (() => void)[] = NOTHING
  #forcing = false

  /** @param request the id of the request; undefined when the clock is the cause */
  constructor(public request?: string) {}

  /** The account after `event` (`domain/lifecycle.ts`); notes the transition. */
  moved(account: Account, event: LifecycleEvent, at: Instant): Account {
    const next = accountAfter(account, event)
    this.transition(account.id, event, { from: account.status, to: next.status, at })
    return next
  }

  created(account: Account, event: LifecycleEvent, at: Instant): void {
    this.account = account
    this.transition(account.id, event, { from: 'none', to: account.status, at })
  }

  deleted(account: Account, at: Instant): void {
    this.transition(account.id, 'deleted', { from: account.status, to: 'none', at })
  }

  transition(
    account_id: string,
    event: LifecycleEvent,
    { from, to, at }: { from: LifecycleState; to: LifecycleState; at: Instant },
  ): void {
    const forced = this.#forcing ? { forced: true as const } : {}
    this.transitions = appendedList(this.transitions, { account_id, event, from, to, at, ...forced })
  }

  /** Transitions within `work` are noted as forced. */
  forcing(work: () => void): void {
    this.#forcing = true
    try {
      work()
    } finally {
      this.#forcing = false
    }
  }

  fellDue(
    account_id: string,
    event: LifecycleEvent,
    move: { from: AccountStatus; to: AccountStatus; at: Instant },
  ): void {
    this.due = appendedList(this.due, { account_id, event, ...move })
  }

  called(call: TracedCall): void {
    this.upstream = appendedList(this.upstream, call)
  }

  refreshed(refresh: TracedRefresh): void {
    this.refreshes = appendedList(this.refreshes, refresh)
  }

  changed(account_id: string, by: NotedChange['by']): void {
    this.changes = appendedList(this.changes, { account_id, by })
  }

  /** `injected`: it answered, or changed the answer on the wire. */
  fired(rule: FiredRule, injected: boolean): void {
    // A call is noted once it is over.
    const call = rule.at === 'third_party' || rule.at === 'token_refresh' ? this.upstream.length : null
    this.rules = appendedList(this.rules, { ...rule, injected, call })
  }

  /** The barrier of a rule that has fired opened by its time. */
  openedLate({ scenario, rule }: { scenario: string; rule: string }, late: string): void {
    this.rules = this.rules.map((noted) =>
      noted.scenario === scenario && noted.rule === rule
        ? { ...noted, late, sentence: `${noted.sentence}; ${late}` }
        : noted,
    )
  }

  tokenUsed(event: TokenEvent): void {
    this.tokens = appendedList(this.tokens, event)
  }

  onResponse(listener: () => void): void {
    this.#whenAnswered = appendedList(this.#whenAnswered, listener)
  }

  /** The request is recorded, and its answer is sent next. */
  answered(): void {
    for (const listener of this.#whenAnswered) listener()
  }

  ignored(field: string, description: string): void {
    this.warn({ field, description, kind: 'ignored' })
  }

  warn(warning: RequestWarning): void {
    this.warnings = appendedList(this.warnings, warning)
  }

  /** The commit was rolled back: no transition took place. */
  markRolledBack(): void {
    this.due = NOTHING
    this.transitions = NOTHING
    this.link = undefined
  }

  /** Whether a rule of a scenario at `service` answered instead of the operation. */
  get injected(): boolean {
    return this.rules.some((rule) => rule.injected && rule.at === 'service')
  }
}

const NOTHING: readonly never[] = Object.freeze([])

/** Spreading reserves room for 17. A longer list is not copied: one request can change all accounts of a connector. */
function appendedList<T>(list: readonly T[], entry: T): readonly T[] {
  if (list.length === 0) return [entry]
  ;(list as T[]).push(entry)
  return list
}
