import type { Account, AccountStatus } from './account.ts'

/** The events of a connected account, each with what it is in words (`docs/accounts.md`). */
export const LIFECYCLE_EVENTS = {
  created_with_credentials: 'created with credentials, or none needed',
  created_without_credentials: 'created without credentials',
  link_requested: 'magic link asked',
  link_requested_ready: 'magic link asked, in a type that needs no user',
  consent_approved: 'consent approved, link had no user_verify_url',
  consent_approved_unverified: 'consent approved, link had a user_verify_url',
  consent_denied: 'consent denied',
  verified: 'verify, identifier equal',
  verify_refused: 'verify, identifier differs',
  auth_request_expired: 'the auth request expires unverified',
  token_expired: 'token_expires_at passed, no refresh token, tokens come from a user',
  expired_manually: 'expired manually (control API, scenario)',
  renewable_token_expired: 'token_expires_at passed, the service obtains a new one itself',
  refresh_refused: 'token refresh refused by the third party',
  credentials_refused: 'third party still answers 401 after a refresh',
  credentials_updated: 'update with live credentials',
  credentials_removed: 'an update removes the last static credential',
  disconnected: 'disconnected manually, or access removed at the third party',
  provider_deleted: 'its custom provider or connection is deleted',
  type_changed: 'its provider or connector changes its authorization type',
  type_changed_ready: 'the same, and the new type needs no user',
  deleted: 'delete',
} as const
export type LifecycleEvent = keyof typeof LIFECYCLE_EVENTS

/** `none`: the account does not exist yet, or no longer. */
export type LifecycleState = AccountStatus | 'none'
export const LIFECYCLE_STATES = [
  'none',
  'PENDING_AUTH',
  'PENDING_VERIFICATION',
  'ACTIVE',
  'EXPIRED',
  'DISCONNECTED',
] as const satisfies readonly LifecycleState[]

/** Where a rule comes from (`x-basis` in the spec). */
export type Basis = `document:${string}` | 'convention' | 'choice'

export interface Move {
  from: LifecycleState
  event: LifecycleEvent
  to: LifecycleState
  basis: Basis
}

const everyStatus = ['PENDING_AUTH', 'PENDING_VERIFICATION', 'ACTIVE', 'EXPIRED', 'DISCONNECTED'] as const

function fromAny(event: LifecycleEvent, to: LifecycleState, basis: Basis): Move[] {
  return everyStatus.map((from) => ({ from, event, to, basis }))
}

/** Every move of `status`. A pair of state and event that is not here leaves the status as it is. */
export const MOVES: readonly Move[] = [
  { from: 'none', event: 'created_with_credentials', to: 'ACTIVE', basis: 'choice' },
  { from: 'none', event: 'created_without_credentials', to: 'PENDING_AUTH', basis: 'choice' },
  { from: 'none', event: 'link_requested', to: 'PENDING_AUTH', basis: 'convention' },
  { from: 'EXPIRED', event: 'link_requested', to: 'PENDING_AUTH', basis: 'convention' },
  { from: 'DISCONNECTED', event: 'link_requested', to: 'PENDING_AUTH', basis: 'convention' },
  { from: 'none', event: 'link_requested_ready', to: 'ACTIVE', basis: 'convention' },
  { from: 'EXPIRED', event: 'link_requested_ready', to: 'ACTIVE', basis: 'convention' },
  { from: 'DISCONNECTED', event: 'link_requested_ready', to: 'ACTIVE', basis: 'convention' },
  { from: 'PENDING_AUTH', event: 'consent_approved_unverified', to: 'PENDING_VERIFICATION', basis: 'convention' },
  { from: 'EXPIRED', event: 'consent_approved_unverified', to: 'PENDING_VERIFICATION', basis: 'convention' },
  { from: 'DISCONNECTED', event: 'consent_approved_unverified', to: 'PENDING_VERIFICATION', basis: 'convention' },
  { from: 'PENDING_AUTH', event: 'consent_approved', to: 'ACTIVE', basis: 'choice' },
  { from: 'PENDING_VERIFICATION', event: 'consent_approved', to: 'ACTIVE', basis: 'choice' },
  { from: 'EXPIRED', event: 'consent_approved', to: 'ACTIVE', basis: 'choice' },
  { from: 'DISCONNECTED', event: 'consent_approved', to: 'ACTIVE', basis: 'choice' },
  { from: 'PENDING_VERIFICATION', event: 'auth_request_expired', to: 'PENDING_AUTH', basis: 'choice' },
  { from: 'ACTIVE', event: 'token_expired', to: 'EXPIRED', basis: 'convention' },
  { from: 'ACTIVE', event: 'refresh_refused', to: 'EXPIRED', basis: 'convention' },
  { from: 'ACTIVE', event: 'credentials_refused', to: 'EXPIRED', basis: 'convention' },
  { from: 'ACTIVE', event: 'credentials_removed', to: 'PENDING_AUTH', basis: 'choice' },
  { from: 'ACTIVE', event: 'expired_manually', to: 'EXPIRED', basis: 'choice' },
  { from: 'PENDING_AUTH', event: 'expired_manually', to: 'EXPIRED', basis: 'choice' },
  { from: 'PENDING_VERIFICATION', event: 'expired_manually', to: 'EXPIRED', basis: 'choice' },
  ...fromAny('verified', 'ACTIVE', 'document:3.1'),
  ...fromAny('credentials_updated', 'ACTIVE', 'choice'),
  ...fromAny('disconnected', 'DISCONNECTED', 'convention'),
  ...fromAny('provider_deleted', 'DISCONNECTED', 'choice'),
  ...fromAny('type_changed', 'PENDING_AUTH', 'choice'),
  ...fromAny('type_changed_ready', 'ACTIVE', 'choice'),
  ...fromAny('deleted', 'none', 'document:3.1'),
]

const NEXT = new Map(MOVES.map((move) => [`${move.from} ${move.event}`, move.to]))

/** The state after `event`; the same state when the table has no such move. */
export function nextState(from: LifecycleState, event: LifecycleEvent): LifecycleState {
  return NEXT.get(`${from} ${event}`) ?? from
}

export function nextStatus(from: LifecycleState, event: LifecycleEvent): AccountStatus {
  const to = nextState(from, event)
  if (to === 'none') throw new Error(`${from} and ${event} leave no account`)
  return to
}

/** The account after `event`, with its status by the table; a status alone does not move `updated_at` (G27). */
export function accountAfter(account: Account, event: LifecycleEvent): Account {
  const status = nextStatus(account.status, event)
  return status === account.status ? account : { ...account, status }
}
