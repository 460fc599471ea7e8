import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Account } from './account.ts'
import type { Connector, Tool } from './connector.ts'
import type { Credentials, StoredByCallers } from './credentials.ts'
import type { Instant } from './instant.ts'
import type { JsonObject } from './json.ts'

/** The one source of time of an environment. */
export interface Clock {
  /** Milliseconds since the Unix epoch, in the environment's own time. */
  now(): number
  /** The same as it is stored and returned (G54). */
  instant(): Instant
}

/** The one source of identifiers and randomness of an environment; with a seed, runs repeat. */
export interface Ids {
  /** `prefix_` and 20 characters of `a-z0-9`, unique in the environment. */
  id(prefix: string): string
  /** 32 random bytes as base64url without padding (G30 asks for at least 128 bits). */
  opaque(): string
  /** A UUID of version 4 (RFC 9562). */
  uuid(): string
  /** An unsigned 32-bit number, for instance to seed generated data. */
  number(): number
}

export type TokenResponse =
  | { granted: true; credentials: Credentials; lifetime_ms: number | null }
  | { granted: false; status: number; error: string; description: string }

/** What a third party's API answered to a tool's call, as far as the service sees it. */
export type ToolResponse =
  | { kind: 'result'; data: JsonObject }
  /**
   * A status of 400 and above, an answer that is not usable, or a connection that broke (G44). `code`: the third party's own
   * word for it. `arrived`: whether the call reached the third party (G26). `retry_after`: its `Retry-After` beside a 429.
   */
  | { kind: 'failed'; status: number | null; code?: string; message: string; arrived: boolean; retry_after?: string }
  /** Nothing was sent: the input makes a path that would leave the path of the call. */
  | { kind: 'unsendable'; message: string }
  /** No answer in time (G44). */
  | { kind: 'timed_out'; message: string; arrived: boolean }

/** A request that is handed on to a third party as it came. */
export interface ForwardedRequest {
  readonly method: string
  /** Below the API of the third party, encoded as it was sent: `/v1/messages`. */
  readonly path: string
  /** As it was sent, without the question mark. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
  /** What follows `body` and is still coming in. */
  readonly rest: Readable | undefined
}

/** What came back: an answer of any status, or none. */
export type ForwardedResponse =
  | {
      kind: 'answer'
      status: number
      headers: IncomingHttpHeaders
      body: Buffer
    }
  | Extract<ToolResponse, { kind: 'failed' | 'timed_out' }>

/**
 * `conclude` stores what a token endpoint answered, in one transaction with the changes of the third party. `accept`
 * changes the model at once: it belongs inside a transaction.
 */
export interface ThirdParty {
  /** Makes the HTTP call of a tool with the account's live credentials and maps the answer to the tool's result. */
  call(connector: Connector, tool: Tool, account: Account, input: JsonObject): Promise<ToolResponse>
  /** Forwards a request, with the account's live credentials. */
  forward(connector: Connector, account: Account, request: ForwardedRequest): Promise<ForwardedResponse>
  /** Obtains credentials for types whose tokens the service gets itself (`WORKSPACE_DWD`, `TRUSTED_IDP`, `OAUTH_M2M`). */
  obtain<R>(connector: Connector, account: Account, conclude: (response: TokenResponse) => R): Promise<R>
  /** What `obtain` would answer, at once and without a call. Only inside a transaction. */
  issue(connector: Connector, account: Account): TokenResponse
  /** Uses the account's refresh token at the third party's token endpoint. */
  refresh<R>(connector: Connector, account: Account, conclude: (response: TokenResponse) => R): Promise<R>
  /** Exchanges an authorization code; `account` is the account of the link. */
  redeem<R>(
    connector: Connector,
    account: Account,
    authorization: { code: string; redirectUri: string },
    conclude: (response: TokenResponse) => R,
  ): Promise<R>
  /**
   * Credentials that a caller stored count as issued, unless the connector's `reject` globs name them. `sent`: what of them
   * the caller sent, all of them by default.
   */
  accept(connector: Connector, account: Account, credentials: Credentials, byCaller?: StoredByCallers): void
}
