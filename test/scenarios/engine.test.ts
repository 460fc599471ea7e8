import { describe, expect, it } from 'vitest'
import { rulesNotFired } from '../../src/scenarios/scenario-run.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import type { Scenario, ScenarioRule } from '../../src/model/domain/scenario.ts'
import { RequestTrace } from '../../src/model/domain/request-trace.ts'
import {
  type BundledScenarios,
  type EnvironmentScenarios,
  ScenarioRegistry,
} from '../../src/scenarios/environment-scenarios.ts'
import type { ScenarioRequest } from '../../src/scenarios/rule-matching.ts'
import { UnknownScenarioError } from '../../src/scenarios/scenario-run.ts'
import type { Account } from '../../src/model/domain/account.ts'
import type { Baseline } from '../../src/state/model/model.ts'
import { testEnvironment, type TestEnvironment } from '../support/environment.ts'
import { accountOf, connectorOf } from '../service/third-party/fixture.ts'

interface EngineMock {
  environment: TestEnvironment
  scenarios: EnvironmentScenarios
  /** Other scenarios of the same environment, as another start makes them. */
  reopened: (initial: readonly Scenario[]) => EnvironmentScenarios
}

function rule(fields: Partial<ScenarioRule>): ScenarioRule {
  const nothing = { on: {}, when: {}, do: [], then: null, must_fire: true, off_spec: false }
  return { name: 'r', at: 'service', ...nothing, ...fields }
}

function scenario(rules: Partial<ScenarioRule>[], fields: Partial<Scenario> = {}): Scenario {
  return { name: 's', description: '', initial: '', ...fields, rules: rules.map(rule) }
}

const BUNDLED: BundledScenarios = {
  named: (name) => Promise.resolve(name === 'bundled' ? scenario([{}], { name }) : undefined),
  names: () => Promise.resolve(['bundled']),
  all: () => Promise.resolve(['another', 'bundled'].map((name) => scenario([{}], { name, text: `name: ${name}` }))),
}

function mock(initial: readonly Scenario[], seed = 1): EngineMock {
  const environment = testEnvironment({ seed })
  const reopened = (scenarios: readonly Scenario[]): EnvironmentScenarios => {
    const registry = new ScenarioRegistry(BUNDLED)
    registry.startWith(scenarios)
    return registry.of(environment)
  }
  return { environment, scenarios: reopened(initial), reopened }
}

function model(kind: string, params: JsonObject = {}): ScenarioRule['do'][number] {
  return { kind, params }
}

/** The names of the rules that fire on a request. */
function fired(scenarios: EnvironmentScenarios, fields: Partial<ScenarioRequest> = {}): string[] {
  return scenarios.match(request(fields))?.rules.map(({ rule: name }) => name) ?? []
}

function request(fields: Partial<ScenarioRequest> = {}): ScenarioRequest {
  const nothing = { body: undefined, query: {}, headers: {}, account: undefined }
  return { at: 'service', ...nothing, trace: new RequestTrace(), ...fields }
}

const ofAccount = (id: string) => ({
  account: accountOf(connectorOf('OAUTH'), {}, { id }),
  locator: { identifier: 'x' },
})
const [ADA, GRACE] = [ofAccount('ca_ada'), ofAccount('ca_grace')]
const NOBODY = { locator: { connector: 'mail', identifier: 'nobody@example.com' } }
const OTHER_NOBODY = { locator: { ...NOBODY.locator, connector: 'calendar' } }

/** The numbers of the requests on which a rule fires; time advances by a minute after each. */
function firesOn(when: ScenarioRule['when'], requests = 10): number[] {
  const { scenarios, environment } = mock([scenario([{ when }])])
  return Array.from({ length: requests }, (_, index) => index + 1).filter(() => {
    const fired = scenarios.match(request()) !== undefined
    environment.clock.advance(60_000)
    return fired
  })
}

describe('when a rule fires', () => {
  it.each([
    [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ nth: 3 }, [3]],
    [{ first: 2 }, [1, 2]],
    [{ every: 4 }, [4, 8]],
    [{ after: 8 }, [9, 10]],
    [{ after: 2, times: 3 }, [3, 4, 5]],
    [{ from: { after: 180_000 }, until: { after: 300_000 } }, [4, 5]],
    [{ from: { at: '2026-01-01T00:08:00.000Z' } }, [9, 10]],
    [{ until: { at: '2026-01-01T00:01:00.000Z' } }, [1]],
    [{ every: 2, from: { after: 300_000 } }, [6, 8, 10]],
    [{ every: 1 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ after: 0, times: 1 }, [1]],
    [{ after: 0 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ first: 5, every: 2, until: { after: 180_000 } }, [2]],
    [{ from: { at: '2026-01-01T00:02:00.000Z' }, until: { at: '2026-01-01T00:04:00.000Z' } }, [3, 4]],
    [{ first: 3, probability: 1 }, [1, 2, 3]],
    [{ probability: 0 }, []],
    [{ probability: 1, nth: 2 }, [2]],
  ])('%j: requests %j of ten', (when, numbers) => {
    expect(firesOn(when)).toEqual(numbers)
  })

  it('with a probability: about so often, the same ones again with the same id seed', () => {
    const runs = [firesOn({ probability: 0.3 }, 1000), firesOn({ probability: 0.3 }, 1000)]
    expect(runs[0]).toEqual(runs[1])
    expect(runs[0]?.length).toBeGreaterThan(230)
    expect(runs[0]?.length).toBeLessThan(370)
  })

  it('draws the same numbers from the same id seed in every version', () => {
    const drawn = [1, 2, 4, 7, 8, 9, 10, 12, 14, 15, 16, 17, 18, 19, 20, 24, 26, 28, 29, 30]
    expect(firesOn({ probability: 0.5 }, 30)).toEqual(drawn)
  })

  it('draws a random number only when all other conditions are met', () => {
    const { scenarios } = mock([scenario([{ when: { nth: 2, probability: 0.5 } }])])
    const other = mock([]).scenarios
    scenarios.match(request())
    expect(scenarios.random()).toBe(other.random())
  })

  it('counts only requests of its place, match and state, separately for each rule', () => {
    const { scenarios } = mock([
      scenario(
        [
          { name: 'a', on: { operation: 'list_tools' }, when: { nth: 2 }, then: 'late' },
          { name: 'b', on: { connector: 'mail' }, when: { nth: 2, state: 'late' } },
        ],
        { initial: 'early' },
      ),
    ])
    const asked = [
      request({ operation: 'list_tools' }),
      request({ operation: 'list_tools', connector: 'mail', at: 'third_party' }),
      request({ connector: 'mail' }),
      request({ operation: 'list_tools', connector: 'mail' }),
      request({ connector: 'mail' }),
    ]
    expect(asked.map((each) => scenarios.match(each)?.rules.map((fired) => fired.rule) ?? [])).toEqual([
      [],
      [],
      [],
      ['a'],
      ['b'],
    ])
    expect(scenarios.list()[0]?.rules).toMatchObject([
      { matched: 2, hits: 1 },
      { matched: 2, hits: 1 },
    ])
  })

  it('counts of a rule the requests that a rule before it ended, also of another scenario and after a restart', () => {
    const ends = { do: [{ kind: 'timeout', params: {} }] }
    const of = mock([
      scenario([{ name: 'a', when: { first: 2 }, ...ends }, { name: 'b', when: { first: 3 }, ...ends }, { name: 'c' }]),
      scenario([{ name: 'd', ...ends }], { name: 'later' }),
    ])
    const shadows = (all: readonly { readonly rules: readonly { readonly shadowed_by: readonly object[] }[] }[]) =>
      all.flatMap(({ rules }) => rules.map(({ shadowed_by }) => shadowed_by))
    for (let nth = 0; nth < 4; nth += 1) fired(of.scenarios)
    const a = { scenario: 's', rule: 'a', requests: 2 }
    const expected = [[], [a], [], [a, { scenario: 's', rule: 'b', requests: 1 }]]
    expect(shadows(of.scenarios.list())).toEqual(expected)
    expect(shadows(of.scenarios.history())).toEqual(expected)
    of.scenarios.reset()
    fired(of.scenarios)
    expect(of.scenarios.history()[1]?.rules[0]?.shadowed_by[0]).toEqual({ ...a, requests: 3 })
  })

  it.each<[string, Partial<ScenarioRequest>[], ScenarioRule['when'], number[]]>([
    ['accounts', [ADA, GRACE, ADA, GRACE, ADA], { nth: 2 }, [2, 3]],
    ['every second request of each', [ADA, GRACE, ADA, ADA, ADA, GRACE], { every: 2 }, [2, 4, 5]],
    ['accounts that are not there yet', [NOBODY, ADA, NOBODY, OTHER_NOBODY], { first: 1 }, [0, 1, 3]],
    ['requests that name none, together', [{}, {}, ADA], { after: 1 }, [1]],
    ['names of object prototypes', [{ locator: { id: '__proto__' } }, ADA], { first: 1 }, [0, 1]],
  ])('with per: account counts by account: %s', (_name, requests, when, expected) => {
    const { scenarios } = mock([scenario([{ when: { ...when, per: 'account' } }])])
    expect(requests.flatMap((fields, at) => (fired(scenarios, fields).length > 0 ? [at] : []))).toEqual(expected)
    const [history] = scenarios.history()
    expect(history?.rules).toMatchObject([{ matched: requests.length, hits: expected.length }])
  })

  it('with per: account is never spent, keeps its counts in its row, and says whose request it was', async () => {
    const { scenarios, environment, reopened } = mock([])
    scenarios.define(scenario([{ when: { first: 1, per: 'account' } }]))
    await scenarios.start('s')
    expect(scenarios.match(request(ADA))?.rules[0]).toMatchObject({
      sentence: expect.stringMatching(/^On request 1 of its account that matches, /),
      ...{ matched: 1, of: 1 },
    })
    expect(fired(reopened([]), ADA)).toEqual([])
    expect(fired(reopened([]), GRACE)).toEqual(['r'])
    expect(environment.model.tables.scenario_runs.get('s')).toMatchObject({
      rules: [{ matched: 3, of_accounts: { ca_ada: 2, ca_grace: 1 } }],
    })
    expect(scenarios.list()).toMatchObject([{ spent: false }])
  })

  it('matches a later rule by the state that an earlier one has set', () => {
    const { scenarios } = mock([
      scenario(
        [
          { name: 'a', when: { state: 'one' }, then: 'two' },
          { name: 'b', when: { state: 'two' } },
        ],
        {
          initial: 'one',
        },
      ),
    ])
    expect(scenarios.match(request())?.rules.map((fired) => fired.rule)).toEqual(['a', 'b'])
  })

  it('answers a request once: the next rule that would answer does not fire', () => {
    const { scenarios } = mock([
      scenario([
        { name: 'a', do: [{ kind: 'reset_connection', params: {} }] },
        { name: 'b', do: [{ kind: 'timeout', params: {} }] },
        { name: 'c', do: [{ kind: 'latency', params: { min: 1, max: 1 } }] },
      ]),
    ])
    expect(scenarios.match(request())?.rules.map((fired) => fired.rule)).toEqual(['a', 'c'])
    const shadowed_by = [{ scenario: 's', rule: 'a', requests: 1 }]
    expect(rulesNotFired(scenarios.history())).toEqual([
      { scenario: 's', rule: 'b', at: 'service', matched: 1, shadowed_by, stopped: false },
    ])
  })
})

describe('which requests a rule is about', () => {
  const about = (on: ScenarioRule['on'], fields: Partial<ScenarioRequest>): boolean =>
    mock([scenario([{ on }])]).scenarios.match(request(fields)) !== undefined
  const body = (value: JsonValue): Partial<ScenarioRequest> => ({ body: value })
  const ADA = {
    id: 'ca_1',
    connector: 'mail',
    identifier: 'ada@example.com',
    organization_id: 'org_1',
    user_id: 'user_1',
    status: 'ACTIVE',
  } as Account
  const hostile = JSON.parse('{"__proto__": {"a": 1}}') as JsonObject

  it.each([
    [{ operation: 'list_tools' }, { operation: 'list_tools' }, true],
    [{ operation: 'list_tools' }, { operation: 'list_providers' }, false],
    [{ tool: 'mail_*' }, { tool: 'mail_send' }, true],
    [{ tool: 'mail_*' }, {}, false],
    [{ client: 'ci-*' }, { clientId: 'ci-7' }, true],
    [{ method: 'POST', path: '/v1/*' }, { method: 'POST', path: '/v1/a/b' }, true],
    [{ body: { 'to.0': '*@example.com' } }, body({ to: ['a@example.com'] }), true],
    [{ body: { to: '*@example.com' } }, body({ to: 'a@example.org' }), false],
    [{ body: { count: 3 } }, body({ count: 3 }), true],
    [{ body: { count: 3 } }, body({ count: '3' }), false],
    [{ body: { 'constructor.name': '*' } }, body({}), false],
    [{ body: { '__proto__.a': 1 } }, body(hostile), true],
    [{ query: { tag: 'b' } }, { query: { tag: ['a', 'b'] } }, true],
    [{ headers: { 'x-a': '1*' } }, { headers: { 'x-a': '12' } }, true],
    [{ headers: { toString: '*' } }, {}, false],
    [{ account: { identifier: 'ada*' } }, { locator: { identifier: 'ada@example.com' } }, true],
    [{ account: { status: 'ACTIVE' } }, { locator: { identifier: 'ada@example.com' } }, false],
    [{ account: { toString: '*' } }, { locator: { identifier: 'ada@example.com' } }, false],
    [{ account: { identifier: '*' } }, {}, false],
    [{ account: { id: 'ca_1', status: 'ACTIVE' } }, { account: ADA }, true],
    [{ account: { connector: 'mail', organization_id: 'org_1' } }, { account: ADA }, true],
    [{ account: { identifier: 'ada@*', user_id: 'user_1' } }, { account: ADA }, true],
    [{ account: { id: 'ca_1', status: 'EXPIRED' } }, { account: ADA }, false],
    [{ account: { identifier: 'eve@*' } }, { account: ADA, locator: { identifier: 'eve@example.com' } }, false],
    [{ connector: 'mail' }, { connector: 'mail' }, true],
    [{ connector: 'mail' }, { connector: 'files' }, false],
    [{ connector: '*' }, {}, false],
    [{ tool: 'mail_*' }, { tool: 'file_send' }, false],
    [{ client: 'ci-*' }, { clientId: 'app' }, false],
    [{ client: '*' }, {}, false],
    [{ method: 'POST' }, { method: 'GET' }, false],
    [{ path: '/v1/*' }, { path: '/v2/a' }, false],
    [{ body: { a: 1, b: 2 } }, body({ a: 1, b: 2 }), true],
    [{ body: { a: 1, b: 2 } }, body({ a: 1, b: 3 }), false],
    [{ query: { tag: 'b' } }, { query: { tag: ['a', 'c'] } }, false],
    [{ query: { tag: 'b' } }, { query: {} }, false],
    [{ query: { tag: '*' } }, { query: { tag: null } }, false],
    [{ query: { tag: '7' } }, { query: { tag: 7 } }, true],
    [{ query: { tag: 'true' } }, { query: { tag: [false, true] } }, true],
    [{ query: { tag: 'a', more: 'b' } }, { query: { tag: 'a', more: 'c' } }, false],
    [{ headers: { 'x-a': '1' } }, { headers: { 'x-a': '12' } }, false],
    [{ headers: { 'x-a': '2' } }, { headers: { 'x-a': ['1', '2'] } }, true],
    [{}, { at: 'third_party' as const }, false],
  ] as [ScenarioRule['on'], Partial<ScenarioRequest>, boolean][])('%j and %j: %s', (on, fields, fits) => {
    expect(about(on, fields)).toBe(fits)
  })
})

describe('the scenarios of an environment', () => {
  it('run from the start, and again after a reset', () => {
    const { scenarios } = mock([scenario([{ when: { first: 1 }, then: 'done' }], { initial: 'new' })])
    expect(scenarios.active).toBe(true)
    scenarios.match(request())
    expect(scenarios.list()).toMatchObject([{ name: 's', running: true, state: 'done', rules: [{ hits: 1 }] }])
    scenarios.reset()
    expect(scenarios.list()).toMatchObject([{ running: true, state: 'new', rules: [{ matched: 0, hits: 0 }] }])
  })

  it('are only those of the start after a reset; others are known, and no longer run', async () => {
    const { scenarios } = mock([scenario([{}])])
    scenarios.define(scenario([{}], { name: 'by hand' }))
    await scenarios.start('by hand')
    scenarios.reset()
    expect(scenarios.list()).toMatchObject([
      { name: 's', running: true, started: true },
      { name: 'by hand', running: false, started: false },
    ])
  })

  it('do not act once they are stopped, and keep their counts', () => {
    const { scenarios } = mock([scenario([{}])])
    scenarios.match(request())
    scenarios.stop('s')
    expect(scenarios.active).toBe(false)
    expect(scenarios.match(request())).toBeUndefined()
    expect(scenarios.list()).toMatchObject([{ running: false, rules: [{ hits: 1 }] }])
  })

  it('stay stopped when they are defined again, and restart from the beginning only by hand', async () => {
    const { scenarios, environment } = mock([scenario([{ when: { first: 1 } }])])
    scenarios.match(request())
    scenarios.stop('s')
    environment.model.transact(() => environment.model.count('account_sequence'))
    expect([scenarios.active, scenarios.match(request())]).toEqual([false, undefined])
    scenarios.define(scenario([{}]))
    expect([scenarios.active, scenarios.match(request())]).toEqual([false, undefined])
    expect(scenarios.list()).toMatchObject([{ running: false, rules: [{ matched: 0, hits: 0 }] }])
    await scenarios.start('s')
    expect(scenarios.match(request())).toBeDefined()
    expect(scenarios.list()).toMatchObject([{ running: true, rules: [{ matched: 1, hits: 1 }] }])
  })

  it('start each time they are defined, bundled ones too', async () => {
    const { scenarios } = mock([])
    scenarios.define(scenario([{ when: { first: 1 } }]))
    expect(scenarios.active).toBe(false)
    await scenarios.start('s')
    await scenarios.start('bundled')
    scenarios.match(request())
    await scenarios.start('s')
    expect(scenarios.list()).toMatchObject([{ rules: [{ hits: 0 }] }, { name: 'bundled', rules: [{ hits: 1 }] }])
    // The hits of earlier runs still count.
    expect(rulesNotFired(scenarios.history())).toEqual([])
    expect(scenarios.history()).toMatchObject([{ name: 's', started: 2, startedManually: true }, { name: 'bundled' }])
  })

  it('are refused by name when there is none', async () => {
    const { scenarios } = mock([scenario([{}])])
    await expect(scenarios.start('x')).rejects.toThrow('there is no scenario "x"; there are bundled, s')
    expect(() => scenarios.stop('x')).toThrow('there is no scenario "x" to stop; there is only s')
    expect(() => scenarios.stop('bundled')).toThrow('there is no scenario "bundled" to stop; there is only s')
  })

  it('are unknown once they are cleared', async () => {
    const { scenarios } = mock([scenario([{}])])
    scenarios.clear()
    expect([scenarios.active, scenarios.list()]).toEqual([false, []])
    await expect(scenarios.start('s')).rejects.toThrow(UnknownScenarioError)
  })

  it('record each rule that fired, with its effects, in the trace of its request', () => {
    const { scenarios } = mock([
      scenario([
        {
          do: [
            { kind: 'expire_account', params: {} },
            { kind: 'latency', params: { min: 5, max: 5 } },
          ],
          then: 'x',
        },
      ]),
    ])
    const trace = new RequestTrace()
    scenarios.match(request({ trace }))
    const sentence =
      'On request 1 that matches, makes the account EXPIRED, waits 5 ms before the answer, and goes to state x; ' +
      'this could not be done: the request is about no connected account that there is'
    expect(trace.rules).toMatchObject([
      { scenario: 's', rule: 'r', at: 'service', sentence, injected: false, call: null },
    ])
    expect(trace.rules[0]?.do.map(({ kind }) => kind)).toEqual(['expire_account', 'latency'])
  })
})

describe('the effects of rules on the model', () => {
  const ADA = { id: 'ca_1', status: 'ACTIVE' } as Account
  const NOW = '2026-01-01T00:00:00.000Z'
  const token = { access_token: 'at_1', refresh_token: 'rt_1', scopes: [], domain: '' }
  const grant = {
    id: 'g_1',
    connector: 'app',
    account_id: 'ca_1',
    person: 'ada@example.com',
    scopes: [],
    access: 'at_1',
    secret: '',
    refresh_token: 'rt_1',
    revoked: false,
    refresh_revoked: false,
  }
  const pending = {
    id: 'ar_1',
    account_id: 'ca_1',
    identifier: 'ada@example.com',
    expires_at: '2026-01-01T01:00:00.000Z',
  }
  /** An account with a token and a grant, and an auth request of it that is pending. */
  const doing = (...kinds: ScenarioRule['do'][number][]): EngineMock => {
    const made = mock([scenario([{ do: kinds }])])
    const { tables } = made.environment.model
    made.environment.model.transact(() => {
      tables.accounts.put(accountOf(connectorOf('OAUTH'), { oauth_token: token }))
      tables.grants.put(grant)
      tables.auth_requests.put({ ...pending, outcome: 'pending' })
    })
    return made
  }
  /** The parts of the model that faults change. */
  const stateOf = ({ environment }: EngineMock): object => {
    const { accounts, grants, auth_requests: requests } = environment.model.tables
    const { status, token_expires_at: expires } = accounts.get('ca_1') ?? {}
    return {
      status,
      expires,
      refresh: grants.get('g_1')?.refresh_token,
      request: requests.get('ar_1')?.outcome,
      now: environment.clock.instant(),
      revoked: grants.get('g_1')?.revoked,
    }
  }
  const UNCHANGED = {
    status: 'ACTIVE',
    expires: undefined,
    refresh: 'rt_1',
    request: 'pending',
    now: NOW,
    revoked: false,
  }

  it.each<[string, JsonObject, object]>([
    ['expire_account', {}, { status: 'EXPIRED' }],
    ['expire_access_token', {}, { expires: NOW }],
    ['revoke_refresh_token', {}, { refresh: '' }],
    ['disconnect', {}, { status: 'DISCONNECTED', request: 'withdrawn', revoked: true }],
    ['consume_auth_request', {}, { request: 'consumed' }],
    ['advance_clock', { by: 5_000 }, { now: '2026-01-01T00:00:05.000Z' }],
    ['advance_clock', { by: 3_600_000 }, { now: '2026-01-01T01:00:00.000Z', request: 'expired' }],
  ])('%s of %j is applied at once, to the account of the request', (kind, params, change) => {
    const made = doing(model(kind, params))
    const found = made.scenarios.match(request({ account: ADA, body: { auth_request_id: 'ar_1' } }))
    expect(stateOf(made)).toEqual({ ...UNCHANGED, ...change })
    expect(found).toMatchObject({ faults: [], rules: [{ rule: 'r' }] })
    expect([...(found?.applied ?? [])]).toEqual([kind])
    expect(found?.rules[0]?.sentence).not.toContain('could not be done')
  })

  it('revoke_bearer_tokens: none is valid any more', () => {
    const { scenarios, environment } = doing(model('revoke_bearer_tokens'))
    const { model: state } = environment
    state.transact(() => {
      for (const id of ['one', 'two'])
        state.tables.bearer_tokens.put({ id, client_id: 'c', expires_at: '2026-01-01T01:00:00.000Z' })
    })
    scenarios.match(request())
    const revoked = [...state.tables.bearer_tokens.values()].map(({ revoked_at }) => revoked_at)
    expect(revoked).toEqual([expect.any(String), expect.any(String)])
  })

  it.each<[string, Partial<ScenarioRequest>, string]>([
    ['expire_account', {}, 'the request is about no connected account that there is'],
    [
      'expire_account',
      { account: { id: 'ca_9' } as Account },
      'the request is about no connected account that there is',
    ],
    ['consume_auth_request', {}, 'the request names no auth_request_id'],
    ['consume_auth_request', { body: { auth_request_id: 7 } }, 'the request names no auth_request_id'],
  ])('%s of %j cannot be applied, and the rule records that', (kind, fields, reason) => {
    const made = doing(model(kind))
    const found = made.scenarios.match(request(fields))
    expect([stateOf(made), [...(found?.applied ?? [])]]).toEqual([UNCHANGED, []])
    expect(found?.rules[0]?.sentence).toMatch(new RegExp(`; this could not be done: ${reason}$`))
  })

  it('records for each effect why it could not be applied', () => {
    const { scenarios } = doing(model('expire_account'), model('consume_auth_request'))
    expect(scenarios.match(request())?.rules[0]?.sentence).toBe(
      'On request 1 that matches, makes the account EXPIRED, consumes the auth request as a verify before this one does; ' +
        'this could not be done: the request is about no connected account that there is; ' +
        'the request names no auth_request_id',
    )
  })

  it('returns the faults that affect the answer, in their order', () => {
    const { scenarios } = doing(model('latency', { min: 1, max: 1 }), model('expire_account'), model('timeout'))
    const found = scenarios.match(request({ account: ADA }))
    expect(found?.faults.map(({ kind }) => kind)).toEqual(['latency', 'timeout'])
    expect([...(found?.applied ?? [])]).toEqual(['expire_account'])
  })

  it.each<[string, ScenarioRule['do'], boolean]>([
    ['a wait', [model('latency', { min: 1, max: 1 })], false],
    ['a change of the model', [model('expire_account')], false],
    ['the end of the connection', [model('reset_connection')], true],
    ['a wait and the end of the connection', [model('latency', { min: 1, max: 1 }), model('timeout')], true],
  ])('%s is recorded as an injected answer or not', (_title, kinds, injected) => {
    const { scenarios } = doing(...kinds)
    const trace = new RequestTrace()
    scenarios.match(request({ account: ADA, trace }))
    expect(trace.rules.map((each) => each.injected)).toEqual([injected])
  })

  it('a rule that only sets a state records that', () => {
    const { scenarios } = mock([scenario([{ then: 'x', off_spec: true }], { initial: 'y' })])
    expect(scenarios.match(request())?.rules).toEqual([
      {
        scenario: 's',
        rule: 'r',
        at: 'service',
        sentence: 'On request 1 that matches, goes to state x',
        do: [],
        off_spec: true,
        matched: 1,
        of: null,
      },
    ])
  })
})

const two = [scenario([{ name: 'a' }], { name: 'one' }), scenario([{ name: 'b' }], { name: 'two' })]

it('several scenarios: fire in the order of their starts, which a new start changes', async () => {
  const { scenarios } = mock(two)
  expect(fired(scenarios)).toEqual(['a', 'b'])
  await scenarios.start('one')
  expect(fired(scenarios)).toEqual(['b', 'a'])
  expect(scenarios.list().map(({ name }) => name)).toEqual(['one', 'two'])
})

it('several scenarios: answer a request once between them', () => {
  const answering = (name: string): Partial<ScenarioRule> => ({ name, do: [model('timeout')], when: { every: 1 } })
  const { scenarios } = mock([
    scenario([answering('a')], { name: 'one' }),
    scenario([answering('b'), { name: 'c', do: [model('malformed_json')] }], { name: 'two' }),
  ])
  expect(fired(scenarios)).toEqual(['a', 'c'])
})

it.each<[string, ScenarioRule['do'], string[]]>([
  ['an answer', [model('respond', { status: 503, headers: {} })], ['a']],
  ['the end of the connection', [model('reset_connection')], ['a']],
  [
    'a wait and an answer',
    [model('latency', { min: 1, max: 1 }), model('respond', { status: 503, headers: {} })],
    ['a'],
  ],
  ['a wait', [model('latency', { min: 1, max: 1 })], ['a', 'b']],
  ['a change of the model', [model('advance_clock', { by: 1 })], ['a', 'b']],
  ['another delivery', [model('malformed_json')], ['a', 'b']],
])('several scenarios: %s of a second rule, on a request that a first one answers', (_title, kinds, names) => {
  const { scenarios } = mock([
    scenario([
      { name: 'a', do: [model('respond', { status: 429, headers: {} })] },
      { name: 'b', do: kinds },
    ]),
  ])
  expect(fired(scenarios)).toEqual(names)
})

it('several scenarios: a rule without a next state does not change the state', () => {
  const { scenarios } = mock([scenario([{ name: 'a' }, { name: 'b', when: { state: 'begin' } }], { initial: 'begin' })])
  expect([fired(scenarios), fired(scenarios)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  expect(scenarios.list()).toMatchObject([{ state: 'begin' }])
})

it('several scenarios: one stops, the other continues', () => {
  const { scenarios } = mock(two)
  scenarios.stop('one')
  expect([scenarios.active, fired(scenarios)]).toEqual([true, ['b']])
})

it('several scenarios are listed with their names', async () => {
  const { scenarios } = mock([
    scenario(
      [{ name: 'a', then: 'next', must_fire: false, do: [model('expire_account'), model('reset_connection')] }],
      {
        name: 'one',
        description: 'The first.',
        initial: 'begin',
      },
    ),
  ])
  scenarios.define(scenario([], { name: 'two' }))
  scenarios.define(scenario([{ name: 'c', do: [model('expire_account')] }], { name: 'three' }))
  await scenarios.start('three')
  expect(scenarios.list()).toEqual([
    {
      name: 'one',
      description: 'The first.',
      running: true,
      spent: false,
      started: true,
      state: 'begin',
      rules: [
        {
          name: 'a',
          at: 'service',
          must_fire: false,
          sentence: 'makes the account EXPIRED, resets the connection without an answer, goes to state next',
          matched: 0,
          hits: 0,
          shadowed_by: [],
        },
      ],
    },
    { name: 'two', description: '', running: false, spent: false, started: false, state: null, rules: [] },
    {
      name: 'three',
      description: '',
      running: true,
      spent: false,
      started: true,
      state: null,
      rules: [
        {
          ...{ name: 'c', at: 'service', must_fire: true, sentence: 'makes the account EXPIRED' },
          ...{ matched: 0, hits: 0, shadowed_by: [] },
        },
      ],
    },
  ])
})

it('several scenarios are known with the bundled ones, each once', async () => {
  const { scenarios } = mock(two)
  const names = async () => (await scenarios.known()).map(({ name, running, started }) => [name, running, started])
  const own = [
    ['one', true, true],
    ['two', true, true],
  ]
  expect(await names()).toEqual([...own, ['another', false, false], ['bundled', false, false]])
  await scenarios.start('bundled')
  expect(await names()).toEqual([...own, ['bundled', true, true], ['another', false, false]])
})

it('several scenarios are found by name, with their text', async () => {
  const { scenarios } = mock([scenario([{}], { text: 'name: s' })])
  expect(await scenarios.find('s')).toMatchObject({ scenario: { name: 's', running: true }, document: 'name: s' })
  expect(await scenarios.find('bundled')).toMatchObject({
    scenario: { name: 'bundled', running: false },
    document: 'name: bundled',
  })
  await expect(scenarios.find('x')).rejects.toThrow('there is no scenario "x"; there are bundled, s')
})

const again = scenario([{ name: 'new' }], { initial: 'begin' })

it('a scenario that is defined again starts anew when it runs', () => {
  const { scenarios, environment } = mock([scenario([{ name: 'old', then: 'end' }], { initial: 'begin' })])
  environment.clock.advance(60_000)
  expect(fired(scenarios)).toEqual(['old'])
  scenarios.define(again)
  expect(scenarios.list()).toMatchObject([{ running: true, state: 'begin', rules: [{ name: 'new', matched: 0 }] }])
  expect(fired(scenarios)).toEqual(['new'])
})

it('a scenario that is defined again counts its times from then on', () => {
  const { scenarios, environment } = mock([scenario([{}])])
  environment.clock.advance(60_000)
  scenarios.define(scenario([{ when: { until: { after: 60_000 } } }]))
  environment.clock.advance(59_999)
  expect(fired(scenarios)).toEqual(['r'])
  environment.clock.advance(1)
  expect(fired(scenarios)).toEqual([])
})

it('a scenario that is defined again stays one of the start, or one started by hand', async () => {
  const { scenarios } = mock([scenario([{}])])
  scenarios.define(again, false)
  expect(scenarios.history()).toMatchObject([{ started: 2, startedManually: false }])
  scenarios.define(again)
  expect(scenarios.history()).toMatchObject([{ started: 3, startedManually: true }])
  scenarios.reset()
  await scenarios.start('s')
  scenarios.define(again, false)
  scenarios.reset()
  expect(scenarios.list()).toMatchObject([{ rules: [{ name: 'r' }] }])
})

it('a scenario that is defined again: whose faults are those of a newer version is refused', async () => {
  const { scenarios } = mock([])
  for (const kind of ['of_a_newer_version', 'constructor']) {
    scenarios.define(scenario([{ do: [model(kind)] }]))
    await expect(scenarios.start('s')).rejects.toThrow(`there is no fault ${kind}; a newer version may have it`)
  }
})

describe('scenarios and their rows', () => {
  it('of an earlier start are removed, and those that were started by hand stay with their counts', async () => {
    const first = mock([scenario([{ name: 'old' }], { name: 'start' })])
    first.scenarios.define(scenario([{ name: 'by hand', then: 'late' }], { name: 'hand', initial: 'early' }))
    await first.scenarios.start('hand')
    fired(first.scenarios)
    const next = first.reopened([scenario([{ name: 'new' }], { name: 'other' })])
    expect(next.list()).toMatchObject([
      { name: 'hand', running: true, state: 'late', rules: [{ matched: 1, hits: 1 }] },
      { name: 'other', running: true },
    ])
    expect(fired(next)).toEqual(['by hand', 'new'])
    expect(next.history().map(({ name, startedManually }) => [name, startedManually])).toEqual([
      ['hand', true],
      ['other', false],
    ])
  })

  it('are saved with each request that a rule counts, and with no other', () => {
    const counted = { on: { operation: 'list_tools' }, then: 'b' }
    const { scenarios, environment } = mock([scenario([counted], { initial: 'a' })])
    const row = () => environment.model.tables.scenario_runs.get('s')
    const started = row()
    fired(scenarios, { operation: 'list_connections' })
    expect(row()).toBe(started)
    fired(scenarios, { operation: 'list_tools' })
    expect(row()).toMatchObject({ running: true, state: 'b', rules: [{ matched: 1, hits: 1 }] })
  })

  it('whose change is undone have their former state, and a start that was undone is not counted', () => {
    const { scenarios, environment } = mock([scenario([{ name: 'old' }])])
    fired(scenarios)
    expect(() =>
      environment.model.transact(() => {
        scenarios.define(scenario([{ name: 'new' }]))
        throw new Error('undone')
      }),
    ).toThrow('undone')
    expect(fired(scenarios)).toEqual(['old'])
    expect(scenarios.history()).toMatchObject([{ started: 1, rules: [{ name: 'old', matched: 2, hits: 2 }] }])
  })

  it('stop and keep their counts in their row', () => {
    const { scenarios, environment } = mock([scenario([{}])])
    fired(scenarios)
    scenarios.stop('s')
    expect(environment.model.tables.scenario_runs.get('s')).toMatchObject({ running: false, rules: [{ matched: 1 }] })
  })

  it('that never ran are stopped without any row', () => {
    const { scenarios, environment } = mock([])
    scenarios.define(scenario([{}]))
    scenarios.stop('s')
    expect(environment.model.tables.scenario_runs.size).toBe(0)
  })
})

describe('the history of scenarios', () => {
  it('is kept through any number of resets', () => {
    const { scenarios } = mock([scenario([{}])])
    for (let round = 0; round < 1100; round += 1) {
      fired(scenarios)
      scenarios.reset()
    }
    expect(scenarios.history()).toEqual([
      {
        name: 's',
        started: 1101,
        startedManually: false,
        stopped: false,
        rules: [{ name: 'r', at: 'service', must_fire: true, matched: 1100, hits: 1100, shadowed_by: [] }],
      },
    ])
  })

  it('has the scenarios as stopped whose latest run was stopped, also after any number of resets', async () => {
    const { scenarios } = mock([])
    const stopped = (): boolean[] => rulesNotFired(scenarios.history()).map((each) => each.stopped)
    scenarios.define(scenario([{ when: { nth: 9 } }]))
    for (let round = 0; round < 1100; round += 1) {
      await scenarios.start('s')
      scenarios.stop('s')
      if (round === 0) expect(stopped()).toEqual([true])
      scenarios.reset()
      if (round === 0) expect(stopped()).toEqual([true])
    }
    expect(stopped()).toEqual([true])
    await scenarios.start('s')
    expect(stopped()).toEqual([false])
    scenarios.reset()
    expect(stopped()).toEqual([false])
  })

  it('counts for the rules of the latest definition, by name', () => {
    const { scenarios } = mock([scenario([{ name: 'a' }, { name: 'b', on: { operation: 'list_tools' } }])])
    fired(scenarios)
    scenarios.define(scenario([{ name: 'b' }, { name: 'a', when: { nth: 7 } }, { name: 'c', must_fire: false }]))
    fired(scenarios)
    expect(scenarios.history()).toMatchObject([
      {
        started: 2,
        rules: [
          { name: 'b', matched: 1, hits: 1 },
          { name: 'a', matched: 2, hits: 1 },
          { name: 'c', matched: 1, hits: 1 },
        ],
      },
    ])
  })

  it('lists rules that never fired, except optional ones', () => {
    const never = { when: { nth: 9 } }
    const { scenarios } = mock([
      scenario([{ name: 'a', ...never }, { name: 'b', ...never, must_fire: false }, { name: 'c' }]),
    ])
    fired(scenarios)
    expect(rulesNotFired(scenarios.history())).toEqual([
      { scenario: 's', rule: 'a', at: 'service', matched: 1, shadowed_by: [], stopped: false },
    ])
  })

  it('does not affect random numbers: a reset restarts them with the next number of the ids', () => {
    const [one, other] = [mock([scenario([{}])]), mock([])]
    other.environment.ids.number()
    for (let draw = 0; draw < 3; draw += 1) one.scenarios.random()
    one.scenarios.reset()
    expect(one.scenarios.random()).toBe(other.scenarios.random())
  })
})

describe('the scenarios of all environments', () => {
  const start = scenario([{ name: 'start' }])
  const registryOf = () => new ScenarioRegistry(BUNDLED)

  it('begin with those of the start, separately in each environment', () => {
    const registry = registryOf()
    const [one, two] = ['one', 'two'].map((name) => testEnvironment({ name })) as [TestEnvironment, TestEnvironment]
    registry.startWith([start])
    fired(registry.of(one))
    expect(registry.of(one)).toBe(registry.of(one))
    expect(registry.of(one).list()).toMatchObject([{ rules: [{ matched: 1 }] }])
    expect(registry.of(two).list()).toMatchObject([{ rules: [{ matched: 0 }] }])
  })

  it('are empty without any of the start, until one is started by hand', async () => {
    const registry = registryOf()
    const scenarios = registry.of(testEnvironment())
    expect(scenarios.list()).toEqual([])
    await scenarios.start('bundled')
    expect(scenarios.list()).toMatchObject([{ name: 'bundled', running: true }])
  })

  it('begin with those of the environment too, which take precedence over one of the same name', () => {
    const environment = testEnvironment()
    environment.model.transact(() => {
      environment.model.tables.origins.put({
        id: 'origin',
        scenarios: [scenario([{ name: 'own' }]), scenario([{ name: 'more' }], { name: 't' })],
      } as unknown as Baseline)
    })
    const registry = registryOf()
    registry.startWith([start, scenario([{ name: 'other' }], { name: 'u' })])
    expect(fired(registry.of(environment))).toEqual(['other', 'own', 'more'])
    expect(registry.of(environment).history()).toMatchObject([{ started: 1 }, { started: 1 }, { started: 1 }])
  })

  it('are read again: running ones restart, and resets begin with them', () => {
    const registry = registryOf()
    const environment = testEnvironment()
    registry.startWith([start])
    expect(fired(registry.of(environment))).toEqual(['start'])
    registry.redefine([scenario([{ name: 'edited' }])], [environment])
    expect(fired(registry.of(environment))).toEqual(['edited'])
    registry.of(environment).stop('s')
    registry.redefine([scenario([{ name: 'again' }])], [environment])
    expect(fired(registry.of(environment))).toEqual([])
    registry.of(environment).reset()
    expect(fired(registry.of(environment))).toEqual(['again'])
    expect(registry.of(environment).history()).toMatchObject([{ startedManually: false }])
  })

  it('are read again: one with another name takes the place of the former one, the others go on', () => {
    const registry = registryOf()
    const environment = testEnvironment()
    const other = scenario([{ name: 'other' }], { name: 'u' })
    registry.startWith([start, other])
    const scenarios = registry.of(environment)
    expect(fired(scenarios)).toEqual(['start', 'other'])
    registry.redefine([scenario([{ name: 'renamed' }], { name: 'v' }), structuredClone(other)], [environment])
    expect(fired(scenarios)).toEqual(['other', 'renamed'])
    expect(scenarios.list().map(({ name, running, rules }) => [name, running, rules[0]?.matched])).toEqual([
      ['u', true, 2],
      ['v', true, 1],
    ])
  })

  it('are read again: one that was started manually stays without its file', async () => {
    const registry = registryOf()
    const scenarios = registry.of(testEnvironment())
    registry.startWith([start])
    const environment = testEnvironment({ name: 'other' })
    const started = registry.of(environment)
    await started.start('s')
    registry.redefine([], [environment])
    expect(fired(started)).toEqual(['start'])
    expect(fired(scenarios)).toEqual([])
  })

  it('are read again: one that the environment was made with stays', () => {
    const environment = testEnvironment()
    environment.model.transact(() => {
      const origin = { id: 'origin', scenarios: [scenario([{ name: 'own' }])] }
      environment.model.tables.origins.put(origin as unknown as Baseline)
    })
    const registry = registryOf()
    registry.startWith([start])
    expect(fired(registry.of(environment))).toEqual(['own'])
    registry.redefine([scenario([{ name: 'edited' }])], [environment])
    expect(fired(registry.of(environment))).toEqual(['own'])
    registry.redefine([], [environment])
    expect(fired(registry.of(environment))).toEqual(['own'])
  })

  it('save their counts, only for environments that have used them', () => {
    const registry = registryOf()
    const [one, two] = ['one', 'two'].map((name) => testEnvironment({ name })) as [TestEnvironment, TestEnvironment]
    registry.startWith([start])
    fired(registry.of(one))
    expect(one.model.tables.scenario_runs.get('s')).toMatchObject({ rules: [{ matched: 1 }] })
    expect(two.model.tables.scenario_runs.size).toBe(0)
  })
})

it('the error of an unknown scenario lists the known ones', () => {
  expect(new UnknownScenarioError('x', []).message).toBe('there is no scenario "x"; none is defined')
  expect(new UnknownScenarioError('x', ['a', 'b']).message).toBe('there is no scenario "x"; there are a, b')
})
