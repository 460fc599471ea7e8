import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { once } from '../../../src/model/domain/once.ts'
import { ROOT } from '../../../.build/project.ts'
import { withDirectory } from '../../support/registry.ts'

it('once shares one call and keeps what it resolves to', async () => {
  let calls = 0
  const load = once(() => Promise.resolve(++calls))
  expect(await Promise.all([load(), load()])).toEqual([1, 1])
  expect(await load()).toBe(1)
})

it('once does not keep a failure', async () => {
  let calls = 0
  const load = once(() => (++calls === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(calls)))
  await expect(Promise.all([load(), load()])).rejects.toThrow('not yet')
  expect(await load()).toBe(2)
  expect(calls).toBe(2)
})

/** Imports `part.mjs` while no file descriptor is free. */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs'
import { lazyImport } from './once.mjs'
const load = lazyImport(() => import('./part.mjs'))
const taken = []
try { for (;;) taken.push(openSync('/dev/null')) } catch {}
try { await load() } catch (error) { console.log(error.status, error.message) }
for (const descriptor of taken) closeSync(descriptor)
`

describe.skipIf(process.platform === 'win32')('a module that is imported lazily', () => {
  it('is a 503 with the reason when no file can be opened, and names the restart that loads it', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'once.mjs')
      await build({ input: join(ROOT, 'src/model/domain/once.ts'), platform: 'node', output: { file, format: 'esm' } })
      writeFileSync(join(directory, 'part.mjs'), `export const name = 'loaded'`)
      writeFileSync(join(directory, 'program.mjs'), PROGRAM)
      const run = `ulimit -n 128 && exec '${process.execPath}' program.mjs`
      const { stdout } = spawnSync('/bin/sh', ['-c', run], { cwd: directory, encoding: 'utf8' })
      expect(stdout).toMatch(/^503 a part of toolmock could not be loaded: EMFILE: .*; a restart loads it\n$/)
    }))
})
