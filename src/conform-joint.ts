import { type ConformOptions, type ConformReport, conform } from './conform/run.ts'
import { RandomIds } from './store/ids.ts'

export { BASES } from './conform/check.ts'
export { REPORT_FORMATS, reportText } from './conform/report-formats.ts'

/** Runs the conformance suite; what it makes carries names that no other run has. */
export function runConformance(options: Omit<ConformOptions, 'prefix'>): Promise<ConformReport> {
  return conform({ ...options, prefix: `conform-${new RandomIds().id('x').slice(2, 12)}` })
}
