import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { type TestOptions, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { appSeed, run } from './app-seed.ts'

/** A real folder, because the lock of a state file is a real socket. */
const FOLDER = mkdtempSync(join(tmpdir(), 'toolmock-execution-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

const seed = appSeed([{ name: 'do', answers: { body: { ok: true } } }])

/** Does the work in one process, and then in a second one that has the disk of the first, which was killed. */
async function beforeAndAfterKill(options: TestOptions, work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  const disk = new MemoryDisk()
  const given = { ...options, seed, state: join(FOLDER, 'state.json') }
  let killed = disk
  await withToolmock({ ...given, fileSystem: disk }, async (mock) => {
    await work(mock)
    killed = disk.after('killed')
  })
  await withToolmock({ ...given, fileSystem: killed }, work)
}

describe('tool calls that all come in the same instant, as with a frozen clock', () => {
  it('get ids that no call gets again after a crash', async () => {
    const ids: unknown[] = []
    await beforeAndAfterKill({ idSeed: 7 }, async (mock) => {
      for (let call = 0; call < 3; call++) {
        const { status, body } = await run(mock, 'do')
        expect(status).toBe(200)
        ids.push((body as { execution_id: string }).execution_id)
      }
    })
    expect(new Set(ids).size).toBe(6)
  })

  it('are counted by a scenario, whose counters survive a crash (G63)', async () => {
    const statuses: number[] = []
    await beforeAndAfterKill({}, async (mock) => {
      const scenarios = mock.app.services.scenarios.of(mock.environment)
      if (statuses.length === 0) await scenarios.start('third-party-fails')
      for (let call = 0; call < 2; call++) statuses.push((await run(mock, 'do')).status)
    })
    expect(statuses).toEqual([500, 500, 200, 200])
  })
})
