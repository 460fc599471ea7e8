export { connect, createToolmock, type ToolmockOptions } from './app/library/create-toolmock.ts'
export type { ConnectOptions } from './app/library/connection.ts'
export { type ErrorDetail, ToolmockError } from './app/library/toolmock-error.ts'
export type { TestLabel } from './model/domain/test-label.ts'
export type { EnvironmentOptions, Toolmock, ToolmockEnvironment, Variables } from './app/library/toolmock.ts'
export type { MockAccounts, MockConnections } from './app/library/accounts.ts'
export type { CollectionOptions, MockCollections } from './app/library/collections.ts'
export type { MockClock } from './app/library/clock.ts'
export type {
  Allowance,
  Amount,
  ContractExpectation,
  ContractScope,
  ContractVerdict,
  MockContract,
  VerdictItem,
  VerdictReason,
} from './app/library/contract.ts'
export type { LinkDecision, MockLinks } from './app/library/links.ts'
export type {
  JournalMatch,
  JournalQuery,
  MatchesInOrder,
  MockJournal,
  Times,
  WaitOptions,
  Wanted,
} from './app/library/journal.ts'
export type { ScenarioParameters } from './model/domain/scenario.ts'
export type { MockScenarios, UnfiredRule } from './app/library/scenarios.ts'
export type { MockSnapshots } from './app/library/snapshots.ts'
export type * from './app/library/types.ts'
