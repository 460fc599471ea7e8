import type { Verdict, VerdictItem } from '../report-pair.ts'
import { firedText } from '../../domain/scenario.ts'
import { oneLine } from '../../domain/text.ts'
import { coverageRows, requestsLine, titleOf } from './text.ts'

/** GitHub refuses a summary of more than a megabyte. */
const SHOWN = 100

/** A verdict as Markdown. Sentences quote clients, so they are code spans, in which nothing is markup. */
export function verdictMarkdown(verdict: Verdict): string {
  const { reasons, allowed, warnings, scenarios } = verdict
  return [
    `### toolmock: ${titleOf(verdict)}`,
    ...itemLines('', reasons),
    ...itemLines('Allowed by `--allow-violation`:', allowed),
    ...itemLines('Warnings, which do not fail the verdict:', warnings),
    ...ruleTable(scenarios),
    `${requestsLine(verdict)}\n`,
    '| | driven | only by a scenario | never | of |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...coverageRows(verdict).map(
      ([kind, { driven, injected_only: injected, never, total }]) =>
        `| ${kind} | ${driven} | ${injected} | ${never} | ${total} |`,
    ),
    '',
  ].join('\n')
}

/** How often each rule fired. */
function ruleTable(scenarios: Verdict['scenarios']): string[] {
  const rows = scenarios.flatMap(({ name, rules }) =>
    rules.map((rule) => `| ${cell(name)} | ${cell(rule.name)} | ${cell(firedText(name, rule))} |`),
  )
  if (rows.length === 0) return []
  const more = rows.length > SHOWN ? [`| and ${rows.length - SHOWN} more | | |`] : []
  return ['| scenario | rule | fired |', '| --- | --- | --- |', ...rows.slice(0, SHOWN), ...more, '']
}

/** In a table a bar ends a cell also where it is code. */
function cell(text: string): string {
  return code(text).replaceAll('|', '\\|')
}

function itemLines(title: string, list: readonly VerdictItem[]): string[] {
  if (list.length === 0) return []
  const items = list
    .slice(0, SHOWN)
    .flatMap(({ kind, sentence, details }) => [
      `- ${kind}: ${code(sentence)}`,
      ...details.map((line) => `  - ${code(line)}`),
    ])
  const more = list.length > SHOWN ? [`- and ${list.length - SHOWN} more`] : []
  return [`\n${title}\n`.trimStart(), ...items, ...more, '']
}

/** A code span with a fence that is longer than any run of backticks in the text. */
function code(text: string): string {
  const line = oneLine(text).trim()
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
