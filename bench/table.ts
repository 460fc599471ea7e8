import { type Bar, BARS, type BarName, judge, type Verdict } from './bars.ts'
import type { Figure, PeerFigure } from './figure.ts'

const WORDS: Readonly<Record<Verdict, string>> = { moonshot: 'bar and moonshot', bar: 'bar', missed: '**missed**' }

/** The figures as a Markdown table, with the verdict on each bar. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    count(figure.accounts),
    ...measured(figure),
    ...judged(figure),
    figure.detail,
  ])
  return markdown(['what', 'accounts', 'median', 'spread', 'bar', 'moonshot', 'holds', 'behind it'], rows)
}

/** The figures of the peers as a Markdown table: a row for each work, a column for each server. */
export function peerTable(figures: readonly PeerFigure[]): string {
  const subjects = [...new Set(figures.map(({ subject }) => subject))]
  const works = [...new Set(figures.map(({ work }) => work))]
  const cellOf = (work: string, subject: string): string =>
    figures.find((figure) => figure.work === work && figure.subject === subject)?.text ?? ''
  return markdown(
    ['work', ...subjects],
    works.map((work) => [work, ...subjects.map((subject) => cellOf(work, subject))]),
  )
}

/** The names of the missed bars. */
export function missedBars(figures: readonly Figure[]): BarName[] {
  return figures.flatMap(({ bar, value }) => (bar && judge(bar, value.median) === 'missed' ? [bar] : []))
}

function measured({ value, unit }: Figure): string[] {
  const spread = value.rounds === 1 ? '' : `${short(value.min)} to ${short(value.max)} (${value.rounds})`
  return [`${short(value.median)} ${unit}`, spread]
}

function judged({ bar: name, value }: Figure): string[] {
  if (!name) return ['', '', '']
  const { better, bar, moonshot }: Bar = BARS[name]
  const sign = better === 'lower' ? '≤' : '≥'
  return [`${sign} ${bar}`, `${sign} ${moonshot}`, `${WORDS[judge(name, value.median)]} (\`${name}\`)`]
}

const count = (accounts: number | undefined): string => accounts?.toLocaleString('en-US') ?? ''

/** The number with about three significant digits. */
export function short(value: number): string {
  if (Number.isInteger(value) || value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
