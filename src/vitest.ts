import { test as vitestTest, type TestAPI } from 'vitest'
import type { TestLabel } from './domain/test-label.ts'
import { type ConnectOptions, createToolmock } from './index.ts'
import type { ContractExpectation, Toolmock, ToolmockEnvironment, ToolmockOptions } from './index.ts'
import { runningServer } from './library/create-toolmock.ts'
import { explainFailures, TestServers } from './library/test-servers.ts'
import { toolmockOf } from './library/toolmock.ts'

/** The fixtures of a test. */
export interface ToolmockFixtures {
  /** An environment for this test alone: made before it, removed after it. */
  mock: ToolmockEnvironment
  /** Its server; there is one for each worker of vitest. */
  toolmock: Toolmock
}

/** How the server is started, or where one runs. Under `toolmock run` the server of the run is used. */
export interface ToolmockTestOptions extends ToolmockOptions {
  /** Options of the connection to a server that runs already. */
  readonly connection?: ConnectOptions
  /**
   * Fails a test whose client does not keep the contract; `{}` allows no violation, undefined checks nothing. A test that sends no
   * request passes unless `allowNoRequests` is false.
   */
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
      await using mock = await toolmock.environment(undefined, { test: labelOf(task) })
      await use(mock)
      if (task.result?.state === 'fail') await printExplanations(mock)
      else if (options.contract) await mock.contract.verify({ allowNoRequests: true, ...options.contract })
    },
  })
}
/** Vitest's `test` with {@link ToolmockFixtures}: the bundled seed, in memory. */
export const test: TestAPI<ToolmockFixtures> = toolmockTest()

async function serverOf({ connection, contract: _contract, ...options }: ToolmockTestOptions): Promise<Toolmock> {
  const server = connection && (await runningServer(options, connection))
  return server ? toolmockOf(server) : createToolmock(options)
}

/** A test as its reporter names it, so that the findings of a verdict lead back to it. */
function labelOf({ name, suite, file, location }: TestTask): TestLabel {
  const names = [name]
  for (let each = suite; each; each = each.suite) names.unshift(each.name)
  return { label: names.join(' > '), file: file.filepath, ...(location && { line: location.line }) }
}

/** What this reads of a task of vitest. */
interface TestTask {
  readonly name: string
  readonly suite?: TestSuite | undefined
  readonly file: { readonly filepath: string }
  /** There with the setting `includeTaskLocation`, or where tests are chosen by their lines. */
  readonly location?: { readonly line: number } | undefined
}
type TestSuite = Pick<TestTask, 'name' | 'suite'>

/** Vitest shows what a test prints together with the test. */
async function printExplanations({ name, journal }: ToolmockEnvironment): Promise<void> {
  // A test that closed its environment has no journal to read any more.
  const text = await explainFailures(journal).catch(() => undefined)
  if (text === undefined) return
  // eslint-disable-next-line no-console -- the only way from a test to its reporter
  console.error(`toolmock, environment ${name}: why requests were answered with 400 and above\n\n${text}\n`)
}
