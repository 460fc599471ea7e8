import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject, Vitest } from 'vitest/node'

/**
 * Makes the folder in which the workers record the requests and answers of their tests, for `test/coverage.test.ts`. Vitest runs
 * this for each project of the run. All projects share one folder; the first one makes it and removes it.
 */
export default function provideRecordedExchanges(project: TestProject): (() => void) | undefined {
  // The environment, because each project loads this file anew.
  const made = process.env['RECORDED_EXCHANGES']
  const folder = made ?? mkdtempSync(join(tmpdir(), 'toolmock-exchanges-'))
  process.env['RECORDED_EXCHANGES'] = folder
  project.provide('recordedExchanges', folder)
  project.provide('wholeRun', !isSelection(project.vitest))
  if (made !== undefined) return undefined
  return () => {
    rmSync(folder, { recursive: true })
  }
}

/** Whether the command line names files or tests. File names are not in Vitest's published types. */
function isSelection(vitest: Vitest & { filenamePattern?: string[] }): boolean {
  const { testNamePattern, shard, changed, related, project } = vitest.config
  const selections = [testNamePattern, shard, changed, related?.length, project.length, vitest.filenamePattern?.length]
  return selections.some(Boolean)
}
