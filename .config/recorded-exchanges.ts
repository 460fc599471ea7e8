import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject, Vitest } from 'vitest/node'

/** `npm test` leaves its records here; those of `npm run test:rest` join them, before `test/coverage.test.ts` reads both. */
const FOLDER = resolve('node_modules/.cache/toolmock-exchanges')

/**
 * Makes the folder in which the workers record the requests and answers of their tests, for `test/coverage.test.ts`. Vitest runs
 * this for each project of the run; the first one makes the folder. A run of a selection of tests has a folder of its own.
 */
export default function provideRecordedExchanges(project: TestProject): (() => void) | undefined {
  const { vitest } = project
  const selection = isSelection(vitest)
  // The environment, because each project loads this file anew.
  const former = process.env['RECORDED_EXCHANGES']
  const folder = former ?? (selection ? mkdtempSync(join(tmpdir(), 'toolmock-exchanges-')) : FOLDER)
  const isFirstSuite = runs(vitest, 'tests')
  if (former === undefined && !selection && isFirstSuite) rmSync(folder, { recursive: true, force: true })
  project.provide('recordedExchanges', folder)
  project.provide('wholeRun', !selection && runs(vitest, 'rest') && (isFirstSuite || existsSync(folder)))
  mkdirSync(folder, { recursive: true })
  process.env['RECORDED_EXCHANGES'] = folder
  if (!selection || former !== undefined) return undefined
  return () => {
    rmSync(folder, { recursive: true })
  }
}

function runs({ config }: Vitest, project: string): boolean {
  return config.project.length === 0 || config.project.includes(project)
}

/** Whether the command line names files or tests. File names are not in Vitest's published types. */
function isSelection(vitest: Vitest & { filenamePattern?: string[] }): boolean {
  const { testNamePattern, shard, changed, related } = vitest.config
  return [testNamePattern, shard, changed, related?.length, vitest.filenamePattern?.length].some(Boolean)
}
