import { Code, createClient } from '@connectrpc/connect'
import { describe, expect } from 'vitest'
import { ConnectedAccounts, Tools } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { clientOf, entriesOf, failure, fired, it, type RpcMock, scenario, TRANSPORTS, withRpc } from './fixture.ts'

const ALL = { at: 'service', on: { operation: 'list_connected_accounts' } }

/** The error of a call on which a fault of a scenario fires. */
async function failureBy(mock: RpcMock, fault: object, transport: keyof typeof TRANSPORTS = 'grpc over HTTP/2') {
  await scenario(mock, { ...ALL, do: [fault] })
  const client = createClient(ConnectedAccounts, TRANSPORTS[transport](mock.url))
  return failure(client.listAccounts({}, { headers: mock.headers }))
}

describe('a fault of a scenario, by gRPC', () => {
  it.for([
    [
      'respond, an error of the service',
      { respond: { status: 429, headers: { 'Retry-After': '30' } } },
      Code.ResourceExhausted,
    ],
    ['respond, a status that is no error body', { respond: { status: 503, body: 'busy' } }, Code.Unavailable],
    ['reset_connection, a reset stream', { reset_connection: {} }, Code.Internal],
    ['empty_response, a stream without a status', { empty_response: {} }, Code.Unknown],
    ['truncate_body, a message that ends early', { truncate_body: { bytes: 4 } }, Code.InvalidArgument],
    ['malformed_json, a message that cannot be read', { malformed_json: {} }, Code.Internal],
  ])('%s', async ([_what, fault, code], { mock }) => {
    await clientOf(ConnectedAccounts, mock).createAccount(
      { connector: 'mail', identifier: 'ada@example.com' },
      { headers: mock.headers },
    )
    const error = await failureBy(mock, fault)
    expect([Code[error.code], error.rawMessage]).toEqual([Code[code], expect.any(String)])
    const { journals, defaultEnvironment } = mock.app.services
    const entries = journals.of(defaultEnvironment()!)
    expect((await entries.wait({ operation: 'list_connected_accounts', protocol: 'grpc' })).matched).toBe(1)
    // The connection stays open.
    const { toolNames } = await clientOf(Tools, mock).listTools(
      { filter: { summary: true } },
      { headers: mock.headers },
    )
    expect(toolNames).not.toEqual([])
  })

  it('respond, with its header as metadata', async ({ mock }) => {
    const error = await failureBy(mock, { respond: { status: 429, headers: { 'Retry-After': '30' } } })
    expect(error.metadata.get('retry-after')).toBe('30')
  })

  it('respond, with a status that is longer than the head of a request may be', async ({ mock }) => {
    const message = 'x'.repeat(20_000)
    const body = { code: 5, message, details: [] }
    await scenario(mock, { at: 'service', off_spec: true, do: [{ respond: { status: 404, body } }] })
    const error = await failure(clientOf(ConnectedAccounts, mock).listAccounts({}, { headers: mock.headers }))
    expect([error.code, error.rawMessage]).toEqual([Code.NotFound, message])
  })

  it('slow_body, a message in pieces', async ({ mock }) => {
    await scenario(mock, { ...ALL, do: [{ slow_body: { over: 50, pieces: 5 } }] })
    for (const transportOf of Object.values(TRANSPORTS)) {
      const client = createClient(ConnectedAccounts, transportOf(mock.url))
      expect((await client.listAccounts({}, { headers: mock.headers })).totalSize).toBe(0n)
    }
  })

  it.for(['grpc-web over HTTP/1.1', 'connect over HTTP/1.1, binary', 'connect over HTTP/2, JSON'] as const)(
    'ends a call of %s as well',
    async (transport, { mock }) => {
      const account = { connector: 'mail', identifier: 'ada@example.com' }
      await clientOf(ConnectedAccounts, mock).createAccount(account, { headers: mock.headers })
      for (const fault of [{ reset_connection: {} }, { truncate_body: { bytes: 2 } }, { malformed_json: {} }]) {
        await failureBy(mock, fault, transport)
      }
    },
  )
})

it('a barrier lets calls go on once so many are there', async ({ mock }) => {
  await scenario(mock, { ...ALL, do: [{ hold_until: { requests: 2, within: '60s' } }] })
  const client = clientOf(ConnectedAccounts, mock)
  const calls = [1, 2].map(() => client.listAccounts({}, { headers: mock.headers }))
  expect((await Promise.all(calls)).map(({ totalSize }) => totalSize)).toEqual([0n, 0n])
})

it('a barrier does not count a call whose client has gone', async ({ mock }) => {
  await scenario(mock, { ...ALL, do: [{ hold_until: { requests: 2, within: '60s' } }] })
  const client = clientOf(ConnectedAccounts, mock)
  const controller = new AbortController()
  const gone = failure(client.listAccounts({}, { headers: mock.headers, signal: controller.signal }))
  await fired(mock)
  controller.abort()
  expect((await gone).code).toBe(Code.Canceled)
  const { journals, defaultEnvironment } = mock.app.services
  await journals.of(defaultEnvironment()!).wait({ operation: 'list_connected_accounts' })
  const calls = [1, 2].map(() => client.listAccounts({}, { headers: mock.headers }))
  expect(await Promise.all(calls)).toHaveLength(2)
})

describe('a deadline', () => {
  it('cancels a call that a scenario delays; the operation is not carried out, and the journal records that', async ({
    mock,
  }) => {
    const rule = { at: 'service', on: { operation: 'create_connected_account' }, do: [{ latency: 60_000 }] }
    await scenario(mock, rule)
    const client = clientOf(ConnectedAccounts, mock)
    const call = client.createAccount(
      { connector: 'mail', identifier: 'ada@example.com' },
      // On a busy machine the server gets the call late, and sees the client's deadline long before its own time is over.
      { headers: mock.headers, timeoutMs: 50 },
    )
    expect((await failure(call)).code).toBe(Code.DeadlineExceeded)
    const { journals, defaultEnvironment } = mock.app.services
    await journals.of(defaultEnvironment()!).wait({ operation: 'create_connected_account' })
    expect(entriesOf(mock)).toMatchObject([
      {
        operation: 'create_connected_account',
        status: 0,
        failure: expect.stringMatching(/deadline of \d+ ms passed/),
      },
    ])
    expect((await client.listAccounts({}, { headers: mock.headers })).totalSize).toBe(0n)
  })

  it('is recorded as the call names it, not as what is left of it', async ({ mock }) => {
    await scenario(mock, { ...ALL, do: [{ timeout: {} }] })
    const client = clientOf(ConnectedAccounts, mock)
    const { journals, defaultEnvironment } = mock.app.services
    for (const timeoutMs of [1, 20]) {
      await failure(client.listAccounts({}, { headers: mock.headers, timeoutMs }))
    }
    const recorded = journals.of(defaultEnvironment()!)
    await recorded.wait({ operation: 'list_connected_accounts' })
    for (const { failure: text } of entriesOf(mock))
      expect(['its deadline of 1 ms passed', 'its deadline of 20 ms passed']).toContain(text)
  })

  it('is recorded also when it has passed before the call is read', async ({ mock }) => {
    await scenario(mock, { ...ALL, do: [{ timeout: {} }] })
    const answer = await fetch(`${mock.url}/acme.tools.v1.ConnectedAccounts/ListAccounts`, {
      method: 'POST',
      headers: { ...mock.headers, 'Content-Type': 'application/json', 'Connect-Timeout-Ms': '0' },
      body: '{}',
    })
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'deadline_exceeded' }])
    const { journals, defaultEnvironment } = mock.app.services
    await journals.of(defaultEnvironment()!).wait({ operation: 'list_connected_accounts' })
    expect(entriesOf(mock)).toMatchObject([{ status: 0, failure: 'its deadline of 0 ms passed' }])
  })

  it('cancels a call that never gets an answer, and a client may cancel by itself', async ({ mock }) => {
    await scenario(mock, { ...ALL, do: [{ timeout: {} }] })
    const client = clientOf(ConnectedAccounts, mock)
    const late = await failure(client.listAccounts({}, { headers: mock.headers, timeoutMs: 50 }))
    expect(late.code).toBe(Code.DeadlineExceeded)
    await scenario(mock, { ...ALL, do: [{ latency: 60_000 }] })
    const controller = new AbortController()
    const call = failure(client.listAccounts({}, { headers: mock.headers, signal: controller.signal }))
    await fired(mock)
    controller.abort()
    expect((await call).code).toBe(Code.Canceled)
    const { journals, defaultEnvironment } = mock.app.services
    await journals.of(defaultEnvironment()!).wait({ operation: 'list_connected_accounts' }, { times: 2 })
    expect(entriesOf(mock).map(({ status, failure: why }) => [status, why])).toEqual([
      [0, expect.stringContaining('deadline')],
      [0, 'its client cancelled it'],
    ])
  })

  it('that is longer than the maximum of a timer does not end the call at once', async ({ mock }) => {
    const headers = { ...mock.headers, 'grpc-timeout': '500H' }
    const { totalSize } = await clientOf(ConnectedAccounts, mock).listAccounts({}, { headers })
    expect(totalSize).toBe(0n)
  })
})

describe('grpc.health.v1', () => {
  it('serves the whole server and each service of the descriptors, without a bearer token or a journal entry', async () => {
    const { Health } = await import('../../../src/servers/rpc/generated/grpc/health/v1/health_pb.ts')
    await withRpc({}, async (mock) => {
      const health = clientOf(Health, mock)
      expect((await health.check({})).status).toBe(1)
      expect((await health.check({ service: ConnectedAccounts.typeName })).status).toBe(1)
      expect((await failure(health.check({ service: 'other' }))).code).toBe(Code.NotFound)
      const watching = health.watch({})[Symbol.asyncIterator]()
      expect((await watching.next()).value?.status).toBe(1)
      expect(entriesOf(mock)).toEqual([])
    })
  })
})

it('the contract record counts gRPC calls like requests', async ({ mock }) => {
  await failure(clientOf(ConnectedAccounts, mock).createAccount({ connector: 'mail' }, { headers: mock.headers }))
  const answer = await fetch(`${mock.url}/_mock/contract`)
  const report = JSON.stringify(await answer.json())
  expect(report).toContain('"operation":"create_connected_account"')
  expect(report).toContain('identifier')
  const judged = await fetch(`${mock.url}/_mock/contract?judge=prism`)
  expect(judged.status).toBe(200)
})
