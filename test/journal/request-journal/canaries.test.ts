import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBinaryHeader } from '@connectrpc/connect'
import { expect, it } from 'vitest'
import { COMMAND_NAMES, type CommandName } from '../../../src/app/cli/command-table.ts'
import { RequestLog } from '../../../src/app/cli/request-log.ts'
import { CONTROL_ROUTES } from '../../../src/model/contract/generated/control-routes.ts'
import type { ControlOperation } from '../../../src/servers/control/input.ts'
import type { JsonValue } from '../../../src/model/domain/json.ts'
import type { StoredEntry } from '../../../src/journal/request-journal/entry.ts'
import { explainEntry } from '../../../src/journal/request-journal/explain.ts'
import { entryEvents } from '../../../src/journal/request-journal/journal.ts'
import { requestText } from '../../../src/journal/request-journal/view.ts'
import { CONTRACT_FORMATS, COVERAGE_FORMATS } from '../../../src/journal/verdict/formats/formats.ts'
import { type ControlMock, withControl } from '../../servers/control/control-mock.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, failure, withRpc } from '../../servers/rpc/fixture.ts'

/** No other text of any output contains these. */
const CANARY = 'canary7f3'
const NUMBER = 918_273_645_546_372

/** A secret in every type of value that can contain one. */
const VALUES: readonly JsonValue[] = [
  CANARY,
  `Bearer ${CANARY}`,
  NUMBER,
  [CANARY],
  [[NUMBER]],
  { inner: CANARY },
  { inner: { list: [{ deep: CANARY }, NUMBER] } },
]

/** Fields whose value is a secret, and other spellings that clients may use. */
const SECRET_FIELDS = [
  'access_token',
  'accessToken',
  'Access-Token',
  'refresh_token',
  'client_secret',
  'secret_access_key',
  'session_token',
  'access_key_id',
  'api_key',
  'password',
  'authorization',
  'Authorization',
  'Proxy-Authorization',
  'X-Api-Key',
  'cookie',
  'Set-Cookie',
  'bearer',
  'sessionid',
  'signing_key',
]

/** Texts with a secret, which are values of fields that are none. */
const TEXTS = [
  `https://ada:${CANARY}@app.example/done`,
  `https://${CANARY}@app.example/done`,
  `postgres://ada:p/${CANARY}@db.example:5432/app`,
  ...['token', 'access_token', 'key', 'auth'].map((name) => `https://app.example/done?a=b&${name}=${CANARY},x&c=d`),
  `https://app.example/done#access_token=${CANARY}`,
  `https://app.example/done?next=${encodeURIComponent(`https://a:${CANARY}@b.example/?token=${CANARY}`)}`,
  `see https://ada:${CANARY}@app.example/done, please`,
  `ftp://ada:${CANARY}@app.example/${'long'.repeat(30)}`,
  `access_token=${CANARY},x&scope=a`,
  `Bearer ${CANARY}`,
]

/** Objects that contain secrets. Some clients send the secret itself in place of the object. */
const SECRET_OBJECTS = ['oauth_token', 'static_auth', 'workspace_dwd', 'trusted_idp', 'details']

function bodies(value: JsonValue): JsonValue[] {
  const details = (authorization_details: JsonValue): JsonValue => ({ connected_account: { authorization_details } })
  const config = (api_config: JsonValue): JsonValue => ({ connected_account: { api_config } })
  const named = Object.fromEntries(SECRET_FIELDS.map((name) => [name, value]))
  return [
    named,
    { connected_account: named },
    details(named),
    details({ oauth_token: named }),
    details({ workspace_dwd: named }),
    details({ trusted_idp: named }),
    config(named),
    config({ headers: named }),
    config({ headers: SECRET_FIELDS.map((name) => ({ name, value })) }),
    { tool_name: 'mail_send_message', tool_input: named },
    { tool_name: 'mail_send_message', tool_input: { headers: named } },
    { metadata: named },
    { auth_patterns: [named] },
    ...SECRET_OBJECTS.flatMap((name) => [details({ [name]: value }), { [name]: value }]),
    details({ static_auth: { details: { anything: value } } }),
    details({ static_auth: { anything: value } }),
    details(value),
  ]
}

/** A connector whose third party answers secrets in texts of no media type, and a tool for each. */
const TALKATIVE = {
  connector: 'talkative',
  authorization_type: 'NO_AUTH',
  tools: TEXTS.map((_text, at) => ({ name: `talk_${at}`, call: { method: 'GET', path: `/talk/${at}` } })),
  responders: TEXTS.flatMap((text, at) => [
    { on: { method: 'GET', path: `/talk/${at}` }, respond: { status: at % 2 === 0 ? 422 : 200, body: text } },
  ]),
}

/** A scenario that answers with secrets. */
const TELLING = {
  name: 'telling',
  description: 'Answers contain secrets.',
  rules: [
    {
      name: 'tell',
      at: 'service',
      on: { operation: 'list_connections' },
      do: [
        { respond: { status: 503, message: `Bearer ${CANARY}`, headers: { 'X-Api-Key': CANARY, 'X-Link': TEXTS[0] } } },
      ],
    },
  ],
}

/** Texts where the service and the control API take them. */
async function texts({ http, api, call, token }: ControlMock, look: (text: string) => void): Promise<void> {
  const bearer = await token('test_client', 'test_secret')
  const mail = { connector: 'mail', identifier: 'ada@example.com' }
  await call('put', '/connectors/talkative', TALKATIVE)
  await call('put', '/scenarios/telling', TELLING)
  await api(bearer, 'post', '/connected_accounts', { connector: 'talkative', identifier: 'ada@example.com' })
  for (const [at, text] of TEXTS.entries()) {
    await api(bearer, 'post', '/execute_tool', {
      ...{ connector: 'talkative', identifier: 'ada@example.com', tool_name: `talk_${at}` },
      tool_input: { note: text, nested: [text] },
    })
    await api(bearer, 'post', '/connected_accounts/magic_link', { ...mail, user_verify_url: text, state: 's' })
    await api(bearer, 'post', '/custom-providers', { display_name: `p${at}`, proxy_url: text, description: text })
    await api(bearer, 'post', '/custom-providers', {
      display_name: `q${at}`,
      proxy_url: [text],
      metadata: { note: text },
    })
    await api(bearer, 'put', '/connected_accounts', {
      ...mail,
      connected_account: { api_config: { base: text, [text]: 1 } },
    })
    await api(bearer, 'get', `/connected_accounts?page_size=${encodeURIComponent(text)}`)
    await api(bearer, 'get', `/connected_accounts?connector=${encodeURIComponent(text)}`)
    await api(bearer, 'post', '/execute_tool', { ...mail, tool_name: text })
    await api(bearer, 'post', '/connected_accounts', {
      connector: text,
      identifier: 'x',
      connected_account: { authorization_type: text },
    })
    await http('get', '/api/v1/connections')
      .set('Authorization', `Bearer ${String(bearer)}`)
      .set('X-Note', text)
    await http('get', '/api/v1/connections').set('X-Creds-Bin', Buffer.from(`a:${CANARY}`).toString('base64'))
    const config = {
      base: text,
      bearer: CANARY,
      sessionid: CANARY,
      signing_key: CANARY,
      dsn: `ada:${CANARY}@tcp(db)/app`,
    }
    await api(bearer, 'put', '/connected_accounts', { ...mail, connected_account: { api_config: config } })
    for (const path of [
      '/seed',
      '/validate',
      '/connectors/x',
      '/scenarios/x',
      '/clock',
      '/environments',
      '/requests/verify',
    ])
      for (const body of [
        { accounts: [{ ...mail, status: text }] },
        { now: text },
        { connector: text },
        { match: { status: text } },
      ])
        look((await http(path === '/clock' || path.endsWith('x') ? 'put' : 'post', `/_mock${path}`).send(body)).text)
    for (const name of ['status', 'since', 'operation', 'other'])
      look((await http('get', `/_mock/requests?${name}=${encodeURIComponent(text)}`)).text)
    look((await http('get', `/_mock/accounts?status=${encodeURIComponent(text)}`)).text)
  }
  await call('put', '/snapshots/before')
  await api(bearer, 'post', '/connected_accounts', {
    connector: 'crm',
    identifier: 'late@example.com',
    connected_account: { api_config: { bearer: CANARY } },
  })
  await call('post', '/scenarios/telling/start')
  await api(bearer, 'get', '/connections')
  await call('post', '/scenarios/telling/stop')
  const types = ['connected_account.deleted']
  await call('put', '/webhooks/app', {
    url: `http://127.0.0.1:9/hooks?key=${CANARY}`,
    secret: `whsec_${CANARY}0000000`.slice(0, 18),
    types,
  })
  await call('post', '/webhook-events', { type: types[0] })
  await call('post', '/requests/wait', { match: { kind: 'webhook' } })
  for (const secret of [CANARY, `whsec_${CANARY}`, { whsec: CANARY }])
    look((await http('put', '/_mock/webhooks/app').send({ url: `http://ada:${CANARY}@127.0.0.1/`, secret })).text)
}

const OPERATIONS = [
  ['put', '/connected_accounts'],
  ['post', '/connected_accounts'],
  ['post', '/custom-providers'],
  ['post', '/execute_tool'],
] as const

async function everywhere({ http, api, token }: ControlMock): Promise<void> {
  const bearer = await token('test_client', 'test_secret')
  const who = { connector: 'mail', identifier: 'ada@example.com' }
  for (const value of VALUES)
    for (const body of bodies(value))
      for (const [method, path] of OPERATIONS) await api(bearer, method, path, { ...who, ...(body as object) })
  const send = (path: string, type: string, text: string) =>
    http('post', path)
      .set('Authorization', `Bearer ${String(bearer)}`)
      .set('Content-Type', type)
      .send(text)
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  for (const name of SECRET_FIELDS) {
    const pair = `${encodeURIComponent(name)}=${CANARY}`
    for (const path of ['/oauth/token', '/api/v1/connected_accounts']) {
      for (const type of [json, form]) {
        await send(path, type, `grant_type=client_credentials&${pair}&client_id=a`)
        await send(
          path,
          type,
          `grant_type=client_credentials&${name.replaceAll('_', '%5F')}=${CANARY}&${name}=${CANARY}`,
        )
        await send(path, type, JSON.stringify({ grant_type: 'client_credentials', [name]: CANARY }))
        await send(path, type, JSON.stringify({ nested: { [name]: { inner: CANARY } } }))
        await send(path, type, JSON.stringify({ [name]: [CANARY, NUMBER] }))
        await send(path, type, `{"${name}": "${CANARY}"`)
        await send(path, type, `{"${name}": ["${CANARY}", {"a": "${CANARY}"`)
        await send(path, type, `${name}: ${CANARY}\n`)
        await send(path, type, `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${CANARY}\r\n--x--`)
        await send(path, type, `<r><${name}>${CANARY}</${name}></r>`)
      }
    }
    for (const path of ['', '/auth', '/details', ':search', '/unknown'])
      for (const query of [pair, `${pair}&${pair}`, `query=abc&${name.replaceAll('_', '%5F')}=${CANARY}`])
        await api(bearer, 'get', `/connected_accounts${path}?${query}`)
    await http('get', '/api/v1/connections').set(name, CANARY)
    await http('get', '/api/v1/connections').set(name, `Basic ${CANARY}`)
    await http('get', '/api/v1/connections')
      .set('Authorization', `Bearer ${String(bearer)}`)
      .set(name.replace(/^Authorization$/i, 'X-Authorization'), CANARY)
    await http('get', `/magic/unknown?${pair}`)
    await send('/magic/unknown', form, pair)
  }
  for (const header of [
    CANARY,
    `Bearer ${CANARY} more`,
    `Token ${CANARY}`,
    `Basic ${Buffer.from(`a:${CANARY}`).toString('base64')}`,
    `Bearer  ${CANARY}`,
  ])
    for (const path of ['/api/v1/connections', '/oauth/token', '/unknown'])
      await http('post', path).set('Authorization', header)
  await http('post', '/oauth/token').type('form').send({ grant_type: 'other', client_id: 'a', client_secret: CANARY })
  await http('post', '/oauth/token')
    .type('form')
    .send(`grant_type=client_credentials&client_id=a&client_secret=${CANARY}&client_secret=${CANARY}`)
}

/** Every occurrence of a canary in a text, with the characters around it. */
function found(text: string): string[] {
  const encoded = Buffer.from(`a:${CANARY}`).toString('base64')
  return [CANARY, String(NUMBER), encoded].flatMap((secret) =>
    text
      .split(secret)
      .slice(0, -1)
      .map((before) => `${before.slice(-120)}${secret}`),
  )
}

/** Why an operation of the control API is not looked at, or the path that is read, in which `{account}` and `{request}` are ids. */
type ControlOutput = { readonly reads: string } | { readonly left: string }

const CHANGES = { left: 'it answers what it was told to do; its entry in the journal is looked at' }
const DESIGN = { left: 'it gives what programs need to go on: credentials and the model as they are' }
const READ_BACK = { left: 'it gives a document or an item back as it was put' }

/** Every operation: the compiler asks for one that is new. */
const CONTROL_OUTPUTS: Readonly<Record<ControlOperation, ControlOutput>> = {
  get_health: { reads: '/health' },
  get_ready: { reads: '/ready' },
  get_replicas: { reads: '/replicas' },
  get_version: { reads: '/version' },
  get_openapi: { reads: '/openapi' },
  shutdown: CHANGES,
  get_env: DESIGN,
  list_environments: { reads: '/environments' },
  create_environment: DESIGN,
  delete_environment: CHANGES,
  get_state: DESIGN,
  put_state: CHANGES,
  checkpoint_state: CHANGES,
  get_state_diff: { reads: '/state/diff?snapshot=before' },
  reset: CHANGES,
  add_seed: CHANGES,
  list_connectors: { reads: '/connectors' },
  put_connector: CHANGES,
  put_extension: CHANGES,
  list_collections: { reads: '/collections' },
  get_collection: READ_BACK,
  put_collection: CHANGES,
  list_third_parties: { reads: '/third-parties' },
  list_snapshots: { reads: '/snapshots' },
  take_snapshot: CHANGES,
  delete_snapshot: CHANGES,
  restore_snapshot: CHANGES,
  get_clock: { reads: '/clock' },
  put_clock: CHANGES,
  list_due: { reads: '/clock/due' },
  list_accounts: { reads: '/accounts' },
  get_account: { reads: '/accounts/{account}' },
  try_tool: { left: 'it gives the answer of the tool to its caller' },
  account_event: { reads: '/accounts/{account}/expire_access_token' },
  create_connection: CHANGES,
  delete_connection: CHANGES,
  connection_event: CHANGES,
  list_scenarios: { reads: '/scenarios' },
  clear_scenarios: CHANGES,
  get_scenario: READ_BACK,
  put_scenario: CHANGES,
  start_scenario: CHANGES,
  stop_scenario: CHANGES,
  validate_document: CHANGES,
  list_requests: { reads: '/requests?limit=10000' },
  clear_requests: CHANGES,
  restore_requests: CHANGES,
  count_requests: CHANGES,
  verify_requests: { reads: '/requests/verify' },
  wait_for_requests: { reads: '/requests/wait' },
  get_request: { reads: '/requests/{request}' },
  explain_request: { reads: '/requests/{request}/explain' },
  export_scenario: { reads: '/requests/{request}/scenario' },
  stream_events: { reads: 'the events, as they come' },
  stream_timeline: { reads: 'the timeline, as it is' },
  list_webhooks: { reads: '/webhooks' },
  put_webhook: CHANGES,
  delete_webhook: CHANGES,
  send_event: CHANGES,
  resend_event: CHANGES,
  list_links: DESIGN,
  create_link: DESIGN,
  complete_link: DESIGN,
  get_contract: { reads: '/contract' },
  clear_contract: CHANGES,
  get_coverage: { reads: '/coverage' },
  call_mcp: { reads: '/mcp' },
}

/** The operations whose answers a command prints, or why it prints nothing of a server: the compiler asks for a new command. */
const COMMAND_OUTPUTS: Readonly<Record<CommandName, readonly ControlOperation[] | { readonly left: string }>> = {
  start: { left: 'its lines for requests are stdout above' },
  stop: { left: 'it prints an address' },
  env: { left: 'it prints the connection variables, the client secret among them' },
  run: ['get_contract', 'get_coverage'],
  validate: { left: 'it reads files of the user' },
  init: { left: 'it writes files that toolmock has' },
  config: { left: 'it prints settings, secrets masked' },
  connector: { left: 'it reads files of the user' },
  state: { left: 'it gives the state file as it is' },
  conform: { left: 'it makes its requests itself' },
  drift: { left: 'it makes its requests itself; test/compare/drift says that it masks what it shows' },
  record: { left: 'it writes files, which test/compare/record/secrets.test.ts searches' },
  report: ['get_contract', 'get_coverage'],
  descriptors: { left: 'it reads files of the user' },
  logs: ['list_requests', 'stream_events'],
  explain: ['explain_request'],
  links: ['list_links', 'create_link', 'complete_link'],
  accounts: ['list_accounts', 'get_account', 'account_event'],
  clock: ['get_clock', 'put_clock', 'list_due'],
  scenario: ['list_scenarios', 'start_scenario', 'stop_scenario', 'export_scenario'],
  snapshot: ['list_snapshots', 'take_snapshot', 'restore_snapshot', 'delete_snapshot'],
  reset: ['reset'],
  webhooks: ['list_webhooks', 'send_event', 'resend_event'],
  mcp: ['call_mcp'],
  healthcheck: ['get_health'],
}

/** Every tool that shows what clients sent. */
const MCP_CALLS = [
  { name: 'list_requests', arguments: { limit: 200 } },
  { name: 'explain_request', arguments: { id: '{request}' } },
  { name: 'list_accounts', arguments: { limit: 200 } },
  { name: 'list_scenarios' },
  { name: 'contract_verdict' },
].map((params, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }))

const BODIES: Readonly<Partial<Record<ControlOperation, object>>> = {
  verify_requests: { match: { operation: 'none*' } },
  wait_for_requests: { match: { operation: 'none*' }, timeout_ms: 0 },
  call_mcp: MCP_CALLS,
}

/** What the operations of the control API answer that show what clients sent. */
async function controlOutputs({ http }: ControlMock): Promise<[string, string][]> {
  const { accounts } = (await http('get', '/_mock/accounts')).body as { accounts: { id: string }[] }
  const { requests } = (await http('get', '/_mock/requests')).body as { requests: { id: string; status: number }[] }
  const request = requests.findLast(({ status }) => status >= 400)?.id ?? ''
  const found: [string, string][] = []
  for (const { operation, method, path } of CONTROL_ROUTES) {
    const output = CONTROL_OUTPUTS[operation]
    if (!('reads' in output) || !output.reads.startsWith('/')) continue
    const formats =
      operation === 'get_contract' ? CONTRACT_FORMATS : operation === 'get_coverage' ? COVERAGE_FORMATS : ['']
    for (const format of formats) {
      for (const account of path.includes('{id}') && output.reads.includes('{account}') ? accounts : [{ id: '' }]) {
        const read = output.reads.replace('{account}', account.id).replace('{request}', request)
        const send = http(method.toLowerCase() as 'get', `/_mock${read}${format === '' ? '' : `?format=${format}`}`)
        const body = BODIES[operation]
        const text = body && JSON.stringify(body).replace('{request}', request)
        const answer = await (text === undefined ? send : send.type('json').send(text))
        found.push([`${operation} ${format}`, answer.text])
      }
    }
  }
  return found
}

it('no output contains a secret that a client sent in any place or form', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-canaries-'))
  const journalFile = join(folder, 'journal.jsonl')
  const lines: string[] = []
  const line = (...fields: unknown[]): void => {
    lines.push(JSON.stringify(fields))
  }
  const log = { error: line, warn: line, info: line, debug: line }
  const leaks = new Map<string, string>()
  const look = (name: string, text: string): void => {
    for (const at of found(text)) if (!leaks.has(name)) leaks.set(name, at)
  }
  const printed = {
    variables: {},
    out: (text: string) => look('stdout', text),
    err: (text: string) => look('stderr', text),
  }
  const stdout = [false, true].map((json) => new RequestLog(printed, { json, withControl: true }))
  try {
    const observeControl = (entry: StoredEntry): void => stdout.forEach((each) => each.observe(entry))
    await withControl({ log, journalFile, journalCapacity: 100_000, observeControl }, async (mock) => {
      const { services } = mock.app
      const environment = services.defaultEnvironment()
      if (!environment) throw new Error('there is no environment')
      const entries = services.journals.of(environment)
      entries.subscribe((entry) => look('stream_events', JSON.stringify(entryEvents(entry))))
      services.journals.observe(observeControl)
      const ada = { connector: 'mail', identifier: 'ada@example.com' }
      await mock.api(await mock.token('test_client', 'test_secret'), 'post', '/connected_accounts', ada)
      await texts(mock, (text) => look('an error of the control API', text))
      await everywhere(mock)
      for (const [name, text] of await controlOutputs(mock)) look(name, text)
      // The stored entries do contain the secrets.
      expect(entries.entries().filter((entry) => found(requestText(entry)).length > 0).length).toBeGreaterThan(500)
      for (const { id } of entries.query({ limit: 100_000 }).filter(({ status }) => status >= 400)) {
        look('explain', JSON.stringify(explainEntry(entries, id, environment)))
      }
      look('stream_timeline', JSON.stringify(entries.timeline(0, 100_000)))
      // What was there before the first request of a journal is exported from the model.
      await mock.call('delete', '/requests')
      await mock.api('none', 'get', '/connections')
      for (const [name, text] of await controlOutputs(mock)) look(`${name} after a clear`, text)
      for (const each of stdout) each.flush()
    })
    look('journal file', readFileSync(journalFile, 'utf8'))
    look('log', lines.join('\n'))
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(Object.fromEntries(leaks)).toEqual({})
})

it('no output contains the metadata of a call of gRPC, binary or not', { timeout: 60_000 }, async () => {
  const secret = encodeBinaryHeader(new TextEncoder().encode(`a:${CANARY}`))
  const metadata = { 'x-creds-bin': secret, 'x-api-key': CANARY, 'x-note': `https://ada:${CANARY}@app.example` }
  const outputs: string[] = []
  const line = (...fields: unknown[]): void => {
    outputs.push(JSON.stringify(fields))
  }
  const print = (text: string): void => {
    outputs.push(text)
  }
  const stdout = new RequestLog({ variables: {}, out: print, err: print }, { json: true, withControl: true })
  await withRpc({ log: { error: line, warn: line, info: line, debug: line } }, async (mock) => {
    mock.app.services.journals.observe((entry) => stdout.observe(entry))
    const client = clientOf(ConnectedAccounts, mock)
    await client.listAccounts({}, { headers: { ...mock.headers, ...metadata } })
    await failure(client.listAccounts({}, { headers: metadata }))
    stdout.flush()
    const list = await (await fetch(`${mock.url}/_mock/requests`)).text()
    const { requests } = JSON.parse(list) as { requests: { id: string; protocol: string }[] }
    expect(requests.filter(({ protocol }) => protocol === 'grpc')).toHaveLength(2)
    outputs.push(list)
    for (const { id } of requests)
      for (const path of [id, `${id}/explain`, `${id}/scenario`])
        outputs.push(await (await fetch(`${mock.url}/_mock/requests/${path}`)).text())
    outputs.push(await (await fetch(`${mock.url}/_mock/contract`)).text())
    const environment = mock.app.services.defaultEnvironment()
    // The stored entries do contain the secrets.
    const stored = environment ? mock.app.services.journals.of(environment).entries() : []
    expect(JSON.stringify(stored.map(({ requestHeaders }) => requestHeaders))).toContain(secret)
  })
  expect(outputs.flatMap((text) => [...found(text), ...(text.includes(secret) ? [secret] : [])])).toEqual([])
})

it('no output contains a session token of MCP or the key that signs it', { timeout: 60_000 }, async () => {
  const outputs: [string, string][] = []
  const line = (...fields: unknown[]): void => {
    outputs.push(['log', JSON.stringify(fields)])
  }
  const print = (text: string): void => {
    outputs.push(['stdout', text])
  }
  const stdout = new RequestLog({ variables: {}, out: print, err: print }, { json: true, withControl: true })
  const secrets: string[] = []
  const log = { error: line, warn: line, info: line, debug: line }
  await withControl({ mcp: true, log }, async (mock) => {
    const { http, api, call, token } = mock
    const environment = mock.app.services.defaultEnvironment()
    if (!environment) throw new Error('there is no environment')
    const entries = mock.app.services.journals.of(environment)
    mock.app.services.journals.observe((entry) => stdout.observe(entry))
    entries.subscribe((entry) => outputs.push(['stream_events', JSON.stringify(entryEvents(entry))]))
    await call('put', '/snapshots/before')
    const bearer = await token('test_client', 'test_secret')
    const minted = await api(bearer, 'post', '/mcp/connections/mail/tokens', { identifier: 'ada@example.com' })
    const session = (minted.body as { token: string }).token
    const [key] = environment.model.tables.mcp_keys.values()
    secrets.push(session.split('.')[2] ?? '', ...(key?.private_key.split('\n').slice(1, -2) ?? []))
    expect(secrets.length).toBeGreaterThan(20)
    for (const path of ['/mcp/v3/connections/mail', '/mcp/v3/connections/weather', '/mcp/v3/servers/none', '/none']) {
      for (const method of ['tools/list', 'tools/call', 'subscriptions/none']) {
        const params = { name: 'mail_list_messages', arguments: {} }
        await http('post', path)
          .set('Authorization', `Bearer ${session}`)
          .set('Accept', 'application/json, text/event-stream')
          .send({ jsonrpc: '2.0', id: 1, method, params })
      }
      await http('post', `${path}?access_token=${session}`).send({ token: session })
    }
    await api(session, 'get', '/connected_accounts')
    await api(bearer, 'post', '/mcp/configs', { name: 'a', token: session, description: `Bearer ${session}` })
    outputs.push(...(await controlOutputs(mock)))
    for (const { id } of entries.query({ limit: 1000 }))
      outputs.push(['explain', JSON.stringify(explainEntry(entries, id, environment))])
    stdout.flush()
    expect(JSON.stringify((await http('get', '/_mock/state/diff?snapshot=before')).body)).toContain(
      '"private_key":"***',
    )
  })
  const leaks = outputs.filter(([, text]) => secrets.some((secret) => text.includes(secret)))
  expect(leaks.map(([name]) => name)).toEqual([])
})

it('every operation of the control API is looked at, or says why not', () => {
  expect(Object.keys(CONTROL_OUTPUTS)).toEqual(CONTROL_ROUTES.map(({ operation }) => operation))
})

it('every command prints what is looked at, or says why not', () => {
  expect(Object.keys(COMMAND_OUTPUTS).sort()).toEqual([...COMMAND_NAMES].sort())
})
