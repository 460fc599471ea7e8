import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import type { Clock, Ids } from '../domain/ports.ts'
import type { Instant } from '../domain/instant.ts'
import type { BoundedCache } from '../domain/bounded-cache.ts'
import type { Settings } from '../domain/settings.ts'
import type { Model } from './model/model.ts'

/** How a renewal of an account's credentials ended; `unavailable`: neither granted nor refused, the account stays. */
export interface Renewal {
  readonly account: Account
  readonly outcome: 'renewed' | 'refused' | 'unavailable'
  /** What the third party said, for messages. */
  readonly reason: string
}

/** A whole world of its own (1.2): chosen by the client credentials, sharing nothing with the others but the server. */
export interface Environment {
  readonly name: string
  readonly settings: Settings
  readonly clock: Clock
  readonly ids: Ids
  readonly model: Model
  /** How many of its commits the disk has refused, so that they were undone. */
  readonly rollbacks: number
  /** Credential renewals under way, by account id; never persisted. */
  readonly renewals: Map<string, Promise<Renewal>>
  /** What get-details answers of accounts, for those that were asked for of late; never persisted. */
  readonly details: BoundedCache<Account, object>
  /** The connector that `key_id` names (G19), with its tools: a connector file's, a custom provider's, a bare connection's. */
  connector(keyId: string): Connector | undefined
}

/** The environment's present time as it is stored and returned (G54). */
export function now(environment: Environment): Instant {
  return environment.clock.instant()
}
