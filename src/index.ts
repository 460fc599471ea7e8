export { connect, createToolmock, type ToolmockOptions } from './library/create-toolmock.ts'
export type { ConnectOptions } from './library/connection.ts'
export { type ErrorDetail, ToolmockError } from './library/toolmock-error.ts'
export type { TestLabel } from './domain/test-label.ts'
export type { EnvironmentOptions, Toolmock, ToolmockEnvironment, Variables } from './library/toolmock.ts'
export type { MockAccounts, MockConnections } from './library/accounts.ts'
export type { CollectionOptions, MockCollections } from './library/collections.ts'
export type { MockClock } from './library/clock.ts'
export type {
  Allowance,
  Amount,
  ContractExpectation,
  ContractScope,
  ContractVerdict,
  MockContract,
  VerdictItem,
  VerdictReason,
} from './library/contract.ts'
export type { LinkDecision, MockLinks } from './library/links.ts'
export type {
  JournalMatch,
  JournalQuery,
  MatchesInOrder,
  MockJournal,
  Times,
  WaitOptions,
  Wanted,
} from './library/journal.ts'
export type { MockScenarios, UnfiredRule } from './library/scenarios.ts'
export type { MockSnapshots } from './library/snapshots.ts'
export type * from './library/types.ts'
