import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { link as makeLink, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { lockState, refuseIfHeld } from '../../src/state/state-file/state-lock.ts'
import { StateError } from '../../src/state/wal/state-errors.ts'
import { MemoryDisk } from '../support/memory-disk.ts'
import { it } from '../support/mock-fixture.ts'
import { createEnvironment, openTestRegistry, withDirectory } from '../support/registry.ts'

/** A process that listens on a socket until it is killed, as the holder of a lock does. */
const HOLDER = `require('node:net').createServer(s => s.end('4711 2026-01-01T00:00:00.000Z')).listen(process.argv[1], () => console.log('up'))`

describe('the lock of a state file', () => {
  it('names the holder to the second process, and is free once the first has stopped', async ({ directory, file }) => {
    const first = await openTestRegistry({ file })
    await expect(openTestRegistry({ file })).rejects.toThrow(
      `in use by process ${process.pid} since 2026-01-01T00:00:00.000Z`,
    )
    await first.close()
    await (await openTestRegistry({ file })).close()
    expect(await readdir(directory)).toEqual([])
  })

  it('by a pipe, as on Windows, names the holder to the second, and is free once the first has released it', async ({
    directory,
  }) => {
    const [file, pipe] = [join(directory, 'state.json'), join(directory, 'pipe')]
    const time = () => Date.parse('2026-01-01T00:00:00.000Z')
    const lock = await lockState(file, time, pipe)
    const held = `${file} is in use by process ${process.pid} since 2026-01-01T00:00:00.000Z`
    await expect(lockState(file, time, pipe)).rejects.toThrow(held)
    await expect(refuseIfHeld(file, pipe)).rejects.toThrow(held)
    await lock.release()
    await refuseIfHeld(file, pipe)
    await (await lockState(file, time, pipe)).release()
  })

  it('does not survive a holder that was killed', async ({ directory, file }) => {
    const holder = spawn(process.execPath, ['-e', HOLDER, `${file}.lock`], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await expect(openTestRegistry({ file })).rejects.toThrow('in use by process 4711')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(existsSync(`${file}.lock`)).toBe(true)
    const registries = await Promise.allSettled(Array.from({ length: 8 }, () => openTestRegistry({ file })))
    const held = registries.flatMap((registry) => (registry.status === 'fulfilled' ? [registry.value] : []))
    expect(held).toHaveLength(1)
    await held[0]?.close()
    expect(await readdir(directory)).toEqual([])
  })

  it('is released when the start is refused', async ({ directory, file }) => {
    await writeFile(file, 'no JSON')
    await expect(openTestRegistry({ file })).rejects.toThrow('not JSON')
    expect(await readdir(directory)).toEqual(['state.json'])
  })

  it.for([
    ['path', join('x'.repeat(120), 'state.json')],
    ['name', `${'x'.repeat(120)}.json`],
  ])('is beside the file where its %s is too long for a socket, with any TMPDIR', ([_what, path], { directory }) =>
    withDirectory(async (elsewhere) => {
      const file = join(directory, path)
      const first = await openTestRegistry({ file })
      vi.stubEnv('TMPDIR', elsewhere)
      try {
        await expect(openTestRegistry({ file })).rejects.toThrow(`in use by process ${process.pid}`)
        await expect(refuseIfHeld(file)).rejects.toThrow(`in use by process ${process.pid}`)
        await first.close()
        await (await openTestRegistry({ file })).close()
        expect(await readdir(dirname(file))).toEqual([])
        expect(await readdir(elsewhere)).toEqual([])
      } finally {
        vi.unstubAllEnvs()
      }
    }),
  )

  it('is refused with the reason where no shorter path is possible', async ({ directory }) => {
    const file = join(directory, 'x'.repeat(120), 'state.json')
    vi.stubEnv('TMPDIR', join(directory, 'y'.repeat(120)))
    try {
      await expect(openTestRegistry({ file })).rejects.toThrow(
        /is too long a path for the lock of a state file, and .*; use/,
      )
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('belongs to the target of a symbolic link', async ({ directory }) => {
    const [file, link] = [join(directory, 'state.json'), join(directory, 'link.json')]
    await symlink(file, link)
    const holder = await openTestRegistry({ file })
    await expect(refuseIfHeld(link)).rejects.toThrow(`in use by process ${process.pid}`)
    await holder.close()
  })

  it.for(['', 'folder'])(
    'refuses a file with a hard link in the folder %j, whoever has it open',
    async (folder, { directory }) => {
      const [file, other] = [join(directory, 'state.json'), join(directory, folder, 'other.json')]
      const first = await openTestRegistry({ file })
      createEnvironment(first, 'default')
      await first.close()
      await mkdir(join(directory, folder), { recursive: true })
      await makeLink(file, other)
      for (const name of [file, other])
        await expect(openTestRegistry({ file: name })).rejects.toThrow(`${name} has another name, a hard link`)
      await rm(file)
      await (await openTestRegistry({ file: other })).close()
    },
  )

  it('is taken by one of many that start at the same time', async ({ directory, file }) => {
    const registries = await Promise.allSettled(Array.from({ length: 8 }, () => openTestRegistry({ file })))
    const held = registries.flatMap((registry) => (registry.status === 'fulfilled' ? [registry.value] : []))
    expect(held).toHaveLength(1)
    const refusals = registries.flatMap((registry) => (registry.status === 'rejected' ? [String(registry.reason)] : []))
    for (const refusal of refusals) expect(refusal).toContain('in use by process')
    await held[0]?.close()
    expect(await readdir(directory)).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('is not taken by a start whose claim another one has got meanwhile', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const bound = vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (this: Server, ...address) {
        writeFileSync(`${file}.lock.claim`, 'of another start')
        return this.listen(...address)
      })
      const registry = await openTestRegistry({ file })
      // It claims and listens once more.
      const names = new Set(bound.mock.calls.map(([path]) => path))
      bound.mockRestore()
      expect(names.size).toBe(2)
      await registry.close()
      expect(await readdir(directory)).toEqual([])
    }),
  )

  /** Otherwise another start would take the lock for that of a killed process, because its connection is refused. */
  it.skipIf(process.platform === 'win32')('only gets its name once the process listens on it', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const bound = vi.spyOn(Server.prototype, 'listen')
      const registry = await openTestRegistry({ file })
      const names = bound.mock.calls.map(([path]) => basename(String(path)))
      bound.mockRestore()
      expect(names).toEqual([expect.stringMatching(/^state\.json\.lock\.[0-9a-z]{5}$/)])
      expect(await readdir(directory)).toContain('state.json.lock')
      await registry.close()
    }),
  )
})

describe('a lock from outside', () => {
  it('takes the place of the one beside the file, and is given back after the last write', async () => {
    const disk = new MemoryDisk()
    const steps: string[] = []
    const lock = (file: string) => {
      steps.push(`take ${file}`)
      return Promise.resolve({
        release: () => {
          steps.push(`release after ${disk.log.at(-1)}`)
          return Promise.resolve()
        },
      })
    }
    const registry = await openTestRegistry({ file: '/none/state.json', fileSystem: disk, lock })
    createEnvironment(registry, 'default')
    await registry.close()
    expect(steps).toEqual(['take /none/state.json', 'release after sync directory'])
  })

  it('that is refused leaves everything as it is', async () => {
    const disk = new MemoryDisk()
    const lock = () => Promise.reject(new StateError('it is held by another process'))
    await expect(openTestRegistry({ file: '/none/state.json', fileSystem: disk, lock })).rejects.toThrow('is held by')
    expect(disk.operations).toBe(0)
  })
})
