import { describe, expect, it } from 'vitest'
import { DocumentError } from '../../src/files/problem.ts'
import { MAX_SOURCE_LENGTH, SourceText } from '../../src/files/source-text.ts'
import { expectProblems, goldenCases } from './golden.ts'

it.each(goldenCases('text'))('an invalid document: %s', (_kind, text, problems) => {
  expectProblems([problem(text)], problems)
})

it('an invalid document refuses aliases that are followed more than 200 times', () => {
  const levels = Array.from(
    { length: 9 },
    (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
  )
  expect(problem(`l0: &l0 [lol]\n${levels.join('\n')}\n`)).toContain(
    'follows an alias more than 200 times; allowed: at most 200',
  )
})

it('an invalid document refuses an alias of a list that exceeds the limit of values', () => {
  expect(problem(`a: &a [${Array(5000).fill('1').join(', ')}]\nb: [${Array(100).fill('*a').join(', ')}]\n`)).toContain(
    'the text is one with more than 250000 values, aliases written out; allowed: at most 250000',
  )
})

it('an invalid document refuses an alias to a list that contains it', () => {
  expect(problem('a: &a [*a]\n')).toMatch(/more than 200 times|more than 100 levels|not YAML/)
})

it('an invalid document refuses nesting without brackets', () => {
  expect(problem(`${'- '.repeat(45_000)}x`)).toContain('nested more than 100 levels deep')
})

it('an invalid document takes 100 nested levels', () => {
  expect(new SourceText(`${'['.repeat(100)}${']'.repeat(100)}`, 'seed.yaml').value).toHaveLength(1)
})

it.each([101, 150, 45_000])('an invalid document refuses %d nested levels', (levels) => {
  expect(problem(`${'['.repeat(levels)}${']'.repeat(levels)}`)).toContain('nested more than 100 levels deep')
})

describe('an invalid document: YAML of a request, while which no other is answered', () => {
  const TOO_MANY = 'allowed: at most 100000; JSON has no such limit'
  const body =
    (text: string): (() => SourceText) =>
    () =>
      new SourceText(text, 'body')

  it('is read up to 100,000 tokens', () => {
    expect(body(`a: 1\n${'#\n'.repeat(49_990)}`)().value).toEqual({ a: 1 })
  })

  it.each([
    ['lines of comments', '#\n'.repeat(50_001)],
    ['lines of comments, in braces', `{\n${'#\n'.repeat(50_001)}}`],
    ['directives', '%X\n'.repeat(10_000)],
    ['items', '- 1\n'.repeat(25_001)],
    ['flow items', `[${'a,'.repeat(50_001)}]`],
  ])('is refused beyond that: %s', (_name, text) => {
    expect(body(text)).toThrow(TOO_MANY)
  })

  it('is no limit of a file, nor of JSON', () => {
    expect(new SourceText('- 1\n'.repeat(25_001), 'f.yaml').value).toHaveLength(25_001)
    expect(body(JSON.stringify(Array.from({ length: 60_000 }, () => 1)))().value).toHaveLength(60_000)
  })
})

it('an invalid document refuses a text that is too long', () => {
  expect(problem('x'.repeat(MAX_SOURCE_LENGTH + 1))).toContain(`allowed: at most ${MAX_SOURCE_LENGTH}`)
})

const source = new SourceText('a:\n  b:\n    - x: 1\n    - { "y z": 2 }\nc: &c { d: 1 }\ne: *c\n', 'f.yaml')

it.each<[string, (string | number)[], string]>([
  ['a value', ['a', 'b', 0, 'x'], '3:10: `a.b[0].x`'],
  ['a quoted key', ['a', 'b', 1, 'y z'], '4:16: `a.b[1]["y z"]`'],
  ['something missing from a list', ['a', 'b', 7], '3:5: `a.b[7]`'],
  ['something missing from an object', ['a', 'b', 0, 'q'], '3:7: `a.b[0].q`'],
  ['something after an alias', ['e', 'd'], '5:12: `e.d`'],
  ['the document', [], '1:1: the document'],
])('a place in a document: %s is found', (_kind, path, place) => {
  expect(source.problem({ path, found: 'x', allowed: 'y' }).message).toBe(`f.yaml:${place} is x; allowed: y`)
})

it('a place in a document is the key where the key is the problem', () => {
  const { line, column } = source.problem({ path: ['a', 'b', 1, 'y z'], found: 'x', allowed: 'y', atKey: true })
  expect([line, column]).toEqual([4, 9])
})

it.each<[string, string]>([
  ['YAML', 'a:\n  b: 1\n'],
  ['YAML with CRLF', 'a:\r\n  b: 1\r\n'],
  ['YAML after a byte order mark', '\ufeffa:\n  b: 1\n'],
  ['JSON', '{"a":\n { "b": 1 } }'],
  ['JSON with CRLF', '{"a":\r\n { "b": 1 } }'],
  ['JSON after a byte order mark', '\ufeff{"a":\n { "b": 1 } }'],
])('a place in a document is a line and a column in %s', (kind, text) => {
  const source = new SourceText(text, 'f.yaml')
  const place = (path: string[], atKey: boolean): number[] => {
    const { line, column } = source.problem({ path, found: 'x', allowed: 'y', atKey })
    return [line, column]
  }
  expect(source.value).toEqual({ a: { b: 1 } })
  const [key, value] = kind.startsWith('JSON') ? [4, 9] : [3, 6]
  expect([place(['a', 'b'], true), place(['a', 'b'], false)]).toEqual([
    [2, key],
    [2, value],
  ])
})

it('a place in a document is that of the JSON syntax error in a .json file', () => {
  expect(problem('{\n"a": 1 "b": 2 }', 'f.json')).toBe(
    'f.json:2:8: the text is not JSON (comma expected); allowed: JSON',
  )
})

it('a place in a document keeps keys named __proto__ as keys of JSON and YAML', () => {
  for (const text of ['{"__proto__": {"a": 1}}', '__proto__: { a: 1 }']) {
    expect(JSON.stringify(new SourceText(text, 'f.yaml').value)).toBe('{"__proto__":{"a":1}}')
  }
})

function problem(text: string, file = 'f.yaml'): string {
  try {
    new SourceText(text, file)
    return 'nothing is wrong'
  } catch (error) {
    if (error instanceof DocumentError) return error.message
    throw error
  }
}
