import type { Account } from '../domain/account.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import type { Place } from '../domain/scenario.ts'
import type { RequestTrace } from '../domain/request-trace.ts'

/** A request as rules see it, wherever it came by. What costs something to find is a getter: most rules do not ask. */
export interface ScenarioRequest {
  readonly at: Place
  /** The operation at `service`. */
  readonly operation?: string | undefined
  readonly tool?: string | undefined
  readonly connector?: string | undefined
  readonly clientId?: string | undefined
  readonly method?: string | undefined
  /** Decoded, without the query. */
  readonly path?: string | undefined
  readonly body: JsonValue | undefined
  /** A list where a parameter was sent more than once. */
  readonly query: JsonObject
  /** Names in lower case. */
  readonly headers: JsonObject
  /** Found by the request's locator, without side effects. */
  readonly account: Account | undefined
  /** What the request says of an account that is not there (yet): the fields of its locator. */
  readonly locator?: Readonly<Record<string, string>> | undefined
  /** Where rules that fire, and what they cause, are noted. */
  readonly trace: RequestTrace
}
