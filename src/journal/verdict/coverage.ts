import { DECLARED_CODES } from '../../model/contract/generated/field-tables.ts'
import type { Route } from '../../model/contract/route.ts'
import type { Operation } from '../../model/contract/shapes.ts'
import type { Coverage, Reach } from './report-types.ts'
import { MOVES } from '../../model/domain/lifecycle.ts'
import type { ScenarioHistory } from '../../scenarios/scenario-run.ts'
import {
  type EnvironmentContractRecord,
  operationFields,
  LEVELS,
  type Part,
  REQUEST_PARTS,
  type ResponseCounts,
} from './contract-record.ts'
import { reportSummary } from './report-pair.ts'

type OperationCoverage = Coverage['operations'][number]

export interface CoverageSources {
  readonly routes: readonly Route[]
  readonly bundledScenarios: readonly string[]
}

export function coverageOf(record: EnvironmentContractRecord, { bundledScenarios, routes }: CoverageSources): Coverage {
  const operations = routes.map(({ operation }) => operationCoverage(operation, record))
  const lifecycle_moves = MOVES.map(({ from, event, to }) => {
    return { from, event, to, reach: reachOf(record.moves.get(`${from} ${event} ${to}`)) }
  })
  const histories = new Map(record.scenarios.list().map((history) => [history.name, history]))
  const scenarios = bundledScenarios.map((name) => scenarioCoverage(name, histories.get(name)))
  return { summary: reportSummary({ operations, lifecycle_moves, scenarios }), operations, lifecycle_moves, scenarios }
}

function operationCoverage(operation: Operation, record: EnvironmentContractRecord): OperationCoverage {
  const statuses = Object.entries(DECLARED_CODES[operation] ?? {}).map(([status, codes]) =>
    statusCoverage(record, operation, { status: Number(status), codes }),
  )
  const reached = record.fields.get(operation)
  const fieldsIn = (part: Part) =>
    operationFields(operation, part).map(({ number, ...field }) => ({
      ...field,
      reach: LEVELS[reached?.[part][number] ?? 0],
    }))
  const successes = statuses.filter(({ status }) => status >= 200 && status < 300)
  return {
    operation,
    reach: reachOf(sumOf(successes.map(({ answers, injected }) => ({ own: answers, injected })))),
    statuses,
    request_fields: REQUEST_PARTS.flatMap((part) =>
      fieldsIn(part).map(({ path, required, reach }) => ({ path, in: part, required, reach })),
    ),
    response_fields: fieldsIn('answer').map(({ path, reach }) => ({ path, reach })),
  }
}

function statusCoverage(
  { outcomes }: EnvironmentContractRecord,
  operation: Operation,
  { status, codes }: { status: number; codes: readonly string[] },
): OperationCoverage['statuses'][number] {
  const prefix = `${operation} ${status} `
  const all = [...outcomes].flatMap(([key, times]) => (key.startsWith(prefix) ? [times] : []))
  return {
    status,
    ...reachRow(sumOf(all)),
    error_codes: codes.map((error_code) => ({
      error_code,
      ...reachRow(outcomes.get(`${prefix}${error_code}`)),
    })),
  }
}

function reachRow(times: ResponseCounts = { own: 0, injected: 0 }) {
  return { reach: reachOf(times), answers: times.own, injected: times.injected }
}

function sumOf(all: readonly ResponseCounts[]): ResponseCounts {
  return all.reduce((a, b) => ({ own: a.own + b.own, injected: a.injected + b.injected }), { own: 0, injected: 0 })
}

function scenarioCoverage(name: string, history: ScenarioHistory | undefined): Coverage['scenarios'][number] {
  const { rules = [], started = 0 } = history ?? {}
  const open = rules.filter(({ must_fire, hits }) => must_fire && hits === 0)
  const fired = rules.filter(({ hits }) => hits > 0)
  const reach = fired.length > 0 && open.length === 0 ? 'driven' : 'never'
  return { name, reach, started, rules: rules.length, rules_fired: fired.length }
}

function reachOf(times: ResponseCounts | undefined): Reach {
  if (!times) return 'never'
  if (times.own > 0) return 'driven'
  return times.injected > 0 ? 'injected_only' : 'never'
}
