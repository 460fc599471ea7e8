import { join } from 'node:path'
import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { withDirectory } from '../../support/registry.ts'
import { withServer } from '../../support/server.ts'
import { type ControlMock, expectControlError, START, withControl } from './control-mock.ts'
import { CONTROL_OPERATIONS } from './control-spec.ts'
import { until } from '../../support/until.ts'

/*
 * A 503 means that no data was changed (1.3). These tests call every operation of the control API while the disk refuses
 * writes, and then compare everything that the API shows with the state before.
 */

type Method = 'get' | 'put' | 'post' | 'delete'

interface Call {
  readonly path?: string
  readonly body?: object
  /** The operation does not write to disk, so its answer is the same while the disk refuses. */
  readonly works?: true
}

const down = {
  name: 'down',
  description: 'Connections cannot be listed.',
  rules: [{ name: 'down', at: 'service', on: { operation: 'list_connections' }, do: [{ respond: { status: 503 } }] }],
}
const grace = { connector: 'mail', identifier: 'grace@example.com' }
const match = { operation: 'list_connections' }

/** One call of each operation that changes as much as it can. `{account}` and `{link}` stand for ids. */
const CALLS: Readonly<Record<string, Call>> = {
  get_health: { works: true },
  get_ready: { works: true },
  get_replicas: { works: true },
  get_version: { works: true },
  get_openapi: { works: true },
  get_env: { works: true },
  list_environments: { works: true },
  create_environment: { body: { name: 'new', seed: { clients: [{ client_id: 'new-*', client_secret: 's' }] } } },
  delete_environment: { path: '/environments/other' },
  get_state: { works: true },
  put_state: { body: { tables: {} } },
  checkpoint_state: {},
  shutdown: { works: true },
  get_state_diff: { path: '/state/diff?snapshot=before', works: true },
  reset: {},
  add_seed: {
    body: { accounts: [grace], clients: [{ client_id: 'late-*', client_secret: 's' }], settings: { consent: 'deny' } },
  },
  list_connectors: { works: true },
  put_connector: { path: '/connectors/notes', body: { connector: 'notes', authorization_type: 'API_KEY' } },
  put_extension: {
    path: '/extensions/own',
    body: { extension: 'own', responders: [{ name: 'a', on: { path: '/a' }, respond: {} }] },
    works: true,
  },
  list_collections: { works: true },
  list_third_parties: { works: true },
  get_collection: { path: '/collections/pad/notes' },
  put_collection: { path: '/collections/pad/notes', body: { items: [{ id: 'n_2' }] } },
  list_snapshots: { works: true },
  take_snapshot: { path: '/snapshots/after' },
  delete_snapshot: { path: '/snapshots/before' },
  restore_snapshot: { path: '/snapshots/before/restore' },
  get_clock: { works: true },
  list_due: { works: true },
  put_clock: { body: { advance: '2h' } },
  list_accounts: { works: true },
  get_account: { path: '/accounts/{account}', works: true },
  try_tool: {
    path: '/accounts/{account}/tools/mail_send_message',
    body: { input: { to: 'a@example.com', subject: 'Hi' } },
  },
  account_event: { path: '/accounts/{account}/disconnect' },
  create_connection: { body: { key_id: 'mail-eu', provider_key: 'mail' } },
  delete_connection: { path: '/connections/{connection}' },
  connection_event: { path: '/connections/mail/disable' },
  list_scenarios: { works: true },
  clear_scenarios: {},
  get_scenario: { path: '/scenarios/down', works: true },
  put_scenario: { path: '/scenarios/down', body: { ...down, description: 'Another.' } },
  start_scenario: { path: '/scenarios/token-dies-mid-run/start' },
  stop_scenario: { path: '/scenarios/down/stop' },
  validate_document: { body: down, works: true },
  list_requests: { works: true },
  clear_requests: { works: true },
  restore_requests: { path: '/requests/restore', works: true },
  count_requests: { body: { match }, works: true },
  verify_requests: { body: { match }, works: true },
  wait_for_requests: { body: { match }, works: true },
  get_request: { path: '/requests/{request}', works: true },
  explain_request: { path: '/requests/{request}/explain', works: true },
  export_scenario: { path: '/requests/{request}/scenario', works: true },
  stream_events: { works: true },
  stream_timeline: { works: true },
  list_links: { works: true },
  create_link: { path: '/links', body: grace },
  complete_link: { path: '/links/{link}/complete', body: { decision: 'approve' } },
  list_webhooks: { works: true },
  put_webhook: { path: '/webhooks/late', body: { url: 'http://127.0.0.1:9/late', secret: 'whsec_c2VjcmV0' } },
  delete_webhook: { path: '/webhooks/app' },
  send_event: { body: { type: 'connected_account.updated' } },
  resend_event: { path: '/webhook-events/{event}/resend' },
  get_contract: { works: true },
  clear_contract: { works: true },
  get_coverage: { works: true },
  // Its refusal is the result of the tool.
  call_mcp: { body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'reset' } }, works: true },
}

/** These keep a connection open, concern only the server, or change data that is never written. */
const LEFT_OUT = new Set([
  'get_health',
  'get_ready',
  'get_replicas',
  'get_version',
  'get_openapi',
  'stream_events',
  'stream_timeline',
  'clear_requests',
  'restore_requests',
  'clear_contract',
])
const called = Object.keys(CALLS).filter((operation) => !LEFT_OUT.has(operation))
const inEnvironment = new Set(
  CONTROL_OPERATIONS.filter(({ operation }) => operation.environment).map(({ operation }) => operation.operationId),
)

interface RefusingMock extends ControlMock {
  readonly disk: MemoryDisk
  readonly ids: Readonly<Record<string, string>>
  /** Advances real time, and with it the clock of the default environment. */
  readonly move: (milliseconds: number) => void
}

const pad = {
  connector: 'pad',
  authorization_type: 'NO_AUTH',
  collections: { notes: { per: 'environment', seed: [{ id: 'n_1' }] } },
}

const seed = {
  accounts: [
    { connector: 'mail', identifier: 'ada@example.com' },
    {
      connector: 'mail',
      identifier: 'due@example.com',
      token_expires_at: '2026-01-01T00:30:00.000Z',
      authorization_details: { oauth_token: { access_token: 'due', refresh_token: '' } },
    },
  ],
}

/** Runs `work` with an environment that has rows of every kind, on a disk that the test can make fail. */
async function withRefusingDisk(work: (mock: RefusingMock) => Promise<void>): Promise<void> {
  await withServer(
    (_request, response) => response.end(),
    (receiver) => withRefusingDiskAnd(receiver, work),
  )
}

async function withRefusingDiskAnd(receiver: string, work: (mock: RefusingMock) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const disk = new MemoryDisk()
    let present = Date.parse(START)
    const options = {
      state: join(directory, 'state.json'),
      fileSystem: disk,
      freeze: false,
      time: () => present,
      shutdown: () => undefined,
    }
    await withControl(options, async (mock) => {
      const { call, token, api } = mock
      await call('put', '/connectors/pad', pad)
      await call('post', '/seed', seed)
      await call('post', '/environments', { name: 'other', seed: { accounts: [grace] } })
      const made = (await call('post', '/connections', { key_id: 'mail-us', provider_key: 'mail' })).body as {
        connection: { id: string }
      }
      const types = ['connected_account.deleted', 'connected_account.updated']
      await call('put', '/webhooks/app', { url: receiver, secret: 'whsec_c2VjcmV0', types })
      const { event } = (await call('post', '/webhook-events', { type: types[0] })).body as { event: string }
      const waiting = async (): Promise<number> => {
        const { webhooks } = (await call('get', '/webhooks')).body as { webhooks: { waiting: number }[] }
        return webhooks[0]?.waiting ?? 0
      }
      await until(async () => (await waiting()) === 0)
      await call('put', '/scenarios/down', down)
      const bearer = await token('test_client', 'test_secret')
      await api(bearer, 'get', '/connections')
      await call('post', '/scenarios/down/start')
      const failed = await api(bearer, 'get', '/connections')
      await api(bearer, 'post', '/connected_accounts/magic_link', grace)
      await call('put', '/snapshots/before')
      await api(bearer, 'get', '/connections?no_such=1')
      const { tables } = (await call('get', '/state')).body as { tables: Record<string, { id: string }[]> }
      const { links } = (await call('get', '/links')).body as { links: { id: string }[] }
      const ids = {
        account: tables['accounts']?.[0]?.id ?? '',
        link: links[0]?.id ?? '',
        connection: made.connection.id,
        request: String(failed.headers['x-request-id']),
        event,
      }
      const move = (milliseconds: number): void => void (present += milliseconds)
      await work({ ...mock, disk, ids, move })
    })
  })
}

const ASKED = [
  ...['state', 'clock', 'scenarios', 'requests', 'snapshots', 'links', 'env', 'due', 'accounts', 'connectors'],
  ...['collections', 'third-parties', 'webhooks'],
]

/** The answers of every operation that reads, for every environment, and the state after a reset. */
async function everything({ call, app }: ControlMock): Promise<unknown> {
  const asked: Record<string, unknown> = {}
  for (const { name } of app.services.registry.environments()) {
    for (const path of ASKED) {
      const { text } = await call('get', `/${path}?environment=${name}`)
      // A responder counts its answer, also when the service could not store the effects of it.
      const compared = path === 'connectors' ? text.replaceAll(/"hits":\d+/g, '"hits":0') : text
      asked[`${name} ${path}`] = compared.startsWith('{') ? JSON.parse(compared) : compared
    }
  }
  for (const path of ['/contract', '/coverage']) asked[path] = (await call('get', path)).body
  return JSON.parse(JSON.stringify(asked).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://mock'))
}

/** What a reset restores, and which client ids create an environment. */
async function stateAfterReset(mock: ControlMock): Promise<unknown> {
  const { call, token } = mock
  const patterns = []
  for (const id of ['late-1', 'new-1', 'ci-1']) patterns.push(typeof (await token(id, 's')))
  await call('post', '/reset')
  const { tables, settings } = (await call('get', '/state')).body as {
    tables: Record<string, { id: string }[]>
    settings: object
  }
  const accounts = (tables['accounts'] ?? []) as unknown as { identifier: string }[]
  return {
    patterns,
    settings,
    accounts: accounts.map(({ identifier }) => identifier),
    connectors: tables['connectors']?.map(({ id }) => id),
    snapshots: (await call('get', '/snapshots')).body as unknown,
    scenarios: (await call('get', '/scenarios')).body as unknown,
  }
}

async function refusedCall(mock: RefusingMock, operation: string, later = 0): Promise<Response> {
  const { method = '', path: pattern = '' } =
    CONTROL_OPERATIONS.find((each) => each.operation.operationId === operation) ?? {}
  const { path = pattern, body } = CALLS[operation] ?? {}
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => mock.ids[name] ?? '')
  mock.disk.fails = () => new Error('ENOSPC: no space left')
  const sent = operation === 'put_state' ? await emptied(mock) : body
  mock.move(later)
  const answer = await mock.call(method as Method, filled, sent)
  mock.move(-later)
  // The deliveries of webhooks look for what is due by a timer of their own.
  await mock.app.services.registry.flushed()?.catch(() => undefined)
  mock.disk.fails = () => undefined
  return answer
}

/** The state without its accounts. */
async function emptied({ call }: ControlMock): Promise<object> {
  const state = (await call('get', '/state')).body as { tables: object }
  return { tables: { ...state.tables, accounts: [], magic_links: [], auth_requests: [], grants: [] } }
}

describe('while the disk refuses', () => {
  it('an extension that is put stays as it was when its sequences cannot begin again', async () => {
    await withRefusingDisk(async ({ call, token, api, disk }) => {
      const queue = (answers: string[]) => ({
        extension: 'queue',
        responders: [{ name: 'next', on: { path: '/api/v1/queue' }, sequence: answers.map((body) => ({ body })) }],
      })
      await call('put', '/extensions/queue', queue(['queued', 'done']))
      const bearer = await token('test_client', 'test_secret')
      const next = async (): Promise<unknown> => (await api(bearer, 'get', '/queue')).body
      expect(await next()).toBe('queued')
      disk.fails = () => new Error('ENOSPC: no space left')
      expect((await call('put', '/extensions/queue', queue(['first', 'second']))).status).toBe(503)
      disk.fails = () => undefined
      expect(await next()).toBe('done')
    })
  })

  it('every operation of the control API is called here', () => {
    const operations = CONTROL_OPERATIONS.map(({ operation }) => operation.operationId)
    expect(Object.keys(CALLS).sort()).toEqual(operations.sort())
  })

  // One server for all of them, because no operation changes it.
  it('every operation answers 503 and changes no data, or needs no disk', { timeout: 60_000 }, async () => {
    await withRefusingDisk(async (mock) => {
      const before = await everything(mock)
      for (const operation of called) {
        const answer = await refusedCall(mock, operation)
        if (CALLS[operation]?.works) expect(answer.status, operation).toBe(200)
        else expectControlError(answer, 503, 'STORAGE_UNAVAILABLE', operation)
        expect(await everything(mock), operation).toEqual(before)
      }
    })
  })

  it(
    'every operation answers 503 and changes no data when a due event cannot be written',
    { timeout: 60_000 },
    async () => {
      await withRefusingDisk(async (mock) => {
        const before = await everything(mock)
        for (const operation of [...called, 'clear_requests'].filter((each) => inEnvironment.has(each))) {
          const answer = await refusedCall(mock, operation, 3_600_000)
          expectControlError(answer, 503, 'STORAGE_UNAVAILABLE', operation)
          expect(await everything(mock), operation).toEqual(before)
        }
      })
    },
  )

  const remembered = ['create_environment', 'reset', 'add_seed', 'put_connector', 'put_scenario', 'take_snapshot']
  it.each(remembered)('%s does not affect a later reset or client id pattern', async (operation) => {
    let expected: unknown
    await withRefusingDisk(async (mock) => {
      expected = await stateAfterReset(mock)
    })
    await withRefusingDisk(async (mock) => {
      expect((await refusedCall(mock, operation)).status).toBe(503)
      expect(await stateAfterReset(mock)).toEqual(expected)
    })
  })
})
