import { describe, expect } from 'vitest'
import { ADA, createAccount, createActive, expectError, fieldsOf, TOKENS } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const AUTH = '/connected_accounts/auth'
const DETAILS = '/connected_accounts/details'
type Locator = Record<string, string>

/** Every operation that locates an account, called with a locator. */
const LOCATING: readonly [string, (mock: TestToolmock, locator: Locator) => ReturnType<TestToolmock['api']['get']>][] =
  [
    ['get-auth', ({ api }, locator) => api.get(AUTH, locator)],
    ['get-details', ({ api }, locator) => api.get(DETAILS, locator)],
    ['update', ({ api }, locator) => api.put('/connected_accounts', { ...locator, connected_account: {} })],
    ['delete', ({ api }, locator) => api.post('/connected_accounts:delete', locator)],
  ]

describe.each(LOCATING)('locating an account by %s', (_, call) => {
  it('answers 200 for the id alone, and for the id with fields that agree', async ({ mock }) => {
    const scope = { organization_id: 'org_1', user_id: 'user_1' }
    const first = await createAccount(mock, scope)
    const second = await createAccount(mock, { ...scope, identifier: 'grace@example.com' })
    expect((await call(mock, { id: first.id })).status).toBe(200)
    expect((await call(mock, { id: second.id, ...scope, connector: 'mail' })).status).toBe(200)
  })

  it.for([{ organization_id: 'org_1' }, { user_id: 'user_1' }, { organization_id: 'org_1', user_id: 'user_1' }, {}])(
    'answers 200 for connector and identifier in the scope %j',
    async (scope, { mock }) => {
      await createAccount(mock, scope)
      expect((await call(mock, { ...ADA, ...scope })).status).toBe(200)
    },
  )

  it('answers 200 without scope when the only account is scoped (G21)', async ({ mock }) => {
    await createAccount(mock, { user_id: 'user_1' })
    expect((await call(mock, ADA)).status).toBe(200)
  })

  it('answers 400 without scope when several scoped accounts fit (G21)', async ({ mock }) => {
    await createAccount(mock, { organization_id: 'org_1' })
    await createAccount(mock, { user_id: 'user_1' })
    const answer = await call(mock, ADA)
    expectError(answer, 400, 'AMBIGUOUS_LOCATOR')
    expect(fieldsOf(answer)).toEqual(['organization_id', 'user_id'])
  })

  it.for([
    { organization_id: 'org_2' },
    { user_id: 'org_1' },
    { organization_id: 'org_1', user_id: 'user_1' },
    { identifier: 'ada' },
    { identifier: 'ADA@example.com' },
    { connector: 'clinic' },
    { connector: 'nobody' },
    { connector: 'constructor' },
    { id: 'ca_none' },
    { id: 'anything at all' },
    { id: '__proto__' },
  ])('answers 404 for %j, which matches no account (G19)', async (different, { mock }) => {
    await createAccount(mock, { organization_id: 'org_1' })
    expectError(await call(mock, { ...ADA, organization_id: 'org_1', ...different }), 404, 'ACCOUNT_NOT_FOUND')
  })

  it.for([
    ['organization_id', 'org_2'],
    ['user_id', 'user_1'],
    ['connector', 'clinic'],
    ['identifier', 'grace@example.com'],
  ])('answers 400 for an id with another %s (G21)', async ([field, value], { mock }) => {
    const { id } = await createAccount(mock, { organization_id: 'org_1' })
    const answer = await call(mock, { id, [field]: value })
    expectError(answer, 400, 'CONTRADICTING_LOCATOR')
    expect(fieldsOf(answer)).toEqual([field])
  })

  it.for([{}, { connector: 'mail' }, { identifier: 'ada@example.com' }, { organization_id: 'org_1' }, { id: '' }])(
    'answers 400 for the invalid locator %j (G52)',
    async (locator, { mock }) => {
      await createAccount(mock, { organization_id: 'org_1' })
      const answer = await call(mock, locator)
      expect(answer.status).toBe(400)
      expect(answer.body.code).toBe(3)
      expect(fieldsOf(answer).length).toBeGreaterThan(0)
    },
  )

  it('answers 400 without scope with --documented-only, and names the flag (G21)', async ({ startMock }) => {
    const mock = await startMock({ documentedOnly: true })
    const { id } = await createAccount(mock)
    const refused = await call(mock, ADA)
    expectError(refused, 400, 'MISSING_LOCATOR')
    expect(refused.body.message).toContain('--documented-only')
    expect((await call(mock, { id })).status).toBe(200)
  })

  it('finds the account without scope with --strict (G21)', async ({ startMock }) => {
    const mock = await startMock({ strict: true })
    await createAccount(mock)
    expect((await call(mock, ADA)).status).toBe(200)
  })
})

describe.each([AUTH, DETAILS])('GET %s', (path) => {
  it('prefers the unscoped account when there is no scope (G21)', async ({ mock }) => {
    await createAccount(mock, { organization_id: 'org_1' })
    const unscoped = await createAccount(mock)
    await createAccount(mock, { user_id: 'user_1' })
    expect((await mock.api.get(path, ADA)).body.connected_account.id).toBe(unscoped.id)
  })

  it('counts an empty parameter as not given', async ({ mock }) => {
    const { id } = await createAccount(mock)
    const answer = await mock.api.get(path, { ...ADA, id: '', organization_id: '', user_id: '' })
    expect(answer.body.connected_account.id).toBe(id)
  })

  it('answers 400 for a repeated parameter (G5)', async ({ mock }) => {
    const { id } = await createAccount(mock)
    const answer = await mock.api.get(path, { id: [id, id] })
    expectError(answer, 400, 'VALIDATION_FAILED')
    expect(fieldsOf(answer)).toEqual(['id'])
  })

  it('ignores unknown parameters, and answers 400 to them in strict mode (G6)', async () => {
    for (const strict of [false, true]) {
      await withToolmock({ strict }, async (mock) => {
        const { id } = await createAccount(mock)
        const answer = await mock.api.get(path, { id, surprise: '1' })
        expect(answer.status).toBe(strict ? 400 : 200)
        if (!strict) return
        expect(fieldsOf(answer)).toEqual(['surprise'])
        expect(answer.body.message).toContain('--strict')
      })
    }
  })

  it('writes timestamps in UTC with three fractional digits (G54)', async ({ startMock }) => {
    const mock = await startMock({ now: '2026-03-29T01:59:59.007Z' })
    const { id } = await createActive(mock)
    const { connected_account } = (await mock.api.get(path, { id })).body
    expect(connected_account.updated_at).toBe('2026-03-29T01:59:59.007Z')
    expect(connected_account.token_expires_at).toBe('2026-03-29T02:59:59.007Z')
  })

  it('leaves last_used_at absent until a tool has run, and then shows when (G26)', async ({ mock }) => {
    const { id } = await createActive(mock)
    expect((await mock.api.get(path, { id })).body.connected_account).not.toHaveProperty('last_used_at')
    mock.time.advance('5m')
    const ran = await mock.api.post('/execute_tool', {
      connected_account_id: id,
      tool_name: 'mail_list_messages',
      tool_input: {},
    })
    expect(ran.status, ran.text).toBe(200)
    const { connected_account } = (await mock.api.get(path, { id })).body
    expect(connected_account.last_used_at).toBe('2026-01-01T00:05:00.000Z')
    const { connected_accounts } = (await mock.api.get('/connected_accounts')).body
    expect(connected_accounts).toMatchObject([{ id, last_used_at: '2026-01-01T00:05:00.000Z' }])
  })
})

describe('POST /connected_accounts:delete', () => {
  const PATH = '/connected_accounts:delete'

  it('answers 200 without body content and removes the account', async ({ mock }) => {
    const { id } = await createActive(mock)
    const answer = await mock.api.post(PATH, { id })
    expect([answer.status, answer.text]).toEqual([200, ''])
    expectError(await mock.api.get(DETAILS, { id }), 404, 'ACCOUNT_NOT_FOUND')
    expectError(await mock.api.get(AUTH, ADA), 404, 'ACCOUNT_NOT_FOUND')
    expectError(await mock.api.post(PATH, { id }), 404, 'ACCOUNT_NOT_FOUND')
    expect((await mock.api.get('/connected_accounts')).body).toMatchObject({ connected_accounts: [], total_size: 0 })
    expect((await mock.api.get('/connected_accounts:search', { query: 'ada' })).body.total_size).toBe(0)
  })

  it('allows a new account in the same scope, which gets another id', async ({ mock }) => {
    const { id } = await createActive(mock)
    await mock.api.post(PATH, { id })
    const again = await createAccount(mock)
    expect(again.id).not.toBe(id)
    expect(again).toMatchObject({
      status: 'PENDING_AUTH',
      authorization_details: { oauth_token: { access_token: '' } },
    })
  })

  it('answers only one of concurrent deletes of an account with 200', async ({ mock: { api, ...mock } }) => {
    const { id } = await createAccount({ api, ...mock })
    const answers = await Promise.all(Array.from({ length: 4 }, () => api.post(PATH, { id })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  })

  it('makes the third party refuse every token and key of the account, pending ones too', async ({ mock }) => {
    const { id } = await createActive(mock)
    const link = await mock.api.post('/connected_accounts/magic_link', {
      id,
      user_verify_url: 'https://app.example/',
    })
    await mock.follow(link.body.link, { decision: 'approve' })
    const grants = () => mock.environment.model.grantIndex.ofAccount(id)
    expect(grants().filter(({ revoked }) => !revoked)).toHaveLength(2)
    await mock.api.post(PATH, { id })
    expect(grants().every(({ revoked, refresh_revoked }) => revoked && refresh_revoked)).toBe(true)
  })

  it('does not delete the accounts of other scopes', async ({ mock }) => {
    const kept = await createAccount(mock, { organization_id: 'org_1' })
    const { id } = await createAccount(mock, { organization_id: 'org_2' })
    await mock.api.post(PATH, { ...ADA, organization_id: 'org_2' })
    expect((await mock.api.get(DETAILS, { id: kept.id })).status).toBe(200)
    expectError(await mock.api.get(DETAILS, { id }), 404, 'ACCOUNT_NOT_FOUND')
  })
})

it('the answers for accounts of the seed have the state of the seed, in every status', async ({ startMock }) => {
  const { api } = await startMock({
    seed: {
      accounts: ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'].map((status) => ({
        connector: 'mail',
        identifier: status,
        status,
        authorization_details: TOKENS,
      })),
    },
  })
  for (const { identifier, status } of (await api.get('/connected_accounts')).body.connected_accounts) {
    expect(status).toBe(identifier)
    expect((await api.get(AUTH, { connector: 'mail', identifier })).body.connected_account.status).toBe(status)
  }
})
