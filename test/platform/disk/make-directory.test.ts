import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeDirectory } from '../../../src/platform/disk/make-directory.ts'
import { it } from '../../support/mock-fixture.ts'

it('with those above it, and is left unchanged when it exists', async ({ directory }) => {
  const deep = join(directory, 'a', 'b', 'c')
  await makeDirectory(deep)
  await makeDirectory(deep)
  expect((await stat(deep)).isDirectory()).toBe(true)
})

it('unless a file is in its way', async ({ directory }) => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  await expect(makeDirectory(file)).rejects.toThrow('EEXIST')
  await expect(makeDirectory(join(file, 'below'))).rejects.toThrow('ENOTDIR')
})

it.runIf(process.platform === 'linux')('unless its parent does not allow it', async () => {
  await expect(makeDirectory('/proc/nope/deeper')).rejects.toThrow('ENOENT')
})
