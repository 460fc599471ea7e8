import { expect } from 'vitest'
import { RequestTrace } from '../../../src/model/domain/request-trace.ts'
import { EVENT_TYPES } from '../../../src/model/domain/webhook.ts'
import { accountEventsOf } from '../../../src/service/webhooks/account-events.ts'
import { testEnvironment } from '../../support/environment.ts'
import { accountRow } from '../../support/rows.ts'
import { OTHER_SECRET, SECRET } from './receiver.ts'
import { ADA, it, TOKEN, type WebhookMock, withWebhook } from './fixture.ts'
import { until } from '../../support/until.ts'
import { cpuTime } from '../../support/cpu-time.ts'

const NEW = { connector: 'mail', identifier: 'new@example.com' }
const VERIFY = 'http://127.0.0.1:3000/verify'

interface Linked {
  readonly links: readonly { readonly id: string }[]
}

/** Approves the only link. @returns where a browser would go */
async function approve({ call }: WebhookMock): Promise<URL> {
  const { links } = (await call('get', '/links')).body as Linked
  const done = await call('post', `/links/${String(links[0]?.id)}/complete`, { decision: 'approve' })
  return new URL((done.body as { redirect_url: string }).redirect_url, 'http://mock.test')
}

/** What an application gets for what is done after `before`. */
async function sent(before: (mock: WebhookMock) => Promise<unknown>, work: (mock: WebhookMock) => Promise<unknown>) {
  const types: string[] = []
  await withWebhook({}, async (mock) => {
    await before(mock)
    await work(mock)
    // An event waits from the commit on that has caused it.
    await until(async () => (await mock.waiting()) === 0)
    types.push(...mock.receiver.types)
  })
  return types
}

/** A value as Python's encoder writes it. */
function asPython(value: unknown, comma: string, colon: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => asPython(each, comma, colon)).join(comma)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}${colon}${asPython(each, comma, colon)}`,
  )
  return `{${members.join(comma)}}`
}

it('have a body that no encoder writes again as it was signed', async ({ mock: { service, receiver } }) => {
  await service('post', '/connected_accounts', { ...NEW, identifier: 'a: "b", {c}', connected_account: TOKEN })
  await receiver.answered(1)
  const body = receiver.requests[0]?.body ?? ''
  const value = JSON.parse(body) as { data: object }
  expect(value).toMatchObject({ data: { identifier: 'a: "b", {c}' } })
  expect(body).toBe(asPython(value, ',', ': '))
  const encoders = [JSON.stringify(value), JSON.stringify(value, null, 2)]
  for (const [comma, colon] of [
    [', ', ': '],
    [',', ':'],
  ] as const)
    encoders.push(asPython(value, comma, colon))
  expect(encoders).not.toContain(body)
})

it.for([
  ['the new', [SECRET, OTHER_SECRET]],
  ['the old', [OTHER_SECRET, SECRET]],
])(
  'of a webhook with two secrets are accepted by an application that knows %s one',
  async ([_, secrets], { mock: { call, service, receiver, url } }) => {
    expect((await call('put', '/webhooks/app', { url, secrets })).status).toBe(200)
    await service('post', '/connected_accounts', NEW)
    await receiver.answered(1)
    expect(receiver.answers).toEqual([200])
    expect(new Set(receiver.requests[0]?.signatures).size).toBe(2)
    expect((await call('get', '/webhooks')).text).not.toContain('whsec_')
  },
)

it('say what has become of an account, signed so that an application accepts them', async ({
  mock: { service, receiver },
}) => {
  const body = { ...NEW, connected_account: TOKEN, organization_id: 'org_1' }
  const created = await service('post', '/connected_accounts', body)
  await receiver.answered(1)
  const account = (created.body as { connected_account: Record<string, string> }).connected_account
  const { id, connection_id, provider, token_expires_at } = account
  expect(receiver.answers).toEqual([200])
  expect(receiver.events[0]).toEqual({
    spec_version: '1',
    id: expect.stringMatching(/^evt_[a-z0-9]{20}$/) as unknown,
    type: 'connected_account.created',
    object: 'ConnectedAccount',
    occurred_at: '2026-01-01T00:00:00.000000000Z',
    environment_id: 'env_default',
    organization_id: 'org_1',
    data: {
      ...{ id, connection_id, provider, token_expires_at, identifier: NEW.identifier, connection_name: 'mail' },
      ...{ status: 'ACTIVE', authorization_type: 'OAUTH' },
    },
  })
})

it('follow one another as an account is linked, verified, renewed, updated and deleted', async ({ mock }) => {
  const { service, call, receiver } = mock
  await service('post', '/connected_accounts/magic_link', { ...NEW, user_verify_url: VERIFY })
  const auth_request_id = (await approve(mock)).searchParams.get('auth_request_id')
  await service('post', '/connected_accounts/user/verify', { auth_request_id, identifier: NEW.identifier })
  await call('put', '/clock', { advance: '2h' })
  await service('get', `/connected_accounts/auth?connector=mail&identifier=${NEW.identifier}`)
  await service('put', '/connected_accounts', { ...NEW, connected_account: { api_config: { a: 1 } } })
  await service('put', '/connected_accounts', { ...NEW, connected_account: { api_config: { a: 1 } } })
  await service('post', '/connected_accounts:delete', NEW)
  await receiver.answered(9)
  expect(receiver.types).toEqual([
    ...['created', 'magic_link_generated'],
    ...['oauth_tokens_fetched', 'status_updated'],
    ...['oauth_succeeded', 'status_updated'],
    ...['token_refresh_succeeded', 'updated', 'deleted'],
  ])
  const moves = receiver.events.filter(({ type }) => type.endsWith('status_updated')).map(({ data }) => data)
  expect(moves.map(({ old_status, status }) => `${old_status} ${status}`)).toEqual([
    'PENDING_AUTH PENDING_VERIFICATION',
    'PENDING_VERIFICATION ACTIVE',
  ])
})

type Step = (mock: WebhookMock) => Promise<unknown>
const none: Step = () => Promise.resolve()
const linked = async (mock: WebhookMock): Promise<void> => {
  await mock.service('post', '/connected_accounts/magic_link', NEW)
}
const created = async ({ service }: WebhookMock): Promise<void> => {
  await service('post', '/connected_accounts', { ...NEW, connected_account: TOKEN })
}
const CREATED = ['created']
it.each<[string, Step, Step, string[]]>([
  [
    'a consent of a link without user_verify_url',
    linked,
    approve,
    ['created', 'magic_link_generated', 'oauth_tokens_fetched', 'oauth_succeeded', 'status_updated'],
  ],
  [
    'a refused renewal',
    created,
    async ({ call, service }) => {
      await call('post', `/accounts/${NEW.identifier}/revoke_refresh_token`)
      await call('post', `/accounts/${NEW.identifier}/expire_access_token`)
      await service('get', `/connected_accounts/auth?connector=mail&identifier=${NEW.identifier}`)
    },
    [...CREATED, 'token_refresh_failed', 'status_updated'],
  ],
  [
    'an expired token that ends by the clock',
    async ({ service }) => {
      const authorization_details = { oauth_token: { access_token: 'at_2' } }
      await service('post', '/connected_accounts', { ...NEW, connected_account: { authorization_details } })
    },
    ({ call }) => call('put', '/clock', { advance: '2h' }),
    [...CREATED, 'status_updated'],
  ],
  [
    'an expired access token of a type whose tokens the service obtains',
    ({ service }) => service('post', '/connected_accounts', { connector: 'workspace', identifier: 'w@example.com' }),
    ({ call }) => call('post', '/accounts/w@example.com/expire_access_token'),
    CREATED,
  ],
  [
    'an account that is disconnected and gets new credentials',
    created,
    async ({ call, service }) => {
      await call('post', `/accounts/${NEW.identifier}/disconnect`)
      await service('put', '/connected_accounts', { ...NEW, connected_account: TOKEN })
    },
    [...CREATED, 'status_updated', 'updated', 'status_updated'],
  ],
  ['an account that is only read', created, ({ service }) => service('get', '/connected_accounts'), CREATED],
  ['a second account of the same name, which is refused', created, created, CREATED],
  ['a seed', none, ({ call }) => call('post', '/seed', { accounts: [NEW] }), []],
  [
    'a connector of another type',
    created,
    ({ call }) => call('put', '/connectors/mail', { connector: 'mail', authorization_type: 'API_KEY' }),
    CREATED,
  ],
])('%s', async (_title, before, work, expected) => {
  expect(await sent(before, work)).toEqual(expected)
})

it('of a transaction that changes 20,000 accounts are found in linear time', async () => {
  const accounts = Array.from({ length: 20_000 }, (_, at) => accountRow({ id: `ca_${at}` }))
  const trace = new RequestTrace()
  const changes = accounts.map((before) => ({
    table: 'accounts',
    id: before.id,
    place: undefined,
    before,
    after: trace.moved(before, 'disconnected', before.updated_at),
  }))
  const cause = { request: undefined, transitions: trace.transitions, changes: trace.changes }
  const { model } = testEnvironment()
  const time = await cpuTime(() => expect(accountEventsOf(model, changes, cause)).toHaveLength(20_000))
  expect(time).toBeLessThan(2000)
})

it('are those that a webhook names, for each webhook', async ({
  mock: { call, service, receiver, url, attempted, attempts },
}) => {
  const types = ['connected_account.deleted']
  await call('put', '/webhooks/deletions', { url, secret: 'whsec_YW5vdGhlcg==', types })
  await service('post', '/connected_accounts', { ...NEW, connected_account: TOKEN })
  await service('post', '/connected_accounts:delete', NEW)
  await attempted(3)
  const sentTo = (await attempts()).map(({ webhook, status }) => `${webhook.name} ${webhook.type} ${status}`)
  expect(sentTo.sort()).toEqual([
    'app connected_account.created 200',
    'app connected_account.deleted 200',
    // It signs with a secret that the receiver does not know.
    'deletions connected_account.deleted 401',
  ])
  expect(receiver.types).toEqual(['created', 'deleted'])
})

it('say the words of the environment', async ({ mock: { call, service, receiver } }) => {
  await call('post', '/seed', {
    settings: { vocabulary: { ACTIVE: 'CONNECTED', authorization_type: 'auth_kind' } },
  })
  await service('post', '/connected_accounts', { ...NEW, connected_account: TOKEN })
  await receiver.answered(1)
  expect(receiver.events[0]?.data).toMatchObject({ status: 'CONNECTED', auth_kind: 'OAUTH' })
})

it('are sent by hand, each of the nine types, and again', async ({
  mock: { call, service, receiver, url, attempted, attempts },
}) => {
  await call('delete', '/webhooks/app')
  await service('post', '/connected_accounts', ADA)
  await call('put', '/webhooks/app', { url, secret: SECRET })
  for (const type of EVENT_TYPES) {
    const answer = await call('post', '/webhook-events', { type, account: ADA.identifier })
    expect(answer.body).toMatchObject({ type, webhooks: ['app'] })
  }
  await receiver.answered(9)
  expect(receiver.events.map(({ type }) => type)).toEqual(EVENT_TYPES)
  const [first] = receiver.events
  await attempted(9)
  const again = await call('post', `/webhook-events/${String(first?.id)}/resend`)
  await receiver.answered(10)
  expect(again.status).toBe(200)
  expect(receiver.events.at(-1)).toEqual(first)
  await attempted(10)
  expect((await attempts()).at(-1)?.webhook).toMatchObject({ event: first?.id, attempt: 1 })
})

it('keep their attempts when they are sent again before they are acknowledged, and begin anew after', async ({
  mock: { call, service, receiver, attempted, attempts, waiting },
}) => {
  receiver.answer = () => (receiver.answers.length === 0 ? 503 : 200)
  await service('post', '/connected_accounts', ADA)
  for (const attempt of [1, 2, 3]) {
    await attempted(attempt)
    await expect.poll(waiting).toBe(attempt === 1 ? 1 : 0)
    const [first] = await attempts()
    if (attempt < 3) await call('post', `/webhook-events/${first?.webhook.event ?? ''}/resend`)
  }
  expect((await attempts()).map(({ webhook }) => webhook.attempt)).toEqual([1, 2, 1])
})

it('are not sent again to a webhook that was deleted, which is said', async ({
  mock: { call, service, receiver, url, attempted },
}) => {
  await service('post', '/connected_accounts', ADA)
  await attempted(1)
  const [event] = receiver.events
  await call('delete', '/webhooks/app')
  await call('put', '/webhooks/other', { url, secret: SECRET })
  const again = await call('post', `/webhook-events/${String(event?.id)}/resend`)
  expect(again.status).toBe(404)
  expect(again.body).toMatchObject({
    error: {
      code: 'WEBHOOK_NOT_FOUND',
      message: `there is no webhook that got "${String(event?.id)}"; there is only other`,
    },
  })
})

it('are not there with --documented-only', async ({ startMock }) => {
  const { call, url } = await startMock({ documentedOnly: true })
  const put = await call('put', '/webhooks/app', { url, secret: 'whsec_YW5vdGhlcg==' })
  const sent = await call('post', '/webhook-events', { type: 'connected_account.created' })
  const again = await call('post', '/webhook-events/evt_1/resend')
  for (const { status, text } of [put, sent, again])
    expect([status, text]).toEqual([400, expect.stringContaining('--documented-only')])
})
