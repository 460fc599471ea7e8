import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { describeWith } from '../../support/machine.ts'
import { ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()
const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => {
      resolve(false)
    })
  })
function textFile(name: string, text: string): string {
  const path = toolmock.path(name)
  writeFileSync(path, text)
  return path
}
const JSON_BODY = { 'content-type': 'application/json' }
const health = async (url: string): Promise<number> => (await fetch(`${url}/_mock/health`)).status

describe('toolmock start', () => {
  it('names address and credentials in its first line, then the variables to paste, and ends with 0 on SIGTERM', async () => {
    const serving = await toolmock.start(['--in-memory'])
    const { url } = serving
    const credentials = '(client id test_client, client secret test_secret)'
    expect(serving.firstLine).toBe(`toolmock serves ${url} ${credentials}, dashboard ${url}/_mock/ui`)
    expect(await health(serving.url)).toBe(200)

    const { code, stdout } = await serving.stop('SIGTERM')
    expect(code).toBe(0)
    expect(stdout.split('\n').slice(1)).toEqual([
      '',
      `export TOOLMOCK_URL=${serving.url}`,
      'export TOOLMOCK_CLIENT_ID=test_client',
      'export TOOLMOCK_CLIENT_SECRET=test_secret',
      '',
    ])
  })

  it('says on stderr, before it serves, that a seed takes long', async () => {
    const seed = toolmock.path('many.yaml')
    const connector = 'connectors: [{ connector: mail, authorization_type: API_KEY }]\n'
    writeFileSync(seed, `${connector}generate: { accounts: 20000, connector: mail }\n`)
    const serving = await toolmock.start(['--in-memory', '--seed', seed])
    const { stderr } = await serving.stop('SIGTERM')
    // A slow machine adds lines that say how long it has taken.
    expect(stderr.split('\n')[0]).toBe('Starting: the seed generates 20000 accounts …')

    writeFileSync(seed, `${connector}generate: { accounts: 100, connector: mail }\n`)
    expect((await (await toolmock.start(['--in-memory', '--seed', seed])).stop('SIGTERM')).stderr).toBe('')
  })

  it('prints all of that in one line of JSON with --json, and logs in JSON', async () => {
    const serving = await toolmock.start(['--in-memory', '--json'], { TOOLMOCK_PROT: '1' })
    expect(JSON.parse(serving.firstLine)).toMatchObject({
      message: 'ready',
      url: serving.url,
      client_id: 'test_client',
      client_secret: 'test_secret',
      variables: {
        TOOLMOCK_URL: serving.url,
        TOOLMOCK_CLIENT_ID: 'test_client',
        TOOLMOCK_CLIENT_SECRET: 'test_secret',
      },
    })

    const { code, stdout, stderr } = await serving.stop('SIGINT')
    expect(code).toBe(0)
    expect(stdout.trim().split('\n')).toHaveLength(1)
    const logged = stderr.trim().split('\n')
    expect(logged.map((line) => JSON.parse(line))).toContainEqual({
      level: 'warn',
      message: 'TOOLMOCK_PROT is not read; did you mean TOOLMOCK_PORT?',
    })
  })

  it.each([
    ['text', []],
    ['JSON', ['--json']],
  ])('prints the base URL that it was given, and its address: %s', async (_as, flags) => {
    const serving = await toolmock.start(['--in-memory', ...flags], { TOOLMOCK_BASE_URL: 'http://mock.internal/' })
    const [, listening = ''] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(serving.firstLine) ?? []
    expect(await health(listening)).toBe(200)
    if (flags.length === 0)
      expect(serving.firstLine).toContain(`toolmock serves http://mock.internal at ${listening} (`)
    else expect(JSON.parse(serving.firstLine)).toMatchObject({ url: 'http://mock.internal', listening })
    expect((await serving.stop()).code).toBe(0)
  })

  it('keeps the model in the state file, uses it at the next start, and reports that a seed is not applied', async () => {
    const state = toolmock.path('kept/state.json')
    const first = await toolmock.start(['--state', state])
    expect((await first.stop()).code).toBe(0)
    const written = readFileSync(state, 'utf8')
    expect(JSON.parse(written)).toMatchObject({ version: 3, environments: { default: {} } })

    const seed = toolmock.path('other.yaml')
    writeFileSync(seed, 'clients:\n  - { client_id: other, client_secret: other }\n')
    const second = await toolmock.start([], { TOOLMOCK_STATE: state, TOOLMOCK_SEED: seed })
    expect(second.firstLine).toContain('client id test_client')
    const { code, stderr } = await second.stop()
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^warn the state file .* the seed was not applied; --fresh replaces it, --state FILE starts one in another file$/m,
    )
    expect(readFileSync(state, 'utf8')).toBe(written)
  })

  it('reports which options an existing state overrides, the bundled seed included', async () => {
    const state = toolmock.path('again/state.json')
    await (await toolmock.start(['--state', state, '--clock', '2026-01-01', '--freeze', '--id-seed', '1'])).stop()
    const asked = ['--seed', 'bundled', '--clock', '2030-01-01', '--id-seed', '2']
    const { stderr } = await (await toolmock.start(['--state', state, ...asked])).stop()
    expect(stderr).toContain('keeps its own: the seed, the clock, the id seed were not applied; --fresh replaces it')
    const { environments } = JSON.parse(readFileSync(state, 'utf8')) as { environments: Record<string, unknown> }
    expect(environments['default']).toMatchObject({ clock: { frozen_at: '2026-01-01T00:00:00.000Z' } })

    const plain = await (await toolmock.start(['--state', state])).stop()
    expect(plain.stderr).toBe('')
  })

  it('accepts larger bodies at the control API than at the service, unless --body-limit sets one limit', async () => {
    const statusesOf = async (url: string): Promise<number[]> => {
      const name = 'large'.repeat(250_000)
      const answers = [
        await fetch(`${url}/_mock/environments`, {
          method: 'POST',
          headers: JSON_BODY,
          body: JSON.stringify({ name }),
        }),
        await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams({ name }) }),
      ]
      return answers.map(({ status }) => status)
    }
    const serving = await toolmock.start(['--in-memory'])
    expect(await statusesOf(serving.url)).toEqual([400, 413])
    await serving.stop('SIGTERM')
    const limited = await toolmock.start(['--in-memory', '--body-limit', '1048576'])
    expect(await statusesOf(limited.url)).toEqual([413, 413])
    await limited.stop('SIGTERM')
  })

  it('ends at once on a second signal, even with a request under way', async () => {
    const port = await freePort()
    const serving = await toolmock.start(['--in-memory', '--port', `${port}`])
    const client = connect(port, '127.0.0.1')
    client.on('error', () => undefined)
    client.write('POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n')
    expect(await health(serving.url)).toBe(200)

    serving.child.kill('SIGTERM')
    while (await listens(port));
    expect((await serving.stop('SIGINT')).code).toBe(128 + 2)
    client.destroy()
  })

  it('refuses a damaged state file with 2 and does not change it', async () => {
    const state = toolmock.path('damaged.json')
    writeFileSync(state, '{"version": 1, "environ')
    const { code, stdout, stderr } = await toolmock.run(['start', '--port', '0', '--state', state])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('damaged.json')
    expect(stderr).not.toContain('    at ')
    expect(readFileSync(state, 'utf8')).toBe('{"version": 1, "environ')
  })

  it('refuses a bad seed file with 2, naming line and column', async () => {
    const seed = toolmock.path('seed.yaml')
    writeFileSync(seed, 'clients:\n  - client_id: a\n    clientsecret: b\n')
    const { code, stdout, stderr } = await toolmock.run(['start', '--in-memory', '--port', '0', '--seed', seed])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/seed\.yaml:3:5: .*clientsecret/)
    expect(stderr).not.toContain('    at ')
  })

  it('refuses a port in use with 2 and one line', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { code, stdout, stderr } = await toolmock.run(['start', '--in-memory', '--port', String(port)])
    other.close()
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toBe(
      `toolmock: port ${port} on 127.0.0.1 is in use. Stop what serves there, or choose another: --port N, where 0 takes a free one.\n`,
    )
  })

  it.each([
    ['a port in use', (taken: number) => ['--port', String(taken)]],
    ['an address of another machine', () => ['--port', '0', '--host', '192.0.2.1']],
    ['a seed with a mistake', () => ['--seed', textFile('typo.yaml', 'acounts: []\n')]],
    ['a scenario that there is not', () => ['--scenario', 'rate-limitd']],
    [
      'a scenario about a connector that there is not',
      () => [
        '--scenario',
        textFile(
          'about.yaml',
          'name: about\nrules: [{ name: a, at: service, on: { connector: mial }, do: [{ latency: 1ms }] }]\n',
        ),
      ],
    ],
    ['descriptors that are none', () => ['--descriptors', textFile('none.binpb', 'x')]],
    ['a certificate that there is not', () => ['--tls-cert', 'none.pem', '--tls-key', 'none.pem']],
  ])('neither replaces a state nor leaves one when it fails for %s', async (_what, flags) => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const kept = toolmock.path('replaced.json')
    const before = '{"version":3,"state_id":"state_1","generation":0,"environments":{}}\n'
    writeFileSync(kept, before)
    const replacing = await toolmock.run(['start', '--fresh', '--state', kept, ...flags(port)])
    const none = toolmock.path('begun.json')
    const beginning = await toolmock.run(['start', '--state', none, ...flags(port)])
    other.close()
    expect([replacing.code, beginning.code]).toEqual([2, 2])
    expect(readFileSync(kept, 'utf8')).toBe(before)
    expect(existsSync(none)).toBe(false)
    expect(existsSync(`${none}.wal.0`)).toBe(false)
  })

  it('refuses an address that is not of this machine with 2 and one line', async () => {
    const { code, stderr } = await toolmock.run(['start', '--in-memory', '--port', '0', '--host', '192.0.2.1'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^toolmock: 192\.0\.2\.1 is not an address of this machine\..*\n$/)
  })

  it('continues to serve when the reader of its output ends', async () => {
    const serving = await toolmock.start(['--in-memory', '--log-level', 'debug'])
    serving.child.stdout!.destroy()
    serving.child.stderr!.destroy()
    for (let round = 0; round < 3; round++) expect(await health(serving.url)).toBe(200)
    expect((await serving.stop()).code).toBe(0)
  })
})

const WARNING = /^warn --host 0\.0\.0\.0 without --admin-token: .*the control API under \/_mock/m

it.each([
  ['as a flag, without an admin token, is warned of', ['--host', '0.0.0.0'], {}, true],
  ['with an admin token is not', ['--host', '0.0.0.0', '--admin-token', 't'], {}, false],
  ['as a variable, as in the image, is not', [], { TOOLMOCK_HOST: '0.0.0.0' }, false],
  ['is not loopback itself', ['--host', '127.0.0.1'], {}, false],
])('--host beyond loopback: %s', async (_what, args, variables, isWarned) => {
  const serving = await toolmock.start(['--in-memory', ...args], variables)
  const { stderr } = await serving.stop()
  expect(WARNING.test(stderr)).toBe(isWarned)
})

it('toolmock healthcheck ends with 0 while the server of its variables answers, else with 1', async () => {
  const variables = { TOOLMOCK_HOST: '0.0.0.0', TOOLMOCK_PORT: `${await freePort()}` }
  const serving = await toolmock.start(['--in-memory'], variables)
  expect(await toolmock.run(['healthcheck'], variables)).toMatchObject({ code: 0, stderr: '' })
  expect(await toolmock.run(['healthcheck'], { TOOLMOCK_URL: serving.url })).toMatchObject({ code: 0 })
  await serving.stop()

  const gone = await toolmock.run(['healthcheck'], variables)
  expect(gone).toMatchObject({ code: 1, stdout: '' })
  expect(gone.stderr).toMatch(/^toolmock: http:\/\/127\.0\.0\.1:\d+\/_mock\/health is not served\n$/)
})

describeWith('one core', 'toolmock start on one core', () => {
  /**
   * Fills the memory of a server, as many accounts do. Returns how much of it V8's threads marked while it ran, in KB: in the
   * pause at the end they help in any case, and Node.js 24 lists that too.
   */
  async function markedByThreads(cores: string): Promise<number> {
    const fill = toolmock.path('fill.mjs')
    writeFileSync(
      fill,
      `const kept = []
      process.once('SIGUSR2', () => {
        const filling = setInterval(() => {
          for (let i = 0; i < 50000; i++) kept.push({ i, text: 'text ' + i })
          if (kept.length < 2_000_000) return
          clearInterval(filling)
          console.log('filled')
        })
      })`,
    )
    const { command, args, cwd, env } = toolmock.command(['start', '--in-memory', '--port', '0'])
    const all = ['--cpu-list', cores, command, '--trace-concurrent-marking', '--trace-gc', '--import', fill, ...args]
    const child = spawn('taskset', all, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
    let marked: { at: number; size: number }[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('toolmock serves')) child.kill('SIGUSR2')
      const [, at, size] = /(\d+) ms: .*concurrently marked (\d+)KB/.exec(line) ?? []
      if (size !== undefined) marked.push({ at: Number(at), size: Number(size) })
      const [, end, pause] = /(\d+) ms: Mark-Compact .* MB, ([\d.]+) \//.exec(line) ?? []
      if (pause !== undefined) marked = marked.filter((each) => each.at < Math.floor(Number(end) - Number(pause)))
      if (line === 'filled') child.kill()
    }
    return marked.reduce((sum, { size }) => sum + size, 0)
  }

  it('leaves the core to requests: no thread looks for garbage meanwhile', async () => {
    const [first = ''] = readFileSync('/proc/self/status', 'utf8').match(/(?<=Cpus_allowed_list:\s*)\d+/) ?? []
    expect(await markedByThreads(first)).toBeLessThan(1000)
  })
})
