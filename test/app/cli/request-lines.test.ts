import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { RequestLog } from '../../../src/app/cli/request-log.ts'
import { storedEntry } from '../../../src/journal/request-journal/journal.ts'
import { describeWith } from '../../support/machine.ts'
import { type Serving, ToolmockProcess } from './toolmock-process.ts'

const toolmock = ToolmockProcess.forThisFile()

const FROZEN = ['--in-memory', '--clock', '2026-01-31T12:00:00Z', '--freeze'] as const
const AT = String.raw`2026-01-31T12:00:00\.000Z`

const SEED = {
  accounts: [
    {
      connector: 'mail',
      identifier: 'ada@example.com',
      authorization_details: { oauth_token: { access_token: 'a', refresh_token: 'r' } },
    },
  ],
}

/** Sends the requests of a test to a server that it has started. */
class Caller {
  readonly #url: string
  #bearer = ''

  constructor(url: string) {
    this.#url = url
  }

  async control(method: string, path: string, body?: object): Promise<void> {
    await this.#send(`/_mock${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
  }

  async token(): Promise<void> {
    const form = { client_id: 'test_client', client_secret: 'test_secret', grant_type: 'client_credentials' }
    const answer = await fetch(`${this.#url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    this.#bearer = ((await answer.json()) as { access_token: string }).access_token
  }

  get(path: string): Promise<void> {
    return this.#send(`/api/v1${path}`, {})
  }

  post(path: string, body: object): Promise<void> {
    return this.#send(`/api/v1${path}`, { method: 'POST', body: JSON.stringify(body) })
  }

  async #send(path: string, request: RequestInit): Promise<void> {
    const headers = { Authorization: `Bearer ${this.#bearer}`, 'Content-Type': 'application/json' }
    await (await fetch(`${this.#url}${path}`, { ...request, headers })).text()
  }
}

/** The lines after those with the address and the credentials. */
function requestLines(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line !== '' && !/^(toolmock serves |export )/.test(line))
}

async function linesOf(serving: Serving): Promise<string[]> {
  return requestLines((await serving.stop()).stdout)
}

const TOOL = { connector: 'mail', identifier: 'ada@example.com', tool_name: 'mail_list_messages', tool_input: {} }

describe('toolmock start prints a line for each request', () => {
  it('with the time of its own clock, method and operation, status, duration, connector and identifier', async () => {
    const serving = await toolmock.start(FROZEN)
    const caller = new Caller(serving.url)
    await caller.control('POST', '/seed', SEED)
    await caller.token()
    await caller.get('/connected_accounts/details?connector=mail&identifier=ada@example.com')
    await caller.get('/connected_accounts/details?connector=mail&identifier=zoe@example.com')
    await caller.get('/conected_accounts')
    expect(await linesOf(serving)).toEqual([
      expect.stringMatching(`^${AT} POST   create_token                  200 +\\d+ms$`),
      expect.stringMatching(`^${AT} GET    get_connected_account_details 200 +\\d+ms mail ada@example\\.com$`),
      expect.stringMatching(
        `^${AT} GET    get_connected_account_details 404 +\\d+ms mail zoe@example\\.com ACCOUNT_NOT_FOUND req_\\w+$`,
      ),
      expect.stringMatching(
        `^${AT} violation: GET /api/v1/conected_accounts is not served: did you mean GET /api/v1/connected_accounts\\? GET    /api/v1/conected_accounts     404 +\\d+ms PATH_NOT_FOUND req_\\w+$`,
      ),
    ])
  })

  it('with its effects: calls of the third party, refreshes, transitions', async () => {
    const serving = await toolmock.start(FROZEN)
    const caller = new Caller(serving.url)
    await caller.control('POST', '/seed', SEED)
    await caller.token()
    await caller.post('/execute_tool', TOOL)
    await caller.control('PUT', '/clock', { advance: '2h' })
    await caller.post('/execute_tool', TOOL)
    await caller.control('POST', '/scenarios/third-party-401-until-refreshed/start')
    await caller.post('/execute_tool', TOOL)
    await caller.post('/connected_accounts:delete', { connector: 'mail', identifier: 'ada@example.com' })
    const [, ...lines] = await linesOf(serving)
    const call = 'GET mail /v1/messages'
    expect(lines).toEqual([
      expect.stringContaining(`ms mail ada@example.com mail_list_messages → ${call} 200`),
      expect.stringMatching(`^2026-01-31T14:00:00\\.000Z POST .* → refresh 200 → ${call} 200$`),
      expect.stringMatching(
        ` → ${call} 401 → refresh 200 → 200 injected by third-party-401-until-refreshed/.* req_\\w+$`,
      ),
      expect.stringMatching(/ DELETE|POST +delete_connected_account +200 .* deleted$/),
    ])
  })

  it('with what is wrong with it, on one line even for input with line breaks', async () => {
    const serving = await toolmock.start(FROZEN)
    const caller = new Caller(serving.url)
    await caller.token()
    await caller.post('/connected_accounts', { connector: 'no\n\u001b[31mthing', connected_account: {}, page: 3 })
    const [, ...lines] = await linesOf(serving)
    expect(lines).toEqual([expect.stringMatching(/ 400 +\d+ms no \\u\{1b\}\[31mthing VALIDATION_FAILED req_\w+$/)])
    expect(lines[0]).toMatch(
      /^\S+ violation: identifier is required violation: connector .* warning: page is not a field of create_connected_account POST /,
    )
  })

  it('with the name of its environment, unless that is the default one', async () => {
    const serving = await toolmock.start(FROZEN)
    const made = await fetch(`${serving.url}/_mock/environments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"name":"worker-2"}',
    })
    const { client_id, client_secret } = (await made.json()) as Record<string, string>
    const body = new URLSearchParams({
      client_id: client_id ?? '',
      client_secret: client_secret ?? '',
      grant_type: 'client_credentials',
    })
    await fetch(`${serving.url}/oauth/token`, { method: 'POST', body })
    expect(await linesOf(serving)).toEqual([expect.stringMatching(/Z \[worker-2\] POST +create_token +200 /)])
  })

  it('as JSON with --json, without bodies and secrets', async () => {
    const serving = await toolmock.start([...FROZEN, '--json'])
    const caller = new Caller(serving.url)
    await caller.control('POST', '/seed', SEED)
    await caller.token()
    await caller.post('/execute_tool', TOOL)
    const { stdout } = await serving.stop()
    const [, token, execution] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(token).toMatchObject({ level: 'info', message: 'request', operation: 'create_token', status: 200 })
    expect(execution).toEqual({
      level: 'info',
      message: 'request',
      id: expect.stringMatching(/^req_/) as string,
      kind: 'request',
      at: '2026-01-31T12:00:00.000Z',
      environment: 'default',
      operation: 'execute_tool',
      method: 'POST',
      path: '/api/v1/execute_tool',
      status: 200,
      duration_ms: expect.any(Number) as number,
      client: 'test_client',
      connector: 'mail',
      identifier: 'ada@example.com',
      tool: 'mail_list_messages',
      upstream: [{ connector: 'mail', kind: 'api', grant: null, method: 'GET', path: '/v1/messages', status: 200 }],
    })
  })

  it.each([['--quiet'], ['--log-level', 'warn'], ['--log-level', 'error']])('not with %s %s', async (...flags) => {
    const serving = await toolmock.start([...FROZEN, ...flags])
    await new Caller(serving.url).token()
    expect(await linesOf(serving)).toEqual([])
  })

  it('not for the control API, unless the log level is debug', async () => {
    const quiet = await toolmock.start(FROZEN)
    await new Caller(quiet.url).control('GET', '/clock')
    await new Caller(quiet.url).control('PUT', '/clock', { advance: '1h' })
    expect(await linesOf(quiet)).toEqual([])
    const serving = await toolmock.start([...FROZEN, '--log-level', 'debug'])
    await new Caller(serving.url).control('GET', '/clock')
    await new Caller(serving.url).control('PUT', '/clock?environment=default', { advance: '1h' })
    expect(await linesOf(serving)).toEqual([
      expect.stringMatching(`^${AT} GET    /_mock/health +200 +\\d+ms$|^${AT} GET    /_mock/clock +200 +\\d+ms$`),
      expect.stringMatching(/^2026-01-31T13:00:00\.000Z the clock went from 2026-01-31T12:00:00\.000Z to /),
      expect.stringMatching(/^2026-01-31T13:00:00\.000Z PUT {4}\/_mock\/clock +200 +\d+ms$/),
    ])
  })

  it('not under toolmock run', async () => {
    const work = `fetch(process.env.TOOLMOCK_URL + '/api/v1/connections').then((answer) => process.exit(answer.status === 401 ? 0 : 1))`
    const { stdout } = await toolmock.run(['run', '--', process.execPath, '-e', work])
    expect(stdout).toBe('')
  })
})

// `script` of util-linux runs a program in a terminal.
describeWith('terminal', 'at a terminal', () => {
  /** What `start` writes to a terminal of this width while one request is refused. */
  async function shown(columns: number, variables: Record<string, string> = {}): Promise<string> {
    const cli = `"${process.execPath}" "${toolmock.path('package/dist/cli.js')}"`
    const command = `stty cols ${columns}; exec ${cli} start --in-memory --port 0 --clock 2026-01-31T12:00:00Z --freeze`
    const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...own } = process.env
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...own, SHELL: '/bin/sh', TERM: 'xterm-256color', ...variables },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let output = ''
    const until = async (wanted: RegExp): Promise<string> => {
      for (;;) {
        const found = wanted.exec(output)
        if (found) return found[0]
        const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
        output += chunk.toString()
      }
    }
    const url = await until(/http:\/\/127\.0\.0\.1:\d+/)
    await until(/CLIENT_SECRET=\S+\r\n/)
    await fetch(`${url}/api/v1/conected_accounts`)
    const lines = await until(/2026-01-31 [^]*req_\w+\S*\r\n/)
    child.stdin.write('\x03')
    await Promise.all([once(child, 'close'), text(child.stdout).catch(() => '')])
    return lines
  }
  const plain = (output: string): string[] => stripVTControlCharacters(output.trimEnd()).split('\r\n')

  it.each([80, 300, 0])(
    'of %d columns, where 0 is no size, no line is longer, and the rest is indented below its beginning',
    async (columns) => {
      const output = await shown(columns)
      expect(output).toContain('\u001b[33m404\u001b[39m')
      const [first = '', ...more] = plain(output)
      expect(first).toMatch(/^2026-01-31 12:00:00 violation: GET \/api\/v1\/conected_accounts is not served: /)
      for (const line of [first, ...more]) expect(line.length).toBeLessThanOrEqual(columns || 80)
      for (const line of more) expect(line).toMatch(/^ {20}\S/)
      expect(more.length > 0).toBe(columns !== 300)
    },
  )

  it('NO_COLOR turns the colours off', async () => {
    expect(await shown(140, { NO_COLOR: '1' })).not.toContain('\u001b[')
  })
})

it('a server whose output cannot be written continues to serve, and reports it', async () => {
  if (!existsSync('/dev/full')) return
  const child = spawn(
    process.execPath,
    [toolmock.path('package/dist/cli.js'), 'start', '--in-memory', '--port', '0', '--log-level', 'debug'],
    { cwd: toolmock.folder, env: { PATH: process.env['PATH'] }, stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] },
  )
  const [chunk] = (await once(child.stderr!, 'data')) as [Buffer]
  expect(chunk.toString()).toBe('toolmock: the output cannot be written (ENOSPC)\n')
  child.kill('SIGTERM')
  const [code] = (await once(child, 'close')) as [number]
  expect(code).toBe(0)
})

const entry = () => {
  const environment = { name: 'default', clock: { now: () => 0 } }
  const input = { kind: 'request', id: 'req_1', environment, url: '/x', method: 'GET', status: 200 } as const
  return storedEntry(input, { environment, realAt: 0, requestHeaders: [] })
}

it('a slow reader gets the number of requests that were left out while more than a megabyte was unread', () => {
  const written: string[] = []
  let backlog = 1024 * 1024 + 1
  const context = {
    variables: {},
    out: (line: string) => void written.push(line),
    err: () => undefined,
    backlog: () => backlog,
  }
  const log = new RequestLog(context, { json: false, withControl: false })
  const request = (): void => {
    log.observe(entry())
    log.flush()
  }
  request()
  request()
  expect(written).toEqual([])
  backlog = 1024 * 1024
  request()
  expect(written).toEqual([
    expect.stringMatching(
      /^2 requests are left out here: the output was not read in time\n1970-01-01T00:00:00\.000Z GET /,
    ),
  ])
})
