import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeDirectory } from '../../src/store/file-system.ts'
import { StateError } from '../../src/store/store-errors.ts'
import { openTestWorld, withDirectory } from '../support/worlds.ts'

describe('a directory is made', () => {
  it('with those above it, and is left alone when it is there', () =>
    withDirectory(async (directory) => {
      const deep = join(directory, 'a', 'b', 'c')
      await makeDirectory(deep)
      await makeDirectory(deep)
      expect((await stat(deep)).isDirectory()).toBe(true)
    }))

  it('unless a file stands in its way', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'file')
      await writeFile(file, '')
      await expect(makeDirectory(file)).rejects.toThrow('EEXIST')
      await expect(makeDirectory(join(file, 'below'))).rejects.toThrow('ENOTDIR')
    }))

  it.runIf(process.platform === 'linux')(
    'unless it would be in /proc, where a state file is refused at once',
    async () => {
      const file = '/proc/nope/deeper/state.json'
      const refused = await openTestWorld({ file }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(StateError)
      expect(String(refused)).toContain(`${file}: it cannot be used as state file: ENOENT`)
    },
  )
})
