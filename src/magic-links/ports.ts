import type { Request } from 'express'
import type { Account } from '../domain/account.ts'
import type { Connector } from '../domain/connector.ts'
import type { MagicLink } from '../domain/magic-link.ts'
import type { ThirdParty } from '../domain/ports.ts'
import type { RequestTrace } from '../domain/request-trace.ts'
import type { Environment } from '../state/environment.ts'

/** What a user, or whoever decides for them, may do with a link. */
export const DECISIONS = ['approve', 'deny'] as const
export type Decision = (typeof DECISIONS)[number]

/** What the authorize request asks for, and where its answer goes. */
export interface AuthorizationQuestion {
  /** The link's `oauth_state`. */
  state: string
  redirectUri: string
  scopes: readonly string[]
  /** The identifier of the link's account, which the consent page proposes to sign in. */
  loginHint: string
}

/** What somebody answers at the consent page, and who signs in; nobody has to, to deny. */
export interface AuthorizationAnswer extends AuthorizationQuestion {
  decision: Decision
  person: string
}

/** The browser's side of the fake third parties, which the server puts in. */
export interface Authorizations {
  /** The address of the third party's authorize endpoint, as the browser reaches it. */
  authorizeUrl(baseUrl: string, environment: Environment, connector: Connector, question: AuthorizationQuestion): string
  /** Decides as a user at the consent page would; answers where the third party would send the browser then (G31). */
  decide(
    environment: Environment,
    connector: Connector,
    answer: AuthorizationAnswer,
    trace: RequestTrace,
  ): string | Promise<string>
}

/** What the flow of a link needs: its world, and the ways out of it. */
export interface Flow {
  readonly environment: Environment
  readonly thirdParty: ThirdParty
  readonly authorizations: Authorizations
  /** What links and redirects are built on, without a trailing slash. */
  readonly baseUrl: string
  /** What the flow causes, for the journal. */
  readonly trace: RequestTrace
}

/** A link that can be followed, with what it is for. */
export interface OpenLink {
  link: MagicLink
  account: Account
  connector: Connector
}

/** A link and the environment it belongs to, which its address does not say. */
export interface FoundLink {
  environment: Environment
  link: MagicLink
}

/** What the routes need from the server. */
export interface ConnectContext {
  /** Links of all environments, by the opaque part of their address. */
  findLink(id: string): FoundLink | undefined
  /** Links of all environments, by the `state` of their authorize request. */
  findOauthState(state: string): FoundLink | undefined
  /** What the request is about and causes, for the journal of this environment. */
  trace(request: Request, environment: Environment): RequestTrace
  thirdParty(environment: Environment, trace: RequestTrace): ThirdParty
  readonly authorizations: Authorizations
  baseUrl(request: Request): string
  /** The request got a page that says what went wrong. */
  failed?(request: Request, code: string, message: string): void
  /** Applies what has fallen due by the environment's clock. */
  settle(environment: Environment, trace: RequestTrace): void
  /** Awaited before an answer leaves: then what it says is on disk. */
  durable(): Promise<void> | undefined
}
