import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../../src/model/domain/account.ts'
import type { Credentials } from '../../../src/model/domain/credentials.ts'
import type { ThirdParty, TokenResponse, ToolResponse } from '../../../src/model/domain/ports.ts'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { callThirdParty, renewAccount } from '../../../src/service/operations/third-party-calls.ts'
import { testEnvironment } from '../../support/environment.ts'
import { accountOf, connectorOf } from '../third-party/fixture.ts'

const tokens = (access_token: string): Credentials => ({
  oauth_token: { access_token, refresh_token: `rt_${access_token}`, scopes: [], domain: '' },
})
const GRANTED: TokenResponse = { granted: true, credentials: tokens('renewed'), lifetime_ms: 3_600_000 }
const refusal = (status: number): TokenResponse => ({ granted: false, status, error: 'e', description: 'd' })

/** An account with a token that can be renewed, and a third party whose token endpoint answers when the test decides. */
function mock() {
  const environment = testEnvironment()
  const connector = connectorOf('OAUTH')
  const { model } = environment
  const { accounts, connectors } = model.tables
  const account = accountOf(connector, tokens('former'))
  model.transact(() => {
    connectors.put({ ...connector, id: connector.connector })
    accounts.put(account)
  })
  const asked: { answer: (answer: TokenResponse) => void; fail: () => void }[] = []
  const refresh: ThirdParty['refresh'] = (_connector, _account, conclude) =>
    new Promise((resolve, reject) => {
      asked.push({
        answer: (answer) => resolve(new Promise((done) => done(model.transact(() => conclude(answer))))),
        fail: () => reject(new Error('the commit was rolled back')),
      })
    })
  const context = (trace = new RequestTrace()) => ({
    environment,
    thirdParty: { refresh } as unknown as ThirdParty,
    trace,
  })
  /** The latest request to the token endpoint, once the promises before it are resolved. */
  const tokenRequest = async () => {
    await nextTurn()
    const latest = asked.at(-1)
    if (!latest) throw new Error('the token endpoint was not asked')
    return latest
  }
  return {
    environment,
    asked,
    tokenRequest,
    renewing: (trace?: RequestTrace, of = account) => renewAccount(context(trace), of),
    calling: (call: (account: Account) => Promise<ToolResponse>, of = account) => callThirdParty(context(), of, call),
    stored: () => accounts.get(account.id),
    rows: () => accounts.size,
    store: (change: Partial<Account>) => {
      const next = { ...account, ...change }
      model.transact(() => accounts.put(next))
      return next
    },
    remove: () => model.transact(() => accounts.remove(account.id)),
    removeConnector: () => model.transact(() => connectors.remove(connector.connector)),
  }
}

describe('while a token is renewed', () => {
  it.each([
    ['granted', GRANTED],
    ['refused', refusal(400)],
    ['not possible', refusal(503)],
  ])('the owner stores other credentials: they are kept and used, although the renewal is %s', async (_, answer) => {
    const { tokenRequest, renewing, store, stored } = mock()
    const renewal = renewing()
    const asked = await tokenRequest()
    store({ credentials: tokens('own') })
    asked.answer(answer)
    expect(await renewal).toMatchObject({ outcome: 'renewed', account: { credentials: tokens('own') } })
    expect(stored()).toMatchObject({ status: 'ACTIVE', credentials: tokens('own') })
  })

  const described = (access_token: string, domain: string): Credentials => ({
    oauth_token: { ...tokens(access_token).oauth_token!, domain },
  })

  it.each([
    ['granted', GRANTED, 'ACTIVE', 'renewed', 'renewed'],
    ['refused', refusal(400), 'EXPIRED', 'former', 'refused'],
    ['not possible', refusal(503), 'ACTIVE', 'former', 'unavailable'],
  ])('the owner sets the domain: it is kept, and the renewal counts, which is %s', async (_, answer, ...expected) => {
    const { tokenRequest, renewing, store, stored } = mock()
    const renewal = renewing()
    const asked = await tokenRequest()
    store({ credentials: described('former', 'acme.example') })
    asked.answer(answer)
    const [status, access_token, outcome] = expected
    expect(await renewal).toMatchObject({ outcome })
    expect(stored()).toMatchObject({ status, credentials: described(access_token, 'acme.example') })
  })

  it('the owner has set the domain before: the token is renewed all the same', async () => {
    const { asked, tokenRequest, renewing, store, stored } = mock()
    store({ credentials: described('former', 'acme.example') })
    const renewal = renewing()
    ;(await tokenRequest()).answer(GRANTED)
    await renewal
    expect(asked).toHaveLength(1)
    expect(stored()).toMatchObject({ credentials: described('renewed', 'acme.example') })
  })

  it('the account is deleted: it stays so, and is not found', async () => {
    const { tokenRequest, renewing, remove, stored } = mock()
    const renewal = renewing()
    const asked = await tokenRequest()
    remove()
    asked.answer(GRANTED)
    await expect(renewal).rejects.toMatchObject({ errorCode: 'ACCOUNT_NOT_FOUND' })
    expect(stored()).toBeUndefined()
  })

  it('its rows are replaced, as by a reset: the renewal changes none of them', async () => {
    const { environment, tokenRequest, renewing, stored } = mock()
    const before = stored()
    const renewal = renewing()
    const asked = await tokenRequest()
    environment.replacements++
    asked.answer(GRANTED)
    await expect(renewal).rejects.toMatchObject({ errorCode: 'ACCOUNT_NOT_FOUND' })
    expect(stored()).toEqual(before)
  })

  it('another request has renewed it before: that is recorded, and the token endpoint is not called', async () => {
    const { asked, renewing, store } = mock()
    const current = store({ credentials: tokens('of another request') })
    const trace = new RequestTrace()
    expect(await renewing(trace)).toMatchObject({ account: current, outcome: 'renewed' })
    expect(trace.refreshes).toMatchObject([{ outcome: 'renewed', reason: 'renewed in the meantime', shared: false }])
    expect(asked).toEqual([])
  })

  it('the third party names no lifetime: the new token does not expire', async () => {
    const { tokenRequest, renewing, stored } = mock()
    const renewal = renewing()
    const asked = await tokenRequest()
    asked.answer({ ...GRANTED, lifetime_ms: null })
    await renewal
    expect(stored()).toMatchObject({ credentials: tokens('renewed') })
    expect(stored()).not.toHaveProperty('token_expires_at')
  })

  it('other requests share the renewal, and record that', async () => {
    const { asked, tokenRequest, renewing } = mock()
    const traces = [new RequestTrace(), new RequestTrace(), new RequestTrace()]
    const renewals = traces.map((trace) => renewing(trace))
    const first = await tokenRequest()
    first.answer(GRANTED)
    const all = await Promise.all(renewals)
    expect(asked).toHaveLength(1)
    expect(all.map(({ account }) => account.credentials)).toEqual(Array(3).fill(tokens('renewed')))
    const noted = { account_id: 'ca_1', outcome: 'renewed', reason: 'renewed' }
    expect(traces.flatMap(({ refreshes }) => refreshes)).toEqual([
      { ...noted, shared: false },
      { ...noted, shared: true },
      { ...noted, shared: true },
    ])
  })

  it('its failure affects one request: the others try again, with one shared renewal', async () => {
    const { asked, tokenRequest, renewing } = mock()
    const [one, ...rest] = [renewing(), renewing(), renewing()]
    const first = await tokenRequest()
    first.fail()
    await expect(one).rejects.toThrow('rolled back')
    const second = await tokenRequest()
    second.answer(GRANTED)
    const others = await Promise.all(rest)
    expect(others.map(({ outcome }) => outcome)).toEqual(['renewed', 'renewed'])
    expect(asked).toHaveLength(2)
  })
})

describe('a renewal that fails', () => {
  it.each([
    [499, 'refused', 'EXPIRED'],
    [500, 'unavailable', 'ACTIVE'],
  ])('with %d is %s, and the account is %s', async (status, outcome, accountStatus) => {
    const { tokenRequest, renewing, stored } = mock()
    const renewal = renewing()
    const asked = await tokenRequest()
    asked.answer(refusal(status))
    expect(await renewal).toMatchObject({ outcome })
    expect(stored()).toMatchObject({ status: accountStatus, credentials: tokens('former') })
  })

  it('because the third party cannot be reached: the call is not made, and the error names the reason', async () => {
    const { tokenRequest, calling, store, stored } = mock()
    const expired = store({ token_expires_at: '2026-01-01T00:00:00.000Z' })
    let calls = 0
    const answer = calling(() => {
      calls++
      return Promise.resolve({ kind: 'result', data: {} })
    }, expired)
    const failure = expect(answer).rejects.toMatchObject({
      errorCode: 'TOOL_ERROR',
      message: 'tool execution failed - the expired token could not be renewed: e: d',
      context: { tool: { status: 500, execution_id: '', tool_error_code: 'unusable_answer' } },
    })
    const asked = await tokenRequest()
    asked.answer(refusal(503))
    await failure
    expect(calls).toBe(0)
    expect(stored()).toEqual({ ...expired, token_expired: true })
  })

  it.each<[string, (of: ReturnType<typeof mock>) => Account, string]>([
    [
      'there is no refresh token',
      ({ store }) =>
        store({ credentials: { oauth_token: { access_token: 'at', refresh_token: '', scopes: [], domain: '' } } }),
      'invalid_grant: there is no refresh token',
    ],
    [
      'its connector was deleted',
      ({ store, removeConnector }) => {
        removeConnector()
        return store({})
      },
      'invalid_grant: its connector no longer exists',
    ],
  ])('because %s makes the account EXPIRED, without a request to the third party', async (_why, prepare, reason) => {
    const of = mock()
    const renewal = await of.renewing(undefined, prepare(of))
    expect(renewal).toMatchObject({ outcome: 'refused', reason, account: { status: 'EXPIRED' } })
    expect(of.stored()).toMatchObject({ status: 'EXPIRED' })
    expect(of.asked).toEqual([])
  })
})

const UNAUTHORIZED: ToolResponse = { kind: 'failed', status: 401, message: '', arrived: true }

describe('during a call', () => {
  const withoutRefreshToken: Credentials = {
    oauth_token: { access_token: 'a', refresh_token: '', scopes: [], domain: '' },
  }

  const deletedDuring = (answer: ToolResponse) => {
    const { calling, store, remove, rows } = mock()
    const credentials = store({ credentials: withoutRefreshToken })
    return { rows, called: calling(() => (remove(), Promise.resolve(answer)), credentials) }
  }

  it('that is answered, the account is deleted: it stays so', async () => {
    const { called, rows } = deletedDuring({ kind: 'result', data: {} })
    expect(await called).toEqual({ kind: 'result', data: {} })
    expect(rows()).toBe(0)
  })

  it('that gets a 401 and cannot be renewed, the account is deleted: it stays so, and is not found', async () => {
    const { called, rows } = deletedDuring(UNAUTHORIZED)
    await expect(called).rejects.toMatchObject({ errorCode: 'ACCOUNT_NOT_FOUND' })
    expect(rows()).toBe(0)
  })
})

describe('during a call that gets a 401', () => {
  it('the owner stores other credentials: the account stays ACTIVE with them', async () => {
    const { tokenRequest, calling, store, stored } = mock()
    let calls = 0
    const answer = calling(() => {
      if (++calls === 2) store({ credentials: tokens('own') })
      return Promise.resolve(UNAUTHORIZED)
    })
    const asked = await tokenRequest()
    asked.answer(GRANTED)
    expect(await answer).toEqual(UNAUTHORIZED)
    expect(stored()).toMatchObject({ status: 'ACTIVE', credentials: tokens('own') })
  })

  it('the owner stores another key: the call is made again with it, and the account stays ACTIVE', async () => {
    const { asked, calling, store, stored } = mock()
    const key = (api_key: string): Credentials => ({ static_auth: { details: { api_key } } })
    const used: Credentials[] = []
    const answer = await calling(
      ({ credentials }) => {
        store({ authorization_type: 'API_KEY', credentials: key('own') })
        return Promise.resolve(used.push(credentials) === 1 ? UNAUTHORIZED : { kind: 'result', data: {} })
      },
      store({ authorization_type: 'API_KEY', credentials: key('former') }),
    )
    expect(answer).toEqual({ kind: 'result', data: {} })
    expect(used).toEqual([key('former'), key('own')])
    expect(asked).toEqual([])
    expect(stored()).toMatchObject({ status: 'ACTIVE', credentials: key('own') })
  })

  it('the account is expired manually: it is not renewed, and the call is not made again (G46)', async () => {
    const { asked, calling, store, stored } = mock()
    let calls = 0
    const answer = await calling(() => {
      calls++
      store({ status: 'EXPIRED' })
      return Promise.resolve(UNAUTHORIZED)
    })
    expect(answer).toEqual(UNAUTHORIZED)
    expect({ calls, renewals: asked.length }).toEqual({ calls: 1, renewals: 0 })
    expect(stored()).toMatchObject({ status: 'EXPIRED', credentials: tokens('former') })
  })

  it.each<[string, TokenResponse, Partial<Account>]>([
    ['the account is expired manually while its token is renewed', GRANTED, { status: 'EXPIRED' }],
    ['the renewal is refused', refusal(400), {}],
  ])('%s: the call is not made again', async (_what, answer, change) => {
    const { tokenRequest, calling, store, stored } = mock()
    let calls = 0
    const called = calling(() => (calls++, Promise.resolve(UNAUTHORIZED)))
    const asked = await tokenRequest()
    store(change)
    asked.answer(answer)
    expect(await called).toEqual(UNAUTHORIZED)
    expect(calls).toBe(1)
    expect(stored()).toMatchObject({ status: 'EXPIRED' })
  })

  it.each([{}, { domain: 'acme.example' }])(
    'the owner stores %j: a second 401 makes the account EXPIRED',
    async (more) => {
      const { tokenRequest, calling, store, stored } = mock()
      let calls = 0
      const answer = calling(() => {
        if (++calls === 2) store({ credentials: { oauth_token: { ...tokens('renewed').oauth_token!, ...more } } })
        return Promise.resolve(UNAUTHORIZED)
      })
      const asked = await tokenRequest()
      asked.answer(GRANTED)
      expect(await answer).toEqual(UNAUTHORIZED)
      expect(stored()).toMatchObject({ status: 'EXPIRED' })
    },
  )
})
