import { isKept, type ReportPair, summaryOf } from './report-pair.ts'
import type { ContractRecord, Coverage, FindingOrigin, Reach, UnfiredRule } from './report-schemas.ts'

/** As many requests and tests as one report lists of a finding. */
const MAX_REQUESTS = 20
const MAX_TESTS = 100

/** One report of several runs, such as the shards of a test suite: findings are joined, coverage is that of all together. */
export function mergeReports([first, ...others]: readonly [ReportPair, ...ReportPair[]]): ReportPair {
  const all = [first, ...others]
  const contracts = all.map(({ contract }) => contract)
  const coverages = all.map(({ coverage }) => coverage)
  const at =
    contracts
      .map((each) => each.at)
      .sort()
      .at(-1) ?? first.contract.at
  const total = mergedRecord(contracts.map((each) => each.total))
  const environments = joined(
    contracts.flatMap((each) => each.environments),
    ({ name, test }) => [name, test?.label],
    (same, { name, test }) => ({ name, test, ...mergedRecord(same) }),
  )
  return {
    contract: { ...first.contract, at, ok: isKept(total), total, environments },
    coverage: {
      ...first.coverage,
      at,
      total: mergedCoverage(coverages.map((each) => each.total)),
      environments: joined(
        coverages.flatMap((each) => each.environments),
        ({ name }) => [name],
        (same, { name }) => ({ name, ...mergedCoverage(same) }),
      ),
    },
  }
}

/** The items that are about the same thing as one, in the order of the first of each. */
function joined<Item, Joined = Item>(
  items: readonly Item[],
  keyOf: (item: Item) => readonly unknown[],
  merge: (same: readonly Item[], first: Item) => Joined,
): Joined[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const key = JSON.stringify(keyOf(item))
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()].map((group) => merge(group, group[0]))
}

function mergedRecord(records: readonly ContractRecord[]): ContractRecord {
  const finding = ['operation', 'path', 'constraint', 'error_code'] as const
  return {
    requests: sum(records, ({ requests }) => requests),
    injected: sum(records, ({ injected }) => injected),
    violations: findings(
      records.flatMap((each) => each.violations),
      finding,
    ),
    answer_violations: findings(
      records.flatMap((each) => each.answer_violations),
      finding,
    ),
    unknown_paths: findings(
      records.flatMap((each) => each.unknown_paths),
      ['method', 'path', 'status'],
    ),
    warnings: findings(
      records.flatMap((each) => each.warnings),
      ['kind', ...finding],
    ),
    unfired_rules: unfiredIn(records),
    left_out: sum(records, ({ left_out }) => left_out),
  }
}

function findings<Item extends FindingOrigin>(items: readonly Item[], keys: readonly (keyof Item)[]): Item[] {
  return joined(
    items,
    (item) => keys.map((key) => item[key]),
    (same, first) => ({
      ...first,
      count: sum(same, ({ count }) => count),
      requests: same.flatMap(({ requests }) => requests).slice(0, MAX_REQUESTS),
      examples: same.flatMap(({ examples }) => examples).slice(0, MAX_REQUESTS),
      tests: same.flatMap(({ tests }) => tests).slice(0, MAX_TESTS),
      test_count: sum(same, ({ test_count }) => test_count),
    }),
  )
}

/** A rule of `--scenario` has to fire in one of the runs; one of a scenario that a test started has to fire in that test. */
function unfiredIn(records: readonly ContractRecord[]): UnfiredRule[] {
  return joined(
    records.flatMap(({ unfired_rules }) => unfired_rules),
    ({ environment, test, scenario, rule }) => [environment, test?.label, scenario, rule],
    (same, first) => ({ rule: { ...first, matched: sum(same, ({ matched }) => matched) }, times: same.length }),
  ).flatMap(({ rule, times }) => (rule.environment === null && times < records.length ? [] : [rule]))
}

function mergedCoverage(coverages: readonly Coverage[]): Coverage {
  const operations = joined(
    coverages.flatMap((each) => each.operations),
    ({ operation }) => [operation],
    (same, { operation }) => ({
      operation,
      reach: furthest(same),
      statuses: joined(
        same.flatMap(({ statuses }) => statuses),
        ({ status }) => [status],
        (alike, { status }) => ({
          status,
          ...answers(alike),
          error_codes: joined(
            alike.flatMap(({ error_codes }) => error_codes),
            ({ error_code }) => [error_code],
            (codes, { error_code }) => ({ error_code, ...answers(codes) }),
          ),
        }),
      ),
      request_fields: reached(
        same.flatMap(({ request_fields }) => request_fields),
        ['in', 'path'],
      ),
      response_fields: reached(
        same.flatMap(({ response_fields }) => response_fields),
        ['path'],
      ),
    }),
  )
  const lifecycle_moves = reached(
    coverages.flatMap((each) => each.lifecycle_moves),
    ['from', 'event', 'to'],
  )
  const scenarios = joined(
    coverages.flatMap((each) => each.scenarios),
    ({ name }) => [name],
    (same, first) => ({
      ...first,
      reach: furthest(same),
      started: sum(same, ({ started }) => started),
      rules: Math.max(...same.map(({ rules }) => rules)),
      rules_fired: Math.max(...same.map(({ rules_fired }) => rules_fired)),
    }),
  )
  return { summary: summaryOf({ operations, lifecycle_moves, scenarios }), operations, lifecycle_moves, scenarios }
}

interface Reached {
  readonly reach: Reach
}

function reached<Item extends Reached>(items: readonly Item[], keys: readonly (keyof Item)[]): Item[] {
  return joined(
    items,
    (item) => keys.map((key) => item[key]),
    (same, first) => ({ ...first, reach: furthest(same) }),
  )
}

function answers(same: readonly (Reached & { readonly answers: number; readonly injected: number })[]) {
  return {
    reach: furthest(same),
    answers: sum(same, (each) => each.answers),
    injected: sum(same, ({ injected }) => injected),
  }
}

function furthest(items: readonly Reached[]): Reach {
  return (['driven', 'injected_only'] as const).find((reach) => items.some((item) => item.reach === reach)) ?? 'never'
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
