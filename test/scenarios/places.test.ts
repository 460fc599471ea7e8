import { describe, expect } from 'vitest'
import { checkResponse } from '../../src/model/contract/contract.ts'
import { errorBody } from '../../src/servers/http/wire-response.ts'
import { ROUTES } from '../../src/model/contract/route.ts'
import { injectedResponse } from '../../src/scenarios/delivery.ts'
import { respond } from '../../src/scenarios/faults/respond.ts'
import { errorCode, it } from './scenario-mock.ts'

const errors = ROUTES.flatMap(({ operation, statuses }) =>
  statuses.filter((status) => status >= 400).map((status) => [operation, status] as const),
)

it.each(errors)('the default answer of respond at service: %s %i is what the spec declares', (operation, status) => {
  const params = { status, headers: {} }
  const asked = { at: 'service', operation, executionId: () => 'exec_1', accountId: () => 'ca_1' } as const
  const answer = injectedResponse([{ kind: 'respond', fault: respond, params }], asked)
  const body = answer?.error ? errorBody(answer.error, 'req_1') : answer?.body
  expect(checkResponse(operation, status, body)).toEqual([])
})

describe('rules at their places', () => {
  it('token_refresh: tokens that the service obtains itself count as refreshes', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [refuseTokens('ledger')] })
    const asked = { connector: 'ledger', identifier: 'acme' }
    const { body } = await mock.call('POST', '/connected_accounts', asked)
    expect(mock.scenarios.list()[0]?.rules[0]).toMatchObject({ matched: 1, hits: 1 })
    expect(JSON.stringify(body)).not.toContain('"ACTIVE"')
  })

  it('token_refresh: the code of a consent is no refresh', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [refuseTokens('mail')] })
    const asked = { connector: 'mail', identifier: 'ada@example.com' }
    const { body } = await mock.call('POST', '/connected_accounts/magic_link', asked)
    const redirect = await fetch(`${body?.['link'] as string}?decision=approve`, { redirect: 'manual' })
    expect(redirect.headers.get('location')).toMatch(/\/connect\/success$/)
    expect(mock.scenarios.list()[0]?.rules[0]).toMatchObject({ matched: 0 })
  })

  it.for(['null', '[]', '"text"'])(
    'token_refresh: a token request with the body %s is refused as ever',
    async (body, { startMock }) => {
      const mock = await startMock({ scenarios: [refuseTokens('ledger')] })
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${mock.url}/third-party/mail/oauth/token`, { method: 'POST', headers, body })
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }])
    },
  )

  it('third_party: rules can match the tool and the account', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [
        oneRule({
          at: 'third_party',
          on: { tool: 'mail_send_message', method: 'POST', path: '/v1/*', account: { identifier: 'ada@*' } },
          do: [{ disconnect: {} }],
        }),
      ],
    })
    const [grace, ada] = [await mock.account('grace@example.com'), await mock.account()]
    expect((await mock.send(grace)).status).toBe(200)
    // The third party refuses the call on which the rule disconnected the account.
    expect((await mock.send(ada)).status).toBe(401)
    expect(mock.scenarios.list()[0]?.rules[0]).toMatchObject({ matched: 1, hits: 1 })
  })

  it.for<[string, object, string[], string[]]>([
    ['tool, as it is', { tool: { equals: 'mail_*' } }, [], ['first@example.com', 'second@example.com']],
    [
      'tool, by a pattern',
      { tool: { matches: '^mail_(send|read)_' } },
      ['first@example.com', 'second@example.com'],
      [],
    ],
    ['account', { account: { identifier: { matches: '^f' } } }, ['first@example.com'], ['second@example.com']],
    ['body', { body: { tool_input: { to: { matches: '@example\\.com$' } } } }, ['first@example.com'], []],
    ['header', { headers: { Authorization: { matches: '^Bearer [\\w.-]+$' } } }, ['second@example.com'], []],
  ])('service: rules can match the %s by a matcher', async ([_, on, refused, passed], { startMock }) => {
    const mock = await startMock({
      scenarios: [
        oneRule({ at: 'service', on: { operation: 'execute_tool', ...on }, do: [{ respond: { status: 503 } }] }),
      ],
    })
    for (const [identifiers, status] of [
      [refused, 503],
      [passed, 200],
    ] as const)
      for (const identifier of identifiers) {
        const account = await mock.account(identifier)
        expect([identifier, (await mock.send(account)).status]).toEqual([identifier, status])
      }
  })

  it('service: the account is the one of the locator, in every form of it', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [oneRule({ on: { account: { identifier: 'ada@*' } }, do: [{ latency: 0 }] })],
    })
    const id = await mock.account()
    const matched = () => mock.scenarios.list()[0]?.rules[0]?.matched
    expect(matched()).toBe(1)
    await mock.call('GET', `/connected_accounts/details?id=${id}`)
    await mock.call('GET', '/connected_accounts/details?connector=mail&identifier=ada@example.com')
    await mock.send(id)
    expect(matched()).toBe(4)
    await mock.call('GET', '/connected_accounts/details?connector=mail&identifier=grace@example.com')
    await mock.call('GET', '/connections')
    expect(matched()).toBe(4)
  })

  it('service: a session token for the server of a connection is about the connector, in any case of letters', async ({
    startMock,
  }) => {
    const mock = await startMock({
      scenarios: [oneRule({ on: { connector: 'mail', account: { identifier: 'ada@*' } }, do: [{ latency: 0 }] })],
    })
    const matched = () => mock.scenarios.list()[0]?.rules[0]?.matched
    const sent = { identifier: 'ada@example.com' }
    for (const key of ['mail', 'MAIL']) await mock.call('POST', `/mcp/connections/${key}/tokens`, sent)
    expect(matched()).toBe(2)
    await mock.call('POST', '/mcp/connections/files/tokens', sent)
    expect(matched()).toBe(2)
  })

  it('expire_account at service makes the same call fail', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [oneRule({ on: { operation: 'execute_tool' }, when: { nth: 2 }, do: [{ expire_account: {} }] })],
    })
    const id = await mock.account()
    expect((await mock.send(id)).status).toBe(200)
    const refused = await mock.send(id)
    expect([refused.status, errorCode(refused)]).toEqual([400, 'ACCOUNT_NOT_ACTIVE'])
    const { body } = await mock.call('GET', `/connected_accounts/details?id=${id}`)
    expect(body).toMatchObject({ connected_account: { status: 'EXPIRED' } })
  })

  it('advance_clock at service also expires the bearer token of the same request', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [oneRule({ on: { operation: 'list_connections' }, do: [{ advance_clock: '2d' }] })],
    })
    expect((await mock.call('GET', '/connections')).status).toBe(401)
  })
})

function oneRule(rule: object): object {
  return { name: 's', rules: [{ name: 'r', at: 'service', ...rule }] }
}

function refuseTokens(connector: string): object {
  return oneRule({
    at: 'token_refresh',
    on: { connector },
    do: [{ respond: { status: 400, body: { error: 'invalid_client' } } }],
  })
}
