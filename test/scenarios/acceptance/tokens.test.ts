import { describe, expect } from 'vitest'
import { rulesNotFired } from '../../../src/scenarios/scenario-run.ts'
import { it, TRANSPORTS } from '../scenario-mock.ts'
import { accessTokenOf, statusOf, statusAndCode } from './steps.ts'

/** The status that a call leaves an account in that is not `ACTIVE`: by MCP it is answered with a new magic link. */
const after = (status: string, transport: (typeof TRANSPORTS)[number]): string =>
  transport === 'MCP' ? 'PENDING_AUTH' : status

describe.each(TRANSPORTS)('bundled scenarios about tokens, by %s', (transport) => {
  it('token-dies-mid-run: given an account, when it sends three times, then the third finds it EXPIRED', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['token-dies-mid-run'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
    expect(await statusOf(mock, account)).toBe(after('EXPIRED', transport))
    expect(mock.scenarios.list()).toMatchObject([{ state: 'expired', rules: [{ hits: 1 }, { hits: 1 }] }])
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('token-expires-and-is-refreshed: given an account, when it sends twice, then both work with two tokens', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['token-expires-and-is-refreshed'] })
    const account = await mock.account()
    const former = await accessTokenOf(mock, account)
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await accessTokenOf(mock, account)).toBe(former)
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await accessTokenOf(mock, account)).not.toBe(former)
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('token-expires-without-refresh: given an account, when it sends twice, then the second finds it EXPIRED', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['token-expires-without-refresh'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
    expect(await statusOf(mock, account)).toBe(after('EXPIRED', transport))
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('bearer-token-revoked: given a client, when it sends twice, then it needs a new bearer token', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['bearer-token-revoked'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('401 UNAUTHENTICATED')
    await mock.signIn()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('third-party-401-until-refreshed: given an account, when it sends, then the call works with another token', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['third-party-401-until-refreshed'] })
    const account = await mock.account()
    const former = await accessTokenOf(mock, account)
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await accessTokenOf(mock, account)).not.toBe(former)
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(mock.scenarios.list()).toMatchObject([{ state: 'accepted', rules: [{ hits: 1 }, { hits: 1 }] }])
  })

  it('rotated-refresh-token-replayed: given an account, when it sends three times, then everything is revoked', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['rotated-refresh-token-replayed'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('500 TOOL_ERROR')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    const third = await mock.send(account)
    expect(statusAndCode(third)).toBe('400 ACCOUNT_NOT_ACTIVE')
    expect(await statusOf(mock, account)).toBe(after('EXPIRED', transport))
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('account-disconnected-mid-run: given an account, when it sends three times, then the third finds it DISCONNECTED', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['account-disconnected-mid-run'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
    expect(await statusOf(mock, account)).toBe(after('DISCONNECTED', transport))
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })
})
