import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { parseSeed } from '../../src/files/seed-files.ts'
import { messagesOf } from './files.ts'

const read = (text: string) => parseSeed({ file: 's.yaml', text }, DOCUMENT_CHECKS, new Map())
const problems = (...lines: string[]) =>
  messagesOf(read(`settings:\n  vocabulary:\n${lines.map((line) => `    ${line}`).join('\n')}\n`))

it('is read unchanged', async () => {
  const { settings } = await read('settings: { vocabulary: { WORKSPACE_DWD: ACME_DWD, workspace_dwd: acme_dwd } }')
  expect(settings.vocabulary).toEqual({ WORKSPACE_DWD: 'ACME_DWD', workspace_dwd: 'acme_dwd' })
})

it('may swap words, chain them, and map a word to itself', async () => {
  expect(await problems('connector: provider', 'provider: connector')).toEqual([])
  expect(await problems('connector: provider', 'provider: vendor')).toEqual([])
  expect(await problems('connector: connector')).toEqual([])
})

it('may give several error codes one word, also that of another one', async () => {
  expect(await problems('TOOL_NOT_FOUND: GONE', 'ACCOUNT_NOT_FOUND: GONE')).toEqual([])
  expect(await problems('TOOL_NOT_FOUND: ACCOUNT_NOT_FOUND')).toEqual([])
})

it.each([
  [
    'an unknown word, with those that are close to it',
    ['WORKSPACE_DWDD: X'],
    /^s\.yaml:3:5: `settings\.vocabulary\.WORKSPACE_DWDD` is an unknown word \(did you mean WORKSPACE_DWD, workspace_dwd\?\)/,
  ],
  ['an unknown word that is close to none', ['zzzzzzzzzzzzzz: X'], /^s\.yaml:3:5: .*of the contract$/],
  [
    'an own name of every object',
    ['constructor: X'],
    /^s\.yaml:3:5: `settings\.vocabulary\.constructor` is an unknown word/,
  ],
  ['a prototype', ['__proto__: X'], /^s\.yaml:3:5: `settings\.vocabulary\.__proto__` is an unknown word/],
  [
    'a word of the token endpoint',
    ['grant_type: X'],
    /^s\.yaml:3:5: `settings\.vocabulary\.grant_type` is an unknown word/,
  ],
  ['an empty word on the wire', ['ACTIVE: ""'], /^s\.yaml:3:13: .* is ""; allowed: one or more letters/],
  ['a word on the wire with other characters', ['ACTIVE: a-b'], /^s\.yaml:3:13: .* is "a-b"; allowed: one or more/],
  ['a number on the wire', ['ACTIVE: 1'], /^s\.yaml:3:13: .* is 1; allowed: one or more letters/],
  [
    'one word on the wire for two',
    ['ACTIVE: X', 'EXPIRED: X'],
    /^s\.yaml:4:14: `settings\.vocabulary\.EXPIRED` is "X", which ACTIVE has already; allowed: another word for each/,
  ],
  [
    'a word of the document that keeps its own meaning',
    ['connector: provider'],
    /^s\.yaml:3:16: .* is "provider", which is a word of the document; allowed: .*provider with a word of its own/,
  ],
])('is refused with %s', async (_kind, lines, message) => {
  const found = await problems(...lines)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(message)
})

it('is refused when it is no object', async () => {
  expect(await messagesOf(read('settings: { vocabulary: [ACTIVE] }'))).toEqual([
    's.yaml:1:25: `settings.vocabulary` is a list; allowed: an object: words of the document, and those on the wire',
  ])
})
