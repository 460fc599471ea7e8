import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run with the parsed bundled seed and what tests share; once a test has needed it, with the bundle. */
    testBuild: string
  }
}

/** Each run has its own, so nothing in it is older than the sources. */
const FOLDER = join(tmpdir(), `toolmock-test-build-${process.pid}`)
const PARSED_SEED = join(FOLDER, 'bundled-seed.json')

/** Has the sources take the parsed bundled seed, as the build does. */
export const TEST_DEFINES = { TOOLMOCK_PARSED_SEED: JSON.stringify(PARSED_SEED) }

/**
 * What the build makes, once for the run: the parsed bundled seed, because most tests start a mock and parsing is most of a
 * start, and the folder for the bundle, which the first test that runs the command line makes.
 */
export default async function provideTestBuild(project: TestProject): Promise<() => void> {
  // It needs code that another global setup may have to generate first.
  const { bundledSeed } = await import('../.build/bundled-seed.ts')
  const begin = async (): Promise<void> => {
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER)
    writeFileSync(PARSED_SEED, await bundledSeed())
  }
  await begin()
  project.onTestsRerun(begin)
  project.provide('testBuild', FOLDER)
  return () => {
    rmSync(FOLDER, { recursive: true })
  }
}
