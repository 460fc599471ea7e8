import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { parseDuration } from '../../../src/model/domain/duration.ts'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import { createApp, type App, type AppOptions } from '../../../src/app/app.ts'
import { itWith } from '../../support/mock-fixture.ts'

/** The eras of the protocol, by the options that make the SDK's client speak them. */
export const ERAS: readonly (readonly [era: string, options: ClientOptions])[] = [
  ['2025-11-25', {}],
  ['2026-07-28', { versionNegotiation: { mode: 'auto' } }],
]
export const [[, LEGACY], [, MODERN]] = ERAS as readonly [(typeof ERAS)[0], (typeof ERAS)[0]]

export interface McpMock {
  readonly app: App
  readonly url: string
  /** An access token of the service. */
  readonly token: string
  /** A call of the API, or with another prefix of the control API; answers the body. */
  readonly call: <T = Record<string, unknown>>(method: string, path: string, body?: object) => Promise<T>
  /** A client of the server of a connection, for a user; the account of `ada@example.com` is `ACTIVE`. */
  readonly connect: (options?: ConnectOptions) => Promise<Client>
  readonly advance: (by: string) => void
  readonly journal: (query?: string) => Promise<EntryDocument[]>
}

export interface ConnectOptions {
  readonly path?: string
  readonly options?: ClientOptions
  readonly headers?: Record<string, string>
}

export const ADA = { identifier: 'ada@example.com' }

/** A mock with virtual servers on a free port; its account of the connector `mail` is `ACTIVE`. */
export async function withMcp(options: AppOptions, work: (mock: McpMock) => Promise<void>): Promise<void> {
  let offset = 0
  const app = await createApp({ mcp: true, time: () => Date.now() + offset, ...options })
  const clients: Client[] = []
  try {
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const token = await tokenOf(url, app)
    const call: McpMock['call'] = async <T>(method: string, path: string, body?: object) => {
      const answer = await fetch(url + (path.startsWith('/_mock') ? path : `/api/v1${path}`), {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      // A deletion has no content.
      return JSON.parse((await answer.text()) || '{}') as T
    }
    const authorization_details = { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } }
    await call('POST', '/connected_accounts', {
      connector: 'mail',
      ...ADA,
      connected_account: { authorization_details },
    })
    await work({
      app,
      url,
      token,
      call,
      connect: async ({ path = '/mcp/v3/connections/mail', options = {}, headers = ADA } = {}) => {
        const client = new Client({ name: 'test-client', version: '1.2.3' }, options)
        clients.push(client)
        const requestInit = { headers: { Authorization: `Bearer ${token}`, ...headers } }
        await client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }))
        return client
      },
      advance: (by) => void (offset += parseDuration(by) ?? 0),
      journal: async (query = '') => {
        const { requests } = await call<{ requests: { id: string }[] }>('GET', `/_mock/requests?limit=100&${query}`)
        const found = requests.map(({ id }) => call<{ request: EntryDocument }>('GET', `/_mock/requests/${id}`))
        return (await Promise.all(found)).map(({ request }) => request)
      },
    })
  } finally {
    await Promise.allSettled(clients.map((client) => client.close()))
    await app.close()
  }
}

export const it = itWith(withMcp, {})

async function tokenOf(url: string, { client: { id, secret } }: App): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** The texts of a tool's result. */
export function textsOf({ content }: { content?: unknown }): string[] {
  return (content as { text: string }[]).map(({ text }) => text)
}
