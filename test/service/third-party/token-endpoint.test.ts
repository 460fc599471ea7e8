import { describe, expect } from 'vitest'
import type { Account } from '../../../src/model/domain/account.ts'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import type { ContractReport } from '../../../src/journal/verdict/report-types.ts'
import { revokeGrants } from '../../../src/state/grants.ts'
import { ACCOUNT_HEADER } from '../../../src/service/third-party/http-messages.ts'
import { applicationOf } from '../../../src/service/third-party/schemes.ts'
import { respondToTokenRequest } from '../../../src/service/third-party/tokens.ts'
import { it, type ScenarioMock, withScenarios } from '../../scenarios/scenario-mock.ts'
import { CALLBACK, connectorOf, Fixture } from './fixture.ts'

const OWN = { client_id: 'test_client', client_secret: 'test_secret' }

interface Renewed {
  readonly status: number
  readonly body: Record<string, unknown>
}

async function renew(
  { url }: ScenarioMock,
  refresh_token: string,
  more: Record<string, string> = OWN,
  headers: Record<string, string> = {},
  connector = 'mail',
): Promise<Renewed> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token, ...more })
  const answer = await fetch(`${url}/third-party/${connector}/oauth/token`, { method: 'POST', body, headers })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function store(mock: ScenarioMock, { body }: Renewed): Promise<number> {
  const { access_token, refresh_token } = body
  const details = { oauth_token: { access_token, refresh_token } }
  const sent = {
    connector: 'mail',
    identifier: 'ada@example.com',
    connected_account: { authorization_details: details },
  }
  return (await mock.call('PUT', '/connected_accounts', sent)).status
}

async function violations({ url }: ScenarioMock): Promise<string[]> {
  const { total } = (await (await fetch(`${url}/_mock/contract`)).json()) as ContractReport
  return total.findings.flatMap(({ kind, code }) => (kind === 'violation' ? [code] : []))
}

describe('POST /third-party/{connector}/oauth/token', () => {
  it('renews a token for a client, whose calls work with what it stores', async ({ mock }) => {
    const account = await mock.account()
    const renewed = await renew(mock, 'rt_ada@example.com')
    expect(renewed).toMatchObject({
      status: 200,
      body: { token_type: 'Bearer', refresh_token: expect.stringMatching(/^rt_/) as string },
    })
    expect(await store(mock, renewed)).toBe(200)
    expect((await mock.send(account)).status).toBe(200)
    expect(await violations(mock)).toEqual([])
  })

  it('takes the credentials of the client by HTTP Basic too', async ({ mock }) => {
    await mock.account()
    const Authorization = `Basic ${btoa('test_client:test_secret')}`
    expect((await renew(mock, 'rt_ada@example.com', {}, { Authorization })).status).toBe(200)
  })

  it.for([
    ['a wrong secret', { ...OWN, client_secret: 'wrong' }, 401, 'invalid_client'],
    ['an unknown client', { ...OWN, client_id: 'nobody' }, 401, 'invalid_client'],
    ['no client', {}, 401, 'invalid_client'],
    ['an unknown refresh token', { ...OWN, refresh_token: 'rt_none' }, 400, 'invalid_grant'],
    ['another grant type', { ...OWN, grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ])('refuses %s', async ([_, more, status, error], { mock }) => {
    await mock.account()
    expect(await renew(mock, 'rt_ada@example.com', more)).toMatchObject({ status, body: { error } })
    // Nothing was spent.
    expect((await renew(mock, 'rt_ada@example.com')).status).toBe(200)
  })

  it('answers other methods with 405, and an unknown connector with 404', async ({ mock: { url } }) => {
    expect((await fetch(`${url}/third-party/mail/oauth/token`)).status).toBe(405)
    expect((await fetch(`${url}/third-party/nothing/oauth/token`, { method: 'POST' })).status).toBe(404)
  })

  it('is in the request journal, without the tokens and the secret', async ({ mock }) => {
    await mock.account()
    const { body } = await renew(mock, 'rt_ada@example.com')
    const { requests } = (await (await fetch(`${mock.url}/_mock/requests?kind=third_party`)).json()) as {
      requests: { id: string }[]
    }
    const { request } = (await (await fetch(`${mock.url}/_mock/requests/${requests[0]!.id}`)).json()) as {
      request: EntryDocument
    }
    expect(request).toMatchObject({ path: '/third-party/mail/oauth/token', status: 200 })
    expect(request.account_state).toMatchObject({ identifier: 'ada@example.com' })
    const shown = JSON.stringify(request)
    for (const secret of ['rt_ada@example.com', 'test_secret', body['access_token'], body['refresh_token']])
      expect(shown).not.toContain(secret)
  })

  it('has the rules at token_refresh, which can match the account of the token', () => {
    const rule = { name: 'refused', at: 'token_refresh', on: { account: { identifier: 'ada@example.com' } } }
    const answer = { respond: { status: 400, body: { error: 'invalid_grant' } } }
    return withScenarios({ scenarios: [{ name: 'refused', rules: [{ ...rule, do: [answer] }] }] }, async (mock) => {
      await mock.account()
      await mock.account('grace@example.com')
      expect((await renew(mock, 'rt_ada@example.com')).status).toBe(400)
      expect((await renew(mock, 'rt_grace@example.com')).status).toBe(200)
    })
  })
})

describe('a connector with reuse_interval', () => {
  const oauth = { scopes: ['notes.read'], refresh_token: 'rotate', reuse_interval: '30s' }
  const connector = { connector: 'grace', authorization_type: 'OAUTH', people: ['ada'], oauth }
  const token = { authorization_details: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } } }
  const seed = { connectors: [connector], accounts: [{ connector: 'grace', identifier: 'ada', ...token }] }
  const use = async (mock: ScenarioMock, refresh_token: string) => {
    const { status, body } = await renew(mock, refresh_token, OWN, {}, 'grace')
    return status === 200 ? body : `${status} ${String(body['error_description'])}`
  }

  it('takes a former refresh token that long, and gives the same tokens', async ({ startMock }) => {
    const mock = await startMock({ seed })
    const first = (await use(mock, 'rt_1')) as Record<string, unknown>
    expect(first).toMatchObject({ expires_in: 3600, refresh_token: expect.stringMatching(/^rt_/) as string })
    mock.advance(29_999)
    const { expires_in, ...again } = (await use(mock, 'rt_1')) as Record<string, unknown>
    expect({ ...again, expires_in: 3600 }).toEqual(first)
    expect(expires_in).toBe(3570)
    const next = (await use(mock, String(first['refresh_token']))) as Record<string, unknown>
    expect(next['refresh_token']).not.toBe(first['refresh_token'])
    expect(await violations(mock)).toEqual([])
    mock.advance(1)
    expect(await use(mock, 'rt_1')).toMatch(/^400 the refresh token was used before/)
    expect(await use(mock, String(next['refresh_token']))).toMatch(/^400 the refresh token has been revoked/)
    expect(await violations(mock)).toEqual(['refresh_token_replayed'])
  })

  it('gives two requests that come at once the same tokens', async ({ startMock }) => {
    const mock = await startMock({ seed })
    const [one, other] = await Promise.all([use(mock, 'rt_1'), use(mock, 'rt_1')])
    expect(one).toMatchObject({ access_token: expect.stringMatching(/^at_/) as string })
    expect(other).toEqual(one)
  })
})

describe('what happens between the decision on a token request and its commit', () => {
  const redeeming = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK })
  const renewing = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token })

  it.each<[string, (codes: string[], token: string) => Record<string, string>[], (run: Between) => unknown, string[]]>([
    [
      'another request redeems the code: the second grant is revoked, and nothing else',
      ([code = '']) => [redeeming(code), redeeming(code)],
      () => undefined,
      ['ada valid', 'grace valid', 'ada valid', 'ada revoked'],
    ],
    [
      'another person redeems a code: both grants are valid',
      ([ofAda = '', ofGrace = '']) => [redeeming(ofAda), redeeming(ofGrace)],
      () => undefined,
      ['ada valid', 'grace valid', 'ada valid', 'grace valid'],
    ],
    [
      'another request uses the refresh token: everything of that person is revoked',
      (_codes, token) => [renewing(token), renewing(token)],
      () => undefined,
      ['ada revoked', 'grace valid', 'ada revoked', 'ada revoked'],
    ],
    [
      'the account is disconnected, and its user consents again: only that consent is valid',
      (_codes, token) => [renewing(token)],
      ({ fixture, account, codes: [code = ''] }) => {
        fixture.environment.model.transact(() => revokeGrants(fixture.environment, account))
        return fixture.redeem(account, code)
      },
      ['ada revoked', 'grace revoked', 'ada valid', 'ada revoked'],
    ],
  ])('%s', async (_title, formsOf, meanwhile, expected) => {
    const connector = connectorOf('OAUTH')
    await using fixture = await Fixture.start(connector)
    const { environment } = fixture
    const account = await fixture.consented('ada')
    await fixture.redeem(account, fixture.code('grace'))
    const codes = ['ada', 'grace'].map((person) => fixture.code(person))
    const headers = { 'content-type': 'application/x-www-form-urlencoded', [ACCOUNT_HEADER]: account.id }
    const { refresh_token = '' } = account.credentials.oauth_token ?? {}
    const replies = formsOf(codes, refresh_token).map((form) => {
      const body = new URLSearchParams({ ...applicationOf(environment, 'app'), ...form }).toString()
      return respondToTokenRequest(environment, connector, { method: 'POST', headers, body: Buffer.from(body) })
    })
    await meanwhile({ fixture, account, codes })
    environment.model.transact(() => replies.forEach(({ apply }) => apply?.()))
    const grants = [...environment.model.tables.grants.values()]
    expect(grants.map(({ person, revoked }) => `${person} ${revoked ? 'revoked' : 'valid'}`)).toEqual(expected)
  })

  it.each([
    [599_999, true],
    [600_000, false],
  ])('a code is redeemed %d ms after it was issued: %s', async (after, granted) => {
    await using fixture = await Fixture.start(connectorOf('OAUTH'))
    const account = await fixture.consented()
    const code = fixture.code()
    fixture.environment.clock.advance(after)
    expect(await fixture.redeem(account, code)).toMatchObject({ granted })
  })
})

interface Between {
  readonly fixture: Fixture
  readonly account: Account
  readonly codes: string[]
}

describe('the verdict on clients that renew tokens', () => {
  it('names a token that the client presents after the service has spent it', async ({ mock }) => {
    const account = await mock.account()
    await fetch(`${mock.url}/_mock/accounts/${account}/expire_access_token`, { method: 'POST' })
    expect((await mock.send(account)).status).toBe(200)
    expect((await renew(mock, 'rt_ada@example.com')).status).toBe(400)
    expect(await violations(mock)).toEqual(['refresh_token_replayed'])
  })

  it('says nothing of the service, which presents a spent token after an answer that was lost', async ({
    startMock,
  }) => {
    const mock = await startMock({ scenarios: ['rotated-refresh-token-replayed'] })
    const account = await mock.account()
    for (let call = 0; call < 4; call++) await mock.send(account)
    expect(await violations(mock)).toEqual([])
  })

  it('says nothing of constants that a client stores again', async ({ mock }) => {
    const account = await mock.account()
    const constants = {
      status: 200,
      body: { access_token: 'at_ada@example.com', refresh_token: 'rt_ada@example.com' },
    }
    await store(mock, { status: 200, body: { access_token: 'at_2', refresh_token: 'rt_2' } })
    expect(await store(mock, constants)).toBe(200)
    await fetch(`${mock.url}/_mock/accounts/${account}/expire_access_token`, { method: 'POST' })
    expect((await mock.send(account)).status).toBe(200)
    expect(await store(mock, constants)).toBe(200)
    expect(await violations(mock)).toEqual([])
  })

  it('names an older token over several renewals', async ({ mock }) => {
    await mock.account()
    const first = await renew(mock, 'rt_ada@example.com')
    const second = await renew(mock, String(first.body['refresh_token']))
    const third = await renew(mock, String(second.body['refresh_token']))
    await store(mock, third)
    expect(await violations(mock)).toEqual([])
    await store(mock, first)
    expect(await violations(mock)).toEqual(['credentials_overwritten_by_older'])
  })
})
