import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { createEnvironment, openTestRegistry } from '../support/registry.ts'

it.for(['strict', 'relaxed'] as const)(
  'does not serve when the disk refuses the seed (%s)',
  async (durability, { directory }) => {
    const disk = new MemoryDisk()
    disk.fails = (_, name) => (name.startsWith('write') ? new Error('ENOSPC: no space left') : undefined)
    const starting = createApp({ state: join(directory, 'state.json'), fileSystem: disk, durability })
    await expect(starting).rejects.toMatchObject({ errorCode: 'STORAGE_UNAVAILABLE' })
  },
)

it('reports a client of its seed that belongs to an environment of the state file, and changes no data', async ({
  directory,
}) => {
  const state = join(directory, 'state.json')
  const registry = await openTestRegistry({ file: state })
  createEnvironment(registry, 'renamed', { clients: [{ id: 'test_client', client_secret: 'test_secret' }] })
  await registry.close()
  const before = await readFile(state, 'utf8')
  await expect(createApp({ state })).rejects.toMatchObject({
    name: 'StartError',
    message: expect.stringMatching(
      /no environment default.*"test_client" belongs to the environment renamed/,
    ) as string,
  })
  expect(await readFile(state, 'utf8')).toBe(before)
  expect(await readdir(directory)).toEqual(['state.json'])
  await writeFile(state, before.replace('"renamed"', '"default"'))
  await (await createApp({ state })).close()
})
