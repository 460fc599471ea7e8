import { describe, expect, it } from 'vitest'
import type { RawClient } from './raw-client.ts'
import { expectError, withServer } from './server.ts'

const CREATE = '/api/v1/connected_accounts'
const PIECE = ' '.repeat(64 * 1024)
const CHUNK = `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`
const JSON_TYPE = 'Content-Type: application/json\r\n'

/** Sends the same piece until the connection ends. */
async function pour(client: RawClient, piece: string): Promise<void> {
  const more = (): void => {
    while (!client.ended && client.socket.writable && client.socket.write(piece, 'latin1'));
  }
  client.socket.on('drain', more)
  more()
  await client.all()
}

describe('a body that never ends', { timeout: 60_000 }, () => {
  it.each([
    ['of a length that is too large', 'Content-Length: 99999999999\r\n', PIECE, 413],
    ['of a length that is no longer a number', 'Content-Length: 9999999999999999999\r\n', PIECE, 413],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', CHUNK, 413],
  ])('%s is refused, and its connection is dropped', (_name, length, piece, status) =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\n${head}${JSON_TYPE}${length}\r\n`)
      await pour(client, piece)
      expectError(client.answers[0], status, 'BODY_TOO_LARGE')
      expect(client.answers).toHaveLength(1)
    }),
  )

  it.each([
    ['without a token', 'POST', CREATE, 401],
    ['at a path that is not served', 'POST', '/nowhere', 404],
    ['with a method that is not served', 'PATCH', CREATE, 405],
    ['where none belongs', 'GET', '/api/v1/connections', 401],
  ])('%s is refused, and its connection is dropped', (_name, method, path, status) =>
    withServer({}, async ({ open }) => {
      const client = await open()
      client.send(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n`)
      await pour(client, CHUNK)
      expect(client.answers.map((answer) => answer.status)).toEqual([status])
    }),
  )

  it('at the token endpoint is refused with 413', () =>
    withServer({}, async ({ open }) => {
      const client = await open()
      const type = 'Content-Type: application/x-www-form-urlencoded\r\n'
      client.send(`POST /oauth/token HTTP/1.1\r\nHost: x\r\n${type}Transfer-Encoding: chunked\r\n\r\n`)
      await pour(client, CHUNK)
      expectError(client.answers[0], 413, 'BODY_TOO_LARGE')
    }))

  it('at the control API is refused with 413', () =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`PUT /_mock/clock HTTP/1.1\r\n${head}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`)
      await pour(client, CHUNK)
      expect(client.answers.map(({ status }) => status)).toEqual([413])
      expect(client.answers[0]?.headers.get('x-request-id')).toMatch(/^req_/)
    }))

  it.each([
    ['where the control API takes none', 'GET', '/_mock/clock', 'application/json', 413],
    ['at a page without a form', 'POST', '/connect/success', 'application/x-www-form-urlencoded', 405],
    ['at a magic link', 'POST', '/magic/unknown', 'application/x-www-form-urlencoded', 413],
    ['at a third party', 'POST', '/third-party/mail/api/v1/messages', 'application/json', 413],
    ['at an application without a document', 'GET', '/', 'application/json', 200],
  ])('%s is answered, and its connection is dropped', (_name, method, path, type, status) =>
    withServer({}, async ({ open }) => {
      const client = await open()
      const lines = `Host: 127.0.0.1\r\nAccept: application/json\r\nContent-Type: ${type}\r\n`
      client.send(`${method} ${path} HTTP/1.1\r\n${lines}Transfer-Encoding: chunked\r\n\r\n`)
      await pour(client, CHUNK)
      expect(client.answers.map((answer) => answer.status)).toEqual([status])
    }),
  )

  it('is refused by its Content-Length before any of it is sent', () =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\n${head}${JSON_TYPE}Content-Length: 2000000\r\n\r\n`)
      expectError((await client.first(1))[0], 413, 'BODY_TOO_LARGE')
    }))
})

describe('a body of many parts is processed quickly', { timeout: 60_000 }, () => {
  it.each([
    ['form of 150,000 fields', 'application/x-www-form-urlencoded', () => numbers((n) => `${n}=`, 150_000, '&')],
    ['form of one field 300,000 times', 'application/x-www-form-urlencoded', () => 'a=&'.repeat(300_000)],
  ])('%s', (_name, type, body) =>
    withServer({}, async ({ open }) => {
      const client = await open()
      const text = body()
      client.send(`POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n`)
      client.send(`Content-Length: ${text.length}\r\n\r\n${text}`)
      expect((await client.first(1))[0]?.status).toBe(400)
    }),
  )

  it.each([
    ['in the body', (fields: string) => `{${fields}}`, 400],
    [
      'in api_config',
      (fields: string) =>
        `{"connector":"encyclopedia","identifier":"x","connected_account":{"api_config":{${fields}}}}`,
      201,
    ],
  ])('100,000 unknown fields %s', (_name, body, status) =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      const text = body(numbers((n) => `"${n}":0`, 100_000, ','))
      client.send(`POST ${CREATE} HTTP/1.1\r\n${head}${JSON_TYPE}Content-Length: ${text.length}\r\n\r\n${text}`)
      expect((await client.first(1))[0]?.status).toBe(status)
    }),
  )
})

function numbers(part: (name: string) => string, count: number, between: string): string {
  return Array.from({ length: count }, (_, number) => part(number.toString(36))).join(between)
}
