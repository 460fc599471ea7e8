import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { installPackages } from '../../.build/install.ts'
import { ROOT } from '../../.build/project.ts'
import { ToolmockProcess } from '../app/cli/toolmock-process.ts'
import { freePort } from '../support/free-port.ts'

const toolmock = ToolmockProcess.forThisFile()
const PACKAGE = `${ROOT}integrations/testcontainers`
// As part of loading this file: an installation may take longer than a test.
installPackages('integrations/testcontainers')

interface Asked {
  readonly Image: string
  readonly Env: readonly string[]
  readonly ExposedPorts: object
}

/** What a client of Docker's API needs to start one container. The container is a process of this machine. */
class Engine {
  readonly socket = toolmock.path(`engine-${process.hrtime.bigint()}.sock`)
  /** The containers that were asked for. */
  readonly asked: Asked[] = []
  /** The archives that were copied into a container, by their target. */
  readonly copied: Buffer[] = []
  readonly #server: Server
  #port = 0
  #process: ChildProcess | undefined

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(([status, body]) => {
        response
          .writeHead(status, { 'Content-Type': 'application/json' })
          .end(body === undefined ? '' : JSON.stringify(body))
      })
    })
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(this.socket), 'listening')
  }

  async close(): Promise<void> {
    this.#process?.kill('SIGKILL')
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage): Promise<[status: number, body?: unknown]> {
    const { method = '', url = '' } = request
    const call = `${method} ${url.replace(/^\/v[\d.]+/, '').replace(/\?.*/, '')}`
    if (call === 'POST /containers/create') {
      this.asked.push((await json(request)) as Asked)
      return [201, { Id: 'mock', Warnings: [] }]
    }
    if (call === 'PUT /containers/mock/archive') {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      this.copied.push(Buffer.concat(parts))
      return [200]
    }
    if (call === 'POST /containers/mock/start') return this.#start()
    if (call === 'GET /containers/mock/json') return [200, this.#state()]
    if (/^(POST|DELETE) \/containers\/mock(\/(stop|kill|wait))?$/.test(call)) return this.#stop(call)
    if (call === 'GET /info')
      return [200, { OperatingSystem: 'test', OSType: 'linux', Architecture: 'x86_64', ServerVersion: '28' }]
    if (call === 'GET /containers/json') return [200, []]
    if (call === 'GET /version') return [200, { ApiVersion: '1.47', Version: '28' }]
    if (/^GET \/images\/.*\/json$/.test(call)) return [200, { Id: 'image', Config: {} }]
    if (call === 'GET /containers/mock/logs') return [200]
    return [404, { message: `this engine has no ${call}` }]
  }

  async #start(): Promise<[number]> {
    const variables = (this.asked.at(-1)?.Env ?? []).map((each) => each.split(/=(.*)/s, 2) as [string, string])
    this.#port = await freePort()
    const { command, args, cwd, env } = toolmock.command(
      ['start', '--port', `${this.#port}`],
      Object.fromEntries(variables),
    )
    this.#process = spawn(command, args, { cwd, env, stdio: 'ignore' })
    return [204]
  }

  async #stop(call: string): Promise<[number, object?]> {
    const running = this.#process
    this.#process = undefined
    if (running) {
      const ended = once(running, 'exit')
      running.kill('SIGTERM')
      await ended
    }
    return call.endsWith('wait') ? [200, { StatusCode: 0 }] : [204]
  }

  #state(): object {
    const Ports = { '8665/tcp': [{ HostIp: '127.0.0.1', HostPort: `${this.#port}` }] }
    const State = {
      Status: 'running',
      Running: true,
      StartedAt: '2026-01-01T00:00:00Z',
      FinishedAt: '0001-01-01T00:00:00Z',
    }
    return {
      Id: 'mock',
      Name: '/mock',
      State,
      Config: { Hostname: 'mock', Labels: {} },
      NetworkSettings: { Ports, Networks: {} },
    }
  }
}

describe('toolmock-testcontainers', () => {
  let engine: Engine
  beforeEach(async () => {
    engine = new Engine()
    await engine.listen()
  })
  afterEach(() => engine.close())

  async function node(...args: string[]): Promise<{ code: number; output: string }> {
    const { env } = toolmock.command([])
    const variables = {
      DOCKER_HOST: `unix://${engine.socket}`,
      TESTCONTAINERS_RYUK_DISABLED: 'true',
      TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
      TOOLMOCK_IMAGE: 'toolmock:test',
    }
    const child = spawn(process.execPath, args, {
      cwd: PACKAGE,
      env: { ...env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const [code] = (await once(child, 'close')) as [number]
    return { code, output }
  }
  const script = (lines: string) =>
    node('--input-type=module', '--eval', `import { ToolmockContainer } from 'toolmock-testcontainers'\n${lines}`)

  it('has an example that passes: a container with a scenario, and an environment for a test', async () => {
    const { code, output } = await node('--test', 'example.test.js')
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/pass 1$/m) as string })
    expect(engine.asked).toMatchObject([{ Image: 'toolmock:test', ExposedPorts: { '8665/tcp': {} } }])
    expect(engine.asked[0]?.Env).toEqual(
      expect.arrayContaining(['TOOLMOCK_IN_MEMORY=true', 'TOOLMOCK_SEED=bundled', 'TOOLMOCK_SCENARIO=rate-limited']),
    )
  })

  it('copies files into the container, and names them in the variables', async () => {
    const folder = toolmock.path('own')
    mkdirSync(folder)
    writeFileSync(join(folder, 'busy.yaml'), 'name: busy')
    // The process of this engine has none of the container's files, so the mock does not start: only what was asked for counts.
    const { output } = await script(`
      const container = new ToolmockContainer('toolmock:test').withScenario('rate-limited').withScenario('${folder}/busy.yaml')
      await container.withExtension('organizations').withStartupTimeout(1).start().catch((error) => console.log(error.message))`)
    expect(output).not.toBe('')
    expect(engine.asked[0]?.Env).toEqual(
      expect.arrayContaining([
        'TOOLMOCK_SCENARIO=rate-limited,/toolmock/1/busy.yaml',
        'TOOLMOCK_EXTENSION=organizations',
      ]),
    )
    const archive = Buffer.concat(engine.copied).toString('latin1')
    expect(archive).toContain('toolmock/1/busy.yaml')
    expect(archive).toContain('name: busy')
  })

  it('creates an environment with the admin token of the container', async () => {
    const { output } = await script(`
      const mock = await new ToolmockContainer('toolmock:test').withEnvironment({ TOOLMOCK_ADMIN_TOKEN: 'secret' }).start()
      console.log((await mock.createEnvironment('a')).name)
      await mock.stop()`)
    expect(output).toMatch(/^env[\w-]+$/m)
  })

  it('throws what the server says when it refuses an environment', async () => {
    const { output } = await script(`
      const mock = await new ToolmockContainer('toolmock:test').start()
      await mock.createEnvironment(7).catch((error) => console.log(error.message))
      await mock.stop()`)
    expect(output).toMatch(/\/_mock\/environments answers 400: /)
  })

  it('has declarations that its example keeps', () => {
    const tsc = [
      `${ROOT}node_modules/typescript/bin/tsc`,
      '--noEmit',
      '--ignoreConfig',
      '--allowJs',
      '--checkJs',
      '--strict',
      '--skipLibCheck',
    ]
    const options = [
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--typeRoots',
      `${ROOT}node_modules/@types`,
      '--types',
      'node',
    ]
    const { status, stdout } = spawnSync(process.execPath, [...tsc, ...options, 'example.test.js'], {
      cwd: PACKAGE,
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })
})
