import { describe, expect } from 'vitest'
import { expectControlError, it, withControl } from './control-mock.ts'

/** Reading so many keys takes a second or two. With time that grew quadratically, the test would time out. */
const COUNT = 80_000
/** As many as YAML of a request may have. */
const YAML_COUNT = 10_000
const KEYS = Object.fromEntries(Array.from({ length: COUNT }, (_, at) => [`key${at}`, at]))
const YAML_KEYS = Object.fromEntries(Object.entries(KEYS).slice(0, YAML_COUNT))

function yamlOf(object: object): string {
  return Object.entries(object)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('')
}

it.for([
  ['JSON', 'application/json', JSON.stringify({ match: { body: KEYS } })],
  ['YAML', 'application/yaml', yamlOf({ match: { body: YAML_KEYS } })],
  ['YAML blocks', 'application/yaml', `match:\n  body:\n${yamlOf(YAML_KEYS).replaceAll(/^/gm, '    ').trimEnd()}\n`],
  [
    'aliases',
    'application/yaml',
    `match: { body: { x: [${Array.from({ length: 150 }, (_, at) => `&a${at} ${at}, ${Array(100).fill(`*a${at}`).join(', ')}`).join(', ')}] } }\n`,
  ],
])('a body of many keys is read in linear time: %s', async ([_kind, type, body], { mock: { http } }) => {
  const answer = await http('post', '/_mock/requests/count').type(type).send(body)
  expect(answer.text).toBe('{"count":0}\n')
})

it.for([
  ['/seed', 'application/json', JSON.stringify(KEYS)],
  ['/seed', 'application/yaml', yamlOf(YAML_KEYS)],
  ['/environments', 'application/json', JSON.stringify({ seed: KEYS })],
])(
  'a body of many keys: of which none is known is refused with a hundred problems and the number of the others: %s %s',
  async ([path, type, body], { mock: { http } }) => {
    const answer = await http('post', `/_mock${path}`).type(type).send(body)
    const { code, details } = (answer.body as { error: { code: string; details: { found: string }[] } }).error
    expect([answer.status, code, details.length]).toEqual([400, 'INVALID_DOCUMENT', 101])
    expect(details.at(-1)?.found).toBe(
      `wrong in ${(type === 'application/yaml' ? YAML_COUNT : COUNT) - 100} more places`,
    )
  },
)

describe('limits on keys and values of a body', () => {
  const list = (length: number): string => JSON.stringify({ match: { body: { x: Array(length).fill(1) } } })
  const keys = (length: number): string =>
    `{"match":{"body":{${Array.from({ length: length - 2 }, (_, at) => `"k${at}":1`).join(',')}}}}`
  const yaml = (length: number): string => `match:\n body:\n  x:\n${'  - 1\n'.repeat(length)}`

  it.for([
    [
      'keys in JSON',
      'application/json',
      keys(100_000),
      keys(100_001),
      'more than 100000 keys; allowed: at most 100000',
    ],
    [
      'values in JSON',
      'application/json',
      list(249_996),
      list(249_997),
      'more than 250000 values; allowed: at most 250000',
    ],
    [
      'tokens of YAML',
      'application/yaml',
      yaml(15_000),
      yaml(25_001),
      'more than 100000 tokens (keys, values, signs, comments, line ends); allowed: at most 100000',
    ],
  ])('%s', async ([_kind, type, most, more, message], { mock: { http } }) => {
    const send = (body: string) => http('post', '/_mock/requests/count').type(type).send(body)
    expect((await send(most)).text).toBe('{"count":0}\n')
    const refused = await send(more)
    expect(refused.text).toContain(message)
    if (type === 'application/json') expectControlError(refused, 413, 'BODY_TOO_LARGE')
    else expectControlError(refused, 400, 'INVALID_DOCUMENT')
  })

  it('do not apply to a state, which can be restored at any size', { timeout: 30_000 }, async () => {
    await withControl({}, async ({ call, http }) => {
      const { tables, ...state } = (await call('get', '/state')).body as { tables: Record<string, object[]> }
      const counters = Array.from({ length: 60_000 }, (_, at) => ({ id: `counter ${at}`, value: 1 }))
      const large = JSON.stringify({ ...state, tables: { ...tables, counters } })
      const answer = await http('put', '/_mock/state').type('json').send(large)
      expect(answer.status, answer.text.slice(0, 300)).toBe(200)
    })
  })
})

it.for([
  ['POST /requests/verify', '/requests/verify', '{"match":{"body":', '}}'],
  ['POST /environments', '/environments', '{"seed":{"a":', '}}'],
])('%s refuses a body that nests too deeply', async ([_call, path, head, tail], { mock: { http } }) => {
  const deep = `${head}${'['.repeat(40_000)}${']'.repeat(40_000)}${tail}`
  const answer = await http('post', `/_mock${path}`).type('json').send(deep)
  expectControlError(answer, 400, 'INVALID_BODY')
  expect(answer.text).toContain('nested more than 200 levels deep; allowed: at most 200')
})
