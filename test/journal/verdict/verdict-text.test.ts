import { describe, expect, it } from 'vitest'
import { verdictMarkdown } from '../../../src/journal/verdict/formats/markdown.ts'
import { verdictText } from '../../../src/journal/verdict/formats/text.ts'
import { runFinding, type VerdictItem, type Verdict } from '../../../src/journal/verdict/report-pair.ts'

const TALLY = { total: 9, driven: 4, injected_only: 2, never: 3 }
const KINDS = ['operations', 'statuses', 'error_codes', 'request_fields', 'response_fields', 'lifecycle_moves']
const summary = Object.fromEntries([...KINDS, 'scenarios'].map((kind) => [kind, TALLY])) as Verdict['summary']
const GOOD: Verdict = {
  ok: true,
  reasons: [],
  allowed: [],
  warnings: [],
  requests: 7,
  judged: 7,
  injected: 2,
  scenarios: [],
  summary,
}

const reason = (sentence: string): VerdictItem => ({
  ...runFinding({ code: 'type', field: 'page_size', allowed: 'must be an integer', found: null }),
  ...{ request: 'req_1', sentence, requests: ['req_1'], details: [] },
})
const terminal = (columns: number, isColoured = false) => ({ columns, isColoured })
/** A scenario whose rules fired so often, each on all that matched it. */
const counts = (...rules: (readonly [name: string, hits: number])[]): Verdict['scenarios'][number] => ({
  ...{ name: 'limited', started: 1 },
  rules: rules.map(([name, hits]) => ({
    ...{ name, at: 'service', must_fire: true, matched: hits, hits, shadowed_by: [] },
  })),
})
const SHADOWED = counts(['too many', 2], ['never', 0])
Object.assign(SHADOWED, {
  rules: [
    ...SHADOWED.rules,
    {
      ...{ name: 'slow', at: 'service', must_fire: true, matched: 5, hits: 0 },
      shadowed_by: [
        { scenario: 'limited', rule: 'too many', requests: 2 },
        { scenario: 'down', rule: 'a | b', requests: 1 },
      ],
    },
  ],
})
const FIRED_RULES = [
  'rule "too many" of scenario limited fired 2 times',
  'rule "never" of scenario limited fired 0 times: no request matched it',
  'rule "slow" of scenario limited fired 0 times: the rule "too many" before it took 2 requests, the rule "a | b" of scenario down before it took 1 request',
]
const broken = (...sentences: string[]): Verdict => ({ ...GOOD, ok: false, reasons: sentences.map(reason) })

describe('a verdict as text', () => {
  it('counts the requests, and each kind of coverage separately', () => {
    const [first, requests, driven, ...others] = verdictText(GOOD).split('\n')
    expect([first, requests]).toEqual([
      'toolmock: the contract was kept',
      '7 requests, 2 of them answered or changed by a scenario',
    ])
    expect(driven).toMatch(/^driven: 4 of 9 operations \(2 more only by injection\), 4 of 9 statuses /)
    expect(driven).toContain('4 of 9 lifecycle moves')
    expect(others).toEqual([])
  })

  it.each([
    ['a line break', 'one\r\ntwo\u2028three', 'one two three'],
    ['a sign that a terminal obeys', 'red \u001b[31m', 'red \\u{1b}[31m'],
    ['a sign that turns the writing', 'a\u202eb', 'a\\u{202e}b'],
    ['half a pair', 'a\ud800', 'a\ufffd'],
  ])('escapes %s of a client', (_title, sentence, shown) => {
    expect(verdictText(broken(sentence)).split('\n')[1]).toBe(`  violation  ${shown}`)
  })

  it('cuts long sentences, and counts the reasons that do not fit on one screen', () => {
    const lines = verdictText(broken('x'.repeat(5000), ...Array.from({ length: 20 }, String)), terminal(120)).split(
      '\n',
    )
    expect(lines[0]).toBe('toolmock: the verdict failed for 21 reasons')
    expect(lines.slice(1, 4).join('')).toMatch(/^ {2}violation {2}x{107} {13}x{107} {13}x{25}…$/)
    expect(lines[13]).toBe('  and 11 more')
  })

  it('shows one reason of each code, also with many of another', () => {
    const violations = Array.from({ length: 500 }, (_, nth) => reason(`a violation, the ${nth}th`))
    const paths = violations.map((each) => ({ ...each, code: 'unknown_path' }))
    const others = [
      { ...reason('rule "hang" must fire'), code: 'must_fire' },
      { ...reason('2 of 19 operations were driven'), code: 'coverage' },
    ]
    const text = verdictText({ ...GOOD, ok: false, reasons: [...violations, ...paths, ...others] }, terminal(120))
    expect(text).toContain('\n  violation  a violation, the 8th\n  violation  a violation, the 0th\n')
    expect(text).toContain('\n  violation  rule "hang" must fire\n  violation  2 of 19 operations were driven\n')
    expect(text).toContain('\n  and 990 more (type 491, unknown path 499)\n')
  })

  it('is complete where there is no terminal, with the tests and requests of each reason', () => {
    const details = ['in the test accounts > lists them (accounts.test.ts:3)', 'GET /api/v1/connections at … (req_1)']
    const reasons = Array.from({ length: 100 }, (_, nth) => ({ ...reason(`${nth} ${'wide '.repeat(60)}`), details }))
    const lines = verdictText({ ...GOOD, ok: false, reasons, warnings: [], allowed: [] }).split('\n')
    expect(lines.slice(1, 4)).toEqual([
      `  violation  0 ${'wide '.repeat(60).trimEnd()} `,
      ...details.map((line) => `             ${line}`),
    ])
    expect(lines).toHaveLength(1 + 300 + 2)
  })

  it('has the tests and requests of each reason on a terminal too, where they fit', () => {
    const details = ['in the test accounts > lists them', 'GET /api/v1/connections at … (req_1)']
    const some = (count: number) => Array.from({ length: count }, () => ({ ...reason('wrong'), details }))
    expect(verdictText({ ...GOOD, ok: false, reasons: some(2) }, terminal(120))).toContain(details[1])
    expect(verdictText({ ...GOOD, ok: false, reasons: some(9) }, terminal(120))).not.toContain(details[1])
  })

  it.each([80, 100, 120])('takes at most 24 rows with the lines of `toolmock run` around it: %s columns', (columns) => {
    const wide = Array.from({ length: 500 }, (_, nth) => reason(`${nth} ${'wide '.repeat(24)}`))
    const warnings = wide.map((each) => ({ ...each, kind: 'warning' as const, code: 'unread' }))
    for (const full of [
      { allowed: wide, warnings },
      { allowed: [], warnings },
      { allowed: [], warnings: [] },
      { allowed: [], warnings, scenarios: [counts(...wide.map(({ sentence }) => [sentence, 1] as const))] },
    ]) {
      const lines = verdictText({ ...GOOD, injected: 0, ok: false, reasons: wide, ...full }, terminal(columns)).split(
        '\n',
      )
      expect(lines.filter((line) => line.length > columns)).toEqual([])
      expect(lines.length).toBeGreaterThan(14)
      expect(lines.length).toBeLessThanOrEqual(24 - '\nexit code 3\neverything with'.split('\n').length)
    }
  })

  it('says how often each rule of a scenario fired, and which rule before it took its requests', () => {
    const [first, ...lines] = verdictText({ ...GOOD, scenarios: [SHADOWED] }).split('\n')
    expect(first).toBe('toolmock: the contract was kept')
    expect(lines.slice(0, 3)).toEqual(FIRED_RULES)
    const many = counts(...Array.from({ length: 30 }, (_, nth) => [`rule ${nth}`, nth] as const))
    expect(verdictText({ ...GOOD, scenarios: [many] }, terminal(80))).toMatch(/\nand 2\d more rules\n7 requests/)
  })

  it('has its first words in colour on a terminal with colours, and goes on below where a sentence begins', () => {
    const verdict = { ...broken('wrong '.repeat(20)), warnings: [{ ...reason('colour'), kind: 'warning' as const }] }
    expect(verdictText(verdict, terminal(60, true)).split('\n').slice(0, 6)).toEqual([
      '\u001b[1mtoolmock:\u001b[22m the verdict failed for 1 reason',
      `  \u001b[31mviolation\u001b[39m  ${'wrong '.repeat(8).trimEnd()}`,
      `             ${'wrong '.repeat(8).trimEnd()}`,
      `             ${'wrong '.repeat(4)}`,
      'warnings, which do not fail the verdict:',
      '  \u001b[33mwarning\u001b[39m    colour',
    ])
  })

  it('reports that there is nothing to check without a request', () => {
    expect(verdictText({ ...GOOD, requests: 0, judged: 0 })).toBe(
      'toolmock: there is nothing to check\nno operation was called',
    )
    expect(verdictMarkdown({ ...GOOD, requests: 0, judged: 0 })).toMatch(/^### toolmock: there is nothing to check\n/)
  })
})

it('a verdict as Markdown has the same, with coverage as a table', () => {
  const allowed = [reason('provoked')]
  const warnings = [{ ...reason('colour'), kind: 'warning' as const, code: 'unread' }]
  expect(verdictMarkdown({ ...broken('wrong'), allowed, warnings })).toBe(
    [
      '### toolmock: the verdict failed for 1 reason',
      '',
      '- violation: `wrong`',
      '',
      'Allowed by `--allow-violation`:',
      '',
      '- violation: `provoked`',
      '',
      'Warnings, which do not fail the verdict:',
      '',
      '- warning: `colour`',
      '',
      '7 requests, 2 of them answered or changed by a scenario',
      '',
      '| | driven | only by a scenario | never | of |',
      '| --- | ---: | ---: | ---: | ---: |',
      ...[...KINDS, 'scenarios'].map((kind) => `| ${kind.replace('_', ' ')} | 4 | 2 | 3 | 9 |`),
      '',
    ].join('\n'),
  )
})

it('a verdict as Markdown lists how often each rule fired', () => {
  const items = FIRED_RULES.map((line) => `- \`${line}\``)
  expect(verdictMarkdown({ ...GOOD, scenarios: [SHADOWED] })).toContain(
    ['Rules of scenarios:', '', ...items, '', '7 requests'].join('\n'),
  )
})

it.each([
  ['<img src=x> @team [a](http://b) | c', '`<img src=x> @team [a](http://b) | c`'],
  ['a `code` and ``more``', '``` a `code` and ``more`` ```'],
  ['`', '`` ` ``'],
  ['two\n\n# lines', '`two # lines`'],
])('a verdict as Markdown shows what a client sent as code: %j', (sentence, span) => {
  expect(verdictMarkdown(broken(sentence))).toContain(`\n- violation: ${span}\n`)
})

it('a verdict as Markdown is small enough for a summary of a CI step', () => {
  const sentences = Array.from({ length: 1000 }, (_, nth) => `${nth} ${'€'.repeat(1000)}`)
  const text = verdictMarkdown(broken(...sentences))
  expect(text).toContain('\n- and 900 more\n')
  expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024)
})
