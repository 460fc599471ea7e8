import { describe, expect, it } from 'vitest'
import { expectError, withServer } from './server.ts'

const LIST = '/api/v1/connections'

describe('many clients', { timeout: 60_000 }, () => {
  it('1,000 connections at once each get every answer', () =>
    withServer({}, async ({ open, get }) => {
      const clients = await Promise.all(Array.from({ length: 1000 }, () => open()))
      for (let round = 1; round <= 2; round++) {
        for (const client of clients) client.send(get(LIST))
        await Promise.all(clients.map((client) => client.first(round)))
      }
      const statuses = clients.flatMap(({ answers }) => answers.map(({ status }) => status))
      expect(statuses.filter((status) => status === 200)).toHaveLength(2000)
      expect(clients.filter(({ ended }) => ended)).toHaveLength(0)
    }))

  it('500 that each send half a request do not block the answers to others', () =>
    withServer({}, async ({ open, get, head }) => {
      const clients = await Promise.all(Array.from({ length: 500 }, () => open()))
      for (const [index, client] of clients.entries()) {
        const body = index % 2 === 0 ? '' : 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
        client.send(`POST /api/v1/connected_accounts HTTP/1.1\r\n${head}${body}`)
      }
      const other = await open()
      other.send(get(LIST))
      expect((await other.first(1))[0]?.status).toBe(200)
    }))
})

describe('one connection', { timeout: 60_000 }, () => {
  it('serves 10,000 requests one after the other', () =>
    withServer({}, async ({ open, get }) => {
      const client = await open()
      for (let number = 1; number <= 10_000; number++) {
        client.send(get('/_mock/health'))
        await client.first(number)
      }
      expect(client.answers.filter(({ status }) => status === 200)).toHaveLength(10_000)
      expect(client.ended).toBe(false)
    }))

  it('answers pipelined requests in their order, also when a later one is faster', () =>
    withServer({}, async ({ open, get, post, control }) => {
      const rules = [{ name: 'slow', at: 'service', on: { operation: 'list_connections' }, do: [{ latency: 100 }] }]
      await control('PUT', '/scenarios/slow', { name: 'slow', rules })
      await control('POST', '/scenarios/slow/start')
      const client = await open()
      const requests = Array.from({ length: 200 }, (_, number) => {
        const id = `X-Request-Id: r${number}\r\n`
        const body = { connector: 'encyclopedia', identifier: `pipe-${number}` }
        if (number === 50 || number === 51) return get(LIST, id)
        return number % 3 === 0 ? post('/api/v1/connected_accounts', body, id) : get('/nowhere', id)
      })
      client.send(requests.join(''))
      const answers = await client.first(200)

      expect(answers.map(({ headers }) => headers.get('x-request-id'))).toEqual(requests.map((_, at) => `r${at}`))
      expect(answers[48]?.status).toBe(201)
      expect(answers[50]?.status).toBe(200)
    }))

  it('carries out a reset before the pipelined requests after it, whose effects and entries stay', () =>
    withServer({}, async ({ open, get, post, control }) => {
      const client = await open()
      const account = (identifier: string) => ({ connector: 'encyclopedia', identifier })
      const create = (identifier: string) =>
        post('/api/v1/connected_accounts', account(identifier), `X-Request-Id: ${identifier}\r\n`)
      client.send(
        create('before') + post('/_mock/reset', {}) + create('after') + get('/nowhere', 'X-Request-Id: last\r\n'),
      )
      const answers = await client.first(4)
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 201, 404])
      const { accounts } = (await control('GET', '/accounts')) as { accounts: { identifier: string }[] }
      expect(accounts.map(({ identifier }) => identifier)).not.toContain('before')
      expect(accounts.map(({ identifier }) => identifier)).toContain('after')
      const { requests } = (await control('GET', '/requests')) as { requests: { id: string }[] }
      expect(requests.map(({ id }) => id).sort()).toEqual(['after', 'last'])
    }))

  it('answers the requests before an unreadable one first', () =>
    withServer({}, async ({ open, get, control }) => {
      const rules = [{ name: 'slow', at: 'service', on: { operation: 'list_connections' }, do: [{ latency: 100 }] }]
      await control('PUT', '/scenarios/slow', { name: 'slow', rules })
      await control('POST', '/scenarios/slow/start')
      const client = await open()
      client.send(`${get(LIST)}${get(LIST)}garbage\r\n\r\n`)
      const answers = await client.all()

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
      expectError(answers[2], 400, 'MALFORMED_BODY')
    }))

  it.each([
    ['empty_response', {}],
    ['truncate_body', {}],
    ['slow_body', { over: 50, pieces: 3 }],
    ['timeout', {}],
  ])('answers the requests before %s first', (fault, parameters) =>
    withServer({}, async ({ open, get, control }) => {
      const faulty = { name: 'f', at: 'service', on: { operation: 'list_providers' }, do: [{ [fault]: parameters }] }
      const late = { name: 'l', at: 'service', on: { operation: 'list_connections' }, do: [{ latency: 100 }] }
      await control('PUT', '/scenarios/faulty', { name: 'faulty', rules: [faulty, late] })
      await control('POST', '/scenarios/faulty/start')
      const client = await open()
      client.send(`${get(LIST)}${get('/api/v1/providers')}${get(LIST)}`)
      const [first, second, third] = await (fault === 'timeout' ? client.first(1) : client.first(3))

      expect(first?.status).toBe(200)
      expect([second?.status, third?.status]).toEqual(fault === 'slow_body' ? [200, 200] : [undefined, undefined])
    }),
  )

  it('is closed after the answer when its client sends Connection: close', () =>
    withServer({}, async ({ open, get }) => {
      const client = await open()
      client.send(get(LIST, 'Connection: close\r\n'))
      const [answer, ...more] = await client.all()
      expect([answer?.status, answer?.headers.get('connection'), more]).toEqual([200, 'close', []])
    }))

  it.each([
    ['closed', '', true],
    ['kept when its client asks for it', 'Connection: keep-alive\r\n', false],
  ])('of HTTP/1.0 is %s', (_name, line, closed) =>
    withServer({}, async ({ open, head }) => {
      const client = await open()
      const request = `GET ${LIST} HTTP/1.0\r\n${head}${line}\r\n`
      client.send(request)
      const [answer] = await client.first(1)
      expect(answer?.status).toBe(200)
      expect(answer?.headers.get('transfer-encoding')).toBeUndefined()
      if (closed) await client.all()
      else expect((await client.send(request).first(2))[1]?.status).toBe(200)
    }),
  )
})
