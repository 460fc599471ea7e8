import { expect, it } from 'vitest'
import { benchmarksDocument, type Run } from '../../bench/benchmarks-document.ts'
import type { Figure } from '../../bench/figure.ts'
import { figureTable, missedBars, peerTable } from '../../bench/table.ts'

const FIGURES: Figure[] = [
  {
    bar: 'get-details',
    what: 'GET get-details',
    accounts: 10_000,
    value: { median: 0.4, min: 0.3, max: 0.513, rounds: 3 },
    unit: '× bare',
    detail: '1/s',
  },
  { bar: 'packages', what: 'packages', value: { median: 1, min: 1, max: 1, rounds: 1 }, unit: 'packages', detail: '' },
  { what: 'a | b', value: { median: 123.4, min: 99.94, max: 200, rounds: 2 }, unit: 'ms', detail: '' },
]

const RUN: Run = {
  date: '2026-01-02',
  machine: '2 cores',
  command: 'npm run bench',
  figures: figureTable(FIGURES),
  peers: '',
  notes: [],
  missed: missedBars(FIGURES),
}

it('the table of benchmarks has median, spread, bar, moonshot and verdict of each figure', () => {
  expect(figureTable(FIGURES).split('\n').slice(2)).toEqual([
    '| GET get-details | 10,000 | 0.40 × bare | 0.30 to 0.51 (3) | ≥ 0.5 | ≥ 0.85 | **missed** (`get-details`) | 1/s |',
    '| packages |  | 1 packages |  | ≤ 10 | ≤ 5 | bar and moonshot (`packages`) |  |',
    '| a \\| b |  | 123 ms | 99.9 to 200 (2) |  |  |  |  |',
  ])
  expect(missedBars(FIGURES)).toEqual(['get-details'])
})

it('the table of benchmarks has a column for each peer, empty where it was not measured', () => {
  const cells = [
    { work: 'start', subject: 'toolmock', text: '1 ms' },
    { work: 'token', subject: 'other', text: '2 ms' },
  ]
  expect(peerTable(cells).split('\n')).toEqual([
    '| work | toolmock | other |',
    '| --- | --- | --- |',
    '| start | 1 ms |  |',
    '| token |  | 2 ms |',
  ])
})

it('docs/benchmarks.md requires a reason for each missed bar', () => {
  expect(benchmarksDocument(RUN, '')).toContain('- `get-details`: GET get-details: no reason is written down yet.')
})

it('docs/benchmarks.md keeps the reasons that were written by hand when it is generated again', () => {
  const reason = '- `get-details`: the journal costs\n  what it costs.'
  const first = benchmarksDocument(RUN, '').replace(/^- `get-details`.*$/m, reason)
  const second = benchmarksDocument({ ...RUN, missed: [] }, first)
  const third = benchmarksDocument(RUN, second)
  expect(second).toContain('- `get-details`: (held in this run) the journal costs what it costs.')
  expect(third).toContain('- `get-details`: the journal costs what it costs.')
  expect(third).not.toContain('held in this run')
  expect(benchmarksDocument(RUN, third)).toBe(third)
})
