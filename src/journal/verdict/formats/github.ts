import type { Result } from 'sarif'
import { withoutControlCharacters } from '../../../model/domain/text.ts'
import type { JudgedReports } from '../verdict.ts'
import { resultsOf, SOURCE_ROOT } from './sarif.ts'
import { verdictTitle } from './text.ts'

/** GitHub shows this many annotations of each level in a step. */
const SHOWN = 10

/** The findings as workflow commands of GitHub, which annotate the file of the test where it is known. */
export function githubAnnotations(reports: JudgedReports): string {
  const all = resultsOf(reports)
  const firstOf = (level: Result['level']): Result[] => all.filter((each) => each.level === level).slice(0, SHOWN)
  return [
    ...[...firstOf('error'), ...firstOf('warning'), ...firstOf('note')].map(githubAnnotation),
    `::notice title=toolmock::${escapedData(verdictTitle(reports.verdict))}`,
    '',
  ].join('\n')
}

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const

function githubAnnotation({ ruleId = '', level, message, locations }: Result): string {
  const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {}
  const line = region?.startLine === undefined ? '' : `line=${region.startLine},`
  const isTest = artifactLocation?.uriBaseId === SOURCE_ROOT
  const place = isTest ? `file=${escapedProperty(decodeURI(artifactLocation.uri ?? ''))},${line}` : ''
  const command = COMMANDS[level === 'warning' || level === 'note' ? level : 'error']
  return `::${command} ${place}title=${escapedProperty(`toolmock: ${ruleId}`)}::${escapedData(message.text ?? '')}`
}

function escapedData(text: string): string {
  return text.replaceAll('%', '%25').split('\n').map(withoutControlCharacters).join('%0A')
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
