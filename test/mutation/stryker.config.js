/**
 * Stryker copies the project into a folder below this one, so that `vitest` there is the vitest 3 of this folder and every
 * other package is the project's own.
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: (process.env.MUTATION_FILES ?? '').split(','),
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  tempDirName: 'test/mutation/.stryker-tmp',
  symlinkNodeModules: false,
  ignorePatterns: ['dist', 'coverage', 'reports', '.toolmock', 'test/mutation/node_modules'],
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: process.env.MUTATION_REPORT },
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  allowConsoleColors: false,
  concurrency: Number(process.env.MUTATION_WORKERS ?? 2),
  // A mutant in code that runs when a module is loaded would need a new process for every test. The report counts them.
  ignoreStatic: true,
  dryRunTimeoutMinutes: 30,
  timeoutMS: 15_000,
}
