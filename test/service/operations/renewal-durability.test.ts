import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { decide, linkFor } from '../../support/accounts.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { ada, appSeed, credentialsOf, run } from './app-seed.ts'

/** A real folder, because the lock of a state file is a real socket. */
const FOLDER = mkdtempSync(join(tmpdir(), 'toolmock-crash-'))
const STATE = join(FOLDER, 'state.json')
afterAll(() => rmSync(FOLDER, { recursive: true }))

const [CREATED, EXPIRED] = ['2026-01-01T00:00:00.000Z', '2026-01-01T01:01:00.000Z']

const oauth_token = { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['a'] }
const seed = appSeed(
  [{ name: 'do', answers: { body: { ok: true } } }],
  { authorization_type: 'OAUTH', people: ['ada'], oauth: { refresh_token: 'rotate' } },
  { authorization_details: { oauth_token } },
)

/** The files on the disk after the process was killed. */
function filesAfterKill(disk: MemoryDisk): Map<string, Buffer> {
  const killed = disk.after('killed')
  return new Map(killed.paths().map((path) => [path, killed.file(path) ?? Buffer.alloc(0)]))
}

/** The files with the write-ahead log cut after each of its records, from zero records to all. */
function cuts(files: ReadonlyMap<string, Buffer>): Map<string, Buffer>[] {
  const [log = ''] = [...files.keys()].filter((path) => /\.wal\.\d+$/.test(path))
  const bytes = files.get(log) ?? Buffer.alloc(0)
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []))
  return ends.map((end) => new Map([...files, [log, bytes.subarray(0, end)]]))
}

/** Runs the tool in a new process with these files, an hour after the account was made. */
async function restarted(files: ReadonlyMap<string, Buffer>, work: (mock: TestToolmock) => Promise<void>) {
  await withToolmock({ seed, state: STATE, fileSystem: new MemoryDisk(files), now: EXPIRED }, work)
}

describe('a crash while a refresh token is replaced', () => {
  it('leaves account and third party with the same tokens, at any length of the write-ahead log', async () => {
    const disk = new MemoryDisk()
    let files = new Map<string, Buffer>()
    await withToolmock({ seed, state: STATE, fileSystem: disk, now: CREATED }, async (mock) => {
      mock.time.advance('61m')
      expect((await run(mock, 'do')).status).toBe(200)
      files = filesAfterKill(disk)
    })

    const points = cuts(files)
    expect(points.length).toBeGreaterThan(3)
    for (const point of points) {
      await restarted(point, async (mock) => {
        expect((await run(mock, 'do')).status).toBe(200)
        expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
      })
    }
  }, 60_000)

  it('leaves a consent either unchanged, or with the tokens of its code', async () => {
    const disk = new MemoryDisk()
    let files = new Map<string, Buffer>()
    let link = ''
    const identifier = 'grace@example.com'
    await withToolmock({ seed, state: STATE, fileSystem: disk, now: CREATED }, async (mock) => {
      link = await linkFor(mock, { connector: 'app', identifier })
      await decide(mock, link)
      files = filesAfterKill(disk)
    })

    const outcomes = new Set<string>()
    for (const point of cuts(files)) {
      await withToolmock({ seed, state: STATE, fileSystem: new MemoryDisk(point), now: CREATED }, async (mock) => {
        const [account] = mock.environment.model.accountIndex.where({ connector: 'app', identifier })
        if (!account) return
        outcomes.add(account.status)
        if (account.status === 'PENDING_AUTH') await decide(mock, link)
        const answer = await mock.api.post('/execute_tool', { connector: 'app', identifier, tool_name: 'do' })
        expect(answer.status).toBe(200)
      })
    }
    expect(outcomes).toEqual(new Set(['PENDING_AUTH', 'ACTIVE']))
  }, 60_000)
})

describe('a failing disk while a refresh token is replaced', () => {
  it('answers 503 and leaves both sides with the former tokens, so that the next call renews them', async () => {
    const disk = new MemoryDisk()
    await withToolmock({ seed, state: STATE, fileSystem: disk, now: CREATED }, async (mock) => {
      mock.time.advance('61m')
      const before = tokensOf(mock)
      disk.fails = () => new Error('no space left on device')
      const auth = mock.api.get('/connected_accounts/auth', { connector: 'app', identifier: 'ada' })
      const refused = await Promise.all([run(mock, 'do'), run(mock, 'do'), auth])
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
      expect(tokensOf(mock)).toEqual(before)

      disk.fails = () => undefined
      expect((await run(mock, 'do')).status).toBe(200)
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
      expect(tokensOf(mock).grants).toHaveLength(2)
    })
  })
})

describe('a tool call with a refresh', () => {
  it('calls the third party without waiting for the disk, and answers once the disk has everything', async () => {
    const disk = new MemoryDisk()
    await withToolmock({ seed, state: STATE, fileSystem: disk, now: CREATED }, async (mock) => {
      mock.time.advance('61m')
      let release = (): void => undefined
      disk.gate = new Promise((resolve) => (release = resolve))
      let isAnswered = false
      const answer = run(mock, 'do').finally(() => (isAnswered = true))
      const usedAt = () =>
        mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'ada' })[0]?.last_used_at
      await expect.poll(usedAt).toBe(EXPIRED)
      expect(isAnswered).toBe(false)

      release()
      expect((await answer).status).toBe(200)
    })
  })
})

/** The tokens of the account and the grants of the third party. */
function tokensOf(mock: TestToolmock) {
  const grants = [...mock.environment.model.tables.grants.values()].filter(({ connector }) => connector === 'app')
  return { credentials: credentialsOf(mock), grants }
}
