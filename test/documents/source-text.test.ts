import { describe, expect, it } from 'vitest'
import { DocumentError } from '../../src/documents/problem.ts'
import { MAX_SOURCE_LENGTH, SourceText } from '../../src/documents/source-text.ts'

describe('a text that is no usable document', () => {
  it.each<[string, string, string]>([
    ['broken YAML', 'a: [1, 2\nb: 3\n', 'f.yaml:2:1: found text that is no YAML'],
    ['broken JSON', '{"a": 1,, }', 'f.yaml:1:9: found text that is no YAML'],
    [
      'a key that is there twice',
      'a: 1\nb: 2\na: 3\n',
      'f.yaml:3:1: found the key a for the second time; allowed: each key once',
    ],
    [
      'a JSON key that is there twice',
      '{"a": 1, "a": 2}',
      'f.yaml:1:10: found the key "a" for the second time; allowed: each key once',
    ],
    ['a second document', 'a: 1\n---\nb: 2\n', 'f.yaml:2:1: found a second document; allowed: one document in a file'],
    ['a tag', 'a: !!js/function "x"\n', 'f.yaml:1:4: found the tag !!js/function'],
    ['an alias to nothing', 'a: *nothing\n', 'f.yaml:1:4: a: found the alias *nothing'],
    ['a number that JSON lacks', 'a: .nan\n', 'f.yaml:1:4: a: found NaN; allowed: a value that JSON has'],
    [
      'a key that is a list',
      '? [1, 2]\n: 3\n',
      'f.yaml:1:1: found the key nothing; allowed: keys that are plain words',
    ],
  ])('%s', (_kind, text, message) => {
    expect(problem(text).slice(0, message.length)).toBe(message)
  })

  it('refuses aliases that would grow without end', () => {
    const levels = Array.from(
      { length: 9 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(', ')}]`,
    )
    expect(problem(`l0: &l0 [lol]\n${levels.join('\n')}\n`)).toContain(
      'found more than 200 aliases; allowed: at most 200',
    )
  })

  it('refuses an alias to what it stands in', () => {
    expect(problem('a: &a [*a]\n')).toMatch(/more than (?:200 aliases|100 nested levels)|no YAML/)
  })

  it('refuses nesting without brackets', () => {
    expect(problem(`${'- '.repeat(45_000)}x`)).toContain('more than 100 nested levels')
  })

  it.each([150, 45_000])('refuses %d nested levels', (levels) => {
    expect(problem(`${'['.repeat(levels)}${']'.repeat(levels)}`)).toContain('more than 100 nested levels')
  })

  it('refuses a text that is too long before it reads it', () => {
    expect(problem('x'.repeat(MAX_SOURCE_LENGTH + 1))).toContain(`allowed: at most ${MAX_SOURCE_LENGTH}`)
  })
})

describe('a place in a document', () => {
  const source = new SourceText('a:\n  b:\n    - x: 1\n    - { "y z": 2 }\nc: &c { d: 1 }\ne: *c\n', 'f.yaml')

  it.each<[string, (string | number)[], string]>([
    ['a value', ['a', 'b', 0, 'x'], '3:10: a.b[0].x'],
    ['a quoted key', ['a', 'b', 1, 'y z'], '4:16: a.b[1]["y z"]'],
    ['something missing from a list', ['a', 'b', 7], '3:5: a.b[7]'],
    ['something missing from an object', ['a', 'b', 0, 'q'], '3:7: a.b[0].q'],
    ['something behind an alias', ['e', 'd'], '5:12: e.d'],
  ])('%s is found', (_kind, path, place) => {
    expect(source.problem({ path, found: 'x', allowed: 'y' }).message).toBe(`f.yaml:${place}: found x; allowed: y`)
  })

  it('is the key where the key is the problem', () => {
    const { line, column } = source.problem({ path: ['a', 'b', 1, 'y z'], found: 'x', allowed: 'y', atKey: true })
    expect([line, column]).toEqual([4, 9])
  })
})

function problem(text: string): string {
  try {
    new SourceText(text, 'f.yaml')
    return 'nothing is wrong'
  } catch (error) {
    if (error instanceof DocumentError) return error.message
    throw error
  }
}
