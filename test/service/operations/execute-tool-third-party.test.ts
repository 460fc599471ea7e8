import type { RequestListener } from 'node:http'
import { describe, expect } from 'vitest'
import { ada, appSeed, run } from './app-seed.ts'
import { withServer } from '../../support/server.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const USED = { status: 'ACTIVE', last_used_at: '2026-01-01T00:00:00.000Z' }

/** Runs the one tool of a connector whose third party answers like that. */
function answering(answer: object, work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  return withToolmock({ seed: appSeed([{ name: 'do', answers: answer }]) }, work)
}

it('a third party that limits the rate (G44) is passed on as 429 with its Retry-After', () =>
  answering({ status: 429, headers: { 'Retry-After': '17' }, body: { message: 'slow down' } }, async (mock) => {
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toBe('17')
    expect(answer.body).toMatchObject({ code: 8, details: [{ error_code: 'TOOL_ERROR' }] })
    expect(toolError(answer.body)).toEqual({
      execution_id: expect.stringMatching(/^exec_/),
      tool_error_code: '429',
      tool_error_message: expect.stringContaining('slow down'),
    })
    expect(await ada(mock)).toMatchObject(USED)
  }))

it('a third party that limits the rate (G44) passes a date on unchanged', () =>
  answering({ status: 429, headers: { 'Retry-After': 'Thu, 01 Jan 2026 00:00:30 GMT' } }, async (mock) => {
    expect((await run(mock, 'do')).headers['retry-after']).toBe('Thu, 01 Jan 2026 00:00:30 GMT')
  }))

it('a third party that limits the rate (G44) adds no Retry-After where the third party sent none', () =>
  answering({ status: 429 }, async (mock) => {
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(429)
    expect(answer.headers).not.toHaveProperty('retry-after')
  }))

describe('a third party that fails or refuses (G44)', () => {
  it.each([400, 402, 404, 409, 410, 418, 422, 451, 499, 500, 501, 502, 503, 504, 599])(
    'is a 500 with its status %i as tool_error_code',
    (status) =>
      answering({ status, body: { error: { message: 'not today' } } }, async (mock) => {
        const answer = await run(mock, 'do')

        expect(answer.status).toBe(500)
        expect(answer.body).toMatchObject({ code: 13, details: [{ error_code: 'TOOL_ERROR' }] })
        expect(toolError(answer.body)).toEqual({
          execution_id: expect.stringMatching(/^exec_/),
          tool_error_code: String(status),
          tool_error_message: expect.stringContaining('not today'),
        })
        expect(await ada(mock)).toMatchObject(USED)
      }),
  )

  it('is a 403 where it answered 403, and the account stays ACTIVE', () =>
    answering({ status: 403, body: { error: 'missing_scope' } }, async (mock) => {
      const answer = await run(mock, 'do')

      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ code: 7, details: [{ error_code: 'TOOL_ERROR' }] })
      expect(toolError(answer.body)).toMatchObject({ tool_error_code: 'missing_scope' })
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE' })
    }))

  it('is no_responder where the connector has no matching responder', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([{ name: 'do' }]) })
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(500)
    expect(toolError(answer.body)).toMatchObject({
      tool_error_code: 'no_responder',
      tool_error_message: 'no responder answers POST /do',
    })
  })

  it.each<[object | string, string, string]>([
    [{ message: 'first', error: { message: 'second', code: 'E_2' } }, 'E_2', 'first'],
    [{ error: { message: 'second', status: 'PERMISSION_DENIED', code: 403 } }, 'PERMISSION_DENIED', 'second'],
    [{ error: 'invalid_grant', error_description: 'third', detail: 'fourth' }, 'invalid_grant', 'third'],
    [{ detail: 'fourth', error: 'two words', status: 'failed' }, 'failed', 'fourth'],
    [{ code: 'quota', error: 'fifth one' }, 'quota', 'fifth one'],
    [{ code: '1042', status: 422, error: { code: -3.5 } }, '422', '{"code":"1042","status":422,"error":{"code":-3.5}}'],
    [['a'], '422', '["a"]'],
    ['x'.repeat(501), '422', 'x'.repeat(500)],
    ['', '422', 'the third party answered 422'],
  ])('says in its own words what went wrong: %j', (body, code, text) =>
    withServer(
      (_request, response) =>
        json(response, 422, typeof body === 'string' ? body && JSON.stringify(body) : JSON.stringify(body)),
      (base_url) =>
        withToolmock({ seed: appSeed([{ name: 'do' }], { base_url }) }, async (mock) => {
          const answer = await run(mock, 'do')

          expect(answer.status).toBe(500)
          expect(answer.body).toMatchObject({ message: `tool execution failed - ${text}` })
          expect(toolError(answer.body)).toMatchObject({ tool_error_code: code, tool_error_message: text })
        }),
    ),
  )
})

describe('an answer that is not usable', () => {
  const broken: [string, RequestListener][] = [
    ['JSON that stops', (_request, response) => json(response, 200, '{"a":')],
    ['an empty body that says it is JSON', (_request, response) => json(response, 200, '')],
    ['45,000 nested levels', (_request, response) => json(response, 200, '['.repeat(45_000))],
    ['a redirect', (_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end()],
    ['a connection that is reset', (request) => request.socket.resetAndDestroy()],
    ['nothing at all', (request) => request.socket.end()],
    ['no HTTP', (request) => request.socket.end('hello\r\n\r\n')],
    [
      'a body cut short',
      (request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
        response.write('{"a":1')
        response.once('drain', () => request.socket.destroy())
        setImmediate(() => request.socket.destroy())
      },
    ],
  ]

  it.each(broken)('%s is a 500', (_name, listener) =>
    withServer(listener, (base_url) =>
      withToolmock({ seed: appSeed([{ name: 'do' }], { base_url }) }, async (mock) => {
        const answer = await run(mock, 'do')

        expect(answer.status).toBe(500)
        expect(answer.body).toMatchObject({ code: 13, details: [{ error_code: 'TOOL_ERROR' }] })
        expect(toolError(answer.body)).toMatchObject({ tool_error_code: 'unusable_answer' })
        expect(await ada(mock)).toMatchObject(USED)
      }),
    ),
  )

  it('an unreachable server is a 500', async ({ startMock }) => {
    const mock = await startMock({ seed: appSeed([{ name: 'do' }], { base_url: 'http://127.0.0.1:1' }) })
    const answer = await run(mock, 'do')

    expect(answer.status).toBe(500)
    expect(toolError(answer.body)).toMatchObject({ tool_error_code: 'unusable_answer' })
    expect(await ada(mock)).not.toHaveProperty('last_used_at')
  })

  it('a part of the path that would leave the path of the call is refused as input, without a call', async ({
    startMock,
  }) => {
    const mock = await startMock({
      seed: appSeed([{ name: 'do', call: { path: '/items/{{input.id}}/do' } }], {
        responders: [{ on: { path: '/items/{id}/do' }, respond: { body: {} } }],
      }),
    })
    for (const id of ['.', '..']) {
      const answer = await run(mock, 'do', { id })

      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ code: 3, details: [{ error_code: 'INVALID_TOOL_INPUT' }] })
    }
    expect(await ada(mock)).not.toHaveProperty('last_used_at')
  })
})

it('a sequence with per: account begins again with an account that is deleted and made again', () => {
  const responders = [{ on: {}, sequence: [{ body: { n: 1 } }, { body: { n: 2 } }], per: 'account' }]
  const seed = appSeed([{ name: 'do' }], { authorization_type: 'NO_AUTH', responders })
  return withToolmock({ seed }, async (mock) => {
    const next = async () => (await run(mock, 'do')).body as unknown
    expect([await next(), await next(), await next()]).toMatchObject([1, 2, 2].map((n) => ({ data: { n } })))
    const account = { connector: 'app', identifier: 'ada' }
    await mock.api.post('/connected_accounts:delete', account)
    const counters = [...mock.environment.model.tables.counters.ids()]
    expect(counters.filter((id) => id.startsWith('responder '))).toEqual([])
    await mock.api.post('/connected_accounts', account)
    expect(await next()).toMatchObject({ data: { n: 1 } })
  })
})

it.each([
  ['an array', '[1,2]', { array: [1, 2] }],
  ['a text', '"x"', { value: 'x' }],
  ['null', 'null', {}],
  ['keys of object prototypes', '{"__proto__":{"a":1}}', JSON.parse('{"__proto__":{"a":1}}')],
])('answers other than objects: %s becomes the object that data requires', (_name, body, data) =>
  withServer(
    (_request, response) => json(response, 200, body),
    (base_url) =>
      withToolmock({ seed: appSeed([{ name: 'do' }], { base_url }) }, async (mock) => {
        const answer = await run(mock, 'do')

        expect(answer.status).toBe(200)
        expect(answer.text).toContain(`"data":${JSON.stringify(data)}`)
      }),
  ),
)

it('a third party that does not answer in time (G44) is a 504, and the account is as before', () =>
  withServer(
    () => undefined,
    (base_url) =>
      withToolmock({ seed: appSeed([{ name: 'do', call: { timeout: '30ms' } }], { base_url }) }, async (mock) => {
        const answer = await run(mock, 'do')

        expect(answer.status).toBe(504)
        expect(answer.body).toMatchObject({ code: 4, details: [{ error_code: 'TOOL_ERROR' }] })
        expect(toolError(answer.body)).toMatchObject({
          execution_id: expect.stringMatching(/^exec_/),
          tool_error_code: 'timeout',
        })
        expect(await ada(mock)).toMatchObject(USED)
      }),
  ))

it('a third party that does not answer in time (G44) is a 504 when the answer has begun and does not end', () =>
  withServer(
    (_request, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
    (base_url) =>
      withToolmock({ seed: appSeed([{ name: 'do', call: { timeout: '30ms' } }], { base_url }) }, async (mock) => {
        expect((await run(mock, 'do')).status).toBe(504)
      }),
  ))

function json(response: Parameters<RequestListener>[1], status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
}

function toolError(body: unknown): unknown {
  return (body as { details: [{ tool_error_info?: unknown }] }).details[0].tool_error_info
}
