import { expect } from 'vitest'
import type { ServerLimits } from '../../src/servers/http/server.ts'
import { createApp, type App, type AppOptions } from '../../src/app/app.ts'
import { RawClient, type RawAnswer } from './raw-client.ts'
import { freePort } from '../support/free-port.ts'

/** A mock on a port of its own, and the texts of requests to it. */
export interface Target {
  readonly app: App
  readonly url: string
  readonly port: number
  /** The header lines of every request: Host and Authorization. */
  readonly head: string
  readonly open: () => Promise<RawClient>
  /** The text of `GET path`. */
  readonly get: (path: string, lines?: string) => string
  /** The text of a POST with a JSON body. */
  readonly post: (path: string, body: object, lines?: string) => string
  /** A call of the control API that has to succeed. */
  readonly control: (method: string, path: string, body?: object) => Promise<unknown>
}

/** Time limits that a test can wait for. */
export const SHORT: ServerLimits = {
  headersTimeout: 250,
  requestTimeout: 500,
  keepAliveTimeout: 300,
  stallTimeout: 300,
  closeTimeout: 500,
}

/** Starts a mock, runs `work`, closes every connection and stops the mock. */
export async function withServer(options: AppOptions, work: (target: Target) => Promise<void>): Promise<void> {
  const app = await createApp(options)
  const clients: RawClient[] = []
  try {
    const { url, port } = await app.listen({ host: '127.0.0.1', port: await freePort() })
    const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${await tokenOf(app, url)}\r\n`
    const open = async (): Promise<RawClient> => {
      const client = await RawClient.open(port)
      clients.push(client)
      return client
    }
    await work({
      app,
      url,
      port,
      head,
      open,
      get: (path, lines = '') => `GET ${path} HTTP/1.1\r\n${head}${lines}\r\n`,
      post: (path, body, lines = '') => {
        const text = JSON.stringify(body)
        const about = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`
        return `POST ${path} HTTP/1.1\r\n${head}${about}${lines}\r\n${text}`
      },
      control: (method, path, body) => controlled(url, method, path, body),
    })
  } finally {
    for (const client of clients) client.close()
    await app.close()
  }
}

async function tokenOf({ client }: App, url: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret }
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await answer.json()) as { access_token: string }
  return access_token
}

async function controlled(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${url}/_mock${path}`, {
    method,
    ...(body ? { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return JSON.parse(text)
}

/** Asserts an error answer of the mock: status, error code, and one request id in header and body. */
export function expectError(answer: RawAnswer | undefined, status: number, errorCode: string): void {
  const requestId = answer?.headers.get('x-request-id')
  expect(answer?.status, answer?.text).toBe(status)
  expect(requestId).toMatch(/^req_\w+$/)
  expect(answer?.headers.get('content-type')).toBe('application/json')
  expect(JSON.parse(answer?.text ?? '')).toMatchObject({
    details: [{ error_code: errorCode, request_info: { request_id: requestId } }],
  })
}
