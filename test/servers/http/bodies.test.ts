import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { ROUTES } from '../../../src/model/contract/route.ts'
import { readWholeBody } from '../../../src/servers/http/body.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const WITH_BODY = ROUTES.filter(({ bodyMediaType }) => bodyMediaType === 'application/json').map(
  (route) => [route.operation, route] as const,
)
type Route = (typeof ROUTES)[number]

async function send(mock: TestToolmock, route: Route, body: string, type = 'application/json') {
  const token = await mock.signIn()
  const method = route.method.toLowerCase() as 'post' | 'put'
  const request = mock
    .http(method, route.path.replace('{identifier}', 'nobody'))
    .set('Authorization', `Bearer ${token}`)
  return type === '' ? request.unset('Content-Type') : request.set('Content-Type', type).send(body)
}

const DEEP = 45_000
const BAD: [string, string, RegExp][] = [
  ['JSON that stops', '{"connector":', /must be valid JSON/],
  ['a number that is none', '{"a":NaN}', /must be valid JSON/],
  ['two values', '{}{}', /must be valid JSON/],
  ['a trailing comma', '{"a":1,}', /must be valid JSON/],
  ['single quotes', "{'a':1}", /must be valid JSON/],
  ['an array', '[]', /found an array/],
  ['an array of objects', '[{"connector":"mail"}]', /found an array/],
  ['a text', '"x"', /found a string/],
  ['a number', '7', /found a number/],
  ['true', 'true', /found a boolean/],
  ['null', 'null', /found null/],
  ['white space', '  ', /must be valid JSON/],
  ['a form', 'connector=mail&identifier=ada', /must be valid JSON/],
  [`${DEEP} nested objects`, `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`, /must nest at most/],
  [`${DEEP} nested arrays in a field`, `{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`, /must nest at most/],
  [`${DEEP} brackets that never close`, '['.repeat(DEEP), /must nest at most/],
]

const it = itWith(withToolmock, { mcp: true })

describe.each(WITH_BODY)('a bad body for %s', (_name, route) => {
  it('is a 400 with the reason: malformed, not an object, nested too deeply (G7)', async ({ mock }) => {
    for (const [name, body, message] of BAD) {
      const answer = await send(mock, route, body)

      expect(answer.status, name).toBe(400)
      expect(answer.body, name).toMatchObject({ code: 3, details: [{ error_code: 'MALFORMED_BODY' }] })
      expect(answer.body.message, name).toMatch(message)
    }
  })

  it.for([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/merge-patch+json',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json, text/plain',
    'application/jsonp',
  ])('is a 400 as %s (G7)', async (type, { mock }) => {
    const answer = await send(mock, route, '{}', type)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 3, details: [{ error_code: 'UNSUPPORTED_CONTENT_TYPE' }] })
  })

  it('is a 400 when it is missing', async ({ mock }) => {
    const answer = await send(mock, route, '', '')
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 3 })
  })

  it('is a 413 over the limit (G7)', async ({ mock }) => {
    const answer = await send(mock, route, JSON.stringify({ identifier: 'x'.repeat(2_000_000) }))

    expect(answer.status).toBe(413)
    expect(answer.body).toMatchObject({ code: 8, details: [{ error_code: 'BODY_TOO_LARGE' }] })
  })
})

describe('a body that is accepted', () => {
  const ada = JSON.stringify({ connector: 'mail', identifier: 'ada' })
  const create = ROUTES.find(({ operation }) => operation === 'create_connected_account')!

  it.for([
    'application/json',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'Application/JSON; charset="utf-8"',
    'application/json; profile=x',
  ])('has the form %s', async (type, { mock }) => {
    expect((await send(mock, create, ada, type)).status).toBe(201)
  })

  it('is exactly as large as the limit', async ({ startMock }) => {
    const mock = await startMock({ mcp: true, bodyLimit: 1000 })
    const exact = ada.replace('{', `{${' '.repeat(1000 - ada.length)}`)

    expect((await send(mock, create, exact)).status).toBe(201)
    expect((await send(mock, create, ` ${exact}`)).status).toBe(413)
  })

  it('is as large as the limit once it is decompressed, at any compressed size', async ({ startMock }) => {
    const mock = await startMock({ mcp: true, bodyLimit: 100 })
    const token = await mock.signIn()
    const sendGzip = (body: string) =>
      mock
        .http('post', create.path)
        .set({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
        .serialize(() => gzipSync(body, { level: 0 }) as unknown as string)
        .send({})
    const exact = ada.padEnd(100)

    expect(gzipSync(exact, { level: 0 }).length).toBeGreaterThan(100)
    expect((await sendGzip(exact)).status).toBe(201)
    expect((await sendGzip(`${exact} `)).status).toBe(413)
  })

  it('is refused by its Content-Length before any of it arrives, and read when it is as long as the limit', async () => {
    const announced = (length: number) =>
      Object.assign(new PassThrough(), { headers: { 'content-length': String(length) } })
    const tooLong = announced(11)
    await expect(readWholeBody(tooLong as unknown as IncomingMessage, 10)).rejects.toThrow('must have at most 10 bytes')
    const exact = announced(10)
    const read = readWholeBody(exact as unknown as IncomingMessage, 10)
    exact.end('0123456789')
    expect((await read).toString()).toBe('0123456789')
  })

  it('is as large as the limit without a Content-Length', async ({ startMock }) => {
    const mock = await startMock({ mcp: true, bodyLimit: 100 })
    const token = await mock.signIn()
    const sendChunked = (body: string) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
      const request = mock.http('post', create.path).set(headers)
      request.write(body)
      return request
    }

    expect((await sendChunked(ada.padEnd(100))).status).toBe(201)
    expect((await sendChunked(ada.padEnd(101))).status).toBe(413)
  })

  it('nests 100 levels deep, and one more is refused', async ({ mock }) => {
    const nested = (levels: number): string => {
      const inner = levels - 3
      const value = `${'['.repeat(inner)}${']'.repeat(inner)}`
      return `{"connector":"mail","identifier":"ada","connected_account":{"api_config":{"a":${value}}}}`
    }

    expect((await send(mock, create, nested(100))).status).toBe(201)
    expect((await send(mock, create, nested(101))).body).toMatchObject({
      details: [{ error_code: 'MALFORMED_BODY' }],
    })
  })

  it('nests 90 levels deep, with any number of brackets in its texts', async ({ mock }) => {
    const nested = `${'['.repeat(90)}"${'[{'.repeat(500)}\\""${']'.repeat(90)}`
    const body = `{"connector":"mail","identifier":"ada","connected_account":{"api_config":{"a":${nested}}}}`
    const answer = await send(mock, create, body)

    expect(answer.status).toBe(201)
    expect(answer.text).toContain(nested)
  })
})

it('a refused request changes no data: for any reason of the refusal', async ({ mock }) => {
  const before = JSON.stringify([...mock.environment.model.tables.accounts.values()])
  for (const [, route] of WITH_BODY) for (const [, body] of BAD) await send(mock, route, body)

  expect(JSON.stringify([...mock.environment.model.tables.accounts.values()])).toBe(before)
})
