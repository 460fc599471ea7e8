import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ClosingLine } from './closing-line.ts'
import { TEST_DEFINES } from './test-build.ts'
import { postgresPrograms } from '../test/support/postgres.ts'

/** Checks what the other tests have recorded, so it runs after them. */
const LAST = 'test/coverage.test.ts'

/** Every test in them makes a disk of its own, which fails or loses what was not synced, so none would use the database. */
const WITH_A_DISK_OF_THEIR_OWN = [
  'test/operations/execution-durability.test.ts',
  'test/operations/renewal-durability.test.ts',
  'test/operations/restart-durability.test.ts',
  'test/control/refused-writes.test.ts',
]

if (!postgresPrograms()) {
  const reason =
    'the tests of the project postgres need initdb below /usr/lib/postgresql; CONTRIBUTING.md names the package'
  if (process.env.CI) throw new Error(reason)
  console.warn(`skipped: ${reason}`)
}

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
      {
        extends: true,
        test: {
          name: 'postgres',
          include: postgresPrograms() ? ['test/operations/*.test.ts', 'test/control/*.test.ts'] : [],
          exclude: WITH_A_DISK_OF_THEIR_OWN,
          globalSetup: ['.config/test-build.ts', '.config/test-postgres.ts'],
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
