import { expect } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { ADA, ERAS, it, LEGACY, MODERN, textsOf } from './fixture.ts'

const MESSAGE = { name: 'mail_send_message', arguments: { to: 'bob@example.com', subject: 'Hello' } }

it.for(ERAS)(
  'lists the tools of the connection and calls them for a client of %s',
  async ([_, options], { mock: { connect, call, journal } }) => {
    interface Offered {
      definition: { name: string; input_schema: object; output_schema: object; annotations: object }
    }
    const { tools: offered } = await call<{ tools: Offered[] }>('GET', '/tools?filter.connector=mail&page_size=100')
    const client = await connect({ options })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(offered.map(({ definition }) => definition.name))
    expect(tools[0]).toMatchObject({ title: expect.any(String), description: expect.any(String) })
    expect(tools[0]?.inputSchema).toMatchObject(offered[0]?.definition.input_schema ?? {})
    expect(tools[0]?.outputSchema).toEqual(offered[0]?.definition.output_schema)
    expect(tools[0]?.outputSchema).toMatchObject({ type: 'object', required: ['message_id', 'thread_id'] })
    expect(tools[1]?.annotations).toMatchObject({ readOnlyHint: true })
    expect(offered[1]?.definition).toMatchObject({ annotations: { read_only_hint: true }, output_schema: {} })

    const result = await client.callTool(MESSAGE)
    expect(result.isError).toBeUndefined()
    expect(result.structuredContent).toMatchObject({ message_id: expect.any(String) })
    expect(textsOf(result)).toEqual([JSON.stringify(result.structuredContent)])

    const [entry] = await journal('operation=execute_tool')
    expect(entry).toMatchObject({
      operation: 'execute_tool',
      protocol: 'mcp',
      method: 'tools/call',
      path: '/mcp/v3/connections/mail',
      tool: 'mail_send_message',
      status: 200,
      client: 'test_client',
    })
    expect(result._meta).toMatchObject({
      'dev.toolmock/execution_id': entry?.execution,
      'dev.toolmock/request_id': entry?.id,
    })
  },
)

it('names its URL in the lists of connections, for account types only', async ({ mock: { call, url } }) => {
  const { connections } = await call<{ connections: { key_id: string; type: string; mcp_server_url: string }[] }>(
    'GET',
    '/connections',
  )
  const urlOf = (key: string) => connections.find(({ key_id }) => key_id === key)?.mcp_server_url
  expect(urlOf('mail')).toBe(`${url}/mcp/v3/connections/mail`)
  const { connectors } = await call<{ connectors: object[] }>('GET', '/_mock/connectors')
  expect(connectors).toContainEqual(
    expect.objectContaining({ connector: 'mail', mcp_server_url: `${url}/mcp/v3/connections/mail` }),
  )
  expect(connections.filter(({ type }) => type === 'SAML').map((each) => each.mcp_server_url)).toEqual([''])
})

it('is not there without the flag, and there with the setting virtual_mcp of an environment', async ({ startMock }) => {
  const { call, url, token, app, connect, journal } = await startMock({ mcp: false })
  const mail = async () =>
    (await call<{ connections: { mcp_server_url: string }[] }>('GET', '/connections')).connections
  expect((await mail()).every(({ mcp_server_url }) => mcp_server_url === '')).toBe(true)
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/mcp/v3/connections/mail`, { method: 'POST', headers, body: '{}' })
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({
    message: 'POST /mcp/v3/connections/mail is not served without --mcp, because the service document does not list it',
  })
  expect((await journal('path=/mcp/*'))[0]).toMatchObject({
    findings: [{ code: 'unknown_path', did_you_mean: null }],
  })
  app.services.defaultEnvironment()?.configure({ virtual_mcp: true })
  expect((await mail())[0]?.mcp_server_url).not.toBe('')
  expect((await (await connect()).listTools()).tools).not.toEqual([])
})

it('serves calls in an environment that has words of its own', async ({ mock: { app, connect, journal } }) => {
  const vocabulary = { tool_name: 'action', tool_input: 'arguments', data: 'payload', connector: 'app' }
  app.services.defaultEnvironment()?.configure({ vocabulary })
  const result = await (await connect()).callTool(MESSAGE)
  expect(result.structuredContent).toHaveProperty('message_id')
  expect((await journal('operation=execute_tool'))[0]).toMatchObject({ tool: MESSAGE.name, status: 200 })
})

it('is refused at the start together with --documented-only', async () => {
  await expect(createApp({ mcp: true, documentedOnly: true })).rejects.toThrow(/--mcp and --documented-only/)
})

it.for(ERAS)(
  'answers a refusal of the service as an error result for a client of %s',
  async ([_, options], { mock: { connect } }) => {
    const client = await connect({ options })
    const invalid = await client.callTool({ name: 'mail_send_message', arguments: { subject: 1 } })
    expect(invalid.isError).toBe(true)
    expect(JSON.parse(textsOf(invalid)[0] ?? '')).toMatchObject({
      code: 3,
      details: [{ error_code: 'INVALID_TOOL_INPUT' }],
    })
    const unknown = await client.callTool({ name: 'no_such_tool', arguments: {} })
    expect(JSON.parse(textsOf(unknown)[0] ?? '')).toMatchObject({ details: [{ error_code: 'TOOL_NOT_FOUND' }] })
  },
)

it('says in an error result that the user is not named, and takes the name from the query too', async ({
  mock: { connect, journal },
}) => {
  const nobody = await (await connect({ headers: {} })).callTool(MESSAGE)
  expect(nobody.isError).toBe(true)
  expect(textsOf(nobody)[0]).toContain('the header or the query parameter identifier names the user')
  expect((await journal('operation=execute_tool'))[0]).toMatchObject({ status: 400, error_code: 'MISSING_LOCATOR' })
  const path = `/mcp/v3/connections/mail?identifier=${encodeURIComponent(ADA.identifier)}`
  expect((await (await connect({ path, headers: {} })).callTool(MESSAGE)).isError).toBeUndefined()
})

it('answers 401 with the address of its metadata when the token is missing, unknown or over', async ({
  mock: { url, token, advance },
}) => {
  const post = (authorization?: string) =>
    fetch(`${url}/mcp/v3/connections/mail`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
  const metadata = `${url}/.well-known/oauth-protected-resource/mcp/v3/connections/mail`
  expect((await post()).headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`)
  expect((await post('Bearer wrong')).headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", resource_metadata="${metadata}"`,
  )
  expect(await (await fetch(metadata)).json()).toEqual({
    resource: `${url}/mcp/v3/connections/mail`,
    authorization_servers: [url],
    bearer_methods_supported: ['header'],
  })
  const server = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as Record<string, string>
  const authorize = await fetch(server['authorization_endpoint'] ?? '')
  expect([authorize.status, await authorize.json()]).toMatchObject([400, { error: 'unauthorized_client' }])
  advance('25h')
  expect((await post(`Bearer ${token}`)).status).toBe(401)
})

it('has no sessions: GET and DELETE are 405, and an unknown server is 404', async ({
  mock: { url, token, journal },
}) => {
  const headers = { Authorization: `Bearer ${token}` }
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(`${url}/mcp/v3/connections/mail`, { method, headers })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  }
  for (const key of ['Mail', 'saml', 'nothing']) {
    const answer = await fetch(`${url}/mcp/v3/connections/${key}`, { method: 'POST', headers, body: '{}' })
    expect(answer.status).toBe(404)
  }
  expect((await journal()).slice(-5).map(({ protocol, operation }) => [protocol, operation])).toEqual(
    Array.from({ length: 5 }, () => ['mcp', null]),
  )
})

it('a server that there is not is an unknown path, and its 404 names the connections that there are', async ({
  mock: { url, token, call },
}) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/mcp/v3/connections/mial`, { method: 'POST', headers, body: '{}' })
  expect(answer.status).toBe(404)
  const { message } = (await answer.json()) as { message: string }
  expect(message).toMatch(
    /^there is no MCP server "\/mcp\/v3\/connections\/mial" \(did you mean mail\?\); the connections are .*mail/,
  )
  const { total } = await call<{ total: { findings: object[] } }>('GET', '/_mock/contract')
  expect(total.findings).toMatchObject([
    {
      code: 'unknown_path',
      field: 'POST /mcp/v3/connections/mial',
      did_you_mean: 'POST /mcp/v3/connections/mail',
    },
  ])
})

it('records what a client asks beside calls as entries that are no operations, with its name', async ({
  mock: { connect, journal, call },
}) => {
  await (await connect({ options: MODERN })).listTools()
  await (await connect({ options: LEGACY })).listTools()
  const entries = await journal()
  const methods = entries.filter(({ protocol }) => protocol === 'mcp').map(({ method }) => method)
  expect(methods).toEqual(expect.arrayContaining(['server/discover', 'tools/list', 'initialize']))
  const [discover, list, initialize] = ['server/discover', 'tools/list', 'initialize'].map((name) =>
    entries.find(({ method }) => method === name),
  )
  for (const entry of [discover, list, initialize]) {
    expect(entry).toMatchObject({ operation: null, status: 200, mcp_client: 'test-client 1.2.3' })
  }
  expect(await call('GET', '/_mock/contract')).toMatchObject({ ok: true })
})
