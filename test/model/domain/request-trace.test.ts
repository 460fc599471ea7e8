import { expect, it } from 'vitest'
import type { Account } from '../../../src/model/domain/account.ts'
import { RequestTrace, type TracedCall } from '../../../src/model/domain/request-trace.ts'
import type { FiredRule } from '../../../src/model/domain/scenario.ts'
import { cpuTime } from '../../support/cpu-time.ts'

const AT = '2026-01-01T00:00:00.000Z'
const account = (status: Account['status']): Account => ({ id: 'ca_1', status }) as Account
const rule = (at: FiredRule['at']): FiredRule => ({
  scenario: 'outage',
  rule: 'first',
  at,
  sentence: '',
  do: [],
  off_spec: false,
  matched: 1,
  of: null,
})

it('records the transitions of accounts', () => {
  const trace = new RequestTrace()
  trace.created(account('PENDING_AUTH'), 'created_without_credentials', AT)
  expect(trace.moved(account('ACTIVE'), 'disconnected', AT).status).toBe('DISCONNECTED')
  trace.deleted(account('DISCONNECTED'), AT)
  expect(trace.account?.status).toBe('PENDING_AUTH')
  expect(trace.transitions).toEqual([
    { account_id: 'ca_1', event: 'created_without_credentials', from: 'none', to: 'PENDING_AUTH', at: AT },
    { account_id: 'ca_1', event: 'disconnected', from: 'ACTIVE', to: 'DISCONNECTED', at: AT },
    { account_id: 'ca_1', event: 'deleted', from: 'DISCONNECTED', to: 'none', at: AT },
  ])
})

it('notes 50,000 transitions of one request in linear time', async () => {
  const trace = new RequestTrace()
  const time = await cpuTime(() => {
    for (let number = 1; number <= 50_000; number++) trace.deleted(account('ACTIVE'), AT)
    expect(trace.transitions).toHaveLength(50_000)
  })
  expect(time).toBeLessThan(2000)
})

it('marks as forced only transitions of a scenario or the control API, also when these fail', () => {
  const trace = new RequestTrace()
  expect(() => {
    trace.forcing(() => {
      trace.deleted(account('ACTIVE'), AT)
      throw new Error('no disk')
    })
  }).toThrow('no disk')
  trace.deleted(account('ACTIVE'), AT)
  expect(trace.transitions.map(({ forced }) => forced)).toEqual([true, undefined])
})

it('records calls, renewals, due events and warnings in their order', () => {
  const trace = new RequestTrace()
  const calls = [{ url: '/a' }, { url: '/b' }] as TracedCall[]
  for (const call of calls) trace.called(call)
  const refreshes = [true, false].map(
    (shared) => ({ account_id: 'ca_1', outcome: 'renewed', reason: '', shared }) as const,
  )
  for (const refresh of refreshes) trace.refreshed(refresh)
  const move = { from: 'ACTIVE', to: 'EXPIRED', at: AT } as const
  trace.fellDue('ca_1', 'token_expired', move)
  trace.fellDue('ca_2', 'token_expired', move)
  trace.ignored('domain', 'has no effect')
  trace.warn({ field: 'conector', description: 'is unknown', kind: 'near_miss', did_you_mean: 'connector' })
  expect(trace).toMatchObject({
    upstream: calls,
    refreshes,
    due: [
      { account_id: 'ca_1', event: 'token_expired', ...move },
      { account_id: 'ca_2', event: 'token_expired', ...move },
    ],
    warnings: [
      { field: 'domain', description: 'has no effect', kind: 'ignored' },
      { field: 'conector', kind: 'near_miss' },
    ],
  })
})

it.each([
  ['service', null],
  ['consent', null],
  ['third_party', 1],
  ['token_refresh', 1],
] as const)('records a rule at %s with call %j, which is still under way', (at, call) => {
  const trace = new RequestTrace()
  trace.called({} as TracedCall)
  trace.fired(rule(at), false)
  expect(trace.rules).toEqual([{ ...rule(at), injected: false, call }])
})

it.each([
  ['service', true, true],
  ['service', false, false],
  ['third_party', true, false],
] as const)('with a rule at %s that answers: %s, is injected: %s', (at, answers, injected) => {
  const trace = new RequestTrace()
  trace.fired(rule('consent'), false)
  trace.fired(rule(at), answers)
  expect(trace.injected).toBe(injected)
})

it('has no transition left once its commit was rolled back', () => {
  const trace = new RequestTrace()
  trace.deleted(account('ACTIVE'), AT)
  trace.fellDue('ca_1', 'token_expired', { from: 'ACTIVE', to: 'EXPIRED', at: AT })
  trace.link = { id: 'l', event: 'made', verified: false }
  trace.called({} as TracedCall)
  trace.markRolledBack()
  expect(trace).toMatchObject({ due: [], transitions: [], link: undefined, upstream: [{}] })
})
