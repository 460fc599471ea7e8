import type { Coverage, Tally } from '../report-types.ts'
import { oneLine, plural } from '../../../model/domain/text.ts'
import { indentLine, paintFor, type Style, type Terminal } from '../../../platform/terminal.ts'
import type { Verdict, VerdictItem } from '../report-pair.ts'
import { ruleSentences } from '../sentences.ts'
import type { JudgedReports } from '../verdict.ts'

/** The rows of a screen, and those of the first line and of the lines that `toolmock run` prints around the verdict. */
const ROWS = { screen: 24, around: 7 }

/** The reports as `toolmock run` prints them where there is no terminal. */
export function verdictAsText({ verdict }: JudgedReports): string {
  return `${verdictText(verdict)}\n`
}

/** A verdict with everything; on a terminal what fits on one screen. */
export function verdictText(verdict: Verdict, terminal?: Terminal): string {
  const { reasons, allowed, warnings, scenarios, requests } = verdict
  const last = requests === 0 ? ['no operation was called'] : [requestsLine(verdict), drivenLine(verdict)]
  const rows = terminal ? ROWS.screen - ROWS.around - terminalRows(last, terminal) : Infinity
  const [few, some] = terminal && reasons.length > 0 ? [3, 4] : [rows / 3, rows / 3]
  const others = [
    ...titledSection('allowed by --allow-violation:', allowed, { rows: few, terminal }),
    ...titledSection('warnings, which do not fail the verdict:', warnings, { rows: some, terminal }),
    ...ruleLines(scenarios, { rows: few, terminal }),
  ]
  const first = itemLines(reasons, { rows: rows - terminalRows(others, terminal), terminal }, oneOfEachKind(reasons))
  return [`${TITLE} ${verdictTitle(verdict)}`, ...first, ...others, ...last]
    .map((line) => lineOnTerminal(line, terminal))
    .join('\n')
}

const TITLE = 'toolmock:'

const STYLES: Readonly<Record<string, Style>> = { violation: 'red', warning: 'yellow', [TITLE]: 'bold' }

/** A line of a verdict with its first word in colour, and what does not fit below where its sentence begins. */
export function lineOnTerminal(line: string, terminal: Terminal | undefined): string {
  const [start = '', word = ''] = /^ *(?:(violation|warning|toolmock:) +)?/.exec(line) ?? []
  const style = STYLES[word]
  const text = indentLine(line, word === TITLE ? HANGING : start.length || HANGING, terminal)
  return style === undefined ? text : text.replace(word, paintFor(terminal)(style, word))
}

/** How far a line is indented that goes on one without an indent. */
const HANGING = 2

/** How often each rule fired, as many as fit. */
function ruleLines(scenarios: Verdict['scenarios'], { rows, terminal }: Space): string[] {
  const all = ruleSentences(scenarios)
  if (terminalRows(all, terminal) <= rows) return all
  let left = rows - 1
  const fitting = all.filter((line) => (left -= terminalRows([line], terminal)) >= 0)
  return [...fitting, `and ${plural(all.length - fitting.length, 'more rule')}`]
}

function drivenLine(verdict: Verdict): string {
  const parts = coverageRows(verdict).map(([kind, { driven, total, injected_only: injected }]) => {
    return `${driven} of ${total} ${kind}${injected === 0 ? '' : ` (${injected} more only by injection)`}`
  })
  return `driven: ${parts.join(', ')}`
}

interface Space {
  readonly rows: number
  readonly terminal: Terminal | undefined
}

function titledSection(title: string, list: readonly VerdictItem[], space: Space): string[] {
  if (list.length === 0) return []
  return [title, ...itemLines(list, { ...space, rows: space.rows - 1 }, list.slice(0, 1))]
}

/** The longest line where there is no terminal. */
const MAX_LENGTH = 2000

/** As many items as fit, with their details where all of them fit; those of `always` in any case. */
function itemLines(list: readonly VerdictItem[], { rows, terminal }: Space, always: readonly VerdictItem[]): string[] {
  const length = terminal ? undefined : MAX_LENGTH
  const width = 'violation'.length
  const lineOf = ({ kind, sentence }: VerdictItem): string => `  ${kind.padEnd(width)}  ${oneLine(sentence, length)}`
  const detailsOf = ({ details }: VerdictItem): string[] =>
    details.map((line) => `${' '.repeat(width + 4)}${oneLine(line, length)}`)
  const whole = list.flatMap((each) => [lineOf(each), ...detailsOf(each)])
  if (terminalRows(whole, terminal) <= rows) return whole
  const listed = new Set(always)
  const all = list.slice(0, rows).map(lineOf)
  if (list.length <= rows && terminalRows(all, terminal) <= rows) return all
  let left = rows - 1 - terminalRows(always.map(lineOf), terminal)
  for (const each of list) {
    if (listed.has(each)) continue
    left -= terminalRows([lineOf(each)], terminal)
    if (left < 0) break
    listed.add(each)
  }
  const [lines, hidden] = [list.filter((each) => listed.has(each)), list.filter((each) => !listed.has(each))]
  return [...lines.map(lineOf), ...(hidden.length === 0 ? [] : [`  and ${hidden.length} more${hiddenKinds(hidden)}`])]
}

/** The first of each code, so that many reasons of one hide no other. */
function oneOfEachKind(list: readonly VerdictItem[]): VerdictItem[] {
  return list.filter(({ code }, at) => list.findIndex((item) => item.code === code) === at)
}

/** How many of each code are not shown; nothing for a single one, which is shown above. */
function hiddenKinds(hidden: readonly VerdictItem[]): string {
  const counts = new Map<string, number>()
  for (const { code } of hidden) counts.set(code, (counts.get(code) ?? 0) + 1)
  return counts.size < 2 ? '' : ` (${[...counts].map(([code, count]) => `${inWords(code)} ${count}`).join(', ')})`
}

export function inWords(kind: string): string {
  return kind.replaceAll('_', ' ')
}

function terminalRows(lines: readonly string[], terminal: Terminal | undefined): number {
  return lines.reduce((rows, line) => rows + lineOnTerminal(line, terminal).split('\n').length, 0)
}

export function verdictTitle({ ok, reasons, judged }: Verdict): string {
  if (!ok) return `the verdict failed for ${plural(reasons.length, 'reason')}`
  return judged === 0 ? 'there is nothing to check' : 'the contract was kept'
}

export function requestsLine({ requests, injected }: Verdict): string {
  const marked = injected === 0 ? '' : `, ${injected} of them answered or changed by a scenario`
  return `${plural(requests, 'request')}${marked}`
}

/** Each kind of coverage with its counts; kinds are never added up. */
export function coverageRows({ summary }: Pick<Coverage, 'summary'>): [kind: string, tally: Tally][] {
  return Object.entries(summary).map(([kind, tally]) => [inWords(kind), tally])
}
