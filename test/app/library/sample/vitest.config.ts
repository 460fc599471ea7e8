import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Run by `fixture.test.ts`: a project that uses the fixture, with tests that fail on purpose. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: { include: ['*.sample.ts'], reporters: ['default'], pool: 'forks', maxWorkers: 1, testTimeout: 30_000 },
})
