import { join } from 'node:path'
import { expect } from 'vitest'
import type { AuthRequest, Grant } from '../../src/model/domain/generated/tables.ts'
import { instant } from '../../src/model/domain/instant.ts'
import { createApp } from '../../src/app/app.ts'
import type { Model, TableName } from '../../src/state/model/model.ts'
import { it } from '../support/mock-fixture.ts'
import { createEnvironment, openTestRegistry, START } from '../support/registry.ts'
import { accountOf, signIn } from '../crash/client.ts'

const HOUR = 60 * 60_000
const EXPIRING_TABLES = ['bearer_tokens', 'magic_links', 'auth_requests', 'authorization_codes', 'grants'] as const
/** The rows that are always kept, plus those of a day of the traffic below. */
const BOUND = 1000 + 24 * 8

function rows(model: Model): number {
  return EXPIRING_TABLES.reduce((sum, name: TableName) => sum + model.tables[name].size, 0)
}

const LINK = {
  account_id: 'ca_1',
  user_verify_url: '',
  state: null,
  expires_at: instant(START - HOUR),
  completed_at: instant(START - HOUR),
}

function grant(id: string, at: number, revoked: boolean): Grant {
  return {
    id,
    connector: 'mail',
    account_id: '',
    person: 'ada',
    scopes: [],
    access: `at ${id}`,
    secret: '',
    refresh_token: `rt ${id}`,
    expires_at: instant(START + HOUR + at),
    revoked,
    refresh_revoked: revoked,
  }
}

it('are removed during use: after 20 days, memory and file are no larger than after two', async ({ directory }) => {
  let present = START
  const file = join(directory, 'state.json')
  const app = await createApp({ state: file, time: () => present })
  const { url } = await app.listen({ host: '127.0.0.1', port: 0 })
  const { model } = app.services.registry.environment('default') ?? { model: undefined }
  if (!model) throw new Error('there is no default environment')
  let most = 0
  let made = 0
  for (let hour = 0; hour < 30 * 24; hour++) {
    const caller = await signIn(url)
    const identifier = `user${hour}@example.com`
    const verify = 'http://localhost/verify'
    const place = { connector: 'mail', identifier }
    const link = await caller.send('POST', '/connected_accounts/magic_link', { ...place, user_verify_url: verify })
    const address = (link.body as { link: string }).link
    const back = await fetch(`${address}?decision=approve`, { redirect: 'manual' })
    const id = new URL(back.headers.get('location') ?? '').searchParams.get('auth_request_id') ?? ''
    const verified = await caller.send('POST', '/connected_accounts/user/verify', {
      auth_request_id: id,
      identifier,
    })
    expect(verified.status).toBe(200)
    const key = { static_auth: { details: { api_key: `key ${hour}` } } }
    const body = { connector: 'weather', identifier, connected_account: { authorization_details: key } }
    const created = await caller.send('POST', '/connected_accounts', body)
    expect(created.status).toBe(201)
    await caller.send('POST', '/connected_accounts:delete', { id: accountOf(created).id })
    await caller.send('POST', '/connected_accounts:delete', place)
    // Links of the last 24 hours still answer 410.
    expect((await fetch(address)).status).toBe(410)
    made += 5
    most = Math.max(most, rows(model))
    present += HOUR
  }
  expect(made).toBeGreaterThan(2 * BOUND)
  expect(most).toBeGreaterThanOrEqual(1000)
  expect(most).toBeLessThan(BOUND)
  expect(model.tables.accounts.size).toBe(0)
  await app.close()
  const again = await openTestRegistry({ file })
  expect(rows(again.environment('default')?.model ?? model)).toBeLessThan(BOUND)
  await again.close()
}, 120_000)

it('stay as long as there are few of them, at any time of the clock', async () => {
  const registry = await openTestRegistry()
  const { model, clock } = createEnvironment(registry, 'default')
  const token = (id: number): void =>
    model.transact(() =>
      model.tables.bearer_tokens.put({ id: `t${id}`, client_id: 'c', expires_at: instant(START + id) }),
    )
  for (let each = 0; each < 1000; each++) token(each)
  clock.advance(1000 * HOUR)
  token(-1)
  expect(model.tables.bearer_tokens.size).toBe(1000)
  expect(model.tables.bearer_tokens.get('t-1')).toBeUndefined()
  expect(model.tables.bearer_tokens.get('t0')).toBeDefined()
  await registry.close()
})

it('are removed in the order of their end, a few with each commit, and are restored when that commit is undone', async () => {
  const registry = await openTestRegistry()
  const { model, clock } = createEnvironment(registry, 'default')
  model.transact(() => {
    for (let each = 0; each < 1100; each++) {
      const expires_at = instant(START + ((each * 7) % 1100))
      model.tables.bearer_tokens.put({ id: `t${(each * 7) % 1100}`, client_id: 'c', expires_at })
    }
  })
  clock.advance(1000 * HOUR)
  const { bearer_tokens } = model.tables
  const touch = (): void => model.transact(() => void model.count('x'))
  const fail = (): void =>
    registry.environment('default')?.model.transact(() => {
      touch()
      throw new Error('undone')
    })
  // The move of the clock was a commit too.
  expect(bearer_tokens.size).toBe(1084)
  expect(fail).toThrow('undone')
  expect(bearer_tokens.size).toBe(1084)
  touch()
  expect(bearer_tokens.size).toBe(1068)
  expect(Array.from({ length: 33 }, (_, at) => bearer_tokens.get(`t${at}`) !== undefined)).toEqual([
    ...Array.from({ length: 32 }, () => false),
    true,
  ])
  for (let each = 0; each < 20; each++) touch()
  expect(bearer_tokens.size).toBe(1000)
  await registry.close()
})

it('are removed at once beyond 10,000, and pending requests, live grants and links are not', async () => {
  const registry = await openTestRegistry()
  const { model } = createEnvironment(registry, 'default')
  const { auth_requests, grants, magic_links } = model.tables
  const request = (id: string, at: number, outcome: AuthRequest['outcome']): AuthRequest => {
    const expires_at = instant(START + HOUR + at)
    return { id, account_id: 'ca_1', identifier: 'a', expires_at, outcome }
  }
  model.transact(() => {
    for (let each = 0; each < 6000; each++) {
      auth_requests.put(request(`over${each}`, each, 'consumed'))
      grants.put(grant(`revoked${each}`, each, true))
    }
    for (let each = 0; each < 500; each++) {
      auth_requests.put(request(`pending${each}`, -each, 'pending'))
      grants.put(grant(`live${each}`, -each, false))
      magic_links.put({ ...LINK, id: `link${each}`, oauth_state: `state${each}` })
    }
  })
  for (let each = 0; each < 200; each++) model.transact(() => void model.count('x'))
  const gone = Array.from({ length: 1001 }, (_, at) => auth_requests.get(`over${at}`) ?? grants.get(`revoked${at}`))
  expect(gone.findIndex((row) => row !== undefined)).toBe(1000)
  expect([auth_requests.size, grants.size, magic_links.size]).toEqual([5500, 5500, 500])
  for (let each = 0; each < 500; each++) {
    expect(auth_requests.get(`pending${each}`)).toBeDefined()
    expect(grants.get(`live${each}`)).toBeDefined()
  }
  await registry.close()
})

it('are not removed before they have ended for a day, nor requests that are pending', async () => {
  const registry = await openTestRegistry()
  const { model, clock } = createEnvironment(registry, 'default')
  model.transact(() => {
    for (let each = 0; each < 1500; each++) {
      const expires_at = instant(START + HOUR)
      model.tables.bearer_tokens.put({ id: `t${each}`, client_id: 'c', expires_at })
      model.tables.auth_requests.put({
        id: `r${each}`,
        account_id: 'ca_1',
        identifier: 'a',
        expires_at,
        outcome: 'pending',
      })
    }
  })
  const churn = (): void => {
    for (let each = 0; each < 200; each++) model.transact(() => void model.count('x'))
  }
  clock.advance(25 * HOUR - 1)
  churn()
  expect(model.tables.bearer_tokens.size).toBe(1500)
  clock.advance(1)
  churn()
  expect(model.tables.bearer_tokens.size).toBe(1000)
  expect(model.tables.auth_requests.size).toBe(1500)
  await registry.close()
})

it('stay within 50,000: ended rows are removed first, then the bearer tokens that expire first, and never a live link', async () => {
  const registry = await openTestRegistry()
  const { model } = createEnvironment(registry, 'default')
  const { bearer_tokens, magic_links } = model.tables
  model.transact(() => {
    for (let each = 0; each < 50_200; each++)
      bearer_tokens.put({ id: `t${each}`, client_id: 'c', expires_at: instant(START + HOUR + each) })
    for (let each = 0; each < 300; each++) {
      magic_links.put({ ...LINK, id: `ended${each}`, oauth_state: `ended${each}` })
      magic_links.put({
        ...LINK,
        id: `live${each}`,
        oauth_state: `live${each}`,
        expires_at: instant(START + 1 + each),
      })
    }
  })
  for (let each = 0; each < 60; each++) model.transact(() => void model.count('x'))
  expect(magic_links.size).toBe(300)
  expect(magic_links.get('live0')).toBeDefined()
  expect(bearer_tokens.size).toBe(50_000)
  expect([bearer_tokens.get('t199'), bearer_tokens.get('t200')?.id]).toEqual([undefined, 't200'])
  await registry.close()
})

it('one token more than 50,000 drops the one that expires first, again and again, and one that expires earlier at once', async () => {
  const registry = await openTestRegistry()
  const { model } = createEnvironment(registry, 'default')
  const { bearer_tokens } = model.tables
  const put = (id: string, at: number): void =>
    model.transact(() => bearer_tokens.put({ id, client_id: 'c', expires_at: instant(START + HOUR + at) }))
  const isKnown = (id: string): boolean => registry.byBearer.get(id) !== undefined
  model.transact(() => {
    for (let each = 0; each < 49_999; each++)
      bearer_tokens.put({ id: `t${each}`, client_id: 'c', expires_at: instant(START + HOUR + each) })
  })
  put('t49999', 49_999)
  expect([bearer_tokens.size, isKnown('t0')]).toEqual([50_000, true])
  for (let each = 50_000; each < 52_500; each++) {
    const dropped = each - 50_000
    expect(isKnown(`t${dropped}`)).toBe(true)
    put(`t${each}`, each)
    expect([bearer_tokens.size, isKnown(`t${dropped}`), isKnown(`t${dropped + 1}`)]).toEqual([50_000, false, true])
  }
  put('earlier', 10)
  expect([bearer_tokens.size, isKnown('earlier'), isKnown('t2500')]).toEqual([50_000, false, true])
  model.transact(() => bearer_tokens.remove('t2500'))
  put('soon', 2500)
  expect([bearer_tokens.size, isKnown('soon')]).toEqual([50_000, true])
  put('last', 60_000)
  expect([bearer_tokens.size, isKnown('soon'), isKnown('t2501'), isKnown('last')]).toEqual([50_000, false, true, true])
  await registry.close()
})
