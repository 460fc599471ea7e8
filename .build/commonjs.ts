import { writeFileSync } from 'node:fs'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { MOVED_CODE } from '../src/files/package-disk.ts'
import { ENTRIES } from './entries.ts'
import { ROOT } from './project.ts'

// `require('toolmock')` loads the same modules as `import`, so a program that uses both has one library, and the package has its
// code once.

/** Has no meaning for users: what the adapter of Jest requires. */
export const SHARED = { name: 'test-runs', source: 'src/app/runners/test-runs.ts' }

/**
 * The CommonJS form of a module of `dist`. Node requires ES modules, Jest does not: there `require` and all that it can reach
 * belong to the sandbox of the test file, in which the mock would also meet fake timers and the globals of a browser. So the
 * module is loaded outside, where it is shared by the test files of a worker. The last line is never run: `import` reads the names
 * there, because Deno imports this form in a program that has required it.
 */
const wrapperOf = ({ name, exports }: OutputChunk): string => `'use strict'
const { runInThisContext } = require('node:vm')
const { createRequire } = runInThisContext('process').getBuiltinModule('node:module')
try {
  module.exports = createRequire(__filename)('./${name}.js')
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error
  throw new Error('${MOVED_CODE}', { cause: error })
}
0 && (module.exports = { ${exports.join(', ')} })
`

/** Writes the CommonJS form of every entry into `dist`. @param chunks of the bundle */
export async function writeCommonJs(dist: string, chunks: readonly OutputChunk[]): Promise<void> {
  const names = [...ENTRIES, SHARED].map(({ name }): string => name)
  for (const chunk of chunks)
    if (chunk.isEntry && names.includes(chunk.name)) writeFileSync(`${dist}/${chunk.name}.cjs`, wrapperOf(chunk))
  await bundleForSandbox('jest', dist)
}

/** Replaces the wrapper of an adapter that needs the globals of Jest's sandbox. */
async function bundleForSandbox(name: string, dist: string): Promise<void> {
  const source = ENTRIES.find((entry) => entry.name === name)?.source
  const bundle = await rolldown({
    cwd: ROOT,
    platform: 'node',
    input: { [name]: source ?? '' },
    external: ['@jest/globals'],
    plugins: [sharedByRequire],
    tsconfig: false,
  })
  await bundle.write({ dir: dist, format: 'cjs', entryFileNames: '[name].cjs', comments: false })
  await bundle.close()
}

const sharedByRequire: Plugin = {
  name: 'shared-by-require',
  resolveId: {
    filter: { id: /\/test-runs\.ts$/ },
    handler: () => ({ id: `./${SHARED.name}.cjs`, external: true }),
  },
}
