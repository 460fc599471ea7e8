import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DescService } from '@bufbuild/protobuf'
import { type Client, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import type { EntryDocument } from '../../../src/journal/request-journal/entry.ts'
import { createApp, type App, type AppOptions } from '../../../src/app/app.ts'
import { itWith } from '../../support/mock-fixture.ts'

export const ROOT = new URL('../../..', import.meta.url).pathname
export const PROTO = join(ROOT, 'test/fixtures/rpc')

/** The definitions that clients import from Google. */
export const GOOGLE = join(ROOT, 'src/servers/rpc/proto')

/** The descriptors of the client's definitions, with their imports; `npm run generate:descriptors` makes them. */
export const DESCRIPTORS = join(PROTO, 'acme.binpb')

/** Runs a program to its end. @throws Error with what it printed */
export function run(program: string, args: readonly string[], options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', ...options })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? ''}\n${stdout}\n${stderr}`)
  return stdout
}

export interface RpcMock {
  readonly app: App
  readonly url: string
  /** A bearer token, obtained over HTTP/1.1. */
  readonly token: string
  readonly headers: { readonly authorization: string }
  /** An empty folder that is removed at the end. */
  readonly folder: string
}

/** A mock that serves the fixture's definitions on a free port. */
export async function withRpc(options: AppOptions, work: (mock: RpcMock) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-rpc-'))
  try {
    const app = await createApp({ descriptors: [DESCRIPTORS], ...options })
    try {
      const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
      const token = options.tls ? '' : await tokenOf(url, app)
      await work({ app, url, token, headers: { authorization: `Bearer ${token}` }, folder })
    } finally {
      await app.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const it = itWith(withRpc, {})

async function tokenOf(url: string, { client: { id, secret } }: App): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret })
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** The transports of connect-node, by their names. */
export const TRANSPORTS = {
  'grpc over HTTP/2': (baseUrl: string) => createGrpcTransport({ baseUrl }),
  'grpc-web over HTTP/1.1': (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
  'grpc-web over HTTP/2': (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: '2' }),
  'connect over HTTP/1.1, binary': (baseUrl: string) =>
    createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  'connect over HTTP/2, JSON': (baseUrl: string) =>
    createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: false }),
} satisfies Record<string, (baseUrl: string) => Transport>

export function clientOf<Service extends DescService>(service: Service, { url }: RpcMock): Client<Service> {
  return createClient(service, TRANSPORTS['grpc over HTTP/2'](url))
}

/** The error of a call that fails. */
export async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('the call succeeded')
    },
    (error: unknown) => ConnectError.from(error),
  )
}

/** The journal without the token request. */
export function entriesOf({ app }: RpcMock): EntryDocument[] {
  const environment = app.services.defaultEnvironment()
  if (!environment) throw new Error('there is no default environment')
  return app.services.journals
    .of(environment)
    .query()
    .filter(({ operation }) => operation !== 'create_token')
}

/** Starts a scenario of one rule. */
export async function scenario({ url }: Pick<RpcMock, 'url'>, rule: object): Promise<void> {
  const body = JSON.stringify({ name: 'fault', rules: [{ name: 'rule', ...rule }] })
  const headers = { 'content-type': 'application/json' }
  const put = await fetch(`${url}/_mock/scenarios/fault`, { method: 'PUT', headers, body })
  if (put.status !== 200) throw new Error(await put.text())
  await fetch(`${url}/_mock/scenarios/fault/start`, { method: 'POST' })
}

/** Waits until the rule of the scenario has fired. */
export async function fired({ url }: RpcMock): Promise<void> {
  let hits = 0
  while (hits === 0) {
    const answer = await fetch(`${url}/_mock/scenarios`)
    const { scenarios } = (await answer.json()) as { scenarios: { name: string; rules: { hits: number }[] }[] }
    hits = scenarios.find(({ name }) => name === 'fault')?.rules[0]?.hits ?? 0
  }
}
