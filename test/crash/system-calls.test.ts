import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { type Serving, ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { describeUnless } from '../support/machine.ts'
import { accountOf, signIn } from './client.ts'

const toolmock = ToolmockProcess.forThisFile()

/** Undefined where system calls can be traced; else the reason why not. */
function reasonToSkip(): string | undefined {
  const traced = spawnSync('strace', ['-f', '-e', 'trace=fsync', 'true'], { encoding: 'utf8' })
  if (traced.error) return 'strace is not installed'
  return traced.status === 0 ? undefined : `strace may not trace here: ${traced.stderr.trim().slice(0, 200)}`
}

const REASON = reasonToSkip()

interface Trace {
  /** Stops tracing; returns the calls in the order in which they ended. */
  readonly stop: () => Promise<string[]>
}

async function trace(server: Serving, name: string, options: readonly string[]): Promise<Trace> {
  const file = toolmock.path(`${name}.strace`)
  const pid = String(server.child.pid)
  const strace = spawn('strace', ['-f', '-y', '-s', '2000', '-o', file, ...options, '-p', pid], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(strace, 'exit')
  for await (const line of createInterface({ input: strace.stderr })) if (/attached/.test(line)) break
  return {
    stop: async () => {
      strace.kill('SIGINT')
      await ended
      return completed(readFileSync(file, 'utf8').split('\n'))
    },
  }
}

const UNFINISHED = ' <unfinished ...>'

/** Joins calls that another thread interrupted in the listing, at the place where they ended. */
function completed(lines: readonly string[]): string[] {
  const begun = new Map<string, string>()
  return lines.flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (call.endsWith(UNFINISHED)) {
      begun.set(thread, call.slice(0, -UNFINISHED.length))
      return []
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1]
    return resumed === undefined ? [call] : [`${begun.get(thread) ?? ''}${resumed}`]
  })
}

describeUnless(REASON, 'system calls', () => {
  it('write a create into the write-ahead log and sync it before the answer is sent', async () => {
    const file = toolmock.path('order/state.json')
    const server = await toolmock.start(['--state', file])
    const caller = await signIn(server.url)
    const { stop } = await trace(server, 'order', ['-e', 'trace=pwrite64,write,writev,fdatasync'])
    const created = await caller.send('POST', '/connected_accounts', { connector: 'mail', identifier: 'order@x.org' })
    expect(created.status).toBe(201)
    const calls = await stop()
    const { id } = accountOf(created)
    const written = calls.findIndex((call) => call.startsWith('pwrite64') && call.includes(id))
    const synced = calls.findIndex(
      (call, at) => at > written && /^fdatasync\(\d+<.*state\.json\.wal\.0>\) *= 0/.test(call),
    )
    const answered = calls.findIndex((call) => /^writev?\(/.test(call) && call.includes('HTTP/1.1 201'))
    expect(written, calls.join('\n')).toBeGreaterThanOrEqual(0)
    expect(synced, calls.join('\n')).toBeGreaterThan(written)
    expect(answered, calls.join('\n')).toBeGreaterThan(synced)
    await server.stop()
  }, 60_000)

  it('sync the new file, put it in place and sync the folder at a checkpoint, and only then remove the log', async () => {
    const file = toolmock.path('checkpoint/state.json')
    const server = await toolmock.start(['--state', file])
    const { stop } = await trace(server, 'checkpoint', [
      '-e',
      'trace=fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir',
    ])
    await server.stop()
    const calls = await stop()
    const steps = [
      /^fsync\(\d+<.*state\.json\.tmp>\) *= 0/,
      /^rename\w*\(.*state\.json\.tmp".*state\.json"\) *= 0/,
      /^fsync\(\d+<.*\/checkpoint>\) *= 0/,
      /^unlink\w*\(.*state\.json\.wal\.0".*= 0/,
    ]
    let last = -1
    for (const step of steps) {
      const at = calls.findIndex((call, index) => index > last && step.test(call))
      expect(at, `${String(step)} in\n${calls.join('\n')}`).toBeGreaterThan(last)
      last = at
    }
  }, 60_000)

  it.each([
    ['fdatasync', 'EIO', /EIO/],
    ['pwrite64', 'ENOSPC', /ENOSPC/],
    ['pwrite64', 'EROFS', /EROFS/],
  ])(
    '%s that fails with %s is a 503 that changes no data; reads go on, and writes once it works',
    async (call, code, message) => {
      const file = toolmock.path(`inject-${call}-${code}/state.json`)
      const server = await toolmock.start(['--state', file])
      const caller = await signIn(server.url)
      const create = (identifier: string) =>
        caller.send('POST', '/connected_accounts', { connector: 'mail', identifier })
      expect((await create('before@x.org')).status).toBe(201)
      const { stop } = await trace(server, `inject-${call}-${code}`, ['-e', `inject=${call}:error=${code}`])
      const refused = await create('refused@x.org')
      expect(refused.status).toBe(503)
      expect(JSON.stringify(refused.body)).toMatch(message)
      expect(refused.body).toMatchObject({ code: 14, details: [{ error_code: 'STORAGE_UNAVAILABLE' }] })
      const listed = await caller.send('GET', '/connected_accounts')
      expect(listed).toMatchObject({ status: 200, body: { total_size: 1 } })
      await stop()
      expect((await create('refused@x.org')).status).toBe(201)
      await server.stop('SIGKILL')
      const again = await toolmock.start(['--state', file])
      const after = await (await signIn(again.url)).send('GET', '/connected_accounts')
      expect(after).toMatchObject({ status: 200, body: { total_size: 2 } })
      expect((await again.stop()).code).toBe(0)
    },
    60_000,
  )

  it('a rename that fails at the stop keeps the write-ahead log, which the next start reads', async () => {
    const file = toolmock.path('rename/state.json')
    const server = await toolmock.start(['--state', file])
    const caller = await signIn(server.url)
    expect(
      (await caller.send('POST', '/connected_accounts', { connector: 'mail', identifier: 'a@x.org' })).status,
    ).toBe(201)
    const { stop } = await trace(server, 'rename', ['-e', 'inject=rename,renameat,renameat2:error=EIO'])
    const { code, stderr } = await server.stop()
    await stop()
    expect(code).not.toBe(0)
    expect(stderr).toContain('is kept beside it')
    const again = await toolmock.start(['--state', file])
    const after = await (await signIn(again.url)).send('GET', '/connected_accounts')
    expect(after).toMatchObject({ body: { total_size: 1 } })
    expect((await again.stop()).code).toBe(0)
  }, 60_000)
})
