import { describe, expect } from 'vitest'
import { applyAccountEvent, type AccountEvent } from '../../../src/state/account-events.ts'
import {
  ADA,
  authOf,
  createAccount,
  createActive,
  decide,
  detailsOf,
  linkFor,
  pendingRequest,
  TOKENS,
  verify,
} from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

const CREATED = '2026-01-01T00:00:00.000Z'

function force(mock: TestToolmock, id: string, event: AccountEvent): void {
  const { environment } = mock
  const account = environment.model.tables.accounts.get(id)!
  applyAccountEvent(environment, account, event)
}

function update(mock: TestToolmock, id: string, connected_account: object) {
  return mock.api.put('/connected_accounts', { id, connected_account })
}

type Step = (mock: TestToolmock, id: string) => unknown

/** Whether a step a minute after create changes `updated_at`. */
async function movesUpdatedAt(mock: TestToolmock, id: string, step: Step): Promise<boolean> {
  mock.time.advance('1m')
  await step(mock, id)
  return (await detailsOf(mock, id)).updated_at !== CREATED
}

describe('updated_at (2.1, G27)', () => {
  it.for<[string, Step]>([
    [
      'new credentials',
      (mock, id) => update(mock, id, { authorization_details: { oauth_token: { access_token: 'n' } } }),
    ],
    ['other scopes', (mock, id) => update(mock, id, { authorization_details: { oauth_token: { scopes: ['n'] } } })],
    ['another value in api_config', (mock, id) => update(mock, id, { api_config: { a: 2 } })],
    ['a key removed from api_config', (mock, id) => update(mock, id, { api_config: { a: null } })],
    ['consent without verification', async (mock, id) => decide(mock, await linkFor(mock, { id }))],
    ['a verify', async (mock, id) => verify(mock, await pendingRequest(mock, { id }))],
    [
      'a refresh',
      (mock, id) => {
        mock.time.advance('2h')
        return authOf(mock, id)
      },
    ],
  ])('changes with %s', async ([_, step], { mock }) => {
    const body = { connected_account: { authorization_details: TOKENS, api_config: { a: 1 } } }
    const { id } = await createAccount(mock, body)
    expect(await movesUpdatedAt(mock, id, step)).toBe(true)
  })

  it.for<[string, Step]>([
    ['an update without any field', (mock, id) => update(mock, id, {})],
    ['an update to the same api_config', (mock, id) => update(mock, id, { api_config: { a: 1 } })],
    ['an update that removes a key that is not there', (mock, id) => update(mock, id, { api_config: { b: null } })],
    [
      'an update to the same scopes',
      (mock, id) => update(mock, id, { authorization_details: { oauth_token: { scopes: ['mail.read'] } } }),
    ],
    [
      'a tool call',
      (mock, id) => mock.api.post('/execute_tool', { connected_account_id: id, tool_name: 'mail_list_messages' }),
    ],
    ['a link', (mock, id) => linkFor(mock, { id })],
    ['consent that waits for verification', (mock, id) => pendingRequest(mock, { id })],
    ['its expiry by hand', (mock, id) => force(mock, id, 'expire')],
    ['its disconnection', (mock, id) => force(mock, id, 'disconnect')],
    [
      'the move from EXPIRED to PENDING_AUTH',
      async (mock, id) => {
        force(mock, id, 'expire')
        await linkFor(mock, { id })
      },
    ],
  ])('does not change with %s', async ([_, step], { mock }) => {
    const body = { connected_account: { authorization_details: TOKENS, api_config: { a: 1 } } }
    const { id } = await createAccount(mock, body)
    expect(await movesUpdatedAt(mock, id, step)).toBe(false)
  })

  it('does not change when a static key is stored again', async ({ mock }) => {
    const authorization_details = { static_auth: { details: { api_key: 'k' } } }
    const { id } = await createActive(mock, { connector: 'weather' }, authorization_details)
    expect(await movesUpdatedAt(mock, id, () => update(mock, id, { authorization_details }))).toBe(false)
  })

  it('does not change when a token without refresh token expires, nor when its provider is deleted', async ({
    mock,
  }) => {
    const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at_1' } })
    mock.time.advance('2h')
    expect(await detailsOf(mock, id)).toMatchObject({ status: 'EXPIRED', updated_at: CREATED })
    const provider = (await mock.api.post('/custom-providers', { display_name: 'App' })).body.provider.identifier
    const { id: other, updated_at } = await createAccount(mock, { connector: provider })
    mock.time.advance('1m')
    await mock.api.delete(`/custom-providers/${provider}`)
    expect(await detailsOf(mock, other)).toMatchObject({ status: 'DISCONNECTED', updated_at })
  })
})

it('last_used_at (2.1, G26) is set on the account of the call, and on no other', async ({ mock }) => {
  const { id } = await createActive(mock)
  const grace = await createActive(mock, { ...ADA, identifier: 'grace@example.com' })
  await mock.api.post('/execute_tool', { connected_account_id: id, tool_name: 'mail_list_messages' })
  expect(await detailsOf(mock, id)).toHaveProperty('last_used_at')
  expect(await detailsOf(mock, grace.id)).not.toHaveProperty('last_used_at')
})
