import { faker } from '@faker-js/faker/locale/en'
import { describe, expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/model/domain/json.ts'
import { FAKE_METHODS } from '../../../src/service/third-party/fake-data.ts'
import { checkTemplate, MAX_STEPS, Templates } from '../../../src/service/third-party/template.ts'
import { testEnvironment } from '../../support/environment.ts'
import { it } from '../../servers/control/control-mock.ts'

async function render(value: JsonValue, values: JsonObject = {}): Promise<JsonValue> {
  const templates = new Templates()
  const { clock, ids } = testEnvironment({ seed: 1 })
  await templates.prepare({ value })
  return templates.render(value, { values, clock, ids })
}

const nested = (depth: number): string => `${'{{#if a}}'.repeat(depth)}x${'{{/if}}'.repeat(depth)}`
const calls = (depth: number): string => `{{json ${'(json '.repeat(depth)}1${')'.repeat(depth)}}}`

it.each([
  ['blocks up to the limit', nested(32), undefined],
  ['blocks beyond it', nested(33), 'a template nests at most 32 levels deep'],
  ['very many blocks', nested(3_000), 'a template nests at most 32 levels deep'],
  ['calls up to the limit', calls(31), undefined],
  ['calls beyond it', calls(32), 'a template nests at most 32 levels deep'],
  ['else beyond it', `{{#if a}}${'{{else if a}}'.repeat(200)}{{/if}}`, 'a template nests at most 32 levels deep'],
  ['as many characters as the limit', `{{a}}${'x'.repeat(65_531)}`, undefined],
  ['more characters', `{{a}}${'x'.repeat(65_532)}`, 'a template has at most 65536 characters'],
  ['an unknown method', "{{faker 'string.nothing'}}", "faker 'string.nothing': unknown method; string has alpha"],
  ['a method of every object', "{{faker 'string.constructor'}}", 'unknown method; string has'],
])('a template when it is read: with %s', (_what, text, problem) => {
  if (problem === undefined) expect(checkTemplate(text)).toBeUndefined()
  else expect(checkTemplate(text)).toContain(problem)
})

it('a template when it is read: for credentials must not have a different value each time', () => {
  expect(checkTemplate('Key {{credentials.key}}', ['credentials'])).toBeUndefined()
  const problem = 'id makes another value each time, and credentials have to stay the same'
  expect(checkTemplate('{{#if credentials.key}}{{id}}{{/if}}', ['credentials'])).toBe(problem)
})

it('a template when it is read allows exactly the methods of the library', () => {
  const found = Object.keys(FAKE_METHODS).map((module) => [module, methodsOf(module as keyof typeof FAKE_METHODS)])
  expect(Object.fromEntries(found)).toEqual(FAKE_METHODS)
})

/** The methods of a module, which are on its class, or bound on the instance. */
function methodsOf(module: keyof typeof FAKE_METHODS): string {
  const names = new Set<string>()
  const object: object = faker[module]
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const name of Object.getOwnPropertyNames(at)) names.add(name)
  const isMethod = (name: string): boolean => typeof Reflect.get(object, name) === 'function'
  return [...names]
    .filter((name) => !['constructor', 'faker'].includes(name) && isMethod(name))
    .sort()
    .join(' ')
}

const items = Array.from({ length: 400 }, () => 'x')
const each = (body: string): string => `{{#each items}}{{#each ../items}}${body}{{/each}}{{/each}}`

it.each([
  ['makes up to the limit', "{{faker 'string.alpha' 10000}}", undefined],
  ['makes too long a text', "{{faker 'string.alpha' 10001}}", 'makes at most 10000; found 10001'],
  ['makes too long a text by a name', "{{faker 'string.numeric' length=1000000000}}", 'makes at most 10000'],
  ['makes much of one character', "{{faker 'string.fromCharacters' 'a' 1000000000}}", 'makes at most 10000'],
  ['makes too many words', "{{faker 'lorem.paragraphs' 10000}}", 'takes more than 100000 steps'],
  ['makes too many dates', "{{faker 'date.betweens' count=1000000000}}", 'makes at most 10000'],
  ['gives arguments that are none', "{{faker 'date.between'}}", "faker 'date.between' cannot be made"],
  ['loops too often', each(''), 'takes more than 100000 steps'],
  ['loops and makes too long a text', `{{#each items}}{{../long}}{{/each}}`, 'makes more than 4194304 characters'],
  ['writes an object too often', `{{#each items}}{{json ../object}}{{/each}}`, 'makes more than 4194304 characters'],
])('a template when it is evaluated: that %s', async (_what, text, problem) => {
  const long = 'y'.repeat(20_000)
  const rendered = render(text, { items, long, object: { long } })
  if (problem === undefined) expect(await rendered).toHaveLength(10_000)
  else await expect(rendered).rejects.toThrow(problem)
})

it('a template when it is evaluated takes as many steps as the limit and no step more', async () => {
  const turns = (count: number) => render('{{#each items}}{{/each}}', { items: Array.from({ length: count }, () => 1) })
  // The loop itself is a step.
  expect(await turns(MAX_STEPS - 1)).toBe('')
  await expect(turns(MAX_STEPS)).rejects.toThrow(`takes more than ${MAX_STEPS} steps`)
})

it('a template when it is evaluated counts every template of a value together', async () => {
  const long = 'y'.repeat(50_000)
  await expect(
    render(
      Array.from({ length: 100 }, () => '{{long}}'),
      { long },
    ),
  ).rejects.toThrow('more than 4194304')
})

describe('a connector whose templates exceed a limit', () => {
  const CONNECTOR = {
    connector: 'app',
    authorization_type: 'API_KEY',
    credentials: {
      send: { headers: { 'X-Key': '{{#each credentials}}{{#each ../credentials}}{{this}}{{/each}}{{/each}}' } },
    },
    tools: [
      {
        name: 'app_call',
        input_schema: { type: 'object' },
        call: { method: 'POST', path: '/x', body: { n: '{{input.n}}' } },
      },
      {
        name: 'app_length',
        input_schema: { type: 'object' },
        call: { method: 'GET', path: "/{{faker 'string.alpha' input.n}}" },
      },
    ],
    responders: [{ on: { path: '/x' }, respond: { body: { text: "{{faker 'string.alpha' request.body.n}}" } } }],
  }

  it('is not answered with a 500 of the mock, and the answer names the limit', async ({
    mock: { call, api, token },
  }) => {
    expect((await call('put', '/connectors/app', CONNECTOR)).status).toBe(200)
    const bearer = await token('test_client', 'test_secret')
    const create = (identifier: string, details: object) =>
      api(bearer, 'post', '/connected_accounts', {
        connector: 'app',
        identifier,
        connected_account: { authorization_details: { static_auth: { details } } },
      })
    expect((await create('ada', { key: 'k' })).status).toBe(201)
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`k${at}`, 'v']))
    const refused = await create('grace', many)
    expect([refused.status, refused.body.details[0].error_code]).toEqual([400, 'INVALID_AUTHORIZATION_DETAILS'])
    expect(refused.body.message).toContain('the template takes more than 100000 steps')
    for (const tool_name of ['app_call', 'app_length']) {
      const locator = { connector: 'app', identifier: 'ada', tool_name }
      const fine = await api(bearer, 'post', '/execute_tool', { ...locator, tool_input: { n: 10 } })
      expect(fine.status).toBe(tool_name === 'app_call' ? 200 : 500)
      const answer = await api(bearer, 'post', '/execute_tool', { ...locator, tool_input: { n: 1e9 } })
      expect(answer.body.details[0].error_code).toBe('TOOL_ERROR')
      expect(JSON.stringify(answer.body)).toContain('makes at most 10000; found 1000000000')
    }
  })

  it('refuses an input when the schema of the tool refers to itself without end', async ({
    mock: { call, api, token },
  }) => {
    const name = { allOf: [{ $ref: '#/properties/to/properties/name' }] }
    const endless = { properties: { to: { properties: { name } } } }
    const tools = [{ name: 'app_call', input_schema: endless, call: { method: 'GET', path: '/x' } }]
    const connector = { connector: 'app', authorization_type: 'NO_AUTH', tools }
    expect((await call('put', '/connectors/app', connector)).status).toBe(200)
    await call('post', '/seed', { accounts: [{ connector: 'app', identifier: 'ada' }] })
    const bearer = await token('test_client', 'test_secret')
    const locator = { connector: 'app', identifier: 'ada', tool_name: 'app_call' }
    const refused = await api(bearer, 'post', '/execute_tool', { ...locator, tool_input: { to: { name: 'x' } } })
    expect([refused.status, refused.body.details[0].error_code]).toEqual([400, 'INVALID_TOOL_INPUT'])
    expect(refused.body.message).toContain('refers to itself without end')
  })
})
