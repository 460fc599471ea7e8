import { describe, expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { parseConnector } from '../../src/files/read.ts'
import { connectorOf, messagesOf } from './files.ts'

const HEAD = 'connector: a\nauthorization_type: NO_AUTH\n'

describe('a problem of a connector file names file, line, column, place, what was found and what is allowed', () => {
  it.each<[string, string, string]>([
    [
      'an unknown key',
      `${HEAD}colour: red\n`,
      'c.yaml:3:1: `colour` is an unknown key; allowed: $schema, connector, provider, display_name, description, icon_src, categories, authorization_type, oauth, cluster, credentials, people, reject, base_url, custom_provider, tools, collections, responders, error_body',
    ],
    [
      'an unknown key further in',
      `${HEAD}tools:\n  - name: t\n    call: { method: GET, path: /x, verb: 1 }\n`,
      'c.yaml:5:36: `tools[0].call.verb` is an unknown key; allowed: method, path, query, headers, body, timeout',
    ],
    [
      'a key named __proto__',
      `${HEAD}__proto__: 1\n`,
      'c.yaml:3:1: `__proto__` is an unknown key; allowed: $schema, connector,',
    ],
    ['a value of the wrong type', `${HEAD}tools: none\n`, 'c.yaml:3:8: `tools` is "none"; allowed: a list'],
    [
      'a word that is none of the allowed',
      'connector: a\nauthorization_type: OAUTH2\n',
      'c.yaml:2:21: `authorization_type` is "OAUTH2" (did you mean OAUTH?); allowed: OAUTH, API_KEY, BASIC_AUTH,',
    ],
    ['a missing key', `${HEAD}tools: [{ name: t }]\n`, 'c.yaml:3:9: `tools[0].call` is required; allowed: an object'],
    ['a missing type', 'connector: a\n', 'c.yaml:1:1: `authorization_type` is required; allowed: one of OAUTH, '],
    [
      'a bad name',
      'connector: a/b\nauthorization_type: NO_AUTH\n',
      'c.yaml:1:12: `connector` is "a/b"; allowed: 1 to 100 letters, digits, spaces, hyphens, underscores and colons',
    ],
    [
      'a collection of a bad name',
      `${HEAD}collections: { 1st: {} }\n`,
      'c.yaml:3:16: `collections.1st` is the name "1st"; allowed: a letter, then up to 63 letters, digits and underscores',
    ],
    [
      'a bad duration',
      'connector: a\nauthorization_type: OAUTH_M2M\noauth: { access_token_lifetime: soon }\n',
      'c.yaml:3:33: `oauth.access_token_lifetime` is "soon"; allowed: 90s, 15m, 2h, 1h30m, 1d, 250ms, an ISO 8601 duration such as PT5M, or a number of seconds; at most 10 years',
    ],
    [
      'a status that is none',
      `${HEAD}responders: [{ on: {}, respond: { status: 99 } }]\n`,
      'c.yaml:3:43: `responders[0].respond.status` is 99; allowed: at least 200',
    ],
    [
      'a path that is none',
      `${HEAD}tools: [{ name: t, call: { method: GET, path: x } }]\n`,
      'c.yaml:3:47: `tools[0].call.path` is "x"; allowed: a path that starts with /',
    ],
    [
      'a capture inside a part',
      `${HEAD}responders: [{ on: { path: '/m/msg_{id}' }, respond: {} }]\n`,
      'c.yaml:3:28: `responders[0].on.path` is "/m/msg_{id}"; allowed: a path that starts with /, whose parts are {name}, or decoded text in which * matches anything',
    ],
    [
      'a percent-encoded path',
      `${HEAD}responders: [{ on: { path: '/m/a%20b' }, respond: {} }]\n`,
      'c.yaml:3:28: `responders[0].on.path` is "/m/a%20b"; allowed: a path that starts with /, whose parts are {name}, or decoded text in which * matches anything',
    ],
    [
      'a tool name that is there twice',
      `${HEAD}tools:\n  - { name: t, call: { method: GET, path: / } }\n  - { name: t, call: { method: GET, path: / } }\n`,
      'c.yaml:5:13: `tools[1].name` is "t" for the second time; allowed: a name that differs from item 0',
    ],
    [
      'neither respond nor sequence',
      `${HEAD}responders: [{ on: {} }]\n`,
      'c.yaml:3:14: `responders[0]` is without respond and sequence; allowed: exactly one of respond and sequence',
    ],
    [
      'both respond and sequence',
      `${HEAD}responders: [{ on: {}, respond: {}, sequence: [{}] }]\n`,
      'c.yaml:3:14: `responders[0]` is with both respond and sequence; allowed: exactly one of respond and sequence',
    ],
    [
      'per without sequence',
      `${HEAD}responders: [{ on: {}, respond: {}, per: account }]\n`,
      'c.yaml:3:37: `responders[0].per` is set without sequence; allowed: per together with sequence',
    ],
    [
      'after_last without sequence',
      `${HEAD}responders: [{ on: {}, respond: {}, after_last: next }]\n`,
      'c.yaml:3:37: `responders[0].after_last` is set without sequence; allowed: after_last together with sequence',
    ],
    [
      'an empty sequence',
      `${HEAD}responders: [{ on: {}, sequence: [] }]\n`,
      'c.yaml:3:34: `responders[0].sequence` is an empty list; allowed: at least 1 item',
    ],
    [
      'a field of the account that cannot be matched',
      `${HEAD}responders: [{ on: { account: { status: ACTIVE } }, respond: {} }]\n`,
      'c.yaml:3:33: `responders[0].on.account.status` is an unknown key; allowed: id, identifier, organization_id, user_id, connector',
    ],
    [
      'a pattern that does not run in linear time',
      `${HEAD}responders: [{ on: { body: { a: { b: { matches: '(a)\\1' } } } }, respond: {} }]\n`,
      'c.yaml:3:49: `responders[0].on.body.a.b.matches` is "(a)\\\\1"; allowed: a regular expression with no look-ahead,',
    ],
    [
      'nobody to sign in',
      'connector: a\nauthorization_type: OAUTH\npeople: []\n',
      'c.yaml:3:9: `people` is an empty list; allowed: at least one identity that can sign in, because OAUTH asks for consent',
    ],
    [
      'a cluster elsewhere',
      `${HEAD}cluster: serverless\n`,
      'c.yaml:3:1: `cluster` is set in a connector of type NO_AUTH; allowed: cluster in connectors of type TRUSTED_IDP',
    ],
    [
      'oauth elsewhere',
      `${HEAD}oauth: {}\n`,
      'c.yaml:3:1: `oauth` is set in a connector of type NO_AUTH; allowed: oauth in connectors whose accounts have tokens',
    ],
    [
      'credentials elsewhere',
      `${HEAD}credentials: {}\n`,
      'c.yaml:3:1: `credentials` is set in a connector of type NO_AUTH; allowed: credentials in API_KEY, BASIC_AUTH, BEARER_TOKEN, CUSTOM and BASIC connectors',
    ],
    [
      'a CUSTOM connector that does not say how its credentials travel',
      'connector: a\nauthorization_type: CUSTOM\ncredentials: { fields: [{ name: x }] }\n',
      'c.yaml:3:14: `credentials.send` is required; allowed: credentials.send, because the type CUSTOM has no default',
    ],
    [
      'a base_url elsewhere',
      `${HEAD}base_url: https://api.example.com\n`,
      'c.yaml:3:11: `base_url` is "https://api.example.com"; allowed: a URL on loopback (or start with --allow-outbound)',
    ],
    [
      'a base_url of another scheme',
      `${HEAD}base_url: file:///etc\n`,
      'c.yaml:3:11: `base_url` is "file:///etc"; allowed: an http or https URL',
    ],
    [
      'a JSON Schema with a type that does not exist',
      `${HEAD}tools:\n  - name: t\n    input_schema: { properties: { n: { type: text } } }\n    call: { method: GET, path: / }\n`,
      'c.yaml:5:46: `tools[0].input_schema.properties.n.type` is "text"; allowed: JSON Schema 2020-12: array, boolean, integer, null, number, object, string',
    ],
    [
      'a JSON Schema with a type that does not exist, at a name with a percent sign',
      `${HEAD}tools:\n  - name: t\n    input_schema: { properties: { 50%: { type: text } } }\n    call: { method: GET, path: / }\n`,
      'c.yaml:5:48: `tools[0].input_schema.properties["50%"].type` is "text"; allowed: JSON Schema 2020-12: array,',
    ],
    [
      'a JSON Schema of something else than an object',
      `${HEAD}tools: [{ name: t, input_schema: { type: array }, call: { method: GET, path: / } }]\n`,
      'c.yaml:3:42: `tools[0].input_schema.type` is "array"; allowed: object, because tool_input is an object',
    ],
    [
      'a JSON Schema that refers to nothing',
      `${HEAD}tools: [{ name: t, input_schema: { $ref: '#/$defs/x' }, call: { method: GET, path: / } }]\n`,
      'c.yaml:3:34: `tools[0].input_schema` is a schema that does not compile',
    ],
    ...['{ $ref: "#" }', '{ allOf: [{ $ref: "#" }] }', '{ properties: { a: { $ref: "#/properties/a" } } }'].map(
      (schema): [string, string, string] => [
        `the JSON Schema ${schema}, which refers to itself without end`,
        `${HEAD}tools: [{ name: t, input_schema: ${schema}, call: { method: GET, path: / } }]\n`,
        'c.yaml:3:34: `tools[0].input_schema` is a schema that does not compile (it refers to itself without end)',
      ],
    ),
    [
      'a JSON Schema whose check is a promise',
      `${HEAD}tools: [{ name: t, input_schema: { $async: true }, call: { method: GET, path: / } }]\n`,
      'c.yaml:3:44: `tools[0].input_schema.$async` is true; allowed: no $async, because an input is checked at once',
    ],
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
    [
      'a template that cannot be read',
      `${HEAD}responders: [{ on: {}, respond: { body: { a: ['{{#if}}'] } } }]\n`,
      'c.yaml:3:47: `responders[0].respond.body.a[0]` is "{{#if}}"; allowed: a template that can be read; ',
    ],
    [
      'a template that sees nothing of that name',
      `${HEAD}tools: [{ name: t, call: { method: GET, path: '/{{inptu.x}}' } }]\n`,
      'c.yaml:3:47: `tools[0].call.path` is "/{{inptu.x}}"; allowed: a template that can be read; unknown name or helper \'inptu\' (did you mean input?); allowed are input, account',
    ],
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
})
