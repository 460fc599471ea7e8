import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ClosingLine } from './closing-line.ts'
import { TEST_DEFINES } from './test-build.ts'
import { postgresPrograms } from '../test/support/postgres.ts'

/**
 * Tests that need more than Node and the packages of the root, or minutes: they are the project `rest`, which
 * `npm run test:rest` runs. All others are the project `tests`, which `npm test` runs.
 */
const REST = [
  // A browser.
  'test/browser/**',
  // PostgreSQL, load balancers, other machines' disks.
  'test/servers/replicas/**',
  'test/crash/**',
  // Thousands of requests, connections, streams and operations.
  'test/hostile/**',
  'test/isolation/**',
  'test/servers/{mcp,rpc}/hostile.test.ts',
  'test/servers/control/{large-bodies,refused-writes,restart}.test.ts',
  'test/files/{hints,large-openapi}.test.ts',
  'test/servers/http/properties.test.ts',
  'test/journal/request-journal/canaries.test.ts',
  'test/scenarios/acceptance/races.test.ts',
  'test/state/{expiry,refusals}.test.ts',
  // Whole conformance runs.
  'test/compare/conform/conform.test.ts',
  'test/compare/drift/{command,drift}.test.ts',
  // Compilers, shells and packages of other languages and test runners.
  'test/integrations/**',
  'test/runners/**',
  'test/recipes/{containers,guides,machine,newcomer,other-languages,typescript}.test.ts',
  'test/servers/rpc/{collect,descriptor-sets,docs,extensions,other-clients,rules}.test.ts',
  'test/app/library/{fixture,under-run}.test.ts',
  'test/servers/mcp/{control-server,other-clients}.test.ts',
  'test/model/contract/generated-clients.test.ts',
  'test/spec/api-examples.test.ts',
  // The command line as processes.
  'test/app/cli/{config,detached,request-lines,run,run-cases,run-terminal,sample-mistakes,start,unwritable-output,watch}.test.ts',
  'test/compare/record/process.test.ts',
  // What is built, measured and released.
  'test/bench/**',
  'test/mutants/**',
  'test/release/**',
]

const FURTHER =
  'npm run test:all also has the tests of browsers, PostgreSQL, replicas, crashes, hostile clients, other languages, test runners and mutants.'

/** Checks what the tests of both suites have recorded, so it runs after them. */
const LAST = 'test/coverage.test.ts'

const EXCLUDED = [LAST, 'test/mutation/**', '**/node_modules/**']

/** What reaches the storage: it runs a second time, with the state in PostgreSQL. */
const STORED = [
  'test/servers/control/{collections,environments,restart,state}.test.ts',
  'test/service/operations/{accounts-credentials,effects,exact-numbers,histories,lifecycle,type-change,verify}.test.ts',
]

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  define: TEST_DEFINES,
  test: {
    globalSetup: ['.config/recorded-exchanges.ts'],
    setupFiles: ['.config/property-seed.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...EXCLUDED, ...REST],
          globalSetup: ['.config/test-build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'rest',
          include: REST.map((files) => (files.endsWith('.ts') ? files : `${files}/*.test.ts`)),
          exclude: EXCLUDED,
          globalSetup: ['.config/prerequisites.ts', '.config/test-build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: postgresPrograms() ? STORED : [],
          globalSetup: ['.config/test-build.ts', '.config/test-postgres.ts'],
        },
      },
      { extends: true, test: { name: 'coverage', include: [LAST], sequence: { groupOrder: 1 } } },
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
    reporters: [process.env.CI ? 'default' : 'dot', new ClosingLine(FURTHER)],
  },
})
