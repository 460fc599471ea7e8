import { describe, expect } from 'vitest'
import {
  ADA,
  createAccount,
  createActive,
  decide,
  detailsOf,
  expectError,
  fieldsOf,
  linkFor,
  VERIFY_URL,
} from '../../support/accounts.ts'
import { BASE_URL, it } from '../../support/toolmock.ts'

const PATH = '/connected_accounts/magic_link'

describe('POST /connected_accounts/magic_link', () => {
  it('answers 200 with a link and when it stops working, 15 minutes from now (G28)', async ({ mock: { api } }) => {
    const answer = await api.post(PATH, ADA)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      link: expect.stringMatching(new RegExp(`^${BASE_URL}/magic/[\\w-]{22,}$`)),
      expiry: '2026-01-01T00:15:00.000Z',
    })
  })

  it('uses the lifetime of links from the settings', async ({ startMock }) => {
    const mock = await startMock({ seed: { settings: { magic_link_lifetime: '90s' } } })
    const { body } = await mock.api.post(PATH, ADA)
    expect(body.expiry).toBe('2026-01-01T00:01:30.000Z')
    mock.time.advance('90s')
    expect((await mock.follow(body.link)).status).toBe(410)
  })

  it('answers a new link each time, and all of them are valid', async ({ mock }) => {
    const links = [await linkFor(mock, ADA), await linkFor(mock, ADA)]
    expect(new Set(links).size).toBe(2)
    for (const link of links) expect((await mock.follow(link)).status).toBe(302)
  })

  it('creates a PENDING_AUTH account when there is none ("States")', async ({ mock }) => {
    await linkFor(mock, { ...ADA, organization_id: 'org_1', user_id: 'user_1' })
    const { body } = await mock.api.get('/connected_accounts', { organization_id: 'org_1', user_id: 'user_1' })
    expect(body.connected_accounts).toEqual([
      expect.objectContaining({ ...ADA, status: 'PENDING_AUTH', updated_at: '2026-01-01T00:00:00.000Z' }),
    ])
  })

  it('creates no second account, also for concurrent requests', async ({ mock }) => {
    await Promise.all(Array.from({ length: 5 }, () => linkFor(mock, ADA)))
    expect((await mock.api.get('/connected_accounts')).body.total_size).toBe(1)
    expectError(await mock.api.post('/connected_accounts', ADA), 409, 'ACCOUNT_ALREADY_EXISTS')
  })

  it('accepts the id of an account', async ({ mock }) => {
    const { id } = await createAccount(mock)
    await decide(mock, await linkFor(mock, { id }))
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'ACTIVE' })
  })

  it.for([
    ['connector', {}],
    ['connector', { identifier: 'ada@example.com' }],
    ['identifier', { connector: 'mail' }],
    ['connector', { organization_id: 'org_1', user_id: 'user_1' }],
    ['identifier', { connector: 'mail', identifier: '' }],
    ['id', { id: 'ca_none' }],
    ['id', { id: 'ca_none', ...ADA }],
    ['id', { id: 5 }],
    ['state', { ...ADA, state: { a: 1 } }],
    ['user_verify_url', { ...ADA, user_verify_url: 5 }],
  ])('answers 400 naming %s for %j (4.6, G34, G52)', async ([field, body], { mock: { api } }) => {
    const answer = await api.post(PATH, body)
    expect([answer.status, answer.body.code]).toEqual([400, 3])
    expect(fieldsOf(answer)).toContain(field)
    expect((await api.get('/connected_accounts')).body.total_size).toBe(0)
  })

  it.for(['nobody', 'constructor', 'acme_oidc'])(
    'answers 400 for %s, which is not a connector (4.6)',
    async (connector, { mock: { api } }) => {
      expectError(await api.post(PATH, { ...ADA, connector }), 400, 'INVALID_CONNECTOR')
    },
  )

  it('answers 400 for an id with fields that contradict it (G21)', async ({ mock }) => {
    const { id } = await createAccount(mock)
    expectError(await mock.api.post(PATH, { id, user_id: 'user_1' }), 400, 'CONTRADICTING_LOCATOR')
  })

  it('answers 400 when several scoped accounts fit (G21)', async ({ mock }) => {
    await createAccount(mock, { user_id: 'user_1' })
    await createAccount(mock, { user_id: 'user_2' })
    expectError(await mock.api.post(PATH, ADA), 400, 'AMBIGUOUS_LOCATOR')
  })

  it('treats an empty user_verify_url as absent (G35, G58)', async ({ mock: { api, http } }) => {
    const { status, body } = await api.post(PATH, { ...ADA, user_verify_url: '' })
    expect(status).toBe(200)
    const back = await http('get', `${new URL(body.link).pathname}?decision=approve`)
    expect(new URL(back.headers['location'] ?? '').pathname).toBe('/connect/success')
  })

  it.for([
    'app.example/back',
    '/back',
    '//app.example/back',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://app.example/',
    'https:/app.example',
    'https://',
    'https:///path',
    'https://app.example/\nSet-Cookie: a=b',
    'https://app.example/\r\n',
    ' https://app.example/',
    'https://app.example/a b',
    'https://[::1',
    'https://app.example:99999/',
  ])(
    'answers 400 for %j, which is not an absolute http or https URL (G35)',
    async (user_verify_url, { mock: { api } }) => {
      const answer = await api.post(PATH, { ...ADA, user_verify_url })
      expectError(answer, 400, 'VALIDATION_FAILED')
      expect(fieldsOf(answer)).toEqual(['user_verify_url'])
      expect((await api.get('/connected_accounts')).body.total_size).toBe(0)
    },
  )

  it.for([
    'http://localhost:3000/verify',
    'https://127.0.0.1/verify',
    'http://[::1]:3000/',
    'HTTPS://App.Example',
    'https://user@app.example/back?x=%20#part',
  ])('accepts %s, on any host (G35)', async (user_verify_url, { mock }) => {
    const target = await decide(mock, await linkFor(mock, { ...ADA, user_verify_url }))
    expect(target.host).toBe(new URL(user_verify_url).host)
  })

  it('answers 400 with code 9 when the connection is disabled ("States")', async ({ startMock }) => {
    const { api } = await startMock({ seed: { connections: [{ key_id: 'mail', enabled: false }] } })
    const answer = await api.post(PATH, ADA)
    expectError(answer, 400, 'CONNECTION_DISABLED')
    const message = 'the connection of connector "mail" is disabled; enable it to go on'
    expect(answer.body).toMatchObject({ code: 9, message })
  })

  it.for(['DRAFT', 'IN_PROGRESS', 'COMPLETED'])(
    'issues links for a connection that is %s ("States")',
    async (status, { startMock }) => {
      const { api } = await startMock({ seed: { connections: [{ key_id: 'mail', status }] } })
      expect((await api.post(PATH, ADA)).status).toBe(200)
    },
  )
})

describe('following a link', () => {
  it('is valid until its flow completes, and answers 410 afterwards (G28)', async ({ mock }) => {
    const link = await linkFor(mock, ADA)
    expect((await mock.follow(link)).status).toBe(302)
    await decide(mock, link)
    const again = await mock.follow(link)
    expect(again.status).toBe(410)
    expect(again.headers['content-type']).toMatch(/^text\/html/)
    expect(again.text).toContain('has been used')
    // Its account may still wait for verify.
    expect(again.text).not.toContain('connected the account')
  })

  it('answers 410 once it has expired, to the millisecond (G28)', async ({ mock }) => {
    const link = await linkFor(mock, ADA)
    mock.time.advance('14m59s999ms')
    expect((await mock.follow(link)).status).toBe(302)
    mock.time.advance('1ms')
    const late = await mock.follow(link, { decision: 'approve' })
    expect(late.status).toBe(410)
    expect(late.text).toContain('has expired')
  })

  it.for(['nonsense', '__proto__', 'constructor', '%00', '%3Cscript%3E'])(
    'answers 404 for the unknown link %s (G28)',
    async (id, { mock }) => {
      const answer = await mock.follow(`${BASE_URL}/magic/${id}`)
      expect([answer.status, answer.headers['content-type']]).toEqual([404, expect.stringMatching(/^text\/html/)])
      expect(answer.text).toContain('This link is not known')
      expect(answer.text).not.toContain('<script>')
    },
  )

  it('redirects to user_verify_url with auth_request_id and state, other parameters kept (G30)', async ({ mock }) => {
    const state = 'a b&c=d#é/{{7*7}}'
    const target = await decide(mock, await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL, state }))
    expect(target.href.startsWith('https://app.example/back?tab=1&')).toBe(true)
    expect(target.searchParams.get('state')).toBe(state)
    expect(target.searchParams.get('auth_request_id')).toMatch(/^[\w-]{22,}$/)
    expect([...target.searchParams.keys()].sort()).toEqual(['auth_request_id', 'state', 'tab'])
  })

  it('adds no state when none was given (4.6)', async ({ mock }) => {
    const target = await decide(mock, await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL }))
    expect(target.searchParams.has('state')).toBe(false)
  })

  it('passes an empty state on', async ({ mock }) => {
    const target = await decide(mock, await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL, state: '' }))
    expect(target.searchParams.get('state')).toBe('')
  })

  it('denied, redirects with error=access_denied and state, and can be followed again ("States")', async ({ mock }) => {
    const link = await linkFor(mock, { ...ADA, user_verify_url: VERIFY_URL, state: 's 1' })
    const target = await decide(mock, link, { decision: 'deny' })
    expect(Object.fromEntries(target.searchParams)).toEqual({ tab: '1', error: 'access_denied', state: 's 1' })
    expect((await decide(mock, link)).searchParams.has('auth_request_id')).toBe(true)
  })

  it('ends at /connect/success without a user_verify_url (G31)', async ({ mock }) => {
    const target = await decide(mock, await linkFor(mock, ADA))
    expect(target.href).toBe(`${BASE_URL}/connect/success`)
    expect((await mock.follow(target.href)).status).toBe(200)
  })

  it.for([
    ['approve', 'ACTIVE'],
    ['deny', 'PENDING_AUTH'],
  ])('is decided without a page by the setting consent: %s (G31)', async ([consent, status], { startMock }) => {
    const mock = await startMock({ seed: { settings: { consent } } })
    const { id } = await createAccount(mock)
    expect((await mock.follow(await linkFor(mock, { id }))).status).toBeGreaterThanOrEqual(302)
    expect(await detailsOf(mock, id)).toMatchObject({ status })
  })

  it('of a deleted account answers 410, in every way to follow it', async ({ mock }) => {
    const { id } = await createActive(mock)
    const link = await linkFor(mock, { id })
    await mock.api.post('/connected_accounts:delete', { id })
    for (const query of [{}, { decision: 'approve' }, { decision: 'deny' }] as Record<string, string>[]) {
      const answer = await mock.follow(link, query)
      expect([answer.status, answer.text]).toEqual([410, expect.stringContaining('has been deleted')])
    }
  })
})
