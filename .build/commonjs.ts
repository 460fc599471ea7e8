import { writeFileSync } from 'node:fs'
import { type Plugin, rolldown } from 'rolldown'
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
 * module is loaded outside, where it is shared by the test files of a worker.
 */
const wrapperOf = (name: string): string => `'use strict'
const { runInThisContext } = require('node:vm')
const { createRequire } = runInThisContext('process').getBuiltinModule('node:module')
try {
  module.exports = createRequire(__filename)('./${name}.js')
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error
  throw new Error('${MOVED_CODE}', { cause: error })
}
`

/** Writes the CommonJS form of every entry into `dist`. */
export async function writeCommonJs(dist: string): Promise<void> {
  for (const { name } of [...ENTRIES, SHARED]) writeFileSync(`${dist}/${name}.cjs`, wrapperOf(name))
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
