import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Code, createClient } from '@connectrpc/connect'
import { describe, expect } from 'vitest'
import {
  Account_AuthorizationType,
  ConnectedAccounts,
  ErrorInfoSchema,
  Providers,
  Tools,
} from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { describeWith } from '../../support/machine.ts'
import { clientOf, DESCRIPTORS, entriesOf, failure, GOOGLE, it, PROTO, run, TRANSPORTS, withRpc } from './fixture.ts'

describe('a call with the HTTP rule of its method', () => {
  it('sends fields that are not in the path as query parameters: repeated, nested and wrapped ones', async ({
    mock,
  }) => {
    const { headers } = mock
    const accounts = clientOf(ConnectedAccounts, mock)
    await accounts.listAccounts({ connectionNames: ['mail', 'calendar'], pageSize: 5 }, { headers })
    await accounts.searchAccounts({ query: 'a+b & c', pageSize: 3n }, { headers })
    const tools = clientOf(Tools, mock)
    const { toolNames } = await tools.listTools({ filter: { provider: 'mail', summary: true } }, { headers })
    expect(toolNames).toContain('mail_send_message')
    expect(entriesOf(mock).map(({ path, query }) => [path, query])).toEqual([
      ['/api/v1/connected_accounts', { connection_names: ['mail', 'calendar'], page_size: '5' }],
      ['/api/v1/connected_accounts:search', { query: 'a+b & c', page_size: '3' }],
      ['/api/v1/tools', { 'filter.provider': 'mail', 'filter.summary': 'true' }],
    ])
  })

  it.for([2n ** 53n - 1n, 2n ** 53n + 1n])(
    'sends the integer %s with all of its digits',
    async (pageSize, { mock }) => {
      const { headers } = mock
      await failure(clientOf(ConnectedAccounts, mock).searchAccounts({ query: 'a', pageSize }, { headers }))
      expect(entriesOf(mock).map(({ query }) => query)).toEqual([{ query: 'a', page_size: String(pageSize) }])
    },
  )

  it('sends the whole message, or one field, as the body, and answers one field or the whole', async ({ mock }) => {
    const { headers } = mock
    const providers = clientOf(Providers, mock)
    const made = await providers.createProvider(
      {
        provider: {
          displayName: 'Notes',
          description: 'ours',
          proxyUrl: 'https://p.example',
          metadata: { team: 'a' },
        },
      },
      { headers },
    )
    const { identifier = '' } = made.provider ?? {}
    expect(made.provider).toMatchObject({ displayName: 'Notes', description: 'ours', metadata: { team: 'a' } })
    const { body } = await providers.listConnections({}, { headers })
    expect(body?.connections.map(({ keyId }) => keyId)).toContain(identifier)
    expect(entriesOf(mock)[0]?.request.body).toEqual({
      display_name: 'Notes',
      description: 'ours',
      proxy_url: 'https://p.example',
      metadata: { team: 'a' },
    })
  })

  it('fills the path from a field, a nested field, and a field of several segments', async ({ mock }) => {
    const { headers } = mock
    const providers = clientOf(Providers, mock)
    const { provider } = await providers.createProvider({ provider: { displayName: 'Notes' } }, { headers })
    const identifier = provider?.identifier ?? ''
    const nested = await providers.updateProvider({ provider: { identifier, displayName: 'Nested' } }, { headers })
    expect(nested.provider?.displayName).toBe('Nested')
    const plain = await providers.replaceProvider({ identifier, displayName: 'Plain' }, { headers })
    expect(plain.provider?.displayName).toBe('Plain')
    await providers.deleteProvider({ name: `custom-providers/${identifier}` }, { headers })
    const gone = await failure(providers.deleteProvider({ name: `custom-providers/${identifier}` }, { headers }))
    expect(gone.code).toBe(Code.NotFound)
    const path = `/api/v1/custom-providers/${identifier}`
    expect(entriesOf(mock).map((entry) => entry.path)).toEqual(['/api/v1/custom-providers', path, path, path, path])
  })

  it('omits a field that is not set, and sends an optional one that is empty', async ({ mock }) => {
    const { headers } = mock
    const providers = clientOf(Providers, mock)
    const { provider } = await providers.createProvider(
      { provider: { displayName: 'Notes', proxyUrl: 'https://p.example', description: 'ours' } },
      { headers },
    )
    const identifier = provider?.identifier ?? ''
    const kept = await providers.updateProvider({ provider: { identifier, displayName: 'Notes 2' } }, { headers })
    expect(kept.provider).toMatchObject({ proxyUrl: 'https://p.example', description: 'ours' })
    const cleared = await providers.updateProvider({ provider: { identifier, proxyUrl: '' } }, { headers })
    expect(cleared.provider).toMatchObject({ proxyUrl: '', displayName: 'Notes 2' })
  })

  it('uses an additional binding where the mock does not serve the first', async ({ mock }) => {
    const { headers } = mock
    const accounts = clientOf(ConnectedAccounts, mock)
    const made = await accounts.createAccount({ connector: 'mail', identifier: 'ada@example.com' }, { headers })
    const { id = '' } = made.connectedAccount ?? {}
    expect((await accounts.getDetails({ id }, { headers })).connectedAccount?.id).toBe(id)
    expect(entriesOf(mock).at(-1)).toMatchObject({
      operation: 'get_connected_account_details',
      path: '/api/v1/connected_accounts/details',
      query: { id },
    })
  })

  it('carries timestamps, free-form objects, values, enumerations, a oneof and 64-bit integers both ways', async ({
    startMock,
  }) => {
    const mock = await startMock({ clock: '2026-01-01T00:00:00.000Z', freeze: true })
    const { headers } = mock
    const accounts = clientOf(ConnectedAccounts, mock)
    const apiConfig = { limit: 1.5, on: true, nested: { list: [1, 'two', null] } }
    const made = await accounts.createAccount(
      {
        connector: 'mail',
        identifier: 'ada@example.com',
        userId: 'u1',
        connectedAccount: {
          apiConfig,
          authorizationType: Account_AuthorizationType.OAUTH,
          authorizationDetails: {
            details: { case: 'oauthToken', value: { accessToken: 'at_1', scopes: ['mail.read', 'mail.send'] } },
          },
        },
      },
      { headers },
    )
    expect(made.connectedAccount).toMatchObject({
      apiConfig,
      authorizationType: Account_AuthorizationType.OAUTH,
      status: 1,
      tokenExpiresAt: { seconds: BigInt(Date.parse('2026-01-01T01:00:00Z') / 1000), nanos: 0 },
    })
    expect(made.connectedAccount?.lastUsedAt).toBeUndefined()
    const { id = '' } = made.connectedAccount ?? {}
    const { connectedAccount } = await accounts.getAuth({ id }, { headers })
    expect(connectedAccount?.authorizationDetails?.details).toMatchObject({
      case: 'oauthToken',
      value: { accessToken: 'at_1', scopes: ['mail.read', 'mail.send'] },
    })
    expect((await accounts.listAccounts({}, { headers })).totalSize).toBe(1n)
    const { tools } = await clientOf(Tools, mock).listTools(
      { filter: { toolName: ['mail_send_message'] } },
      { headers },
    )
    expect(tools[0]?.definition?.inputSchema?.kind.case).toBe('structValue')
  })

  it('is refused by the request pipeline when a field of the path is missing', async ({ mock }) => {
    const { headers } = mock
    const providers = clientOf(Providers, mock)
    const missing = await failure(providers.replaceProvider({ displayName: 'Notes' }, { headers }))
    expect(missing.code).toBe(Code.InvalidArgument)
    expect(missing.rawMessage).toContain('identifier is required')
    const other = await failure(providers.deleteProvider({ name: 'providers/1' }, { headers }))
    expect(other.rawMessage).toContain('name must have the form custom-providers/*')
    expect(entriesOf(mock).map(({ operation, status }) => [operation, status])).toEqual([
      ['update_custom_provider', 400],
      ['delete_custom_provider', 400],
    ])
  })
})

describe('an error of an operation', () => {
  it('is a status with the message and ErrorInfo of the definitions, and has the request id', async ({ mock }) => {
    const headers = { ...mock.headers, 'x-request-id': 'mine-1' }
    const accounts = clientOf(ConnectedAccounts, mock)
    const error = await failure(accounts.getDetails({ id: 'ca_unknown' }, { headers }))
    expect([error.code, error.rawMessage]).toEqual([Code.NotFound, expect.stringContaining('ca_unknown')])
    expect(error.metadata.get('x-request-id')).toBe('mine-1')
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { errorCode: 'ACCOUNT_NOT_FOUND', requestInfo: { requestId: 'mine-1' } },
    ])
    const named = await failure(accounts.createAccount({ connector: 'mail' }, { headers: mock.headers }))
    expect(named.findDetails(ErrorInfoSchema)[0]?.validationErrorInfo?.fieldViolations).toMatchObject([
      { field: 'identifier', constraint: 'required' },
    ])
  })

  it('is UNAUTHENTICATED without a bearer token', async ({ mock }) => {
    const error = await failure(clientOf(ConnectedAccounts, mock).listAccounts({}))
    expect(error.code).toBe(Code.Unauthenticated)
    expect(error.metadata.get('www-authenticate')).toBe('Bearer')
  })

  it('is RESOURCE_EXHAUSTED for a message that is too large', async ({ startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const accounts = clientOf(ConnectedAccounts, mock)
    const large = { connector: 'mail', identifier: 'a'.repeat(1001) }
    expect((await failure(accounts.createAccount(large, { headers: mock.headers }))).code).toBe(Code.ResourceExhausted)
  })

  it.for(['grpc-web over HTTP/1.1', 'connect over HTTP/1.1, binary'] as const)(
    'is RESOURCE_EXHAUSTED by %s too, and the connection stays open',
    async (protocol, { mock }) => {
      const accounts = createClient(ConnectedAccounts, TRANSPORTS[protocol](mock.url))
      const create = (identifier: string) =>
        accounts.createAccount({ connector: 'mail', identifier }, { headers: mock.headers })
      expect((await failure(create('a'.repeat(3 * 1024 * 1024)))).code).toBe(Code.ResourceExhausted)
      expect((await create('ada@example.com')).connectedAccount?.identifier).toBe('ada@example.com')
    },
  )
})

describeWith('protoc', 'definitions of a client', () => {
  const OTHER = `syntax = "proto3";
package acme.other.v1;
import "google/api/annotations.proto";
service Other {
  rpc Create(Empty) returns (Empty) { option (google.api.http) = { post: "/api/v1/connected_accounts" body: "*" }; }
}
message Empty {}
`

  /** Compiles definitions without their imports, as a package may contain them. */
  function compile(folder: string, name: string, text: string): string {
    const file = join(folder, `${name}.binpb`)
    writeFileSync(join(folder, 'other.proto'), text)
    run('protoc', [`-I${folder}`, `-I${GOOGLE}`, `--descriptor_set_out=${file}`, join(folder, 'other.proto')])
    return file
  }

  it('may lack the imports of google, and ErrorInfo, which is then that of google.rpc', async ({
    mock: { folder },
  }) => {
    const file = compile(folder, 'other', OTHER)
    await withRpc({ descriptors: [file] }, async ({ url, headers }) => {
      const answer = await fetch(`${url}/acme.other.v1.Other/Create`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{}',
      })
      const { code, details } = (await answer.json()) as { code: string; details: { type: string; value: string }[] }
      expect([code, details[0]?.type]).toEqual(['invalid_argument', 'google.rpc.ErrorInfo'])
      expect(Buffer.from(details[0]?.value ?? '', 'base64').toString()).toContain('VALIDATION_FAILED')
    })
  })

  it.for([
    ['{name=**}', true],
    ['{name=**/more}', false],
    ['{name=*/**/more}', false],
  ])('may end a path with ** alone: %s is served: %s', async ([variable, isServed], { mock: { folder } }) => {
    const rule = `{ delete: "/api/v1/custom-providers/${variable}" }`
    const text = OTHER.replace('Empty {}', 'Empty { string name = 1; }').replace(/\{ post: .* \}(?=;)/, rule)
    const file = compile(folder, 'other', text)
    await withRpc({ descriptors: [file] }, ({ app }) => {
      expect(app.methodTable).toContain(`serve ${isServed ? 1 : 0} of 1 method`)
      return Promise.resolve()
    })
  })

  it('may be several files, which do not contradict each other', async ({ mock: { folder } }) => {
    const first = compile(folder, 'first', OTHER)
    await withRpc({ descriptors: [DESCRIPTORS, first] }, ({ app }) => {
      expect(app.methodTable).toContain('acme.other.v1.Other/Create')
      expect(app.methodTable).toContain('acme.tools.v1.Tools/ExecuteTool')
      return Promise.resolve()
    })
    const second = compile(folder, 'second', OTHER.replace('Create', 'Make'))
    const both = withRpc({ descriptors: [first, second] }, () => Promise.resolve())
    await expect(both).rejects.toThrow(
      /other\.proto is in \S+first\.binpb and in \S+second\.binpb with different content/,
    )
  })

  it('are refused with what is wrong with them', async ({ mock: { folder } }) => {
    const start = (file: string) => withRpc({ descriptors: [join(folder, file)] }, () => Promise.resolve())
    await expect(start('missing.binpb')).rejects.toThrow(/missing\.binpb cannot be read \(ENOENT\)/)
    for (const [name, content] of [
      ['text', 'no descriptors'],
      ['empty', ''],
      ['cut', readFileSync(DESCRIPTORS).subarray(0, 99)],
    ] as const) {
      writeFileSync(join(folder, name), content)
      await expect(start(name)).rejects.toThrow(/is no set of protobuf descriptors\. Write one with buf build/)
    }
    const part = OTHER.replace('import "google', 'import "acme/tools/v1/tools.proto";\nimport "google').replace(
      'Empty {}',
      'Empty { acme.tools.v1.Locator of = 1; }',
    )
    writeFileSync(join(folder, 'other.proto'), part)
    run('protoc', [
      `-I${folder}`,
      `-I${PROTO}`,
      `-I${GOOGLE}`,
      `--descriptor_set_out=${join(folder, 'part')}`,
      join(folder, 'other.proto'),
    ])
    await expect(start('part')).rejects.toThrow(
      /other\.proto uses acme\.tools\.v1\.Locator, which no file of it defines/,
    )
  })
})

describe('a method that is not served', () => {
  it.for([
    ['of another path', 'archiveAccount', 'the mock does not serve POST /api/v1/connected_accounts:archive'],
    ['without a rule', 'countAccounts', 'it has no google.api.http rule'],
  ] as const)('%s answers UNIMPLEMENTED and the reason', async ([_what, name, reason], { mock }) => {
    const error = await failure(clientOf(ConnectedAccounts, mock)[name]({}, { headers: mock.headers }))
    expect(error.code).toBe(Code.Unimplemented)
    expect(error.rawMessage).toContain(reason)
    expect(entriesOf(mock)).toMatchObject([{ protocol: 'grpc', status: 404, error_code: 'PATH_NOT_FOUND' }])
  })

  it('answers the same for a stream and for a service that is not in the descriptors', async ({ mock }) => {
    const stream = clientOf(ConnectedAccounts, mock).watchAccounts({}, { headers: mock.headers })
    const streamed = await failure(stream[Symbol.asyncIterator]().next())
    expect([streamed.code, streamed.rawMessage]).toEqual([
      Code.Unimplemented,
      expect.stringContaining('it is a streaming method'),
    ])
    const answer = await fetch(`${mock.url}/acme.other.v1.Other/Do`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'connect-protocol-version': '1' },
      body: '{}',
    })
    expect(await answer.json()).toMatchObject({
      code: 'unimplemented',
      message: expect.stringContaining('no descriptors'),
    })
    const path = await fetch(`${mock.url}/acme.other.v1.Other/Do`, { method: 'POST' })
    expect([path.status, await path.json()]).toMatchObject([404, { code: 5 }])
  })
})

describe('the words of an environment', () => {
  it('are applied once: two words that stand for each other are exchanged', async ({ mock }) => {
    const { app, headers } = mock
    const vocabulary = { OAUTH: 'API_KEY', API_KEY: 'OAUTH' }
    app.services.registry.environment('default')?.configure({ vocabulary })
    const accounts = clientOf(ConnectedAccounts, mock)
    const account = { connector: 'mail', identifier: 'ada@example.com' }
    const { connectedAccount } = await accounts.createAccount(account, { headers })
    expect(connectedAccount?.authorizationType).toBe(Account_AuthorizationType.API_KEY)
  })

  it('send the zero value of an enumeration for a word that it lacks, and log the setting that fixes it once', async () => {
    const lines: string[] = []
    const log = {
      error: lines.push.bind(lines),
      warn: (line: string) => lines.push(line),
      info: () => {},
      debug: () => {},
    }
    await withRpc({ log } as never, async (mock) => {
      const { headers } = mock
      const accounts = clientOf(ConnectedAccounts, mock)
      const { connectedAccount } = await accounts.createAccount(
        { connector: 'workspace', identifier: 'ada@example.com' },
        { headers },
      )
      expect(connectedAccount?.authorizationType).toBe(0)
      await accounts.listAccounts({}, { headers })
      const mentions = lines.filter((line) => line.includes('WORKSPACE_DWD'))
      expect(mentions).toHaveLength(1)
      expect(mentions[0]).toContain('WORKSPACE_DWD: SUITE_DWD')
    })
  })
})
