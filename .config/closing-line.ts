import { writeSync } from 'node:fs'
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node'

/**
 * Prints `N passed, N failed` (and `, N skipped` where there are any) as the last line of stdout. A file that does not load and
 * an error outside of any test each count as one failure, so that a failed run never says `0 failed`.
 */
export class ClosingLine implements Reporter {
  readonly #further: string
  #vitest: Vitest | undefined

  /** @param further what is said before it at the end of `npm test`: of the whole project `tests` alone */
  constructor(further: string) {
    this.#further = further
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: string,
  ): Promise<void> {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1
      count.failed += module.errors().length
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length
    }
    // An interrupted run leaves tests pending.
    const failed = count.failed + count.pending || (reason === 'passed' ? 0 : 1)
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
    // At exit, because the other reporters still print after this event; written directly, because streams may be gone.
    const further = (await this.#isNpmTest(modules)) ? `${this.#further}\n` : ''
    process.once('exit', () => writeSync(1, `${further}${count.passed} passed, ${failed} failed${skipped}\n`))
  }

  /** Whether all files of the project `tests` ran, and nothing else. */
  async #isNpmTest(modules: readonly TestModule[]): Promise<boolean> {
    const vitest = this.#vitest
    if (vitest?.config.project.join() !== 'tests' || vitest.config.testNamePattern) return false
    const { testFiles } = await vitest.getProjectByName('tests').globTestFiles()
    return modules.length === testFiles.length
  }
}
