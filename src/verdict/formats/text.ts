import type { Told, Verdict } from '../verdict.ts'
import { oneLine } from '../../domain/text.ts'
import { coverageRows, requestsLine, titleOf } from './summary-lines.ts'

/** A screen, and what of it goes to the first line and to those that `toolmock run` puts around these. */
const ROWS = { screen: 24, around: 5 }
const COLUMNS = { least: 80, usual: 120 }

/** A verdict of one screen. There are terminals that say they have no columns at all. */
export function verdictText(verdict: Verdict, wide = COLUMNS.usual): string {
  const columns = Math.max(wide, COLUMNS.least)
  const { reasons, allowed, warnings, requests } = verdict
  const last = [requestsLine(verdict), ...(requests === 0 ? [] : [drivenLine(verdict)])]
  const rows = ROWS.screen - ROWS.around - rowsOf(last, columns)
  const [few, some] = reasons.length === 0 ? [rows / 2, rows / 2] : [3, 4]
  const others = [
    ...titled('allowed:', allowed, { rows: few, columns }),
    ...titled('warnings, which fail nothing:', warnings, { rows: some, columns }),
  ]
  const first = told(reasons, { rows: rows - rowsOf(others, columns), columns }, oneOfEachKind(reasons))
  return [`toolmock: ${titleOf(verdict)}`, ...first, ...others, ...last].join('\n')
}

function drivenLine(verdict: Verdict): string {
  const parts = coverageRows(verdict).map(([kind, { driven, total, injected_only: injected }]) => {
    return `${driven} of ${total} ${kind}${injected === 0 ? '' : ` (${injected} more only by a scenario)`}`
  })
  return `driven: ${parts.join(', ')}`
}

interface Room {
  readonly rows: number
  readonly columns: number
}

function titled(title: string, list: readonly Told<string>[], { rows, columns }: Room): string[] {
  return list.length === 0 ? [] : [title, ...told(list, { rows: rows - 1, columns }, list.slice(0, 1))]
}

/** As many as there is room for, and some in any case. */
function told(list: readonly Told<string>[], { rows, columns }: Room, sure: readonly Told<string>[]): string[] {
  const width = Math.max(...list.map(({ kind }) => kind.length))
  const lineOf = ({ kind, sentence }: Told<string>): string => `  ${inWords(kind).padEnd(width)}  ${oneLine(sentence)}`
  const shown = new Set(sure)
  const all = list.slice(0, rows).map(lineOf)
  if (list.length <= rows && rowsOf(all, columns) <= rows) return all
  let left = rows - 1 - rowsOf(sure.map(lineOf), columns)
  for (const each of list) {
    if (shown.has(each)) continue
    left -= rowsOf([lineOf(each)], columns)
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
function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((rows, line) => rows + Math.ceil(line.length / columns), 0)
}
