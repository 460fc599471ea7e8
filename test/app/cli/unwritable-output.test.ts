import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

/** Repeats the request until the server answers. */
async function answered(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer) return answer
  }
}

function pipe(name: string): string {
  execFileSync('mkfifo', [toolmock.path(name)])
  return toolmock.path(name)
}

describe.runIf(process.platform === 'linux')('output that cannot be written', () => {
  it('on a full disk does not stop the server, which can still be stopped', async () => {
    const port = await freePort()
    const full = openSync('/dev/full', 'w')
    const cli = toolmock.path('package/dist/cli.js')
    const args = [cli, 'start', '--in-memory', '--port', String(port), '--log-level', 'debug']
    const child = spawn(process.execPath, args, { stdio: ['ignore', full, full] })
    const end = once(child, 'exit')
    expect((await answered(`http://127.0.0.1:${port}/_mock/health`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/nowhere`)).status).toBe(404)
    child.kill('SIGTERM')
    expect(await end).toEqual([0, null])
  })

  it('of a command on a full disk is reported, and the command fails', async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [toolmock.path('package/dist/cli.js'), '--version'], {
      stdio: ['ignore', full, 'pipe'],
    })
    let said = ''
    child.stderr?.on('data', (part) => (said += String(part)))
    expect(await once(child, 'close')).toEqual([1, null])
    expect(said).toBe('toolmock: the output cannot be written (ENOSPC)\n')
  })

  it('to a journal that is a pipe without a reader is reported once, and the server ends', async () => {
    const journal = pipe('journal.pipe')
    const serving = await toolmock.start(['--in-memory', '--journal', journal])
    await serving.logged(
      /the journal file .* cannot be written and its entries are lost: it is a pipe without a reader/,
    )
    for (let count = 0; count < 3; count++) expect((await fetch(`${serving.url}/api/v1/connections`)).status).toBe(401)
    const { code, stderr } = await serving.stop()
    expect(code).toBe(0)
    expect(stderr.match(/cannot be written/g)).toHaveLength(1)
  })

  it.each(['--journal', '--report'])('of run to a %s that is a pipe without a reader is an error', async (flag) => {
    const file = pipe(`${flag.slice(2)}.html`)
    const { code, stderr } = await toolmock.run(['run', '--allow-no-requests', flag, file, '--', 'true'])
    expect(code).toBe(2)
    expect(stderr).toContain(`${file} cannot be written (it is a pipe without a reader)`)
  })
})

const create = (url: string, token: string, identifier: string) =>
  fetch(`${url}/api/v1/connected_accounts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ connector: 'mail', identifier }),
  })

it('a state folder that vanishes is a 503 at the next write, and the stop reports it', async () => {
  const state = toolmock.path('vanishing/state.json')
  const serving = await toolmock.start(['--state', state])
  const { url } = serving
  const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
  const signed = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token } = (await signed.json()) as { access_token: string }
  expect((await create(url, token, 'ada@example.com')).status).toBe(201)

  await rm(toolmock.path('vanishing'), { recursive: true })
  const refused = await create(url, token, 'grace@example.com')
  expect(refused.status).toBe(503)
  expect(((await refused.json()) as { message: string }).message).toBe(
    `the state could not be written: ${state}.wal.0 is gone: it, or a folder above it, was removed or moved while the server runs; nothing was changed`,
  )
  const listed = await fetch(`${url}/api/v1/connected_accounts`, { headers: { Authorization: `Bearer ${token}` } })
  expect(((await listed.json()) as { total_size: number }).total_size).toBe(1)
  const { code, stderr } = await serving.stop()
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /^toolmock: the state could not be written: .*; the write-ahead log is gone, and a state file is that of its last checkpoint$/m,
  )
  expect(stderr).not.toContain('is kept beside it')
  await expect(readFile(state)).rejects.toThrow('ENOENT')
})
