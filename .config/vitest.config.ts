import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ClosingLine } from './closing-line.ts'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['.config/generated-code.ts'],
    // Tests start real servers and child processes: a process per worker keeps their handles apart, two fit a small machine.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
    allowOnly: false,
    reporters: [process.env.CI ? 'default' : 'dot', new ClosingLine()],
  },
})
