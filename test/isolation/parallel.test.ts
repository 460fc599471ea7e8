import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import type { EntryDocument } from '../../src/journal/request-journal/entry.ts'
import { HttpClient } from './http-client.ts'
import { OPERATIONS } from './operations.ts'
import { type SharedRecord, Tenant } from './tenant.ts'

const TENANTS = 20
const CALLS = 1000

describe(`${TENANTS} environments in parallel, ${CALLS} mixed calls each`, () => {
  it('show, store and count only their own data', { timeout: 300_000 }, async () => {
    const app = await createApp()
    const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = new HttpClient(url)
    try {
      const shared: SharedRecord = { client, issued: new Map(), accounts: [] }
      const tenants = await Promise.all(Array.from({ length: TENANTS }, (_, n) => Tenant.create(shared, n)))
      await Promise.all(tenants.map((tenant, n) => makeCalls(tenant, n)))
      for (const tenant of tenants) await expectOwnState(tenant)
      await expectEmptyEnvironment(shared)
    } finally {
      client.close()
      await app.close()
    }
  })
})

/** Makes the calls of one tenant in sequence; the tenants run in parallel. A scenario fails every n-th list of connections. */
async function makeCalls(tenant: Tenant, number: number): Promise<void> {
  const every = 2 + number
  const random = randomFrom(number)
  const bag = OPERATIONS.flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation))
  await startScenario(tenant, every)
  let listed = 0
  for (let step = 0; tenant.calls < CALLS; step += 1) {
    if (random(10) === 0) {
      listed += 1
      await tenant.api(listed % every === 0 ? 503 : 200, 'GET', '/connections')
    }
    await bag[random(bag.length)]?.({ tenant, number: step, random })
  }
  const { scenarios } = await tenant.control(200, 'GET', '/scenarios')
  const rules = [{ matched: listed, hits: Math.floor(listed / every) }]
  const started = (scenarios as { started: boolean }[]).filter((each) => each.started)
  expect(started).toMatchObject([{ name: `${tenant.name}-scenario`, rules }])
}

async function startScenario(tenant: Tenant, every: number): Promise<void> {
  const respond = { status: 503, message: `this is for ${tenant.name} alone` }
  const rule = {
    name: 'storm',
    at: 'service',
    on: { operation: 'list_connections' },
    when: { every },
    do: [{ respond }],
  }
  const name = `${tenant.name}-scenario`
  await tenant.control(200, 'PUT', `/scenarios/${name}`, { name, rules: [rule] })
  await tenant.control(200, 'POST', `/scenarios/${name}/start`)
}

/** The final state is exactly the result of the tenant's own operations. */
async function expectOwnState(tenant: Tenant): Promise<void> {
  const { client } = tenant.shared
  const inside = `environment=${tenant.name}`
  const { body } = await client.send('GET', `/_mock/state?${inside}`)
  const accounts = (body['tables'] as { accounts: { id: string }[] }).accounts.map(({ id }) => id)
  expect(accounts.toSorted()).toEqual([...tenant.accounts.keys()].toSorted())

  const clock = await client.send('GET', `/_mock/clock?${inside}`)
  expect(clock.body).toEqual({ now: new Date(tenant.now).toISOString(), frozen: true })

  const journal = await client.send('GET', `/_mock/requests?${inside}&kind=request&limit=10000`)
  const entries = journal.body['requests'] as unknown as EntryDocument[]
  const own = entries.filter(({ operation }) => operation !== 'create_token')
  expect(own.map(({ id }) => id)).toEqual(tenant.sent)
  expect(new Set(entries.map(({ environment }) => environment))).toEqual(new Set([tenant.name]))
  expect(new Set(entries.map(({ client: by }) => by))).toEqual(new Set([tenant.clientId]))
  expect(entries.every(({ at }) => at <= new Date(tenant.now).toISOString())).toBe(true)
  const names = new Set(journal.text.match(/tenant-\d\d/g))
  expect([...names]).toEqual([tenant.name])
}

/** The default environment, which was not used, is empty. */
async function expectEmptyEnvironment({ client }: SharedRecord): Promise<void> {
  const { body, text } = await client.send('GET', '/_mock/state')
  expect((body['tables'] as JsonObject)['accounts']).toEqual([])
  expect(text).not.toContain('tenant-')
  expect((await client.send('GET', '/_mock/requests')).body).toEqual({ requests: [] })
}

/** The same numbers in each run, different for each tenant (mulberry32). */
function randomFrom(seed: number): (limit: number) => number {
  let state = (seed + 1) * 0x9e3779b9
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}
