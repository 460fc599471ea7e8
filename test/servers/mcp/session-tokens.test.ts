import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect } from 'vitest'
import { it, type McpMock, MODERN, textsOf, withMcp } from './fixture.ts'
import { startScenario } from '../../support/scenario.ts'

const ADA = { identifier: 'ada@example.com' }
const MESSAGE = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }
const MAIL = '/mcp/v3/connections/mail'
const TWO = [
  { connection_name: 'mail', tools: ['mail_send_message', 'mail_list_messages'] },
  { connection_name: 'weather' },
]

interface Minted {
  readonly token: string
  readonly expires_at: string
}
interface Config {
  readonly id: string
  readonly mcp_server_url: string
}
interface Refusal {
  readonly code: number
  readonly message: string
  readonly details: [{ error_code: string }]
}

/** A token for the server of the connection `mail`. */
function mint({ call }: McpMock, body: object = {}): Promise<Minted> {
  return call<Minted>('POST', '/mcp/connections/mail/tokens', { ...ADA, ...body })
}

/** A token for `mail` of a new environment. */
async function mintElsewhere({ call, url }: McpMock): Promise<{ environment: string; token: string }> {
  const made = await call<{ name: string; client_id: string; client_secret: string }>('POST', '/_mock/environments', {})
  const { client_id, client_secret } = made
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const signedIn = await fetch(`${url}/oauth/token`, { method: 'POST', body })
  const { access_token } = (await signedIn.json()) as { access_token: string }
  const minted = await fetch(`${url}/api/v1/mcp/connections/mail/tokens`, {
    method: 'POST',
    headers: { ...bearer(access_token), 'Content-Type': 'application/json' },
    body: JSON.stringify(ADA),
  })
  return { environment: made.name, ...((await minted.json()) as Minted) }
}

/** A config of `mail` and `weather`, and the path of its server; its user has an account at both. */
async function twoConnected(mock: McpMock, mappings: object[] = TWO): Promise<Config & { path: string }> {
  const { call, url } = mock
  await connectWeather(mock)
  const { config } = await call<{ config: Config }>('POST', '/mcp/configs', {
    name: 'agent',
    connection_tool_mappings: mappings,
  })
  return { ...config, path: config.mcp_server_url.slice(url.length) }
}

async function connectWeather({ call }: McpMock): Promise<string> {
  const authorization_details = { static_auth: { details: { api_key: 'key_1' } } }
  const body = { connector: 'weather', ...ADA, connected_account: { authorization_details } }
  const { connected_account } = await call<{ connected_account: { id: string } }>('POST', '/connected_accounts', body)
  return connected_account.id
}

function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` }
}

/** The status of a request to a server, and why it is refused. */
async function listed({ url }: McpMock, token: string, path = MAIL): Promise<[number, string]> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: {
      ...bearer(token),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  const body = await answer.text()
  return [answer.status, answer.status === 200 ? '' : (JSON.parse(body) as Refusal).message]
}

function parts(token: string): [header: Record<string, unknown>, claims: Record<string, unknown>, signature: string] {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  return [read(header), read(claims), signature]
}

function encoded(...parts: object[]): string {
  return parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}

const CONTROL = '/_mock'

describe('a session token of a connection', () => {
  it('names its user and its server, and calls tools as that user', async ({ mock }) => {
    const { url, connect, journal } = mock
    const before = Math.floor(Date.now() / 1000)
    const { token, expires_at } = await mint(mock)
    const [header, claims] = parts(token)
    expect(header).toEqual({ alg: 'RS256', kid: expect.any(String), typ: 'JWT' })
    const [account] = [...mock.app.services.defaultEnvironment()!.model.tables.accounts.values()]
    expect(claims).toEqual({
      iss: url,
      sub: ADA.identifier,
      aud: [`${url}${MAIL}`],
      iat: expect.any(Number),
      exp: (claims['iat'] as number) + 3600,
      token_type: 'mcp_session',
      access_level: 'FULL',
      ca_ids: [account!.id],
      conn_id: account!.connection_id,
    })
    expect(claims['iat']).toBeGreaterThanOrEqual(before)
    expect(Date.parse(expires_at)).toBe((claims['exp'] as number) * 1000)
    const client = await connect({ headers: bearer(token), options: MODERN })
    const result = await client.callTool(MESSAGE)
    expect(result.structuredContent).toHaveProperty('message_id')
    expect((await journal('operation=execute_tool'))[0]).toMatchObject({ status: 200, account: account!.id })
  })

  it('makes a pending account where there is none, whose calls then have a link', async ({ mock }) => {
    const { call, connect } = mock
    for (const name of ['mail', 'MAIL']) {
      const { token } = await call<Minted>('POST', `/mcp/connections/${name}/tokens`, {
        identifier: 'new@example.com',
      })
      const [error, link] = textsOf(await (await connect({ headers: bearer(token) })).callTool(MESSAGE))
      expect(JSON.parse(error ?? '')).toMatchObject({ details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
      expect(link).toContain('/magic/')
    }
    const accounts = await call<{ connected_accounts: object[] }>(
      'GET',
      '/connected_accounts?identifier=new@example.com',
    )
    expect(accounts.connected_accounts).toMatchObject([{ status: 'PENDING_AUTH' }])
  })

  it('is refused for a connection that is unknown, disabled or unfinished', async ({ startMock }) => {
    const mock = await startMock({ seeds: ['bundled'] })
    const { call, app } = mock
    const refusal = async (name: string) =>
      (await call<Refusal>('POST', `/mcp/connections/${name}/tokens`, ADA)).details[0].error_code
    expect(await refusal('mial')).toBe('CONNECTION_NOT_FOUND')
    const { model } = app.services.defaultEnvironment()!
    const mail = [...model.tables.connections.values()].find(({ key_id }) => key_id === 'mail')!
    for (const change of [{ enabled: false }, { status: 'IN_PROGRESS' as const }]) {
      model.transact(() => model.tables.connections.put({ ...mail, ...change }))
      expect(await refusal('mail')).toBe('CONNECTION_NOT_FOUND')
    }
  })

  it.for([
    [{ expiry: '60s' }, 60],
    [{ expiry: '90.5s' }, 90],
    [{ expiry: '86400s' }, 86_400],
    [{ access_level: '', expiry: null }, 3600],
  ])('with %o lives so many seconds', async ([body, seconds], { mock }) => {
    const [, { iat, exp }] = parts((await mint(mock, body)).token)
    expect((exp as number) - (iat as number)).toBe(seconds)
  })

  it.for([
    { expiry: '59s' },
    { expiry: '86401s' },
    { expiry: '1h' },
    { expiry: '' },
    { expiry: 3600 },
    { access_level: 'read_only' },
    { identifier: '' },
    { identifier: 'x'.repeat(256) },
    { mcp_config_id: 'cfg_1' },
    { key_id: 'mail' },
  ])('is refused with %o', async (body, { mock }) => {
    expect(await mint(mock, body)).toMatchObject({ code: 3, details: [{ error_code: 'VALIDATION_FAILED' }] })
    expect(mock.app.services.defaultEnvironment()?.model.tables.mcp_keys.size).toBe(0)
  })

  it.for([
    [{ identifier: ' ' }, 'identifier must not be blank; found " "'],
    [{ expiry: '1h' }, 'expiry must be seconds such as 3600s; found "1h"'],
  ])('says what is allowed when it is refused with %o', async ([body, message], { mock }) => {
    expect(await mint(mock, body)).toMatchObject({ message })
  })

  it('lists only what is annotated as read-only when it is READ_ONLY, and refuses the rest', async ({ mock }) => {
    const { token } = await mint(mock, { access_level: 'READ_ONLY' })
    const client = await mock.connect({ headers: bearer(token) })
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(0)
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
    const all = (await (await mock.connect()).listTools()).tools
    expect(all.length).toBeGreaterThan(tools.length)
    expect((await client.callTool({ name: tools[0]!.name, arguments: {} })).isError).toBeUndefined()
    const refused = await client.callTool(MESSAGE)
    expect(JSON.parse(textsOf(refused)[0] ?? '')).toMatchObject({
      message: expect.stringContaining('"mail_send_message" for a READ_ONLY session token; it has mail_list') as string,
      details: [{ error_code: 'TOOL_NOT_FOUND' }],
    })
    const [entry] = (await mock.journal('operation=execute_tool')).slice(-1)
    expect(entry).toMatchObject({ status: 404, tool: MESSAGE.name })
  })

  it('is checked with the public keys of /keys, and every environment has one of its own', async ({ mock }) => {
    const { url, call } = mock
    const keys = async () => ((await (await fetch(`${url}/keys`)).json()) as { keys: Record<string, string>[] }).keys
    expect(await keys()).toEqual([])
    const [{ token: first }, { token: second }] = await Promise.all([mint(mock), mint(mock)])
    expect(parts(first)[0]).toEqual(parts(second)[0])
    const [key, ...others] = await keys()
    expect(others).toEqual([])
    expect(key).toEqual({
      ...{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: parts(first)[0]['kid'] },
      ...{ n: expect.any(String), e: 'AQAB' },
    })
    expect(createPublicKey({ key: key!, format: 'jwk' }).asymmetricKeyType).toBe('rsa')
    const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as object
    expect(metadata).toMatchObject({ jwks_uri: `${url}/keys` })
    await call('POST', `${CONTROL}/reset`, {})
    expect(await keys()).toEqual([])
  })

  it('has keys that are not served without --mcp', async ({ startMock }) => {
    const { url } = await startMock({ mcp: false })
    const answer = await fetch(`${url}/keys`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('without --mcp') })
  })
})

describe('a session token of a config', () => {
  it('calls the tools of its connections, in the order of the mappings', async ({ mock }) => {
    const config = await twoConnected(mock)
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${config.id}/tokens`, ADA)
    const [, claims] = parts(token)
    expect(claims).toMatchObject({ aud: [config.mcp_server_url], mcp_cfg: config.id })
    expect(claims['ca_ids']).toHaveLength(2)
    const client = await mock.connect({ path: config.path, headers: bearer(token) })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    expect(names.slice(0, 3)).toEqual(['mail_send_message', 'mail_list_messages', expect.stringMatching(/^weather_/)])
    expect((await client.callTool(MESSAGE)).structuredContent).toHaveProperty('message_id')
    const hidden = await client.callTool({ name: 'mail_search_messages', arguments: { query: 'a' } })
    expect(JSON.parse(textsOf(hidden)[0] ?? '')).toMatchObject({ details: [{ error_code: 'TOOL_NOT_FOUND' }] })
    const metadata = await fetch(`${mock.url}/.well-known/oauth-protected-resource${config.path}`)
    expect(await metadata.json()).toMatchObject({ resource: config.mcp_server_url })
  })

  it('calls its tools with an access token and an identifier too', async ({ mock }) => {
    const { path } = await twoConnected(mock)
    const client = await mock.connect({ path })
    expect((await client.callTool(MESSAGE)).structuredContent).toHaveProperty('message_id')
  })

  it('is refused while a connection lacks an ACTIVE account, and without connections', async ({ mock }) => {
    const { call } = mock
    const create = async (name: string, connection_tool_mappings: object[]) =>
      (await call<{ config: Config }>('POST', '/mcp/configs', { name, connection_tool_mappings })).config
    const two = await create('two', TWO)
    const refusal = await call<Refusal>('POST', `/mcp/configs/${two.id}/tokens`, ADA)
    expect(refusal).toMatchObject({ code: 9, details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
    expect(refusal.message).toContain('weather (no account)')
    expect(refusal.message).not.toContain('mail (')
    const none = await create('none', [])
    const empty = await call<Refusal>('POST', `/mcp/configs/${none.id}/tokens`, ADA)
    expect(empty).toMatchObject({ code: 9, message: expect.stringContaining('has no connections') })
  })

  it('leaves out the second of two tools with one name', async () => {
    const tool = (description: string) => ({ name: 'search', description, call: { method: 'GET', path: '/search' } })
    const connector = (name: string) => ({
      connector: name,
      display_name: name,
      authorization_type: 'NO_AUTH',
      tools: [tool(name)],
      responders: [{ on: { method: 'GET', path: '/search' }, respond: { body: { from: name } } }],
    })
    await withMcp({}, async (mock) => {
      const { call, url } = mock
      for (const name of ['first', 'second']) {
        const text = JSON.stringify(connector(name))
        await fetch(`${url}/_mock/connectors/${name}`, {
          method: 'PUT',
          headers: { 'Content-Type': 'application/json' },
          body: text,
        })
        await call('POST', '/connected_accounts', { connector: name, ...ADA })
      }
      const mappings = ['second', 'first'].map((connection_name) => ({ connection_name }))
      const { id, path } = await twoConnected(mock, mappings)
      const { token } = await call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
      const client = await mock.connect({ path, headers: bearer(token) })
      expect((await client.listTools()).tools).toMatchObject([{ name: 'search', description: 'second' }])
      const result = await client.callTool({ name: 'search', arguments: {} })
      expect(result.structuredContent).toEqual({ from: 'second' })
    })
  })

  it('hears on an open stream that the mappings have changed, until its config is deleted', async ({ mock }) => {
    const { id, path } = await twoConnected(mock)
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    let tell: (names: string[]) => void = () => undefined
    const changed = new Promise<string[]>((resolve) => (tell = resolve))
    const onChanged = (_: unknown, tools: { name: string }[] | null) => tell((tools ?? []).map(({ name }) => name))
    const options = { ...MODERN, listChanged: { tools: { onChanged } } }
    const client = await mock.connect({ path, headers: bearer(token), options })
    const connection_tool_mappings = [{ connection_name: 'mail', tools: ['mail_list_messages'] }]
    await mock.call('PUT', `/mcp/configs/${id}`, { connection_tool_mappings })
    expect(await changed).toEqual(['mail_list_messages'])
    const listening = await client.listen({ toolsListChanged: true })
    await mock.call('DELETE', `/mcp/configs/${id}`)
    await listening.closed
  })

  it('ends with its config, or with an account that it names, also after a state was loaded', async ({ mock }) => {
    const { id, path } = await twoConnected(mock)
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    const { token: ofMail } = await mint(mock)
    const streams = [
      await mock.connect({ path, headers: bearer(token), options: MODERN }),
      await mock.connect({ path: MAIL, headers: bearer(ofMail), options: MODERN }),
    ]
    const listening = await Promise.all(streams.map((client) => client.listen({ toolsListChanged: true })))
    const state = await mock.call<object>('GET', '/_mock/state')
    await mock.call('PUT', '/_mock/state', state)
    await mock.call('DELETE', `/mcp/configs/${id}`)
    await listening[0]?.closed
    await mock.call('POST', '/connected_accounts:delete', { connector: 'mail', ...ADA })
    await listening[1]?.closed
  })

  it('runs the tools of a connection that its config has got since with the account of its user', async ({ mock }) => {
    const { id, path } = await twoConnected(mock, [TWO[0]!])
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    await mock.call('PUT', `/mcp/configs/${id}`, { connection_tool_mappings: TWO })
    const client = await mock.connect({ path, headers: bearer(token) })
    const weather = (await client.listTools()).tools.find(({ name }) => name.startsWith('weather_'))
    const result = await client.callTool({ name: weather?.name ?? '', arguments: { city: 'Berlin' } })
    expect(textsOf(result)[0]).not.toContain('ACCOUNT_NOT_FOUND')
    expect((await mock.journal('operation=execute_tool')).at(-1)).toMatchObject({
      account_state: { connector: 'weather' },
    })
  })
})

describe('the flow of a user who has connected one of two connections', () => {
  it('goes from the creation of the config to a call of a tool', async ({ mock }) => {
    const { call, connect, url } = mock
    const mappings = [{ connection_name: 'mail' }, { connection_name: 'weather' }]
    const { config } = await call<{ config: Config }>('POST', '/mcp/configs', {
      name: 'agent',
      connection_tool_mappings: mappings,
    })
    const found = await call<{ configs: Config[] }>('GET', '/mcp/configs?filter.name=agent')
    expect(found.configs).toEqual([config])
    expect(await call('POST', `/mcp/configs/${config.id}/tokens`, ADA)).toMatchObject({ code: 9 })
    interface State {
      connection_name: string
      connected_account_id: string
      connected_account_status: string
      authentication_link: string
    }
    const states = async () =>
      (
        await call<{ connected_accounts: State[] }>('POST', `/mcp/configs/${config.id}/connected_accounts`, {
          ...ADA,
          include_auth_link: true,
        })
      ).connected_accounts
    const [mail, weather] = await states()
    expect([mail?.connected_account_status, weather?.connected_account_status]).toEqual(['ACTIVE', 'PENDING_AUTH'])
    const link = weather?.authentication_link.split('/').at(-1) ?? ''
    await call('POST', `/_mock/links/${link}/complete`, { decision: 'approve' })
    expect((await states()).map((each) => each.connected_account_status)).toEqual(['ACTIVE', 'ACTIVE'])
    const { token } = await call<Minted>('POST', `/mcp/configs/${config.id}/tokens`, ADA)
    const client = await connect({ path: config.mcp_server_url.slice(url.length), headers: bearer(token) })
    expect((await client.callTool(MESSAGE)).structuredContent).toHaveProperty('message_id')
  })
})

describe('a session token that has ended', () => {
  it('by the clock is a 401 that names the metadata, also when the clock goes back', async ({ mock }) => {
    const { token } = await mint(mock, { expiry: '60s' })
    expect(await listed(mock, token)).toEqual([200, ''])
    await mock.call('PUT', `${CONTROL}/clock`, { advance: '61s' })
    expect(await listed(mock, token)).toEqual([401, expect.stringContaining('expired')])
    const answer = await fetch(mock.url + MAIL, { method: 'POST', headers: bearer(token) })
    const challenge = `Bearer error="invalid_token", resource_metadata="${mock.url}/.well-known/oauth-protected-resource${MAIL}"`
    expect(answer.headers.get('www-authenticate')).toBe(challenge)
    const { token: unused } = await mint(mock, { expiry: '60s' })
    await mock.call('PUT', `${CONTROL}/clock`, { advance: '2h' })
    await mock.call('PUT', `${CONTROL}/clock`, { now: '2026-01-01T00:00:00Z' })
    expect((await listed(mock, token))[0]).toBe(401)
    expect((await listed(mock, unused))[0]).toBe(200)
  })

  it('with any account that it names, also when the account is made again', async ({ mock }) => {
    const { token } = await mint(mock)
    const { id, path } = await twoConnected(mock)
    const ofTwo = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    await mock.call('POST', '/connected_accounts:delete', { connector: 'mail', ...ADA })
    const refused = [401, expect.stringContaining('an account that it names')]
    expect([await listed(mock, token), await listed(mock, ofTwo.token, path)]).toEqual([refused, refused])
    await mock.call('POST', '/connected_accounts', { connector: 'mail', ...ADA })
    expect((await listed(mock, token))[0]).toBe(401)
  })

  it('with its config', async ({ mock }) => {
    const { id, path } = await twoConnected(mock)
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    expect((await listed(mock, token, path))[0]).toBe(200)
    await mock.call('DELETE', `/mcp/configs/${id}`)
    expect(await listed(mock, token, path)).toEqual([401, expect.stringContaining('with its config')])
    expect((await listed(mock, mock.token, path))[0]).toBe(404)
  })

  it('with a reset, and with its environment', async ({ mock }) => {
    const { token } = await mint(mock)
    await mock.call('POST', `${CONTROL}/reset`, {})
    expect(await listed(mock, token)).toEqual([401, expect.stringContaining('ended with a reset')])
    const { environment, token: ofOther } = await mintElsewhere(mock)
    expect((await listed(mock, ofOther))[0]).toBe(200)
    await mock.call('DELETE', `${CONTROL}/environments/${environment}`)
    expect((await listed(mock, ofOther))[0]).toBe(401)
  })
})

describe('a session token of others', () => {
  it('is refused on another server, and by the API', async ({ mock }) => {
    const { id, path } = await twoConnected(mock)
    const { token } = await mint(mock)
    const ofConfig = (await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)).token
    const other = [401, expect.stringContaining('is for another server')]
    expect(await listed(mock, token, path)).toEqual(other)
    expect(await listed(mock, token, '/mcp/v3/connections/weather')).toEqual(other)
    expect(await listed(mock, token, '/mcp/v3/servers/nothing')).toEqual(other)
    expect(await listed(mock, ofConfig)).toEqual(other)
    const body = { name: 'another', connection_tool_mappings: TWO }
    const { config } = await mock.call<{ config: Config }>('POST', '/mcp/configs', body)
    expect(await listed(mock, ofConfig, config.mcp_server_url.slice(mock.url.length))).toEqual(other)
    const answer = await fetch(`${mock.url}/api/v1/connected_accounts`, { headers: bearer(token) })
    expect(answer.status).toBe(401)
  })

  it('of another environment opens nothing here, and shows nothing of it', async ({ mock }) => {
    const { token } = await mintElsewhere(mock)
    // The connection has the same path in both: the token is good in its own environment only.
    const client = await mock.connect({ headers: bearer(token) })
    const result = await client.callTool(MESSAGE)
    expect(JSON.parse(textsOf(result)[0] ?? '')).toMatchObject({ details: [{ error_code: 'ACCOUNT_NOT_ACTIVE' }] })
    const { path } = await twoConnected(mock)
    expect((await listed(mock, token, path))[0]).toBe(401)
  })

  it('that was forged or changed is refused', async ({ mock }) => {
    const { token } = await mint(mock)
    const [header, claims, signature] = parts(token)
    const { keys } = (await (await fetch(`${mock.url}/keys`)).json()) as { keys: Record<string, string>[] }
    const pem = createPublicKey({ key: keys[0]!, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const hs256 = encoded({ ...header, alg: 'HS256' }, claims)
    const none = encoded({ ...header, alg: 'none' }, claims)
    const later = encoded(header, { ...claims, exp: 4_000_000_000 })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const forged = encoded(header, claims)
    const forgeries = [
      `${none}.`,
      `${none}.${signature}`,
      `${hs256}.${createHmac('sha256', pem).update(hs256).digest('base64url')}`,
      `${hs256}.${createHmac('sha256', JSON.stringify(keys[0])).update(hs256).digest('base64url')}`,
      `${later}.${signature}`,
      `${forged}.${sign('sha256', Buffer.from(forged), privateKey).toString('base64url')}`,
      `${encoded({ ...header, kid: 'nobody' }, claims)}.${signature}`,
      `${encoded({ ...header, kid: '__proto__' }, claims)}.${signature}`,
      `${encoded({ ...header, kid: 1 }, claims)}.${signature}`,
      token.slice(0, -4),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`.slice(0, -5),
      'e30.e30.e30',
      '.e30.e30',
      'a.b.c',
      `${token}.`,
      token.repeat(2),
    ]
    for (const each of forgeries) expect((await listed(mock, each))[0], each).toBe(401)
    expect((await listed(mock, token))[0]).toBe(200)
  })
})

describe('what happens while a call runs', () => {
  it('its config is deleted: the call ends as it began, and the next one is a 401', async ({ mock }) => {
    const { id, path } = await twoConnected(mock)
    const { token } = await mock.call<Minted>('POST', `/mcp/configs/${id}/tokens`, ADA)
    await startScenario(mock, { at: 'third_party', do: [{ latency: '1500ms' }] })
    const client = await mock.connect({ path, headers: bearer(token) })
    const deleted = new Promise<void>((resolve) => {
      const onprogress = () => resolve(mock.call('DELETE', `/mcp/configs/${id}`).then(() => undefined))
      void client.callTool(MESSAGE, { onprogress }).then(
        (result) => tell(result.structuredContent),
        (error: unknown) => tell(error),
      )
    })
    let tell: (outcome: unknown) => void = () => undefined
    const outcome = new Promise((resolve) => (tell = resolve))
    await deleted
    expect(await outcome).toHaveProperty('message_id')
    await expect(client.callTool(MESSAGE)).rejects.toThrow(/UNAUTHENTICATED|401/)
  })

  it('the config is deleted while the first key is made: no token is made', async ({ mock }) => {
    const { id } = await twoConnected(mock)
    const minted = mock.call<Refusal>('POST', `/mcp/configs/${id}/tokens`, ADA)
    const waiting = mock.call<Refusal>('POST', `/mcp/configs/${id}/tokens`, ADA)
    await mock.call('DELETE', `/mcp/configs/${id}`)
    for (const each of await Promise.all([minted, waiting])) {
      expect(each.details[0].error_code).toBe('MCP_CONFIG_NOT_FOUND')
    }
  })
})
