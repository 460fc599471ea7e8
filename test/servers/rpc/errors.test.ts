import { once } from 'node:events'
import { connect } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { fromBinary } from '@bufbuild/protobuf'
import { Code, createClient } from '@connectrpc/connect'
import { findTrailerError } from '@connectrpc/connect/protocol-grpc'
import { describe, expect } from 'vitest'
import { ConnectedAccounts, ErrorInfoSchema } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { entriesOf, failure, it, type RpcMock, TRANSPORTS, withRpc } from './fixture.ts'

const LIST = '/acme.tools.v1.ConnectedAccounts/ListAccounts'
const CREATE = '/acme.tools.v1.ConnectedAccounts/CreateAccount'
const ARCHIVE = '/acme.tools.v1.ConnectedAccounts/ArchiveAccount'
/** Field 1 with a wire type that there is not. */
const GARBAGE = Buffer.of(0x0f, 0xff)

type Headers = Record<string, string>

function envelope(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** A call of gRPC with any octets; returns its trailers, which a call without a message has in its head. */
async function grpc(mock: RpcMock, path: string, body: Uint8Array, headers: Headers = {}): Promise<globalThis.Headers> {
  const session = connect(mock.url)
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    ...mock.headers,
    ...headers,
  })
  const seen: object[] = []
  stream.on('response', (head) => seen.push(head)).on('trailers', (trailers) => seen.push(trailers))
  stream.end(body)
  await once(stream.resume(), 'close')
  session.destroy()
  const pairs = Object.entries(Object.assign({}, ...seen) as Headers)
  return new Headers(pairs.filter(([name]) => !name.startsWith(':')))
}

function connectCall(mock: RpcMock, path: string, body: Uint8Array, headers: Headers): Promise<Response> {
  return fetch(mock.url + path, { method: 'POST', headers: { ...mock.headers, ...headers }, body })
}

it.for<[string, number, string, string, Uint8Array, Headers]>([
  ['octets that are no message', 3, 'MALFORMED_BODY', LIST, envelope(GARBAGE), {}],
  ['no message', 12, 'MALFORMED_BODY', LIST, Buffer.of(), {}],
  ['an unknown encoding', 12, 'MALFORMED_BODY', LIST, envelope(GARBAGE, 1), { 'grpc-encoding': 'snappy' }],
  ['an unreadable deadline', 3, 'MALFORMED_BODY', LIST, envelope(Buffer.of()), { 'grpc-timeout': 'soon' }],
  ['a message that is too large', 8, 'BODY_TOO_LARGE', LIST, envelope(Buffer.alloc(2000)), {}],
  [
    'a message that is too large once it is unpacked',
    8,
    'BODY_TOO_LARGE',
    LIST,
    envelope(gzipSync(Buffer.alloc(100_000)), 1),
    { 'grpc-encoding': 'gzip' },
  ],
  ['a method that is not served', 12, 'PATH_NOT_FOUND', ARCHIVE, envelope(Buffer.of()), {}],
  ['a service that is not known', 12, 'PATH_NOT_FOUND', '/acme.other.v1.Other/Do', envelope(Buffer.of()), {}],
  [
    'a service without a health',
    5,
    'PATH_NOT_FOUND',
    '/grpc.health.v1.Health/Check',
    envelope(Buffer.of(10, 1, 65)),
    {},
  ],
  ['no access token', 16, 'UNAUTHENTICATED', LIST, envelope(Buffer.of()), { authorization: '' }],
  ['a missing field', 3, 'VALIDATION_FAILED', CREATE, envelope(Buffer.of()), {}],
])(
  'an error of gRPC has grpc-status-details-bin with code, message and ErrorInfo: %s',
  async ([_what, code, word, path, body, headers], { startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const trailers = await grpc(mock, path, body, { 'x-request-id': 'mine-1', ...headers })
    expect(trailers.get('grpc-status')).toBe(String(code))
    expect(trailers.get('grpc-status-details-bin')).toMatch(/\w/)
    const error = findTrailerError(trailers)
    expect(error?.code).toBe(code)
    expect(error?.rawMessage).toBe(decodeURIComponent(trailers.get('grpc-message') ?? ''))
    expect(error?.findDetails(ErrorInfoSchema)).toMatchObject([
      { errorCode: word, requestInfo: { requestId: 'mine-1' } },
    ])
    expect(trailers.get('x-request-id')).toBe('mine-1')
  },
)

it.for(Object.keys(TRANSPORTS) as (keyof typeof TRANSPORTS)[])(
  'an error of gRPC has ErrorInfo for a message that is too large, by %s',
  async (protocol, { startMock }) => {
    const mock = await startMock({ bodyLimit: 1000 })
    const accounts = createClient(ConnectedAccounts, TRANSPORTS[protocol](mock.url))
    const large = { connector: 'mail', identifier: 'a'.repeat(1001) }
    const error = await failure(accounts.createAccount(large, { headers: mock.headers }))
    const id = error.metadata.get('x-request-id')

    expect(error.code).toBe(Code.ResourceExhausted)
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { errorCode: 'BODY_TOO_LARGE', requestInfo: { requestId: id } },
    ])
    expect(entriesOf(mock)).toMatchObject([{ id, status: 413, error_code: 'BODY_TOO_LARGE', method: CREATE.slice(1) }])
  },
)

describe('a request of Connect that does not decode', () => {
  it.for<[string, string, Uint8Array]>([
    ['text that is no JSON', 'application/json', Buffer.from('{"identifier": "s3cret-')],
    ['octets that are no message', 'application/proto', GARBAGE],
    ['a field of another type', 'application/json', Buffer.from('{"page_size": "s3cret-text"}')],
    ['a field that is not UTF-8', 'application/proto', Buffer.of(10, 1, 0xff)],
  ])('is a 400 with X-Request-Id and ErrorInfo, in the journal: %s', async ([_what, type, body], { mock }) => {
    const answer = await connectCall(mock, LIST, body, { 'content-type': type })
    const id = answer.headers.get('x-request-id')
    const { code, message, details } = (await answer.json()) as {
      code: string
      message: string
      details: { type: string; value: string }[]
    }

    expect([answer.status, code]).toEqual([400, 'invalid_argument'])
    expect(id).toMatch(/^req_/)
    expect(details.map(({ type: name }) => name)).toEqual(['acme.tools.v1.ErrorInfo'])
    expect(fromBinary(ErrorInfoSchema, Buffer.from(details[0]!.value, 'base64'))).toMatchObject({
      errorCode: 'MALFORMED_BODY',
      requestInfo: { requestId: id },
    })
    expect(message).not.toContain('s3cret')
    expect(entriesOf(mock)).toMatchObject([
      { id, protocol: 'connect', method: LIST.slice(1), status: 400, error_code: 'MALFORMED_BODY' },
    ])
  })

  it('has X-Request-Id where the method or the content type is none of Connect', async ({ mock }) => {
    const headers = { 'x-request-id': 'mine-2', 'content-type': 'text/plain' }
    const typed = await connectCall(mock, LIST, Buffer.from('a'), headers)
    const got = await fetch(mock.url + LIST, { headers })
    expect([typed, got].map((answer) => [answer.status, answer.headers.get('x-request-id')])).toEqual([
      [415, 'mine-2'],
      [405, 'mine-2'],
    ])
  })
})

it.each<[string, Headers]>([
  ['grpc-timeout', { 'grpc-timeout': '99999999H' }],
  ['grpc-timeout just beyond', { 'grpc-timeout': '2147484S' }],
  ['grpc-timeout just below', { 'grpc-timeout': '2147483S' }],
])('a deadline beyond what a timer takes, 24.8 days counts as none: %s', async (_name, headers) => {
  const warnings: string[] = []
  const note = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', note)
  await withRpc({}, async (mock) => {
    expect((await grpc(mock, LIST, envelope(Buffer.of()), headers)).get('grpc-status')).toBe('0')
    const asked = { 'content-type': 'application/json', 'connect-timeout-ms': '9999999999' }
    expect((await connectCall(mock, LIST, Buffer.from('{}'), asked)).status).toBe(200)
  })
  process.off('warning', note)
  expect(warnings).toEqual([])
})

it('UNIMPLEMENTED: names the method, its path and where to read on, in at most 200 characters', async ({ mock }) => {
  const accounts = createClient(ConnectedAccounts, TRANSPORTS['grpc over HTTP/2'](mock.url))
  const error = await failure(accounts.archiveAccount({}, { headers: mock.headers }))
  expect(error.rawMessage).toBe(
    'acme.tools.v1.ConnectedAccounts/ArchiveAccount is not served: ' +
      'the mock does not serve POST /api/v1/connected_accounts:archive; see toolmock explain G62',
  )
  for (const [name, length] of [
    ['Do', 77],
    ['a'.repeat(500), 200],
  ] as const) {
    const message = decodeURIComponent(
      (await grpc(mock, `/acme.Other/${name}`, envelope(Buffer.of()))).get('grpc-message') ?? '',
    )
    expect(message).toMatch(/^acme\.Other\/.* see toolmock explain G62$/)
    expect(message.length).toBe(length)
  }
})

it.for([
  ['ListAccount', true],
  ['ListAcounts', true],
  ['ListAddresses', false],
  ['CreateOrganization', false],
  ['DeleteUser', false],
])('UNIMPLEMENTED: for %s suggests a method: %s, only where one is a slip away', async ([name, suggests], { mock }) => {
  const path = `/acme.tools.v1.ConnectedAccounts/${name}`
  const message = decodeURIComponent((await grpc(mock, path, envelope(Buffer.of()))).get('grpc-message') ?? '')
  expect(message.includes('did you mean acme.tools.v1.ConnectedAccounts/ListAccounts?')).toBe(suggests)
  expect(message.includes('did you mean')).toBe(suggests)
  expect(message.length).toBeLessThanOrEqual(200)
})
