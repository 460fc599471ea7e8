import { type Route, servedRoutes } from '../contract/route.ts'
import type {
  ContractRecord,
  ContractReport,
  Coverage,
  CoverageReport,
  Finding,
  FindingOrigin,
  PrismCheck,
  TestName,
  UnfiredRule,
} from './report-types.ts'
import { instant } from '../domain/instant.ts'
import type { TestLabel } from '../domain/test-label.ts'
import { once } from '../domain/once.ts'
import { lazyImport } from '../lazy-import.ts'
import type { ScenarioRegistry } from '../scenarios/environment-scenarios.ts'
import { Histories, type ScenarioHistory, unfired } from '../scenarios/scenario-run.ts'
import { basisOf } from './basis.ts'
import { type ContractRecords, EnvironmentContractRecord } from './contract-record.ts'
import { coverageOf } from './coverage.ts'
import type { Counted, NewFinding } from './findings.ts'
import { render, type ReportFormat } from './formats/formats.ts'
import type { JournalOf } from './prism-check.ts'
import { unverifiedFlows } from './link-flows.ts'
import { tokenRaces } from './token-races.ts'
import { isKept } from './report-pair.ts'
import type { EnvironmentRegistry } from '../state/environment-registry.ts'
import { judge } from './verdict.ts'
import type { Journals } from '../request-journal/journal.ts'

/** The reports of a running server, of one environment or of all of them; each is made when it is asked for. */
export interface Reports {
  contract(environment?: string): Promise<ContractReport>
  coverage(environment?: string): Promise<CoverageReport>
  /** Checks the exchanges in the request journals by Prism, which is loaded the first time. */
  prismCheck(environment?: string): Promise<PrismCheck>
  rendered(format: ReportFormat, environment?: string): Promise<{ readonly text: string; readonly type: string }>
  /** The environments that a report can be about, removed ones included. */
  names(): ReadonlySet<string>
}

const loadPrism = lazyImport(async () => {
  const [{ prismCheck }, { createPrismValidator }] = await Promise.all([
    import('./prism-check.ts'),
    import('../contract/prism-validator.ts'),
  ])
  return { prismCheck, createPrismValidator }
})

export interface ReportParts {
  readonly version: string
  readonly registry: EnvironmentRegistry
  readonly journals: Journals
  readonly records: ContractRecords
  readonly scenarios: ScenarioRegistry
  readonly bundledScenarios: () => Promise<readonly string[]>
  readonly realTime: () => number
  readonly documentedOnly: boolean
  readonly mcp: boolean
}

export function createReports(parts: ReportParts): Reports {
  const { version, registry, journals, records, scenarios, realTime } = parts
  const prism = once(async () => {
    const { prismCheck, createPrismValidator } = await loadPrism()
    return { prismCheck, validator: await createPrismValidator() }
  })
  const sources = async (): Promise<ReportSources> => {
    return {
      records,
      version,
      routes: servedRoutes(parts),
      at: instant(realTime()),
      present: new Map(registry.environments().map((each) => [each.name, scenarios.of(each).history()])),
      bundledScenarios: await parts.bundledScenarios(),
    }
  }
  const journalsOf = (environment?: string): JournalOf[] =>
    registry
      .environments()
      .filter(({ name }) => environment === undefined || name === environment)
      .map((each) => ({ environment: each.name, entries: journals.of(each).recorded() }))
  return {
    contract: async (environment) => contractReport(await sources(), environment),
    coverage: async (environment) => coverageReport(await sources(), environment),
    prismCheck: async (environment) => {
      const { prismCheck, validator } = await prism()
      return prismCheck(validator, journalsOf(environment))
    },
    rendered: async (format, environment) => {
      const made = await sources()
      const reports = { contract: contractReport(made, environment), coverage: coverageReport(made, environment) }
      return render(format, judge(reports))
    },
    names: () => new Set([...registry.environments().map(({ name }) => name), ...records.names()]),
  }
}

interface ReportSources {
  readonly records: ContractRecords
  readonly version: string
  readonly routes: readonly Route[]
  readonly at: string
  /** The environments that exist, with the counts of their scenarios' rules. */
  readonly present: ReadonlyMap<string, readonly ScenarioHistory[]>
  readonly bundledScenarios: readonly string[]
}

interface Subject {
  readonly name: string
  readonly record: EnvironmentContractRecord
  readonly scenarios: readonly ScenarioHistory[]
}

const SCHEMA_VERSION = 1

/** Whether client and mock keep the contract: of one environment, or of all together and each of them. */
function contractReport(sources: ReportSources, environment?: string): ContractReport {
  const subjects = subjectsOf(sources, environment)
  const total = contractRecordOf([...subjects, ...olderOf(sources, environment)])
  return {
    ...headOf(sources),
    ok: isKept(total),
    total,
    environments: subjects.map((subject) => ({
      name: subject.name,
      test: testName(subject.record.test),
      ...contractRecordOf([subject]),
    })),
  }
}

/** Which parts of the contract were exercised: of one environment, or of all together and each of them. */
function coverageReport(sources: ReportSources, environment?: string): CoverageReport {
  const covered = (subjects: readonly Subject[]): Coverage =>
    coverageOf(
      sumOf(subjects),
      subjects.flatMap(({ scenarios }) => scenarios),
      sources,
    )
  const subjects = subjectsOf(sources, environment)
  return {
    ...headOf(sources),
    total: covered([...subjects, ...olderOf(sources, environment)]),
    environments: subjects.map((subject) => ({ name: subject.name, ...covered([subject]) })),
  }
}

function sumOf(subjects: readonly Subject[]): EnvironmentContractRecord {
  return EnvironmentContractRecord.sum(subjects.map(({ record }) => record))
}

function headOf({ version, at }: ReportSources) {
  return { schema_version: SCHEMA_VERSION, tool: { name: 'toolmock', version }, at } as const
}

/** Environments whose own records were dropped count only in the total of all. */
function olderOf({ records: { older } }: ReportSources, environment: string | undefined): Subject[] {
  return environment === undefined ? [{ name: '', record: older, scenarios: older.scenarios.list() }] : []
}

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

function contractRecordOf(subjects: readonly Subject[]): ContractRecord {
  const record = sumOf(subjects)
  const { violations, answerViolations, warnings, unknownPaths } = record
  const flows = subjects.map((subject) => subject.record.flows)
  return {
    ...(record.incompleteSince !== undefined && { incomplete_since: record.incompleteSince }),
    requests: record.requests,
    injected: record.injected,
    violations: [...violations.list(), ...tokenRaces(subjects.map(({ record: { races } }) => races))].map(findingOf),
    answer_violations: [...answerViolations.list()].map(findingOf),
    unknown_paths: [...unknownPaths.list()].map((counted) => ({ ...counted.item, ...originOf(counted) })),
    warnings: [...warnings.list(), ...unverifiedFlows(flows)].map((counted) => {
      return { ...findingOf(counted), kind: counted.item.kind }
    }),
    unfired_rules: unfiredRules(subjects),
    left_out: [violations, answerViolations, warnings, unknownPaths].reduce((sum, { leftOut }) => sum + leftOut, 0),
  }
}

function findingOf(counted: Counted<NewFinding>): Finding {
  const { operation, path, constraint, error_code, found, allowed } = counted.item
  return {
    operation,
    path,
    constraint,
    error_code,
    found,
    allowed,
    basis: basisOf(counted.item),
    ...originOf(counted),
  }
}

const MAX_TESTS = 100

function originOf({ count, requests, tests }: Counted<object>): FindingOrigin {
  const named = [...tests.values()].slice(0, MAX_TESTS).flatMap((each) => testName(each) ?? [])
  return { count, requests: requests.map(({ id }) => id), examples: requests, tests: named, test_count: tests.size }
}

function testName(test: TestLabel | undefined): TestName | null {
  return test ? { label: test.label, file: test.file ?? null, line: test.line ?? null } : null
}

/**
 * The rules with `must_fire` that never fired. A scenario that was started in one environment must fire there; a scenario of
 * `--scenario` runs in every environment and must fire in one of them.
 */
function unfiredRules(subjects: readonly Subject[]): UnfiredRule[] {
  const startedManually = subjects.flatMap(({ name, record, scenarios }) =>
    unfired(scenarios.filter((scenario) => scenario.startedManually)).map((rule) => ({
      environment: name,
      test: testName(record.test),
      ...rule,
    })),
  )
  const all = subjects.flatMap(({ scenarios }) => scenarios)
  const fired = new Set(
    all.flatMap(({ name, rules }) => rules.filter(({ hits }) => hits > 0).map(({ rule }) => `${name}\n${rule}`)),
  )
  const nowhere = new Map<string, UnfiredRule>()
  for (const rule of unfired(all.filter((scenario) => !scenario.startedManually))) {
    const key = `${rule.scenario}\n${rule.rule}`
    if (fired.has(key)) continue
    const matched = rule.matched + (nowhere.get(key)?.matched ?? 0)
    nowhere.set(key, { environment: null, test: null, ...rule, matched })
  }
  return [...startedManually, ...nowhere.values()]
}
