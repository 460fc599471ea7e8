import { describe, expect, it } from 'vitest'
import { unfired } from '../../src/scenarios/scenario-run.ts'
import type { JsonObject, JsonValue } from '../../src/domain/json.ts'
import type { Scenario, ScenarioRule } from '../../src/domain/scenario.ts'
import { RequestTrace } from '../../src/domain/request-trace.ts'
import { EnvironmentScenarios, type ScenarioServices } from '../../src/scenarios/environment-scenarios.ts'
import type { ScenarioRequest } from '../../src/scenarios/rule-matching.ts'
import { UnknownScenarioError } from '../../src/scenarios/scenario-run.ts'
import { testEnvironment, type TestEnvironment } from '../support/environment.ts'

interface Bench {
  environment: TestEnvironment
  scenarios: EnvironmentScenarios
}

function rule(fields: Partial<ScenarioRule>): ScenarioRule {
  const nothing = { on: {}, when: {}, do: [], then: null, must_fire: true, off_spec: false }
  return { name: 'r', at: 'service', ...nothing, ...fields }
}

function scenario(rules: Partial<ScenarioRule>[], fields: Partial<Scenario> = {}): Scenario {
  return { name: 's', description: '', initial: '', ...fields, rules: rules.map(rule) }
}

function bench(initial: readonly Scenario[], seed = 1): Bench {
  const environment = testEnvironment({ seed })
  const services: ScenarioServices = {
    bundled: (name) => Promise.resolve(name === 'bundled' ? scenario([{}], { name }) : undefined),
    bundledNames: () => Promise.resolve(['bundled']),
    bundledScenarios: () => Promise.resolve([scenario([{}], { name: 'bundled' })]),
    applyEvent: () => undefined,
    consumeAuthRequest: () => undefined,
    advanceClock: (_environment, by) => {
      environment.clock.advance(by)
    },
  }
  const scenarios = new EnvironmentScenarios(environment, services, () => initial)
  return { environment, scenarios }
}

function request(fields: Partial<ScenarioRequest> = {}): ScenarioRequest {
  const nothing = { body: undefined, query: {}, headers: {}, account: undefined }
  return { at: 'service', ...nothing, trace: new RequestTrace(), ...fields }
}

/** On which of so many requests a rule fires; time moves on by a minute after each. */
function firesOn(when: ScenarioRule['when'], requests = 10): number[] {
  const { scenarios, environment } = bench([scenario([{ when }])])
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

  it('counts only requests of its place, match and state, for each rule by itself', () => {
    const { scenarios } = bench([
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

  it('lets a later rule find the state that an earlier one has gone to', () => {
    const { scenarios } = bench([
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
    const { scenarios } = bench([
      scenario([
        { name: 'a', do: [{ kind: 'reset_connection', params: {} }] },
        { name: 'b', do: [{ kind: 'timeout', params: {} }] },
        { name: 'c', do: [{ kind: 'latency', params: { min: 1, max: 1 } }] },
      ]),
    ])
    expect(scenarios.match(request())?.rules.map((fired) => fired.rule)).toEqual(['a', 'c'])
    expect(unfired(scenarios.history())).toEqual([{ scenario: 's', rule: 'b', at: 'service', matched: 1 }])
  })
})

describe('which requests a rule is about', () => {
  const about = (on: ScenarioRule['on'], fields: Partial<ScenarioRequest>): boolean =>
    bench([scenario([{ on }])]).scenarios.match(request(fields)) !== undefined
  const body = (value: JsonValue): Partial<ScenarioRequest> => ({ body: value })
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
  ])('%j and %j: %s', (on, fields, fits) => {
    expect(about(on, fields)).toBe(fits)
  })
})

describe('the scenarios of an environment', () => {
  it('run from the start, and again after a reset', () => {
    const { scenarios } = bench([scenario([{ when: { first: 1 }, then: 'done' }], { initial: 'new' })])
    expect(scenarios.active).toBe(true)
    scenarios.match(request())
    expect(scenarios.list()).toMatchObject([{ name: 's', running: true, state: 'done', rules: [{ hits: 1 }] }])
    scenarios.reset()
    expect(scenarios.list()).toMatchObject([{ running: true, state: 'new', rules: [{ matched: 0, hits: 0 }] }])
  })

  it('act no more once they are stopped, and keep what they counted', () => {
    const { scenarios } = bench([scenario([{}])])
    scenarios.match(request())
    scenarios.stop('s')
    expect(scenarios.active).toBe(false)
    expect(scenarios.match(request())).toBeUndefined()
    expect(scenarios.list()).toMatchObject([{ running: false, rules: [{ hits: 1 }] }])
  })

  it('stay stopped when they are defined again, and start again only by hand, from the beginning', async () => {
    const { scenarios, environment } = bench([scenario([{ when: { first: 1 } }])])
    scenarios.match(request())
    scenarios.stop('s')
    scenarios.saveCounts()
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
    const { scenarios } = bench([])
    scenarios.define(scenario([{ when: { first: 1 } }]))
    expect(scenarios.active).toBe(false)
    await scenarios.start('s')
    await scenarios.start('bundled')
    scenarios.match(request())
    await scenarios.start('s')
    expect(scenarios.list()).toMatchObject([{ rules: [{ hits: 0 }] }, { name: 'bundled', rules: [{ hits: 1 }] }])
    // What a run before this one did has still happened.
    expect(unfired(scenarios.history())).toEqual([])
    expect(scenarios.history()).toMatchObject([{ name: 's', started: 2, byHand: true }, { name: 'bundled' }])
  })

  it('are refused by name when there is none', async () => {
    const { scenarios } = bench([scenario([{}])])
    await expect(scenarios.start('x')).rejects.toThrow('there is no scenario "x"; there are bundled, s')
    expect(() => {
      scenarios.stop('x')
    }).toThrow(UnknownScenarioError)
  })

  it('are gone once they are cleared', () => {
    const { scenarios } = bench([scenario([{}])])
    scenarios.clear()
    expect([scenarios.active, scenarios.list()]).toEqual([false, []])
  })

  it('note each rule that fired, with what it did, in the trace of its request', () => {
    const { scenarios } = bench([
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
