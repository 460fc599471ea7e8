import { servedRoutes } from '../../model/contract/route.ts'
import { isViolation } from '../../model/domain/finding.ts'
import { instant } from '../../model/domain/instant.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import { lazyImport, once } from '../../model/domain/once.ts'
import { unfiredReason } from '../../model/domain/scenario.ts'
import type { ScenarioRegistry } from '../../scenarios/environment-scenarios.ts'
import { rulesNotFired, sumsOf, type UnfiredRuleRow } from '../../scenarios/scenario-run.ts'
import { type ContractRecords, EnvironmentContractRecord } from './contract-record.ts'
import { coverageOf, type CoverageSources } from './coverage.ts'
import type { CountedFinding } from './counted-findings.ts'
import { renderReport, type ReportFormat } from './formats/formats.ts'
import { unverifiedFlows } from './link-flows.ts'
import { tokenRaces } from './token-races.ts'
import { isKept, runFinding } from './report-pair.ts'
import type { ContractRecord, ContractReport, CoverageReport, PrismCheck, ReportFinding } from './report-types.ts'
import type { EnvironmentRegistry } from '../../state/environment-registry.ts'
import { judgeReports } from './verdict.ts'
import type { Journals } from '../request-journal/journal.ts'
import { testName } from '../request-journal/view.ts'

/** The reports of a running server, of one environment or of all of them; each is made when it is asked for. */
export interface Reports {
  contract(environment?: string): Promise<ContractReport>
  coverage(environment?: string): Promise<CoverageReport>
  /** Checks the exchanges in the request journals by Prism, which is loaded the first time. */
  prismCheck(environment?: string): Promise<PrismCheck>
  /** @param allowsNoRequests accepts that nothing of all environments was judged, though there were requests */
  rendered(
    format: ReportFormat,
    environment: string | undefined,
    allowsNoRequests: boolean,
  ): Promise<{ readonly text: string; readonly type: string }>
  /** The scenarios of `--scenario`, each of whose rules has to fire in one of the environments. */
  scenariosOfStart(): Promise<readonly string[]>
  /** The environments that a report can be about, removed ones included. */
  names(): ReadonlySet<string>
}

const loadPrism = lazyImport(async () => {
  const [{ prismCheck }, { createPrismValidator }] = await Promise.all([
    import('./prism-check.ts'),
    import('../../model/contract/prism-validator.ts'),
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
  const names = () => new Set([...registry.environments().map(({ name }) => name), ...records.names()])
  const sources = async (environment?: string): Promise<ReportSources> => {
    const bundledScenarios = await parts.bundledScenarios()
    const reported = [...names()].filter((name) => environment === undefined || name === environment)
    const environments = reported.sort().map((name) => {
      const current = registry.environment(name)
      return records.copyOf(name, current && scenarios.of(current).history())
    })
    return {
      head: { schema_version: SCHEMA_VERSION, tool: { name: 'toolmock', version }, at: instant(realTime()) },
      environments,
      counted: environment === undefined ? [...environments, records.older] : environments,
      routes: servedRoutes(parts),
      bundledScenarios,
    }
  }
  return {
    contract: async (environment) => contractReport(await sources(environment)),
    coverage: async (environment) => coverageReport(await sources(environment)),
    prismCheck: async (environment) => {
      const { prismCheck, validator } = await prism()
      const all = registry.environments().filter(({ name }) => environment === undefined || name === environment)
      return prismCheck(
        validator,
        all.flatMap((each) => journals.of(each).entries()),
      )
    },
    rendered: async (format, environment, allowsNoRequests) => {
      const environmentSources = await sources(environment)
      const contract = contractReport(environmentSources)
      const requireRequests = environment === undefined && !allowsNoRequests && contract.total.requests > 0
      return renderReport(
        format,
        judgeReports({ contract, coverage: coverageReport(environmentSources) }, { requireRequests }),
      )
    },
    scenariosOfStart: async () => {
      const all = (await sources()).counted.flatMap(({ scenarios: history }) => history.list())
      return [...new Set(all.filter(({ startedManually }) => !startedManually).map(({ name }) => name))]
    },
    names,
  }
}

interface ReportSources extends CoverageSources {
  readonly head: Pick<ContractReport, 'schema_version' | 'tool' | 'at'>
  readonly environments: readonly EnvironmentContractRecord[]
  /** What its total counts: of a report about all, also the environments whose own records were dropped. */
  readonly counted: readonly EnvironmentContractRecord[]
}

const SCHEMA_VERSION = 2

function contractReport({ head, environments, counted }: ReportSources): ContractReport {
  const total = contractRecordOf(counted)
  return {
    ...head,
    ok: isKept(total),
    total,
    environments: environments.map((each) => ({
      name: each.name,
      test: testName(each.test),
      ...contractRecordOf([each]),
    })),
  }
}

function coverageReport({ head, environments, counted, ...sources }: ReportSources): CoverageReport {
  return {
    ...head,
    total: coverageOf(EnvironmentContractRecord.sum(counted), sources),
    environments: environments.map((each) => ({ name: each.name, ...coverageOf(each, sources) })),
  }
}

function contractRecordOf(environments: readonly EnvironmentContractRecord[]): ContractRecord {
  const record = EnvironmentContractRecord.sum(environments)
  const races = tokenRaces(environments.map((each) => each.races))
  const flows = unverifiedFlows(environments.map((each) => each.flows))
  const findings = [...record.findings.list(), ...races, ...flows].map(findingOf)
  const ofWarnings = findings.filter((finding) => !isViolation(finding))
  return {
    ...(record.incompleteSince !== undefined && { incomplete_since: record.incompleteSince }),
    requests: record.requests,
    judged: record.judged,
    refused: [...record.refused].map(([reason, requests]) => ({ reason, requests })),
    injected: record.injected,
    scenarios: sumsOf(environments.flatMap(({ scenarios }) => scenarios.list())).map(({ name, started, rules }) => ({
      ...{ name, started, rules: [...rules] },
    })),
    findings: [...findings.filter(isViolation), ...unfiredRules(environments), ...ofWarnings],
    left_out: record.findings.leftOut,
  }
}

const MAX_TESTS = 100

function findingOf({ finding, count, requests: examples, tests }: CountedFinding): ReportFinding {
  const requests = examples.map(({ id }) => id)
  const testNames = [...tests.values()].slice(0, MAX_TESTS).flatMap((each) => testName(each) ?? [])
  const source = { request: requests[0] ?? null, count, requests, examples, tests: testNames, test_count: tests.size }
  return { ...finding, ...source }
}

/** A scenario started in one environment must fire there; one of `--scenario` runs in all and must fire in one. */
function unfiredRules(environments: readonly EnvironmentContractRecord[]): ReportFinding[] {
  const startedManually = environments.flatMap(({ name, test, scenarios }) =>
    rulesNotFired(scenarios.list().filter((scenario) => scenario.startedManually)).map((rule) =>
      unfiredFinding({ environment: name, ...rule }, test),
    ),
  )
  const all = environments.flatMap(({ scenarios }) => scenarios.list())
  const everywhere = new Set(all.flatMap(({ name, startedManually: isManual }) => (isManual ? [] : name)))
  const nowhere = rulesNotFired(sumsOf(all).filter(({ name }) => everywhere.has(name)))
  return [...startedManually, ...nowhere.map((rule) => unfiredFinding({ environment: null, ...rule }))]
}

function unfiredFinding(
  unfiredRule: UnfiredRuleRow & { readonly environment: string | null },
  test?: TestLabel,
): ReportFinding {
  const { environment, scenario, rule, at, matched, stopped } = unfiredRule
  const where = environment === null ? '' : ` in environment ${environment}`
  return runFinding({
    code: 'must_fire',
    field: `rule ${JSON.stringify(rule)} of scenario ${scenario} at ${at}`,
    allowed: `never fired${where}${stopped ? ' before the scenario was stopped' : ''}: ${unfiredReason(scenario, unfiredRule)}`,
    found: null,
    test: testName(test),
    rule: { scenario, rule, environment, matched },
  })
}
