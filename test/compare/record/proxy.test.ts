import { type RequestListener } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { HttpClient } from '../../../src/platform/http-client.ts'
import { RecordingProxy } from '../../../src/compare/record/proxy.ts'
import type { Recorded } from '../../../src/compare/record/recorded.ts'
import { withServer } from '../../support/server.ts'

function withProxy(
  service: RequestListener,
  work: (url: string, recorded: readonly Recorded[]) => Promise<void>,
): Promise<void> {
  return withServer(service, async (origin) => {
    const recorded: Recorded[] = []
    const options = { now: () => 0, recorded: (each: Recorded) => recorded.push(each) }
    const proxy = new RecordingProxy({ upstream: `${origin}/base`, ...options })
    try {
      await work(await proxy.listen('127.0.0.1', 0), recorded)
    } finally {
      await proxy.close()
    }
  })
}

it('passes a gzip body, its headers and the status on as they are, under the path of the service', () =>
  withProxy(
    (request, response) => {
      request.resume()
      response.writeHead(418, 'I am', { 'Content-Encoding': 'gzip', 'X-Path': request.url ?? '' })
      response.end(gzipSync('{"a":1}'))
    },
    async (url, recorded) => {
      const response = await new HttpClient(url).open({ method: 'GET', path: '/api/v1/x?y=%41' })
      const chunks: Buffer[] = []
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
      expect([response.statusCode, response.statusMessage]).toEqual([418, 'I am'])
      expect(response.headers['x-path']).toBe('/base/api/v1/x?y=%41')
      expect(gunzipSync(Buffer.concat(chunks)).toString()).toBe('{"a":1}')
      expect(recorded.at(-1)).toMatchObject({ target: '/api/v1/x?y=%41', response: { status: 418, isTorn: false } })
    },
  ))

it('ends the connection where the service ends it, before an answer and inside of one', () =>
  withProxy(
    (request, response) => {
      if (request.url === '/base/none') response.destroy()
      else if (request.url === '/base/half') {
        response.writeHead(200, { 'Content-Length': '100' })
        response.write('half', () => response.destroy())
      } else response.end()
    },
    async (url, recorded) => {
      const client = new HttpClient(url)
      await expect(client.send({ method: 'GET', path: '/none' })).rejects.toThrow()
      await expect(client.send({ method: 'GET', path: '/half' })).rejects.toThrow()
      await expect.poll(() => recorded.length).toBe(2)
      expect(recorded[0]?.response).toBeUndefined()
      expect(recorded[1]?.response).toMatchObject({ status: 200, isTorn: true })
    },
  ))

it('keeps 5 MB of a longer answer, and passes all of it on', () =>
  withProxy(
    (_request, response) => response.end(Buffer.alloc(6_000_000, 'a')),
    async (url, recorded) => {
      expect((await new HttpClient(url).send({ method: 'GET', path: '/long' })).text.length).toBe(6_000_000)
      await expect.poll(() => recorded.length).toBe(1)
      expect(recorded[0]?.response?.body).toMatchObject({ size: 6_000_000 })
      expect(recorded[0]?.response?.body.bytes.length).toBe(5 * 1024 * 1024)
    },
  ))

it('refuses a service that redirects to another one, in words', () =>
  expect(
    withProxy(
      (_request, response) => response.writeHead(302, { Location: 'http://other.example/' }).end(),
      () => Promise.resolve(),
    ),
  ).rejects.toThrow(/redirects to http:\/\/other\.example; name that one/))

it('on a free port does not take a service at the usual port for itself', async () => {
  const proxy = new RecordingProxy({ upstream: 'http://127.0.0.1', now: () => 0, recorded: () => undefined })
  const error = await proxy.listen('127.0.0.1', 0).catch(String)
  await proxy.close().catch(() => undefined)
  expect(error).not.toContain('itself')
})
