import { expect, it } from 'vitest'
import {
  type Account,
  expiryOfIssue,
  scopeOf,
  withLive,
  withoutPending,
  withPending,
} from '../../../src/model/domain/account.ts'
import {
  CLOCK_RANGE,
  instant,
  isClockTime,
  isStorableInstant,
  milliseconds,
} from '../../../src/model/domain/instant.ts'
import { accountAfter, nextStatus } from '../../../src/model/domain/lifecycle.ts'
import { accountRow } from '../../support/rows.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-01T01:00:00.000Z'
const token = (access_token: string) => ({
  oauth_token: { access_token, refresh_token: 'rt', scopes: [], domain: '' },
})

function account(changes: Partial<Account> = {}): Account {
  return accountRow({ credentials: token('at'), ...changes })
}

it('the scope of a request is empty where the request names none', () => {
  expect(scopeOf({ user_id: undefined })).toEqual({ organization_id: '', user_id: '' })
  expect(scopeOf({ organization_id: 'org', user_id: 'usr' })).toEqual({ organization_id: 'org', user_id: 'usr' })
})

const now = milliseconds(NOW)

it('credentials that are stored: expire after their lifetime (G25)', () => {
  expect(expiryOfIssue(account(), token('at'), 3_600_000, now)).toEqual({
    credentials: token('at'),
    token_expires_at: LATER,
  })
})

it('credentials that are stored do not expire without a lifetime, or where the type does not', () => {
  expect(expiryOfIssue(account(), token('at'), null, now)).toEqual({ credentials: token('at') })
  const old = account({ authorization_type: 'TRACKER_OAUTH1' })
  expect(expiryOfIssue(old, token('at'), 3_600_000, now)).toEqual({ credentials: token('at') })
  const delegated = account({ authorization_type: 'WORKSPACE_DWD' })
  expect(expiryOfIssue(delegated, {}, 3_600_000, now)).toEqual({ credentials: {}, token_expires_at: LATER })
})

it('credentials that are stored are expired at once with a refresh token only (G24)', () => {
  const ended = { credentials: token(''), token_expires_at: NOW, token_expired: true }
  expect(expiryOfIssue(account(), token(''), null, now)).toEqual(ended)
})

it('credentials that are stored: replace the former ones, including their expiry, and keep pending ones', () => {
  const pending = { credentials: token('waiting') }
  const before = withPending(account({ token_expires_at: NOW }), pending)
  expect(withLive(before, { credentials: token('new') })).toEqual(account({ credentials: token('new'), pending }))
  expect(withoutPending(before)).toEqual(account({ token_expires_at: NOW }))
})

it('an account after an event has the status of the table, and is the same object when that does not change', () => {
  const before = account()
  expect(accountAfter(before, 'disconnected')).toEqual(account({ status: 'DISCONNECTED' }))
  expect(accountAfter(before, 'link_requested')).toBe(before)
  expect(() => nextStatus('none', 'disconnected')).toThrow('none and disconnected leave no account')
})

it('a time is stored in UTC with milliseconds', () => {
  expect(instant(milliseconds('2026-01-01T01:00:00+01:00'))).toBe(NOW)
})

it.each([
  [CLOCK_RANGE.earliest - 1, false],
  [CLOCK_RANGE.earliest, true],
  [CLOCK_RANGE.latest, true],
  [CLOCK_RANGE.latest + 1, false],
  [NaN, false],
])('a time: %d may be set on a clock: %s', (at, expected) => {
  expect(isClockTime(at)).toBe(expected)
})

it.each([
  ['0001-01-01T00:00:00.000Z', 0, true],
  ['0001-01-01T00:00:00.000Z', -1, false],
  ['9999-12-31T23:59:59.999Z', 0, true],
  ['9999-12-31T23:59:59.999Z', 1, false],
])('a time: %s and %i ms can be stored: %s', (at, more, expected) => {
  expect(isStorableInstant(Date.parse(at) + more)).toBe(expected)
})
