/// <reference lib="esnext.disposable" preserve="true" />
import type { MockAccounts, MockConnections } from './accounts.ts'
import type { MockClock } from './clock.ts'
import type { MockContract } from './contract.ts'
import type { MockJournal } from './journal.ts'
import type { MockLinks } from './links.ts'
import type { MockScenarios } from './scenarios.ts'
import type { MockSnapshots } from './snapshots.ts'
import type { Variables } from './variables.ts'
import type { MockState } from './views/state.ts'

/** A connector as a file holds it (`spec/schemas/connector.schema.json`). */
export interface ConnectorDocument {
  readonly connector: string
  readonly [part: string]: unknown
}

/**
 * A world of its own (1.2): clients, connections, providers, accounts, clock, ids, scenarios and journal. The client credentials
 * choose it, so the program under test needs nothing else.
 *
 * All calls go to the control API (1.3) and throw ToolmockError; what they answer has the names that the API gives it.
 */
export interface ToolmockEnvironment extends AsyncDisposable {
  readonly name: string
  /** Where the mock serves, without a slash at its end. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** The same as variables, for the program under test. */
  readonly env: Variables
  readonly clock: MockClock
  readonly accounts: MockAccounts
  readonly connections: MockConnections
  readonly links: MockLinks
  readonly journal: MockJournal
  readonly contract: MockContract
  readonly scenarios: MockScenarios
  readonly snapshots: MockSnapshots
  /** Model, clock, scenarios, journal and links go back to the seed; clients, bearer tokens and snapshots stay. */
  reset(): Promise<void>
  /**
   * Adds a seed, for every reset to come too.
   * @param document as `spec/schemas/seed.schema.json` describes it, or the same as YAML text
   * @throws ToolmockError INVALID_DOCUMENT with every problem; nothing has changed then
   */
  seed(document: object | string): Promise<void>
  /** Adds or replaces a fake third-party application. @throws ToolmockError INVALID_DOCUMENT with every problem */
  connector(document: ConnectorDocument): Promise<void>
  state(): Promise<MockState>
  /** Replaces the whole model. @throws ToolmockError INVALID_STATE with every problem; nothing has changed then */
  replaceState(state: MockState): Promise<void>
  /**
   * Ends it: an environment that was made by `environment()` is removed, a server that was started by `createToolmock()` stops and
   * writes its state, one that was only connected to stays as it is. Every later call is refused with `CLOSED`; a second
   * `close` does nothing. `await using` calls it.
   */
  close(): Promise<void>
}

/** How an environment is to be like. */
export interface EnvironmentOptions {
  /** A seed document in place of the server's. */
  readonly seed?: object
  /** Where its clock starts, ISO 8601 with a time zone; where the server's clocks start when absent. */
  readonly clock?: string | Date
  /** Its clock stands still. */
  readonly freeze?: boolean
  /** Its ids, tokens and generated data repeat between runs, for an environment of the same name. */
  readonly idSeed?: number
}

/** A server with its environment `default`, or the one that was connected to. */
export interface Toolmock extends ToolmockEnvironment {
  /**
   * Makes an environment on the same server: tests that have one each can run at the same time.
   * @param name 1 to 64 letters, digits, `.`, `_`, `-`; generated when absent
   * @throws ToolmockError ENVIRONMENT_EXISTS, INVALID_NAME, INVALID_DOCUMENT
   */
  environment(name?: string, options?: EnvironmentOptions): Promise<ToolmockEnvironment>
}
