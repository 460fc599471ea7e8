import { expect, it } from 'vitest'
import type { AppOptions } from '../../../src/app/app.ts'
import type { Connection } from '../../../src/model/domain/connection.ts'
import type * as library from '../../../src/index.ts'
import type { withoutCredentials } from '../../../src/service/operations/accounts.ts'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import type { ExplanationDocument } from '../../../src/journal/request-journal/explain.ts'
import type { MatchResult } from '../../../src/journal/request-journal/journal.ts'
import { type Match, MATCH_KEYS, QUERY_KEYS } from '../../../src/journal/request-journal/query.ts'
import type { UnfiredRuleRow } from '../../../src/scenarios/scenario-run.ts'
import type { DescribedScenario } from '../../../src/scenarios/scenario-run.ts'
import type { TableDiffs } from '../../../src/servers/control/state-diff.ts'
import type { Verdict as ContractVerdict } from '../../../src/journal/verdict/report-pair.ts'

/** Compiles when a value of the first type is one of the second. */
type Fits<Inside extends Outside, Outside> = [Inside, Outside] extends [never, never] ? never : true

/** Compares the server's own types with those that are generated from the descriptions. */
type Checked = [
  Fits<EntryDocument, library.JournalEntry>,
  Fits<ExplanationDocument, library.Explanation>,
  Fits<MatchResult, library.JournalVerdict>,
  Fits<Connection, library.ConnectionView>,
  Fits<ReturnType<typeof withoutCredentials>, Omit<library.AccountView, 'api_config' | 'authorization_details'>>,
  Fits<DescribedScenario, library.ScenarioView>,
  Fits<UnfiredRuleRow, library.UnfiredRule>,
  Fits<TableDiffs, Omit<library.StateDiff, 'snapshot'>>,
  Fits<ContractVerdict, library.ContractVerdict>,
  Fits<library.ContractVerdict, ContractVerdict>,
  Fits<library.OperationName, NonNullable<library.JournalEntry['operation']>>,
  Fits<keyof library.JournalMatch, keyof Match>,
  Fits<keyof Match, keyof library.JournalMatch>,
  Fits<Exclude<keyof library.JournalQuery, 'text' | 'since' | 'limit'>, keyof Match>,
  Fits<Exclude<keyof library.ToolmockOptions, LibraryOption>, keyof AppOptions>,
]
type LibraryOption = 'url' | 'config' | 'scenario' | 'with' | 'port' | 'host' | 'journalSize'

it("accept the server's own values at compile time", () => {
  const checked: Checked[number] = true
  expect(checked).toBe(true)
})

it('name every key of a match and of a query', () => {
  const query: Record<keyof library.JournalQuery, true> = {
    operation: true,
    status: true,
    account: true,
    connector: true,
    identifier: true,
    client: true,
    mcp_client: true,
    tool: true,
    execution: true,
    agent_run_id: true,
    error_code: true,
    kind: true,
    protocol: true,
    method: true,
    path: true,
    injected: true,
    scenario: true,
    rule: true,
    event: true,
    cause: true,
    text: true,
    since: true,
    limit: true,
  }
  // Only screens ask for entries in short.
  expect([...Object.keys(query), 'short'].sort()).toEqual([...QUERY_KEYS].sort())
  expect(MATCH_KEYS.filter((key) => !Object.hasOwn(query, key))).toEqual(['body'])
})

it('refuse a misspelt key in a document, a request or a match at compile time', () => {
  const scenario: library.ScenarioDocument = {
    name: 'slip',
    // @ts-expect-error -- the key is nth
    rules: [{ name: 'third call', at: 'service', when: { nht: 3 }, do: [{ respond: { status: 503 } }] }],
  }
  const seed: library.SeedDocument = {
    // @ts-expect-error -- the key is identifier
    accounts: [{ connector: 'mail', identifer: 'ada@example.com' }],
  }
  const connector: library.ConnectorDocument = {
    connector: 'notes',
    // @ts-expect-error -- the type is API_KEY
    authorization_type: 'APIKEY',
  }
  // @ts-expect-error -- the operation is execute_tool
  const match: library.JournalMatch = { operation: 'exectue_tool' }
  // @ts-expect-error -- the field is tool_name
  const request: library.ServiceRequest<'execute_tool'> = { tool: 'mail_send_message', tool_input: {} }
  expect([scenario, seed, connector, match, request]).toHaveLength(5)
})

it('describe the requests and answers of the service', () => {
  const request: library.ServiceRequest<'execute_tool'> = { tool_name: 'mail_send_message', tool_input: {} }
  const status: library.ServiceAnswer<'get_connected_account_details', 200>['connected_account']['status'] = 'ACTIVE'
  const query: library.ServiceQuery<'list_connected_accounts'> = { organization_id: 'org_1' }
  expect([request, status, query]).toHaveLength(3)
})
