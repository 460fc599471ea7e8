import { describe, expect, it } from 'vitest'
import { bareConnector } from '../../../src/model/domain/connector-defaults.ts'
import { isScenarioPath } from '../../../src/model/domain/scenario.ts'
import { emptyBundle, mergeBundles, type SeedBundle, withDefaultClient } from '../../../src/model/domain/seed.ts'

const NOTHING = {
  clients: [],
  settings: {},
  connectors: [],
  connections: [],
  providers: [],
  accounts: [],
  generate: [],
}
const client = (id: string, client_secret = 's') => ({ id, client_secret })
const bundle = (parts: object): SeedBundle => ({ ...emptyBundle(), ...parts })

describe('seeds one after another', () => {
  it('of which the later replaces what has the same name, in its place', () => {
    const merged = mergeBundles([
      bundle({
        clients: [client('a'), client('b')],
        settings: { consent: 'ask', revocation: 'final' },
        connectors: [bareConnector('mail', 'OAUTH'), bareConnector('shop', 'API_KEY')],
        connections: [{ key_id: 'mail', enabled: true }, { key_id: 'shop' }],
        collections: [{ connector: 'mail', collection: 'messages', items: [] }],
      }),
      bundle({
        clients: [client('a', 't'), client('c')],
        settings: { consent: 'deny' },
        connectors: [bareConnector('mail', 'API_KEY')],
        connections: [{ key_id: 'mail', enabled: false }],
        collections: [
          { connector: 'mail', collection: 'messages', items: [{ id: 1 }] },
          { connector: 'shop', collection: 'messages', items: [] },
        ],
      }),
    ])
    expect(merged.clients).toEqual([client('a', 't'), client('b'), client('c')])
    expect(merged.settings).toEqual({ consent: 'deny', revocation: 'final' })
    expect(merged.connectors.map((each) => `${each.connector} ${each.authorization_type}`)).toEqual([
      'mail API_KEY',
      'shop API_KEY',
    ])
    expect(merged.connections).toEqual([{ key_id: 'mail', enabled: false }, { key_id: 'shop' }])
    expect(merged.collections).toEqual([
      { connector: 'mail', collection: 'messages', items: [{ id: 1 }] },
      { connector: 'shop', collection: 'messages', items: [] },
    ])
  })

  it('of which providers and accounts are all there, and collections only where a seed has some', () => {
    expect(mergeBundles([emptyBundle()])).toEqual(NOTHING)
    const parts = { providers: [{ id: 'p' }], accounts: [{ identifier: 'ada' }], generate: [{ accounts: 1 }] }
    const merged = mergeBundles([bundle(parts), bundle(parts)])
    expect(merged).toEqual({
      ...NOTHING,
      providers: [{ id: 'p' }, { id: 'p' }],
      accounts: [{ identifier: 'ada' }, { identifier: 'ada' }],
      generate: [{ accounts: 1 }, { accounts: 1 }],
    })
  })
})

const standard = client('test_client', 'test_secret')

it.each([
  [[], [standard]],
  [[client('ci-*')], [standard, client('ci-*')]],
  [
    [client('ci-*'), client('a')],
    [client('ci-*'), client('a')],
  ],
])('the clients of a seed: %j become %j', (clients, expected) => {
  expect(withDefaultClient(bundle({ clients })).clients).toEqual(expected)
})

describe('a scenario', () => {
  it.each(['./outage', 'a\\outage', 'outage.yaml', 'outage.yml', 'outage.json'])('%s is given by its file', (name) => {
    expect(isScenarioPath(name)).toBe(true)
  })

  it.each(['outage', 'outage.yaml.d', 'outage.xyaml', 'outageyaml'])('%s is given by its name', (name) => {
    expect(isScenarioPath(name)).toBe(false)
  })
})
