import type { Connector } from '../../domain/connector.ts'
import type { Credentials } from '../../domain/credentials.ts'
import type { Grant } from '../../domain/grant.ts'
import { milliseconds } from '../../domain/instant.ts'
import type { Environment } from '../../state/environment.ts'
import type { Templates } from '../template.ts'
import { ACCOUNT_HEADER, type OutgoingRequest, type ReceivedRequest, headerOf } from '../wire.ts'

export interface SchemeContext {
  readonly environment: Environment
  readonly connector: Connector
  readonly templates: Templates
}

/** Why a call is refused, and the `WWW-Authenticate` that says so. */
export interface Refusal {
  reason: 'missing' | 'malformed' | 'unknown' | 'expired' | 'revoked' | 'bad_signature'
  message: string
  challenge: string
}

/** `grant` is undefined only where nothing has to be presented. */
export type Verdict = { allowed: true; grant: Grant | undefined } | { allowed: false; refusal: Refusal }

/** What the third party keeps of credentials to know them again. */
export type KnownCredential = Pick<Grant, 'access' | 'secret' | 'refresh_token' | 'scopes'>

/** One way to prove who is calling: how the service does it, and how the third party checks it. */
export interface Scheme {
  /** Service side: adds the credential to a request. */
  present(request: OutgoingRequest, credentials: Credentials, context: SchemeContext): void
  /** Third party: whose call it is, or why it is refused. */
  verify(request: ReceivedRequest, context: SchemeContext): Verdict
  /** What a grant for credentials that a caller stored holds; undefined when there is nothing in them to present. */
  known(credentials: Credentials, context: SchemeContext): KnownCredential | undefined
}

const MESSAGES: Readonly<Record<Refusal['reason'], string>> = {
  missing: 'the request carries no credential',
  malformed: 'the credential cannot be read',
  unknown: 'the credential was never issued, or has been replaced',
  expired: 'the credential has expired',
  revoked: 'the credential has been revoked',
  bad_signature: 'the signature does not fit the request',
}

export function refuse(reason: Refusal['reason'], challenge: (message: string) => string): Verdict {
  const message = MESSAGES[reason]
  return { allowed: false, refusal: { reason, message, challenge: challenge(message) } }
}

/** The grant that an access string names, and whether it holds at this moment. */
export function judge(
  request: ReceivedRequest,
  context: SchemeContext,
  access: string,
  challenge: (message: string) => string,
): Verdict {
  const grant = access === '' ? undefined : findGrant(context, access, headerOf(request, ACCOUNT_HEADER))
  if (!grant) return refuse('unknown', challenge)
  if (grant.revoked) return refuse('revoked', challenge)
  if (grant.expires_at !== undefined && milliseconds(grant.expires_at) <= context.environment.clock.now())
    return refuse('expired', challenge)
  return { allowed: true, grant }
}

/** Several accounts may store the same key: then the caller's own grant counts. */
function findGrant({ environment, connector }: SchemeContext, access: string, accountId: string): Grant | undefined {
  const index = environment.model.grantIndex
  const found = index.byAccess(connector.connector, access)
  if (accountId === '' || found?.account_id === accountId) return found
  const own = index.ofAccount(accountId)
  return own.find((grant) => grant.connector === connector.connector && grant.access === access) ?? found
}

/** A connector's name as the realm of a challenge. */
export function realm(connector: Connector): string {
  return `realm="${encodeURIComponent(connector.connector.toWellFormed())}"`
}
