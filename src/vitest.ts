import { test as vitestTest, type TestAPI } from 'vitest'
import { connect, type ConnectOptions, createToolmock } from './index.ts'
import type { ContractExpectation, Toolmock, ToolmockEnvironment, ToolmockOptions } from './index.ts'
import { explainedFailures } from './library/failed-answers.ts'
import { Servers } from './library/servers.ts'

/** What a test may ask for. */
export interface ToolmockFixtures {
  /** An environment of the test's own: made for it, removed after it. */
  mock: ToolmockEnvironment
  /** The server behind it, one for each worker of vitest. */
  toolmock: Toolmock
}

/** How the server is started, or where one runs already. */
export interface ToolmockTestOptions extends ToolmockOptions {
  /** Environments are made on this server, and none is started; undefined starts one. */
  readonly url?: string | undefined
  /** What goes with `url`. */
  readonly connection?: ConnectOptions
  /** A test that passes and whose client does not keep the contract fails; `{}` allows nothing, undefined does not look. */
  readonly contract?: Omit<ContractExpectation, 'everywhere'>
}

/** Before 4.1, vitest knows what lives as long as a worker by its name alone, so that all of these share it. */
interface Shared {
  toolmockServers: Servers
}

/**
 * Vitest's `test` with `mock`, an environment for each test on one server for each worker. When a test fails, the journal's
 * explanation of every answer of 400 and above is printed with it.
 *
 *     const test = toolmockTest({ scenario: 'token-dies-mid-run' })
 *     test('sends a message', async ({ mock }) => { … mock.url … })
 */
export function toolmockTest(options: ToolmockTestOptions = {}): TestAPI<ToolmockFixtures> {
  return vitestTest.extend<ToolmockFixtures & Shared>({
    toolmockServers: [
      // eslint-disable-next-line no-empty-pattern -- vitest reads from it which fixtures this one needs: none
      async ({}, use) => {
        await using servers = new Servers()
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
      if (task.result?.state === 'fail') await tell(mock)
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
async function tell({ name, journal }: ToolmockEnvironment): Promise<void> {
  // A test that closed its environment itself has nothing left to tell; that it failed is what counts.
  const text = await explainedFailures(journal).catch(() => undefined)
  if (text === undefined) return
  // eslint-disable-next-line no-console -- the one way of a test to its reporter
  console.error(`toolmock, environment ${name}: why the answers of 400 and above were what they were\n\n${text}\n`)
}
