import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createVitest, escapeTestName } from 'vitest/node'
import { parse } from 'yaml'
import { TEST_DEFINES } from '../../.config/test-build.ts'

/** A small change in a source file, and the test that must fail with it. */
interface PlantedMutant {
  /** The area of `src` that has the file. */
  readonly area: string
  /** The wrong behaviour. */
  readonly what: string
  readonly file: string
  /** Text that is in the file once, and what is there instead. */
  readonly replace: string
  readonly with: string
  readonly test: string
  /** A part of the title of the tests that are run; all of the file without it. */
  readonly title?: string
}

export const PLANTED = 'test/mutants/planted.yaml'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Those of `planted.yaml`, in its order. */
export function plantedMutants(text = readFileSync(ROOT + PLANTED, 'utf8')): PlantedMutant[] {
  const files = parse(text) as Record<string, Omit<PlantedMutant, 'area' | 'file'>[]> | null
  return Object.entries(files ?? {}).flatMap(([file, mutants]) =>
    mutants.map((mutant) => ({ area: file.split('/')[1] ?? '', file, ...mutant })),
  )
}

/** @throws Error when the text to replace is not there exactly once */
export function plantedText(text: string, { file, what, replace, with: replacement }: PlantedMutant): string {
  const parts = text.split(replace)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what "${what}" replaces: ${replace}`)
  return parts.join(replacement)
}

/**
 * Runs the test of each mutant with it, one after the other: the source is changed as it is loaded, so the file stays as it is.
 * Yields the titles of the tests that failed. @throws Error when no test runs
 */
export async function* withPlanted(mutants: readonly PlantedMutant[]): AsyncGenerator<[PlantedMutant, string[]]> {
  if (mutants.length === 0) return
  let planted: PlantedMutant | undefined
  const plant = {
    name: 'planted-mutant',
    enforce: 'pre' as const,
    transform: (text: string, id: string) =>
      planted && id === ROOT + planted.file ? plantedText(text, planted) : undefined,
  }
  const vitest = await createVitest(
    'test',
    {
      ...{ config: false, root: ROOT, watch: false, include: ['test/**/*.test.ts'], reporters: [{}] },
      globalSetup: ['.config/recorded-exchanges.ts', '.config/test-build.ts'],
      ...{ pool: 'forks', maxWorkers: 1, isolate: false, testTimeout: 15_000, hookTimeout: 30_000 },
      ...{ restoreMocks: true, unstubEnvs: true, unstubGlobals: true, bail: 1 },
    },
    { define: TEST_DEFINES, plugins: [plant] },
  )
  try {
    await vitest.standalone()
    for (const mutant of mutants) {
      planted = mutant
      vitest.invalidateFile(ROOT + mutant.file)
      vitest.clearSpecificationsCache()
      vitest.setGlobalTestNamePattern(new RegExp(escapeTestName(mutant.title ?? '', false)))
      const tests = await vitest.globTestSpecifications([mutant.test])
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(tests)
      // The result has the modules of the runs before too.
      const ran = testModules.filter(({ moduleId }) => moduleId === ROOT + mutant.test)
      const all = ran.flatMap((module) => [...module.children.allTests()])
      const results = all.map((test) => [test.result().state, test.fullName] as const)
      if (!results.some(([state]) => state === 'passed' || state === 'failed')) {
        const errors = [...unhandledErrors, ...ran.flatMap((module) => module.errors())]
        throw new Error(`${mutant.test} runs no test with "${mutant.what}": ${JSON.stringify(errors)}`)
      }
      yield [mutant, results.flatMap(([state, name]) => (state === 'failed' ? [name] : []))]
      vitest.invalidateFile(ROOT + mutant.file)
    }
  } finally {
    await vitest.close()
  }
}
