import { describe, expect, it } from 'vitest'
import { unfired } from '../../../src/scenarios/scenario-run.ts'
import { withScenarios } from '../scenario-mock.ts'
import { accessTokenOf, statusOf, statusAndCode } from './steps.ts'

describe('bundled scenarios about tokens', () => {
  it('token-dies-mid-run: given an account, when it sends three times, then the third finds it EXPIRED', () =>
    withScenarios({ scenarios: ['token-dies-mid-run'] }, async (mock) => {
      const account = await mock.account()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(mock, account)).toBe('EXPIRED')
      expect(mock.scenarios.list()).toMatchObject([{ state: 'expired', rules: [{ hits: 1 }, { hits: 1 }] }])
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))

  it('token-expires-and-is-refreshed: given an account, when it sends twice, then both work with two tokens', () =>
    withScenarios({ scenarios: ['token-expires-and-is-refreshed'] }, async (mock) => {
      const account = await mock.account()
      const former = await accessTokenOf(mock, account)
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(await accessTokenOf(mock, account)).toBe(former)
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(await accessTokenOf(mock, account)).not.toBe(former)
      expect(await statusOf(mock, account)).toBe('ACTIVE')
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))

  it('token-expires-without-refresh: given an account, when it sends twice, then the second finds it EXPIRED', () =>
    withScenarios({ scenarios: ['token-expires-without-refresh'] }, async (mock) => {
      const account = await mock.account()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(mock, account)).toBe('EXPIRED')
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))

  it('bearer-token-revoked: given a client, when it sends twice, then it needs a new bearer token', () =>
    withScenarios({ scenarios: ['bearer-token-revoked'] }, async (mock) => {
      const account = await mock.account()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('401 UNAUTHENTICATED')
      await mock.signIn()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(await statusOf(mock, account)).toBe('ACTIVE')
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))

  it('third-party-401-until-refreshed: given an account, when it sends, then the call works with another token', () =>
    withScenarios({ scenarios: ['third-party-401-until-refreshed'] }, async (mock) => {
      const account = await mock.account()
      const former = await accessTokenOf(mock, account)
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(await accessTokenOf(mock, account)).not.toBe(former)
      expect(await statusOf(mock, account)).toBe('ACTIVE')
      expect(mock.scenarios.list()).toMatchObject([{ state: 'accepted', rules: [{ hits: 1 }, { hits: 1 }] }])
    }))

  it('rotated-refresh-token-replayed: given an account, when it sends three times, then everything is revoked', () =>
    withScenarios({ scenarios: ['rotated-refresh-token-replayed'] }, async (mock) => {
      const account = await mock.account()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('500 TOOL_ERROR')
      expect(await statusOf(mock, account)).toBe('ACTIVE')
      const third = await mock.send(account)
      expect(statusAndCode(third)).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(mock, account)).toBe('EXPIRED')
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))

  it('account-disconnected-mid-run: given an account, when it sends three times, then the third finds it DISCONNECTED', () =>
    withScenarios({ scenarios: ['account-disconnected-mid-run'] }, async (mock) => {
      const account = await mock.account()
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('200')
      expect(statusAndCode(await mock.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(mock, account)).toBe('DISCONNECTED')
      expect(unfired(mock.scenarios.history())).toEqual([])
    }))
})
