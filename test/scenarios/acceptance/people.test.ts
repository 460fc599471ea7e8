import { expect } from 'vitest'
import { rulesNotFired } from '../../../src/scenarios/scenario-run.ts'
import { it } from '../scenario-mock.ts'
import { approve, newLink, statusOf, statusAndCode, verify } from './steps.ts'

it('verify-identity-mismatch: given an approved consent, when it is verified, then 403 first and 200 after', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['verify-identity-mismatch'] })
  const { account, link } = await newLink(mock)
  const { location } = await approve(link)
  expect(statusAndCode(await verify(mock, location))).toBe('403 IDENTIFIER_MISMATCH')
  expect(await statusOf(mock, account)).toBe('PENDING_VERIFICATION')
  expect(statusAndCode(await verify(mock, location))).toBe('200')
  expect(await statusOf(mock, account)).toBe('ACTIVE')
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})

it('auth-request-consumed: given an approved consent, when it is verified, then 404 each time, and it is ACTIVE', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['auth-request-consumed'] })
  const { account, link } = await newLink(mock)
  const { location } = await approve(link)
  expect(statusAndCode(await verify(mock, location))).toBe('404 AUTH_REQUEST_NOT_FOUND')
  expect(statusAndCode(await verify(mock, location))).toBe('404 AUTH_REQUEST_NOT_FOUND')
  expect(await statusOf(mock, account)).toBe('ACTIVE')
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})

it('account-already-exists: given no account, when it is created, then 409, and no account was created', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['account-already-exists'] })
  const asked = { connector: 'mail', identifier: 'ada@example.com' }
  expect(statusAndCode(await mock.call('POST', '/connected_accounts', asked))).toBe('409 ACCOUNT_ALREADY_EXISTS')
  expect((await mock.call('GET', '/connected_accounts')).body).toMatchObject({ total_size: 0 })
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})

it('consent-denied: given a link, when its user approves, then the application gets a denial', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['consent-denied'] })
  const { account, link } = await newLink(mock)
  const { location } = await approve(link)
  expect(location?.href).toBe('http://app.test/verify?error=access_denied&state=xyz')
  expect(await statusOf(mock, account)).toBe('PENDING_AUTH')
  expect((await approve(link)).location?.searchParams.get('auth_request_id')).toBeTruthy()
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})

it('consent-with-fewer-scopes: given a link, when its user approves, then a tool that writes is refused, and one that reads works', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['consent-with-fewer-scopes'] })
  const { account, link } = await newLink(mock, 'calendar')
  const event = { title: 'Review', start: '2026-03-01T10:00:00Z', end: '2026-03-01T11:00:00Z' }
  const call = async (tool: string, input: object) => {
    const { status, body } = await mock.send(account, tool, input)
    return `${status} ${JSON.stringify(body?.['details'] ?? '')}`
  }
  const consent = async () => verify(mock, (await approve(link)).location)
  await consent()
  expect(await statusOf(mock, account)).toBe('ACTIVE')
  expect(await call('calendar_create_event', event)).toMatch(/^403 .*"tool_error_code":"insufficient_scope"/)
  expect(await call('calendar_list_events', {})).toMatch(/^200/)
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})

it('magic-link-expired: given a link, when its user takes too long, then a page shows that it has expired', async ({
  startMock,
}) => {
  const mock = await startMock({ scenarios: ['magic-link-expired'] })
  const { account, link } = await newLink(mock)
  expect((await approve(link)).status).toBe(410)
  expect(await statusOf(mock, account)).toBe('PENDING_AUTH')
  expect(rulesNotFired(mock.scenarios.history())).toEqual([])
})
