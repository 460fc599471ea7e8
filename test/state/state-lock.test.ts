import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestRegistry, withDirectory } from '../support/worlds.ts'

/** A process that listens on a socket until it is killed, as the holder of a lock does. */
const HOLDER = `require('node:net').createServer(s => s.end('4711 2026-01-01T00:00:00.000Z')).listen(process.argv[1], () => console.log('up'))`

describe('the lock of a state file', () => {
  it('names the holder to whoever comes second, and is free once the first has stopped', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      const first = await openTestRegistry({ file })
      await expect(openTestRegistry({ file })).rejects.toThrow(
        `in use by process ${process.pid} since 2026-01-01T00:00:00.000Z`,
      )
      await first.close()
      await (await openTestRegistry({ file })).close()
      expect(await readdir(directory)).toEqual([])
    }))

  it('does not survive a holder that was killed', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
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
    }))

  it('is let go of when the start is refused', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'state.json')
      await writeFile(file, 'no JSON')
      await expect(openTestRegistry({ file })).rejects.toThrow('not JSON')
      expect(await readdir(directory)).toEqual(['state.json'])
    }))

  it('works where the path is too long for a socket', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'x'.repeat(120), 'state.json')
      const first = await openTestRegistry({ file })
      await expect(openTestRegistry({ file })).rejects.toThrow('in use by process')
      await first.close()
      await (await openTestRegistry({ file })).close()
    }))
})
