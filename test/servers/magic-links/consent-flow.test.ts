import { describe, expect, it } from 'vitest'
import { ACCOUNT_STATUSES, type AccountStatus } from '../../../src/model/domain/account.ts'
import type { Credentials } from '../../../src/model/domain/credentials.ts'
import { approveConsent, completeLink, denyConsent } from '../../../src/servers/magic-links/consent-flow.ts'
import { usableLink } from '../../../src/servers/magic-links/link-validity.ts'
import { BASE, VERIFY, setUp, tokensOf } from './fixture.ts'

const token = (access_token: string): Credentials => ({
  oauth_token: { access_token, refresh_token: '', scopes: [], domain: '' },
})
const consented = { credentials: token('new'), lifetime: 3_600_000 }
const inAnHour = '2026-01-01T01:00:00.000Z'

describe('approve with a user_verify_url', () => {
  it.each(ACCOUNT_STATUSES)('moves %s by the table and does not change the live tokens', (status) => {
    const { flow, account } = setUp({ account: { status, credentials: token('old') } })
    approveConsent(flow, 'link', consented)
    expect(account().status).toBe(status === 'ACTIVE' ? 'ACTIVE' : 'PENDING_VERIFICATION')
    expect(account().credentials).toEqual(token('old'))
    expect(account().pending).toEqual({ credentials: token('new'), token_expires_at: inAnHour })
    expect(account().token_expires_at).toBeUndefined()
  })

  it('redirects with a new auth request and the state, the rest of the URL kept', () => {
    const { flow, requests } = setUp()
    const redirect = approveConsent(flow, 'link', consented)
    const [request] = requests()
    expect(redirect).toBe(`http://app.example/back?tab=1&auth_request_id=${request?.id}&state=a%20b%26c#top`)
    expect(request?.id).toMatch(/^[\w-]{22,}$/)
    expect(request).toMatchObject({
      account_id: 'ca_1',
      identifier: 'grace@example.com',
      expires_at: '2026-01-01T00:10:00.000Z',
      outcome: 'pending',
    })
  })

  it('does not change updated_at when the live credentials do not change', () => {
    const { flow, account } = setUp({ account: { status: 'ACTIVE' } })
    const { updated_at } = account()
    approveConsent(flow, 'link', consented)
    expect(account().updated_at).toBe(updated_at)
  })

  it('adds no state when the link has none', () => {
    const { flow } = setUp({ link: { state: null } })
    expect(approveConsent(flow, 'link', consented)).not.toContain('state=')
  })

  it('supersedes the older pending request of the account', () => {
    const { flow, addLink, requests, account } = setUp()
    approveConsent(flow, 'link', consented)
    addLink({ id: 'second' })
    approveConsent(flow, 'second', { ...consented, credentials: token('newer') })
    expect(requests().map((request) => request.outcome)).toEqual(['superseded', 'pending'])
    expect(account().pending?.credentials).toEqual(token('newer'))
  })

  it('completes the link and notifies subscribers', () => {
    const { flow, link, events, environment } = setUp()
    approveConsent(flow, 'link', consented)
    expect(link().completed_at).toBe('2026-01-01T00:00:00.000Z')
    expect(events()).toMatchObject([
      { account_id: 'ca_1', event: 'consent_approved_unverified', from: 'PENDING_AUTH', to: 'PENDING_VERIFICATION' },
    ])
    expect(() => usableLink(environment, 'link')).toThrow('This link has been used')
  })
})

describe('approve without a user_verify_url', () => {
  const link = { user_verify_url: '' }

  it.each(ACCOUNT_STATUSES)('makes an account that was %s ACTIVE with the new tokens', (status) => {
    const { flow, account } = setUp({ link, account: { status, credentials: token('old') } })
    expect(approveConsent(flow, 'link', consented)).toBe(`${BASE}/connect/success`)
    expect(account()).toMatchObject({
      status: 'ACTIVE',
      credentials: token('new'),
      token_expires_at: inAnHour,
      updated_at: '2026-01-01T00:00:00.000Z',
    })
  })

  it.each(['EXPIRED', 'DISCONNECTED', 'PENDING_VERIFICATION'] as const)('moves %s to ACTIVE', (status) => {
    const { flow, events } = setUp({ link, account: { status, credentials: token('old') } })
    approveConsent(flow, 'link', consented)
    expect(events()).toMatchObject([{ event: 'consent_approved', from: status, to: 'ACTIVE' }])
  })

  it('drops the pending credentials and the auth request', () => {
    const { flow, addLink, account, requests } = setUp()
    approveConsent(flow, 'link', consented)
    addLink({ id: 'second', user_verify_url: '' })
    approveConsent(flow, 'second', consented)
    expect(account().pending).toBeUndefined()
    expect(requests().map((request) => request.outcome)).toEqual(['superseded'])
  })

  it('removes the former expiry when the new token has none', () => {
    const { flow, account } = setUp({ type: 'TRACKER_OAUTH1', link, account: { token_expires_at: inAnHour } })
    approveConsent(flow, 'link', { ...consented, lifetime: null })
    expect(account().token_expires_at).toBeUndefined()
  })

  it('changes no data where require_user_verification is set', () => {
    const { flow, account, link: stored } = setUp({ link, settings: { require_user_verification: true } })
    const before = account()
    expect(() => approveConsent(flow, 'link', consented)).toThrow('Your identity cannot be verified')
    expect(account()).toBe(before)
    expect(stored().completed_at).toBeUndefined()
  })
})

it.each<AccountStatus>(['PENDING_AUTH', 'ACTIVE'])('deny leaves %s, and the link usable', (status) => {
  const { flow, account, environment, events } = setUp({ account: { status } })
  const before = account()
  expect(denyConsent(flow, 'link')).toBe('http://app.example/back?tab=1&error=access_denied&state=a%20b%26c#top')
  expect(account()).toBe(before)
  expect(usableLink(environment, 'link').link.user_verify_url).toBe(VERIFY)
  expect(events()).toMatchObject([{ account_id: 'ca_1', event: 'consent_denied', from: status, to: status }])
})

it('deny ends at the success page with the error when there is no user_verify_url', () => {
  const { flow } = setUp({ link: { user_verify_url: '' } })
  expect(denyConsent(flow, 'link')).toBe(`${BASE}/connect/success?error=access_denied&state=a%20b%26c`)
})

it('usableLink knows no link of an environment that was removed', () => {
  const { environment } = setUp()
  environment.isRemoved = true
  expect(() => usableLink(environment, 'link')).toThrow('This link is not known')
})

it('usableLink refuses a link from the moment it expires', () => {
  const { environment } = setUp()
  environment.clock.advance(15 * 60_000 - 1)
  expect(usableLink(environment, 'link').link.id).toBe('link')
  environment.clock.advance(1)
  expect(() => usableLink(environment, 'link')).toThrow('This link has expired')
})

it('completeLink obtains another token when another subject is stored meanwhile', async () => {
  const of = (subject: string, access_token: string): Credentials => ({
    workspace_dwd: { subject, access_token, scopes: [] },
  })
  const issued = ['first', 'second']
  const { flow, account, environment } = setUp({
    type: 'WORKSPACE_DWD',
    account: { credentials: of('ada', 'old') },
    link: { user_verify_url: '' },
    answer: () => {
      const other = { ...account(), credentials: of('boss', 'of boss') }
      environment.model.transact(() => environment.model.tables.accounts.put(other))
      return tokensOf(issued.shift() ?? 'none')
    },
  })
  await completeLink(flow, 'link', { decision: 'approve' })
  expect(account().credentials.workspace_dwd).toMatchObject({ subject: 'boss', access_token: 'at-second' })
})

it('completeLink refuses a link that expired meanwhile, also when the clock is set back then', async () => {
  const { flow, environment } = setUp({
    answer: (code) => {
      environment.clock.advance(3_600_000)
      return tokensOf(code)
    },
  })
  await expect(completeLink(flow, 'link', { decision: 'approve' })).rejects.toMatchObject({ kind: 'expired' })
  environment.clock.advance(-3_600_000)
  expect(() => usableLink(environment, 'link')).toThrow('This link has expired')
})

it('completeLink returns the URL of the redirect, and accepts any identity', async () => {
  const { flow, account, requests } = setUp()
  const redirect = await completeLink(flow, 'link', { decision: 'approve', as: 'eve' })
  expect(new URL(redirect).searchParams.get('auth_request_id')).toBe(requests()[0]?.id)
  expect(account().pending?.credentials.oauth_token?.access_token).toBe('at-code-of-eve')
})

it('completeLink refuses a link that was used', async () => {
  const { flow } = setUp()
  await completeLink(flow, 'link', { decision: 'approve' })
  await expect(completeLink(flow, 'link', { decision: 'deny' })).rejects.toMatchObject({ status: 410 })
})
