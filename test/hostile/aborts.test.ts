import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import fc from 'fast-check'
import type { JsonObject } from '../../src/model/domain/json.ts'
import { createApp, type App } from '../../src/app/app.ts'
import { RawClient } from './raw-client.ts'
import { until } from '../support/until.ts'

/*
 * A client that disconnects during an operation leaves the model either unchanged or completely changed. The observed
 * status of the request agrees with the model, also when its answer reached no client.
 */

interface Writing {
  readonly operation: string
  /** How many rows each table gains by the operation. */
  readonly grows?: Readonly<Record<string, number>>
  /** Creates what the operation needs; the request gets the result. */
  readonly prepare?: (call: Call) => Promise<JsonObject>
  readonly request: (given: JsonObject, number: number) => [method: string, path: string, body?: object]
}
type Call = (method: string, path: string, body?: object) => Promise<JsonObject>

const ACCOUNTS = '/api/v1/connected_accounts'
const PROVIDERS = '/api/v1/custom-providers'
let serial = 0
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const fresh = (): string => `abort-${serial++}@example.com`

async function account(call: Call, connector = 'mail'): Promise<JsonObject> {
  const details = { oauth_token: { access_token: `at_${serial}`, refresh_token: `rt_${serial}` } }
  const connected_account = connector === 'mail' ? { authorization_details: details } : {}
  return (await call('POST', ACCOUNTS, { connector, identifier: fresh(), connected_account }))[
    'connected_account'
  ] as JsonObject
}

const provider = async (call: Call): Promise<JsonObject> =>
  (await call('POST', PROVIDERS, { display_name: fresh() }))['provider'] as JsonObject

/** Creates an account whose consent is approved and not yet verified. */
async function consented(call: Call): Promise<JsonObject> {
  const identifier = fresh()
  const asked = { connector: 'mail', identifier, user_verify_url: 'http://localhost:3000/verify' }
  const link = textOf((await call('POST', `${ACCOUNTS}/magic_link`, asked))['link'])
  const id = link.slice(link.lastIndexOf('/') + 1)
  const { redirect_url } = await call('POST', `/_mock/links/${id}/complete`, { decision: 'approve', as: identifier })
  return { identifier, auth_request_id: new URL(textOf(redirect_url)).searchParams.get('auth_request_id') }
}

const WRITING: readonly Writing[] = [
  {
    operation: 'create_connected_account',
    grows: { accounts: 1 },
    request: () => ['POST', ACCOUNTS, { connector: 'encyclopedia', identifier: fresh() }],
  },
  {
    operation: 'update_connected_account',
    prepare: account,
    request: ({ id }, number) => ['PUT', ACCOUNTS, { id, connected_account: { api_config: { number } } }],
  },
  {
    operation: 'create_magic_link',
    grows: { accounts: 1, magic_links: 1 },
    request: () => ['POST', `${ACCOUNTS}/magic_link`, { connector: 'mail', identifier: fresh() }],
  },
  { operation: 'verify_user', prepare: consented, request: (given) => ['POST', `${ACCOUNTS}/user/verify`, given] },
  {
    operation: 'delete_connected_account',
    grows: { accounts: -1 },
    prepare: account,
    request: ({ id }) => ['POST', `${ACCOUNTS}:delete`, { id }],
  },
  {
    operation: 'create_custom_provider',
    grows: { providers: 1, connections: 1 },
    request: () => ['POST', PROVIDERS, { display_name: fresh() }],
  },
  {
    operation: 'update_custom_provider',
    prepare: provider,
    request: ({ identifier }, number) => ['PUT', `${PROVIDERS}/${textOf(identifier)}`, { description: `n${number}` }],
  },
  {
    operation: 'delete_custom_provider',
    grows: { providers: -1, connections: -1 },
    prepare: provider,
    request: ({ identifier }) => ['DELETE', `${PROVIDERS}/${textOf(identifier)}`],
  },
  {
    operation: 'execute_tool',
    prepare: account,
    request: ({ id }) => [
      'POST',
      '/api/v1/execute_tool',
      { connected_account_id: id, tool_name: 'mail_get_message', tool_input: { message_id: 'msg_1' } },
    ],
  },
]

let app: App
/** The statuses of the mock's answers, delivered or not, by request id. */
const outcomes = new Map<string, number>()
/** The ids of requests whose head the mock has read. */
const begun = new Set<unknown>()
/** The connections that the mock has accepted since it was emptied. */
let accepted: Socket[] = []
let [url, port, authorization] = ['', 0, '']

subscribe('net.server.socket', (message) => accepted.push((message as { socket: Socket }).socket))
subscribe('http.server.request.start', (message) =>
  begun.add((message as { request: IncomingMessage }).request.headers['x-request-id']),
)

beforeAll(async () => {
  app = await createApp({
    freeze: true,
    observeEntry: ({ id, status }) => outcomes.set(id, status),
  })
  ;({ url, port } = await app.listen({ host: '127.0.0.1', port: 0 }))
  const { id, secret } = app.client
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body: form })
  authorization = `Bearer ${((await answer.json()) as { access_token: string }).access_token}`
})
afterAll(() => app.close())

const call: Call = async (method, path, body) => {
  const headers = { ...(path.startsWith('/api') && { authorization }), 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return text === '' ? {} : (JSON.parse(text) as JsonObject)
}

/** The whole model, as a restart would find it. */
async function model(): Promise<string> {
  return JSON.stringify(await call('GET', '/_mock/state'))
}

const TABLES = ['accounts', 'magic_links', 'providers', 'connections'] as const

function sizes(): Record<string, number> {
  const tables = app.services.registry.environment('default')?.model.tables
  return Object.fromEntries(TABLES.map((name) => [name, tables?.[name].size ?? 0]))
}

/** The status of a request, once the mock has processed it; undefined where its connection ended before its head was read. */
async function outcome(id: string): Promise<number | undefined> {
  await until(() => accepted[0]?.closed === true)
  if (begun.has(id)) await until(() => outcomes.has(id))
  return outcomes.get(id)
}

/** How much of the request is cut off, as a share of its body and the last 20 characters of its head. */
const PLACES = [0, 0, 0.2, 0.5, 0.8, 1]

describe('a client that disconnects during', () => {
  it.each(WRITING)('$operation leaves the model unchanged, or completely changed', ({ prepare, request, grows = {} }) =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...PLACES), fc.boolean(), async (share, abrupt) => {
        const given = (await prepare?.(call)) ?? {}
        const [method, path, body] = request(given, serial)
        const text = body === undefined ? '' : JSON.stringify(body)
        const id = `abort-${serial++}`
        const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nX-Request-Id: ${id}\r\n`
        const about = text === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
        const whole = `${head}${about}\r\n${text}`
        // The cut is after the whole request, within the body, or within the head.
        const cut = Math.round(whole.length - (text.length + 20) * share)
        const [before, rows] = [await model(), sizes()]
        accepted = []
        const client = await RawClient.open(port)
        await new Promise<void>((sent) => void client.socket.write(whole.slice(0, cut), 'latin1', () => sent()))
        if (abrupt) client.reset()
        else client.socket.end()
        await client.all()
        client.close()
        // The whole request was sent, and no RST discarded what the server had not yet read.
        const complete = cut === whole.length && !abrupt
        const status = await outcome(id)

        if (complete) expect(status).toBeDefined()
        if (cut < whole.length || status === undefined) expect(await model(), `cut at ${cut}, ${status}`).toBe(before)
        else {
          const grown = Object.entries(sizes()).map(([name, size]) => [name, size - (rows[name] ?? 0)])
          expect(status).toBeLessThan(300)
          expect(await model()).not.toBe(before)
          expect(Object.fromEntries(grown.filter(([, by]) => by !== 0))).toEqual(grows)
        }
      }),
      {
        numRuns: 12,
        examples: [
          [0, false],
          [0.5, true],
        ],
      },
    ),
  )
})
