import { test as vitestTest, type TestAPI } from 'vitest'
import type { TestLabel } from '../../index.ts'
import { TestRun, TestServers, type ToolmockFixtures, type ToolmockTestOptions } from './test-runs.ts'

export type { ToolmockFixtures, ToolmockTestOptions }

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
      await use(await toolmockServers.of(options))
    },
    mock: async ({ toolmock, task }, use) => {
      await using run = await TestRun.begin(toolmock, options, testLabelOf(task))
      await use(run.mock)
      const explanation = await run.end(task.result?.state === 'fail')
      // Vitest shows what a test prints together with the test.
      // eslint-disable-next-line no-console -- the only way from a test to its reporter
      if (explanation !== undefined) console.error(`${explanation}\n`)
    },
  })
}

/** Vitest's `test` with {@link ToolmockFixtures}: the bundled seed, in memory. */
export const test: TestAPI<ToolmockFixtures> = toolmockTest()

/** A test as its reporter names it, so that the findings of a verdict lead back to it. */
function testLabelOf({ name, suite, file, location }: TestTask): TestLabel {
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
