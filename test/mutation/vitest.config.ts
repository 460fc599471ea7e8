import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vitest/config'

/** It is installed in this folder alone, so the compiler cannot know it. */
const VITEST_POOL: string = 'tinypool'

/**
 * The tests of a run of mutation testing: `MUTATION_TESTS` are globs, separated by commas. Two things make a run ten times as
 * fast: modules stay loaded from one mutant to the next, which is sound because nothing in `src` keeps state in a module, and
 * the bundled seed is parsed once, as the build does it.
 */
const { Tinypool } = (await import(VITEST_POOL)) as { Tinypool: { prototype: { recycleWorkers: () => Promise<void> } } }
Tinypool.prototype.recycleWorkers = () => Promise.resolve()

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  plugins: [parsedBundledSeed()],
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(','),
    globalSetup: ['.config/recorded-exchanges.ts'],
    isolate: false,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
})

/** Has the sources take the bundled seed as `run.ts` has left it parsed, which they otherwise do in `dist` alone. */
function parsedBundledSeed(): Plugin {
  const replacements = [
    ["'dist', 'bundled-seed.json'", "'test', 'mutation', 'generated', 'bundled-seed.json'"],
    ['!isBuilt() || ', ''],
  ] as const
  return {
    name: 'parsed bundled seed',
    enforce: 'pre',
    transform(code, id) {
      if (!id.endsWith('/src/documents/load-seeds.ts')) return undefined
      return replacements.reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`src/documents/load-seeds.ts has no ${from} any more`)
        return text.replace(from, to)
      }, code)
    },
  }
}
