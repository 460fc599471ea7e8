import { expect, it } from 'vitest'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import { requestSteps } from '../../../src/journal/request-journal/steps.ts'
import { AT, REQUEST } from '../../support/entry-document.ts'

const call = (kind: 'api' | 'token', status: number | null): EntryDocument['upstream'][number] => ({
  environment: 'default',
  connector: 'mail',
  account_id: 'ca_1',
  kind,
  grant: kind === 'token' ? 'refresh_token' : null,
  method: 'POST',
  url: 'http://127.0.0.1:1/v1/messages',
  status,
  ms: 3,
  answer: '{}',
})

const stepTexts = (request: Partial<EntryDocument>): string[] =>
  requestSteps({ ...REQUEST, ...request }).map(({ from, to, text }) =>
    from === to ? `${from}: ${text}` : `${from} > ${to}: ${text}`,
  )

it('has the refused call, the renewal and the call again in their order', () => {
  const upstream = [call('api', 401), call('token', 200), call('api', 201)]
  const refreshes = [{ account_id: 'ca_1', outcome: 'renewed' as const, reason: '', shared: false }]
  expect(stepTexts({ upstream, refreshes })).toEqual([
    'caller > service: POST /api/v1/execute_tool',
    'service > third party: POST /v1/messages',
    'third party > service: 401',
    'service > third party: POST /v1/messages',
    'third party > service: 200',
    'service: credentials renewed',
    'service > third party: POST /v1/messages',
    'third party > service: 201',
    'service > caller: 200',
  ])
  const [, , , , , , again] = requestSteps({ ...REQUEST, upstream, refreshes })
  expect(again?.detail).toBe('mail · again')
})

it('of an attempt to send an event go to the application and back', () => {
  const type = 'connected_account.created' as const
  const webhook = { name: 'app', event: 'evt_1', type, attempt: 2, cause: 'req_1' }
  const sent = { kind: 'webhook' as const, operation: null, tool: null, path: 'http://127.0.0.1:3000/', webhook }
  expect(stepTexts(sent)).toEqual(['service > caller: POST http://127.0.0.1:3000/', 'caller > service: 200'])
  expect(stepTexts({ ...sent, status: 0 })[1]).toBe('caller > service: no answer: the connection ended')
})

it('has a refused renewal before the transition that it caused', () => {
  const refreshes = [{ account_id: 'ca_1', outcome: 'refused' as const, reason: 'invalid_grant', shared: false }]
  const move = { account_id: 'ca_1', event: 'refresh_refused', from: 'ACTIVE', to: 'EXPIRED', at: AT }
  expect(stepTexts({ upstream: [call('token', 400)], refreshes, transitions: [move], status: 409 })).toEqual([
    'caller > service: POST /api/v1/execute_tool',
    'service > third party: POST /v1/messages',
    'third party > service: 400',
    'service: credentials refused',
    'service: ACTIVE → EXPIRED',
    'service > caller: 409',
  ])
})

const rule = (
  at: EntryDocument['rules'][number]['at'],
  sentence: string,
  more: Partial<EntryDocument['rules'][number]> = {},
): EntryDocument['rules'][number] => {
  return { scenario: 's', rule: 'r', at, sentence, do: [], off_spec: false, call: null, injected: true, ...more }
}

it('has each rule at the call on which it fired', () => {
  const upstream = [call('api', 401), call('token', 200), call('api', 500)]
  const refreshes = [{ account_id: 'ca_1', outcome: 'renewed' as const, reason: '', shared: false }]
  const rules = [
    rule('token_refresh', 'waits 1 s', { call: 1 }),
    rule('third_party', 'waits 2 s', { call: 2 }),
    rule('third_party', 'answers 500', { call: 2 }),
  ]
  expect(stepTexts({ upstream, refreshes, rules, status: 200 })).toEqual([
    'caller > service: POST /api/v1/execute_tool',
    'service > third party: POST /v1/messages',
    'third party > service: 401',
    'service > third party: POST /v1/messages',
    'third party: waits 1 s',
    'third party > service: 200',
    'service: credentials renewed',
    'service > third party: POST /v1/messages',
    'third party: waits 2 s',
    'third party: answers 500',
    'third party > service: 500',
    'service > caller: 200',
  ])
})

it('has a rule on an unfinished call before the answer', () => {
  expect(stepTexts({ rules: [rule('third_party', 'never answers', { call: 0 })], status: 0 })).toEqual([
    'caller > service: POST /api/v1/execute_tool',
    'third party: never answers',
    'service > caller: no answer: the connection ended',
  ])
})

it.each([
  ['expire_account', 'expired_manually', 'EXPIRED'],
  ['disconnect', 'disconnected', 'DISCONNECTED'],
])('has the transition that %s forced after its rule, and others after the calls', (fault, event, to) => {
  const rules = [rule('third_party', 'moves it', { call: 0, do: [{ [fault]: {} }] })]
  const upstream = [call('api', 200), call('api', 401)]
  const transitions = [
    { account_id: 'ca_1', event, from: 'ACTIVE', to, at: AT, forced: true as const },
    { account_id: 'ca_1', event: 'credentials_refused', from: to, to: 'EXPIRED', at: AT },
  ]
  expect(stepTexts({ rules, upstream, transitions, status: 400 })).toEqual([
    'caller > service: POST /api/v1/execute_tool',
    'service > third party: POST /v1/messages',
    'third party: moves it',
    `service: ACTIVE → ${to}`,
    'third party > service: 200',
    'service > third party: POST /v1/messages',
    'third party > service: 401',
    to === 'EXPIRED' ? 'service: stays EXPIRED' : `service: ${to} → EXPIRED`,
    'service > caller: 400',
  ])
})

it('has events that became due by a rule after the rule, and those due before the request first', () => {
  const due = (account_id: string, at: string): EntryDocument['due'][number] => {
    return { account_id, event: 'token_expired', from: 'ACTIVE', to: 'EXPIRED', at }
  }
  const moved = (request: Partial<EntryDocument>): string[] =>
    requestSteps({ ...REQUEST, ...request }).map(({ text, detail }) => `${text} ${detail.split(' ')[0] ?? ''}`)
  const advance = rule('service', 'moves the clock', { do: [{ advance_clock: '3600000ms' }] })
  expect(
    moved({
      rules: [advance],
      due: [due('ca_before', '2026-01-31T10:59:59.000Z'), due('ca_by_rule', '2026-01-31T11:30:00.000Z')],
    }),
  ).toEqual([
    'ACTIVE → EXPIRED ca_before',
    'POST /api/v1/execute_tool execute_tool',
    'moves the clock scenario',
    'ACTIVE → EXPIRED ca_by_rule',
    '200 ',
  ])
  const expire = rule('service', 'expires the token', { do: [{ expire_access_token: {} }] })
  expect(moved({ rules: [expire], due: [due('ca_other', AT), due('ca_1', AT)] })).toEqual([
    'ACTIVE → EXPIRED ca_other',
    'POST /api/v1/execute_tool execute_tool',
    'expires the token scenario',
    'ACTIVE → EXPIRED ca_1',
    '200 ',
  ])
})

it('has transitions of the clock first, and rules of a scenario at their place', () => {
  const due = [{ account_id: 'ca_1', event: 'token_expired', from: 'ACTIVE', to: 'EXPIRED', at: AT }]
  const rules = [rule('third_party', 'answers 500', { call: 0 }), rule('service', 'waits 1 s')]
  expect(stepTexts({ due, rules, upstream: [call('api', 500)], status: 0 })).toEqual([
    'service: ACTIVE → EXPIRED',
    'caller > service: POST /api/v1/execute_tool',
    'service: waits 1 s',
    'service > third party: POST /v1/messages',
    'third party: answers 500',
    'third party > service: 500',
    'service > caller: no answer: the connection ended',
  ])
})

it('has the due events of a clock change after it', () => {
  const due = [{ account_id: 'ca_1', event: 'token_expired', from: 'ACTIVE', to: 'EXPIRED', at: AT }]
  expect(stepTexts({ kind: 'clock', path: 'the clock was advanced', due })).toEqual([
    'caller > service: the clock was advanced',
    'service: ACTIVE → EXPIRED',
  ])
})

it('of a control call has no answer', () => {
  expect(stepTexts({ kind: 'control', path: 'a seed was added' })).toEqual(['caller > service: a seed was added'])
})
