import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ToolmockProgram } from './toolmock-process.ts'

const toolmock = ToolmockProgram.forThisFile()

/** Sends messages for ada until one fails permanently, and prints the statuses. */
const CLIENT = `
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const { access_token } = await (await fetch(url + '/oauth/token', { method: 'POST', body: form })).json()
  const headers = { Authorization: 'Bearer ' + access_token, 'Content-Type': 'application/json' }
  const ada = { connector: 'mail', identifier: 'ada@example.com' }
  const message = { ...ada, tool_name: 'mail_send_message', tool_input: { to: 'grace@example.com', subject: 'Hello' } }
  const statuses = []
  for (let call = 0; call < 5; call += 1) {
    const answer = await fetch(url + '/api/v1/execute_tool', { method: 'POST', headers, body: JSON.stringify(message) })
    statuses.push(answer.status)
  }
  console.log(statuses.join(' '))
`
/** Calls a tool by MCP and prints the status. */
const MCP_CLIENT = `
  const { TOOLMOCK_URL: url, TOOLMOCK_CLIENT_ID: client_id, TOOLMOCK_CLIENT_SECRET: client_secret } = process.env
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const { access_token } = await (await fetch(url + '/oauth/token', { method: 'POST', body: form })).json()
  const headers = {
    Authorization: 'Bearer ' + access_token,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    identifier: 'ada@example.com',
  }
  const params = { name: 'mail_list_messages', arguments: {} }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  console.log((await fetch(url + '/mcp/v3/connections/mail', { method: 'POST', headers, body })).status)
`
const ADA = { connector: 'mail', identifier: 'ada@example.com' }

function written(name: string, content: string): string {
  writeFileSync(toolmock.path(name), content)
  return toolmock.path(name)
}

it('creates a scenario and a seed from the journal of a run, with which a second run has the same statuses', async () => {
  const client = written('client.mjs', CLIENT)
  const seed = written('ada.json', JSON.stringify({ accounts: [ADA] }))
  const run = (...args: string[]) => toolmock.run(['run', ...args, '--', process.execPath, client])
  const failing = await run(
    '--seed',
    'bundled',
    '--seed',
    seed,
    '--scenario',
    'token-dies-mid-run',
    '--journal',
    'j.jsonl',
  )
  expect(failing.stdout.trim()).toBe('200 200 400 400 400')
  const made = await toolmock.run(['scenario', 'from', 'j.jsonl', '--out', 'replays'])
  expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  const [, command = ''] = /^npx toolmock run (.*) -- CMD$/m.exec(made.stdout) ?? []
  const replayed = await run(...command.split(' '))
  expect(replayed.stdout).toBe(failing.stdout)
  expect(replayed.stderr).not.toMatch(/never fired/)
  expect(readdirSync(toolmock.path('replays'))).toHaveLength(2)
  const checked = await toolmock.run([
    'validate',
    ...readdirSync(toolmock.path('replays')).map((name) => `replays/${name}`),
    'bundled',
  ])
  expect(checked.stdout + checked.stderr).not.toMatch(/:\d+:\d+/)
})

it('names --mcp in the command for a run whose client called by MCP', async () => {
  const client = written('mcp-client.mjs', MCP_CLIENT)
  const run = (...args: string[]) => toolmock.run(['run', ...args, '--', process.execPath, client])
  const first = await run('--mcp', '--scenario', 'rate-limited', '--journal', 'mcp.jsonl')
  expect(first.stdout.trim()).toBe('200')
  const made = await toolmock.run(['scenario', 'from', 'mcp.jsonl', '--out', 'mcp-replays'])
  const [, command = ''] = /^npx toolmock run (.*) -- CMD$/m.exec(made.stdout) ?? []
  expect((await run(...command.split(' '))).stdout).toBe(first.stdout)
})

it('reads the journal of a running server', async () => {
  const seed = written('live.json', JSON.stringify({ accounts: [ADA] }))
  const server = await toolmock.start([
    '--in-memory',
    '--seed',
    'bundled',
    '--seed',
    seed,
    '--scenario',
    'rate-limited',
  ])
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'test_client',
    client_secret: 'test_secret',
  })
  const token = await fetch(`${server.url}/oauth/token`, { method: 'POST', body: form })
  const id = token.headers.get('x-request-id')!
  const made = await toolmock.run(['scenario', 'from', id, '--json', '--url', server.url])
  expect(JSON.parse(made.stdout)).toMatchObject({
    scenario: { name: `replay-${id.replaceAll('_', '-')}` },
    notes: [],
  })
  const unknown = await toolmock.run(['scenario', 'from', 'req_none', '--url', server.url])
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no request "req_none"') })
  await server.stop()
})

it.each([
  ['a file that is missing', ['from', './none.jsonl'], 2, /the journal file \.\/none\.jsonl cannot be read \(ENOENT\)/],
  ['a file that is no journal', ['from', 'other.json'], 2, /other\.json:1: expected an entry of a request journal/],
  ['nothing', ['from'], 2, /scenario from takes one JOURNAL_OR_REQUEST_ID/],
  ['--request with another action', ['list', '--request', 'req_1'], 2, /--request goes with scenario from/],
])('refuses %s', async (_what, args, code, message) => {
  written('other.json', '{"some": "thing"}\n')
  const ended = await toolmock.run(['scenario', ...args])
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) })
  expect(readFileSync(toolmock.path('other.json'), 'utf8')).toBe('{"some": "thing"}\n')
})

it('fails and lists the environments when there are several', async () => {
  const entry = { real_at: '2026-01-01T00:00:00.000Z', account_state: null, id: 'req_1', kind: 'request' }
  const lines = ['one', 'two'].map((environment) => JSON.stringify({ ...entry, environment }))
  written('two.jsonl', `${lines.join('\n')}\n`)
  const ended = await toolmock.run(['scenario', 'from', 'two.jsonl'])
  expect(ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the journal has 2 environments: one, two'),
  })
})
