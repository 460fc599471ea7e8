import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { TEST_DEFINES } from '../../.config/test-build.ts'

/** A variable, because the package is only installed in this folder and the compiler cannot resolve it. */
const VITEST_POOL: string = 'tinypool'

/**
 * The tests of a mutation run: `MUTATION_TESTS` are globs, separated by commas. Modules stay loaded from one mutant to the
 * next, which makes a run several times as fast. It is safe because no module in `src` keeps state.
 */
const { Tinypool } = (await import(VITEST_POOL)) as { Tinypool: { prototype: { recycleWorkers: () => Promise<void> } } }
Tinypool.prototype.recycleWorkers = () => Promise.resolve()

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  define: TEST_DEFINES,
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    globalSetup: ['.config/recorded-exchanges.ts', '.config/test-build.ts'],
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
})
