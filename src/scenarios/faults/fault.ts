import type { ServerResponse } from 'node:http'
import type { Account } from '../../domain/account.ts'
import type { FaultKind, FaultParameters, Place } from '../../domain/scenario.ts'
import type { Pauses } from '../pauses.ts'

/** An answer on its way to the wire. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer in place of the plain one, before it is encoded; a text goes out as it is, anything else as JSON. */
export interface InjectedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for no body content. */
  readonly body: unknown
}

/** The connection that a fault acts on. */
export interface Wire {
  readonly response: ServerResponse
  readonly pauses: Pauses
  /** From 0 to below 1, seeded. */
  readonly chance: () => number
}

/** What was asked, as far as a default answer says it. */
export interface Asked {
  readonly at: Place
  readonly operation?: string | undefined
  readonly requestId: string
  readonly executionId: () => string
}

/** The model that a fault acts on. Each throws an Error that says why it cannot. */
export interface ModelHands {
  /** The account that the request is about. @throws Error when it is about none */
  account(): Account
  happen(event: 'expire' | 'disconnect' | 'revoke_refresh_token' | 'expire_access_token'): void
  revokeBearerTokens(): void
  advance(by: number): void
}

/** What one fault of one rule does; it has those of the parts that it needs. */
export interface FaultEffect {
  readonly kind: FaultKind
  /** What it does, in one sentence, for the journal, the dashboard and error messages. */
  readonly sentence: string
  /** Changes the model, at once. */
  readonly happen?: (hands: ModelHands) => void
  /** Waits before anything is carried out, so many milliseconds. */
  readonly delay?: (chance: () => number) => number
  /** Before anything is carried out. When it leaves the connection closed, that was the answer. */
  readonly before?: (wire: Wire) => Promise<void>
  /** The answer instead of the plain one. */
  readonly answer?: (asked: Asked) => InjectedAnswer
  /** Puts the answer on the wire in its own way. */
  readonly deliver?: (wire: Wire, answer: WireAnswer) => Promise<void>
}

/** Makes the effect of a fault from its parameters. Durations are milliseconds. */
export type FaultMaker<Kind extends FaultKind> = (params: FaultParameters[Kind]) => FaultEffect
