import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ClosingLine } from './closing-line.ts'
import { TEST_DEFINES } from './test-build.ts'

/** Checks what the other tests have recorded, so it runs after them. */
const LAST = 'test/coverage.test.ts'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  define: TEST_DEFINES,
  test: {
    globalSetup: ['.config/prerequisites.ts', '.config/recorded-exchanges.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [LAST, 'test/mutation/**', '**/node_modules/**'],
          globalSetup: ['.config/test-build.ts'],
        },
      },
      { extends: true, test: { name: 'coverage', include: [LAST], sequence: { groupOrder: 1 }, globalSetup: [] } },
    ],
    // Tests start real servers and child processes: a process for each worker separates their handles. Two fit a small machine.
    pool: 'forks',
    maxWorkers: 2,
    // Modules stay loaded from one test file to the next: no module of `src` keeps state.
    isolate: false,
    // Long, because on a busy machine the first test of a file waits for its modules. It ends tests that never finish.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    allowOnly: false,
    reporters: [process.env.CI ? 'default' : 'dot', new ClosingLine()],
  },
})
