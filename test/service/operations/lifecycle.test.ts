import { describe, expect } from 'vitest'
import { type AccountEvent, applyAccountEvent } from '../../../src/state/account-events.ts'
import type { AccountTransition } from '../../../src/model/domain/request-trace.ts'
import {
  ADA,
  authOf,
  CONNECTORS,
  createAccount,
  createActive,
  decide,
  detailsOf,
  expectError,
  linkFor,
  pendingRequest,
  TOKENS,
  verify,
  VERIFY_URL,
} from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const ID = 'ca_1'
const STATUSES = ['PENDING_AUTH', 'PENDING_VERIFICATION', 'ACTIVE', 'EXPIRED', 'DISCONNECTED'] as const
const NO_REFRESH = { oauth_token: { access_token: 'at_1' } }

/** A seed with the account `ca_1` of ada@example.com at mail in a status. */
function accountIn(status: (typeof STATUSES)[number], authorization_details: object = TOKENS) {
  return { seed: { accounts: [{ ...ADA, id: ID, status, authorization_details }] } }
}

async function statusOf(mock: TestToolmock, id = ID): Promise<string> {
  return String((await detailsOf(mock, id)).status)
}

async function accessTokenOf(mock: TestToolmock, id = ID): Promise<string> {
  return String((await authOf(mock, id)).authorization_details.oauth_token.access_token)
}

/** Applies an event to the account, as the control API does. */
function force({ environment }: TestToolmock, event: AccountEvent): void {
  const account = environment.model.tables.accounts.get(ID)!
  applyAccountEvent(environment, account, event)
}

/** The transitions of the last request that caused any. */
function lastTransitions({ app, environment }: TestToolmock): readonly AccountTransition[] {
  const recorded = app.services.journals.of(environment).entries()
  return recorded.findLast(({ trace }) => trace.transitions.length > 0)?.trace.transitions ?? []
}

/** Runs a tool; its status shows whether the third party accepts the live credentials. */
async function runTool({ api }: TestToolmock, id = ID): Promise<number> {
  const body = { connected_account_id: id, tool_name: 'mail_list_messages', tool_input: {} }
  return (await api.post('/execute_tool', body)).status
}

describe('a magic link', () => {
  it.for([
    ['PENDING_AUTH', 'PENDING_AUTH'],
    ['PENDING_VERIFICATION', 'PENDING_VERIFICATION'],
    ['ACTIVE', 'ACTIVE'],
    ['EXPIRED', 'PENDING_AUTH'],
    ['DISCONNECTED', 'PENDING_AUTH'],
  ] as const)(
    'requested for an account that is %s leads to %s, with the same credentials',
    async ([from, to], { startMock }) => {
      const mock = await startMock(accountIn(from))
      const before = await authOf(mock, ID)
      mock.time.advance('1m')
      await linkFor(mock, { id: ID })
      const after = await authOf(mock, ID)
      expect(after.status).toBe(to)
      expect(after.authorization_details).toEqual(before.authorization_details)
    },
  )

  it('requested for an ACTIVE account keeps its tokens usable until verify promotes the new ones', async ({ mock }) => {
    const { id } = await createActive(mock)
    const request = await pendingRequest(mock, { id })
    expect(await runTool(mock, id)).toBe(200)
    expect(await accessTokenOf(mock, id)).toBe('at_1')
    await verify(mock, request)
    expect(await accessTokenOf(mock, id)).not.toBe('at_1')
    expect(await runTool(mock, id)).toBe(200)
  })
})

describe('consent', () => {
  it('approved over a link with user_verify_url: PENDING_AUTH becomes PENDING_VERIFICATION, without credentials yet', async ({
    mock,
  }) => {
    const { id } = await createAccount(mock)
    mock.time.advance('1m')
    await pendingRequest(mock, { id })
    const account = await authOf(mock, id)
    expect(account).toMatchObject({ status: 'PENDING_VERIFICATION', updated_at: '2026-01-01T00:00:00.000Z' })
    expect(account.authorization_details.oauth_token.access_token).toBe('')
    expect(account).not.toHaveProperty('token_expires_at')
    expect(await runTool(mock, id)).toBe(400)
  })

  it('approved over a link without user_verify_url: PENDING_AUTH becomes ACTIVE', async ({ mock }) => {
    const { id } = await createAccount(mock)
    await decide(mock, await linkFor(mock, { id }))
    expect(await statusOf(mock, id)).toBe('ACTIVE')
    expect(await runTool(mock, id)).toBe(200)
  })

  it('approved without user_verify_url where verification is required: an error page, PENDING_AUTH stays', async ({
    startMock,
  }) => {
    const mock = await startMock({ seed: { settings: { require_user_verification: true } } })
    const { id } = await createAccount(mock)
    const answer = await mock.follow(await linkFor(mock, { id }), { decision: 'approve' })
    expect([answer.status, answer.headers['content-type']]).toEqual([400, expect.stringMatching(/^text\/html/)])
    expect(answer.text).toContain('require_user_verification')
    expect(await statusOf(mock, id)).toBe('PENDING_AUTH')
    await verify(mock, await pendingRequest(mock, { id }))
    expect(await statusOf(mock, id)).toBe('ACTIVE')
  })

  it.for(STATUSES)('denied does not change an account that was %s', async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    const link = await linkFor(mock, { id: ID, user_verify_url: VERIFY_URL, state: 's' })
    const before = await authOf(mock, ID)
    const target = await decide(mock, link, { decision: 'deny' })
    expect([target.searchParams.get('error'), target.searchParams.get('state')]).toEqual(['access_denied', 's'])
    expect(await authOf(mock, ID)).toEqual(before)
  })

  it('approved again over a link with user_verify_url: ACTIVE stays, the new tokens wait', async ({ startMock }) => {
    const mock = await startMock(accountIn('ACTIVE'))
    const before = await authOf(mock, ID)
    mock.time.advance('1m')
    await pendingRequest(mock, { id: ID })
    expect(await authOf(mock, ID)).toEqual(before)
  })

  it('approved again over a link without user_verify_url: ACTIVE stays, the new tokens are live at once', async ({
    startMock,
  }) => {
    const mock = await startMock(accountIn('ACTIVE'))
    mock.time.advance('1m')
    await decide(mock, await linkFor(mock, { id: ID }))
    expect(await accessTokenOf(mock)).not.toBe('at_1')
    expect(await detailsOf(mock, ID)).toMatchObject({
      status: 'ACTIVE',
      token_expires_at: '2026-01-01T01:01:00.000Z',
    })
    expect(await runTool(mock)).toBe(200)
  })

  it.for(['weather', 'helpdesk', 'code_hosting', 'payments', 'inventory', 'tracker', 'clinic'])(
    'at %s has the same transitions: a submitted form counts as approval',
    async (connector, { mock }) => {
      const { id } = await createAccount(mock, { connector })
      const request = await pendingRequest(mock, { id })
      expect(await statusOf(mock, id)).toBe('PENDING_VERIFICATION')
      await verify(mock, request)
      expect(await statusOf(mock, id)).toBe('ACTIVE')
    },
  )
})

it('verify: with the identifier makes every status with a pending request ACTIVE, its tokens live', async () => {
  for (const status of STATUSES) {
    await withToolmock(accountIn(status, NO_REFRESH), async (mock) => {
      const request = await pendingRequest(mock, { id: ID })
      expect((await verify(mock, request)).status).toBe(200)
      expect(await statusOf(mock)).toBe('ACTIVE')
      expect(await accessTokenOf(mock)).not.toBe('at_1')
      expect(await runTool(mock)).toBe(200)
    })
  }
})

it('verify makes an account ACTIVE that expired while its request waited', async ({ startMock }) => {
  const mock = await startMock({ seed: { settings: { auth_request_lifetime: '2h' } } })
  const { id } = await createActive(mock, {}, NO_REFRESH)
  mock.time.advance('50m')
  const request = await pendingRequest(mock, { id })
  mock.time.advance('20m')
  expect(await statusOf(mock, id)).toBe('EXPIRED')
  await verify(mock, request)
  expect(await detailsOf(mock, id)).toMatchObject({
    status: 'ACTIVE',
    token_expires_at: '2026-01-01T01:50:00.000Z',
  })
})

it('verify: that is too late does not change an ACTIVE account and its tokens', async ({ mock }) => {
  const { id } = await createActive(mock)
  await pendingRequest(mock, { id })
  mock.time.advance('11m')
  expect(await statusOf(mock, id)).toBe('ACTIVE')
  expect(await accessTokenOf(mock, id)).toBe('at_1')
  expect(await runTool(mock, id)).toBe(200)
})

it.for(['PENDING_VERIFICATION', 'EXPIRED', 'DISCONNECTED'] as const)(
  'a link that is followed: by an account that is %s makes one move when it is approved, by the table',
  async (status, { startMock }) => {
    const mock = await startMock(accountIn('ACTIVE'))
    const link = await linkFor(mock, { id: ID, user_verify_url: VERIFY_URL })
    const plain = await linkFor(mock, { id: ID })
    for (const [followed, last] of [
      [link, ['consent_approved_unverified', 'PENDING_VERIFICATION']],
      [plain, ['consent_approved', 'ACTIVE']],
    ] as const) {
      const { accounts } = mock.environment.model.tables
      mock.environment.model.transact(() => accounts.put({ ...accounts.get(ID)!, status }))
      await decide(mock, followed)
      const moves = lastTransitions(mock).map(({ event, to }) => [event, to])
      expect(moves).toEqual([last])
    }
  },
)

it.for(['PENDING_VERIFICATION', 'EXPIRED', 'DISCONNECTED'] as const)(
  'a link that is followed: by an account that is %s leaves its status until it is approved: browsers prefetch',
  async (status, { startMock }) => {
    const mock = await startMock(accountIn('ACTIVE'))
    const link = await linkFor(mock, { id: ID })
    const { accounts } = mock.environment.model.tables
    mock.environment.model.transact(() => accounts.put({ ...accounts.get(ID)!, status }))
    expect((await mock.follow(link)).status).toBe(302)
    expect(await statusOf(mock)).toBe(status)
    await mock.follow(link, { decision: 'deny' })
    expect(await statusOf(mock)).toBe(status)
  },
)

it.for(['ACTIVE', 'PENDING_AUTH', 'PENDING_VERIFICATION'] as const)(
  'an event of the control API expires an account that is %s',
  async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    force(mock, 'expire')
    expect(await statusOf(mock)).toBe('EXPIRED')
  },
)

it.for(['EXPIRED', 'DISCONNECTED'] as const)(
  'an event of the control API does not expire an account that is %s',
  async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    expect(() => force(mock, 'expire')).toThrow(`is ${status} and has no such move`)
    expect(await statusOf(mock)).toBe(status)
    await Promise.resolve()
  },
)

it.for(STATUSES)(
  'an event of the control API: that disconnects an account that is %s ends its auth request and its tokens',
  async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    const request = await pendingRequest(mock, { id: ID })
    force(mock, 'disconnect')
    expectError(await verify(mock, request), 404, 'AUTH_REQUEST_NOT_FOUND')
    expect(await statusOf(mock)).toBe('DISCONNECTED')
    const { accounts, grants } = mock.environment.model.tables
    expect(accounts.get(ID)).not.toHaveProperty('pending')
    for (const grant of grants.values()) if (grant.account_id === ID) expect(grant.revoked).toBe(true)
    mock.time.advance('11m')
    expect(await statusOf(mock)).toBe('DISCONNECTED')
  },
)

it('the clock expires an ACTIVE account without refresh token at token_expires_at', async ({ mock }) => {
  const { id } = await createActive(mock, {}, NO_REFRESH)
  mock.time.advance('59m59s999ms')
  expect(await statusOf(mock, id)).toBe('ACTIVE')
  mock.time.advance('1ms')
  const listed = await mock.api.get('/connected_accounts')
  expect(listed.body.connected_accounts[0].status).toBe('EXPIRED')
  expect(await authOf(mock, id)).toMatchObject({ status: 'EXPIRED' })
  expect(await runTool(mock, id)).toBe(400)
})

it.for(['weather', 'helpdesk', 'code_hosting', 'payments', 'inventory', 'tracker', 'encyclopedia'])(
  'the clock never expires accounts at %s',
  async (connector, { mock }) => {
    const details = Object.values(CONNECTORS).find((each) => each.connector === connector)?.details
    const { id } = await createAccount(mock, {
      connector,
      ...(details && { connected_account: { authorization_details: details } }),
    })
    mock.time.advance('1000d')
    await mock.signIn()
    expect(await statusOf(mock, id)).toBe('ACTIVE')
    expect(await authOf(mock, id)).not.toHaveProperty('token_expires_at')
  },
)

it.for(STATUSES)('credentials: that an update brings make %s ACTIVE, and run', async (status, { startMock }) => {
  const mock = await startMock(accountIn(status))
  const tokens = { oauth_token: { access_token: 'at_new', refresh_token: 'rt_new' } }
  await mock.api.put('/connected_accounts', { id: ID, connected_account: { authorization_details: tokens } })
  expect(await statusOf(mock)).toBe('ACTIVE')
  expect(await runTool(mock)).toBe(200)
  mock.time.advance('2h')
  expect(await runTool(mock)).toBe(200)
})

it('credentials: renew with the refresh token of an update without an access token', async ({ mock }) => {
  const { id } = await createActive(mock, {}, NO_REFRESH)
  const tokens = { oauth_token: { refresh_token: 'rt_late' } }
  await mock.api.put('/connected_accounts', { id, connected_account: { authorization_details: tokens } })
  expect(await runTool(mock, id)).toBe(200)
  mock.time.advance('2h')
  expect(await authOf(mock, id)).toMatchObject({ status: 'ACTIVE', token_expires_at: '2026-01-01T03:00:00.000Z' })
})

describe('deleting', () => {
  it.for(STATUSES)('an account that is %s also deletes its links and auth requests', async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    const request = await pendingRequest(mock, { id: ID })
    const link = await linkFor(mock, { id: ID })
    expect((await mock.api.post('/connected_accounts:delete', { id: ID })).status).toBe(200)
    expectError(await mock.api.get('/connected_accounts/details', { id: ID }), 404, 'ACCOUNT_NOT_FOUND')
    expect((await mock.follow(link)).status).toBe(410)
    expectError(await verify(mock, request), 404, 'AUTH_REQUEST_NOT_FOUND')
  })
})

describe('events that do not change the status', () => {
  it.for(STATUSES)('verify with another identifier: %s stays', async (status, { startMock }) => {
    const mock = await startMock(accountIn(status))
    const request = await pendingRequest(mock, { id: ID })
    const before = await authOf(mock, ID)
    expectError(await verify(mock, request, 'grace@example.com'), 403, 'IDENTIFIER_MISMATCH')
    expect(await authOf(mock, ID)).toEqual(before)
  })

  it.for(['PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const)(
    'a token that runs out: %s stays',
    async (status, { startMock }) => {
      const mock = await startMock({
        seed: { settings: { auth_request_lifetime: '3h' }, ...accountIn(status, NO_REFRESH).seed },
      })
      mock.time.advance('2h')
      expect(await statusOf(mock)).toBe(status)
    },
  )
})
