import { describe, expect, it } from 'vitest'
import { expectError, withServer } from './server.ts'

const LIST = '/api/v1/connections'

describe('the head of a request', () => {
  it.each([
    ['one header of 20 kB', (head: string) => `GET ${LIST} HTTP/1.1\r\n${head}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['5,000 headers', (head: string) => `GET ${LIST} HTTP/1.1\r\n${head}${'X-A: b\r\n'.repeat(5000)}\r\n`],
    ['a URL of 20 kB', (head: string) => `GET ${LIST}?a=${'a'.repeat(20_000)} HTTP/1.1\r\n${head}\r\n`],
    ['headers without an end', (head: string) => `GET ${LIST} HTTP/1.1\r\n${head}${'X-A: b\r\n'.repeat(500_000)}`],
  ])('with %s is a 431, which the client can read', (_name, text) =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(text(head))
      expectError((await client.all())[0], 431, 'MALFORMED_BODY')
      expect(client.answers).toHaveLength(1)
    }),
  )

  it.each([
    ['what is no HTTP at all', 'hello\r\n\r\n', { status: 400, method: '', path: '' }],
    [
      'a header without a colon',
      `GET ${LIST}?api_key=s3cr3t HTTP/1.1\r\nHost\r\n\r\n`,
      { status: 400, method: 'GET', path: LIST },
    ],
    [
      'too large a header',
      `GET ${LIST} HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
      { status: 431, method: 'GET', path: LIST },
    ],
  ])('has an entry in the journal, with an explanation, for %s', (_name, text, wanted) =>
    withServer({}, async ({ open, control }) => {
      const client = await open()
      client.send(text)
      const id = (await client.all())[0]?.headers.get('x-request-id') ?? ''
      const { requests } = (await control('GET', '/requests')) as { requests: { id: string }[] }
      const entry = requests.find((each) => each.id === id)
      expect(entry).toMatchObject({ kind: 'request', operation: null, error_code: 'MALFORMED_BODY', ...wanted })
      expect(JSON.stringify(entry)).not.toContain('s3cr3t')
      const { text: explanation } = (await control('GET', `/requests/${id}/explain`)) as { text: string }
      expect(explanation).toContain('\nWhat was sent cannot be read as an HTTP request (G16).\n')
      expect(explanation).not.toContain('s3cr3t')
    }),
  )

  it.each([
    ['/api/v1/connections', ''],
    ['/proxy/v1/messages', ''],
    ['/_mock/state', 'Host: evil.example\r\n'],
    ['/magic/nothing', ''],
  ])('of %s with two Host headers is a 400 with an entry in the journal (RFC 9112 3.2)', (path, other) =>
    withServer({}, async ({ open, head, port, control }) => {
      const client = await open()
      client.send(`GET ${path} HTTP/1.1\r\n${head}${other || `hOST: 127.0.0.1:${port}\r\n`}\r\n`)
      const answer = (await client.first(1))[0]
      expectError(answer, 400, 'MALFORMED_BODY')
      const id = answer?.headers.get('x-request-id')
      const { requests } = (await control('GET', '/requests')) as { requests: { id: string }[] }
      expect(requests.find((each) => each.id === id)).toMatchObject({ status: 400, method: 'GET', path })
    }),
  )

  it('keeps all of its headers, in any number', () =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`GET ${LIST} HTTP/1.1\r\n${'a:\r\n'.repeat(3000)}${head}\r\n`)
      expect((await client.first(1))[0]?.status).toBe(200)
    }))

  it('may have some thousand parameters', () =>
    withServer({}, async ({ open, get }) => {
      const client = await open()
      const query = Array.from({ length: 3000 }, (_, number) => `${number.toString(36)}=`).join('&')
      client.send(get(`/api/v1/connected_accounts?${query}`))
      client.send(get(`/api/v1/connected_accounts?${'query=a&'.repeat(1000)}`))
      const [ignored, refused] = await client.first(2)
      expect(ignored?.status).toBe(200)
      expectError(refused, 400, 'VALIDATION_FAILED')
    }))
})

describe('an expectation', () => {
  const body = JSON.stringify({ connector: 'encyclopedia', identifier: 'patient' })
  const about = 'Content-Type: application/json\r\nExpect: 100-continue\r\n'
  const CREATE = '/api/v1/connected_accounts'

  it('of 100-continue is answered with 100 when the body is read, and the connection stays open', () =>
    withServer({}, async ({ open, head, get }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\n${head}${about}Content-Length: ${body.length}\r\n\r\n`)
      expect((await client.first(1))[0]?.status).toBe(100)
      client.send(`${body}${get(LIST)}`)
      expect((await client.first(3)).map(({ status }) => status)).toEqual([100, 201, 200])
    }))

  it('of 100-continue is answered with 100 on pages and the control API as well', () =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`PUT /_mock/clock HTTP/1.1\r\n${head}${about}Content-Length: 16\r\n\r\n`)
      expect((await client.first(1))[0]?.status).toBe(100)
      client.send('{"advance":"1s"}')
      expect((await client.first(2))[1]?.status).toBe(200)
    }))

  it.each([
    ['without a token', (_head: string) => 'Host: x\r\nContent-Length: 1000000\r\n', 401, 'UNAUTHENTICATED'],
    ['that says it is too large', (head: string) => `${head}Content-Length: 2000000\r\n`, 413, 'BODY_TOO_LARGE'],
    [
      'in an unknown encoding',
      (head: string) => `${head}Content-Encoding: x\r\nContent-Length: 9\r\n`,
      400,
      'MALFORMED_BODY',
    ],
  ])('of 100-continue gets no 100 for a request %s, whose body is not read', (_name, lines, status, code) =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      client.send(`POST ${CREATE} HTTP/1.1\r\n${lines(head)}${about}\r\n`)
      const answers = await client.all()
      expect(answers).toHaveLength(1)
      expectError(answers[0], status, code)
      expect(answers[0]?.headers.get('connection')).toBe('close')
    }),
  )

  it('of anything else is a 417 with the error body, and is in the journal', () =>
    withServer({}, async ({ open, get, control }) => {
      const client = await open()
      client.send(get(LIST, 'Expect: a miracle\r\n'))
      expectError((await client.all())[0], 417, 'VALIDATION_FAILED')
      expect(await control('GET', '/requests?status=417')).toMatchObject({ requests: [{ path: LIST }] })
    }))
})
