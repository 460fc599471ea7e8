import { describe, expect, it } from 'vitest'
import { unfired } from '../../../src/scenarios/scenario-run.ts'
import { withScenarios } from '../bracket.ts'
import { accessTokenOf, statusOf, statusAndCode } from './steps.ts'

describe('bundled scenarios about tokens', () => {
  it('token-dies-mid-run: given an account, when it sends three times, then the third finds it EXPIRED', () =>
    withScenarios({ scenarios: ['token-dies-mid-run'] }, async (bench) => {
      const account = await bench.account()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(bench, account)).toBe('EXPIRED')
      expect(bench.scenarios.list()).toMatchObject([{ state: 'expired', rules: [{ hits: 1 }, { hits: 1 }] }])
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))

  it('token-expires-and-is-refreshed: given an account, when it sends twice, then both work with two tokens', () =>
    withScenarios({ scenarios: ['token-expires-and-is-refreshed'] }, async (bench) => {
      const account = await bench.account()
      const former = await accessTokenOf(bench, account)
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(await accessTokenOf(bench, account)).toBe(former)
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(await accessTokenOf(bench, account)).not.toBe(former)
      expect(await statusOf(bench, account)).toBe('ACTIVE')
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))

  it('token-expires-without-refresh: given an account, when it sends twice, then the second finds it EXPIRED', () =>
    withScenarios({ scenarios: ['token-expires-without-refresh'] }, async (bench) => {
      const account = await bench.account()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(bench, account)).toBe('EXPIRED')
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))

  it('bearer-token-revoked: given a client, when it sends twice, then it needs a new bearer token', () =>
    withScenarios({ scenarios: ['bearer-token-revoked'] }, async (bench) => {
      const account = await bench.account()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('401 UNAUTHENTICATED')
      await bench.signIn()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(await statusOf(bench, account)).toBe('ACTIVE')
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))

  it('third-party-401-until-refreshed: given an account, when it sends, then the call works with another token', () =>
    withScenarios({ scenarios: ['third-party-401-until-refreshed'] }, async (bench) => {
      const account = await bench.account()
      const former = await accessTokenOf(bench, account)
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(await accessTokenOf(bench, account)).not.toBe(former)
      expect(await statusOf(bench, account)).toBe('ACTIVE')
      expect(bench.scenarios.list()).toMatchObject([{ state: 'accepted', rules: [{ hits: 1 }, { hits: 1 }] }])
    }))

  it('rotated-refresh-token-replayed: given an account, when it sends three times, then everything is revoked', () =>
    withScenarios({ scenarios: ['rotated-refresh-token-replayed'] }, async (bench) => {
      const account = await bench.account()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('500 TOOL_ERROR')
      expect(await statusOf(bench, account)).toBe('ACTIVE')
      const third = await bench.send(account)
      expect(statusAndCode(third)).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(bench, account)).toBe('EXPIRED')
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))

  it('account-disconnected-mid-run: given an account, when it sends three times, then the third finds it gone', () =>
    withScenarios({ scenarios: ['account-disconnected-mid-run'] }, async (bench) => {
      const account = await bench.account()
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('200')
      expect(statusAndCode(await bench.send(account))).toBe('400 ACCOUNT_NOT_ACTIVE')
      expect(await statusOf(bench, account)).toBe('DISCONNECTED')
      expect(unfired(bench.scenarios.history())).toEqual([])
    }))
})
