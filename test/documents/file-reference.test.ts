import { expect, it } from 'vitest'
import { connectorSchema, toConnector } from '../../src/documents/connector.ts'
import { schemaDocuments } from '../../.build/generate/json-schemas.ts'
import { scenarioSchema, toScenario } from '../../src/documents/scenario.ts'
import { bareConnector } from '../../src/domain/connector-defaults.ts'
import { parseDuration } from '../../src/domain/duration.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.ts'

interface Documented {
  readonly description?: string
  readonly default?: string | number
  readonly properties: Readonly<Record<string, Documented>>
  readonly items: Documented
}

const schemas = (await schemaDocuments()) as unknown as Record<'seed' | 'connector' | 'scenario', Documented>
const at = (schema: Documented, ...path: string[]): Documented | undefined =>
  path.reduce<Documented | undefined>((each, key) => (key === '[]' ? each?.items : each?.properties[key]), schema)

it.each(['bearer_token_lifetime', 'magic_link_lifetime', 'auth_request_lifetime'] as const)(
  'the file reference states the default of %s',
  (setting) => {
    const { description = '' } = at(schemas.seed, 'settings', setting) ?? {}
    const [, value = ''] = /Absent: (.*)\.$/.exec(description) ?? []
    expect(parseDuration(value)).toBe(DEFAULT_SETTINGS[setting])
  },
)

it('the file reference states the defaults of a connector, durations with their unit', () => {
  const call = { method: 'GET', path: '/' }
  const document = {
    connector: 'x',
    authorization_type: 'OAUTH',
    people: ['ada'],
    oauth: {},
    tools: [{ name: 't', call }],
  }
  const connector = toConnector(connectorSchema.parse(document))
  expect(connector.oauth).toEqual(bareConnector('x', 'OAUTH').oauth)
  const lifetime = at(schemas.connector, 'oauth', 'access_token_lifetime')?.default
  expect([lifetime, parseDuration(lifetime ?? '')]).toEqual(['1h', connector.oauth.access_token_lifetime])
  const timeout = at(schemas.connector, 'tools', '[]', 'call', 'timeout')?.default
  expect([timeout, parseDuration(timeout ?? '')]).toEqual(['30s', connector.tools[0]?.call.timeout])
})

it('the file reference states how long a slow body takes', () => {
  const rule = { name: 'slow', at: 'service', do: [{ slow_body: { pieces: 5 } }] }
  const scenario = toScenario(scenarioSchema.parse({ name: 'slow', rules: [rule] }))
  const over = at(schemas.scenario, 'rules', '[]', 'do', '[]')?.properties['slow_body']
  expect(JSON.stringify(over)).toContain('"default":"3s"')
  expect(scenario.rules[0]?.do).toEqual([{ kind: 'slow_body', params: { over: 3000, pieces: 5 } }])
})
