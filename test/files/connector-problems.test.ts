import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { parseConnector } from '../../src/files/read.ts'
import { connectorOf, messagesOf } from './files.ts'
import { expectProblems, goldenCases } from './golden.ts'

const HEAD = 'connector: a\nauthorization_type: NO_AUTH\n'

it.each(goldenCases('connector'))('%s', async (_kind, text, problems) => {
  expectProblems(await messagesOf(connectorOf(text)), problems)
})

it.each<[string, string, string]>([
  ...['{ $ref: "#" }', '{ allOf: [{ $ref: "#" }] }', '{ properties: { a: { $ref: "#/properties/a" } } }'].map(
    (schema): [string, string, string] => [
      `the JSON Schema ${schema}, which refers to itself without end`,
      `${HEAD}tools: [{ name: t, input_schema: ${schema}, call: { method: GET, path: / } }]\n`,
      'c.yaml:3:34: `tools[0].input_schema` is a schema that does not compile (it refers to itself without end)',
    ],
  ),
  ...['X Bad', 'Content-Length', 'transfer-encoding', 'Trailer', ''].flatMap((name): [string, string, string][] => [
    [
      `the header ${name} in an answer`,
      `${HEAD}responders: [{ on: {}, respond: { headers: { "${name}": x } } }]\n`,
      'c.yaml:3:46: `responders[0].respond.headers',
    ],
    [
      `the header ${name} in a call`,
      `${HEAD}tools: [{ name: t, call: { method: GET, path: /, headers: { "${name}": x } } }]\n`,
      'c.yaml:3:61: `tools[0].call.headers',
    ],
    [
      `the header ${name} in a refusal`,
      `${HEAD}rate_limit: { calls: 1, every: 1s, otherwise: { headers: { "${name}": x } } }\n`,
      'c.yaml:3:60: `rate_limit.otherwise.headers',
    ],
  ]),
])('%s', async (_kind, text, message) => {
  const messages = await messagesOf(connectorOf(text))
  expect(messages.map((each) => each.slice(0, message.length))).toEqual([message])
})

it('lists all problems at once, in the order of the file', async () => {
  const text = `connector: a
colour: red
authorization_type: OAUTH
oauth: { access_token_lifetime: soon }
tools:
  - { name: t, call: { method: FETCH, path: '/{{#if}}' } }
  - { name: t, call: { method: GET, path: / } }
`
  const places = (await messagesOf(connectorOf(text))).map((message) => message.replace(/ is .*/, ''))
  expect(places).toEqual([
    'c.yaml:1:1: `people`',
    'c.yaml:2:1: `colour`',
    'c.yaml:4:33: `oauth.access_token_lifetime`',
    'c.yaml:6:32: `tools[0].call.method`',
    'c.yaml:6:45: `tools[0].call.path`',
    'c.yaml:7:13: `tools[1].name`',
  ])
})

it.each(['http://127.0.0.1:9000', 'http://localhost:9000/api/', 'https://[::1]:1', 'http://127.8.8.8'])(
  'accepts the loopback address %s',
  async (url) => {
    expect((await connectorOf(`${HEAD}base_url: ${url}\n`)).base_url).toBe(url.replace(/\/$/, ''))
  },
)

it.each([
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://10.0.0.1',
  'localhost:9000',
  'http://',
])('refuses %s, which only looks like loopback', async (url) => {
  expect(await messagesOf(connectorOf(`${HEAD}base_url: ${url}\n`))).toHaveLength(1)
})

it('accepts any http address when outbound calls are allowed', async () => {
  const text = `${HEAD}base_url: https://api.example.com\n`
  const checks = { ...DOCUMENT_CHECKS, allowOutbound: true }
  expect((await parseConnector(text, 'c.yaml', checks)).base_url).toBe('https://api.example.com')
})
