import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type Serving, ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { expectControlError, it, withControl } from '../control/control-mock.ts'

const toolmock = ToolmockProcess.forThisFile()
const ADA = { connector: 'mail', identifier: 'ada@example.com' }

const NAMES = [
  ...['list_requests', 'explain_request', 'list_links', 'complete_link', 'list_accounts', 'account_event', 'set_clock'],
  ...['list_scenarios', 'start_scenario', 'stop_scenario', 'contract_verdict', 'snapshot', 'reset'],
]
const READ = ['list_requests', 'explain_request', 'list_links', 'list_accounts', 'list_scenarios', 'contract_verdict']

function onStdio(args: readonly string[], variables?: Record<string, string>): Transport {
  return new StdioClientTransport({ ...toolmock.command(args, variables), stderr: 'ignore' })
}

/** A client of the SDK, with what its tools answer. */
async function clientOf(transport: Transport, mode: 'legacy' | 'auto' = 'auto') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const result = async (name: string, args: Record<string, unknown> = {}) => {
    const answer = await client.callTool({ name, arguments: args })
    const [{ text }] = answer.content as unknown as [{ text: string }]
    return { text, isError: answer.isError === true, bytes: Buffer.byteLength(JSON.stringify(answer)) }
  }
  return {
    client,
    result,
    /** The text of a tool that has to succeed. */
    ask: async (name: string, args?: Record<string, unknown>): Promise<string> => {
      const { text, isError } = await result(name, args)
      expect({ name, text, isError }).toEqual({ name, text, isError: false })
      return text
    },
  }
}
type ToolClient = Awaited<ReturnType<typeof clientOf>>

/** The service as the program under test uses it, in an environment of its own. */
async function programIn(url: string, environment: string) {
  const post = async (
    path: string,
    body: object,
    bearer = '',
  ): Promise<{ status: number; id: string; body: unknown }> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, id: answer.headers.get('x-request-id') ?? '', body: await answer.json() }
  }
  const made = await post('/_mock/environments', { name: environment, clock: '2026-01-31T12:00:00Z' })
  const { client_id, client_secret } = made.body as { client_id: string; client_secret: string }
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const token = { body: await (await fetch(`${url}/oauth/token`, { method: 'POST', body: form })).json() }
  const { access_token: bearer } = token.body as { access_token: string }
  return (path: string, body: object) => post(`/api/v1${path}`, body, bearer)
}

describe('the control server', () => {
  let serving: Serving
  let number = 0
  beforeAll(async () => {
    serving = await toolmock.start(['--in-memory', '--clock', '2026-01-31T12:00:00Z'])
  })
  afterAll(() => serving.stop())

  const overHttp = (environment: string): Transport =>
    new StreamableHTTPClientTransport(new URL(`${serving.url}/_mock/mcp?environment=${environment}`))
  const overStdio = (environment: string): Transport =>
    onStdio(['mcp', '--environment', environment], { TOOLMOCK_URL: serving.url })

  /** Runs `work` with a client and a program that share an environment. */
  async function withClient(
    transport: (environment: string) => Transport,
    mode: 'legacy' | 'auto',
    work: (client: ToolClient, program: Awaited<ReturnType<typeof programIn>>) => Promise<void>,
  ): Promise<void> {
    const environment = `mcp-${(number += 1)}`
    const program = await programIn(serving.url, environment)
    const client = await clientOf(transport(environment), mode)
    try {
      await work(client, program)
    } finally {
      await client.client.close()
    }
  }

  const ways = [
    ['over HTTP in 2026-07-28', overHttp, 'auto'],
    ['over HTTP in 2025-11-25', overHttp, 'legacy'],
    ['on stdio in 2026-07-28', overStdio, 'auto'],
    ['on stdio in 2025-11-25', overStdio, 'legacy'],
  ] as const

  describe.each(ways)('%s', (_, transport, mode) => {
    it('lists its tools in fewer than 8,000 bytes, each with whether it only reads', async () => {
      await withClient(transport, mode, async ({ client }) => {
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toEqual(NAMES)
        expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual(READ)
        expect(tools.every(({ annotations }) => typeof annotations?.readOnlyHint === 'boolean')).toBe(true)
        expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(8000)
        expect(client.getInstructions()).toContain('environment mcp-')
      })
    })

    it('shows a request that failed, and why', async () => {
      await withClient(transport, mode, async ({ ask }, program) => {
        const failed = await program('/execute_tool', { ...ADA, tool_name: 'mail_send_message', tool_input: {} })
        const list = await ask('list_requests', { status: '4*' })
        expect(list).toContain(`Next: explain_request with an id, such as ${failed.id}.`)
        expect(list.split('\n').at(-1)).toMatch(
          new RegExp(`^${failed.id} 2026-01-31T12.* POST execute_tool ${failed.status} `),
        )
        expect(await ask('explain_request', { id: failed.id })).toContain('execute_tool')
      })
    })

    it('approves a link, changes the account and takes everything back', async () => {
      await withClient(transport, mode, async ({ ask }, program) => {
        await ask('snapshot', { action: 'save', name: 'before' })
        const { body } = await program('/connected_accounts/magic_link', ADA)
        const { link } = body as { link: string }
        expect(await ask('list_links')).toContain(
          `${link.split('/').at(-1) ?? ''} mail ada@example.com until 2026-01-31T`,
        )
        expect(await ask('complete_link', { link, decision: 'approve' })).toContain('Next: the program verifies')
        expect(await ask('list_links')).toContain('No link can be followed.')
        expect(await ask('list_accounts', { status: 'ACTIVE' })).toMatch(/\n\S+ mail ada@example\.com ACTIVE/)
        const event = { account: ADA.identifier, event: 'disconnect' }
        expect(await ask('account_event', event)).toContain('mail ada@example.com DISCONNECTED')
        expect(await ask('snapshot', { action: 'list' })).toContain('\nbefore 2026-01-31T')
        await ask('snapshot', { action: 'restore', name: 'before' })
        expect(await ask('list_accounts')).not.toContain(ADA.identifier)
        await ask('snapshot', { action: 'delete', name: 'before' })
        expect(await ask('reset')).toContain('back at the seed')
      })
    })

    it('moves the clock', async () => {
      await withClient(transport, mode, async ({ ask }) => {
        expect(await ask('set_clock', { now: '2026-02-01T00:00:00Z', frozen: true })).toContain(
          '2026-02-01T00:00:00.000Z, frozen',
        )
        expect(await ask('set_clock', { advance: '90s' })).toContain('2026-02-01T00:01:30.000Z')
        expect(await ask('set_clock')).toContain('2026-02-01T00:01:30.000Z, frozen')
      })
    })

    it('starts and stops a scenario, and judges the program', async () => {
      await withClient(transport, mode, async ({ ask }, program) => {
        expect(await ask('contract_verdict')).toMatch(/nothing was judged: 1 request, for a token/)
        expect(await ask('list_scenarios')).toContain('\ntoken-dies-mid-run: ')
        expect(await ask('start_scenario', { name: 'token-dies-mid-run' })).toContain('(runs')
        expect(await ask('stop_scenario', { name: 'token-dies-mid-run' })).toContain('(stopped)')
        const { id } = await program('/execute_tool', ADA)
        const verdict = await ask('contract_verdict')
        expect(verdict).toMatch(/^the verdict failed: 2 requests, /)
        expect(verdict).toMatch(new RegExp(`- violation: execute_tool: tool_name .* \\[${id}\\]`))
      })
    })

    it('answers a refusal as a result that says what is wrong', async () => {
      await withClient(transport, mode, async ({ result }) => {
        const expected = [
          ['explain_request', { id: 'req_none' }, 'the request journal has no request "req_none"'],
          ['start_scenario', { name: 'none' }, 'none'],
          ['account_event', { account: 'nobody', event: 'expire' }, 'nobody'],
          ['account_event', { account: 'nobody', event: 'explode' }, 'event: Invalid option: expected one of'],
          ['set_clock', { advance: 'soon' }, '`advance`'],
          ['set_clock', { when: 'soon' }, 'no argument "when"; allowed: advance, now, frozen'],
          ['snapshot', { action: 'save' }, '`name` is required'],
          ['list_requests', { operation: 'no_such' }, 'no_such'],
        ] as const
        for (const [name, args, message] of expected) {
          const { text, isError } = await result(name, args)
          expect({ name, isError, text }).toEqual({
            name,
            isError: true,
            text: expect.stringContaining(message) as string,
          })
        }
      })
    })
  })

  it('no answer has more than 20 kB', async () => {
    await withClient(overHttp, 'auto', async ({ result }, program) => {
      const identifier = '"é'.repeat(250)
      for (let at = 0; at < 120; at++) await program(`/${identifier}`, {})
      for (let at = 0; at < 120; at++)
        await program('/connected_accounts', { connector: 'mail', identifier: `${at}${identifier}` })
      for (const name of ['list_requests', 'list_accounts', 'contract_verdict']) {
        const { bytes, text } = await result(name, name === 'contract_verdict' ? {} : { limit: 200 })
        expect(bytes, name).toBeLessThanOrEqual(20_000)
        if (name !== 'contract_verdict') expect(text, name).toMatch(/\d+ more lines left out; ask for less\.$/)
      }
      const { bytes } = await result('list_accounts', { ['x'.repeat(100_000)]: 1 })
      expect(bytes).toBeLessThan(1000)
    })
  })

  it('an environment that is not there is named', async () => {
    const client = await clientOf(overStdio('none'))
    const { text, isError } = await client.result('list_accounts')
    expect([isError, text]).toEqual([true, expect.stringContaining('there is no environment "none"')])
    await client.client.close()
  })
})

it('toolmock mcp starts a server of its own without an address, which list_requests names', async () => {
  const { client, ask } = await clientOf(onStdio(['mcp']))
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await ask('list_requests')) ?? []
  expect(await ask('contract_verdict')).toMatch(/^nothing to judge/)
  expect((await fetch(`${url}/api/v1/connections`)).status).toBe(401)
  expect(await ask('list_requests')).toMatch(/GET list_connections 401/)
  await client.close()
  await expect(fetch(url)).rejects.toThrow()
})

it('toolmock mcp starts that server with the mock of the configuration file', async () => {
  const config = toolmock.path('mcp.config.json')
  writeFileSync(config, '{"clock": "2026-01-31", "freeze": true, "state": "state-of-mcp.json"}')
  const { client, ask } = await clientOf(onStdio(['mcp', '--config', config]))
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await ask('list_requests')) ?? []
  expect(await (await fetch(`${url}/_mock/clock`)).json()).toMatchObject({
    now: '2026-01-31T00:00:00.000Z',
    frozen: true,
  })
  await client.close()
  expect(existsSync(toolmock.path('state-of-mcp.json'))).toBe(false)
})

it('toolmock mcp passes the admin token on, and says when the server takes another', async () => {
  const serving = await toolmock.start(['--in-memory', '--admin-token', 'secret-1'])
  const clientWith = (TOOLMOCK_ADMIN_TOKEN: string) =>
    clientOf(onStdio(['mcp'], { TOOLMOCK_URL: serving.url, TOOLMOCK_ADMIN_TOKEN }))
  const right = await clientWith('secret-1')
  expect(await right.ask('list_accounts')).toContain('Next: ')
  const wrong = await clientWith('secret-2')
  expect(await wrong.result('list_accounts')).toMatchObject({
    isError: true,
    text: `${serving.url} takes another admin token than the one of --admin-token or TOOLMOCK_ADMIN_TOKEN`,
  })
  await Promise.all([right.client.close(), wrong.client.close(), serving.stop()])
})

it('toolmock mcp serves its client while the server is away, and works once it is back', async () => {
  const serving = await toolmock.start(['--in-memory'])
  const { client, result } = await clientOf(onStdio(['mcp', '--url', serving.url]))
  await serving.stop()
  expect(await result('list_accounts')).toMatchObject({
    isError: true,
    text: expect.stringContaining('npx toolmock start') as string,
  })
  await toolmock.start(['--in-memory'], { TOOLMOCK_PORT: new URL(serving.url).port }).then(async (again) => {
    expect(await result('list_accounts')).toMatchObject({ isError: false })
    await again.stop()
  })
  await client.close()
})

it('toolmock mcp writes nothing but messages to stdout, whatever is sent, and ends with its client', async () => {
  const { command, args, cwd, env } = toolmock.command(['mcp'], { TOOLMOCK_LOG_LEVL: 'debug' })
  const child = spawn(command, args, { cwd, env })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const message = (method: string, id?: number, params: object = {}): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  const answered = new Promise<void>((resolve) => {
    reader.on('line', (text) => {
      lines.push(text)
      if (text.includes('"id":9')) resolve()
    })
  })
  const clientInfo = { name: 'test', version: '1' }
  child.stdin.write(message('initialize', 1, { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }))
  child.stdin.write('{broken\n\n[]\n"text"\n{"jsonrpc":"1.0"}\n')
  child.stdin.write(`${'['.repeat(100_000)}\n`)
  child.stdin.write(message('notifications/initialized'))
  child.stdin.write(message('no/such', 2))
  child.stdin.write(message('tools/call', 3, { name: 'no_such' }))
  child.stdin.write(message('tools/call', 9, { name: 'list_requests', arguments: { limit: 1 } }))
  await answered
  child.stdin.end()
  expect(await once(child, 'close')).toEqual([0, null])
  const messages = lines.map((text) => JSON.parse(text) as { jsonrpc: string; id: number })
  expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
  expect(messages.map(({ id }) => id).sort()).toEqual([1, 2, 3, 9])
})

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

it('POST /_mock/mcp admits whom the control API admits', async () => {
  await withControl({}, async ({ http }) => {
    const send = () => http('post', '/_mock/mcp')
    expect((await send().send(list)).status).toBe(200)
    const foreign = await send().set('Origin', 'https://evil.example').send(list)
    expectControlError(foreign, 403, 'ORIGIN_REFUSED')
    const rebound = await send().set('Host', 'evil.example').send(list)
    expectControlError(rebound, 403, 'HOST_REFUSED')
  })
  await withControl({ adminToken: 'secret' }, async ({ http }) => {
    const send = (token: string) => http('post', '/_mock/mcp').set('Authorization', `Bearer ${token}`).send(list)
    const refused = await send('other')
    expectControlError(refused, 401, 'ADMIN_TOKEN_REQUIRED')
    expect((await send('secret')).status).toBe(200)
  })
})

it('POST /_mock/mcp refuses what is no message, changes nothing and goes on', async ({ mock: { http, call } }) => {
  const before = (await call('get', '/state')).body as unknown
  const send = (text: string, type = 'application/json') =>
    http('post', '/_mock/mcp').set('Content-Type', type).send(text)
  expect((await send('{broken')).status).toBe(400)
  expect((await send('')).status).toBe(400)
  expect((await send('[]')).status).toBe(400)
  expect((await send('"text"')).status).toBe(400)
  expect((await send('['.repeat(1_000_000) + ']'.repeat(1_000_000))).status).toBe(400)
  const nested = (levels: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"deep":${'['.repeat(levels - 3)}${']'.repeat(levels - 3)}}}}`
  expect((await send(nested(200))).status).toBe(200)
  expect((await send(nested(201))).status).toBe(400)
  const long = (bytes: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"long":"${'x'.repeat(bytes)}"}}}`
  expect((await send(long(6_000_000))).status).toBe(200)
  expect((await send(long(64 * 1024 * 1024))).status).toBe(413)
  expect((await send(`[${'1,'.repeat(250_000)}1]`)).status).toBe(413)
  expect((await send('jsonrpc: 2.0', 'application/yaml')).status).toBe(415)
  expect((await send(JSON.stringify(list), 'text/plain')).status).toBe(415)
  expect((await http('get', '/_mock/mcp')).status).toBe(405)
  expect((await http('delete', '/_mock/mcp')).status).toBe(405)
  expect((await http('post', '/_mock/mcp?environment=none').send(list)).status).toBe(404)
  expect((await call('get', '/state')).body).toEqual(before)
  expect((await call('post', '/mcp', list)).status).toBe(200)
})

it('POST /_mock/mcp refuses a stream that would stay open', async ({ mock: { http } }) => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { notifications: { toolsListChanged: true }, _meta }
  const answer = await http('post', '/_mock/mcp')
    .set('MCP-Protocol-Version', '2026-07-28')
    .set('Mcp-Method', 'subscriptions/listen')
    .send({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
  expect(answer.text).toContain('Subscription limit reached')
})
