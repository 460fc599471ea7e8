import { expect, it } from 'vitest'
import type { App } from '../../../src/app/app.ts'
import { lineFacts, requestJson, requestLine } from '../../../src/app/cli/request-line.ts'
import { findingText } from '../../../src/model/domain/finding.ts'
import { InstantCache } from '../../../src/model/domain/instant.ts'
import { xmlText } from '../../../src/model/domain/junit.ts'
import { oneLine } from '../../../src/model/domain/text.ts'
import { connect } from '../../../src/index.ts'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import { explainEntry } from '../../../src/journal/request-journal/explain.ts'
import { timelineEntry, entryView } from '../../../src/journal/request-journal/view.ts'
import { TestRun } from '../../../src/app/runners/test-runs.ts'
import { verdictOf } from '../../../src/journal/verdict/verdict.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { type McpMock, withMcp } from '../../servers/mcp/fixture.ts'
import { clientOf, type RpcMock, scenario, withRpc } from '../../servers/rpc/fixture.ts'
import { ADA, createActive } from '../../support/accounts.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { contractOf, control, coverageOf, rendered, RULE_429 } from './reports.ts'

type Ask = (mock: TestToolmock) => Promise<unknown>

const MESSAGE = { to: 'grace@example.com', subject: 'Hello' }
const get =
  (path: string, query = ''): Ask =>
  ({ api }) =>
    api.get(path, query)
const post =
  (path: string, body: object): Ask =>
  ({ api }) =>
    api.post(path, body)
const create = (more: object): Ask => post('/connected_accounts', { connector: 'mail', identifier: 'zoe', ...more })
const link = (body: object): Ask => post('/connected_accounts/magic_link', body)
const execute = (more: object): Ask =>
  post('/execute_tool', { ...ADA, tool_name: 'mail_send_message', tool_input: MESSAGE, ...more })
const token =
  (form: object): Ask =>
  ({ http }) =>
    http('post', '/oauth/token').type('form').send(form)
const raw =
  (text: string, type = 'application/json'): Ask =>
  async (mock) => {
    const bearer = await mock.signIn()
    const request = mock.http('post', '/api/v1/connected_accounts').set('Authorization', `Bearer ${bearer}`)
    await request.set('Content-Type', type).send(text)
  }
const proxy =
  (headers: Record<string, string>): Ask =>
  async (mock) => {
    const bearer = await mock.signIn()
    await mock.http('get', '/proxy/v1/messages').set('Authorization', `Bearer ${bearer}`).set(headers)
  }
const limited: Ask = async (mock) => {
  await control(mock, 'put', '/scenarios/limited', RULE_429)
  await control(mock, 'post', '/scenarios/limited/start')
  await execute({ tool_name: 'mail_send_mesage' })(mock)
}

/** Each request, with what its findings say: kind, code and sentence; a part of a sentence where it is long. */
const TABLE: [title: string, ask: Ask, ...findings: string[]][] = [
  ['a request that keeps the contract', get('/connections')],
  ['an account that is not there', get('/connected_accounts/details', 'id=nobody')],
  ['a wrong secret', token({ grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'x' })],
  ['a duplicate', post('/connected_accounts', ADA)],
  ['an unknown token', ({ http }) => http('get', '/api/v1/connections').set('Authorization', 'Bearer stale')],
  ['a browser', ({ http }) => http('get', '/favicon.ico')],
  ['no token', ({ http }) => http('get', '/api/v1/connections'), 'violation required Authorization is required'],
  [
    'another scheme',
    ({ http }) => http('get', '/api/v1/connections').set('Authorization', 'Basic YTpi'),
    'violation scheme Authorization must be Bearer',
  ],
  ['a missing field', post('/connected_accounts', { connector: 'mail' }), 'violation required identifier is required'],
  ['a wrong type', create({ identifier: 4 }), 'violation type identifier must be a string; found 4'],
  ['two of them', create({ identifier: 4, user_id: 5 }), 'violation type', 'violation type'],
  ['a blank text', create({ identifier: ' ' }), 'violation pattern identifier must not be blank; found " "'],
  ['a number out of range', get('/connected_accounts', 'page_size=101'), 'violation maximum page_size must be at most'],
  ['no number', get('/connected_accounts', 'page_size=ten'), 'violation type page_size must be an integer'],
  ['a repeated parameter', get('/connected_accounts', 'connector=a&connector=b'), 'violation repeated connector'],
  ['no page token', get('/connected_accounts', 'page_token=zzz'), 'violation page_token page_token must be'],
  [
    'bad encoding',
    get('/connected_accounts', 'identifier=%zz'),
    'violation encoding identifier must be percent-encoded',
  ],
  ['no JSON', raw('{"connector":'), 'violation json body must be valid JSON'],
  ['no object', raw('[1]'), 'violation json_object body must be a JSON object; found an array'],
  ['another content type', raw('{}', 'text/plain'), 'violation content_type Content-Type must be application/json'],
  ['no locator', post('/execute_tool', { tool_name: 'mail_send_message' }), 'violation required', 'violation required'],
  [
    'a field that is nearly right, for which another is missing',
    execute({ identifier: undefined, identifer: 'ada@example.com' }),
    'violation unknown identifer is not a field of execute_tool: did you mean identifier?',
  ],
  [
    'a parameter that is nearly right',
    get('/connected_accounts', 'pageSize=5'),
    'violation unknown pageSize is no query parameter of list_connected_accounts: did you mean page_size?',
  ],
  [
    'a tool that is nearly right',
    execute({ tool_name: 'mail_send_mesage' }),
    'violation near_miss tool_name names no tool; found "mail_send_mesage": did you mean mail_send_message?',
  ],
  [
    'a connector that is nearly right',
    get('/connected_accounts', 'connector=mial'),
    'violation near_miss connector names no connector; found "mial": did you mean mail?',
  ],
  [
    'an input that is nearly right',
    execute({ tool_input: { to: 'grace@example.com', Subject: 'x' } }),
    'violation unknown tool_input.Subject',
  ],
  ['a wrong input of a tool', execute({ tool_input: { ...MESSAGE, to: 5 } }), 'violation type tool_input.to must be'],
  [
    'an unknown connector',
    link({ connector: 'nope', identifier: 'ada' }),
    'violation known_connector connector must be',
  ],
  [
    'an address that is none',
    link({ ...ADA, user_verify_url: 'ftp://x' }),
    'violation http_url user_verify_url must be',
  ],
  [
    'a header of the proxy that is nearly right',
    proxy({ 'connection-name': 'mail', identifier: 'ada' }),
    'violation unknown connection-name names no account: did you mean connection_name?',
  ],
  [
    'a path that is nearly served',
    get('/conected_accounts'),
    'violation unknown_path GET /api/v1/conected_accounts is not served: did you mean GET /api/v1/connected_accounts?',
  ],
  ['a path that is not served', get('/zzzzzzzzzzzz'), 'violation unknown_path GET /api/v1/zzzzzzzzzzzz is not served'],
  [
    'another method',
    ({ http }) => http('patch', '/api/v1/connections'),
    'violation unknown_path PATCH /api/v1/connections is served, but not with this method',
  ],
  ['another grant', token({ grant_type: 'password' }), 'violation enum grant_type must be client_credentials'],
  ['a name that nothing reads', create({ colour: 'red' }), 'warning unread colour is not a field of create_connected'],
  [
    'an output-only field',
    create({ connector: 'mail', connected_account: { status: 'ACTIVE' } }),
    'warning output_only connected_account.status is ignored',
  ],
  ['an alias', execute({ tool_input: undefined, params: MESSAGE }), 'warning alias params is another name'],
  ['a value without effect', execute({ tool_input: { ...MESSAGE, zz: 1 } }), 'warning ignored tool_input.zz'],
  [
    'an identifier in another case',
    get('/connected_accounts', 'identifier=ADA@example.com'),
    'warning similar_identifier identifier differs from the known "ada@example.com"',
  ],
  [
    'a name that nothing reads in a refused request',
    create({ identifier: 4, colour: 1 }),
    'violation type',
    'warning unread',
  ],
  ['an answer of a scenario', limited, 'violation near_miss tool_name names no tool'],
]

type AskByRpc = (mock: RpcMock) => Promise<unknown>

const list =
  (fields: object, headers?: object): AskByRpc =>
  (mock) =>
    clientOf(ConnectedAccounts, mock).listAccounts(fields, { headers: { ...mock.headers, ...headers } })
const listWith =
  (fault: object): AskByRpc =>
  async (mock) => {
    await scenario(mock, { at: 'service', do: [fault], off_spec: true })
    await list({})(mock)
  }
const createByRpc =
  (fields: object): AskByRpc =>
  (mock) =>
    clientOf(ConnectedAccounts, mock).createAccount(fields, { headers: mock.headers })

const BY_GRPC: [title: string, ask: AskByRpc, ...findings: string[]][] = [
  ['a call that keeps the contract', list({})],
  ['an unknown token', list({}, { authorization: 'Bearer stale' })],
  ['another scheme', list({}, { authorization: 'Basic YTpi' }), 'violation scheme Authorization must be Bearer'],
  ['a missing field', createByRpc({ connector: 'mail' }), 'violation required identifier is required'],
  ['a number out of range', list({ pageSize: 1000 }), 'violation maximum page_size must be at most 100'],
  ['a connector that is nearly right', list({ connector: 'mial' }), 'violation near_miss connector names no connector'],
  [
    'a method that the mock does not serve',
    (mock) => clientOf(ConnectedAccounts, mock).archiveAccount({}, { headers: mock.headers }),
    'violation unknown_path acme.tools.v1.ConnectedAccounts/ArchiveAccount ',
  ],
  ['an answer of a scenario', listWith({ respond: { status: 429 } })],
  ['a connection that a scenario resets', listWith({ reset_connection: {} })],
  ['an answer that a scenario cuts', listWith({ truncate_body: { bytes: 4 } })],
]

type AskByMcp = (mock: McpMock) => Promise<unknown>

interface McpCall {
  readonly name?: string
  readonly input?: object
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}
const callTool =
  ({ name = 'mail_send_message', input = MESSAGE, path = 'connections/mail', headers, body }: McpCall): AskByMcp =>
  async ({ url, token }) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
    const general = { Authorization: `Bearer ${token}`, Identifier: ADA.identifier, 'Content-Type': 'application/json' }
    await fetch(`${url}/mcp/v3/${path}`, {
      method: 'POST',
      headers: { ...general, Accept: 'application/json, text/event-stream', ...headers },
      body: body ?? JSON.stringify(call),
    }).then((answer) => answer.text())
  }
const callWith =
  (fault: object): AskByMcp =>
  async (mock) => {
    await scenario(mock, { at: 'service', on: { operation: 'execute_tool' }, do: [fault], off_spec: true })
    await callTool({})(mock)
  }

const BY_MCP: [title: string, ask: AskByMcp, ...findings: string[]][] = [
  ['a call that keeps the contract', callTool({})],
  ['an unknown token', callTool({ headers: { Authorization: 'Bearer stale' } })],
  ['no user', callTool({ headers: { Identifier: '' } }), 'violation required identifier is required'],
  ['a wrong input', callTool({ input: { ...MESSAGE, to: 5 } }), 'violation type tool_input.to must be'],
  [
    'an input that is nearly right',
    callTool({ input: { to: 'a@b.c', Subject: 'x' } }),
    'violation unknown tool_input.Subject',
  ],
  ['an input without effect', callTool({ input: { ...MESSAGE, zz: 1 } }), 'warning ignored tool_input.zz'],
  [
    'a server that is nearly there',
    callTool({ path: 'connections/mial' }),
    'violation unknown_path POST /mcp/v3/connections/mial is not served',
  ],
  ['a body that nests too deeply', callTool({ body: '['.repeat(300) })],
  ['an answer of a scenario', callWith({ respond: { status: 429 } })],
  ['a connection that a scenario resets', callWith({ reset_connection: {} })],
  ['a token that a scenario revokes', callWith({ revoke_bearer_tokens: {} })],
]

/** Tells the latest request in every way, and holds the tellers against each other. */
async function expectOneStory(app: App, run: TestRun, expected: readonly string[]): Promise<void> {
  const environment = app.services.defaultEnvironment()!
  const journal = app.services.journals.of(environment)
  const entry = journal.entries().findLast(({ kind }) => kind === 'request')!
  const { findings } = entryView(entry)
  expect(findings).toHaveLength(expected.length)
  for (const [at, finding] of findings.entries()) {
    expect(`${finding.kind} ${finding.code} ${findingText(finding)}`).toContain(expected[at])
    expect(finding.basis).toMatch(/^(document|convention|choice)/)
  }
  const words = findings.map((finding) => `${finding.kind}: ${findingText(finding)}`)

  const facts = lineFacts(entry, new InstantCache())
  const line = requestLine(facts, undefined)
  const plain = words.map((each) => oneLine(each, 240))
  expect(line.slice(line.indexOf(' ') + 1).startsWith(plain.join(' '))).toBe(true)
  if (words.length > 0) expect(line.endsWith(` ${entry.id}`)).toBe(true)
  expect((JSON.parse(requestJson(facts)) as { findings?: unknown }).findings ?? []).toEqual(findings)
  const marks = timelineEntry(entry, 1).marks.filter((mark) => mark === 'violation' || mark === 'warning')
  expect(marks).toEqual([...new Set(findings.map(({ kind }) => kind))])

  const explanation = explainEntry(journal, entry.id, environment)!
  expect(explanation.findings).toEqual(findings)
  for (const finding of findings) expect(explanation.text).toContain(findingText(finding))
  expect(explanation.cause.length).toBeGreaterThan(0)

  const block = (await run.end(true)) ?? ''
  expect(block.includes(explanation.text)).toBe(findings.length > 0 || entry.status >= 400)

  const { body } = (await control({ app }, 'get', `/requests/${entry.id}`)) as { body: { request: EntryDocument } }
  expect(body.request.findings.map((finding) => `${finding.kind}: ${findingText(finding)}`)).toEqual(words)

  const [contract, coverage] = [await contractOf({ app }), await coverageOf({ app })]
  expect(contract.total.findings.map(({ request, ...finding }) => [request, findingText(finding)])).toEqual(
    findings.map((finding) => [entry.id, findingText(finding)]),
  )
  const { reasons, warnings } = verdictOf({ contract, coverage })
  const sentences = [...reasons, ...warnings].map(({ kind, sentence }) => `${kind}: ${sentence}`)
  const { text: junit } = await rendered({ app }, 'junit')
  const { text: sarif } = await rendered({ app }, 'sarif')
  const results = (JSON.parse(sarif) as { runs: [{ results: { message: { text: string } }[] }] }).runs[0].results
  expect([sentences.length, results.length]).toEqual([findings.length, findings.length])
  for (const [at, finding] of findings.entries()) {
    const text = findingText(finding)
    expect(sentences[at]).toMatch(new RegExp(`^${finding.kind}: `))
    expect(sentences[at]).toContain(text)
    expect(results[at]?.message.text).toContain(text)
    expect(junit).toContain(xmlText(text).slice(0, 60))
  }
}

/** A test of a runner with the default environment, so that its block is about the same requests. */
async function beginTest(url: string, { client: { id, secret } }: App): Promise<TestRun> {
  const toolmock = await connect(url, { clientId: id, clientSecret: secret })
  return TestRun.begin(toolmock, { scope: 'worker' }, { label: 'a test' })
}

/** Of refused requests alone the verdict would be that nothing was judged. */
async function beginRecord(app: App, url: string, token: string): Promise<void> {
  await control({ app }, 'delete', '/contract')
  await fetch(`${url}/api/v1/connections`, { headers: { Authorization: `Bearer ${token}` } })
}

it.each(TABLE)('of %s', async (_title, ask, ...expected) => {
  await withToolmock({}, async (mock) => {
    const { url } = await mock.app.listen({ host: '127.0.0.1', port: 0 })
    const run = await beginTest(url, mock.app)
    await createActive(mock)
    await beginRecord(mock.app, url, await mock.signIn())
    await ask(mock)
    await expectOneStory(mock.app, run, expected)
  })
})

it.each(BY_GRPC)('of %s by gRPC', async (_title, ask, ...expected) => {
  await withRpc({}, async (mock) => {
    const run = await beginTest(mock.url, mock.app)
    await beginRecord(mock.app, mock.url, mock.token)
    await ask(mock).catch(() => undefined)
    await expectOneStory(mock.app, run, expected)
  })
})

it.each(BY_MCP)('of %s by MCP', async (_title, ask, ...expected) => {
  await withMcp({}, async (mock) => {
    const run = await beginTest(mock.url, mock.app)
    const connected_account = { authorization_details: { oauth_token: { access_token: 'at', refresh_token: 'rt' } } }
    await mock.call('POST', '/connected_accounts', { ...ADA, connected_account })
    await beginRecord(mock.app, mock.url, mock.token)
    await ask(mock).catch(() => undefined)
    await expectOneStory(mock.app, run, expected)
  })
})
