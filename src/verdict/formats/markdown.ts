import type { Told, Verdict } from '../verdict.ts'
import { oneLine } from '../../domain/text.ts'
import { coverageRows, requestsLine, titleOf } from './summary-lines.ts'

/** A page takes more than a screen, and yet not everything: GitHub refuses a summary of more than a megabyte. */
const SHOWN = 100

/** The same as Markdown. Sentences quote clients, so they stand as code, where no sign has a meaning. */
export function verdictMarkdown(verdict: Verdict): string {
  const { reasons, allowed, warnings } = verdict
  return [
    `### toolmock: ${titleOf(verdict)}`,
    ...told('', reasons),
    ...told('Allowed:', allowed),
    ...told('Warnings, which fail nothing:', warnings),
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

function told(title: string, list: readonly Told<string>[]): string[] {
  if (list.length === 0) return []
  const items = list.slice(0, SHOWN).map(({ kind, sentence }) => `- ${kind.replaceAll('_', ' ')}: ${code(sentence)}`)
  const more = list.length > SHOWN ? [`- and ${list.length - SHOWN} more`] : []
  return [`\n${title}\n`.trimStart(), ...items, ...more, '']
}

/** A code span; its fence is longer than any that the text has. */
function code(text: string): string {
  const line = oneLine(text).trim()
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest > 0 ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
