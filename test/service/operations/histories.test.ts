import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type LifecycleState, nextState } from '../../../src/model/domain/lifecycle.ts'
import type { AccountTransition } from '../../../src/model/domain/request-trace.ts'
import { VERIFY_URL } from '../../support/accounts.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'

/* The status of an account only changes by the lifecycle table, and the journal records every transition. */

const CREDENTIALS: Readonly<Record<string, object>> = {
  OAUTH: { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } },
  NO_REFRESH: { oauth_token: { access_token: 'at_2' } },
  API_KEY: { static_auth: { details: { api_key: 'k' } } },
}
const connectorFile = (authorization_type: string) => ({
  connector: 'app',
  authorization_type,
  ...(authorization_type === 'OAUTH' && { people: ['ada'] }),
  reject: ['stolen*'],
  tools: [{ name: 'app_call', call: { method: 'GET', path: '/call' } }],
  responders: [{ on: { path: '/call' }, respond: { body: {} } }],
})

/** The state of a history: the provider of the custom connector, the latest link and the latest auth request. */
interface History {
  readonly mock: TestToolmock
  readonly provider: string
  link: string
  request: string
}
type Step = (history: History) => Promise<unknown>

const control = (mock: TestToolmock, method: 'post' | 'put', path: string, body: object = {}) =>
  mock.http(method, `/_mock${path}`).type('json').send(JSON.stringify(body))

const who = fc.record({ connector: fc.constantFrom('app', 'provider'), identifier: fc.constantFrom('ada', 'grace') })
const locatorOf = ({ provider }: History, { connector, identifier }: { connector: string; identifier: string }) => ({
  connector: connector === 'app' ? 'app' : provider,
  identifier,
})
const details = fc.constantFrom(...Object.keys(CREDENTIALS), 'none').map((name) => CREDENTIALS[name])

/** A step, shown by its name in a counter-example. */
const named = (name: string, run: Step) => Object.assign(run, { toString: () => name })
const text = JSON.stringify

const created = fc.tuple(who, details).map(([account, authorization_details]) =>
  named(`create ${text([account, authorization_details])}`, (history) =>
    history.mock.api.post('/connected_accounts', {
      ...locatorOf(history, account),
      connected_account: { ...(authorization_details && { authorization_details }) },
    }),
  ),
)
const updated = fc.tuple(who, details).map(([account, authorization_details]) =>
  named(`update ${text([account, authorization_details])}`, (history) =>
    history.mock.api.put('/connected_accounts', {
      ...locatorOf(history, account),
      connected_account: { ...(authorization_details && { authorization_details }) },
    }),
  ),
)
const linked = fc.tuple(who, fc.boolean()).map(([account, verified]) =>
  named(`link ${text([account, verified])}`, async (history) => {
    const body = { ...locatorOf(history, account), ...(verified && { user_verify_url: VERIFY_URL }) }
    const answer = await history.mock.api.post('/connected_accounts/magic_link', body)
    if (answer.status === 200) history.link = String(answer.body.link)
  }),
)
const followed = fc.constantFrom('approve', 'deny').map((decision) =>
  named(`follow ${decision}`, async (history) => {
    if (history.link === '') return
    const { headers } = await history.mock.follow(history.link, { decision })
    const request = new URL(headers['location'] ?? VERIFY_URL, VERIFY_URL).searchParams.get('auth_request_id')
    if (request) history.request = request
  }),
)
const verified = fc.constantFrom('ada', 'grace').map((identifier) =>
  named(`verify ${identifier}`, async ({ mock, request }) => {
    if (request) await mock.api.post('/connected_accounts/user/verify', { auth_request_id: request, identifier })
  }),
)
const used = fc.tuple(who, fc.constantFrom('execute', 'read', 'delete')).map(([account, use]) =>
  named(`${use} ${text(account)}`, (history) => {
    const locator = locatorOf(history, account)
    if (use === 'read') return history.mock.api.get('/connected_accounts/auth', locator)
    if (use === 'delete') return history.mock.api.post('/connected_accounts:delete', locator)
    return history.mock.api.post('/execute_tool', { ...locator, tool_name: 'app_call' })
  }),
)
const EVENTS = ['expire', 'disconnect', 'revoke_refresh_token', 'expire_access_token'] as const
const forced = fc.tuple(fc.nat(3), fc.constantFrom(...EVENTS)).map(([nth, event]) =>
  named(`${event} ${nth}`, async ({ mock }) => {
    const account = [...mock.environment.model.tables.accounts.values()][nth]
    if (account) await control(mock, 'post', `/accounts/${account.id}/${event}`)
  }),
)
const retyped = fc.constantFrom('OAUTH', 'API_KEY', 'NO_AUTH', 'WORKSPACE_DWD').map((type) =>
  named(`retype ${type}`, async ({ mock, provider }) => {
    await control(mock, 'put', '/connectors/app', connectorFile(type))
    await mock.api.put(`/custom-providers/${provider}`, { auth_patterns: [{ type }] })
  }),
)
const removed = fc.constant(
  named('remove provider', ({ mock, provider }) => mock.api.delete(`/custom-providers/${provider}`)),
)
const waited = fc.constantFrom('5m', '11m', '2h').map((by) =>
  named(`advance ${by}`, async ({ mock }) => {
    mock.time.advance(by)
    await mock.api.get('/connections')
  }),
)
const aStep = fc.oneof(created, updated, linked, followed, verified, used, forced, retyped, removed, waited)

function transitionsOf({ app, environment }: TestToolmock): AccountTransition[] {
  const recorded = app.services.journals.of(environment).entries()
  return recorded.flatMap(({ trace }) => [...trace.due, ...trace.transitions])
}

/** Replays the transitions: each is one of the table, and starts in the state in which the account's last one ended. */
function statusesBy(transitions: readonly AccountTransition[]): Map<string, LifecycleState> {
  const statuses = new Map<string, LifecycleState>()
  for (const { account_id, event, from, to } of transitions) {
    expect({ event, from, to }).toEqual({ event, from: statuses.get(account_id) ?? 'none', to: nextState(from, event) })
    statuses.set(account_id, to)
  }
  return statuses
}

it('changes their status only by the table, with every transition in the journal', { timeout: 120_000 }, async () => {
  const seed = { settings: { bearer_token_lifetime: '1000d' }, connectors: [connectorFile('OAUTH')] }
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 5, maxLength: 25 }), (history) =>
      withToolmock({ seed }, async (mock) => {
        const auth_patterns = [{ type: 'OAUTH' }]
        const provider = await mock.api.post('/custom-providers', { display_name: 'Provider', auth_patterns })
        const known: History = { mock, provider: String(provider.body.provider.identifier), link: '', request: '' }
        for (const step of history) {
          await step(known)
          const statuses = statusesBy(transitionsOf(mock))
          for (const { id, status } of mock.environment.model.tables.accounts.values())
            expect([id, statuses.get(id)]).toEqual([id, status])
        }
      }),
    ),
    { numRuns: 40 },
  )
})
