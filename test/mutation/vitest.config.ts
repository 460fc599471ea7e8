import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The tests of a run of mutation testing: `MUTATION_TESTS` are globs, separated by commas. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    globalSetup: ['.config/recorded-exchanges.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
})
