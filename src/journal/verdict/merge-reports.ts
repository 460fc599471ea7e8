import { controlSchemaCheck } from '../../model/contract/control-schema.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/domain/json.ts'
import { isKept, type ReportPair, reportSummary } from './report-pair.ts'
import type { ContractReport, Coverage, CoverageReport, Reach, ReportFinding } from './report-types.ts'

/** The reports as `toolmock run --report FILE.json` writes them; undefined for any other value. */
export async function reportPairIn(value: JsonValue | undefined): Promise<ReportPair | undefined> {
  const { contract, coverage, scenarios, cases } = isJsonObject(value) ? value : {}
  const check = await controlSchemaCheck()
  const isPair = check('ContractReport', contract) && check('CoverageReport', coverage)
  const hasCases = Array.isArray(cases) && cases.every((each) => check('CaseResult', each))
  const hasScenarios = Array.isArray(scenarios) && scenarios.every((each) => typeof each === 'string')
  if (!isPair || (cases !== undefined && !hasCases) || (scenarios !== undefined && !hasScenarios)) return undefined
  return { contract, coverage, ...(hasScenarios && { scenarios }), ...(hasCases && { cases }) } as unknown as ReportPair
}

/** One report of several runs, such as the shards of a test suite: findings are joined, coverage is that of all together. */
export function mergeReports(pairs: readonly [ReportPair, ...ReportPair[]]): ReportPair {
  const rules = pairs.flatMap((pair) => pair.contract.total.findings.filter(isOfAnyEnvironment))
  const contract = mergeValues(pairs.map((pair) => withRulesOfOthers(pair, rules))) as unknown as ContractReport
  const coverage = mergeValues(pairs.map((pair) => pair.coverage)) as unknown as CoverageReport
  const summarized = <Of extends Coverage>(of: Of): Of => ({ ...of, summary: reportSummary(of) })
  return {
    contract: { ...contract, ok: isKept(contract.total) },
    coverage: {
      ...coverage,
      total: summarized(coverage.total),
      environments: coverage.environments.map(summarized),
    },
    ...(pairs.every((pair) => pair.scenarios) && { scenarios: pairs.flatMap((pair) => pair.scenarios ?? []) }),
  }
}

/** A rule of `--scenario`, which has to fire in one of the runs. */
function isOfAnyEnvironment({ rule }: Partial<ReportFinding>): boolean {
  return rule?.environment === null
}

/** In a run without the scenario of a rule, the rule did not fire either. */
function withRulesOfOthers({ contract, scenarios }: ReportPair, rules: readonly ReportFinding[]): ContractReport {
  const others = rules.filter(({ rule }) => rule && scenarios?.includes(rule.scenario) === false)
  const missing = groupedByKeys(others as unknown as JsonValue[], FINDING).flatMap(([rule]) => rule ?? [])
  const findings = [...contract.total.findings, ...missing] as ReportFinding[]
  return { ...contract, total: { ...contract.total, findings } }
}

/** Makes one value of those that several reports have in the same place. */
type Merge = (values: readonly JsonValue[]) => JsonValue

const sum: Merge = (values) => (values as number[]).reduce((total, value) => total + value, 0)
const greatest: Merge = (values) => Math.max(...(values as number[]))
const latest: Merge = (values) => (values as string[]).toSorted().at(-1) ?? ''
const upTo =
  (count: number): Merge =>
  (lists) =>
    lists.flat().slice(0, count)
const joinedBy =
  (...keys: string[]): Merge =>
  (lists) =>
    groupedByKeys(lists.flat(), keys).map(mergeValues)

const REACHES: readonly Reach[] = ['driven', 'injected_only', 'never']
const FINDING = ['kind', 'operation', 'field', 'code', 'error_code']
/** As many requests as one report lists of a finding. */
const requests = upTo(20)

/** How the members of a report are merged, by their names. Of every other member the first value is kept. */
const MERGES: Readonly<Record<string, Merge>> = {
  at: latest,
  incomplete_since: (values) => latest(values.filter((value) => value !== null)),
  total: mergeValues,
  requests: (values) => (Array.isArray(values[0]) ? requests(values) : sum(values)),
  examples: requests,
  tests: upTo(100),
  count: sum,
  test_count: sum,
  injected: sum,
  judged: sum,
  refused: joinedBy('reason'),
  left_out: sum,
  matched: sum,
  rule: ([first, ...others]) => (typeof first === 'string' ? first : mergeValues([first, ...others])),
  answers: sum,
  started: sum,
  hits: sum,
  shadowed_by: joinedBy('scenario', 'rule'),
  // Coverage only has their number.
  rules: (values) => (Array.isArray(values[0]) ? joinedBy('name')(values) : greatest(values)),
  rules_fired: greatest,
  reach: (values) => REACHES.find((reach) => values.includes(reach)) ?? 'never',
  environments: joinedBy('name', 'test'),
  // A rule of `--scenario` has to fire in one of the runs, one of a scenario that a test started in that test.
  findings: (lists) =>
    groupedByKeys(lists.flat(), FINDING)
      .filter((same) => !isOfAnyEnvironment(same[0] as Partial<ReportFinding>) || same.length === lists.length)
      .map(mergeValues),
  operations: joinedBy('operation'),
  statuses: joinedBy('status'),
  error_codes: joinedBy('error_code'),
  request_fields: joinedBy('in', 'path'),
  response_fields: joinedBy('path'),
  lifecycle_moves: joinedBy('from', 'event', 'to'),
  scenarios: joinedBy('name'),
}

function mergeValues(values: readonly unknown[]): JsonObject {
  const [document = {}] = values as JsonObject[]
  const incomplete = (values as JsonObject[]).find((each) => each['incomplete_since'] !== undefined)
  const first = incomplete ? { ...document, incomplete_since: null } : document
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const merge = Object.hasOwn(MERGES, name) ? MERGES[name] : undefined
      return [name, merge ? merge((values as JsonObject[]).map((each) => each[name] ?? null)) : value]
    }),
  )
}

/** The items that are about the same thing, in the order of the first of each; a rule in each environment is one of its own. */
function groupedByKeys(items: readonly JsonValue[], keys: readonly string[]): JsonObject[][] {
  const groups = new Map<string, JsonObject[]>()
  for (const item of items as JsonObject[]) {
    const { environment } = isJsonObject(item['rule']) ? item['rule'] : {}
    const key = JSON.stringify([...keys.map((name) => item[name]), environment])
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
