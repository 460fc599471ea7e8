import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals'
import type { ToolmockEnvironment } from '../../index.ts'
import { TestHooks, type ToolmockTestOptions } from './test-runs.ts'

export type { ToolmockTestOptions }

/**
 * Registers hooks of Jest in the file, or in the `describe` that calls it. What it returns is the environment of the test that
 * runs. When a test fails, the explanation of every answer of 400 and above is in its report.
 *
 *     const mock = useToolmock({ scenario: 'token-dies-mid-run' })
 *     test('sends a message', async () => { … mock.url … })
 *
 * A member that is read before the hooks have run throws ToolmockError NO_ENVIRONMENT.
 */
export function useToolmock(options: ToolmockTestOptions = {}): ToolmockEnvironment {
  const hooks = new TestHooks(options)
  beforeAll(() => hooks.start())
  beforeEach(() => {
    const { currentTestName = '', testPath } = expect.getState()
    return hooks.begin({ label: currentTestName, ...(testPath !== undefined && { file: testPath }) })
  })
  afterEach(async () => {
    const explanation = await hooks.end(expect.getState().currentTestName ?? '', hasFailed())
    if (explanation === undefined) return
    // Jest reports it as one more reason why this test failed. Its own stack would say where this line is.
    const reason = new Error(explanation)
    reason.stack = explanation
    throw reason
  })
  afterAll(() => hooks.stop())
  return hooks.mock
}

/** Jest does not tell a hook how the test went. Its default runner, jest-circus, has that in a global of the test file. */
function hasFailed(): boolean {
  const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL')
  const state = key && (Reflect.get(globalThis, key) as CircusState | undefined)
  return (state?.currentlyRunningTest?.errors.length ?? 0) > 0
}

interface CircusState {
  readonly currentlyRunningTest?: { readonly errors: readonly unknown[] } | null
}
