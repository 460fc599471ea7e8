import type { Told, Verdict } from '../verdict.ts'
import { oneLine } from './one-line.ts'
import { counted, coverageRows, requestsLine } from './summary-lines.ts'

/** How many of each list one screen has room for. */
const SHOWN = { reasons: 8, allowed: 2, warnings: 3 }

/** A verdict of one screen. */
export function verdictText(verdict: Verdict): string {
  const { ok, reasons, allowed, warnings } = verdict
  return [
    ok ? 'toolmock: the contract was kept' : `toolmock: the verdict failed for ${counted(reasons.length, 'reason')}`,
    ...told(reasons, SHOWN.reasons),
    ...(allowed.length === 0 ? [] : ['allowed:', ...told(allowed, SHOWN.allowed)]),
    ...(warnings.length === 0 ? [] : ['warnings, which fail nothing:', ...told(warnings, SHOWN.warnings)]),
    requestsLine(verdict),
    `driven: ${coverageRows(verdict)
      .map(([kind, { driven, total, injected_only: injected }]) => {
        return `${driven} of ${total} ${kind}${injected === 0 ? '' : ` (${injected} more only by a scenario)`}`
      })
      .join(', ')}`,
  ].join('\n')
}

function told(list: readonly Told<string>[], most: number): string[] {
  const width = Math.max(...list.map(({ kind }) => kind.length))
  const lines = list
    .slice(0, most)
    .map(({ kind, sentence }) => `  ${kind.replaceAll('_', ' ').padEnd(width)}  ${oneLine(sentence)}`)
  return list.length > most ? [...lines, `  and ${list.length - most} more`] : lines
}
