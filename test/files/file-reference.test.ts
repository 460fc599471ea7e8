import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { EXAMPLE_FILES, EXAMPLES } from '../../.build/generate/file-reference.ts'
import { ROOT } from '../../.build/project.ts'
import { readConfiguration } from '../../src/app/cli/configuration.ts'
import { ToolmockProgram } from '../app/cli/toolmock-process.ts'
import { connectorSchema, toConnector } from '../../src/files/connector.ts'
import { schemaDocuments } from '../../.build/generate/json-schemas.ts'
import { scenarioSchema, toScenario } from '../../src/files/scenario.ts'
import { bareConnector } from '../../src/model/domain/connector-defaults.ts'
import { parseDuration } from '../../src/model/domain/duration.ts'
import { DEFAULT_SETTINGS } from '../../src/model/domain/settings.ts'

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

const toolmock = ToolmockProgram.forThisFile()
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** The paths of the keys that the page lists for a document, such as `accounts[].status`. */
function keysOf(document: string): string[] {
  const [page = ''] = textOf('docs/file-reference.md')
    .split(/^(?=## )/m)
    .filter((part) => part.includes(`### Examples: ${document}`))
  let within = ''
  return [...page.matchAll(/^(?:### \w+: `(?<path>[^`]+)`|\| `(?<key>[^`]+)` .*)$/gm)].flatMap(({ groups = {} }) => {
    const { path, key = '' } = groups
    if (path !== undefined) within = `${path}.`
    return path === undefined ? [within + key] : []
  })
}

/** The values at a path: `[]` is each item of a list, or the value where a file may give one in its place; `*` each value of an object. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return value === undefined ? [] : [value]
  if (step === '[]') return [value].flat().flatMap((each) => valuesAt(each, rest))
  if (value === null || typeof value !== 'object') return []
  if (step === '*') return Object.values(value).flatMap((each) => valuesAt(each, rest))
  return valuesAt((value as Readonly<Record<string, unknown>>)[step], rest)
}

it('the examples of the file reference are valid', async () => {
  const files = Object.values({ ...EXAMPLE_FILES, config: [] }).flat()
  const { code, stderr } = await toolmock.run(['validate', ...files.map((file) => join(ROOT, EXAMPLES, file))])
  expect({ code, problems: stderr.split('\n').filter((line) => line && !line.startsWith('warning: ')) }).toEqual({
    code: 0,
    problems: [],
  })
  for (const file of EXAMPLE_FILES.config) {
    const path = join(ROOT, EXAMPLES, file)
    expect(() => readConfiguration(path, textOf(join(EXAMPLES, file)), ROOT)).not.toThrow()
  }
})

it.each(Object.entries(EXAMPLE_FILES))('the examples of the file reference: %s: have every key', (document, files) => {
  const examples: unknown[] = files.map((file) => parse(textOf(join(EXAMPLES, file))))
  // An extension's requests belong to no account, so a responder with this key never answers.
  const keys = keysOf(document).filter((key) => document !== 'extension' || !key.includes('on.account'))
  expect(keys.length).toBeGreaterThan(10)
  const steps = (key: string): string[] => key.replaceAll('[]', '.[]').split('.')
  expect(keys.filter((key) => examples.every((each) => valuesAt(each, steps(key)).length === 0))).toEqual([])
})
