import type { ContractReport, CoverageReport } from '../documents/report-schemas.ts'
import { Histories, type ScenarioHistory } from '../scenarios/scenario-run.ts'
import { isKept } from './allowed.ts'
import type { Basis } from './basis.ts'
import { contractRecordOf } from './contract-report.ts'
import { coverageOf } from './coverage-report.ts'
import type { ContractRecords } from './records.ts'
import type { Subject } from './subject.ts'

/** What the reports are made of. */
export interface ReportSources {
  readonly records: ContractRecords
  readonly basis: Basis
  readonly version: string
  /** Real time, as an instant. */
  readonly at: string
  /** The environments that there are now, with what the rules of their scenarios have seen. */
  readonly present: ReadonlyMap<string, readonly ScenarioHistory[]>
  readonly bundledScenarios: readonly string[]
}

const SCHEMA_VERSION = 1

/** Whether client and mock keep the contract: of one environment, or of all and each of them. */
export function contractReport(sources: ReportSources, environment?: string): ContractReport {
  const subjects = subjectsOf(sources, environment)
  const rules = { basis: sources.basis, declared: sources.records.declared }
  const total = contractRecordOf([...subjects, ...olderOf(sources, environment)], rules)
  return {
    ...headOf(sources),
    ok: isKept(total),
    total,
    environments: subjects.map((subject) => ({ name: subject.name, ...contractRecordOf([subject], rules) })),
  }
}

/** What of the contract has been exercised: of one environment, or of all and each of them. */
export function coverageReport(sources: ReportSources, environment?: string): CoverageReport {
  const subjects = subjectsOf(sources, environment)
  const { bundledScenarios, records } = sources
  const of = (some: readonly Subject[]) => coverageOf(some, { bundledScenarios, declared: records.declared })
  return {
    ...headOf(sources),
    total: of([...subjects, ...olderOf(sources, environment)]),
    environments: subjects.map((subject) => ({ name: subject.name, ...of([subject]) })),
  }
}

function headOf({ version, at }: ReportSources) {
  return { schema_version: SCHEMA_VERSION, tool: { name: 'toolmock', version }, at } as const
}

/** What is too long ago to be told by itself counts in the total of all. */
function olderOf({ records: { older } }: ReportSources, environment: string | undefined): Subject[] {
  return environment === undefined ? [{ name: '', record: older, scenarios: older.scenarios.list() }] : []
}

/** Every environment that is there, or was. */
function subjectsOf({ records, present }: ReportSources, environment: string | undefined): Subject[] {
  const names = new Set([...present.keys(), ...records.names()])
  return [...names]
    .filter((name) => environment === undefined || name === environment)
    .sort()
    .map((name) => {
      const record = records.known(name)
      const scenarios = new Histories()
      for (const history of [...record.scenarios.list(), ...(present.get(name) ?? [])]) scenarios.add(history)
      return { name, record, scenarios: scenarios.list() }
    })
}
