import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ToolmockProcess } from './toolmock-process.ts'
import { freePort } from '../../support/free-port.ts'

const toolmock = ToolmockProcess.forThisFile()
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(toolmock.folder, 'project-'))
})

afterEach(async () => {
  await run(['stop'])
})

async function run(args: string[], variables: Record<string, string> = {}) {
  const { code, stdout, stderr } = await toolmock.begin(args, { cwd: folder, variables }).end
  return { code, stdout: stdout.toString(), stderr: stderr.toString() }
}

const START = ['start', '--detach', '--port', '0', '--state', 'state.json']
const server = () => JSON.parse(readFileSync(join(folder, '.toolmock/server.json'), 'utf8')) as { pid: number }

describe('start --detach', () => {
  it('prints the variables once it is ready; other commands find the server, and stop writes its state', async () => {
    const started = await run(START.with(3, `${await freePort()}`))
    expect(started).toMatchObject({ code: 0, stderr: '' })
    const [, url = ''] = /^export TOOLMOCK_URL=(\S+)$/m.exec(started.stdout) ?? []
    expect(await (await fetch(`${url}/_mock/ready`)).json()).toEqual({ status: 'ready' })
    expect(started.stdout).toContain('export TOOLMOCK_CLIENT_ID=test_client\nexport TOOLMOCK_CLIENT_SECRET=test_secret')
    expect(statSync(join(folder, '.toolmock/server.log')).size).toBeGreaterThan(0)
    expect((await run(['clock', 'advance', '2h'])).code).toBe(0)
    expect(await run(['healthcheck'])).toMatchObject({ code: 0, stdout: `${url}/_mock/health is up\n` })
    const { pid } = server()
    expect(JSON.parse((await run(['env', '--json'])).stdout)).toMatchObject({ TOOLMOCK_URL: url })
    const stopped = await run(['stop', '--json'])
    expect({ ...stopped, stdout: JSON.parse(stopped.stdout) as object }).toEqual({
      code: 0,
      stdout: { url, process: pid, was_running: true },
      stderr: '',
    })
    expect(existsSync(join(folder, 'state.json'))).toBe(true)
    expect(existsSync(join(folder, '.toolmock/server.json'))).toBe(false)
    await expect(fetch(`${url}/_mock/ready`)).rejects.toThrow()
  })

  it('says which configuration file it has read, and what else its log says of the start', async () => {
    writeFileSync(join(folder, 'toolmock.config.yaml'), 'strict: true\n')
    mkdirSync(join(folder, '.git'))
    const first = await run(START, { TOOLMOCK_SEDE: 'bundled' })
    expect(first).toMatchObject({
      code: 0,
      stderr:
        'warn TOOLMOCK_SEDE is not read; did you mean TOOLMOCK_SEED?\ninfo the configuration is that of toolmock.config.yaml\n',
    })
    expect(await run(START)).toEqual(first)
  })

  it('is found although the configuration file has another port, unless one is named or it was killed', async () => {
    const url = /^export TOOLMOCK_URL=(\S+)$/m
    writeFileSync(join(folder, 'toolmock.config.yaml'), `port: ${await freePort()}\nadmin_token: secret-1\n`)
    mkdirSync(join(folder, '.git'))
    const [, served] = url.exec((await run(START)).stdout) ?? []
    expect(url.exec((await run(['env'])).stdout)?.[1]).toBe(served)
    expect((await run(['clock', 'advance', '2h'])).code).toBe(0)
    const other = `${await freePort()}`
    for (const [args, variables] of [
      [['env', '--port', other], {}],
      [['env'], { TOOLMOCK_PORT: other }],
    ] as const) {
      expect((await run([...args], variables)).stderr).toContain(`http://127.0.0.1:${other} is not served`)
    }
    process.kill(server().pid, 'SIGKILL')
    // The system may keep the number of a killed process for a moment; this one is over.
    const { pid } = spawnSync(process.execPath, ['--version'])
    writeFileSync(join(folder, '.toolmock/server.json'), JSON.stringify({ ...server(), pid }))
    const { stderr } = await run(['env'])
    expect(stderr).toContain('is not served')
    expect(stderr).not.toContain(served)
  })

  it('with the same flags again starts nothing; with other flags it names them and ends with 2', async () => {
    const [first, second] = await Promise.all([run(START), run(START)])
    expect(second).toEqual(first)
    const { pid } = server()
    expect(await run([...START, '--strict', '--admin-token', 'secret-token-1'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^toolmock: a server runs already \(process \d+, http:\S+\) with another value of --strict, --admin-token\. Stop it first: npx toolmock stop/,
      ) as string,
    })
    expect(server().pid).toBe(pid)
  })

  it('starts again after the server was killed, and stop then finds that one', async () => {
    const first = await run(START.with(3, `${await freePort()}`))
    process.kill(server().pid, 'SIGKILL')
    const [, url = ''] = /TOOLMOCK_URL=(\S+)/.exec(first.stdout) ?? []
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down')
    const second = await run(START)
    expect(second).toMatchObject({ code: 0, stderr: '' })
    const [, again = ''] = /TOOLMOCK_URL=(\S+)/.exec(second.stdout) ?? []
    expect(await run(['stop'])).toEqual({ code: 0, stdout: `stopped ${again}\n`, stderr: '' })
  })

  it('several times at once over the file of a server that was killed starts one', async () => {
    mkdirSync(join(folder, '.toolmock'))
    // Another process has its number by now, so that each start asks at its address, where nothing listens.
    const ready = { url: 'http://localhost:1', text: '', variables: {} }
    const left = JSON.stringify({ pid: process.pid, settings: {}, ready })
    writeFileSync(join(folder, '.toolmock/server.json'), left)
    const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => run(START)))
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(others).toEqual([first, first, first])
  })

  it('that fails prints the reason, ends with 2 and leaves no file', async () => {
    writeFileSync(join(folder, 'state.json'), '{')
    const { code, stdout, stderr } = await run(START)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('state.json')
    expect(existsSync(join(folder, '.toolmock/server.json'))).toBe(false)
  })

  it('keeps the admin token out of its file, and stop needs it', async () => {
    await run([...START, '--admin-token', 'secret-token-1'])
    expect(readFileSync(join(folder, '.toolmock/server.json'), 'utf8')).not.toContain('secret-token-1')
    expect(await run(['stop'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('asks for the admin token') as string,
    })
    expect((await run(['stop', '--admin-token', 'secret-token-1'])).code).toBe(0)
  })

  it.skipIf(process.platform === 'win32')('lets only its user read the file that has the client secret', async () => {
    await run(START)
    expect(statSync(join(folder, '.toolmock/server.json')).mode & 0o777).toBe(0o600)
  })

  it.each(['', '{"pid": 1', 'no JSON'])('starts although a file was left behind that has %j', async (text) => {
    mkdirSync(join(folder, '.toolmock'))
    writeFileSync(join(folder, '.toolmock/server.json'), text)
    expect(await run(START)).toMatchObject({ code: 0, stderr: '' })
    expect((await run(['stop'])).code).toBe(0)
  })

  it('says that its folder cannot be made, and ends with 2', async () => {
    writeFileSync(join(folder, '.toolmock'), '')
    expect(await run(START)).toEqual({
      code: 2,
      stdout: '',
      stderr: 'toolmock: .toolmock cannot be written (EEXIST)\n',
    })
  })

  it.skipIf(process.platform === 'win32')('leaves no file where the disk takes none', () => {
    const cli = toolmock.path('package/dist/cli.js')
    const limited = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, cli, ...START]
    const { status, stderr } = spawnSync('sh', limited, { cwd: folder, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `toolmock: ${join('.toolmock', 'server.json')} cannot be written (EFBIG)\n`,
    })
    expect(existsSync(join(folder, '.toolmock/server.json'))).toBe(false)
  })

  it('by TLS is found and stopped with the authority that it made', async () => {
    expect(await run([...START, '--tls'])).toMatchObject({ code: 0, stderr: '' })
    expect((await run(['env', '--format', 'dotenv'])).stdout).toMatch(/^NODE_EXTRA_CA_CERTS="/m)
    expect((await run(['clock'])).code).toBe(0)
    const [, host = ''] = /https:\/\/([\w.:]+)/.exec((await run(['env'])).stdout) ?? []
    expect((await run(['clock', '--url', `https://${host}`])).stderr).toMatch(
      /^toolmock: \S+ has a certificate of an unknown authority \(\w+\): NODE_EXTRA_CA_CERTS names the file of one to trust\n$/,
    )
    expect((await run(['clock', '--url', `http://${host}`])).stderr).toMatch(
      /does it serve HTTPS\? Then give --tls, or a URL with https\n$/,
    )
    expect((await run(['stop'])).code).toBe(0)
  })

  it('ends by a signal as any server does, and removes its file', async () => {
    await run(START)
    process.kill(server().pid, 'SIGTERM')
    await expect.poll(() => existsSync(join(folder, '.toolmock/server.json'))).toBe(false)
    expect(existsSync(join(folder, 'state.json'))).toBe(true)
  })
})

it('stop says where no server was started', async () => {
  expect(await run(['stop'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'toolmock: no server was started here with `npx toolmock start --detach`\n',
  })
})

it('stop is refused to the server of `run`, which its command ends', async () => {
  const code = `fetch(process.env.TOOLMOCK_URL + '/_mock/shutdown', { method: 'POST' }).then(async (a) => console.log(a.status, await a.text()))`
  const { stdout } = await run(['run', '--allow-no-requests', '--', process.execPath, '-e', code])
  expect(stdout).toMatch(/^409 .*"NOT_STOPPABLE"/)
})

it.each([
  [
    'sh',
    /^export TOOLMOCK_URL=(\S+)\nexport TOOLMOCK_CLIENT_ID=test_client\nexport TOOLMOCK_CLIENT_SECRET=test_secret\n$/,
  ],
  ['dotenv', /^TOOLMOCK_URL="(\S+)"\nTOOLMOCK_CLIENT_ID="test_client"\nTOOLMOCK_CLIENT_SECRET="test_secret"\n$/],
  [
    'github',
    /^TOOLMOCK_URL<<(\w[\w-]{40,})\n\S+\n\1\nTOOLMOCK_CLIENT_ID<<(?!\1)(\w[\w-]{40,})\ntest_client\n\2\nTOOLMOCK_CLIENT_SECRET<<(\w[\w-]{40,})\ntest_secret\n\3\n$/,
  ],
])('env prints the variables as %s', async (format, expected) => {
  await run(START)
  expect((await run(['env', '--format', format])).stdout).toMatch(expected)
})

it('env prints JSON, and says where there is no server', async () => {
  await run(START)
  expect(JSON.parse((await run(['env', '--format', 'json'])).stdout)).toMatchObject({
    TOOLMOCK_CLIENT_ID: 'test_client',
  })
  expect(await run(['env', '--port', '1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('http://127.0.0.1:1 is not served') as string,
  })
})
