import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { TEST_DEFINES } from '../../.config/test-build.ts'

/** It is installed in this folder alone, so the compiler cannot know it. */
const VITEST_POOL: string = 'tinypool'

/**
 * The tests of a run of mutation testing: `MUTATION_TESTS` are globs, separated by commas. Modules stay loaded from one mutant
 * to the next, which makes a run several times as fast. It is sound because nothing in `src` keeps state in a module.
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
