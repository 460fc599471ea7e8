import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import { Code, type ConnectError } from '@connectrpc/connect'
import { describe, expect } from 'vitest'
import { ErrorInfoSchema, Mcp } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { clientOf, failure, type RpcMock, withRpc } from './fixture.ts'

const ADA = { identifier: 'ada@example.com' }

/** Stores credentials of ada@example.com at `mail`. */
async function connectMail({ url, headers }: RpcMock): Promise<void> {
  await fetch(`${url}/api/v1/connected_accounts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      connector: 'mail',
      ...ADA,
      connected_account: { authorization_details: { oauth_token: { access_token: 'at_1' } } },
    }),
  })
}

function errorCodeOf(error: ConnectError): string | undefined {
  return error.findDetails(ErrorInfoSchema)[0]?.errorCode
}

/** Code and error code of a call that fails. */
async function refusal(call: Promise<unknown>): Promise<[Code, string | undefined]> {
  const error = await failure(call)
  return [error.code, errorCodeOf(error)]
}

const it = itWith(withRpc, { mcp: true })

describe('the calls of MCP over gRPC', () => {
  it('lead a user who has connected one of two connections from the config to a call of a tool', async ({ mock }) => {
    const { url, headers } = mock
    const options = { headers }
    const client = clientOf(Mcp, mock)
    await connectMail(mock)
    const connectionToolMappings = [
      { connectionName: 'mail', tools: ['mail_send_message'] },
      { connectionName: 'weather' },
    ]
    const { config } = await client.createConfig({ config: { name: 'agent', connectionToolMappings } }, options)
    expect(config).toMatchObject({ name: 'agent', mcpServerUrl: expect.stringContaining(`${url}/mcp/v3/servers/`) })
    const configId = config?.id ?? ''
    const found = await client.listConfigs({ filter: { name: 'Agent' }, pageSize: 1 }, options)
    expect(found).toMatchObject({ configs: [{ id: configId }], totalSize: 1n })
    const described = await client.updateConfig({ configId, description: 'New.' }, options)
    expect(described.config).toMatchObject({
      description: 'New.',
      connectionToolMappings: config?.connectionToolMappings,
    })
    expect((await client.getConfig({ configId }, options)).config).toEqual(described.config)

    const token = client.createSessionToken({ mcpConfigId: configId, ...ADA }, options)
    expect(await refusal(token)).toEqual([Code.FailedPrecondition, 'ACCOUNT_NOT_ACTIVE'])
    const asked = { configId, ...ADA, includeAuthLink: true }
    const { connectedAccounts } = await client.listConfigAccounts(asked, options)
    expect(connectedAccounts.map((each) => each.connectedAccountStatus)).toEqual(['ACTIVE', 'PENDING_AUTH'])
    const link = connectedAccounts[1]?.authenticationLink.split('/').at(-1) ?? ''
    await fetch(`${url}/_mock/links/${link}/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    })
    const expiry = { seconds: 600n, nanos: 0 }
    const minted = await client.createSessionToken({ mcpConfigId: configId, ...ADA, expiry }, options)
    const left = (minted.expiresAt ? timestampMs(minted.expiresAt) : 0) - Date.now()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(600_000)
    const agent = new Client({ name: 'agent', version: '1' })
    const requestInit = { headers: { Authorization: `Bearer ${minted.token}` } }
    await agent.connect(new StreamableHTTPClientTransport(new URL(config?.mcpServerUrl ?? ''), { requestInit }))
    const message = { to: 'bob@example.com', subject: 'Hello' }
    const result = await agent.callTool({ name: 'mail_send_message', arguments: message })
    expect(result.structuredContent).toHaveProperty('message_id')
    await agent.close()

    await client.deleteConfig({ configId }, options)
    expect(await refusal(client.getConfig({ configId }, options))).toEqual([Code.NotFound, 'MCP_CONFIG_NOT_FOUND'])
  })

  it('make a token for exactly one of a config and a connection', async ({ mock }) => {
    const options = { headers: mock.headers }
    const client = clientOf(Mcp, mock)
    expect((await client.createSessionToken({ keyId: 'mail', ...ADA }, options)).token).not.toBe('')
    const invalid = [Code.InvalidArgument, 'VALIDATION_FAILED']
    expect(await refusal(client.createSessionToken(ADA, options))).toEqual(invalid)
    const both = { mcpConfigId: 'cfg_1', keyId: 'mail', ...ADA }
    expect(await refusal(client.createSessionToken(both, options))).toEqual(invalid)
  })

  it('refuse a name that is in use as INVALID_ARGUMENT', async ({ mock }) => {
    const options = { headers: mock.headers }
    const client = clientOf(Mcp, mock)
    const create = () => client.createConfig({ config: { name: 'agent' } }, options)
    await create()
    expect(await refusal(create())).toEqual([Code.InvalidArgument, 'DUPLICATE_IDENTIFIER'])
  })

  it('are not served without --mcp, and the answer names the flag', async ({ startMock }) => {
    const mock = await startMock({})
    const error = await failure(clientOf(Mcp, mock).getConfig({ configId: 'cfg_1' }, { headers: mock.headers }))
    expect(error.code).toBe(Code.Unimplemented)
    expect(error.rawMessage).toContain('with --mcp only')
  })
})

describe('the calls of MCP instances over gRPC', () => {
  it('lead from an instance to its auth state and a call of its URL', async ({ mock }) => {
    const options = { headers: mock.headers }
    const client = clientOf(Mcp, mock)
    await connectMail(mock)
    const connectionToolMappings = [{ connectionName: 'mail' }, { connectionName: 'weather' }]
    await client.createConfig({ config: { name: 'agent', connectionToolMappings } }, options)
    const user = { configName: 'agent', userIdentifier: ADA.identifier }
    const { instance } = await client.ensureInstance(user, options)
    const instanceId = instance?.id ?? ''
    expect(instance).toMatchObject({ name: 'agent', userIdentifier: ADA.identifier, config: { name: 'agent' } })
    expect(instance?.config?.connectionToolMappings.map((each) => each.connectedAccountStatus)).toEqual(['ACTIVE', ''])
    expect(instance?.lastUsedAt && timestampMs(instance.lastUsedAt)).toBe(Date.parse('0001-01-01T00:00:00Z'))
    expect((await client.ensureInstance(user, options)).instance).toEqual(instance)
    const renamed = await client.updateInstance({ instanceId, name: 'Mine' }, options)
    expect(renamed.instance).toMatchObject({ name: 'Mine', url: instance?.url })
    const listed = await client.listInstances({ filter: { configName: 'agent' }, search: 'mine', pageSize: 1 }, options)
    expect(listed).toMatchObject({ instances: [{ id: instanceId }], totalSize: 1n })

    const states = await client.getInstanceAuthState({ instanceId }, options)
    expect(states.connections.map((each) => each.authenticationLink)).toEqual(['', ''])
    const links = await client.getInstanceAuthState({ instanceId, includeAuthLinks: true }, options)
    expect(links.connections.map((each) => each.connectedAccountStatus)).toEqual(['ACTIVE', 'PENDING_AUTH'])
    expect(links.connections[1]?.authenticationLink).toContain('/magic/')

    const agent = new Client({ name: 'agent', version: '1' })
    await agent.connect(new StreamableHTTPClientTransport(new URL(instance?.url ?? '')))
    const message = { to: 'bob@example.com', subject: 'Hello' }
    const result = await agent.callTool({ name: 'mail_send_message', arguments: message })
    expect(result.structuredContent).toHaveProperty('message_id')
    await agent.close()
    const used = (await client.getInstance({ instanceId }, options)).instance?.lastUsedAt
    expect(used && timestampMs(used)).toBeGreaterThan(Date.now() - 60_000)

    await client.deleteInstance({ instanceId }, options)
    expect(await refusal(client.getInstance({ instanceId }, options))).toEqual([
      Code.NotFound,
      'MCP_INSTANCE_NOT_FOUND',
    ])
  })
})
