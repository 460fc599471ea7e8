import type { AuthorizationType } from './authorization-type.ts'
import type { Collection, Step, StepAnswer } from './collection.ts'
import type { JsonObject, JsonValue } from './json.ts'

/**
 * A connector: one fake third-party application, as its file describes it (`spec/schemas/connector.schema.json`) with
 * every default filled in. Durations are milliseconds.
 */
export interface Connector {
  /** The `key_id` of its connection, and what `connector` names in requests. */
  connector: string
  /** What accounts, tools and the list of providers call it, where that is not its name. */
  provider?: string
  display_name: string
  description: string
  icon_src: string
  categories: string[]
  authorization_type: AuthorizationType
  oauth: {
    scopes: string[]
    access_token_lifetime: number
    /** `keep`: a refresh answers no new refresh token; `rotate`: each refresh replaces it; `none`: there is none. */
    refresh_token: 'keep' | 'rotate' | 'none'
    /** Workspace or organisation domain for scoped connections (2.2 `oauth_token.domain`); empty when none. */
    domain: string
  }
  /** `TRUSTED_IDP` only (G23): provisioned clusters need `db_user`. */
  cluster: 'provisioned' | 'serverless'
  credentials: {
    /** What the credentials form asks for, in order; the keys of `static_auth.details`. */
    fields: CredentialField[]
    /** How static credentials travel: templates over `credentials`, by header and query name. */
    send: { headers: Record<string, string>; query: Record<string, string> }
  }
  /** Who can sign in at the consent page. */
  people: string[]
  /** Globs: credentials stored by a caller that the third party refuses all the same. */
  reject: string[]
  /** A server that the user runs, instead of the responders below; null for the in-process one. */
  base_url: string | null
  /** Gives its tools and responders to custom providers created with this display name (G47). */
  custom_provider: string | null
  tools: Tool[]
  /** By name; absent when there are none. */
  collections?: Record<string, Collection>
  responders: Responder[]
  /** The body of errors that steps of responders answer; absent: their code and message. */
  error_body?: JsonObject
  /** How long calls take; absent when they take no time of their own. */
  latency?: Latency
  /** How many calls are answered; absent when all are. */
  rate_limit?: RateLimit
}

/** What accounts, tools and the list of providers call a connector. */
export function providerOf({ provider, connector }: Connector): string {
  return provider ?? connector
}

/** Milliseconds by share of the calls: `[[0, 80], [1, 400]]` is anything between the two. Straight lines lead from point to point. */
export type Latency = [share: number, milliseconds: number][]

export interface RateLimit {
  /** So many calls … */
  calls: number
  /** … in so many milliseconds of the environment's clock, from the first call on. */
  every: number
  per: 'account' | 'environment'
  /** What the refusal says in place of 429 with `error_body`. */
  otherwise?: StepAnswer
}

export interface CredentialField {
  name: string
  label: string
  secret: boolean
  required: boolean
  /** Shown under the input of the form; empty when there is none. */
  hint: string
}

export interface Tool {
  name: string
  display_name: string
  description: string
  tags: string[]
  is_default: boolean
  /** JSON Schema 2020-12 of `tool_input`. */
  input_schema: JsonObject
  call: {
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    /** Templates over `input` and `account`. */
    path: string
    query: Record<string, string>
    headers: Record<string, string>
    body: JsonValue | null
    /** How long the service waits for the third party. */
    timeout: number
  }
  /** Template over `response` (`status`, `headers`, `body`), `input` and `account`; null passes the answer's body on. */
  result: JsonObject | null
}

/** Matching is by value, dotted path and glob (`*`), never by evaluated code. */
export interface ResponderMatch {
  method?: string | undefined
  /** Literal parts, `*` for any run inside one, `{name}` to capture one part as `request.params.name`. */
  path?: string | undefined
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Dotted path into the JSON body → value or glob. */
  body?: Record<string, JsonValue>
  /** Account field (`identifier`, `organization_id`, `user_id`, `connector`, `id`) → value or glob. */
  account?: Record<string, string>
}

export interface ResponderAnswer {
  status: number
  headers: Record<string, string>
  /** Template over `request`, `account`, `person` and the results of steps; null for an empty body. */
  body: JsonValue | null
}

export interface Responder {
  on: ResponderMatch
  /** What it does with collections before it answers, in one transaction; absent when it only answers. */
  steps?: Step[]
  /** One answer for `respond`, several for `sequence`. */
  answers: ResponderAnswer[]
  /** What follows the last of a sequence: the last again, the first again, or the next responder that matches. */
  after_last: 'repeat' | 'restart' | 'next'
}
