import { execFileSync } from 'node:child_process'
import { mkdir, realpath, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { nodeFileSystem } from '../../src/state/wal/file-system.ts'
import { StateError } from '../../src/state/wal/state-errors.ts'
import { it } from '../support/mock-fixture.ts'
import { openTestRegistry, withDirectory } from '../support/registry.ts'

it.runIf(process.platform === 'linux')(
  'a state file: in a folder that cannot be created, as in /proc, is refused at once',
  async () => {
    const file = '/proc/nope/deeper/state.json'
    const refused = await openTestRegistry({ file }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(StateError)
    expect(String(refused)).toContain(`${file}: it cannot be used as state file: ENOENT`)
  },
)

describe('a path of a state file', () => {
  it.runIf(process.platform === 'linux')(
    'is refused when it is not a file, also a pipe that no process writes to',
    () =>
      withDirectory(async (directory) => {
        const pipe = join(directory, 'pipe')
        execFileSync('mkfifo', [pipe])
        await expect(nodeFileSystem.read(pipe)).rejects.toThrow(`${pipe} is a device, pipe or socket, not a file`)
        await expect(nodeFileSystem.read(directory)).rejects.toThrow(`${directory} is a folder, not a file`)
        await expect(nodeFileSystem.read('/dev/null')).rejects.toThrow('not a file')
      }),
  )

  it('is resolved through a symbolic link to a file that does not yet exist', async ({ directory }) => {
    const real = await realpath(directory)
    await symlink('later/state.json', join(directory, 'link.json'))
    await mkdir(join(directory, 'later'))
    expect(await nodeFileSystem.realPath(join(directory, 'link.json'))).toBe(join(real, 'later', 'state.json'))
    expect(await nodeFileSystem.realPath(join(directory, 'none.json'))).toBe(join(real, 'none.json'))
  })
})
