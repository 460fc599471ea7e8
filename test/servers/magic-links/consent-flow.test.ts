import { describe, expect, it } from 'vitest'
import type { Credentials } from '../../../src/model/domain/credentials.ts'
import { approveConsent, completeLink, denyConsent } from '../../../src/servers/magic-links/consent-flow.ts'
import { usableLink } from '../../../src/servers/magic-links/link-validity.ts'
import { BASE, setUp, tokensOf } from './fixture.ts'

const token = (access_token: string): Credentials => ({
  oauth_token: { access_token, refresh_token: '', scopes: [], domain: '' },
})
const consented = { credentials: token('new'), lifetime: 3_600_000 }
const inAnHour = '2026-01-01T01:00:00.000Z'

describe('approve without a user_verify_url', () => {
  const link = { user_verify_url: '' }

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
