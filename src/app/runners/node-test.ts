import { after, afterEach, before, beforeEach } from 'node:test'
import type { ToolmockEnvironment } from '../../index.ts'
import { TestHooks, type ToolmockTestOptions } from './test-runs.ts'

export type { ToolmockTestOptions }

/**
 * Registers hooks of `node:test` in the file, or in the `describe` that calls it. What it returns is the environment of the test
 * that runs. When a test fails, the explanation of every answer of 400 and above is among its diagnostics.
 *
 *     const mock = useToolmock({ scenario: 'token-dies-mid-run' })
 *     test('sends a message', async () => { … mock.url … })
 *
 * A member that is read before the hooks have run throws ToolmockError NO_ENVIRONMENT.
 */
export function useToolmock(options: ToolmockTestOptions = {}): ToolmockEnvironment {
  const hooks = new TestHooks(options)
  before(() => hooks.start())
  beforeEach((context) => {
    const { fullName, filePath = process.argv[1] } = context as RunningTest
    return hooks.begin({ label: fullName, ...(filePath !== undefined && { file: filePath }) })
  })
  afterEach(async (context) => {
    const test = context as RunningTest
    const explanation = await hooks.end(test.fullName, Boolean(test.error))
    // A reporter takes a diagnostic for one line.
    for (const line of explanation?.split('\n') ?? []) test.diagnostic(line)
  })
  after(() => hooks.stop())
  return hooks.mock
}

/** What this reads of the context of a test; Node 20 has no `filePath`, and its types have no `error`. */
interface RunningTest {
  readonly fullName: string
  readonly filePath?: string
  readonly error?: Error | null
  diagnostic(line: string): void
}
