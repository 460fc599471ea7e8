/**
 * What the control API takes and answers, by the names that the library gives it. All of it is generated from
 * `spec/control.openapi.yaml` and the JSON Schemas in `spec/schemas`.
 */
import type { components } from '../../model/contract/generated/control-types.ts'

export type {
  ExtensionName,
  ServedOperation as OperationName,
  QueryOf as ServiceQuery,
  RequestBody as ServiceRequest,
  ResponseBody as ServiceAnswer,
  StatusOf as ServiceStatus,
} from '../../model/contract/shapes.ts'

type Schemas = components['schemas']

/** A seed as a file has it (`spec/schemas/seed.schema.json`). */
export type SeedDocument = Schemas['SeedDocument']
/** A connector as a file has it (`spec/schemas/connector.schema.json`). */
export type ConnectorDocument = Schemas['ConnectorDocument']
/** A scenario as a file has it (`spec/schemas/scenario.schema.json`). */
export type ScenarioDocument = Schemas['ScenarioDocument']

/** A connected account without credentials, as get-details answers it (4.5, G22). */
export type AccountView = Schemas['AccountAnswer']['account']
/** A connection (2.5). */
export type ConnectionView = Schemas['ConnectionAnswer']['connection']
/** What a connection is made of, beside its provider. */
export type NewConnection = Schemas['NewConnection']
export type ClockView = Schemas['Clock']
export type LinkView = Schemas['Link']
export type ScenarioView = Schemas['Scenario']
export type RuleView = Schemas['ScenarioRule']
/** Where a rule acts. */
export type RulePlace = RuleView['at']

/** The whole model, as the state file has it, secrets included (`spec/schemas/state.schema.json`). */
export type MockState = Schemas['State']
/** A collection of a connector. */
export type CollectionView = Schemas['Collection']
export type SnapshotView = Schemas['Snapshot']
/** Where events of accounts are sent, without its secret. */
export type WebhookView = Schemas['Webhooks']['webhooks'][number]
/** An event that was sent manually, and the names of the webhooks that get it. */
export type SentEvent = Schemas['SentEvent']
export type StateDiff = Schemas['StateDiff']
/** A row of the model: its table in the state file, and its id. */
export type EntityName = Schemas['Entity']
export type FieldChange = Schemas['FieldChange']

export type JournalEntry = Schemas['Request']
export type EntryKind = Schemas['EntryKind']
export type JournalMessage = Schemas['Message']
export type Transition = Schemas['Transition']
export type UpstreamCall = Schemas['UpstreamCall']
export type Refresh = Schemas['Refresh']
export type NotedRule = Schemas['FiredRule']
/** What a request got wrong (violation), or says in vain (warning). */
export type Finding = Schemas['Finding']
export type JournalVerdict = Schemas['Verdict']
export type NearMiss = Schemas['NearMiss']
export type Explanation = Schemas['Explanation']

export type ContractReport = Schemas['ContractReport']
/** What clients did to the contract. */
export type ContractRecord = ContractReport['total']
/** A finding with the requests and tests that had it. */
export type ReportFinding = Schemas['ReportFinding']

export type CoverageReport = Schemas['CoverageReport']
/** What of the contract has been exercised. */
export type Coverage = CoverageReport['total']
/** One operation: its declared statuses and error codes, and the fields of its requests and answers. */
export type OperationCoverage = Coverage['operations'][number]
/** By answers of the mock itself; only by answers that a scenario injected; not at all. */
export type Reach = OperationCoverage['reach']
/** How many of a kind were reached, and how. */
export type CoverageTally = Coverage['summary']['operations']
