export { createToolmock } from './library/start.ts'
export { connect, type ConnectOptions } from './library/connect.ts'
export { type ErrorDetail, ToolmockError } from './library/toolmock-error.ts'
export type { ToolmockOptions } from './library/options.ts'
export type { Variables } from './library/variables.ts'
export type {
  ConnectorDocument,
  EnvironmentOptions,
  MockState,
  Toolmock,
  ToolmockEnvironment,
} from './library/toolmock.ts'
export type { AccountView, ConnectionView, MockAccounts, MockConnections } from './library/accounts.ts'
export type { ClockView, MockClock } from './library/clock.ts'
export type { LinkDecision, LinkView, MockLinks } from './library/links.ts'
export type {
  Explanation,
  JournalMatch,
  JournalQuery,
  JournalVerdict,
  MockJournal,
  NearMiss,
  WaitOptions,
  Wanted,
} from './library/journal.ts'
export type * from './library/journal-entry.ts'
export type {
  MockScenarios,
  RulePlace,
  RuleView,
  ScenarioDocument,
  ScenarioView,
  UnfiredRule,
} from './library/scenarios.ts'
export type { EntityName, FieldChange, MockSnapshots, SnapshotView, StateDiff } from './library/snapshots.ts'
