import type { AccountView, ConnectionView } from './views/account.ts'
import type { ClockView } from './views/clock.ts'
import type { ContractReport } from './views/contract.ts'
import type { CoverageReport } from './views/coverage.ts'
import type { Explanation, JournalVerdict } from './views/journal.ts'
import type { JournalEntry } from './views/journal-entry.ts'
import type { LinkView } from './views/link.ts'
import type { ScenarioView } from './views/scenario.ts'
import type { SnapshotView, StateDiff } from './views/snapshot.ts'
import type { MockState } from './views/state.ts'
import type { Variables } from './variables.ts'

/** What `POST /environments` answers. */
export interface CreatedEnvironment {
  readonly name: string
  readonly client_id: string
  readonly client_secret: string
  readonly base_url: string
}

type Nothing = Readonly<Record<string, never>>

/** Every call of the control API that the library makes, with what it answers (`spec/control.openapi.yaml`). */
export interface Answers {
  'GET /version': { readonly name: string; readonly version: string }
  'GET /env': Variables
  'POST /environments': CreatedEnvironment
  'DELETE /environments/{name}': Nothing
  'GET /state': MockState
  'PUT /state': Nothing
  'POST /reset': Nothing
  'POST /seed': Nothing
  'PUT /connectors/{name}': Nothing
  'GET /snapshots': { readonly snapshots: readonly SnapshotView[] }
  'PUT /snapshots/{name}': SnapshotView
  'POST /snapshots/{name}/restore': Nothing
  'DELETE /snapshots/{name}': Nothing
  'GET /state/diff': StateDiff
  'GET /clock': ClockView
  'PUT /clock': ClockView
  'GET /scenarios': { readonly scenarios: readonly ScenarioView[] }
  'PUT /scenarios/{name}': { readonly scenario: ScenarioView }
  'POST /scenarios/{name}/start': { readonly scenario: ScenarioView }
  'POST /scenarios/{name}/stop': { readonly scenario: ScenarioView }
  'DELETE /scenarios': Nothing
  'POST /accounts/{id}/{event}': { readonly account: AccountView }
  'POST /connections/{id}/{event}': { readonly connection: ConnectionView }
  'GET /requests': { readonly requests: readonly JournalEntry[] }
  'DELETE /requests': Nothing
  'GET /requests/{id}': { readonly request: JournalEntry }
  'GET /requests/{id}/explain': Explanation
  'POST /requests/count': { readonly count: number }
  'POST /requests/verify': JournalVerdict
  'POST /requests/wait': JournalVerdict
  'GET /contract': ContractReport
  'DELETE /contract': Nothing
  'GET /coverage': CoverageReport
  'GET /links': { readonly links: readonly LinkView[] }
  'POST /links/{id}/complete': { readonly redirect_url: string }
}
export type Route = keyof Answers
