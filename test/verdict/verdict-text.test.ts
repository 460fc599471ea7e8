import { describe, expect, it } from 'vitest'
import { verdictMarkdown } from '../../src/verdict/formats/markdown.ts'
import { verdictText } from '../../src/verdict/formats/text.ts'
import type { VerdictItem, Verdict } from '../../src/verdict/report-pair.ts'

const TALLY = { total: 9, driven: 4, injected_only: 2, never: 3 }
const KINDS = ['operations', 'statuses', 'error_codes', 'request_fields', 'response_fields', 'lifecycle_moves']
const summary = Object.fromEntries([...KINDS, 'scenarios'].map((kind) => [kind, TALLY])) as Verdict['summary']
const GOOD: Verdict = { ok: true, reasons: [], allowed: [], warnings: [], requests: 7, injected: 2, summary }

const reason = (sentence: string): VerdictItem => ({
  kind: 'violation',
  code: 'type',
  request: 'req_1',
  sentence,
  requests: ['req_1'],
  details: [],
})
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
    const lines = verdictText(broken('x'.repeat(5000), ...Array.from({ length: 20 }, String)), 120).split('\n')
    expect(lines[0]).toBe('toolmock: the verdict failed for 21 reasons')
    expect(lines[1]).toMatch(/^ {2}violation {2}x{239}…$/)
    expect(lines[11]).toBe('  and 11 more')
  })

  it('shows one reason of each code, also with many of another', () => {
    const violations = Array.from({ length: 500 }, (_, nth) => reason(`a violation, the ${nth}th`))
    const paths = violations.map((each) => ({ ...each, code: 'unknown_path' }))
    const others = [
      { ...reason('rule "hang" must fire'), code: 'must_fire' },
      { ...reason('2 of 19 operations were driven'), code: 'coverage' },
    ]
    const text = verdictText({ ...GOOD, ok: false, reasons: [...violations, ...paths, ...others] }, 120)
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
    expect(verdictText({ ...GOOD, ok: false, reasons: some(2) }, 120)).toContain(details[1])
    expect(verdictText({ ...GOOD, ok: false, reasons: some(9) }, 120)).not.toContain(details[1])
  })

  it.each([80, 100, 120, 0])(
    'takes at most 24 rows with the lines of `toolmock run` around it: %s columns',
    (columns) => {
      const width = Math.max(80, columns)
      const wide = Array.from({ length: 500 }, (_, nth) => reason(`${nth} ${'wide '.repeat(24)}`))
      const warnings = wide.map((each) => ({ ...each, kind: 'warning' as const, code: 'unread' }))
      for (const full of [
        { allowed: wide, warnings },
        { allowed: [], warnings },
        { allowed: [], warnings: [] },
      ]) {
        const lines = verdictText({ ...GOOD, injected: 0, ok: false, reasons: wide, ...full }, columns).split('\n')
        const rows = lines.reduce((sum, line) => sum + Math.ceil(line.length / width), 0)
        expect(rows).toBeGreaterThan(16)
        expect(rows).toBeLessThanOrEqual(24 - '\nexit code 3\neverything with'.split('\n').length)
      }
    },
  )

  it('reports that there is nothing to check without a request', () => {
    expect(verdictText({ ...GOOD, requests: 0 })).toBe('toolmock: there is nothing to check\nno operation was called')
    expect(verdictMarkdown({ ...GOOD, requests: 0 })).toMatch(/^### toolmock: there is nothing to check\n/)
  })
})

describe('a verdict as Markdown', () => {
  it('has the same, with coverage as a table', () => {
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

  it.each([
    ['<img src=x> @team [a](http://b) | c', '`<img src=x> @team [a](http://b) | c`'],
    ['a `code` and ``more``', '``` a `code` and ``more`` ```'],
    ['`', '`` ` ``'],
    ['two\n\n# lines', '`two # lines`'],
  ])('shows what a client sent as code: %j', (sentence, span) => {
    expect(verdictMarkdown(broken(sentence))).toContain(`\n- violation: ${span}\n`)
  })

  it('is small enough for a summary of a CI step', () => {
    const sentences = Array.from({ length: 1000 }, (_, nth) => `${nth} ${'€'.repeat(1000)}`)
    const text = verdictMarkdown(broken(...sentences))
    expect(text).toContain('\n- and 900 more\n')
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024)
  })
})
