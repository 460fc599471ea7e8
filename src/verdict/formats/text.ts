import type { Told, Verdict } from '../verdict.ts'
import { oneLine } from './one-line.ts'
import { coverageRows, requestsLine, titleOf } from './summary-lines.ts'

/** A screen has 24 rows of 80 columns; what stands around the lists takes ten of them. */
const COLUMNS = 80
const ROWS = 14

/** A verdict of one screen. */
export function verdictText(verdict: Verdict): string {
  const { reasons, allowed, warnings, requests } = verdict
  const [few, some] = reasons.length === 0 ? [ROWS / 2, ROWS / 2] : [3, 4]
  const others = [...titled('allowed:', allowed, few), ...titled('warnings, which fail nothing:', warnings, some)]
  const lines = [
    `toolmock: ${titleOf(verdict)}`,
    ...told(reasons, ROWS - rowsOf(others), oneOfEachKind(reasons)),
    ...others,
    requestsLine(verdict),
  ]
  return (requests === 0 ? lines : [...lines, drivenLine(verdict)]).join('\n')
}

function drivenLine(verdict: Verdict): string {
  const parts = coverageRows(verdict).map(([kind, { driven, total, injected_only: injected }]) => {
    return `${driven} of ${total} ${kind}${injected === 0 ? '' : ` (${injected} more only by a scenario)`}`
  })
  return `driven: ${parts.join(', ')}`
}

function titled(title: string, list: readonly Told<string>[], rows: number): string[] {
  return list.length === 0 ? [] : [title, ...told(list, rows - 1, list.slice(0, 1))]
}

/** As many as the rows hold, and some in any case. */
function told(list: readonly Told<string>[], rows: number, sure: readonly Told<string>[]): string[] {
  const width = Math.max(...list.map(({ kind }) => kind.length))
  const lineOf = ({ kind, sentence }: Told<string>): string => `  ${inWords(kind).padEnd(width)}  ${oneLine(sentence)}`
  const shown = new Set(sure)
  let left = rows - 1 - rowsOf(sure.map(lineOf))
  for (const each of list) {
    if (shown.has(each)) continue
    left -= rowsOf([lineOf(each)])
    if (left < 0) break
    shown.add(each)
  }
  const [lines, hidden] = [list.filter((each) => shown.has(each)), list.filter((each) => !shown.has(each))]
  return [...lines.map(lineOf), ...(hidden.length === 0 ? [] : [`  and ${hidden.length} more${kindsOf(hidden)}`])]
}

/** Many reasons of one kind hide no other. */
function oneOfEachKind(list: readonly Told<string>[]): Told<string>[] {
  return list.filter(({ kind }, at) => list.findIndex((other) => other.kind === kind) === at)
}

/** What is not shown, unless it is of one kind: that one stands above it. */
function kindsOf(hidden: readonly Told<string>[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of hidden) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts.size < 2 ? '' : ` (${[...counts].map(([kind, count]) => `${inWords(kind)} ${count}`).join(', ')})`
}

function inWords(kind: string): string {
  return kind.replaceAll('_', ' ')
}

/** How many rows of a screen lines take. */
function rowsOf(lines: readonly string[]): number {
  return lines.reduce((rows, line) => rows + Math.ceil(line.length / COLUMNS), 0)
}
