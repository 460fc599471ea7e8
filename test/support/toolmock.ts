/**
 * Acceptance tests over HTTP against the whole service in memory:
 *
 *     it('serves an account two hours later', async ({ mock: { api, time } }) => {
 *       const created = await api.post('/connected_accounts', { connector: 'mail', identifier: 'ada@example.com' })
 *       time.advance('2h')
 *       const details = await api.get('/connected_accounts/details', { id: created.body.connected_account.id })
 *       expect(details.status).toBe(200)
 *     })
 *
 * Every exchange but the 503 of a failing disk is checked at the end of the test: our validators and Prism must agree on
 * it, no answer may break `spec/openapi.yaml`, and the mock must not log an error; else the test fails. The statuses are
 * recorded for `test/coverage.test.ts`, which requires a test of every declared status of every operation.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Response, Test } from 'supertest'
import { exchangeOf } from '../../src/journal/verdict/prism-check.ts'
import type { ObservedExchange } from '../../src/journal/verdict/prism-check.ts'
import { parseDuration } from '../../src/model/domain/duration.ts'
import { type Log, SILENT } from '../../src/servers/http/log.ts'
import type { App, AppOptions } from '../../src/app/app.ts'
import type { Environment } from '../../src/state/environment.ts'
import { createTestApp } from './create-app.ts'
import { judgeExchange } from './judge.ts'
import { recordExchanges } from './recorded-exchanges.ts'
import { type Method, type Requests, requestsTo } from './requests.ts'
import { itWith } from './mock-fixture.ts'

export interface TestOptions extends Pick<
  AppOptions,
  | 'strict'
  | 'extensions'
  | 'scenarios'
  | 'documentedOnly'
  | 'mcp'
  | 'descriptors'
  | 'bodyLimit'
  | 'seeds'
  | 'journalCapacity'
  | 'state'
  | 'fileSystem'
  | 'idSeed'
> {
  /** A seed document (`spec/schemas/seed.schema.json`) on top of the bundled seed, or of `seeds`. */
  seed?: object
  /** The time at the start of the test; 2026-01-01T00:00:00.000Z when absent. */
  now?: string
}

type Query = Record<string, string | number | readonly string[]> | string

/** Calls of `/api/v1` with a bearer token. Paths start after that prefix: `/connected_accounts`. */
export interface Api {
  readonly get: (path: string, query?: Query) => Promise<Response>
  readonly post: (path: string, body?: object) => Promise<Response>
  readonly put: (path: string, body?: object) => Promise<Response>
  readonly patch: (path: string, body?: object) => Promise<Response>
  readonly delete: (path: string) => Promise<Response>
}

export interface TestToolmock {
  readonly app: App
  /** The default environment, for state that HTTP requests cannot reach. */
  readonly environment: Environment
  readonly api: Api
  /** The system time that the mock reads; only `advance` changes it. */
  readonly time: {
    readonly now: () => number
    /** Advances by a duration such as `90s` or `2h`. */
    readonly advance: (by: string) => void
  }
  /** A request without a prefix or a token: `http('post', '/oauth/token').type('form').send({ … })`. Redirects are not followed. */
  readonly http: Requests['http']
  /** A new bearer token; `api` uses it from then on. */
  readonly signIn: () => Promise<string>
  /** Follows a magic link, or any other URL below `BASE_URL`, as a browser would; redirects are not followed. */
  readonly follow: (url: string, query?: Query) => Promise<Response>
  /** Every exchange with an operation so far. */
  readonly exchanges: readonly ObservedExchange[]
}

/** The base URL of links and redirects. */
export const BASE_URL = 'http://mock.test'

/** Starts the service, runs `work`, stops the service and checks every exchange. */
export async function withToolmock(options: TestOptions, work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  const { now = '2026-01-01T00:00:00.000Z', seed, seeds = ['bundled'], ...rest } = options
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-test-'))
  const exchanges: ObservedExchange[] = []
  const failures: string[] = []
  let present = Date.parse(now)
  try {
    if (seed) await writeFile(join(folder, 'seed.json'), JSON.stringify(seed))
    const app = await createTestApp({
      ...rest,
      seeds: seed ? [...seeds, join(folder, 'seed.json')] : seeds,
      baseUrl: BASE_URL,
      time: () => present,
      observeEntry: (entry) => {
        const recorded = exchangeOf(entry)
        if (recorded) exchanges.push(recorded.exchange)
      },
      log: failuresTo(failures),
    })
    const requests = await requestsTo(app.listener)
    const time = { now: () => present, advance: (by: string) => void (present += milliseconds(by)) }
    try {
      await work(await testToolmock(app, requests, time, exchanges))
    } catch (cause) {
      throw failures.length > 0 ? new Error(failureText(failures), { cause }) : cause
    } finally {
      await app.close()
      requests.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  recordExchanges(exchanges)
  for (const exchange of exchanges) judge(exchange)
  if (failures.length > 0) throw new Error(failureText(failures))
}

export const it = itWith(withToolmock, {})

function failureText(failures: readonly string[]): string {
  return `the mock logged an error:\n${failures.join('\n')}`
}

async function testToolmock(
  app: App,
  requests: Requests,
  time: TestToolmock['time'],
  exchanges: readonly ObservedExchange[],
): Promise<TestToolmock> {
  const environment = app.services.registry.environment('default')
  if (!environment) throw new Error('there is no default environment')
  let token = ''
  const http: TestToolmock['http'] = (method, path) => requests.http(method, path).redirects(0)
  const authorized = (method: Method, path: string) =>
    http(method, `/api/v1${path}`).set('Authorization', `Bearer ${token}`)
  const sent = async (request: Test, body: object | undefined): Promise<Response> =>
    body === undefined ? request : request.type('json').send(JSON.stringify(body))
  const signIn = async (): Promise<string> => {
    const { id, secret } = app.client
    const form = { client_id: id, client_secret: secret, grant_type: 'client_credentials' }
    const answer = await http('post', '/oauth/token').type('form').send(form)
    if (answer.status !== 200) throw new Error(`no bearer token: ${answer.status} ${answer.text}`)
    return (token = String(answer.body.access_token))
  }
  await signIn()
  return {
    app,
    environment,
    time,
    http,
    signIn,
    exchanges,
    api: {
      get: async (path, query) => authorized('get', withQuery(path, query)),
      post: (path, body) => sent(authorized('post', path), body),
      put: (path, body) => sent(authorized('put', path), body),
      patch: (path, body) => sent(authorized('patch', path), body),
      delete: async (path) => authorized('delete', path),
    },
    follow: async (url, query) => {
      if (!url.startsWith(`${BASE_URL}/`)) throw new Error(`${url} is no address of the mock`)
      return http('get', withQuery(url.slice(BASE_URL.length), query))
    },
  }
}

/** Repeats a parameter for each item of a list. */
function withQuery(path: string, query: Query = ''): string {
  if (typeof query === 'string') return query === '' ? path : `${path}?${query}`
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, String(each)]),
  )
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`
}

function milliseconds(duration: string): number {
  const parsed = parseDuration(duration)
  if (parsed === undefined) throw new Error(`${duration} is no duration`)
  return parsed
}

function judge(exchange: ObservedExchange): void {
  // No operation declares the answer for a failing disk, so it is not checked (docs/fidelity.md).
  if (JSON.stringify(exchange.response.body ?? null).includes('"STORAGE_UNAVAILABLE"')) return
  judgeExchange(exchange)
  const { operation, request, response, responseViolations = [] } = exchange
  const answer = `${operation} (${request.method} ${request.path}?${request.query}) answered ${response.status}`
  const wrong = responseViolations.map(({ field, description }) => `${field}: ${description}`)
  if (wrong.length > 0)
    throw new Error(`${answer}, which breaks the spec: ${wrong.join('; ')}\n${JSON.stringify(response.body)}`)
}

/** A log that keeps errors, which are defects of the mock. Failures of a third party are not logged as errors. */
function failuresTo(failures: string[]): Log {
  return {
    ...SILENT,
    error: (message, fields = {}) => {
      const { error = '', ...others } = fields as { error?: string }
      failures.push(`${message} ${JSON.stringify(others)} ${error}`)
    },
  }
}
