import { describe, expect, it } from 'vitest'
import {
  connect,
  type ConnectorDocument,
  type MockState,
  type ScenarioDocument,
  type SeedDocument,
  ToolmockError,
  createToolmock,
} from '../../../src/index.ts'
import { ADA, clientOf, MESSAGE, TOKENS } from './client.ts'
import { rejection, ACCESSES, withMock } from './with-mock.ts'

const START = '2026-01-01T00:00:00.000Z'
const FROZEN = { clock: START, freeze: true }
const LINK = { ...ADA, user_verify_url: 'http://localhost:3000/verify', state: 's' }

describe.each(ACCESSES)('the library, %s', (access) => {
  it('gives what a client needs: address, credentials, variables', async () => {
    await withMock(access, {}, async (mock) => {
      expect([mock.name, mock.clientId, mock.clientSecret]).toEqual(['default', 'test_client', 'test_secret'])
      expect(mock.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      const { url: TOOLMOCK_URL, clientId: TOOLMOCK_CLIENT_ID, clientSecret: TOOLMOCK_CLIENT_SECRET } = mock
      expect(mock.env).toEqual({ TOOLMOCK_URL, TOOLMOCK_CLIENT_ID, TOOLMOCK_CLIENT_SECRET })
      expect(await (await clientOf(mock)).get('/connections')).toMatchObject({ status: 200 })
    })
  })

  it('clock: now, get, advance, set, freeze, run', async () => {
    await withMock(access, FROZEN, async ({ clock }) => {
      expect(await clock.now()).toBe(START)
      expect(await clock.advance('2h')).toEqual({ now: '2026-01-01T02:00:00.000Z', frozen: true })
      expect(await clock.advance(5)).toMatchObject({ now: '2026-01-01T02:00:05.000Z' })
      expect(await clock.advance(0.25)).toMatchObject({ now: '2026-01-01T02:00:05.250Z' })
      for (const by of [-5, Number.NaN]) {
        expect(await rejection(clock.advance(by))).toMatchObject({
          code: 'INVALID_BODY',
          message: expect.stringContaining('a number of seconds'),
        })
      }
      expect(await clock.set('2030-06-01T12:00:00+02:00')).toEqual({ now: '2030-06-01T10:00:00.000Z', frozen: true })
      expect(await clock.set(new Date(START))).toEqual({ now: START, frozen: true })
      expect(await clock.run()).toMatchObject({ frozen: false })
      expect(await clock.freeze()).toMatchObject({ frozen: true })
      expect(await clock.freeze('2031-01-01T00:00:00Z')).toEqual({ now: '2031-01-01T00:00:00.000Z', frozen: true })
      expect(await clock.get()).toEqual({ now: '2031-01-01T00:00:00.000Z', frozen: true })
    })
  })

  it('accounts: every event is applied, and an illegal one is refused with what is allowed', async () => {
    await withMock(access, FROZEN, async (mock) => {
      const client = await clientOf(mock)
      const id = await client.account({ connected_account: TOKENS })
      expect(await mock.accounts.expireAccessToken(id)).toMatchObject({ id, status: 'ACTIVE', token_expires_at: START })
      expect(await mock.accounts.revokeRefreshToken(id)).toMatchObject({ id, connector: 'mail' })
      expect((await client.post('/execute_tool', MESSAGE)).status).toBe(400)
      const other = await client.account({ identifier: 'grace@example.com', connected_account: TOKENS })
      expect(await mock.accounts.expire(other)).toMatchObject({ id: other, status: 'EXPIRED' })
      expect(await mock.accounts.disconnect(other)).toMatchObject({ status: 'DISCONNECTED' })
      const illegal = await rejection(mock.accounts.expire(other))
      expect(illegal).toBeInstanceOf(ToolmockError)
      expect(illegal).toMatchObject({
        code: 'ILLEGAL_MOVE',
        status: 409,
        message: expect.stringContaining('DISCONNECTED'),
        details: [{ from: 'DISCONNECTED', event: 'expire', allowed: expect.arrayContaining(['disconnect']) }],
      })
    })
  })

  it('accounts: an identifier stands for the only account that has it, and several are refused with their ids', async () => {
    await withMock(access, FROZEN, async (mock) => {
      const client = await clientOf(mock)
      const id = await client.account({ connected_account: TOKENS })
      expect(await mock.accounts.expire('ada@example.com')).toMatchObject({ id, status: 'EXPIRED' })
      const other = await client.account({ connector: 'weather' })
      expect(await rejection(mock.accounts.disconnect('ada@example.com'))).toMatchObject({
        code: 'AMBIGUOUS_ACCOUNT',
        status: 409,
        message: `"ada@example.com" is the identifier of 2 accounts; name one by its id: ${id} (mail), ${other} (weather)`,
        details: [{ accounts: [id, other] }],
      })
    })
  })

  it.each([['no such account'], ['../../reset'], ['%2e%2e'], ['a/b?c#d'], ['\ud800'], ['__proto__']])(
    'an id %j is looked up with all its characters',
    async (id) => {
      await withMock(access, {}, async (mock) => {
        expect(await rejection(mock.accounts.expire(id))).toMatchObject({ code: 'ACCOUNT_NOT_FOUND', status: 404 })
      })
    },
  )

  it('connections: disable, enable, start, complete', async () => {
    const seed: SeedDocument = { connections: [{ key_id: 'draft', type: 'OIDC', status: 'DRAFT' }] }
    await withMock(access, {}, async (mock) => {
      expect(await mock.connections.disable('mail')).toMatchObject({ key_id: 'mail', enabled: false })
      const refused = await (await clientOf(mock)).post('/execute_tool', MESSAGE)
      expect(refused.status).toBeGreaterThanOrEqual(400)
      expect(await mock.connections.enable('mail')).toMatchObject({ key_id: 'mail', enabled: true })
      await mock.seed(seed)
      expect(await mock.connections.start('draft')).toMatchObject({ status: 'IN_PROGRESS' })
      expect(await mock.connections.complete('draft')).toMatchObject({ status: 'COMPLETED' })
      expect(await rejection(mock.connections.complete('draft'))).toMatchObject({ code: 'ILLEGAL_MOVE', status: 409 })
    })
  })

  it('links: wait for a later one, decide it, verify the user', async () => {
    await withMock(access, {}, async (mock) => {
      const client = await clientOf(mock)
      expect(await mock.links.list()).toEqual([])
      const [link, asked] = await Promise.all([mock.links.wait(), client.post('/connected_accounts/magic_link', LINK)])
      expect(asked.body['link']).toBe(link.link)
      expect(link).toMatchObject({ ...ADA, link: `${mock.url}/magic/${link.id}` })
      const { redirect_url } = await mock.links.complete(link.id, { decision: 'approve', as: 'grace@example.com' })
      const back = new URL(redirect_url)
      expect([back.origin, back.searchParams.get('state')]).toEqual(['http://localhost:3000', 's'])
      const verify = { auth_request_id: back.searchParams.get('auth_request_id'), identifier: ADA.identifier }
      expect((await client.post('/connected_accounts/user/verify', verify)).status).toBe(200)
      expect(await mock.links.list()).toEqual([])
      expect(await rejection(mock.links.complete(link, { decision: 'deny' }))).toMatchObject({ status: 410 })
    })
  })

  it('links: a denial is passed to the caller, and a wait without a link times out', async () => {
    await withMock(access, {}, async (mock) => {
      const waited = async () => {
        const { code, message } = (await rejection(mock.links.wait({ timeoutMs: 1 }))) as ToolmockError
        expect(code).toBe('TIMED_OUT')
        return message
      }
      expect(await waited()).toContain(`; no request has reached environment ${mock.name}`)
      await (await clientOf(mock)).post('/connected_accounts/magic_link', { connector: 'mail' })
      expect(await waited()).toMatch(
        /; the latest requests in environment \S+: POST \/oauth\/token 200 \(req_\w+\), POST \/api\/v1\/connected_accounts\/magic_link 400 \(req_\w+\)$/,
      )
      const { body } = await (await clientOf(mock)).post('/connected_accounts/magic_link', LINK)
      // The address that create_magic_link answers names it too.
      for (const link of [await mock.links.wait(), body['link'] as string]) {
        const { redirect_url } = await mock.links.complete(link, { decision: 'deny' })
        expect(redirect_url).toContain('error=access_denied')
      }
    })
  })

  it('journal: requests, get, count, verify, wait, explain, clear', async () => {
    await withMock(access, {}, async ({ journal, env }) => {
      const client = await clientOf({ env })
      await client.account({ connected_account: TOKENS })
      const waiting = journal.wait({ operation: 'execute_tool' }, { times: 2, timeoutMs: 10_000 })
      const sent = await client.post('/execute_tool', MESSAGE)
      const refused = await client.post('/execute_tool', { ...MESSAGE, tool_name: 'none' })
      expect(await waiting).toEqual({ ok: true, matched: 2, near_misses: [] })
      const [entry, ...others] = await journal.requests({ operation: 'execute_tool', status: 200 })
      expect([entry?.id, entry?.tool, others]).toEqual([sent.requestId, 'mail_send_message', []])
      expect(await journal.get(sent.requestId)).toEqual(entry)
      expect(await journal.requests({ since: sent.requestId })).toMatchObject([{ id: refused.requestId }])
      expect(await journal.count({ operation: 'execute_tool', body: { 'tool_input.to': '*@example.com' } })).toBe(2)
      expect(await journal.count({ operation: ['execute_tool', 'create_*'], status: '2*' })).toBe(3)
      expect(await journal.verify({ tool: 'mail_send_message' }, 1)).toMatchObject({ ok: true, matched: 1 })
      expect(await journal.explain(refused.requestId)).toMatchObject({
        because: expect.stringContaining('G44'),
        text: expect.stringContaining('none'),
      })
      await journal.clear()
      expect(await journal.count()).toBe(0)
    })
  })

  it('journal: verify and wait take a range of times, and verify matches in order', async () => {
    await withMock(access, {}, async ({ journal, env }) => {
      const client = await clientOf({ env })
      await client.account({ connected_account: TOKENS })
      await client.post('/execute_tool', MESSAGE)
      await client.post('/execute_tool', MESSAGE)
      const [create, execute] = [{ operation: 'create_connected_account' }, { operation: 'execute_tool' }] as const
      const held = [{ at_least: 2 }, { at_most: 2 }, { at_least: 2, at_most: 2 }, 2]
      for (const times of held) expect(await journal.verify(execute, times)).toMatchObject({ ok: true, matched: 2 })
      for (const times of [{ at_least: 3 }, { at_most: 1 }, { at_least: 0, at_most: 1 }])
        expect(await rejection(journal.verify(execute, times)), JSON.stringify(times)).toMatchObject({
          code: 'NOT_VERIFIED',
          message: expect.stringMatching(/wanted: (?:at least 3|at most 1)/),
        })
      expect(await journal.wait(execute, { times: { at_least: 1, at_most: 2 } })).toMatchObject({ matched: 2 })
      expect(await rejection(journal.wait(execute, { times: { at_most: 1 } }))).toMatchObject({
        message: expect.stringContaining('wanted: at most 1, and there are too many'),
      })
      for (const times of [{}, { at_least: 2, at_most: 1 }, -1])
        expect(await rejection(journal.verify(execute, times)), JSON.stringify(times)).toMatchObject({
          code: 'INVALID_BODY',
        })
      expect(await journal.verify({ in_order: [create, execute, execute] })).toMatchObject({ ok: true, matched: 3 })
      expect(await rejection(journal.verify({ in_order: [execute, create] }))).toMatchObject({
        message: expect.stringMatching(/^no request matches .*create_connected_account.*, number 2 of 2 in order/),
        details: [{ matched: 1 }],
      })
    })
  })

  it('journal: without conditions what the test itself did by the control API is left out', async () => {
    await withMock(access, {}, async ({ accounts, clock, journal, env }) => {
      const id = await (await clientOf({ env })).account({ connected_account: TOKENS })
      await accounts.expire(id)
      await clock.advance('1h')
      expect((await journal.requests()).map(({ kind }) => kind)).toEqual(['request', 'request'])
      expect(await journal.count()).toBe(2)
      expect(await journal.count({ kind: '*' })).toBe(4)
      expect(await journal.requests({ kind: 'control' })).toMatchObject([{ account: id }])
    })
  })

  it('journal: an expectation that fails throws with its near misses', async () => {
    await withMock(access, {}, async ({ accounts, journal, env }) => {
      const id = await (await clientOf({ env })).account({})
      const wanted = { operation: 'create_connected_account', body: { identifier: 'grace@*' } } as const
      const close = expect.arrayContaining([expect.objectContaining({ operation: 'create_connected_account' })])
      expect(await rejection(journal.verify(wanted))).toMatchObject({
        code: 'NOT_VERIFIED',
        message: expect.stringContaining('body.identifier is "ada@example.com", not "grace@*"'),
        details: [{ matched: 0, near_misses: close }],
      })
      expect(await rejection(journal.verify({ operation: 'create_connected_account' }, 2))).toMatchObject({
        code: 'NOT_VERIFIED',
        message: expect.stringContaining('exactly 2'),
      })
      expect(await rejection(journal.wait(wanted, { timeoutMs: 1 }))).toMatchObject({
        code: 'TIMED_OUT',
        status: 408,
        message: expect.stringMatching(
          /^0 requests match {.*}; wanted: at least 1, and the time is over\n- close: .*not "grace@\*"/,
        ),
        details: [{ matched: 0, near_misses: close }],
      })
      await accounts.expire(id)
      expect(await rejection(journal.verify({ account: id, status: 500 }))).toMatchObject({
        message: expect.stringMatching(/^- close: expire was applied to account .* 200 \(/m),
      })
      expect(await rejection(journal.explain('never'))).toMatchObject({ code: 'REQUEST_NOT_FOUND', status: 404 })
    })
  })

  it('arguments of a wrong type are refused with what is allowed, without a request to the server', async () => {
    await withMock(access, {}, async (mock) => {
      const { accounts, contract, journal, links, scenarios } = mock
      const nothing = undefined as unknown as string
      const refused: [() => Promise<unknown>, string][] = [
        [
          () => accounts.expire(nothing),
          'POST /accounts/{id}/{event}: id is undefined; allowed: a text that is not empty',
        ],
        [() => links.complete(nothing, { decision: 'approve' }), '/complete: id is undefined; allowed: '],
        [() => scenarios.start(''), 'POST /scenarios/{name}/start: name is ""; allowed: '],
        [() => mock.connector({} as { connector: string }), 'PUT /connectors/{name}: name is undefined; allowed: '],
        [
          () => mock.environment('a', { sed: {} } as object),
          'environment has no option "sed" (did you mean seed?); it has seed, clock, freeze, idSeed',
        ],
        [
          () => mock.environment('a', { test: 'sends a message' } as object),
          'environment: test takes an object with label, file, line; found "sends a message"',
        ],
        [
          () => mock.environment('a', { scenarios: 'rate-limited' } as object),
          'environment: scenarios is "rate-limited"; allowed: a list',
        ],
        [
          () => journal.wait({}, { timeout: 1 } as object),
          'journal.wait has no option "timeout" (did you mean timeoutMs?); it has times, timeoutMs',
        ],
        [() => links.wait({ timeoutMs: -1 }), 'links.wait: timeoutMs is -1; allowed: a whole number from 0 to 600000'],
        [() => contract.verify({ minOps: 1 } as object), 'contract has no option "minOps"; it has everywhere, allow, '],
        [() => contract.verify({ allow: 'verify_user' } as object), 'allow is "verify_user"; allowed: a list of texts'],
        [
          () => connect(mock.url, { adminTokn: 'x' } as object),
          'connect has no option "adminTokn" (did you mean adminToken?); it has clientId, ',
        ],
      ]
      for (const [call, words] of refused) {
        const error = { code: 'INVALID_ARGUMENT', status: 0, message: expect.stringContaining(words) }
        expect(await rejection(call())).toMatchObject(error)
      }
    })
  })

  it('scenarios: define, start, list, unfired, stop, clear', async () => {
    const down: ScenarioDocument = {
      name: 'down',
      description: 'Nothing works.',
      rules: [
        { name: 'all', at: 'service', on: { operation: 'list_connections' }, do: [{ respond: { status: 503 } }] },
      ],
    }
    await withMock(access, {}, async ({ scenarios, env }) => {
      const client = await clientOf({ env })
      expect(await scenarios.define(down)).toMatchObject({ name: 'down', running: false, started: false })
      expect(await scenarios.unfired()).toEqual([])
      expect(await scenarios.start('down')).toMatchObject({ running: true, started: true })
      const unfired = { scenario: 'down', rule: 'all', at: 'service', matched: 0 }
      expect(await scenarios.unfired()).toEqual([{ ...unfired, stopped: false }])
      expect(await scenarios.stop('down')).toMatchObject({ running: false, started: true })
      expect(await scenarios.unfired()).toEqual([{ ...unfired, stopped: true }])
      await scenarios.start('down')
      expect((await client.get('/connections')).status).toBe(503)
      expect(await scenarios.unfired()).toEqual([])
      const [first, bundled] = await scenarios.list()
      expect(first).toMatchObject({ name: 'down', rules: [{ name: 'all', matched: 1, hits: 1 }] })
      expect(bundled).toMatchObject({ name: 'account-already-exists', started: false })
      await scenarios.clear()
      expect((await scenarios.list()).filter(({ name }) => name === 'down')).toEqual([])
      expect((await client.get('/connections')).status).toBe(200)
      expect(await rejection(scenarios.start('none'))).toMatchObject({
        code: 'SCENARIO_NOT_FOUND',
        message: expect.stringContaining('token-dies-mid-run'),
      })
    })
  })

  it('scenarios: those of the options run from the start', async () => {
    await withMock(access, { scenario: 'token-dies-mid-run' }, async (mock) => {
      const client = await clientOf(mock)
      await client.account({ connected_account: TOKENS })
      const statuses = []
      for (let nth = 1; nth <= 3; nth++) statuses.push((await client.post('/execute_tool', MESSAGE)).status)
      expect(statuses).toEqual([200, 200, 400])
      expect(await mock.scenarios.unfired()).toEqual([])
    })
  })

  it('scenarios: a bundled one takes another tool and account', async () => {
    const others = { tool: 'mail_list_messages', identifier: '*' }
    await withMock(access, { scenario: 'token-dies-mid-run', with: others }, async (mock) => {
      const client = await clientOf(mock)
      await client.account({ identifier: 'eve@example.com', connected_account: TOKENS })
      const call = { tool_name: 'mail_list_messages', tool_input: {}, connector: 'mail', identifier: 'eve@example.com' }
      const statuses = async () => {
        const all = []
        for (let nth = 1; nth <= 3; nth++) all.push((await client.post('/execute_tool', call)).status)
        return all
      }
      expect(await statuses()).toEqual([200, 200, 400])
      const { name, rules } = await mock.scenarios.start('token-dies-mid-run', { identifier: 'no&body@example.com' })
      expect([name, rules[0]?.matched]).toEqual(['token-dies-mid-run', 0])
      expect(await statuses()).toEqual([400, 400, 400])
      expect((await mock.scenarios.list()).find((each) => each.running)?.rules[0]?.matched).toBe(0)
      expect(await rejection(mock.scenarios.start('rate-limited', { tool: 'x' }))).toMatchObject({
        message: expect.stringContaining('the parameter tool is unknown'),
      })
    })
  })

  it('collections: list, get, put', async () => {
    await withMock(access, FROZEN, async (mock) => {
      await mock.connector({
        connector: 'pad',
        authorization_type: 'API_KEY',
        collections: { notes: { seed: [{ id: 'n_1' }] }, tags: { key: 'name', per: 'environment' } },
      })
      await mock.seed({ accounts: [{ connector: 'pad', identifier: 'ada@example.com' }] })
      const { collections } = mock
      const account = 'ada@example.com'
      expect(await collections.list()).toContainEqual({
        connector: 'pad',
        collection: 'tags',
        key: 'name',
        per: 'environment',
      })
      expect(await collections.get('pad', 'notes', { account })).toEqual([{ id: 'n_1' }])
      await collections.put('pad', 'notes', [{ id: 'n_2' }], { account })
      await collections.put('pad', 'tags', [{ name: 'red' }])
      expect(await collections.get<{ id: string }>('pad', 'notes', { account })).toEqual([{ id: 'n_2' }])
      expect(await collections.get('pad', 'tags')).toEqual([{ name: 'red' }])
      expect(await rejection(collections.get('pad', 'notes'))).toMatchObject({ code: 'INVALID_QUERY', status: 400 })
      expect(await rejection(collections.get('pad', 'none'))).toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
    })
  })

  it('snapshots: take, list, diff, restore, remove', async () => {
    await withMock(access, FROZEN, async ({ snapshots, env }) => {
      const client = await clientOf({ env })
      expect(await snapshots.take('before')).toEqual({ name: 'before', taken_at: START })
      const id = await client.account({})
      expect(await snapshots.diff('before')).toMatchObject({
        snapshot: 'before',
        added: expect.arrayContaining([
          { table: 'accounts', id, row: expect.objectContaining({ id, connector: 'mail' }) },
        ]),
        removed: [],
      })
      await snapshots.restore('before')
      expect((await client.get(`/connected_accounts/details?id=${id}`)).status).toBe(404)
      expect(await snapshots.list()).toEqual([{ name: 'before', taken_at: START }])
      await snapshots.remove('before')
      expect(await snapshots.list()).toEqual([])
      expect(await rejection(snapshots.restore('before'))).toMatchObject({ code: 'SNAPSHOT_NOT_FOUND', status: 404 })
      expect(await rejection(snapshots.take('a/b'))).toMatchObject({ code: 'INVALID_NAME', status: 400 })
    })
  })

  it('reset restores the environment to its seed, with the seeds that were added', async () => {
    await withMock(access, FROZEN, async (mock) => {
      const client = await clientOf(mock)
      await mock.seed({ accounts: [{ ...ADA, identifier: 'seeded@example.com' }] })
      await mock.seed('accounts:\n  - { connector: mail, identifier: yaml@example.com }\n')
      await client.account({})
      await mock.clock.advance('2h')
      await mock.reset()
      expect(await mock.clock.now()).toBe(START)
      const found = async (query: string) => (await client.get(`/connected_accounts:search?query=${query}`)).body
      expect(await found('seeded@')).toMatchObject({ total_size: 1 })
      expect(await found('yaml@')).toMatchObject({ total_size: 1 })
      expect(await found('ada@')).toMatchObject({ total_size: 0 })
    })
  })

  it('connector adds a third party; an invalid document is refused with every problem and has no effect', async () => {
    const notes: ConnectorDocument = {
      connector: 'notes',
      authorization_type: 'API_KEY',
      tools: [{ name: 'notes_add', description: 'Adds.', call: { method: 'POST', path: '/notes' } }],
      responders: [{ on: { method: 'POST', path: '/notes' }, respond: { status: 201, body: { id: 'n_1' } } }],
    }
    await withMock(access, {}, async (mock) => {
      const client = await clientOf(mock)
      const bad = await rejection(
        mock.connector({ ...notes, authorization_type: 'NONE', toolz: [] } as unknown as ConnectorDocument),
      )
      expect(bad).toMatchObject({ code: 'INVALID_DOCUMENT', status: 400 })
      expect((bad as ToolmockError).details.length).toBeGreaterThan(1)
      await mock.connector(notes)
      const credentials = { authorization_details: { static_auth: { details: { api_key: 'k' } } } }
      await client.account({ connector: 'notes', connected_account: credentials })
      const call = { ...ADA, connector: 'notes', tool_name: 'notes_add', tool_input: {} }
      expect(await client.post('/execute_tool', call)).toMatchObject({ status: 200 })
    })
  })

  it('state is the whole model, and replaceState puts one in its place', async () => {
    await withMock(access, FROZEN, async (mock) => {
      const client = await clientOf(mock)
      const id = await client.account({})
      const state = await mock.state()
      expect(state.tables.accounts).toMatchObject([{ id }])
      await mock.replaceState({ ...state, tables: { ...state.tables, accounts: [] } })
      expect((await client.get(`/connected_accounts/details?id=${id}`)).status).toBe(404)
      await mock.replaceState(state)
      expect((await client.get(`/connected_accounts/details?id=${id}`)).status).toBe(200)
      const broken = { tables: { ...state.tables, accounts: [{ id: 1 }] } } as unknown as MockState
      expect(await rejection(mock.replaceState(broken))).toMatchObject({ code: 'INVALID_STATE', status: 400 })
    })
  })

  it('sends the admin token, when the server needs one', async () => {
    await withMock(access, { adminToken: 's3cret' }, async (mock) => {
      expect((await fetch(`${mock.url}/_mock/clock`)).status).toBe(401)
      expect(await mock.clock.get()).toMatchObject({ frozen: false })
    })
  })
})

it('journal: an exact number is not verified where requests were dropped', async () => {
  await using mock = await createToolmock({ journalSize: 1 })
  for (let sent = 0; sent < 2; sent++) await fetch(`${mock.url}/nowhere`)
  const error = await rejection(mock.journal.verify({ status: 404 }, 1))
  expect(error).toMatchObject({
    code: 'NOT_VERIFIED',
    message: expect.stringMatching(/exactly 1; the journal lacks requests before \S+Z, so it cannot tell$/),
  })
})
