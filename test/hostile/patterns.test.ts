import { describe, expect, it } from 'vitest'
import { openapiConnector } from '../../src/app/openapi-connector.ts'
import { ToolSchemas } from '../../src/model/contract/tool-schemas.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import { matchesGlob } from '../../src/model/domain/value-match.ts'
import { PatternEngine } from '../../src/model/linear-pattern.ts'
import { withControl } from '../servers/control/control-mock.ts'
import { connectorOf, messagesOf } from '../files/files.ts'
import { appSeed, run } from '../service/operations/app-seed.ts'
import { withToolmock } from '../support/toolmock.ts'

const many = (text: string, count = 5000): string => text.repeat(count)

/** Patterns that a backtracking engine takes seconds to centuries for, each with a text that it does not match. */
const CATASTROPHIC: readonly (readonly [pattern: string, text: string])[] = [
  ['^(a+)+$', `${many('a')}!`],
  ['^(a*)*$', `${many('a')}!`],
  ['^(a|a)*$', `${many('a')}!`],
  ['^(a|aa)+$', `${many('a')}!`],
  ['^(a|a?)+$', `${many('a')}!`],
  ['^([a-zA-Z]+)*$', `${many('a')}1`],
  ['^(.*a){20}$', `${many('a')}!`],
  ['^(\\w+\\s?)*$', `${many('aaa ')}!`],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', many('a')],
  ['^([0-9]+)+\\.$', many('0')],
  ['^(\\d+|\\w+)*$', `${many('1')}!`],
  ['(x+x+)+y', many('x')],
  ['(.*)*=x', many('=')],
  ['\\s+$', `${many(' ')}!`],
  ['^(?:[^"]|"[^"]*")*;$', many('"a')],
  ['^(([a-z0-9]+[.-]?)+)@x$', many('a')],
  ['^[a-zA-Z0-9](([-.]|[_]+)?([a-zA-Z0-9]+))*@x$', many('a')],
  ['^(([^<>()[\\].,;:\\s@"]+(\\.[^<>()[\\].,;:\\s@"]+)*)|(".+"))+@x$', many('a')],
  ['^(https?:\\/\\/)?([\\da-z.-]+)+\\.([a-z.]{2,6})([\\/\\w .-]*)*\\/?$', `http://${many('a')}!`],
  ['^((\\S+)\\s*)+:$', many('a b')],
]

/** Every keyword that takes a pattern. */
function schemaOf(pattern: string, text = ''): JsonObject {
  return {
    properties: {
      text: { type: 'string', pattern },
      list: { items: { pattern } },
      keys: { properties: { [text]: { type: 'string' } }, patternProperties: { [pattern]: { type: 'integer' } } },
      names: { propertyNames: { pattern } },
      kept: { patternProperties: { [pattern]: true }, additionalProperties: false },
    },
  }
}

const places = (text: string): Record<string, JsonObject> => ({
  text: { text },
  list: { list: ['x', text] },
  keys: { keys: { [text]: 'x' } },
  names: { names: { [text]: 1 } },
  kept: { kept: { [text]: 1 } },
})

describe(`${CATASTROPHIC.length} patterns that backtrack without end`, () => {
  const tools = CATASTROPHIC.map(([pattern, text], at) => ({
    name: `tool_${at}`,
    answers: { body: {} },
    input_schema: schemaOf(pattern, text),
  }))

  it('are checked at once in the input of a tool, at every keyword that takes one', () =>
    withToolmock({ seed: appSeed(tools) }, async (mock) => {
      for (const [at, [, text]] of CATASTROPHIC.entries()) {
        for (const [place, input] of Object.entries(places(text))) {
          const { status } = await run(mock, `tool_${at}`, input)
          expect([CATASTROPHIC[at]?.[0], place, status]).toEqual([
            CATASTROPHIC[at]?.[0],
            place,
            place === 'keys' ? 200 : 400,
          ])
        }
      }
    }))

  it('are taken by POST /_mock/seed and POST /_mock/environments as YAML, while other requests are answered', () =>
    withControl({}, async ({ call, http }) => {
      expect((await call('post', '/seed', appSeed(tools))).status).toBe(200)
      const made = await http('post', '/_mock/environments').send({ name: 'other', seed: appSeed(tools) })
      expect(made.status).toBe(201)
    }))

  it('are taken from an OpenAPI document whose examples they do not match', async () => {
    const properties = Object.fromEntries(
      CATASTROPHIC.map(([pattern, example], at) => [`p${at}`, { type: 'string', pattern, example }]),
    )
    const schema = { type: 'object', properties }
    const content = {
      'application/json': { schema, example: Object.fromEntries(CATASTROPHIC.map(([, text], at) => [`p${at}`, text])) },
    }
    const operation = { requestBody: { content }, responses: { 200: { description: 'OK', content } } }
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { post: operation } } }
    const { connector } = await openapiConnector(JSON.stringify(document), {
      file: 'a.json',
      name: 'a',
      only: undefined,
    })
    expect(JSON.stringify(connector)).toContain(JSON.stringify('^(a+)+$'))
  })
})

describe('a pattern that cannot run in linear time', () => {
  const PATTERNS: readonly [pattern: string, reason: string][] = [
    ['^(?=a)b', 'a look-ahead'],
    ['^(?!a)b', 'a look-ahead'],
    ['(?<=a)b', 'a look-behind'],
    ['(?<!a)b', 'a look-behind'],
    ['(a)\\1', 'a back-reference'],
    ['(?<n>a)\\k<n>', 'a back-reference'],
    ['a{1001}', 'invalid repeat count'],
    [many('a', 2001), 'more than 2000 characters'],
  ]

  it.each(PATTERNS)('%s is refused in a file with line and column, at every keyword', async (pattern, reason) => {
    const text = JSON.stringify(pattern)
    const lines = [
      'connector: a',
      'authorization_type: NO_AUTH',
      'tools:',
      '  - name: t',
      '    call: { method: GET, path: / }',
      '    input_schema:',
      '      properties:',
      `        pattern: { pattern: ${text}, default: { pattern: ${text} } }`,
      '        map:',
      '          patternProperties:',
      `            ? ${text}`,
      '            : {}',
    ]
    const problems = await messagesOf(connectorOf(lines.join('\n')))
    expect(problems).toHaveLength(2)
    expect(problems[0]).toMatch(
      /^c\.yaml:8:29: `tools\[0\]\.input_schema\.properties\.pattern\.pattern` is ".*, which cannot run in linear time: /,
    )
    expect(problems[1]).toMatch(/^c\.yaml:11:15: `tools\[0\]\.input_schema\.properties\.map\.patternProperties/)
    for (const problem of problems) {
      expect(problem).toContain(`cannot run in linear time: ${reason}`)
      expect(problem).toContain('allowed: a pattern with no look-ahead, look-behind or back-reference')
    }
  })

  it('in a state is left out of the check with a warning, and everything else is checked', async () => {
    const warned: string[] = []
    const schemas = new ToolSchemas((message) => warned.push(message))
    const input_schema = { ...schemaOf('^(?=a)b'), required: ['text'] }
    const tool = { name: 'peek', input_schema } as unknown as Parameters<ToolSchemas['check']>[0]
    await schemas.prepare(tool)
    expect(new Set(warned)).toEqual(
      new Set(['peek does not check the pattern "^(?=a)b", which cannot run in linear time: a look-ahead']),
    )
    for (const input of Object.values(places('zzz'))) {
      const fields = schemas.check(tool, { text: 'x', ...input }).map(({ field }) => field)
      expect(fields).toEqual([])
    }
    expect(schemas.check(tool, { text: 1 })).toMatchObject([{ field: 'tool_input.text', constraint: 'type' }])
    expect(schemas.check(tool, {})).toMatchObject([{ field: 'tool_input.text', constraint: 'required' }])
  })

  it('in a state that PUT /_mock/state brings does not keep its tool from being called', () =>
    withToolmock(
      { seed: appSeed([{ name: 'echo', answers: { body: {} }, input_schema: schemaOf('MARK') }]) },
      async (mock) => {
        const { text } = await mock.http('get', '/_mock/state')
        const state = text.replaceAll('MARK', '(?=a)')
        await mock.http('put', '/_mock/state').type('json').send(state).expect(200)
        expect((await run(mock, 'echo', { text: 'x' })).status).toBe(200)
        expect((await run(mock, 'echo', { text: 1 })).status).toBe(400)
      },
    ))

  it('in an OpenAPI document is left out, with a note', async () => {
    const properties = {
      a: { type: 'string', pattern: '(?!x)y' },
      b: { pattern: '^b$', type: 'string' },
      // A value with the name, which is no regular expression.
      c: { type: 'object', example: { pattern: '(?=b)' }, default: { pattern: '(?=c)' } },
    }
    const schema = { type: 'object', properties }
    const post = {
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'OK' } },
    }
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { post } } }
    const made = await openapiConnector(JSON.stringify(document), { file: 'a.json', name: 'a', only: undefined })
    expect(made.text).not.toContain('(?!x)')
    expect(made.text).toContain('^b$')
    expect(made.leftOut).toEqual(['the pattern "(?!x)y": it cannot run in linear time (a look-ahead): POST /a'])
  })
})

describe('the work of one check', () => {
  const PATTERN = '^(?:a|b)*a(?:a|b){900}$'

  it('is bounded: a text that is too long for the pattern is refused, and the next one is checked', () =>
    withToolmock(
      { seed: appSeed([{ name: 'echo', answers: { body: {} }, input_schema: schemaOf(PATTERN) }]) },
      async (mock) => {
        const refused = await run(mock, 'echo', { text: many('ab', 300_000) })
        expect(refused.status).toBe(400)
        expect(JSON.stringify(refused.body)).toContain('it is too long for the patterns of the schema')
        expect((await run(mock, 'echo', { text: many('a', 1000) })).status).toBe(200)
      },
    ))

  it('of the format url is bounded', () =>
    withToolmock(
      {
        seed: appSeed([
          { name: 'echo', answers: { body: {} }, input_schema: { properties: { u: { format: 'url' } } } },
        ]),
      },
      async (mock) => {
        expect((await run(mock, 'echo', { u: `http://${many(':', 500_000)}` })).status).toBe(400)
        expect((await run(mock, 'echo', { u: 'http://example.com/a?b=c' })).status).toBe(200)
      },
    ))
})

const TEXTS = [
  '',
  'a',
  'aa',
  'A',
  '\n',
  '\r',
  '\u2028',
  '\v',
  '\f',
  ' ',
  '\u00a0',
  '\ufeff',
  'foo bar',
  'x@y',
  '😀',
  '😁',
  'é',
  'Ω',
  '\0',
  ':',
  ']',
  '[',
  '.',
  '\\s',
  '-',
  '/',
  '$',
  '&',
  '\b',
  '12',
  '\u200b',
]

it.each([
  '\\s',
  '\\S',
  '[\\s,]',
  '[^\\s]',
  '[\\S]',
  '[^\\S\\n]',
  '.',
  '^.$',
  '[.]',
  '\\.',
  '[[:alpha:]',
  '[[]',
  '[\\]]',
  '[]',
  '[^]',
  '(?<y>a)a',
  '\\uD83D\\uDE00',
  '\\u{1F600}',
  '[\\uD83D\\uDE00]',
  '[😀-😂]',
  '\\u2028',
  '\\cJ',
  '\\0',
  '\\p{L}',
  '\\P{L}',
  '\\p{Script=Greek}',
  '\\p{gc=Lu}',
  '\\/',
  '[a\\-z]',
  'a{2}',
  '^$',
  '\\bfoo\\b',
  '\\w+',
  '[\\b]',
  '\\x41',
  '[&&]',
  '[^\\W]',
  '\\\\s',
  '$',
  '(?:a|b)',
])('a pattern means what it means in JavaScript: %s', (source) => {
  const [native, linear] = [new RegExp(source, 'u'), new PatternEngine().compile(source)]
  expect(TEXTS.filter((text) => linear.test(text))).toEqual(TEXTS.filter((text) => native.test(text)))
})

it.each([
  ['many runs', many('*a', 50_000) + 'b', many('a', 1_000_000), false],
  ['one long run that begins alike', `*b${many('a', 250_000)}*`, many('a', 1_000_000), false],
  [
    'one long run that differs in its middle',
    `*${many('a', 250_000)}b${many('a', 250_000)}*`,
    many('a', 1_000_000),
    false,
  ],
  ['a long run that is there', `*${many('a', 250_000)}b*`, `${many('a', 500_000)}b`, true],
])('a glob takes linear time: %s', (_name, glob, text, expected) => {
  expect(matchesGlob(glob, text)).toBe(expected)
})

it('a glob takes linear time: in a scenario and in a question about the request journal', () =>
  withControl({}, async ({ call, token, api }) => {
    const glob = `*${many('a', 250_000)}b${many('a', 250_000)}*`
    const rule = {
      name: 'r',
      at: 'service',
      on: { operation: 'execute_tool', body: { note: glob } },
      do: [{ latency: '1s' }],
    }
    const put = await call('put', '/scenarios/long', { name: 'long', rules: [rule] })
    expect([put.status, put.body]).toMatchObject([200, { scenario: {} }])
    expect((await call('post', '/scenarios/long/start')).status).toBe(200)
    const bearer = await token('test_client', 'test_secret')
    const answer = await api(bearer, 'post', '/execute_tool', { note: many('a', 900_000) })
    expect(answer.status).toBe(400)
    const counted = await call('post', '/requests/count', { match: { body: { note: glob } } })
    expect(counted.body).toEqual({ count: 0 })
  }))
