import type { Verdict, VerdictItem } from '../report-pair.ts'
import { oneLine } from '../../../model/domain/text.ts'
import { ruleSentences } from '../sentences.ts'
import { coverageRows, requestsLine, verdictTitle } from './text.ts'

/** GitHub refuses a summary of more than a megabyte. */
const SHOWN = 100

/** A verdict as Markdown. Sentences quote clients, so they are code spans, in which nothing is markup. */
export function verdictMarkdown(verdict: Verdict): string {
  const { reasons, allowed, warnings, scenarios } = verdict
  return [
    `### toolmock: ${verdictTitle(verdict)}`,
    ...markdownItems('', reasons),
    ...markdownItems('Allowed by `--allow-violation`:', allowed),
    ...markdownItems('Warnings, which do not fail the verdict:', warnings),
    ...listLines(
      'Rules of scenarios:',
      ruleSentences(scenarios).map((sentence) => [`- ${codeSpan(sentence)}`]),
    ),
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

function markdownItems(title: string, list: readonly VerdictItem[]): string[] {
  return listLines(
    title,
    list.map(({ kind, sentence, details }) => [
      `- ${kind}: ${codeSpan(sentence)}`,
      ...details.map((line) => `  - ${codeSpan(line)}`),
    ]),
  )
}

function listLines(title: string, items: readonly (readonly string[])[]): string[] {
  if (items.length === 0) return []
  const more = items.length > SHOWN ? [`- and ${items.length - SHOWN} more`] : []
  return [`\n${title}\n`.trimStart(), ...items.slice(0, SHOWN).flat(), ...more, '']
}

/** A code span with a fence that is longer than any run of backticks in the text. */
function codeSpan(text: string): string {
  const line = oneLine(text).trim()
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
