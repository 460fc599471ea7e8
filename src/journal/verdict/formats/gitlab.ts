import type { Result } from 'sarif'
import type { JudgedReports } from '../verdict.ts'
import { resultsOf } from './sarif.ts'

const SEVERITIES = { error: 'major', warning: 'minor', note: 'info' } as const

/** The findings as a report of GitLab's code quality: https://docs.gitlab.com/ci/testing/code_quality */
export function codeQuality(reports: JudgedReports): string {
  return `${JSON.stringify(resultsOf(reports).map(issueOf), null, 2)}\n`
}

function issueOf({ ruleId, level, message, locations, partialFingerprints }: Result) {
  const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {}
  return {
    description: message.text?.toWellFormed() ?? '',
    check_name: `toolmock/${ruleId ?? ''}`,
    fingerprint: partialFingerprints?.['toolmockFinding/v1'] ?? '',
    severity: SEVERITIES[level === 'warning' || level === 'note' ? level : 'error'],
    location: { path: decodeURI(artifactLocation?.uri ?? ''), lines: { begin: region?.startLine ?? 1 } },
  }
}
