import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Run by `under-run.test.ts` as the command of `toolmock run`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['*.sample.ts'],
    reporters: ['default'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 30_000,
    includeTaskLocation: true,
  },
})
