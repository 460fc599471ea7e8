import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/contract/shapes.ts'
import type { Connection } from '../../src/domain/connection.ts'
import type * as library from '../../src/index.ts'
import type { Explanation } from '../../src/request-journal/explain.ts'
import type { JournalEntry } from '../../src/request-journal/entry.ts'
import type { MatchResult } from '../../src/request-journal/journal.ts'
import { type Match, MATCH_KEYS, QUERY_KEYS } from '../../src/request-journal/query.ts'
import type { withoutCredentials } from '../../src/operations/account-view.ts'
import type { ContractReport, CoverageReport } from '../../src/documents/report-schemas.ts'
import type { UnfiredRule } from '../../src/scenarios/history.ts'
import type { ScenarioView } from '../../src/scenarios/scenario-view.ts'
import type { AppOptions } from '../../src/app/app.ts'
import type { StateDiff } from '../../src/state/state-diff.ts'
import type { Verdict as ContractVerdict } from '../../src/verdict/verdict.ts'
import { controlTable } from '../../src/control/route-table.ts'

/** Compiles when a value of the first type is one of the second; the published types import nothing, so they are held here. */
type Fits<Inside extends Outside, Outside> = [Inside, Outside] extends [never, never] ? never : true

type Held = [
  Fits<JournalEntry, library.JournalEntry>,
  Fits<Explanation, library.Explanation>,
  Fits<MatchResult, library.JournalVerdict>,
  Fits<Operation, library.OperationName>,
  Fits<library.OperationName, Operation>,
  Fits<Connection, library.ConnectionView>,
  Fits<ReturnType<typeof withoutCredentials>, Omit<library.AccountView, 'api_config' | 'authorization_details'>>,
  Fits<ScenarioView, library.ScenarioView>,
  Fits<UnfiredRule, library.UnfiredRule>,
  Fits<Omit<library.StateDiff, 'snapshot'> extends infer T ? T : never, object>,
  Fits<StateDiff, Omit<library.StateDiff, 'snapshot'>>,
  Fits<Omit<ContractReport, '$schema'>, library.ContractReport>,
  Fits<Omit<CoverageReport, '$schema'>, library.CoverageReport>,
  Fits<ContractVerdict, library.ContractVerdict>,
  Fits<library.ContractVerdict, ContractVerdict>,
  Fits<keyof library.JournalMatch, keyof Match>,
  Fits<keyof Match, keyof library.JournalMatch>,
  Fits<Exclude<keyof library.JournalQuery, 'since' | 'limit'>, keyof Match>,
  Fits<Exclude<keyof library.ToolmockOptions, OwnOption>, keyof AppOptions>,
]
type OwnOption = 'scenario' | 'port' | 'host' | 'journalSize'

describe('the published types', () => {
  it('are those of the rooms inside, as the compiler sees them', () => {
    const held: Held[number] = true
    expect(held).toBe(true)
  })

  it('name every key of a match and of a query', () => {
    const query: Record<keyof library.JournalQuery, true> = {
      operation: true,
      status: true,
      account: true,
      connector: true,
      identifier: true,
      client: true,
      tool: true,
      execution: true,
      agent_run_id: true,
      error_code: true,
      kind: true,
      method: true,
      path: true,
      injected: true,
      scenario: true,
      rule: true,
      since: true,
      limit: true,
    }
    expect(Object.keys(query).sort()).toEqual([...QUERY_KEYS].sort())
    expect(MATCH_KEYS.filter((key) => !Object.hasOwn(query, key))).toEqual(['body'])
  })
})

describe('the calls of the library', () => {
  it('are all routes of the control API', async () => {
    const { readFile } = await import('node:fs/promises')
    const source = await readFile(new URL('../../src/library/answers.ts', import.meta.url), 'utf8')
    const called = [...source.matchAll(/^ {2}'([A-Z]+ \/\S+)'/gm)].map(([, route]) => route)
    const served = controlTable().map(({ method, path }) => `${method} ${path}`)
    expect(called.length).toBeGreaterThan(20)
    expect(called.filter((route) => route === undefined || !served.includes(route))).toEqual([])
  })
})
