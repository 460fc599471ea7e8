import { expect } from 'vitest'
import supertest from 'supertest'
import { createActive, decide, linkFor, TOKENS, VERIFY_URL } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { rulesNotFired } from '../../../src/scenarios/scenario-run.ts'
import { expectControlError, withControl } from '../../servers/control/control-mock.ts'
import { startScenario } from '../../support/scenario.ts'

const GRACE = { connector: 'mail', identifier: 'grace@example.com' }
const MESSAGE = { tool_name: 'mail_send_message', tool_input: { to: 'ada@example.com', subject: 'Hello' } }

interface Replay {
  scenario: { name: string; rules: { name: string; do: object[]; when?: object; at: string }[] }
  seed: { accounts?: object[] }
  clock: string
  notes: string[]
}

async function control(mock: TestToolmock, method: 'get' | 'put' | 'post', path: string, body?: object) {
  const request = supertest(mock.app.listener)[method](`/_mock${path}`)
  const answer = await (body === undefined ? request : request.send(body))
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}

/** The statuses of all requests and pages in the journal. */
async function statusesOf(mock: TestToolmock): Promise<string[]> {
  const { requests } = await control(mock, 'get', '/requests?limit=1000')
  return (requests as { kind: string; operation: string | null; status: number; error_code: string | null }[])
    .filter(({ kind }) => kind === 'request' || kind === 'page')
    .map(({ operation, status, error_code }) => `${operation ?? 'page'} ${status} ${error_code ?? ''}`.trim())
}

/** A client that fails, and what a person does meanwhile. */
interface Run {
  readonly client: (mock: TestToolmock, meanwhile: () => Promise<void>) => Promise<void>
  readonly meanwhile?: (mock: TestToolmock) => Promise<void>
  readonly scenario?: string
  readonly seed?: object
  /** A status that the failing run must have. */
  readonly fails: string
  /** The faults of the exported rules, by kind. */
  readonly faults: string[]
}

const send = ({ api }: TestToolmock, who: object = GRACE) => api.post('/execute_tool', { ...who, ...MESSAGE })
const accountOf = async (mock: TestToolmock): Promise<string> =>
  (await control(mock, 'get', `/accounts?query=${GRACE.identifier}`)).accounts[0].id

const RUNS: Record<string, Run> = {
  'a token that dies mid-run, and whose refresh is refused once': {
    scenario: 'token-dies-mid-run',
    client: async (mock) => {
      await createActive(mock)
      for (let call = 0; call < 5; call += 1) await send(mock, { connector: 'mail', identifier: 'ada@example.com' })
    },
    fails: 'execute_tool 400 ACCOUNT_NOT_ACTIVE',
    faults: ['expire_access_token', 'respond'],
  },
  'a third party that fails': {
    scenario: 'third-party-fails',
    client: async (mock) => {
      await createActive(mock, GRACE)
      for (let call = 0; call < 4; call += 1) await send(mock)
    },
    fails: 'execute_tool 500 TOOL_ERROR',
    faults: ['respond'],
  },
  'a rate limit': {
    scenario: 'rate-limited',
    client: async (mock) => {
      await createActive(mock, GRACE)
      for (let call = 0; call < 4; call += 1) await send(mock)
      await mock.api.get('/connected_accounts')
    },
    fails: 'execute_tool 429',
    faults: ['respond'],
  },
  'an account that is disconnected meanwhile': {
    client: async (mock, meanwhile) => {
      await createActive(mock, GRACE)
      await send(mock)
      await meanwhile()
      await mock.api.get('/connections')
      await send(mock)
    },
    meanwhile: async (mock) => control(mock, 'post', `/accounts/${await accountOf(mock)}/disconnect`),
    fails: 'execute_tool 400 ACCOUNT_NOT_ACTIVE',
    faults: ['disconnect'],
  },
  'a bearer token that expires, because the clock was moved': {
    client: async (mock, meanwhile) => {
      await createActive(mock, GRACE)
      await meanwhile()
      if ((await send(mock)).status === 401) await mock.signIn()
      await send(mock)
    },
    meanwhile: (mock) => control(mock, 'put', '/clock', { advance: '2d' }),
    fails: 'execute_tool 401 UNAUTHENTICATED',
    faults: ['advance_clock'],
  },
  'a token without a refresh token that expires, because time passes': {
    client: async (mock, meanwhile) => {
      await createActive(mock, GRACE, { oauth_token: { access_token: 'at_1' } })
      await send(mock)
      await meanwhile()
      await send(mock)
    },
    meanwhile: (mock) => {
      mock.time.advance('2h')
      return Promise.resolve()
    },
    fails: 'execute_tool 400 ACCOUNT_NOT_ACTIVE',
    faults: ['advance_clock'],
  },
  'an account that was expired when the run began': {
    seed: { accounts: [{ ...GRACE, status: 'EXPIRED', organization_id: 'org_1' }] },
    client: async (mock) => {
      await send(mock)
      const link = await linkFor(mock, { ...GRACE, organization_id: 'org_1', user_verify_url: VERIFY_URL })
      await decide(mock, link)
      await send(mock)
    },
    fails: 'execute_tool 400 ACCOUNT_NOT_ACTIVE',
    faults: ['latency'],
  },
  'a link that expires during consent': {
    scenario: 'magic-link-expired',
    client: async (mock) => {
      const link = await linkFor(mock, { ...GRACE, user_verify_url: VERIFY_URL })
      await mock.follow(link, { decision: 'approve' })
      await send(mock)
    },
    fails: 'page 410 LINK_EXPIRED',
    faults: ['advance_clock'],
  },
}

it.each(Object.entries(RUNS))('%s', async (_title, run) => {
  let replay: Replay | undefined
  let failing: string[] = []
  await withToolmock({ ...(run.seed && { seed: run.seed }) }, async (mock) => {
    if (run.scenario) await control(mock, 'post', `/scenarios/${run.scenario}/start`)
    await run.client(mock, () => run.meanwhile?.(mock) ?? Promise.resolve())
    failing = await statusesOf(mock)
    const { requests } = await control(mock, 'get', '/requests?limit=1000')
    replay = await control(mock, 'post', `/requests/${requests.at(-1).id}/scenario`)
  })
  expect(
    failing.some((status) => status.startsWith(run.fails)),
    failing.join('\n'),
  ).toBe(true)
  expect(replay?.notes).toEqual([])
  const faults = replay?.scenario.rules.flatMap((rule) => rule.do.flatMap((fault) => Object.keys(fault)))
  expect([...new Set(faults)]).toEqual(run.faults)
  const { scenario, seed, clock } = replay!
  await withToolmock({ now: clock, seed }, async (mock) => {
    await control(mock, 'put', `/scenarios/${scenario.name}`, scenario)
    await control(mock, 'post', `/scenarios/${scenario.name}/start`)
    // No person acts meanwhile: the scenario has the same effect.
    await run.client(mock, () => Promise.resolve())
    expect(await statusesOf(mock)).toEqual(failing)
    const history = mock.app.services.scenarios.of(mock.environment).history()
    expect(rulesNotFired(history)).toEqual([])
  })
})

it('counts every request of the journal, beyond the limit of a query', async () => {
  // Its answers are checked in other tests: here they are too many.
  await withControl({}, async (mock) => {
    const { api, call, token } = mock
    const bearer = await token('test_client', 'test_secret')
    const list = () => api(bearer, 'get', '/connections')
    for (let request = 0; request < 1010; request += 10) await Promise.all(Array.from({ length: 10 }, list))
    await startScenario(mock, { on: { operation: 'list_connections' }, do: [{ respond: { status: 503 } }] })
    const id = (await list()).headers['x-request-id']
    const replay = (await call('post', `/requests/${id}/scenario`)).body as Replay
    expect(replay.scenario.rules).toMatchObject([{ when: { nth: 1011 } }])
  })
})

it('ignores what followed the request, and refuses an id that is not in the journal', async ({ mock }) => {
  await createActive(mock, GRACE)
  const first = await send(mock)
  await control(mock, 'post', '/scenarios/rate-limited/start')
  for (let call = 0; call < 3; call += 1) await send(mock)
  const replay = (await control(mock, 'post', `/requests/${first.headers['x-request-id']}/scenario`)) as Replay
  expect(replay.scenario.rules.flatMap(({ do: faults }) => faults)).toEqual([{ latency: '0ms' }])
  expect(replay.seed).toEqual({})
  const unknown = await supertest(mock.app.listener).post('/_mock/requests/req_none/scenario')
  expectControlError(unknown, 404, 'REQUEST_NOT_FOUND')
})

it('has the settings, custom providers and accounts of the start, without credentials', async () => {
  const idle = {
    ...{ connector: 'mail', identifier: 'idle@example.com', organization_id: 'org_1', user_id: 'user_1' },
    ...{ status: 'EXPIRED', token_expires_at: '2026-01-02T00:00:00.000Z', last_used_at: '2026-01-01T00:00:00.000Z' },
    api_config: { region: 'us' },
  }
  const seed = {
    settings: { magic_link_lifetime: '5m' },
    providers: [{ display_name: 'Notes', identifier: 'notes-1', auth_patterns: [{ type: 'API_KEY' }] }],
    accounts: [{ ...GRACE, authorization_details: TOKENS, api_config: { region: 'eu' } }, idle],
  }
  await withToolmock({ seed }, async (mock) => {
    await createActive(mock)
    await mock.api.post('/custom-providers', { display_name: 'Made meanwhile' })
    const last = await send(mock)
    const replay = (await control(mock, 'post', `/requests/${last.headers['x-request-id']}/scenario`)) as Replay
    expect(replay.seed).toMatchObject({
      settings: { magic_link_lifetime: '300000ms' },
      providers: [{ identifier: 'notes-1' }],
      accounts: [{ ...GRACE, status: 'ACTIVE' }, idle],
    })
    expect(JSON.stringify(replay.seed)).not.toMatch(/at_1|rt_1/)
  })
})
