import type { RequestListener, ServerResponse } from 'node:http'
import { describe, expect } from 'vitest'
import { ada, appSeed, credentialsOf, run } from './app-seed.ts'
import { withServer } from '../../support/server.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { whileHeld } from '../../support/until.ts'

const OK = { name: 'do', answers: { body: { ok: true } } }

function tokens(refresh_token: string, access_token = 'at_1'): object {
  return { authorization_details: { oauth_token: { access_token, refresh_token, scopes: ['a'] } } }
}

function oauth(refresh_token: string, connector: object = {}, account: object = tokens('rt_1')): { seed: object } {
  const of = { authorization_type: 'OAUTH', people: ['ada'], oauth: { refresh_token }, ...connector }
  return { seed: appSeed([OK], of, account) }
}

/** How often the third party has issued or accepted tokens for Ada: once for those of the seed. */
function grants({ environment }: TestToolmock): number {
  return [...environment.model.tables.grants.values()].filter(({ connector }) => connector === 'app').length
}

/** Makes the third party refuse the access token, which the service considers valid. */
function expireAtThirdParty({ environment }: TestToolmock): void {
  const { model } = environment
  model.transact(() => {
    for (const grant of model.tables.grants.values())
      model.tables.grants.put({ ...grant, expires_at: '2025-01-01T00:00:00.000Z' })
  })
}

describe('an access token that has expired (G46)', () => {
  it('is renewed before the call, and the account stays ACTIVE', async ({ startMock }) => {
    const mock = await startMock(oauth('keep'))
    mock.time.advance('61m')
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(200)
    expect(await ada(mock)).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T02:01:00.000Z',
      updated_at: '2026-01-01T01:01:00.000Z',
    })
    expect(credentialsOf(mock).oauth_token).toMatchObject({ refresh_token: 'rt_1', scopes: ['a'] })
    expect(credentialsOf(mock).oauth_token?.access_token).not.toBe('at_1')
  })

  it('of an account that is deleted meanwhile is answered 404, by a tool call and by get-auth', async ({
    startMock,
  }) => {
    const mock = await startMock(oauth('rotate'))
    const { api, environment } = mock
    mock.time.advance('61m')
    const { id } = environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })[0]!
    const answers = await whileHeld(
      mock,
      { at: 'token_refresh' },
      () => Promise.all([run(mock, 'do'), api.get('/connected_accounts/auth', { id })]),
      async () => expect((await api.post('/connected_accounts:delete', { id })).status).toBe(200),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(grants(mock)).toBe(1)
  })

  it('is renewed any number of times where refresh tokens rotate', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate'))
    const seen = new Set<string | undefined>()
    for (let round = 0; round < 4; round++) {
      mock.time.advance('61m')
      expect((await run(mock, 'do')).status).toBe(200)
      seen.add(credentialsOf(mock).oauth_token?.refresh_token)
    }

    expect(seen.size).toBe(4)
    expect(seen).not.toContain('rt_1')
  })

  it('is not renewed a millisecond before it expires', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate'))
    mock.time.advance('59m59s999ms')
    await run(mock, 'do')
    expect(grants(mock)).toBe(1)
    mock.time.advance('1ms')
    await run(mock, 'do')
    expect(grants(mock)).toBe(2)
  })

  it('makes the account EXPIRED when the refresh is refused, and answers 400 with code 9', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate', { reject: ['rt_bad'] }, tokens('rt_bad')))
    mock.time.advance('61m')
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 9, details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
    const account = await ada(mock)
    expect(account).toMatchObject({ status: 'EXPIRED' })
    expect(account).not.toHaveProperty('last_used_at')
  })

  it('makes the account EXPIRED without a refresh token, and later calls do not change that', async ({ startMock }) => {
    const mock = await startMock(oauth('none', {}, tokens('')))
    mock.time.advance('61m')
    const answers = [await run(mock, 'do'), await run(mock, 'do')]

    expect(answers.map(({ status }) => status)).toEqual([400, 400])
    expect(await ada(mock)).toMatchObject({ status: 'EXPIRED' })
    expect(grants(mock)).toBe(1)
  })

  it('is never renewed for an EXPIRED account, with or without a refresh token', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate', {}, { ...tokens('rt_1'), status: 'EXPIRED' }))
    mock.time.advance('61m')
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(400)
    expect(credentialsOf(mock).oauth_token).toMatchObject({ access_token: 'at_1', refresh_token: 'rt_1' })
  })

  it('is renewed exactly once for concurrent calls, which all succeed', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate'))
    mock.time.advance('61m')
    const answers = await Promise.all(Array.from({ length: 12 }, () => run(mock, 'do')))

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
    expect(new Set(answers.map(({ body }) => (body as { execution_id: string }).execution_id)).size).toBe(12)
    expect(grants(mock)).toBe(2)
  })

  it.for(['ledger', 'workspace', 'warehouse', 'inventory', 'clinic'])(
    'of a bundled connector does not stop %s',
    async (connector, { startMock }) => {
      const mock = await startMock({ seed: { accounts: [{ connector, identifier: 'ada@example.com' }] } })
      const { tools } = mock.environment.connector(connector)!
      const [name, input] = CALLS[connector]!
      expect(tools.map((tool) => tool.name)).toContain(name)
      const body = { connector, identifier: 'ada@example.com', tool_name: name, tool_input: input }
      await mock.api.post('/execute_tool', body)
      mock.time.advance('30h')
      await mock.signIn()
      const answer = await mock.api.post('/execute_tool', body)

      expect(answer.status).toBe(200)
    },
  )
})

const CALLS: Readonly<Record<string, [string, object]>> = {
  ledger: ['ledger_get_balance', { ledger_account: '1200' }],
  workspace: ['workspace_list_events', { day: '2026-01-31' }],
  warehouse: ['warehouse_run_query', { sql: 'SELECT 1' }],
  inventory: ['inventory_get_item', { sku: 'A-1' }],
  clinic: ['clinic_get_patient', { patient_id: 'p1' }],
}

describe('a third party that answers 401 (G45)', () => {
  it('gets one more try with a renewed token', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate'))
    expireAtThirdParty(mock)
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(200)
    expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
    expect(grants(mock)).toBe(2)
  })

  it.for([
    ['still refuses', oauth('rotate', { responders: [{ on: {}, respond: { status: 401 } }] }), 2, '401'],
    ['refuses the refresh as well', oauth('rotate', { reject: ['at_1', 'rt_1'] }), 0, 'unauthorized'],
    ['refuses, where there is no refresh token', oauth('none', { reject: ['at_1'] }, tokens('')), 0, 'unauthorized'],
  ])('and %s: 401 TOOL_ERROR, and the account is EXPIRED', async ([_name, options, issued, code], { startMock }) => {
    const mock = await startMock(options)
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(401)
    // The caller's own bearer token is valid, so there is no challenge.
    expect(answer.headers).not.toHaveProperty('www-authenticate')
    expect(answer.body).toMatchObject({
      code: 16,
      details: [{ error_code: 'TOOL_ERROR', tool_error_info: { tool_error_code: code } }],
    })
    expect(await ada(mock)).toMatchObject({ status: 'EXPIRED', last_used_at: '2026-01-01T00:00:00.000Z' })
    expect(grants(mock)).toBe(issued)
    expect((await run(mock, 'do')).body).toMatchObject({ code: 9 })
  })

  it('to a static credential makes the account EXPIRED', async ({ startMock }) => {
    const mock = await startMock({
      seed: appSeed(
        [OK],
        { reject: ['key_bad'] },
        { authorization_details: { static_auth: { details: { api_key: 'key_bad' } } } },
      ),
    })
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(401)
    expect(await ada(mock)).toMatchObject({ status: 'EXPIRED' })
  })

  it('to calls at the same time gets one renewal between them, and all succeed', async ({ startMock }) => {
    const mock = await startMock(oauth('rotate'))
    expireAtThirdParty(mock)
    const answers = await Promise.all(Array.from({ length: 12 }, () => run(mock, 'do')))

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
    expect(grants(mock)).toBe(2)
  })

  it('to a call with an outdated token leads to a retry with the token that another call has renewed', () => {
    let pending: ServerResponse | undefined
    const listener: RequestListener = (request, response) => {
      const fresh = request.headers.authorization !== 'Bearer at_1'
      if (!fresh && !pending) pending = response
      else response.writeHead(fresh ? 200 : 401, { 'Content-Type': 'application/json' }).end('{}')
    }
    return withServer(listener, (base_url) =>
      withToolmock(oauth('rotate', { base_url }), async (mock) => {
        const overtaken = run(mock, 'do').then((answer) => answer.status)
        await expect.poll(() => pending).toBeDefined()
        const overtaking = await run(mock, 'do')
        pending?.writeHead(401).end()

        expect(overtaking.status).toBe(200)
        expect(await overtaken).toBe(200)
        expect(grants(mock)).toBe(2)
        // The used refresh token was not sent again, which would have revoked all tokens of the account.
        mock.time.advance('61m')
        expect((await run(mock, 'do')).status).toBe(200)
      }),
    )
  })
})
