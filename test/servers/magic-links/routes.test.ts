import request from 'supertest'
import { describe, expect, it } from 'vitest'
import { type AuthorizationType, TRAITS } from '../../../src/model/domain/authorization-type.ts'
import type { TokenResponse } from '../../../src/model/domain/ports.ts'
import { StorageError } from '../../../src/state/wal/state-errors.ts'
import { BASE, tokensOf, setUp } from './fixture.ts'

const APPROVED = /^http:\/\/app\.example\/back\?tab=1&auth_request_id=[\w-]{22,}&state=a%20b%26c#top$/
const DENIED = 'http://app.example/back?tab=1&error=access_denied&state=a%20b%26c#top'

const CONSENT_TYPES: AuthorizationType[] = ['OAUTH', 'SMART_FHIR', 'TRACKER_OAUTH1']
const FORM_TYPES: AuthorizationType[] = ['API_KEY', 'BASIC_AUTH', 'BASIC', 'BEARER_TOKEN', 'CUSTOM']
const NO_USER_TYPES: AuthorizationType[] = ['OAUTH_M2M', 'WORKSPACE_DWD', 'TRUSTED_IDP', 'NO_AUTH']
const EVERY_TYPE = [...CONSENT_TYPES, ...FORM_TYPES, ...NO_USER_TYPES]

const refusal = (status: number): TokenResponse => ({
  granted: false,
  status,
  error: 'invalid_grant',
  description: '<b>no such code</b>',
})

it.each(CONSENT_TYPES)('GET /magic/{id} sends %s to the authorize endpoint of the third party', async (type) => {
  const { app } = setUp({ type, connector: { oauth: { ...oauth, scopes: ['mail.read', 'mail.send'] } } })
  const response = await request(app).get('/magic/link').expect(302)
  const location = new URL(response.headers.location ?? '')
  expect(location.pathname).toBe('/third-party/mail/authorize')
  expect(Object.fromEntries(location.searchParams)).toEqual({
    state: 'oauth-state',
    redirect_uri: `${BASE}/connect/callback`,
    scope: 'mail.read mail.send',
    login_hint: 'grace@example.com',
    client_id: 'toolmock-default',
    response_type: 'code',
  })
  expect(response.headers['cache-control']).toBe('no-store')
  expect(response.headers['referrer-policy']).toBe('no-referrer')
})

it.each(FORM_TYPES)('GET /magic/{id} shows the credentials form of %s', async (type) => {
  const { app } = setUp({ type })
  const response = await request(app).get('/magic/link').expect(200).expect('Content-Type', 'text/html; charset=utf-8')
  expect(response.text).toMatch(/<input[^>]+type="password"/)
  expect(response.text).toContain('grace@example.com')
  expect(response.headers['content-security-policy']).toContain("default-src 'none'")
  expect(response.headers['x-content-type-options']).toBe('nosniff')
})

it.each(NO_USER_TYPES)('GET /magic/{id} shows that %s needs no user', async (type) => {
  const { app } = setUp({ type })
  const response = await request(app).get('/magic/link').expect(200)
  expect(response.text).toContain('No sign-in is needed')
  expect(response.text).toContain('Continue')
})

it('GET /magic/{id} answers 410 to the link of a connector that was removed', async () => {
  const { app, environment } = setUp()
  const { connectors, connections } = environment.model.tables
  environment.model.transact(() => {
    connectors.remove('mail')
    for (const { id, key_id } of [...connections.values()]) if (key_id === 'mail') connections.remove(id)
  })
  expect((await request(app).get('/magic/link').expect(410)).text).toContain('has been removed')
})

it('GET /magic/{id} answers 400 when the connection is disabled', async () => {
  const { app, environment } = setUp()
  const { model } = environment
  model.transact(() => {
    for (const connection of [...model.tables.connections.values()]) {
      model.tables.connections.put({ ...connection, enabled: false })
    }
  })
  expect((await request(app).get('/magic/link').expect(400)).text).toContain('switched off')
})

it.each(['put', 'delete', 'head', 'patch'] as const)('GET /magic/{id} answers 405 to %s', async (method) => {
  const { app, account } = setUp({ settings: { consent: 'approve' } })
  await request(app)[method]('/magic/link').expect(405).expect('Allow', 'GET, POST')
  expect(account().status).toBe('PENDING_AUTH')
})

it('GET /magic/{id} shows markup in the identifier as text', async () => {
  const { app } = setUp({ type: 'API_KEY', account: { identifier: '<script>alert(1)</script>' } })
  const { text } = await request(app).get('/magic/link').expect(200)
  expect(text).not.toContain('<script')
  expect(text).toContain('&lt;script&gt;')
})

describe('GET /magic/{id}?decision=', () => {
  it.each(EVERY_TYPE)('approves %s at once', async (type) => {
    const { app, account } = setUp({ type, answer: type === 'OAUTH' ? tokensOf : () => tokensOf('x') })
    const response = await request(app).get('/magic/link?decision=approve').expect(302)
    expect(response.headers.location).toMatch(APPROVED)
    expect(account().status).toBe('PENDING_VERIFICATION')
    expect(account().pending).toBeDefined()
  })

  it.each(EVERY_TYPE)('denies %s at once', async (type) => {
    const { app, account } = setUp({ type })
    await request(app).get('/magic/link?decision=deny').expect(302).expect('Location', DENIED)
    expect(account().status).toBe('PENDING_AUTH')
  })

  it('signs in the person of as=, or else that of the account, or else the first of the people', async () => {
    const people = ['ada@example.com', 'grace@example.com']
    const cases = [
      ['', 'grace@example.com', 'code-of-grace@example.com'],
      ['', 'someone@example.com', 'code-of-ada@example.com'],
      ['&as=eve%40example.com', 'grace@example.com', 'code-of-eve@example.com'],
    ] as const
    for (const [query, identifier, code] of cases) {
      const { app, account } = setUp({ connector: { people }, account: { identifier } })
      await request(app).get(`/magic/link?decision=approve${query}`).expect(302)
      expect(account().pending?.credentials.oauth_token?.access_token).toBe(`at-${code}`)
    }
  })

  it('has the third party accept generated credentials of static types', async () => {
    const { app, account, accepted } = setUp({ type: 'BASIC_AUTH', link: { user_verify_url: '' } })
    await request(app).get('/magic/link?decision=approve&as=eve').expect(302)
    expect(account().credentials).toEqual({
      static_auth: { details: { username: 'eve', password: expect.any(String) } },
    })
    expect(accepted).toEqual([account().credentials])
  })

  it.each([
    'decision=maybe',
    'decision=',
    'decision=approve&decision=deny',
    'decision=__proto__',
    'decision=approve&as=ada&as=eve',
    'as=ada',
  ])('answers 400 to %s and names what is allowed', async (query) => {
    const { app, link } = setUp()
    const response = await request(app).get(`/magic/link?${query}`).expect(400)
    expect(response.text).toContain('it is approve or deny')
    expect(link().completed_at).toBeUndefined()
  })
})

it('POST /magic/{id} stores the entered credentials and makes the third party accept them', async () => {
  const { app, account, accepted } = setUp({ type: 'BASIC', link: { user_verify_url: '' } })
  const form = { username: 'ada', password: 'se"cret ', decision: 'ignored' }
  await request(app)
    .post('/magic/link')
    .type('form')
    .send(form)
    .expect(302)
    .expect('Location', `${BASE}/connect/success`)
  expect(account()).toMatchObject({
    status: 'ACTIVE',
    credentials: { static_auth: { details: { username: 'ada', password: 'se"cret ' } } },
  })
  expect(accepted).toEqual([account().credentials])
})

it('POST /magic/{id} shows the form again with the problems, and stores no credentials', async () => {
  const { app, account } = setUp({ type: 'BASIC' })
  const response = await request(app).post('/magic/link').type('form').send({ username: 'a"b' }).expect(400)
  expect(response.text).toContain('Password is missing.')
  expect(response.text).toContain('value="a&quot;b"')
  expect(account().status).toBe('PENDING_AUTH')
})

it.each([
  ['application/json', '{"username":"a","password":"b"}'],
  ['text/plain', 'username=a&password=b'],
])('POST /magic/{id} refuses %s as a form', async (type, body) => {
  const { app } = setUp({ type: 'BASIC' })
  await request(app).post('/magic/link').set('Content-Type', type).send(body).expect(400)
})

it('POST /magic/{id} answers 413 to a form that is too long', async () => {
  const { app } = setUp({ type: 'BASIC' })
  const response = await request(app)
    .post('/magic/link')
    .type('form')
    .send(`username=${'a'.repeat(70_000)}`)
  expect(response.status).toBe(413)
  expect(response.headers['content-type']).toMatch(/html/)
})

it('POST /magic/{id} denies when the form is cancelled', async () => {
  const { app } = setUp({ type: 'BASIC' })
  await request(app).post('/magic/link?decision=deny').type('form').send({}).expect(302).expect('Location', DENIED)
})

it.each(NO_USER_TYPES)('POST /magic/{id} completes %s', async (type) => {
  const { app, account } = setUp({ type, link: { user_verify_url: '' } })
  await request(app).post('/magic/link').expect(302)
  expect(account().status).toBe('ACTIVE')
  const { kind } = TRAITS[type]
  expect(Object.keys(account().credentials)).toEqual(kind === null ? [] : [kind])
})

it('POST /magic/{id} asks for the database user of a provisioned cluster', async () => {
  const { app, account } = setUp({ type: 'TRUSTED_IDP', connector: { cluster: 'provisioned' } })
  const page = (await request(app).get('/magic/link').expect(200)).text
  expect(page).not.toContain('No sign-in is needed')
  expect(page).toMatch(/<input[^>]+name="db_user"/)
  const send = (db_user: string) => request(app).post('/magic/link').type('form').send({ db_user })
  expect((await send(' ').expect(400)).text).toContain('Database user is missing')
  expect(account().status).toBe('PENDING_AUTH')
  await send('reporting').expect('Location', APPROVED)
  expect(account().status).toBe('PENDING_VERIFICATION')
})

it('POST /magic/{id} completes the link of a provisioned cluster without a browser', async () => {
  const { app, account } = setUp({ type: 'TRUSTED_IDP', connector: { cluster: 'provisioned' } })
  await request(app).get('/magic/link?decision=approve').expect('Location', APPROVED)
  expect(account().status).toBe('PENDING_VERIFICATION')
})

it('POST /magic/{id} redirects a POST to a consent link to the authorize endpoint', async () => {
  const { app } = setUp()
  await request(app)
    .post('/magic/link')
    .expect(302)
    .expect('Location', /third-party\/mail\/authorize/)
})

it('POST /magic/{id} works once', async () => {
  const { app } = setUp({ type: 'BASIC' })
  const send = () => request(app).post('/magic/link').type('form').send({ username: 'a', password: 'b' })
  await send().expect(302)
  await send().expect(410)
})

describe('GET /connect/callback', () => {
  const approved = '/connect/callback?code=c1&state=oauth-state'

  it('exchanges the code and redirects to the user_verify_url', async () => {
    const { app, account } = setUp()
    const { headers } = await request(app).get(approved).expect(302)
    expect(headers.location).toMatch(APPROVED)
    expect(account().pending?.credentials.oauth_token?.access_token).toBe('at-c1')
  })

  it('redirects with the denial', async () => {
    const { app } = setUp()
    await request(app)
      .get('/connect/callback?error=access_denied&state=oauth-state')
      .expect(302)
      .expect('Location', DENIED)
  })

  it.each(['', '?state=', '?code=c1', '?code=c1&state=other', '?state=__proto__'])(
    'answers 404 to the state in %s',
    async (query) => {
      const { app } = setUp()
      await request(app).get(`/connect/callback${query}`).expect(404).expect('Content-Type', /html/)
    },
  )

  it('answers 410 when it is replayed', async () => {
    const { app, requests } = setUp()
    await request(app).get(approved).expect(302)
    await request(app).get(approved).expect(410)
    expect(requests()).toHaveLength(1)
  })

  it('completes the link once when two callbacks race', async () => {
    const { app, requests } = setUp()
    const second = '/connect/callback?code=c2&state=oauth-state'
    const answers = await Promise.all([request(app).get(approved), request(app).get(second)])
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([302, 410])
    expect(requests()).toHaveLength(1)
  })

  it('answers 410 when the link has expired on the way', async () => {
    const { app, environment } = setUp()
    environment.clock.advance(15 * 60_000)
    await request(app).get(approved).expect(410)
  })

  it('answers 410 and stores no credentials when the account is deleted while the code is exchanged', async () => {
    const made = setUp({
      answer: (code) => {
        made.environment.model.transact(() => made.environment.model.tables.accounts.remove('ca_1'))
        return tokensOf(code)
      },
    })
    await request(made.app).get(approved).expect(410)
    expect(made.requests()).toEqual([])
    expect(made.link().completed_at).toBeUndefined()
  })

  it.each([
    [400, 400],
    [401, 400],
    [500, 502],
  ])('shows a page when the token endpoint answers %i, and changes no data', async (status, expected) => {
    const { app, account, link } = setUp({ answer: () => refusal(status) })
    const before = account()
    const response = await request(app).get(approved).expect(expected)
    expect(response.text).toContain('invalid_grant: &lt;b&gt;no such code&lt;/b&gt;')
    expect(account()).toBe(before)
    expect(link().completed_at).toBeUndefined()
  })

  it.each(['state=oauth-state', 'state=oauth-state&code=', 'state=oauth-state&error=%3Cscript%3E'])(
    'answers 400 to %s',
    async (query) => {
      const { app } = setUp()
      const { text } = await request(app).get(`/connect/callback?${query}`).expect(400)
      expect(text).not.toContain('<script')
    },
  )

  it('applies due events before it changes the account', async () => {
    const { app, account, environment } = setUp({
      account: { status: 'ACTIVE', token_expires_at: '2026-01-01T00:01:00.000Z' },
    })
    environment.clock.advance(60_000)
    await request(app).get(approved).expect(302)
    // Consent does not change the status of an ACTIVE account, so this one had expired before.
    expect(account().status).toBe('PENDING_VERIFICATION')
  })

  it('does not redeem the code where verification is required and impossible', async () => {
    const spent: string[] = []
    const { app } = setUp({
      link: { user_verify_url: '' },
      settings: { require_user_verification: true },
      answer: (code) => (spent.push(code), tokensOf(code)),
    })
    await request(app).get(approved).expect(400)
    expect(spent).toEqual([])
  })

  it('answers 405 to POST', async () => {
    const { app } = setUp()
    await request(app).post('/connect/callback').expect(405).expect('Allow', 'GET')
  })
})

it('GET /connect/success shows that the account is connected', async () => {
  const { app } = setUp()
  expect((await request(app).get('/connect/success').expect(200)).text).toContain('You are connected')
})

it('GET /connect/success shows that access was not granted', async () => {
  const { app } = setUp()
  const { text } = await request(app).get('/connect/success?error=access_denied&state=x').expect(200)
  expect(text).toContain('Access was not granted')
})

it('the redirect encodes a user_verify_url that is not ASCII', async () => {
  const { app } = setUp({ link: { user_verify_url: 'http://app.example/é?q=日 x', state: null } })
  const { headers } = await request(app).get('/magic/link?decision=deny').expect(302)
  expect(headers.location).toBe('http://app.example/%C3%A9?q=%E6%97%A5%20x&error=access_denied')
})

it('the redirect is not sent when the data could not be stored', async () => {
  const { app } = setUp({
    durable: () => Promise.reject(new StorageError('the state could not be written', new Error('the disk is full'))),
  })
  const { headers, text } = await request(app).get('/magic/link?decision=approve').expect(503)
  expect(headers.location).toBeUndefined()
  expect(text).toContain('the disk is full')
})

const oauth = { scopes: [], access_token_lifetime: 3_600_000, refresh_token: 'keep' as const, domain: '' }
