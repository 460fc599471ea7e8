import type { Account, AccountStatus } from './account.ts'
import type { Instant } from './instant.ts'
import { type LifecycleEvent, type LifecycleState, moved } from './lifecycle.ts'
import type { FiredRule } from './scenario.ts'

/** An event of an account and where it led; `from` and `to` are equal where the table has no move. */
export interface Transition {
  readonly account_id: string
  readonly event: LifecycleEvent
  readonly from: LifecycleState
  readonly to: LifecycleState
  /** In the environment's own time. */
  readonly at: Instant
  /** A scenario or the control API made it happen, and nothing that the service does by itself. */
  readonly forced?: true
}

/** One request of the service to a third party. */
export interface UpstreamCall {
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

/** Credentials that were renewed, or were to be (G45, G46). */
export interface Refresh {
  readonly account_id: string
  readonly outcome: 'renewed' | 'refused' | 'unavailable'
  readonly reason: string
  /** Whether another request had begun it, so that the call to the third party is in that one's entry. */
  readonly shared: boolean
}

/** A rule of a scenario that fired on a request, or on what it caused. */
export interface NotedRule extends FiredRule {
  /** Whether it answered, or changed the answer on the wire, at its place. */
  readonly injected: boolean
}

/** Something that was sent and had no effect (G10). */
export interface IgnoredField {
  readonly field: string
  readonly description: string
}

/**
 * What one request was about and what it caused, noted where it happens and handed along explicitly; the journal reads it.
 * One object per request: arrays are shared and empty until something is noted.
 */
export class RequestTrace {
  /** The account as the request found it, or as it made it. Records are immutable, so that this is what was true then. */
  account: Account | undefined
  execution_id: string | undefined
  agent_run_id: string | undefined
  warnings: readonly IgnoredField[] = NOTHING
  /** What fell due by the clock before the request was looked at. */
  due: readonly Transition[] = NOTHING
  transitions: readonly Transition[] = NOTHING
  upstream: readonly UpstreamCall[] = NOTHING
  refreshes: readonly Refresh[] = NOTHING
  rules: readonly NotedRule[] = NOTHING
  #forcing = false

  /** The account after `event` by the table (`domain/lifecycle.ts`), with the event noted. */
  moved(account: Account, event: LifecycleEvent, at: Instant): Account {
    const next = moved(account, event, at)
    this.transition(account.id, event, { from: account.status, to: next.status, at })
    return next
  }

  /** The account that came to be by `event`. */
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
    this.transitions = [...this.transitions, { account_id, event, from, to, at, ...forced }]
  }

  /** What moves within `work` is forced: the service would not have done it by itself. */
  forcing(work: () => void): void {
    this.#forcing = true
    try {
      work()
    } finally {
      this.#forcing = false
    }
  }

  /** An event that the clock brought about. */
  fellDue(
    account_id: string,
    event: LifecycleEvent,
    move: { from: AccountStatus; to: AccountStatus; at: Instant },
  ): void {
    this.due = [...this.due, { account_id, event, ...move }]
  }

  called(call: UpstreamCall): void {
    this.upstream = [...this.upstream, call]
  }

  refreshed(refresh: Refresh): void {
    this.refreshes = [...this.refreshes, refresh]
  }

  /** `injected`: it answered, or changed the answer on the wire. */
  fired(rule: FiredRule, injected: boolean): void {
    this.rules = [...this.rules, { ...rule, injected }]
  }

  ignored(field: string, description: string): void {
    this.warnings = [...this.warnings, { field, description }]
  }

  /** The state could not be written and nothing was changed: no transition took place. */
  markRolledBack(): void {
    this.due = NOTHING
    this.transitions = NOTHING
  }

  /** Whether a rule of a scenario at the service answered, and no operation. */
  get injected(): boolean {
    return this.rules.some((rule) => rule.injected && rule.at === 'service')
  }
}

const NOTHING: readonly never[] = Object.freeze([])
