import { test as vitestTest, type TestAPI } from 'vitest'
import { connect, type ConnectOptions, createToolmock } from './index.ts'
import type { ContractExpectation, Toolmock, ToolmockEnvironment, ToolmockOptions } from './index.ts'
import { explainFailures, TestServers } from './library/test-servers.ts'

/** The fixtures of a test. */
export interface ToolmockFixtures {
  /** An environment for this test alone: made before it, removed after it. */
  mock: ToolmockEnvironment
  /** Its server; there is one for each worker of vitest. */
  toolmock: Toolmock
}

/** How the server is started, or where one runs. */
export interface ToolmockTestOptions extends ToolmockOptions {
  /** Environments are made on this server; a server is started when it is undefined. */
  readonly url?: string | undefined
  /** Options of the connection to `url`. */
  readonly connection?: ConnectOptions
  /** Fails a test whose client does not keep the contract; `{}` allows no violation, undefined checks nothing. */
  readonly contract?: Omit<ContractExpectation, 'everywhere'>
}

/** Before 4.1, vitest identifies a worker's fixture by its name alone, so all tests of a worker share this one. */
interface WorkerFixtures {
  toolmockServers: TestServers
}

/**
 * Vitest's `test` with `mock`, an environment for each test on one server for each worker. When a test fails, the explanation of
 * every answer of 400 and above is printed with it.
 *
 *     const test = toolmockTest({ scenario: 'token-dies-mid-run' })
 *     test('sends a message', async ({ mock }) => { … mock.url … })
 */
export function toolmockTest(options: ToolmockTestOptions = {}): TestAPI<ToolmockFixtures> {
  return vitestTest.extend<ToolmockFixtures & WorkerFixtures>({
    toolmockServers: [
      // eslint-disable-next-line no-empty-pattern -- vitest reads the fixtures that this one needs from the pattern: none
      async ({}, use) => {
        await using servers = new TestServers()
        await use(servers)
      },
      { scope: 'worker' },
    ],
    toolmock: async ({ toolmockServers }, use) => {
      await use(await toolmockServers.of(options, () => serverOf(options)))
    },
    mock: async ({ toolmock, task }, use) => {
      await using mock = await toolmock.environment()
      await use(mock)
      if (task.result?.state === 'fail') await printExplanations(mock)
      else if (options.contract) await mock.contract.verify(options.contract)
    },
  })
}
/** Vitest's `test` with {@link ToolmockFixtures}: the bundled seed, in memory. */
export const test: TestAPI<ToolmockFixtures> = toolmockTest()

function serverOf({ url, connection, contract: _contract, ...options }: ToolmockTestOptions): Promise<Toolmock> {
  return url === undefined ? createToolmock(options) : connect(url, connection)
}

/** Vitest shows what a test prints together with the test. */
async function printExplanations({ name, journal }: ToolmockEnvironment): Promise<void> {
  // A test that closed its environment has no journal to read any more.
  const text = await explainFailures(journal).catch(() => undefined)
  if (text === undefined) return
  // eslint-disable-next-line no-console -- the only way from a test to its reporter
  console.error(`toolmock, environment ${name}: why requests were answered with 400 and above\n\n${text}\n`)
}
