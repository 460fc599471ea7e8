import type { Instant } from './instant.ts'
import type { JsonValue } from './json.ts'

/** Where a rule of a scenario acts (1.4). */
export const PLACES = ['service', 'third_party', 'token_refresh', 'consent'] as const
export type Place = (typeof PLACES)[number]

/** Every fault and what it can be told. Durations are milliseconds. */
export interface FaultParameters {
  respond: RespondParameters
  latency: { min: number; max: number }
  timeout: NoParameters
  reset_connection: NoParameters
  empty_response: NoParameters
  /** How many octets of the body are sent; half of them when null. */
  truncate_body: { bytes: number | null }
  malformed_json: NoParameters
  /** In so many pieces, the last of which leaves after so long. */
  slow_body: { over: number; pieces: number }
  expire_access_token: NoParameters
  expire_account: NoParameters
  revoke_refresh_token: NoParameters
  disconnect: NoParameters
  revoke_bearer_tokens: NoParameters
  advance_clock: { by: number }
}
export type FaultKind = keyof FaultParameters

export type NoParameters = Readonly<Record<string, never>>

/** An answer in place of the plain one. */
export interface RespondParameters {
  /** Null only at `consent`, whose answer is a redirect. */
  status: number | null
  /** The `error_code` of the default body at `service`. */
  error_code: string | null
  message: string | null
  headers: Readonly<Record<string, string>>
  /** Undefined for the default body. */
  body: JsonValue | undefined
}

/** One thing that a rule does. */
export type Fault = { [Kind in FaultKind]: { kind: Kind; params: FaultParameters[Kind] } }[FaultKind]

/** Which requests a rule is about; what is absent does not matter. Texts are values or globs. */
export interface RuleMatch {
  operation?: string
  tool?: string
  connector?: string
  account?: Readonly<Record<string, string>>
  client?: string
  method?: string
  path?: string
  /** By dotted path into the JSON body. */
  body?: Readonly<Record<string, JsonValue>>
  query?: Readonly<Record<string, string>>
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>
}

/** A time of the environment's clock: an instant, or so many milliseconds after the scenario started. */
export type ScenarioTime = { at: Instant } | { after: number }

/**
 * When a rule fires; every condition that is there has to hold. `nth`, `first`, `every` and `after` are about the number of
 * this request among all that fit the rule's place and match since the scenario started, in whatever state (1.4).
 */
export interface RuleConditions {
  nth?: number
  first?: number
  every?: number
  /** Those after the first so many; with `times` only so many of them. */
  after?: number
  times?: number
  /** 0 to 1. */
  probability?: number
  from?: ScenarioTime
  until?: ScenarioTime
  state?: string
}

export interface ScenarioRule {
  name: string
  at: Place
  on: RuleMatch
  when: RuleConditions
  do: readonly Fault[]
  /** The state of the scenario from this request on; null leaves it. */
  then: string | null
  /** Whether a run in which this rule never fired has failed. */
  must_fire: boolean
  /** Whether its answers may be what the spec does not declare. */
  off_spec: boolean
}

/** What goes wrong, when, and where (1.4): a scenario file, checked and with every default filled in. */
export interface Scenario {
  name: string
  description: string
  /** The state it starts in; empty for a scenario without states. */
  initial: string
  rules: readonly ScenarioRule[]
}

/** A rule that fired on a request, for the journal. */
export interface FiredRule {
  scenario: string
  rule: string
  at: Place
  /** What it did, in one sentence. */
  sentence: string
}
