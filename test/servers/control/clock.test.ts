import { expect } from 'vitest'
import { expectControlError, it, START, withControl } from './control-mock.ts'

it.for([
  [{ now: '2030-06-01T12:00:00Z' }, '2030-06-01T12:00:00.000Z'],
  [{ now: '2030-06-01T12:00:00.5+02:00' }, '2030-06-01T10:00:00.500Z'],
  [{ now: '2020-01-01T00:00:00Z' }, '2020-01-01T00:00:00.000Z'],
  [{ now: '2020-01-01' }, '2020-01-01T00:00:00.000Z'],
  [{ advance: '90s' }, '2026-01-01T00:01:30.000Z'],
  [{ advance: '2h' }, '2026-01-01T02:00:00.000Z'],
  [{ advance: '1h30m' }, '2026-01-01T01:30:00.000Z'],
  [{ advance: 'PT5M' }, '2026-01-01T00:05:00.000Z'],
  [{ advance: 'P1D' }, '2026-01-02T00:00:00.000Z'],
  [{ frozen: true }, START],
])('%j leads to %s', async ([change, now], { mock: { call } }) => {
  expect((await call('put', '/clock', change)).body).toMatchObject({ now, frozen: true, before: START })
  expect((await call('get', '/clock')).body).toEqual({ now, frozen: true })
})

it('answers with what fell due on the way, counted by kind and earliest first', async ({ mock: { call } }) => {
  const link = { connector: 'mail', identifier: 'ada@example.com' }
  await call('post', '/links', link)
  const { links } = (await call('get', '/links')).body as { links: { id: string; signs_in_as: string }[] }
  expect(links[0]?.signs_in_as).toBe('ada@example.com')
  await call('post', `/links/${links[0]?.id ?? ''}/complete`, { decision: 'approve' })
  await call('post', '/links', { ...link, identifier: 'linus@example.com' })
  const early = (await call('put', '/clock', { advance: '1m' })).body as object
  expect(early).toMatchObject({ before: START, passed: [], passed_counts: {} })
  const late = (await call('put', '/clock', { advance: '2h' })).body as { passed: object[]; passed_counts: object }
  expect(late.passed_counts).toEqual({ access_token: 1, magic_link: 1 })
  expect(late.passed).toMatchObject([
    { kind: 'magic_link', subject: 'linus@example.com at mail' },
    { kind: 'access_token', subject: 'ada@example.com at mail' },
  ])
  expect((await call('put', '/clock', { now: START })).body).toMatchObject({ passed: [] })
})

it('no longer lists an auth request that is over', async ({ mock: { call, api, token } }) => {
  const bearer = await token('test_client', 'test_secret')
  const due = async () => ((await call('get', '/clock/due')).body as { due: { kind: string }[] }).due
  const ids: string[] = []
  for (const identifier of ['ada', 'linus']) {
    const url = { connector: 'mail', identifier, user_verify_url: 'http://localhost:3000/verify' }
    const { link } = (await api(bearer, 'post', '/connected_accounts/magic_link', url)).body as { link: string }
    const path = `/links/${link.split('/').at(-1) ?? ''}/complete`
    const { redirect_url } = (await call('post', path, { decision: 'approve' })).body as { redirect_url: string }
    ids.push(new URL(redirect_url).searchParams.get('auth_request_id') ?? '')
  }
  const pending = { kind: 'auth_request', effect: 'its auth request expires unverified' }
  expect((await due()).filter(({ kind }) => kind === pending.kind)).toMatchObject([pending, pending])
  const verified = { auth_request_id: ids[0], identifier: 'ada' }
  expect((await api(bearer, 'post', '/connected_accounts/user/verify', verified)).status).toBe(200)
  expect((await due()).filter(({ kind }) => kind === pending.kind)).toMatchObject([{ subject: 'linus at mail' }])
})

it('lists the earliest events only, in their order, of a model that has many', async () => {
  const seed = { generate: [{ accounts: 300, connector: 'mail' }] }
  await withControl({}, async ({ call }) => {
    await call('post', '/seed', seed)
    const all = (await call('get', '/clock/due?limit=1000')).body as { due: { at: string; id: string }[] }
    const few = (await call('get', '/clock/due?limit=7')).body as { due: { at: string; id: string }[] }
    expect(all.due.length).toBeGreaterThan(14)
    expect(few.due).toEqual(all.due.slice(0, 7))
    expect(all.due.map(({ at }) => at)).toEqual(all.due.map(({ at }) => at).sort())
  })
})

it('lets a frozen clock run on, and stops it again', async () => {
  const real = { now: Date.parse('2026-03-01T00:00:00Z') }
  await withControl({ time: () => real.now }, async ({ call }) => {
    await call('put', '/clock', { frozen: false })
    real.now += 5000
    expect((await call('get', '/clock')).body).toEqual({ now: '2026-01-01T00:00:05.000Z', frozen: false })
    await call('put', '/clock', { frozen: true, advance: '1m' })
    real.now += 5000
    expect((await call('get', '/clock')).body).toEqual({ now: '2026-01-01T00:01:05.000Z', frozen: true })
  })
})

it('names every form that a time may have', async ({ mock: { call } }) => {
  const { body } = await call('put', '/clock', { now: '2026-01-01T00:00:00' })
  expect(body.error.message).toBe(
    '`now` is "2026-01-01T00:00:00"; allowed: an ISO 8601 instant with its time zone, or a day in UTC, in the years 1970 to 7999, such as 2026-01-31T12:00:00Z or 2026-01-31',
  )
})

it.for([
  [{ now: 'tomorrow' }],
  [{ now: '2026-01-01T00:00:00' }],
  [{ now: '2026-02-30T00:00:00Z' }],
  [{ now: 1_767_225_600 }],
  [{ now: '1969-12-31T23:59:59.999Z' }],
  [{ now: '8000-01-01T00:00:00Z' }],
  [{ now: '9999-12-31T23:59:59Z' }],
  [{ advance: '2 hours' }],
  [{ advance: '-5m' }],
  [{ advance: 'P1Y' }],
  [{ advance: '' }],
  [{ frozen: 'yes' }],
  [{ now: START, advance: '1h' }],
  [{ freeze: true }],
  [{}],
])('refuses %j and does not change the clock', async ([change], { mock: { call } }) => {
  const refused = await call('put', '/clock', change)
  expectControlError(refused, 400, 'INVALID_BODY')
  expect((await call('get', '/clock')).body).toEqual({ now: START, frozen: true })
})

it('can be set up to the end of the year 7999', async ({ mock: { call } }) => {
  const end = '7999-12-31T23:59:59.999Z'
  expect((await call('put', '/clock', { now: end })).body).toMatchObject({ now: end, frozen: true })
  const refused = await call('put', '/clock', { advance: '1ms' })
  expectControlError(refused, 400, 'INVALID_BODY')
  expect((refused.body as { error: { message: string } }).error.message).toContain('the years 1970 to 7999')
  expect((await call('get', '/clock')).body).toEqual({ now: end, frozen: true })
})

it('applies due events in the order of time, and records them in the journal', async ({ mock: { call } }) => {
  const account = (identifier: string, token_expires_at: string) => ({
    connector: 'mail',
    identifier,
    token_expires_at,
    authorization_details: { oauth_token: { access_token: identifier, refresh_token: '' } },
  })
  const accounts = [account('later', '2026-01-01T00:30:00.000Z'), account('sooner', '2026-01-01T00:10:00.000Z')]
  await call('post', '/seed', { accounts })
  await call('put', '/clock', { advance: '1h' })
  const { requests } = (await call('get', '/requests?kind=clock')).body as {
    requests: { path: string; due: { at: string; from: string; to: string }[] }[]
  }
  expect(requests).toHaveLength(1)
  expect(requests[0]?.path).toBe(`the clock went from ${START} to 2026-01-01T01:00:00.000Z and is frozen`)
  await call('put', '/clock', { frozen: true })
  const later = (await call('get', '/requests?kind=clock')).body as { requests: { path: string }[] }
  expect(later.requests.at(-1)?.path).toBe('the clock is frozen at 2026-01-01T01:00:00.000Z')
  expect(requests[0]?.due).toMatchObject([
    { at: '2026-01-01T00:10:00.000Z', from: 'ACTIVE', to: 'EXPIRED' },
    { at: '2026-01-01T00:30:00.000Z', from: 'ACTIVE', to: 'EXPIRED' },
  ])
})

it('decides whether bearer tokens have expired', async ({ mock: { call, token, api } }) => {
  const bearer = await token('test_client', 'test_secret')
  await call('put', '/clock', { advance: '25h' })
  expect((await api(bearer, 'get', '/connections')).status).toBe(401)
})
