import { expect, it } from 'vitest'
import {
  LIFECYCLE_EVENTS,
  LIFECYCLE_STATES,
  type LifecycleEvent,
  type LifecycleState,
  nextState,
  nextStatus,
} from '../../../src/model/domain/lifecycle.ts'

/**
 * The moves of `docs/supported.md`, copied by hand: the next state for each event and state. A state that is not
 * listed does not change.
 */
const ALL = ['PENDING_AUTH', 'PENDING_VERIFICATION', 'ACTIVE', 'EXPIRED', 'DISCONNECTED'] as const
const every = (to: LifecycleState) => Object.fromEntries(ALL.map((from) => [from, to]))
const TABLE: Readonly<Record<LifecycleEvent, Partial<Record<LifecycleState, LifecycleState>>>> = {
  created_with_credentials: { none: 'ACTIVE' },
  created_without_credentials: { none: 'PENDING_AUTH' },
  link_requested: { none: 'PENDING_AUTH', EXPIRED: 'PENDING_AUTH', DISCONNECTED: 'PENDING_AUTH' },
  link_requested_ready: { none: 'ACTIVE', EXPIRED: 'ACTIVE', DISCONNECTED: 'ACTIVE' },
  consent_approved: every('ACTIVE'),
  consent_approved_unverified: {
    PENDING_AUTH: 'PENDING_VERIFICATION',
    EXPIRED: 'PENDING_VERIFICATION',
    DISCONNECTED: 'PENDING_VERIFICATION',
  },
  consent_denied: {},
  verified: every('ACTIVE'),
  verify_refused: {},
  auth_request_expired: { PENDING_VERIFICATION: 'PENDING_AUTH' },
  token_expired: { ACTIVE: 'EXPIRED' },
  renewable_token_expired: {},
  expired_manually: { PENDING_AUTH: 'EXPIRED', PENDING_VERIFICATION: 'EXPIRED', ACTIVE: 'EXPIRED' },
  refresh_refused: { ACTIVE: 'EXPIRED' },
  // The third party refuses the renewed token too (G45).
  credentials_refused: { ACTIVE: 'EXPIRED' },
  credentials_updated: every('ACTIVE'),
  credentials_removed: { ACTIVE: 'PENDING_AUTH' },
  disconnected: every('DISCONNECTED'),
  provider_deleted: every('DISCONNECTED'),
  type_changed: every('PENDING_AUTH'),
  type_changed_ready: every('ACTIVE'),
  deleted: every('none'),
}

const EVENTS = Object.keys(LIFECYCLE_EVENTS) as LifecycleEvent[]
const PAIRS = LIFECYCLE_STATES.flatMap((from) =>
  EVENTS.map((event) => ({ from, event, to: TABLE[event][from] ?? from })),
)

it.each(PAIRS)('$from and $event lead to $to', ({ from, event, to }) => {
  expect(nextState(from, event)).toBe(to)
})

it('knows the events of the table and no others', () => {
  expect([...EVENTS].sort()).toEqual(Object.keys(TABLE).sort())
  expect([...LIFECYCLE_STATES].sort()).toEqual([...ALL, 'none'].sort())
})

it('gives a deleted account no status', () => {
  expect(() => nextStatus('ACTIVE', 'deleted')).toThrow('leave no account')
  expect(nextStatus('EXPIRED', 'link_requested')).toBe('PENDING_AUTH')
})
