import { describe, expect } from 'vitest'
import { CountedFindings, type FoundIn } from '../../../src/journal/verdict/counted-findings.ts'
import { violation } from '../../../src/journal/request-journal/findings.ts'
import { ADA, createAccount, createActive } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { TWELVE_CONNECTORS, TWELVE_SEEDS } from '../../support/twelve-connectors.ts'
import { contractOf, control, coverageOf, fieldReach, operation, reachOf } from './reports.ts'
import { startScenario } from '../../support/scenario.ts'

type Ask = (mock: TestToolmock) => Promise<unknown>

const DETAILS = 'connected_account.authorization_details'
const LOCATOR = 'is required: send id, or connector and identifier with organization_id or user_id'
const create =
  (more: object): Ask =>
  ({ api }) =>
    api.post('/connected_accounts', { ...ADA, ...more })
const withDetails = (authorization_details: object): Ask => create({ connected_account: { authorization_details } })
const list =
  (query: string): Ask =>
  ({ api }) =>
    api.get('/connected_accounts', query)
const link =
  (body: object): Ask =>
  ({ api }) =>
    api.post('/connected_accounts/magic_link', body)
const execute =
  (more: object): Ask =>
  async (mock) => {
    await createActive(mock)
    await mock.api.post('/execute_tool', { ...ADA, tool_name: 'mail_send_message', ...more })
  }
const raw =
  (text: string, type = 'application/json'): Ask =>
  async (mock) => {
    const token = await mock.signIn()
    const request = mock.http('post', '/api/v1/connected_accounts').set('Authorization', `Bearer ${token}`)
    await request.set('Content-Type', type).send(text)
  }
const token =
  (form: string | object, headers: Record<string, string> = {}): Ask =>
  ({ http }) =>
    http('post', '/oauth/token').type('form').set(headers).send(form)
const GRANT = 'grant_type=client_credentials'
const MESSAGE = { to: 'grace@example.com', subject: 'Hello' }

/** The violations of a request. Asserts that its answer keeps the contract. */
async function violationsOf(mock: TestToolmock, ask: Ask): Promise<(string | null)[][]> {
  await ask(mock)
  const { violations } = (await contractOf(mock)).total
  return violations.map((each) => [`${each.field} ${each.code}`, each.found, each.allowed, each.basis])
}

describe('a violation names path, constraint, value, rule and basis', () => {
  it.each<[string, Ask, string, string | null, string, string]>([
    ['a wrong type', create({ identifier: 4 }), 'identifier type', '4', 'must be a string', 'document:2.1'],
    [
      'a wrong type further in',
      withDetails({ oauth_token: { scopes: 'all' } }),
      `${DETAILS}.oauth_token.scopes type`,
      '"all"',
      'must be an array',
      'document:2.2',
    ],
    [
      'a missing field',
      ({ api }) => api.post('/connected_accounts', { connector: 'mail' }),
      'identifier required',
      null,
      'is required',
      'choice:G52',
    ],
    [
      'a missing field that the document requires',
      ({ api }) => api.post('/connected_accounts/user/verify', { auth_request_id: 'a' }),
      'identifier required',
      null,
      'is required',
      'document:4.7',
    ],
    [
      'an empty one',
      create({ identifier: '' }),
      'identifier minLength',
      'an empty string',
      'must have at least 1 character',
      'choice:G52',
    ],
    ['a blank identifier', create({ identifier: ' ' }), 'identifier pattern', '" "', 'must not be blank', 'choice:G66'],
    [
      'an identifier of another type',
      create({ identifier: 5 }),
      'identifier type',
      '5',
      'must be a string',
      'document:2.1',
    ],
    [
      'letters that no connector has',
      create({ connector: 'müll' }),
      'connector pattern',
      '"müll"',
      'must have no other characters than letters, digits, spaces, _, : and -',
      'choice',
    ],
    [
      'a request to create without a bearer token',
      ({ http }) => http('post', '/api/v1/connected_accounts').send(ADA),
      'Authorization required',
      null,
      'is required',
      'document:5.3',
    ],
    [
      'an empty identifier of the user',
      ({ api }) => api.post('/connected_accounts/user/verify', { auth_request_id: 'a', identifier: '' }),
      'identifier minLength',
      'an empty string',
      'must have at least 1 character',
      'document:4.7',
    ],
    [
      'a type that is not the connector’s',
      create({ connected_account: { authorization_type: 'API_KEY' } }),
      'connected_account.authorization_type authorization_type',
      'API_KEY',
      'must be OAUTH, the type of connector mail',
      'choice:G10',
    ],
    [
      'credentials of another type',
      withDetails({ static_auth: { details: {} } }),
      `${DETAILS}.static_auth authorization_type`,
      'an object',
      'is not allowed: an account of type OAUTH takes oauth_token only',
      'choice:G23',
    ],
    [
      'a name that is too long',
      ({ api }) => api.post('/custom-providers', { display_name: 'x'.repeat(201) }),
      'display_name maxLength',
      `"${'x'.repeat(40)}…" (201 characters)`,
      'must have at most 200 characters',
      'choice:G36',
    ],
    [
      'a key of metadata that is too short',
      ({ api }) => api.post('/custom-providers', { display_name: 'x', metadata: { ab: 'v' } }),
      'metadata.ab minLength',
      'the key "ab" (2 characters)',
      'must have at least 3 characters',
      'document:8',
    ],
    [
      'an address that is none',
      link({ ...ADA, user_verify_url: 'ftp://x' }),
      'user_verify_url http_url',
      '"ftp://x"',
      'must be an absolute http or https URL',
      'choice:G35',
    ],
    [
      'half a locator',
      ({ api }) => api.get('/connected_accounts/details', { connector: 'mail' }),
      'identifier required',
      null,
      LOCATOR,
      'document:4',
    ],
    [
      'a number out of range',
      list('page_size=101'),
      'page_size maximum',
      '101',
      'must be at most 100',
      'convention:G1',
    ],
    [
      'a repeated parameter',
      list('connector=mail&connector=mail'),
      'connector repeated',
      'it 2 times',
      'must be sent once',
      'convention:G5',
    ],
    [
      'parameters that exclude each other',
      list('connector=mail&connection_names=mail'),
      'connection_names exclusive',
      'an array of 1 item',
      'must not be sent beside connector',
      'convention:G1',
    ],
    [
      'a page token that is none',
      list('page_token=zzz'),
      'page_token page_token',
      '"zzz", which is no page token',
      'must be next_page_token or prev_page_token of an answer to the same filters',
      'convention:G4',
    ],
    [
      'a search that is too short',
      ({ api }) => api.get('/connected_accounts:search', { query: ' ab ' }),
      'query minLength',
      '2',
      'must have at least 3 characters after trimming',
      'document:4.9',
    ],
    [
      'an unknown parameter that is close to a known one',
      list('pageSize=5'),
      'pageSize unknown',
      null,
      'is no query parameter of list_connected_accounts',
      'choice:G6',
    ],
    [
      'an unknown field that is close to a known one',
      create({ connected_account: { apiconfig: {} } }),
      'connected_account.apiconfig unknown',
      null,
      'is not a field of create_connected_account',
      'choice:G6',
    ],
    [
      'a search without a text',
      ({ api }) => api.get('/connected_accounts:search', {}),
      'query required',
      null,
      'is required',
      'convention:G3',
    ],
    [
      'an input that the tool does not take',
      execute({ tool_input: { ...MESSAGE, to: 5 } }),
      'tool_input.to type',
      '5',
      'must be a string',
      'convention:G44',
    ],
    [
      'an input under both names',
      execute({ tool_input: MESSAGE, params: {} }),
      'params alias',
      'an object',
      'must be equal to tool_input, which it is another name for; send one of them',
      'convention:G11',
    ],
    ['no JSON', raw('{"connector":'), 'body json', 'other text', 'must be valid JSON', 'convention:G7'],
    ['JSON that is no object', raw('[1]'), 'body json_object', 'an array', 'must be a JSON object', 'convention:G7'],
    [
      'another content type',
      raw('{}', 'text/plain'),
      'Content-Type content_type',
      '"text/plain"',
      'must be application/json in UTF-8',
      'convention:G7',
    ],
    [
      'another grant',
      token('grant_type=password'),
      'grant_type enum',
      '"password"',
      'must be client_credentials',
      'document:5.1',
    ],
    [
      'a token request without a secret',
      token(`${GRANT}&client_id=a`),
      'client_secret required',
      null,
      'is required',
      'convention:G14',
    ],
    [
      'a token request that has a field twice',
      token(`${GRANT}&${GRANT}`),
      'grant_type repeated',
      'it more than once',
      'must be sent once',
      'convention:G14',
    ],
    [
      'a token request that authenticates twice',
      token(`${GRANT}&client_secret=b`, { Authorization: 'Basic YTpi' }),
      'client_secret exclusive',
      'a string',
      'must not be sent beside an Authorization: Basic header',
      'convention:G14',
    ],
    [
      'a token request that is no form',
      ({ http }) => http('post', '/oauth/token').send({ grant_type: 'client_credentials' }),
      'Content-Type content_type',
      '"application/json"',
      'must be application/x-www-form-urlencoded',
      'document:5.1',
    ],
  ])('%s', (_title, ask, ...violation) =>
    withToolmock({}, async (mock) => expect(await violationsOf(mock, ask)).toEqual([violation])),
  )

  it('an unknown connector', async ({ startMock }) => {
    const mock = await startMock({ seeds: TWELVE_SEEDS })
    const allowed = `must be one of ${TWELVE_CONNECTORS.join(', ')}`
    expect(await violationsOf(mock, link({ connector: 'nope', identifier: 'ada' }))).toEqual([
      ['connector known_connector', '"nope"', allowed, 'document:4.6'],
    ])
  })

  it('a body that is too large', async ({ startMock }) => {
    const mock = await startMock({ bodyLimit: 100 })
    await mock.api.post('/connected_accounts', { ...ADA, organization_id: 'x'.repeat(200) })
    expect((await contractOf(mock)).total.violations).toMatchObject([
      { field: 'body', code: 'max_bytes', found: 'more', basis: 'convention:G7' },
    ])
  })

  it('quotes no text of a body that could not be read', async ({ mock }) => {
    await raw('{"access_token": hunter2}')(mock)
    expect(JSON.stringify(await contractOf(mock))).not.toContain('hunter2')
  })

  it('separates different violations of a field, and counts equal ones together', async ({ mock }) => {
    for (const text of ['{', '[]', '{{', '7']) await raw(text)(mock)
    const { violations } = (await contractOf(mock)).total
    expect(violations.map(({ code, count }) => [code, count])).toEqual([
      ['json', 2],
      ['json_object', 2],
    ])
  })
})

it.for<[string, Ask]>([
  ['a link for an account that is gone', link({ id: 'ca_gone' })],
  ['a tool that there is not', execute({ tool_name: 'mail_unknown', tool_input: {} })],
  ['whether the server is up', ({ http }) => Promise.all([http('get', '/'), http('head', '/')])],
])('a request that keeps the contract: %s', async ([_title, ask], { mock }) => {
  await ask(mock)
  expect(await contractOf(mock)).toMatchObject({ ok: true, total: { violations: [] } })
})

it.for<[string, Ask, string]>([
  [
    'a body where none is taken',
    ({ http, signIn }) =>
      signIn().then((bearer) =>
        http('delete', '/api/v1/custom-providers/x').set('Authorization', `Bearer ${bearer}`).send({ a: 1 }),
      ),
    'delete_custom_provider body is ignored: this operation takes no body (document:4.13)',
  ],
  [
    'a database user of a serverless workgroup',
    create({
      connector: 'warehouse',
      connected_account: { authorization_details: { trusted_idp: { db_user: 'u' } } },
    }),
    `create_connected_account ${DETAILS}.trusted_idp.db_user is ignored: connector warehouse is a serverless workgroup, which has no database users (document:2.2)`,
  ],
  [
    'an input that the tool does not read',
    execute({ tool_input: { ...MESSAGE, colour: 'red' } }),
    'execute_tool tool_input.colour is ignored: the tool mail_send_message has no input of that name (document:4.14)',
  ],
])('a request that keeps the contract: %s is worth a warning', async ([_title, ask, expected], { mock }) => {
  await ask(mock)
  const { ok, total } = await contractOf(mock)
  expect(ok).toBe(true)
  const warnings = total.warnings.map(
    ({ operation: name, field, allowed, basis }) => `${name} ${field} ${allowed} (${basis})`,
  )
  expect(warnings).toEqual([expected])
  expect(total.warnings).toMatchObject([{ code: 'ignored' }])
})

describe('an answer that a scenario gave', () => {
  const inject = (mock: TestToolmock, operation: string, respond: object): Promise<void> =>
    startScenario(mock, { on: { operation }, do: [{ respond }] })

  it('is marked as injected, and counts neither as a violation of the client nor of the mock', async ({ mock }) => {
    const body = { connections: [{ id: 7, bogus: true }] }
    await inject(mock, 'list_connections', { status: 200, body })
    await mock.api.get('/connections')
    await inject(mock, 'list_connections', { status: 400, error_code: 'VALIDATION_FAILED' })
    expect((await mock.api.get('/connections')).status).toBe(400)
    const { ok, total } = await contractOf(mock)
    expect(ok).toBe(true)
    expect(total).toMatchObject({ requests: 3, injected: 2, violations: [] })
    const [entry] = (await control(mock, 'get', '/requests?operation=list_connections')).body.requests
    expect(entry).toMatchObject({ injected: true })
  })

  it('drives no coverage, even when it is a success', async ({ mock }) => {
    const provider = { id: 'prv_1', identifier: 'x_1', display_name: 'x' }
    await inject(mock, 'create_custom_provider', { status: 201, body: { provider } })
    await mock.api.post('/custom-providers', { display_name: 'x' })
    const { total } = await coverageOf(mock)
    const made = operation(total, 'create_custom_provider')
    expect(made.reach).toBe('injected_only')
    expect(reachOf(total, 'create_custom_provider', 201)).toBe('injected_only')
    expect(fieldReach(total, 'create_custom_provider', 'request', 'display_name')).toBe('injected_only')
    expect(fieldReach(total, 'create_custom_provider', 'response', 'provider.identifier')).toBe('injected_only')
    const all = [...made.statuses, ...made.request_fields, ...made.response_fields]
    expect(all.filter(({ reach }) => reach === 'driven')).toEqual([])
  })

  it('does not hide a violation of its request', async ({ mock }) => {
    await inject(mock, 'create_connected_account', { status: 500 })
    await mock.api.post('/connected_accounts', { ...ADA, identifier: 7 })
    await mock.api.post('/connected_accounts', { ...ADA, colour: 'red' })
    const { total } = await contractOf(mock)
    expect(total.violations).toMatchObject([{ field: 'identifier', code: 'type' }])
    expect(total.warnings).toMatchObject([{ field: 'colour', code: 'unread' }])
  })
})

describe('response fields', () => {
  it('are driven by values that a client can use: an empty text or list does not count', async ({ mock }) => {
    const next = async () =>
      fieldReach((await coverageOf(mock)).total, 'list_connected_accounts', 'response', 'next_page_token')
    await mock.api.get('/connected_accounts')
    expect(await next()).toBe('never')
    await createAccount(mock)
    await createAccount(mock, { connector: 'mail', identifier: 'grace@example.com' })
    await mock.api.get('/connected_accounts', { page_size: 1 })
    expect(await next()).toBe('driven')
  })
})

const at = (field: string) =>
  violation({ operation: 'o', code: 'required', field, found: null, allowed: 'is required' })
const entry = (parts: Partial<FoundIn>): FoundIn => {
  const known = { id: 'r', environment: 'default', method: 'GET', url: '/x', at: 0, requestBody: '', test: undefined }
  return { ...known, ...parts }
}

describe('findings', () => {
  it.each([
    ['page_size', 'page_size=101&user_id=u', undefined, '?page_size=101'],
    ['client_secret', 'client_secret=hidden', undefined, /^\?client_secret=\*\*\*\w{4}$/],
    ['to', '', { subject: 'Hi', to: 7 }, '{"to":7,"subject":"Hi"}'],
    [
      'tool_input.to',
      '',
      { tool_name: 't', tool_input: { subject: 'Hi', to: 7 } },
      'tool_input: {"to":7,"subject":"Hi"}',
    ],
    ['tool_input.to', '', { tool_name: 't', tool_input: { subject: 'Hi' } }, 'tool_input: {"subject":"Hi"}'],
    ['rows[1].id', '', { rows: [{ id: 1 }, { id: 'x' }] }, 'rows.1: {"id":"x"}'],
    ['a.details.pin', '', { a: { details: { pin: '1234' } } }, /^a\.details: \{"pin":"\*\*\*\w{4}"\}$/],
    ['missing', '', { big: 'x'.repeat(500) }, /^\{"big":"x{152}…$/],
    ['body', '', 'not json', ''],
    ['Authorization', '', undefined, ''],
  ])('show what was sent at %s, secrets masked', (path, query, body, excerpt) => {
    const findings = new CountedFindings()
    findings.add(at(path), entry({ url: `/x?${query}`, requestBody: body === undefined ? '' : JSON.stringify(body) }))
    const [found] = findings.list()
    expect(found?.requests).toEqual([
      {
        id: 'r',
        environment: 'default',
        method: 'GET',
        path: '/x',
        at: '1970-01-01T00:00:00.000Z',
        excerpt: typeof excerpt === 'string' ? excerpt : expect.stringMatching(excerpt),
      },
    ])
  })

  it('are kept up to a thousand different ones of a code, and twenty requests of each; the others are counted', () => {
    const findings = new CountedFindings()
    for (let nth = 0; nth < 1003; nth += 1) findings.add(at(`/${nth}`), entry({ id: `req_${nth}` }))
    for (let nth = 0; nth < 50; nth += 1) findings.add(at('/0'), entry({ id: `again_${nth}` }))
    findings.add({ ...at('/0'), code: 'type' }, entry({}))
    const [first, ...others] = findings.list()
    expect([first?.count, first?.requests.length, others.length + 1, findings.leftOut]).toEqual([51, 20, 1001, 3])
  })
})
