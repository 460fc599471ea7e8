/// <reference lib="esnext.disposable" preserve="true" />
import { mockAccounts, mockConnections, type MockAccounts, type MockConnections } from './accounts.ts'
import { ANYTHING, checkOptions, type Rule } from './arguments.ts'
import { clockOf, type MockClock } from './clock.ts'
import { contractOf, type MockContract } from './contract.ts'
import { collectionsOf, type MockCollections } from './collections.ts'
import type { ControlClient } from './control-client.ts'
import { journalOf, type MockJournal } from './journal.ts'
import { linksOf, type MockLinks } from './links.ts'
import { type MockScenarios, scenariosOf } from './scenarios.ts'
import { type MockSnapshots, snapshotsOf } from './snapshots.ts'
import { ToolmockError } from './toolmock-error.ts'
import type { TestLabel } from '../../model/domain/test-label.ts'
import type { ConnectorDocument, MockState, ScenarioDocument, SeedDocument } from './types.ts'

/** The connection variables (1.1): what the program under test is started with. */
// An interface would not be a `Record<string, string | undefined>`, which programs take for their environment.
export type Variables = {
  /** Where the mock serves. */
  readonly TOOLMOCK_URL: string
  readonly TOOLMOCK_CLIENT_ID: string
  readonly TOOLMOCK_CLIENT_SECRET: string
  /** The file of the certificate authority to trust, when the mock serves HTTPS with a temporary certificate. */
  readonly NODE_EXTRA_CA_CERTS?: string
  /** The same authority together with the system's own, for programs that trust one file alone. */
  readonly SSL_CERT_FILE?: string
  readonly REQUESTS_CA_BUNDLE?: string
  readonly GRPC_DEFAULT_SSL_ROOTS_FILE_PATH?: string
  readonly CURL_CA_BUNDLE?: string
}

/**
 * An environment (1.2) has its own clients, connections, providers, accounts, clock, ids, scenarios and request journal. The
 * client credentials choose it, so the program under test needs nothing else.
 *
 * All methods call the control API (1.3) and throw ToolmockError; their answers have the field names of the API.
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
  /** The items of fake third-party applications. */
  readonly collections: MockCollections
  readonly snapshots: MockSnapshots
  /** Model, clock, scenarios, request journal and links go back to the seed; clients, bearer tokens and snapshots stay. */
  reset(): Promise<void>
  /**
   * Adds a seed, which every later reset applies too.
   * @param document a seed, or the same as YAML text
   * @throws ToolmockError INVALID_DOCUMENT with every problem; nothing was changed
   */
  seed(document: SeedDocument | string): Promise<void>
  /** Adds or replaces a fake third-party application. @throws ToolmockError INVALID_DOCUMENT with every problem */
  connector(document: ConnectorDocument): Promise<void>
  state(): Promise<MockState>
  /** Replaces the whole model. @throws ToolmockError INVALID_STATE with every problem; nothing was changed */
  replaceState(state: MockState): Promise<void>
  /**
   * Ends it. An environment made by `environment()` is removed; a server started by `createToolmock()` stops and writes its
   * state; a server reached by `connect()` stays as it is. Every later call is refused with `CLOSED`; a second `close` does
   * nothing. `await using` calls it.
   */
  close(): Promise<void>
}

/** What an environment starts with. */
export interface EnvironmentOptions {
  /** Used in place of the server's seed. */
  readonly seed?: SeedDocument
  /** Where its clock starts, ISO 8601 with a time zone, or a day in UTC; where the server's clocks start when absent. */
  readonly clock?: string | Date
  /** Its clock is frozen. */
  readonly freeze?: boolean
  /** Its ids, tokens and generated data repeat between runs, for an environment of the same name. */
  readonly idSeed?: number
  /** Run from its start and again after each reset, beside those of the server: names of bundled ones, or documents. */
  readonly scenarios?: readonly (string | ScenarioDocument)[]
  /** The test that it is for: the findings of reports name it. */
  readonly test?: TestLabel
}

/** A server with one of its environments: `default`, or the one that was connected to. */
export interface Toolmock extends ToolmockEnvironment {
  /**
   * Makes an environment on the same server. Tests that have one each can run at the same time.
   * @param name 1 to 64 letters, digits, `.`, `_`, `-`; generated when absent
   * @throws ToolmockError ENVIRONMENT_EXISTS, INVALID_NAME, INVALID_DOCUMENT
   */
  environment(name?: string, options?: EnvironmentOptions): Promise<ToolmockEnvironment>
}

/** @internal */
export interface EnvironmentParts {
  readonly control: ControlClient
  readonly env: Variables
  /** Called once. */
  readonly end: () => Promise<void>
  /** What environments are made with, unless they are made with something else. */
  readonly defaults?: EnvironmentOptions | undefined
}

/** @internal */
export function toolmockOf(parts: EnvironmentParts): Toolmock {
  return {
    ...toolmockEnvironment(parts),
    environment: async (name, options) => toolmockEnvironment(await createEnvironment(parts, name, options)),
  }
}

/**
 * An environment of its own on a server that others use too, with the interface of a whole server. The environments that it makes
 * end together with it.
 * @internal
 */
export async function sharedToolmock(server: EnvironmentParts): Promise<Toolmock> {
  const parts = await createEnvironment(server, undefined)
  const environments: Promise<ToolmockEnvironment>[] = []
  const end = async (): Promise<void> => {
    // One that is being made ends too.
    for (const each of await Promise.allSettled(environments)) if (each.status === 'fulfilled') await each.value.close()
    await parts.end()
  }
  const mock = toolmockOf({ ...parts, defaults: server.defaults, end })
  return {
    ...mock,
    environment: (name, options) => {
      const making = mock.environment(name, options)
      environments.push(making)
      return making
    },
  }
}

function toolmockEnvironment({ control, env, end }: EnvironmentParts): ToolmockEnvironment {
  let ended: Promise<void> | undefined
  const close = (): Promise<void> => {
    control.close()
    return (ended ??= end())
  }
  return {
    name: control.environment,
    url: env.TOOLMOCK_URL,
    clientId: env.TOOLMOCK_CLIENT_ID,
    clientSecret: env.TOOLMOCK_CLIENT_SECRET,
    env,
    clock: clockOf(control),
    accounts: mockAccounts(control),
    connections: mockConnections(control),
    links: linksOf(control),
    journal: journalOf(control),
    contract: contractOf(control),
    scenarios: scenariosOf(control),
    collections: collectionsOf(control),
    snapshots: snapshotsOf(control),
    reset: () => control.send('POST /reset'),
    seed: (document) => control.send('POST /seed', { body: document }),
    connector: async (document) =>
      control.send('PUT /connectors/{name}', { path: { name: document.connector }, body: document }),
    state: () => control.call('GET /state'),
    replaceState: (state) => control.send('PUT /state', { body: state }),
    close,
    // A platform without this symbol gets a member named `undefined`, which nothing calls.
    [Symbol.asyncDispose]: close,
  }
}

const RULES = {
  seed: ANYTHING,
  clock: ANYTHING,
  freeze: ANYTHING,
  idSeed: ANYTHING,
  scenarios: { allowed: 'a list of names and documents', accepts: Array.isArray },
  test: ANYTHING,
} satisfies Record<keyof EnvironmentOptions, Rule>

const TEST_RULES = { label: ANYTHING, file: ANYTHING, line: ANYTHING } satisfies Record<keyof TestLabel, Rule>

async function createEnvironment(
  { control: server, env, defaults }: EnvironmentParts,
  name: string | undefined,
  options: EnvironmentOptions = {},
): Promise<EnvironmentParts> {
  checkOptions('environment', options, RULES)
  const { seed, clock, freeze, idSeed, test = {} } = { ...defaults, ...options }
  checkOptions('environment: test', test, TEST_RULES)
  // As with a server of its own, whose scenarios run in every environment.
  const all = [...(defaults?.scenarios ?? []), ...(options.scenarios ?? [])]
  const scenarios = all.length === 0 ? undefined : all
  // A Date becomes a text in ISO 8601 on its way into JSON.
  const start = (freeze === undefined ? clock : { now: clock, frozen: freeze }) as string | undefined
  const body = { name, seed, clock: start, id_seed: idSeed, scenarios, ...test }
  const created = await server.call('POST /environments', { body })
  const control = server.in(created.name)
  return {
    control,
    env: { ...env, TOOLMOCK_CLIENT_ID: created.client_id, TOOLMOCK_CLIENT_SECRET: created.client_secret },
    end: () => removeEnvironment(server.in(created.name)),
  }
}

/** The environment may have been removed already, alone or with its server. */
async function removeEnvironment(control: ControlClient): Promise<void> {
  const gone = ['ENVIRONMENT_NOT_FOUND', 'UNREACHABLE', 'CLOSED']
  try {
    await control.call('DELETE /environments/{name}', { path: { name: control.environment } })
  } catch (error) {
    if (!(error instanceof ToolmockError && gone.includes(error.code))) throw error
  }
}
