import type { RequestListener, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { ada, appSeed, credentialsOf, run } from '../../service/operations/app-seed.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { it } from '../../support/mock-fixture.ts'
import { withDirectory } from '../../support/registry.ts'
import { until } from '../../support/until.ts'
import { withServer } from '../../support/server.ts'

const REFUSED = { status: 503, body: { code: 14, details: [{ error_code: 'STORAGE_UNAVAILABLE' }] } }

/** Runs `work` with a service whose disk the test can delay and make fail. */
function withDisk(seed: object, work: (mock: TestToolmock, disk: MemoryDisk) => Promise<void>): Promise<void> {
  return withDirectory((directory) => {
    const disk = new MemoryDisk()
    const options = { seed, state: join(directory, 'state.json'), fileSystem: disk }
    return withToolmock(options, (mock) => work(mock, disk))
  })
}

/** Makes every disk operation wait. The returned function lets them continue, and either all of them fail or none. */
function paused(disk: MemoryDisk): (outcome: 'refused' | 'written') => void {
  let open = (): void => undefined
  disk.gate = new Promise((resolve) => (open = resolve))
  return (outcome) => {
    disk.fails = () => (outcome === 'refused' ? new Error('ENOSPC: no space left') : undefined)
    open()
  }
}

function refusing(disk: MemoryDisk, refuses: boolean): void {
  disk.fails = () => (refuses ? new Error('ENOSPC: no space left') : undefined)
}

/** A third party that answers when the test decides. */
function withSlowServer(
  work: (server: { origin: string; asked: () => Promise<ServerResponse> }) => Promise<void>,
): Promise<void> {
  const waiting: ServerResponse[] = []
  const wanted: ((response: ServerResponse) => void)[] = []
  const take: RequestListener = (request, response) => {
    request.resume()
    const taker = wanted.shift()
    if (taker) taker(response)
    else waiting.push(response)
  }
  const asked = (): Promise<ServerResponse> =>
    new Promise((resolve) => {
      const first = waiting.shift()
      if (first) resolve(first)
      else wanted.push(resolve)
    })
  return withServer(take, (origin) => work({ origin, asked }))
}

function answered(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}')
}

const created = { connector: 'app', identifier: 'grace' }
const changed = { connector: 'app', identifier: 'ada', connected_account: { api_config: { seen: true } } }
const LIVE = { authorization_details: { static_auth: { details: { api_key: 'k' } } } }

it('is 503 for a tool call that waited for its third party meanwhile, and the call changes no data', () =>
  withSlowServer(({ origin, asked }) =>
    withDisk(appSeed([{ name: 'do' }], { base_url: origin }, LIVE), async (mock, disk) => {
      const running = run(mock, 'do')
      const response = await asked()
      refusing(disk, true)
      expect(await mock.api.put('/connected_accounts', changed)).toMatchObject(REFUSED)
      refusing(disk, false)
      answered(response)
      expect(await running).toMatchObject(REFUSED)
      expect(await ada(mock)).toMatchObject({ status: 'ACTIVE', api_config: {} })
      expect(await ada(mock)).not.toHaveProperty('last_used_at')

      const again = run(mock, 'do')
      answered(await asked())
      expect((await again).status).toBe(200)
      expect(await ada(mock)).toHaveProperty('last_used_at')
    }),
  ))

it('is 503 for a tool call whose own third party takes its time meanwhile, and the call changes no data', () =>
  withDisk(appSeed([{ name: 'do', answers: { body: {} } }], { latency: 2345 }, LIVE), async (mock, disk) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    // Not a spy: the end of the test would restore it after the real timers, and the faked function would stay.
    const faked = globalThis.setTimeout
    const waits: (number | undefined)[] = []
    const noted = (...given: Parameters<typeof setTimeout>) => (waits.push(given[1]), faked(...given))
    globalThis.setTimeout = Object.assign(noted, faked)
    try {
      const running = run(mock, 'do').then((answer) => answer)
      await until(() => waits.includes(2345))
      refusing(disk, true)
      expect(await mock.api.put('/connected_accounts', changed)).toMatchObject(REFUSED)
      refusing(disk, false)
      vi.advanceTimersByTime(2345)
      expect(await running).toMatchObject(REFUSED)
    } finally {
      globalThis.setTimeout = faked
      vi.useRealTimers()
    }
    expect(await ada(mock)).not.toHaveProperty('last_used_at')
  }))

it('is 503 for a tool call of an account whose creation was refused meanwhile', () =>
  withSlowServer(({ origin, asked }) =>
    withDisk(appSeed([{ name: 'do' }], { base_url: origin }, LIVE), async (mock, disk) => {
      const end = paused(disk)
      const creating = mock.api.post('/connected_accounts', { ...created, connected_account: LIVE })
      const running = until(
        () => mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'grace' }).length === 1,
      ).then(() => mock.api.post('/execute_tool', { ...created, tool_name: 'do' }))
      const response = await asked()
      end('refused')
      expect(await creating).toMatchObject(REFUSED)
      answered(response)
      expect(await running).toMatchObject(REFUSED)
      refusing(disk, false)
      expect((await mock.api.post('/execute_tool', { ...created, tool_name: 'do' })).status).toBe(404)
    }),
  ))

it('is 503 instead of 409, because the conflicting account was rolled back', () =>
  withDisk(appSeed([]), async (mock, disk) => {
    const end = paused(disk)
    const first = mock.api.post('/connected_accounts', created)
    const second = mock.api.post('/connected_accounts', created)
    const answers = Promise.all([first, second])
    await until(() => mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'grace' }).length === 1)
    end('refused')
    for (const answer of await answers) expect(answer).toMatchObject(REFUSED)
    refusing(disk, false)
    expect((await mock.api.post('/connected_accounts', created)).status).toBe(201)
    expect((await mock.api.post('/connected_accounts', created)).status).toBe(409)
  }))

it('covers a slow third party: a tool call that renews its token makes one write too', () =>
  withSlowServer(({ origin, asked }) =>
    withDisk(oauthSeed({ base_url: origin }), async (mock, disk) => {
      mock.time.advance('61m')
      const before = credentialsOf(mock)
      let syncs = 0
      disk.fails = (_, name) => void (syncs += name.startsWith('datasync') ? 1 : 0)
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      try {
        const running = run(mock, 'do')
        const response = await asked()
        expect(credentialsOf(mock)).not.toEqual(before)
        vi.advanceTimersByTime(400)
        answered(response)
        expect((await running).status).toBe(200)
      } finally {
        vi.useRealTimers()
      }
      expect(syncs).toBe(1)
    }),
  ))

it('is written completely or not at all: a renewal, the data of the third party and the last use are one commit', async ({
  directory,
}) => {
  const path = join(directory, 'state.json')
  const disk = new MemoryDisk()
  await withToolmock({ seed: storingSeed(), state: path, fileSystem: disk }, async (mock) => {
    const rows = (of: TestToolmock): unknown => {
      const { accounts, grants, collection_items } = of.environment.model.tables
      return [accounts, grants, collection_items].map((table) => [...table.values()])
    }
    mock.time.advance('61m')
    const before = rows(mock)
    const length = disk.file(`${path}.wal.0`)!.length
    expect((await run(mock, 'do')).status).toBe(200)
    const [log, after] = [disk.file(`${path}.wal.0`)!, rows(mock)]
    expect(after).not.toEqual(before)
    for (let cut = length; cut <= log.length; cut += Math.min(97, log.length - cut) || 1) {
      const copy = join(directory, 'copy.json')
      const left = new MemoryDisk([[`${copy}.wal.0`, log.subarray(0, cut)]])
      await withToolmock({ seed: storingSeed(), state: copy, fileSystem: left }, (again) => {
        expect(rows(again)).toEqual(cut < log.length ? before : after)
        return Promise.resolve()
      })
    }
  })
})

it('is 503 for a tool call whose step in a sequence of answers was refused, and the next call repeats the step', () =>
  withDisk(
    appSeed([{ name: 'do', answers: [{ body: { at: 1 } }, { body: { at: 2 } }] }], {}, LIVE),
    async (mock, disk) => {
      refusing(disk, true)
      expect(await run(mock, 'do')).toMatchObject(REFUSED)
      refusing(disk, false)
      expect(await run(mock, 'do')).toMatchObject({ status: 200, body: { data: { at: 1 } } })
      expect(await run(mock, 'do')).toMatchObject({ status: 200, body: { data: { at: 2 } } })
    },
  ))

it('is an error page for a consent, whose link can be followed again', () =>
  withDisk(oauthSeed(), async (mock, disk) => {
    const asked = { connector: 'app', identifier: 'grace' }
    const { body } = await mock.api.post('/connected_accounts/magic_link', asked)
    refusing(disk, true)
    const refused = await mock.follow(String(body.link), { decision: 'approve' })
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('The state could not be written')
    expect(refused.headers).not.toHaveProperty('set-cookie')
    refusing(disk, false)
    const { requests } = (await mock.http('get', '/_mock/requests?kind=page')).body as { requests: object[] }
    expect(requests).toMatchObject([{ status: 503, error_code: 'LINK_NOT_STORED', transitions: [] }])
    expect((await mock.follow(String(body.link), { decision: 'approve' })).status).toBe(302)
  }))

it('is an error page when the third party could not store the code', () =>
  withDisk(oauthSeed(), async (mock, disk) => {
    const { body } = await mock.api.post('/connected_accounts/magic_link', { connector: 'app', identifier: 'grace' })
    const consent = new URL(String((await mock.follow(String(body.link))).headers['location']))
    const send = () =>
      mock
        .http('post', consent.pathname)
        .type('form')
        .send(`${consent.search.slice(1)}&decision=approve&person=ada`)
    refusing(disk, true)
    const refused = await send()
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('The state could not be written')
    refusing(disk, false)
    expect((await send()).status).toBe(303)
  }))

it('keeps the entries of requests that come while a reset is being written', () =>
  withDisk(appSeed([]), async (mock, disk) => {
    await mock.http('get', '/before')
    expect((await mock.api.post('/connected_accounts', created)).status).toBe(201)
    const isReset = () =>
      mock.environment.model.accountIndex.where({ connector: 'app', identifier: 'grace' }).length === 0
    const end = paused(disk)
    const resetting = mock.http('post', '/_mock/reset').then((answer) => answer.status)
    await until(isReset)
    const { environment } = mock
    const unreadable = { kind: 'request', id: 'req_1', environment, url: '/unreadable', status: 400 } as const
    mock.app.services.journals.add(unreadable)
    // It is answered and recorded once the reset is durable.
    const ending = vi.spyOn(mock.app.services.entries, 'end')
    const meanwhile = mock.http('get', '/meanwhile').then((answer) => answer.status)
    await until(() => ending.mock.calls.length > 0)
    end('written')
    expect(await Promise.all([resetting, meanwhile])).toEqual([200, 404])
    const { requests } = (await mock.http('get', '/_mock/requests')).body as { requests: { path: string }[] }
    expect(requests.map(({ path }) => path)).toEqual(['/unreadable', '/meanwhile'])
  }))

it('does not affect later requests that read', () =>
  withDisk(appSeed([{ name: 'do', answers: { body: { ok: true } } }], {}, LIVE), async (mock, disk) => {
    refusing(disk, true)
    expect(await mock.api.put('/connected_accounts', changed)).toMatchObject(REFUSED)
    expect((await mock.api.get('/connected_accounts')).status).toBe(200)
    expect((await mock.api.get('/connected_accounts/details', { id: 'ca_none' })).status).toBe(404)
    refusing(disk, false)
    expect((await run(mock, 'do')).status).toBe(200)
  }))

/** A seed whose third party stores what it receives. */
function storingSeed(): object {
  return oauthSeed({
    collections: { notes: { key: 'id', fields: { id: '{{id}}', text: null } } },
    responders: [
      {
        on: { method: 'POST' },
        steps: [{ create: 'notes', item: { text: '{{account.identifier}}' }, as: 'note' }],
        respond: { status: 201, body: { id: '{{note.id}}' } },
      },
    ],
  })
}

function oauthSeed(more: object = {}): object {
  const oauth_token = { access_token: 'at_1', refresh_token: 'rt_1', scopes: ['a'] }
  const connector = { authorization_type: 'OAUTH', people: ['ada'], oauth: { refresh_token: 'rotate' }, ...more }
  return appSeed([{ name: 'do', answers: { body: { ok: true } } }], connector, {
    authorization_details: { oauth_token },
  })
}
