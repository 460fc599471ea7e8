import { type AddressInfo, createServer } from 'node:net'
import { once } from 'node:events'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { withServer } from '../../support/server.ts'
import { appSeed } from '../operations/app-seed.ts'
import { withToolmock } from '../../support/toolmock.ts'
import { Fixture, connectorOf, responder } from './fixture.ts'

const JSON_TYPE = 'application/json'
const NAME = { name: 'Zoë ☕' }
const TEXT = JSON.stringify(NAME)

/** What the service makes of an answer, and what it notes of it. */
async function callOf(headers: Record<string, string>, body: Buffer | string) {
  const results: { answer: unknown; upstream: string | undefined }[] = []
  await withServer(
    (_request, response) => response.writeHead(200, headers).end(body),
    async (base_url) => {
      await using fixture = await Fixture.start(connectorOf('NO_AUTH', { base_url }))
      const answer = await fixture.call(fixture.place({}))
      results.push({ answer, upstream: fixture.trace.upstream[0]?.answer })
    },
  )
  return results[0]
}

describe('the answer of a third party', () => {
  it.each<[string, Record<string, string>, Buffer, unknown]>([
    ['gzip', { 'Content-Encoding': 'gzip' }, gzipSync(TEXT), NAME],
    ['x-gzip in capitals', { 'Content-Encoding': 'X-GZIP' }, gzipSync(TEXT), NAME],
    ['deflate', { 'Content-Encoding': 'deflate' }, deflateSync(TEXT), NAME],
    ['br', { 'Content-Encoding': 'br' }, brotliCompressSync(TEXT), NAME],
    ['two codings', { 'Content-Encoding': 'gzip, br' }, brotliCompressSync(gzipSync(TEXT)), NAME],
    ['a byte-order mark', {}, Buffer.from(`\ufeff${TEXT}`), NAME],
    ['a byte-order mark of UTF-16', {}, Buffer.from(`\ufeff${TEXT}`, 'utf16le'), NAME],
    ['an unknown charset', { 'Content-Type': 'application/json; charset=utf-none' }, Buffer.from(TEXT), NAME],
    [
      'Latin-1',
      { 'Content-Type': 'application/json;charset="ISO-8859-1"' },
      Buffer.from('{"a":"é"}', 'latin1'),
      { a: 'é' },
    ],
    [
      'windows-1252 as text',
      { 'Content-Type': 'text/plain; charset=windows-1252' },
      Buffer.from([0x80]),
      { value: '€' },
    ],
    [
      'KOI8-R as text',
      { 'Content-Type': 'text/plain; charset=koi8-r' },
      Buffer.from([0xcd, 0xc9, 0xd2]),
      { value: 'мир' },
    ],
    [
      'Latin-1 in gzip',
      { 'Content-Type': 'text/plain; charset=iso-8859-1', 'Content-Encoding': 'gzip' },
      gzipSync(Buffer.from('é', 'latin1')),
      { value: 'é' },
    ],
  ])('is read in %s', async (_title, headers, body, data) => {
    const result = await callOf({ 'Content-Type': JSON_TYPE, ...headers }, body)

    expect(result?.answer).toEqual({ kind: 'result', data })
    expect(result?.upstream).toMatch(/Zoë ☕|é|мир|€/)
  })

  it.each([
    ['of a coding that is not known', 'zstd', Buffer.from('x')],
    ['that its coding does not fit', 'gzip', Buffer.from(TEXT)],
    ['larger than 5 MiB without its coding', 'br', brotliCompressSync(Buffer.alloc(6_000_000, ' '))],
  ])('%s is unusable, and the reason names the coding', async (_title, coding, body) => {
    const result = await callOf({ 'Content-Type': JSON_TYPE, 'Content-Encoding': coding }, body)

    const message = `the third party answered 200 with a body that has the Content-Encoding ${coding} and is not usable`
    expect(result?.answer).toMatchObject({ kind: 'failed', status: 200, message, arrived: true })
  })

  it.each([100, 102, 103, 199])('is waited for after the interim answer %s', async (status) => {
    const interim = `HTTP/1.1 ${status} Interim\r\nLink: </a>\r\n\r\n`
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.end(
          `${interim}${interim}HTTP/1.1 201 Created\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 2\r\n\r\n{}`,
        )
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await withToolmock({ seed: appSeed([], { authorization_type: 'NO_AUTH', base_url }) }, async ({ http, signIn }) => {
      const headers = { Authorization: `Bearer ${await signIn()}`, connection_name: 'app', identifier: 'ada' }
      const answer = await http('get', '/proxy/x').set(headers)
      expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: 201, body: {} })
    })
    server.close()
  })
})

it.each<[string, string, Buffer]>([
  ['text/plain; charset=iso-8859-1', 'é ☕', Buffer.from('é ?', 'latin1')],
  ['application/json; charset=ISO-8859-1', 'é ☕', Buffer.from('é \\u2615', 'latin1')],
  ['text/plain; charset=windows-1252', '€', Buffer.from([0x80])],
  ['text/plain; charset=utf-16le', 'é', Buffer.from('é', 'utf16le')],
  ['text/plain; charset=utf-8', 'é', Buffer.from('é')],
  ['text/plain; charset=utf-none', 'é', Buffer.from('é')],
])('a responder that names a charset sends %s', async (type, body, bytes) => {
  await using fixture = await Fixture.start(
    connectorOf('NO_AUTH', { responders: [responder({}, { headers: { 'content-type': type }, body })] }),
  )
  const response = await fetch(`${fixture.origin}/default/app/api/x`)

  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes)
  expect(response.headers.get('content-type')).toBe(type)
})

it('a responder that names a charset answers 422 for one that it cannot write', async () => {
  const headers = { 'Content-Type': 'text/plain; charset=shift_jis' }
  await using fixture = await Fixture.start(
    connectorOf('NO_AUTH', { responders: [responder({}, { headers, body: 'é' })] }),
  )
  const { status, body } = await fixture.api('/x')

  const message =
    'the charset of Content-Type is shift_jis, allowed are utf-8, utf-16le and those of one byte a character'
  expect({ status, body }).toEqual({ status: 422, body: { error: 'unusable_template', message } })
})

it('a responder that names a charset reads a request in the charset that it names', async () => {
  const on = { body: { name: 'Zoë' } }
  await using fixture = await Fixture.start(
    connectorOf('NO_AUTH', { responders: [responder(on, { body: '{{request.body.name}}' })] }),
  )
  const headers = { 'Content-Type': 'application/json; charset=iso-8859-1' }
  const body = Buffer.from('{"name":"Zoë"}', 'latin1')
  expect(await fixture.api('/x', { method: 'POST', headers, body })).toMatchObject({ status: 200, body: 'Zoë' })
})
