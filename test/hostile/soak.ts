/*
 * Puts mixed load on a server in this process and measures its memory: `npm run soak -- --minutes 30`. Without
 * `--minutes` it runs the short form of the tests. Needs --expose-gc. Prints one line of JSON for each sample and one for
 * the verdict; exits with 1 when memory grew, or when a correct request got no answer.
 */
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createApp, type App } from '../../src/app/app.ts'

/** Small, so that the journal is full early; memory may not grow after that. */
const JOURNAL_CAPACITY = 500
const WORKERS = 16
/** The longest time between two samples, in seconds. */
const LONGEST_SAMPLE = 15
/** The mock deletes rows that ended more than a day ago, except for a thousand; at most so many rows are left then. */
const KEPT = 1200
/** The noise in bytes: how far the median of the last third of the samples may be above that of the second third. */
const NOISE = 3 * 1024 * 1024

interface Load {
  readonly url: string
  readonly port: number
  token: string
  readonly agent: Agent
  readonly counts: Map<string, number>
  readonly wrong: string[]
}

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seconds: { type: 'string' } } })
const seconds = values.minutes === undefined ? Number(values.seconds ?? 20) : Number(values.minutes) * 60
if (!(seconds > 0)) throw new Error('give --minutes N or --seconds N, above 0')
const collect = globalThis.gc
if (!collect) throw new Error('start with node --expose-gc')
const SAMPLES = Math.max(10, Math.ceil(seconds / LONGEST_SAMPLE))

const app = await createApp({
  journalCapacity: JOURNAL_CAPACITY,
  limits: { headersTimeout: 1000, requestTimeout: 1000, stallTimeout: 1000 },
})
const { url, port } = await app.listen({ host: '127.0.0.1', port: 0 })
const tables = app.services.registry.environment('default')?.model.tables
if (!tables) throw new Error('there is no environment')
const load: Load = {
  url,
  port,
  token: await tokenOf(app, url),
  agent: new Agent({ keepAlive: true, maxSockets: WORKERS }),
  counts: new Map(),
  wrong: [],
}
const samples: number[] = []
for (let sample = 0; sample < SAMPLES; sample++) {
  const until = performance.now() + (seconds * 1000) / SAMPLES
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(load, `${sample}-${worker}`, until)))
  await expireOldRows(load, sample)
  // Closed connections and pending work have ended by then.
  await pause(50)
  for (let each = 0; each < 2; each++) collect()
  const { heapUsed, rss } = process.memoryUsage()
  samples.push(heapUsed)
  console.log(JSON.stringify({ sample, heap_mb: mb(heapUsed), rss_mb: mb(rss), rows: rows(), requests: total(load) }))
}
load.agent.destroy()
await app.close()
const third = Math.floor(SAMPLES / 3)
const growth = median(samples.slice(-third)) - median(samples.slice(third, 2 * third))
const verdict = { seconds, requests: total(load), growth_mb: mb(growth), wrong: load.wrong.slice(0, 5) }
console.log(JSON.stringify({ ...verdict, counts: Object.fromEntries(load.counts) }))
process.exitCode = growth > NOISE || load.wrong.length > 0 ? 1 : 0

/** One client, which deletes everything that it creates, so that the size of the model does not change. */
async function work(at: Load, name: string, until: number): Promise<void> {
  for (let round = 0; performance.now() < until; round++) {
    await accountLifecycle(at, `soak-${name}-${round}@example.com`)
    await providerLifecycle(at, `Soak ${name} ${round}`)
    if (round % 5 === 0) await sendMalformedTraffic(at, round / 5)
  }
}

/** Advances the mock's clock by more than a day; later commits remove the rows that ended before. */
async function expireOldRows(at: Load, sample: number): Promise<void> {
  await call(at, 200, 'PUT', '/_mock/clock', { advance: '25h' })
  at.token = await tokenOf(app, at.url)
  for (let more = 0; rows() > KEPT && more < 5000; more++) {
    await accountLifecycle(at, `soak-${sample}-later-${more}@example.com`)
  }
}

/** The number of rows of links, grants and bearer tokens. */
function rows(): number {
  return ['magic_links' as const, 'grants' as const, 'bearer_tokens' as const].reduce(
    (sum, name) => sum + (tables?.[name].size ?? 0),
    0,
  )
}

async function accountLifecycle(at: Load, identifier: string): Promise<void> {
  const oauth_token = { access_token: `at ${identifier}`, refresh_token: `rt ${identifier}` }
  const connected_account = { authorization_details: { oauth_token } }
  const who = { connector: 'mail', identifier }
  await call(at, 201, 'POST', '/api/v1/connected_accounts', { ...who, connected_account })
  await call(at, 409, 'POST', '/api/v1/connected_accounts', who)
  await call(at, 200, 'GET', `/api/v1/connected_accounts/details?${new URLSearchParams(who).toString()}`)
  await call(at, 200, 'GET', '/api/v1/connected_accounts?page_size=5')
  await call(at, 200, 'GET', '/api/v1/connected_accounts:search?query=soak')
  await call(at, 200, 'PUT', '/api/v1/connected_accounts', { ...who, connected_account: { api_config: { a: 1 } } })
  const tool = { tool_name: 'mail_get_message', tool_input: { message_id: 'msg_1' } }
  await call(at, 200, 'POST', '/api/v1/execute_tool', { ...who, ...tool })
  const link = await call(at, 200, 'POST', '/api/v1/connected_accounts/magic_link', who)
  await call(at, 302, 'GET', `${new URL(String(link['link'])).pathname}?decision=approve`)
  await call(at, 200, 'POST', '/api/v1/connected_accounts:delete', who)
  await call(at, 404, 'GET', `/api/v1/connected_accounts/auth?${new URLSearchParams(who).toString()}`)
}

async function providerLifecycle(at: Load, display_name: string): Promise<void> {
  const { provider } = await call(at, 201, 'POST', '/api/v1/custom-providers', { display_name })
  const path = `/api/v1/custom-providers/${String((provider as Record<string, unknown>)['identifier'])}`
  await call(at, 200, 'PUT', path, { description: 'soaked' })
  await call(at, 200, 'DELETE', path)
  await call(at, 400, 'POST', '/api/v1/custom-providers', {})
  await call(at, 200, 'GET', '/_mock/requests?limit=5')
}

/** Misbehaves as a client: half requests, disconnects, garbage, bodies that are too large, unread answers. */
function sendMalformedTraffic({ port: to, token, counts }: Load, number: number): Promise<void> {
  const head = `POST /api/v1/connected_accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
  const json = 'Content-Type: application/json\r\n'
  const texts = [
    head,
    `${head}${json}Content-Length: 500\r\n\r\n{"connector`,
    `${head}${json}Content-Length: 2000000\r\n\r\n${' '.repeat(500_000)}`,
    `${head}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${head}${'X-A: b\r\n'.repeat(5000)}`,
    'hello\r\n\r\n',
    'GET /_mock/state HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1500),
    'GET /_mock/events HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ]
  // Long enough that much of the answers is unread.
  const stay = number % texts.length < texts.length - 2 ? 10 : 500
  count(counts, 'rude')
  return new Promise((resolve) => {
    const socket = connect(to, '127.0.0.1', () => {
      socket.write(texts[number % texts.length] ?? '')
      setTimeout(() => (number % 2 === 0 ? socket.resetAndDestroy() : socket.destroy()), stay)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      resolve()
    })
  })
}

function call(
  at: Load,
  expected: number,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const about = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    const headers = { Authorization: `Bearer ${at.token}`, ...(body === undefined ? {} : about) }
    const sent = request(`${at.url}${path}`, { method, agent: at.agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        count(at.counts, String(response.statusCode))
        if (response.statusCode !== expected)
          at.wrong.push(`${method} ${path}: ${response.statusCode} ${answer.slice(0, 200)}`)
        resolve(answer.startsWith('{') ? (JSON.parse(answer) as Record<string, unknown>) : {})
      })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

async function tokenOf({ client }: App, base: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret }
  const answer = await fetch(`${base}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  return ((await answer.json()) as { access_token: string }).access_token
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

function total({ counts }: Load): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0)
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function mb(bytes: number): number {
  return Math.round(bytes / 104_857.6) / 10
}
