import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run with the parsed bundled seed, and with the bundle after the first test that needs it. */
    testBuild: string
  }
}

/** Each run has its own folder, so that its files are never older than the sources. */
const FOLDER = join(tmpdir(), `toolmock-test-build-${process.pid}`)
const PARSED_SEED = join(FOLDER, 'bundled-seed.json')

/** Makes the sources read the parsed bundled seed, as the bundle does. */
export const TEST_DEFINES = { TOOLMOCK_PARSED_SEED: JSON.stringify(PARSED_SEED) }

/**
 * Makes the folder with the parsed bundled seed once for the run: most tests start a mock, and parsing is most of a start. The
 * first test that runs the command line adds the bundle.
 */
export default async function provideTestBuild(project: TestProject): Promise<(() => void) | undefined> {
  project.provide('testBuild', FOLDER)
  // All projects share the folder.
  if (existsSync(FOLDER)) return undefined
  // It imports code that another global setup may generate first.
  const { bundledSeed } = await import('../.build/bundled-seed.ts')
  const begin = async (): Promise<void> => {
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER)
    writeFileSync(PARSED_SEED, await bundledSeed())
  }
  await begin()
  project.onTestsRerun(begin)
  return () => {
    rmSync(FOLDER, { recursive: true })
  }
}
