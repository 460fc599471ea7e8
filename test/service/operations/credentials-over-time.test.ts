import { describe, expect } from 'vitest'
import {
  ADA,
  authOf,
  CONNECTORS,
  createAccount,
  createActive,
  decide,
  detailsOf,
  expectError,
  fieldsOf,
  linkFor,
  pendingRequest,
  verify,
  VERIFY_URL,
} from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { whileHeld } from '../../support/until.ts'

const KEY = { static_auth: { details: { api_key: 'key_1' } } }
const START = '2026-01-01T00:00:00.000Z'
const LATER = '2026-01-01T00:01:00.000Z'
const STATIC = ['API_KEY', 'BASIC_AUTH', 'BEARER_TOKEN', 'CUSTOM', 'BASIC'] as const
const TOOLS: Readonly<Record<string, object>> = {
  weather: { tool_name: 'weather_list_favourites' },
  helpdesk: { tool_name: 'helpdesk_list_tickets' },
  code_hosting: { tool_name: 'code_list_repositories' },
  payments: { tool_name: 'payments_list_charges' },
  inventory: { tool_name: 'inventory_list_items' },
  mail: { tool_name: 'mail_list_messages' },
  workspace: { tool_name: 'workspace_list_people' },
  app: { tool_name: 'app_call' },
}

async function runs({ api }: TestToolmock, id: string, connector: string): Promise<number> {
  return (await api.post('/execute_tool', { connected_account_id: id, ...TOOLS[connector] })).status
}

async function update({ api }: TestToolmock, id: string, authorization_details: object) {
  const answer = await api.put('/connected_accounts', { id, connected_account: { authorization_details } })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.connected_account
}

describe('a link that is approved again for an ACTIVE account with static credentials ("States")', () => {
  it.for(STATIC)('of type %s: the live credentials work until verify promotes the new ones', async (type, { mock }) => {
    const { connector } = CONNECTORS[type]
    const { fields } = mock.environment.connector(connector)!.credentials
    const details = { static_auth: { details: Object.fromEntries(fields.map(({ name }) => [name, `${name}_1`])) } }
    const { id } = await createActive(mock, { connector }, details)
    expect(await runs(mock, id, connector)).toBe(200)
    const before = (await authOf(mock, id)).authorization_details
    const request = await pendingRequest(mock, { id })
    expect(await runs(mock, id, connector)).toBe(200)
    expect(await authOf(mock, id)).toMatchObject({ status: 'ACTIVE', authorization_details: before })
    expectError(await verify(mock, request, 'eve@example.com'), 403, 'IDENTIFIER_MISMATCH')
    expect(await runs(mock, id, connector)).toBe(200)
    expect((await verify(mock, request)).status).toBe(200)
    expect((await authOf(mock, id)).authorization_details).not.toEqual(before)
    expect(await runs(mock, id, connector)).toBe(200)
  })

  it('the live credentials work after the auth request has expired', async ({ mock }) => {
    const { id } = await createActive(mock, { connector: 'weather' }, KEY)
    await pendingRequest(mock, { id })
    mock.time.advance('11m')
    expect(await runs(mock, id, 'weather')).toBe(200)
  })
})

describe('an update that changes nothing (G27)', () => {
  it.for(['workspace', 'warehouse', 'ledger', 'weather', 'mail', 'encyclopedia'])(
    'of an account that a link made at %s leaves updated_at and the credentials',
    async (connector, { mock }) => {
      await linkFor(mock, { connector, identifier: 'ada' })
      const before = (await mock.api.get('/connected_accounts/auth', { connector, identifier: 'ada' })).body
      mock.time.advance('1m')
      expect(await update(mock, before.connected_account.id, {})).toEqual(before.connected_account)
    },
  )

  it('the identifier is the subject from the start, also where the service refuses a token (G23)', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { connectors: [REFUSING] } })
    await linkFor(mock, { connector: 'directory', identifier: 'ada' })
    const locator = { connector: 'directory', identifier: 'ada' }
    const { connected_account: account } = (await mock.api.get('/connected_accounts/details', locator)).body
    expect(account).toMatchObject({
      status: 'PENDING_AUTH',
      authorization_details: { workspace_dwd: { subject: 'ada' } },
    })
  })
})

const APP = {
  connector: 'app',
  authorization_type: 'OAUTH',
  people: [ADA.identifier],
  tools: [{ name: 'app_call', call: { method: 'GET', path: '/call' } }],
  responders: [{ on: { path: '/call' }, respond: { body: {} } }],
}
const REFUSING = { connector: 'directory', authorization_type: 'WORKSPACE_DWD', reject: ['*'], tools: [] }
const PROVISIONED = { ...REFUSING, connector: 'database', authorization_type: 'TRUSTED_IDP', cluster: 'provisioned' }

describe('verify ("States")', () => {
  it('keeps the domain that an update set while its request waited', async ({ mock }) => {
    const { id } = await createActive(mock)
    const request = await pendingRequest(mock, { id })
    await update(mock, id, { oauth_token: { domain: 'acme.example', scopes: ['mail.read'] } })
    expect((await verify(mock, request)).status).toBe(200)
    const { oauth_token } = (await authOf(mock, id)).authorization_details
    expect(oauth_token).toMatchObject({ domain: 'acme.example', scopes: ['mail.read', 'mail.send'] })
    expect(oauth_token.access_token).not.toBe('at_1')
  })

  it('makes tokens live that are still valid, also after the live one was expired while they waited', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { connectors: [{ ...APP, oauth: { refresh_token: 'none' } }] } })
    const at = { connector: 'app', identifier: ADA.identifier }
    const { id } = await createActive(mock, at, { oauth_token: { access_token: 'at_1' } })
    const request = await pendingRequest(mock, at)
    expect((await mock.http('post', `/_mock/accounts/${id}/expire_access_token`)).status).toBe(200)
    expect((await verify(mock, request)).status).toBe(200)
    expect(await runs(mock, id, 'app')).toBe(200)
  })

  it('keeps a domain that an update cleared', async ({ mock }) => {
    const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at_1', domain: 'acme.example' } })
    const request = await pendingRequest(mock, { id })
    await update(mock, id, { oauth_token: { domain: '' } })
    await verify(mock, request)
    expect((await detailsOf(mock, id)).authorization_details.oauth_token.domain).toBe('')
  })

  it('keeps the subject that an update set, and makes the pending token live (3.1)', async ({ mock }) => {
    const { id } = await createAccount(mock, { connector: 'workspace' })
    const request = await pendingRequest(mock, { id })
    const { access_token } = mock.environment.model.tables.accounts.get(id)!.pending!.credentials.workspace_dwd!
    const { authorization_details } = await update(mock, id, { workspace_dwd: { subject: 'boss@example.com' } })
    expect(authorization_details.workspace_dwd.access_token).not.toBe(access_token)
    expect((await verify(mock, request)).status).toBe(200)
    const live = { subject: 'boss@example.com', access_token }
    expect(await authOf(mock, id)).toMatchObject({ status: 'ACTIVE', authorization_details: { workspace_dwd: live } })
    expect(await runs(mock, id, 'workspace')).toBe(200)
  })

  it.each([
    ['directory', 'workspace_dwd', 'subject'],
    ['database', 'trusted_idp', 'db_user'],
  ])(
    'at %s keeps the %s.%s that an update set while a request waited, where the service got no token for it',
    (connector, details, field) => {
      const authorization_details = { [details]: { [field]: 'before' } }
      const account = {
        id: 'ca_1',
        connector,
        identifier: 'ada',
        status: 'PENDING_VERIFICATION',
        authorization_details,
      }
      return withToolmock({ seed: { connectors: [REFUSING, PROVISIONED], accounts: [account] } }, async (mock) => {
        const [request] = mock.environment.model.tables.auth_requests.ids()
        await update(mock, 'ca_1', { [details]: { [field]: 'after' } })
        expect((await verify(mock, request!, 'ada')).status).toBe(200)
        const { status, authorization_details: stored } = await detailsOf(mock, 'ca_1')
        expect([status, (stored as unknown as Record<string, object>)[details]]).toMatchObject([
          'ACTIVE',
          { [field]: 'after' },
        ])
      })
    },
  )
})

describe('a magic link in a type that needs no user ("States")', () => {
  it.for(['ledger', 'workspace', 'warehouse', 'encyclopedia'])(
    'at %s makes the account ACTIVE, as create does',
    async (connector, { mock }) => {
      const at = { connector, identifier: 'ada' }
      const made = await createAccount(mock, { connector, identifier: 'made' })
      await linkFor(mock, at)
      const { connected_account: account } = (await mock.api.get('/connected_accounts/details', at)).body
      expect(account.status).toBe('ACTIVE')
      expect(Object.keys(account)).toEqual(Object.keys(made))
      expect(account.token_expires_at).toBe(made.token_expires_at)
    },
  )

  it.for(['expire', 'disconnect'])('after %s obtains a new token', async (event, { mock }) => {
    const { id } = await createAccount(mock, { connector: 'workspace' })
    await mock.http('post', `/_mock/accounts/${id}/${event}`)
    mock.time.advance('1m')
    await linkFor(mock, { id })
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'ACTIVE', updated_at: LATER })
    expect(await runs(mock, id, 'workspace')).toBe(200)
  })

  it('asked twice at the same time makes one account', async ({ mock }) => {
    const at = { connector: 'workspace', identifier: 'ada' }
    const links = await Promise.all([linkFor(mock, at), linkFor(mock, at)])
    expect(new Set(links).size).toBe(2)
    expect((await mock.api.get('/connected_accounts')).body).toMatchObject({ total_size: 1 })
  })

  it('at a provisioned cluster stores the db_user that its page was sent', async ({ startMock }) => {
    const mock = await startMock({
      seed: {
        connectors: [{ connector: 'dw', authorization_type: 'TRUSTED_IDP', cluster: 'provisioned', tools: [] }],
      },
    })
    const at = { connector: 'dw', identifier: 'ada' }
    const { pathname } = new URL(await linkFor(mock, at))
    const answer = await mock.http('post', pathname).type('form').send({ db_user: 'reporting' })
    expect(answer.status).toBe(302)
    const { connected_account } = (await mock.api.get('/connected_accounts/details', at)).body
    expect(connected_account).toMatchObject({
      status: 'ACTIVE',
      authorization_details: { trusted_idp: { db_user: 'reporting' } },
    })
  })

  it('at a provisioned cluster, which needs a db_user, is PENDING_AUTH', async ({ startMock }) => {
    const mock = await startMock({
      seed: {
        connectors: [{ connector: 'dw', authorization_type: 'TRUSTED_IDP', cluster: 'provisioned', tools: [] }],
      },
    })
    expect((await createAccount(mock, { connector: 'dw', identifier: 'grace' })).status).toBe('PENDING_AUTH')
    const calls = (await mock.http('get', '/_mock/requests?operation=create_connected_account')).body.requests
    expect(calls[0].upstream).toEqual([])
    await linkFor(mock, { connector: 'dw', identifier: 'ada' })
    const { body } = await mock.api.get('/connected_accounts/details', { connector: 'dw', identifier: 'ada' })
    expect(body.connected_account.status).toBe('PENDING_AUTH')
  })
})

describe('credentials that count as absent (G24)', () => {
  it.for([null, '', {}, []])(
    'create with the static value %j is PENDING_AUTH, and with others ACTIVE',
    async (value, { mock }) => {
      const statusWith = async (identifier: string, api_key: unknown) => {
        const authorization_details = { static_auth: { details: { api_key } } }
        const connected_account = { authorization_details }
        return (await createAccount(mock, { connector: 'weather', identifier, connected_account })).status
      }
      expect(await statusWith('none', value)).toBe('PENDING_AUTH')
      expect(await statusWith('zero', 0)).toBe('ACTIVE')
      expect(await statusWith('false', false)).toBe('ACTIVE')
    },
  )

  it.for(['', null])('an update with the tokens %j leaves the stored ones', async (token, { mock }) => {
    const { id } = await createActive(mock)
    const before = await authOf(mock, id)
    mock.time.advance('1m')
    expect(await update(mock, id, { oauth_token: { access_token: token, refresh_token: token } })).toEqual(before)
    expect(await runs(mock, id, 'mail')).toBe(200)
  })
})

describe('an update (G27)', () => {
  it.for([null, '', {}, []])(
    'that leaves %j for the last static credential makes the account PENDING_AUTH',
    async (value, { mock }) => {
      const { id } = await createActive(mock, { connector: 'weather' }, KEY)
      mock.time.advance('1m')
      const after = await update(mock, id, { static_auth: { details: { api_key: value } } })
      expect(after).toMatchObject({ status: 'PENDING_AUTH', updated_at: LATER })
      expect(await runs(mock, id, 'weather')).toBe(400)
      expect(await update(mock, id, KEY)).toMatchObject({ status: 'ACTIVE' })
      expect(await runs(mock, id, 'weather')).toBe(200)
    },
  )

  it('that removes a key beside another leaves the account ACTIVE', async ({ mock }) => {
    const details = { static_auth: { details: { api_key: 'key_1', region: 'eu' } } }
    const { id } = await createActive(mock, { connector: 'weather' }, details)
    const after = await update(mock, id, { static_auth: { details: { region: null } } })
    expect(after).toMatchObject({ status: 'ACTIVE', authorization_details: KEY })
  })

  it('with an access token alone does not bring a revoked refresh token back', async ({ mock }) => {
    const { id } = await createActive(mock)
    await mock.http('post', `/_mock/accounts/${id}/revoke_refresh_token`)
    await update(mock, id, { oauth_token: { access_token: 'at_2' } })
    mock.time.advance('2h')
    expect(await runs(mock, id, 'mail')).toBe(400)
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'EXPIRED' })
  })

  it('with a refresh token alone does not bring a revoked access token back', async ({ mock }) => {
    const { id } = await createActive(mock)
    await mock.http('post', `/_mock/accounts/${id}/disconnect`)
    await update(mock, id, { oauth_token: { refresh_token: 'rt_2' } })
    expect(await runs(mock, id, 'mail')).toBe(200)
    const { access_token } = (await authOf(mock, id)).authorization_details.oauth_token
    expect(access_token).not.toBe('at_1')
  })

  it('with one static key does not bring another revoked one back', async ({ mock }) => {
    const details = { static_auth: { details: { api_key: 'key_1', region: 'eu' } } }
    const { id } = await createActive(mock, { connector: 'weather' }, details)
    for (const sent of [{ region: 'us' }, { api_key: 'key_1' }]) {
      await mock.http('post', `/_mock/accounts/${id}/disconnect`)
      await update(mock, id, { static_auth: { details: sent } })
      expect(await runs(mock, id, 'weather')).toBe(401)
    }
    await update(mock, id, { static_auth: { details: { region: 'eu' } } })
    expect(await runs(mock, id, 'weather')).toBe(200)
  })

  it('of scopes stays through a refresh, and a consent gives others', async ({ mock }) => {
    const { id } = await createActive(mock)
    await update(mock, id, { oauth_token: { scopes: ['two'] } })
    mock.time.advance('2h')
    expect(await runs(mock, id, 'mail')).toBe(200)
    expect((await authOf(mock, id)).authorization_details.oauth_token.scopes).toEqual(['two'])
    await decide(mock, await linkFor(mock, { id }))
    expect((await authOf(mock, id)).authorization_details.oauth_token.scopes).toEqual(['mail.read', 'mail.send'])
  })

  it.for([
    ['mail', { oauth_token: { scopes: [], domain: '' } }],
    ['weather', { static_auth: { details: {} } }],
  ])('that changes nothing of a pending account of %s leaves updated_at', async ([connector, details], { mock }) => {
    const { id } = await createAccount(mock, { connector })
    mock.time.advance('1m')
    expect(await update(mock, id, details)).toMatchObject({ status: 'PENDING_AUTH', updated_at: START })
  })

  it('leaves pending tokens renewable after the live refresh token was revoked', async ({ mock }) => {
    const { id } = await createActive(mock)
    const request = await pendingRequest(mock, { id })
    await mock.http('post', `/_mock/accounts/${id}/revoke_refresh_token`)
    expect((await verify(mock, request)).status).toBe(200)
    mock.time.advance('2h')
    expect(await runs(mock, id, 'mail')).toBe(200)
  })

  it('with an access token alone leaves a valid refresh token valid, and one with both issues both anew', async ({
    mock,
  }) => {
    const { id } = await createActive(mock)
    await update(mock, id, { oauth_token: { access_token: 'at_2' } })
    mock.time.advance('2h')
    expect(await runs(mock, id, 'mail')).toBe(200)
    await mock.http('post', `/_mock/accounts/${id}/revoke_refresh_token`)
    await update(mock, id, { oauth_token: { access_token: 'at_3', refresh_token: 'rt_1' } })
    mock.time.advance('2h')
    expect(await runs(mock, id, 'mail')).toBe(200)
  })
})

it.for(['mail', 'ledger', 'workspace', 'warehouse', 'clinic'])(
  'the times in one answer (G25): of a create at %s come from one reading',
  async (connector, { mock }) => {
    const now = mock.environment.clock.now.bind(mock.environment.clock)
    let present = Date.parse(START)
    mock.environment.clock.now = () => (present += 1)
    const details = Object.values(CONNECTORS).find((each) => each.connector === connector)?.details
    const account = await createAccount(mock, {
      connector,
      ...(details && { connected_account: { authorization_details: details } }),
    })
    mock.environment.clock.now = now
    const { access_token_lifetime } = mock.environment.connector(connector)!.oauth
    expect(Date.parse(account.token_expires_at) - Date.parse(account.updated_at)).toBe(access_token_lifetime)
    const { workspace_dwd, trusted_idp } = account.authorization_details
    const shown = workspace_dwd?.token_expires_at ?? trusted_idp?.expiry ?? account.token_expires_at
    expect(shown).toBe(account.token_expires_at)
  },
)

/** Runs `work` while each reading of the clock is a millisecond after the one before. */
async function whileTimePasses<T>({ environment: { clock } }: TestToolmock, work: () => Promise<T>): Promise<T> {
  const now = clock.now.bind(clock)
  let passed = 0
  clock.now = () => now() + passed++
  return work().finally(() => (clock.now = now))
}

describe('the times in one answer (G25), where a token is stored later', () => {
  const lifetime = ({ environment }: TestToolmock, connector: string) =>
    environment.connector(connector)!.oauth.access_token_lifetime
  const between = ({ updated_at, token_expires_at }: Record<string, string>) =>
    Date.parse(token_expires_at!) - Date.parse(updated_at!)

  it('of an update come from one reading', async ({ mock }) => {
    const { id } = await createActive(mock)
    const account = await whileTimePasses(mock, () => update(mock, id, { oauth_token: { access_token: 'at_2' } }))
    expect(between(account)).toBe(lifetime(mock, 'mail'))
  })

  it.for(['ledger', 'workspace', 'warehouse'])(
    'of a link at %s, and of a renewal, come from one reading',
    async (connector, { mock }) => {
      await whileTimePasses(mock, () => linkFor(mock, { connector, identifier: 'ada' }))
      const at = { connector, identifier: 'ada' }
      const account = (await mock.api.get('/connected_accounts/details', at)).body.connected_account
      expect(between(account)).toBe(lifetime(mock, connector))
      mock.time.advance('2h')
      const renewed = await whileTimePasses(mock, () => authOf(mock, account.id))
      expect(renewed.updated_at > account.updated_at).toBe(true)
      expect(between(renewed)).toBe(lifetime(mock, connector))
    },
  )
})

describe('a refresh token that an update sends alone (G25, G27)', () => {
  it('leaves how long the stored access token lasts', async ({ mock }) => {
    const { id, token_expires_at } = await createActive(mock)
    mock.time.advance('1m')
    const after = await update(mock, id, { oauth_token: { refresh_token: 'rt_2' } })
    expect(after).toMatchObject({ status: 'ACTIVE', updated_at: LATER, token_expires_at })
  })

  it('the same access token stored again has a new expiry, which moves updated_at', async ({ mock }) => {
    const { id } = await createActive(mock)
    mock.time.advance('1m')
    const after = await update(mock, id, { oauth_token: { access_token: 'at_1' } })
    expect(after).toMatchObject({ updated_at: LATER, token_expires_at: '2026-01-01T01:01:00.000Z' })
  })
})

describe('the user_verify_url of a link (G30)', () => {
  it.for([
    ['http://localhost:3000/zurück?straße=1', 'http://localhost:3000/zur%C3%BCck?stra%C3%9Fe=1&'],
    ['https://bücher.example/da', 'https://xn--bcher-kva.example/da?'],
    ['http://localhost:3000/%7Eada?b=%2f', 'http://localhost:3000/%7Eada?b=%2f&'],
  ])('%s is redirected to as the URL standard writes it', async ([user_verify_url, written], { mock }) => {
    const link = await linkFor(mock, { ...ADA, user_verify_url })
    const answer = await mock.follow(link, { decision: 'approve' })
    expect(answer.headers['location']).toMatch(/^[ -~]+$/)
    expect(answer.headers['location']?.startsWith(`${written}auth_request_id=`)).toBe(true)
  })
})

describe('an identifier (G66)', () => {
  const operations = [
    'post /connected_accounts',
    'post /connected_accounts/magic_link',
    'put /connected_accounts',
  ] as const
  const others = [
    'post /connected_accounts:delete',
    'post /execute_tool',
    'post /connected_accounts/user/verify',
  ] as const

  it.for([...operations, ...others])(
    'that is blank or has 1,001 characters is a 400 of %s',
    async (operation, { mock }) => {
      const [method, path] = operation.split(' ') as ['post' | 'put', string]
      for (const identifier of [' ', '\t\n', '\u00a0', 'x'.repeat(1001)]) {
        const body = { connector: 'mail', identifier, connected_account: {}, tool_name: 't', auth_request_id: 'a' }
        const answer = await mock.api[method](path, body)
        expectError(answer, 400, 'VALIDATION_FAILED')
        expect(fieldsOf(answer)).toEqual(['identifier'])
      }
    },
  )

  it.for(['x', ' x ', 'x'.repeat(1000), '\u{1f600}'.repeat(1000)])(
    'may be any other string',
    async (identifier, { mock }) => {
      const { id } = await createAccount(mock, { identifier })
      const found = await mock.api.get('/connected_accounts/details', { connector: 'mail', identifier })
      expect(found.body.connected_account).toMatchObject({ id, identifier })
      expect(await linkFor(mock, { connector: 'mail', identifier, user_verify_url: VERIFY_URL })).toMatch(/^http/)
    },
  )

  it.for([
    ['/connected_accounts', 'identifier', 200],
    ['/connected_accounts/auth', 'identifier', 404],
    ['/connected_accounts/details', 'identifier', 404],
    ['/tools', 'filter.identifier', 200],
    ['/tools/scoped', 'identifier', 200],
    ['/tools/available', 'identifier', 404],
  ])('that is blank or has 1,001 characters is a 400 of GET %s', async ([path, field, other], { mock: { api } }) => {
    const get = (identifier: string) =>
      api.get(path, { ...(other === 404 && { connector: 'mail' }), [field]: identifier })
    for (const identifier of [' ', '\u00a0', 'x'.repeat(1001)]) {
      const answer = await get(identifier)
      expectError(answer, 400, 'VALIDATION_FAILED')
      expect(fieldsOf(answer)).toEqual([field])
    }
    for (const identifier of [' x ', 'x'.repeat(1000)]) expect((await get(identifier)).status).toBe(other)
  })
})

describe('the same key in two accounts (G65)', () => {
  const seedWith = (revocation: string) => ({ seed: { settings: { revocation } } })
  const two = async (mock: TestToolmock) => {
    const [one, other] = [
      await createActive(mock, { connector: 'weather', identifier: 'one' }, KEY),
      await createActive(mock, { connector: 'weather', identifier: 'other' }, KEY),
    ]
    return [String(one.id), String(other.id)] as const
  }
  /** A call of the third party with the key, as any program makes it. */
  const direct = async (mock: TestToolmock) =>
    (await mock.http('get', '/third-party/weather/api/v1/favourites').set('X-API-Key', 'key_1')).status

  it.for([0, 1])('deleting account %i leaves it valid for the other', async (deleted, { startMock }) => {
    const mock = await startMock(seedWith('reversible'))
    const ids = await two(mock)
    expect(await direct(mock)).not.toBe(401)
    await mock.api.post('/connected_accounts:delete', { id: ids[deleted] })
    expect(await runs(mock, ids[1 - deleted]!, 'weather')).toBe(200)
    expect(await direct(mock)).not.toBe(401)
  })

  it.each(['one', 'other'])('a call for %s is one of its own at the third party', (identifier) => {
    const app = {
      ...{ connector: 'app', authorization_type: 'API_KEY', tools: APP.tools },
      credentials: { fields: [{ name: 'api_key' }] },
      responders: [{ on: { path: '/call' }, respond: { body: { who: '{{account.identifier}}' } } }],
    }
    return withToolmock({ seed: { connectors: [app] } }, async (mock) => {
      for (const each of ['one', 'other']) await createActive(mock, { connector: 'app', identifier: each }, KEY)
      const body = { connector: 'app', identifier, tool_name: 'app_call', tool_input: {} }
      expect((await mock.api.post('/execute_tool', body)).body).toMatchObject({ data: { who: identifier } })
    })
  })

  it.for([0, 1])(
    'deleting account %i leaves its refresh token valid for the other, as one that the other has used',
    async (deleted, { mock }) => {
      const ids = [await createActive(mock, { identifier: 'one' }), await createActive(mock, { identifier: 'other' })]
      await mock.api.post('/connected_accounts:delete', { id: ids[deleted].id })
      mock.time.advance('2h')
      expect(await runs(mock, ids[1 - deleted].id, 'mail')).toBe(200)
    },
  )

  it('a refresh token that one account has used up stays valid for the other', async ({ mock }) => {
    const [one, other] = [
      await createActive(mock, { identifier: 'one' }),
      await createActive(mock, { identifier: 'other' }),
    ]
    mock.time.advance('2h')
    for (const { id } of [one, other, one]) expect(await runs(mock, id, 'mail')).toBe(200)
  })

  it.for([0, 1])('with revocation: final, deleting account %i refuses it to both', async (deleted, { startMock }) => {
    const mock = await startMock(seedWith('final'))
    const ids = await two(mock)
    await mock.api.post('/connected_accounts:delete', { id: ids[deleted] })
    expect(await runs(mock, ids[1 - deleted]!, 'weather')).toBe(401)
    expect(await direct(mock)).toBe(401)
  })
})

describe('a call whose account is replaced while its third party answers', () => {
  it.for([
    ['a reset', (mock: TestToolmock) => mock.http('post', '/_mock/reset')],
    ['a snapshot', (mock: TestToolmock) => mock.http('post', '/_mock/snapshots/before/restore')],
  ])('by %s finds no account, and not a refused credential', async ([_, replace], { mock }) => {
    await mock.http('put', '/_mock/snapshots/before')
    const { id } = await createActive(mock)
    const status = await whileHeld(
      mock,
      { at: 'third_party' },
      () => runs(mock, id, 'mail'),
      async () => expect((await replace(mock)).status).toBe(200),
    )
    expect(status).toBe(404)
  })
})
