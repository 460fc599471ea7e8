import type { AppServices } from '../app-services.ts'
import { DECLARED_CODES } from '../contract/generated/field-tables.ts'
import { type Route, servedRoutes } from '../contract/route.ts'
import type { Operation } from '../contract/shapes.ts'
import { bundledScenarioNames } from '../documents/load-scenarios.ts'
import type {
  ContractRecord,
  ContractReport,
  Coverage,
  CoverageReport,
  Finding,
  FindingOrigin,
  PrismCheck,
  Reach,
  TestName,
  UnfiredRule,
} from '../documents/report-schemas.ts'
import { instant } from '../domain/instant.ts'
import type { TestLabel } from '../domain/test-label.ts'
import { MOVES } from '../domain/lifecycle.ts'
import { once } from '../domain/once.ts'
import { lazyImport } from '../lazy-import.ts'
import { Histories, type ScenarioHistory, unfired } from '../scenarios/scenario-run.ts'
import type { Basis } from './basis.ts'
import {
  type ContractFields,
  type ContractRecords,
  DRIVEN,
  EnvironmentRecord,
  INJECTED,
  type Level,
  NEVER,
  REQUEST_PARTS,
  type Times,
} from './contract-record.ts'
import { type Counted, findingKey, Findings, type NewFinding, type NewWarning } from './findings.ts'
import { render, type ReportFormat } from './formats/formats.ts'
import type { JournalOf } from './prism-check.ts'
import { isKept, tallyOf } from './report-pair.ts'

/** The reports of a running server, of one environment or of all of them; each is made when it is asked for. */
export interface Reports {
  contract(environment?: string): Promise<ContractReport>
  coverage(environment?: string): Promise<CoverageReport>
  /** Checks the exchanges in the request journals by Prism, which is loaded the first time. */
  prismCheck(environment?: string): Promise<PrismCheck>
  /** Both reports in another format. */
  rendered(format: ReportFormat, environment?: string): Promise<{ readonly text: string; readonly type: string }>
  /** The environments that a report can be about, removed ones included. */
  names(): ReadonlySet<string>
}

const loadBasis = lazyImport(async () => {
  const [{ Basis }, { readDocument }] = await Promise.all([
    import('./basis.ts'),
    import('../contract/generated/document.js'),
  ])
  return () => new Basis(readDocument())
})

const loadPrism = lazyImport(async () => {
  const [{ prismCheck }, { createPrismValidator }] = await Promise.all([
    import('./prism-check.ts'),
    import('../contract/prism-validator.ts'),
  ])
  return { prismCheck, createPrismValidator }
})

export function createReports(
  services: Pick<
    AppServices,
    'version' | 'registry' | 'journals' | 'records' | 'scenarios' | 'realTime' | 'documentedOnly'
  >,
): Reports {
  const { version, registry, journals, records, scenarios, realTime, documentedOnly } = services
  const prism = once(async () => {
    const { prismCheck, createPrismValidator } = await loadPrism()
    return { prismCheck, validator: await createPrismValidator() }
  })
  const sources = async (): Promise<ReportSources> => {
    const createBasis = await loadBasis()
    return {
      records,
      basis: createBasis(),
      version,
      routes: servedRoutes(documentedOnly),
      at: instant(realTime()),
      present: new Map(registry.environments().map((each) => [each.name, scenarios.of(each).history()])),
      bundledScenarios: await bundledScenarioNames(),
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
      return render(format, {
        contract: contractReport(made, environment),
        coverage: coverageReport(made, environment),
      })
    },
    names: () => new Set([...registry.environments().map(({ name }) => name), ...records.names()]),
  }
}

/** The data of the reports. */
interface ReportSources {
  readonly records: ContractRecords
  readonly basis: Basis
  readonly version: string
  /** The operations that the server serves. */
  readonly routes: readonly Route[]
  /** Real time, as an instant. */
  readonly at: string
  /** The environments that exist, with the counts of their scenarios' rules. */
  readonly present: ReadonlyMap<string, readonly ScenarioHistory[]>
  readonly bundledScenarios: readonly string[]
}

/** An environment with its record and the histories of its scenarios. */
interface Subject {
  readonly name: string
  readonly record: EnvironmentRecord
  readonly scenarios: readonly ScenarioHistory[]
}

const SCHEMA_VERSION = 1

/** Whether client and mock keep the contract: of one environment, or of all together and each of them. */
function contractReport(sources: ReportSources, environment?: string): ContractReport {
  const subjects = subjectsOf(sources, environment)
  const total = contractRecordOf([...subjects, ...olderOf(sources, environment)], sources)
  return {
    ...headOf(sources),
    ok: isKept(total),
    total,
    environments: subjects.map((subject) => ({
      name: subject.name,
      test: testName(subject.record.test),
      ...contractRecordOf([subject], sources),
    })),
  }
}

/** Which parts of the contract were exercised: of one environment, or of all together and each of them. */
function coverageReport(sources: ReportSources, environment?: string): CoverageReport {
  const subjects = subjectsOf(sources, environment)
  return {
    ...headOf(sources),
    total: coverageOf([...subjects, ...olderOf(sources, environment)], sources),
    environments: subjects.map((subject) => ({ name: subject.name, ...coverageOf([subject], sources) })),
  }
}

function headOf({ version, at }: ReportSources) {
  return { schema_version: SCHEMA_VERSION, tool: { name: 'toolmock', version }, at } as const
}

/** Environments whose own records were dropped count only in the total of all. */
function olderOf({ records: { older } }: ReportSources, environment: string | undefined): Subject[] {
  return environment === undefined ? [{ name: '', record: older, scenarios: older.scenarios.list() }] : []
}

/** Every environment, removed ones included. */
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

/** The findings of these environments, taken together. */
function contractRecordOf(
  subjects: readonly Subject[],
  { basis, records: { declared } }: ReportSources,
): ContractRecord {
  const record = EnvironmentRecord.sum(
    subjects.map((subject) => subject.record),
    declared,
  )
  const { violations, answerViolations, warnings, unknownPaths } = record
  const finding = (counted: Counted<NewFinding>): Finding => findingOf(counted, basis)
  return {
    requests: record.requests,
    injected: record.injected,
    violations: [...violations.list()].map(finding),
    answer_violations: [...answerViolations.list()].map(finding),
    unknown_paths: [...unknownPaths.list()].map((counted) => ({ ...counted.item, ...originOf(counted) })),
    warnings: [...warnings.list(), ...unverifiedFlows(subjects)].map((counted) => {
      return { ...finding(counted), kind: counted.item.kind }
    }),
    unfired_rules: unfiredRules(subjects),
    left_out: [violations, answerViolations, warnings, unknownPaths].reduce((sum, { leftOut }) => sum + leftOut, 0),
  }
}

/** Why a flow without verification matters, as a warning. */
const UNVERIFIED_FLOW: NewWarning = {
  kind: 'unverified_flow',
  operation: 'create_magic_link',
  path: 'user_verify_url',
  constraint: 'unverified_flow',
  error_code: null,
  found: 'nothing',
  allowed:
    'is missing although the client verifies its users elsewhere: there is no check that the person who gave consent is the user of the account',
}

/**
 * The flows that ended without verification, of clients that verify their users elsewhere. An environment of a test has
 * clients of its own, so that of several environments each counts as elsewhere.
 */
function unverifiedFlows(subjects: readonly Subject[]): Iterable<Counted<NewWarning>> {
  const found = new Findings<NewWarning>(findingKey)
  for (const { record } of subjects) {
    const others = subjects.some((other) => other.record !== record && other.record.flows.verifies)
    for (const flow of record.flows.unverified(others)) found.add(UNVERIFIED_FLOW, flow.found)
  }
  return found.list()
}

function findingOf(counted: Counted<NewFinding>, basis: Basis): Finding {
  const { operation, path, constraint, error_code, found, allowed } = counted.item
  return {
    operation,
    path,
    constraint,
    error_code,
    found,
    allowed,
    basis: basis.of(counted.item),
    ...originOf(counted),
  }
}

/** How many tests a finding names. */
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
  const byHand = subjects.flatMap(({ name, record, scenarios }) =>
    unfired(scenarios.filter((scenario) => scenario.byHand)).map((rule) => ({
      environment: name,
      test: testName(record.test),
      ...rule,
    })),
  )
  const ofServerStart = subjects.flatMap(({ scenarios }) => scenarios.filter((scenario) => !scenario.byHand))
  const fired = new Set(
    subjects
      .flatMap(({ scenarios }) => scenarios)
      .flatMap(({ name, rules }) => rules.filter(({ hits }) => hits > 0).map(({ rule }) => `${name}\n${rule}`)),
  )
  const nowhere = new Map<string, UnfiredRule>()
  for (const rule of unfired(ofServerStart)) {
    const key = `${rule.scenario}\n${rule.rule}`
    if (fired.has(key)) continue
    nowhere.set(key, {
      environment: null,
      test: null,
      ...rule,
      matched: rule.matched + (nowhere.get(key)?.matched ?? 0),
    })
  }
  return [...byHand, ...nowhere.values()]
}

type OperationCoverage = Coverage['operations'][number]

/** The parts of the contract that these environments exercised, taken together. */
function coverageOf(
  subjects: readonly Subject[],
  { bundledScenarios, routes, records: { declared } }: ReportSources,
): Coverage {
  const record = EnvironmentRecord.sum(
    subjects.map((subject) => subject.record),
    declared,
  )
  const operations = routes.map(({ operation }) => operationCoverage(operation, record, declared))
  const lifecycle_moves = MOVES.map(({ from, event, to }) => {
    return { from, event, to, reach: reachOf(levelOf(record.moves.get(`${from} ${event} ${to}`))) }
  })
  const histories = new Histories()
  for (const history of subjects.flatMap(({ scenarios }) => scenarios)) histories.add(history)
  const known = new Map(histories.list().map((history) => [history.name, history]))
  const scenarios = bundledScenarios.map((name) => scenarioCoverage(name, known.get(name)))
  const statuses = operations.flatMap((operation) => operation.statuses)
  return {
    summary: {
      operations: tallyOf(operations),
      statuses: tallyOf(statuses),
      error_codes: tallyOf(statuses.flatMap((status) => status.error_codes)),
      request_fields: tallyOf(operations.flatMap((operation) => operation.request_fields)),
      response_fields: tallyOf(operations.flatMap((operation) => operation.response_fields)),
      lifecycle_moves: tallyOf(lifecycle_moves),
      scenarios: tallyOf(scenarios),
    },
    operations,
    lifecycle_moves,
    scenarios,
  }
}

function operationCoverage(
  operation: Operation,
  record: EnvironmentRecord,
  declared: ContractFields,
): OperationCoverage {
  const statuses = Object.entries(DECLARED_CODES[operation] ?? {}).map(([status, codes]) =>
    statusCoverage(record, operation, { status: Number(status), codes }),
  )
  const fields = declared.of(operation)
  const reached = record.fields.get(operation) ?? {}
  const levels = (part: keyof typeof fields, at: number) => reachOf((reached[part]?.[at] ?? NEVER) as Level)
  const successes = statuses.filter(({ status }) => status >= 200 && status < 300)
  return {
    operation,
    reach: reachOf(levelOf(sumOf(successes.map(({ answers, injected }) => ({ own: answers, injected }))))),
    statuses,
    request_fields: REQUEST_PARTS.flatMap((part) =>
      fields[part].fields.map(({ path, required }, at) => ({ path, in: part, required, reach: levels(part, at) })),
    ),
    response_fields: fields.answer.fields.map(({ path }, at) => ({ path, reach: levels('answer', at) })),
  }
}

function statusCoverage(
  { outcomes }: EnvironmentRecord,
  operation: Operation,
  { status, codes }: { status: number; codes: readonly string[] },
): OperationCoverage['statuses'][number] {
  const prefix = `${operation} ${status} `
  const all = [...outcomes].flatMap(([key, times]) => (key.startsWith(prefix) ? [times] : []))
  return {
    status,
    ...answersOf(sumOf(all)),
    error_codes: codes.map((error_code) => ({ error_code, ...answersOf(outcomes.get(`${prefix}${error_code}`)) })),
  }
}

function answersOf(times: Times | undefined) {
  return { reach: reachOf(levelOf(times)), answers: times?.own ?? 0, injected: times?.injected ?? 0 }
}

function sumOf(all: readonly Times[]): Times {
  return all.reduce((a, b) => ({ own: a.own + b.own, injected: a.injected + b.injected }), { own: 0, injected: 0 })
}

function scenarioCoverage(name: string, history: ScenarioHistory | undefined): Coverage['scenarios'][number] {
  const { rules = [], started = 0 } = history ?? {}
  const open = rules.filter(({ must_fire, hits }) => must_fire && hits === 0)
  const fired = rules.filter(({ hits }) => hits > 0)
  const reach = fired.length > 0 && open.length === 0 ? 'driven' : 'never'
  return { name, reach, started, rules: rules.length, rules_fired: fired.length }
}

const REACHES: Readonly<Record<Level, Reach>> = { [NEVER]: 'never', [INJECTED]: 'injected_only', [DRIVEN]: 'driven' }

function reachOf(level: Level | undefined): Reach {
  return REACHES[level ?? NEVER]
}

function levelOf(times: Times | undefined): Level {
  if (!times) return NEVER
  if (times.own > 0) return DRIVEN
  return times.injected > 0 ? INJECTED : NEVER
}
