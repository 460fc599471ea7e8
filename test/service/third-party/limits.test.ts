import { expect, it } from 'vitest'
import { documentChecks } from '../../../src/app/document-checks.ts'
import { parseConnector } from '../../../src/files/read.ts'
import type { ThirdPartiesOptions } from '../../../src/service/third-party/client.ts'
import { Fixture, tool } from './fixture.ts'

const APP = `
connector: app
authorization_type: BEARER_TOKEN
responders: [{ on: {}, respond: { body: { ok: true } } }]
`

async function started(text: string, options: Partial<ThirdPartiesOptions> = {}): Promise<Fixture> {
  const fixture = await Fixture.start(await parseConnector(APP + text, 'app.yaml', documentChecks(false)), options)
  fixture.place({ static_auth: { details: { token: 'a' } } })
  fixture.place(
    { static_auth: { details: { token: 'g' } } },
    { id: 'ca_2', sequence: 2, identifier: 'grace@example.com' },
  )
  return fixture
}

const as = (token: string): RequestInit => ({ headers: { Authorization: `Bearer ${token}` } })

const LIMIT = 'rate_limit: { calls: 2, every: 1m }\n'

it('a rate limit refuses calls beyond it until its period is over, separately for each account', async () => {
  await using fixture = await started(LIMIT)
  const { clock } = fixture.environment
  const statuses = []
  for (let nth = 1; nth <= 3; nth++) statuses.push((await fixture.api('/', as('a'))).status)
  expect(statuses).toEqual([200, 200, 429])
  expect((await fixture.api('/', as('g'))).status).toBe(200)
  clock.advance(59_999)
  expect((await fixture.api('/', as('a'))).status).toBe(429)
  clock.advance(1)
  expect((await fixture.api('/', as('a'))).status).toBe(200)
})

it('a rate limit answers in headers how many calls are left, and when to try again', async () => {
  await using fixture = await started(LIMIT)
  const first = await fixture.api('/', as('a'))
  const of = ({ headers }: typeof first): unknown[] =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))
  const end = String(Date.parse('2026-01-01T00:01:00.000Z') / 1000)
  expect(of(first)).toEqual(['2', '1', end])
  expect(first.headers.get('retry-after')).toBeNull()
  await fixture.api('/', as('a'))
  fixture.environment.clock.advance(30_000)
  const refused = await fixture.api('/', as('a'))
  expect(of(refused)).toEqual(['2', '0', end])
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(refused.body).toEqual({ error: 'rate_limited', message: 'more than 2 calls in 60 seconds' })
})

it('a rate limit counts no call with a bad credential', async () => {
  await using fixture = await started(LIMIT)
  for (let nth = 1; nth <= 3; nth++) expect((await fixture.api('/', as('x'))).status).toBe(401)
  expect((await fixture.api('/', as('a'))).headers.get('x-ratelimit-remaining')).toBe('1')
})

it('a rate limit can be shared by all accounts, and have its own error body', async () => {
  const body = '{ slow: "{{error.message}}", who: "{{account.identifier}}" }'
  await using fixture = await started(
    `rate_limit: { calls: 1, every: 1h, per: environment, otherwise: { status: 503, body: ${body} } }\n`,
  )
  await fixture.api('/', as('a'))
  const refused = await fixture.api('/', as('g'))
  expect([refused.status, refused.body]).toEqual([
    503,
    { slow: 'more than 1 call in 3600 seconds', who: 'grace@example.com' },
  ])
})

it('a rate limit also applies to tool calls of the service', async () => {
  await using fixture = await started(LIMIT)
  const account = fixture.place({ static_auth: { details: { token: 'a' } } })
  for (let nth = 1; nth <= 2; nth++) await fixture.call(account, {}, ROOT_TOOL)
  expect(await fixture.call(account, {}, ROOT_TOOL)).toMatchObject({ kind: 'failed', status: 429, retry_after: '60' })
})

it('a rate limit does not replace headers of the connector, in any case of letters', async () => {
  const otherwise = 'otherwise: { headers: { retry-after: "7", x-ratelimit-limit: "many" } }'
  await using fixture = await started(`rate_limit: { calls: 1, every: 1m, ${otherwise} }\n`)
  await fixture.api('/', as('a'))
  const { headers } = await fixture.api('/', as('a'))
  expect([headers.get('retry-after'), headers.get('x-ratelimit-limit')]).toEqual(['7', 'many'])
})

it('a rate limit starts again when the clock is moved back', async () => {
  await using fixture = await started(LIMIT)
  for (let nth = 1; nth <= 3; nth++) await fixture.api('/', as('a'))
  fixture.environment.clock.set(Date.parse('2025-06-01T00:00:00.000Z'))
  expect((await fixture.api('/', as('a'))).status).toBe(200)
})

const ROOT_TOOL = tool({ path: '/' })

it.each<[string, number, number]>([
  ['40ms', 40, 40],
  ['{ min: 10ms, max: 20ms }', 10, 20],
  ['{ p50: 100ms, p95: 200ms, p99: 1s }', 50, 1000],
])('a latency profile: %s delays each call, by the same time with the same seed', async (latency, least, most) => {
  const runs: number[][] = []
  for (let run = 1; run <= 2; run++) {
    const waits: number[] = []
    const wait = (milliseconds: number): Promise<void> => {
      waits.push(milliseconds)
      return Promise.resolve()
    }
    await using fixture = await started(`latency: ${latency}\n`, { wait })
    for (let nth = 1; nth <= 20; nth++) await fixture.api('/', as('a'))
    runs.push(waits)
  }
  expect(runs[0]).toHaveLength(20)
  expect(runs[0]).toEqual(runs[1])
  expect(Math.min(...(runs[0] ?? []))).toBeGreaterThanOrEqual(least)
  expect(Math.max(...(runs[0] ?? []))).toBeLessThanOrEqual(most)
  const middle = runs[0]?.filter((each) => each <= (least + most) / 2).length ?? 0
  if (latency.includes('p50')) expect(runs[0]?.filter((each) => each <= 100).length).toBeGreaterThan(4)
  else if (least < most) expect(middle).toBeGreaterThan(0)
})
