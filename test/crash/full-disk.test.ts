import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkState } from '../../src/state/state-report.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { describeUnless } from '../support/machine.ts'
import { accountOf, type Caller, signIn, SMALL_SEED } from './client.ts'

const toolmock = ToolmockProcess.forThisFile()
const disk = toolmock.path('disk')

function mount(): string | undefined {
  if (process.platform !== 'linux') return 'a tmpfs needs Linux'
  mkdirSync(disk, { recursive: true })
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'toolmock', disk], { encoding: 'utf8' })
  if (mounted.error) return 'mount is not installed'
  return mounted.status === 0 ? undefined : `a tmpfs may not be mounted: ${mounted.stderr.trim().slice(0, 200)}`
}

const REASON = mount()
afterAll(() => {
  if (REASON === undefined) spawnSync('umount', [disk])
})

/** Creates accounts until one is refused; returns the created ones and the refusal. */
async function fill(caller: Caller) {
  const made: string[] = []
  for (;;) {
    const answer = await caller.send('POST', '/connected_accounts', {
      connector: 'plain',
      identifier: `user${made.length}@example.com`,
      connected_account: { api_config: { note: 'x'.repeat(500) } },
    })
    if (answer.status !== 201) return { made, refused: answer }
    made.push(accountOf(answer).id)
  }
}

describeUnless(REASON, 'a disk of 64 kB', () => {
  const file = `${disk}/state.json`
  const seed = toolmock.path('small.json')
  beforeAll(() => {
    writeFileSync(seed, JSON.stringify(SMALL_SEED))
  })

  it('that is full leads to 503, loses no answered write, and is used again when there is space', async () => {
    writeFileSync(`${disk}/ballast`, Buffer.alloc(24 * 1024))
    const server = await toolmock.start(['--state', file, '--seed', seed])
    const caller = await signIn(server.url)
    const { made, refused } = await fill(caller)
    expect(made.length).toBeGreaterThan(5)
    expect(refused).toMatchObject({ status: 503, body: { code: 14, details: [{ error_code: 'STORAGE_UNAVAILABLE' }] } })
    expect(JSON.stringify(refused.body)).toMatch(/ENOSPC|no space/)
    for (const id of made) expect((await caller.send('GET', `/connected_accounts/details?id=${id}`)).status).toBe(200)
    expect(await caller.send('GET', '/connected_accounts')).toMatchObject({ body: { total_size: made.length } })

    rmSync(`${disk}/ballast`)
    const body = { connector: 'plain', identifier: `user${made.length}@example.com` }
    expect((await caller.send('POST', '/connected_accounts', body)).status).toBe(201)
    await server.stop('SIGKILL')

    expect(await checkState(file)).toMatchObject({ kind: 'valid' })
    const again = await toolmock.start(['--state', file, '--seed', seed])
    const after = await signIn(again.url)
    for (const id of made) expect((await after.send('GET', `/connected_accounts/details?id=${id}`)).status).toBe(200)
    expect(await after.send('GET', '/connected_accounts')).toMatchObject({ body: { total_size: made.length + 1 } })
    await again.stop('SIGKILL')
  }, 60_000)

  it('without space for the state file at the stop keeps the write-ahead log, and the server reports it', async () => {
    const server = await toolmock.start(['--state', file, '--seed', seed])
    const caller = await signIn(server.url)
    await caller.send('GET', '/connected_accounts')
    const before = await caller.send('GET', '/connected_accounts?page_size=100')
    writeFileSync(`${disk}/ballast`, Buffer.alloc(1024))
    await fill(caller).catch(() => undefined)
    const { code, stderr } = await server.stop()
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^toolmock: the state file could not be written and its write-ahead log is kept beside it: .+$/m,
    )
    expect(stderr).not.toContain('defect')
    expect(await checkState(file)).toMatchObject({ kind: 'valid' })
    spawnSync('mount', ['-o', 'remount,size=1m', disk])
    const again = await toolmock.start(['--state', file, '--seed', seed])
    const after = await (await signIn(again.url)).send('GET', '/connected_accounts?page_size=100')
    const total = (answer: { body: unknown }) => (answer.body as { total_size: number }).total_size
    expect(total(after)).toBeGreaterThanOrEqual(total(before))
    expect((await again.stop()).code).toBe(0)
    expect(await checkState(file)).toMatchObject({ kind: 'valid', notices: [] })
  }, 60_000)
})
