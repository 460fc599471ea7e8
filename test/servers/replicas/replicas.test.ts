import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Code, createClient } from '@connectrpc/connect'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ROOT } from '../../../.build/project.ts'
import { type Serving, ToolmockProcess } from '../../app/cli/toolmock-process.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { DESCRIPTORS, failure, TRANSPORTS } from '../rpc/fixture.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWith } from '../../support/machine.ts'
import { TestPostgres } from '../../support/postgres.ts'
import { History } from './history.ts'

/** 100 in the long form. */
const ROUNDS = Number(process.env['REPLICA_ROUNDS'] ?? 2)
const LEASE = 2000
/** A busy machine that keeps a replica from running for a second does not end it. */
const BUSY_LEASE = 6000
const WRITERS = { writers: 4, readers: 6 }

const toolmock = ToolmockProcess.forThisFile()
let postgres: TestPostgres

interface Described {
  active: { id: string; url: string; epoch: number } | null
  replicas: { id: string; url: string; differs: string[] }[]
}

const describeAt = async (url: string): Promise<Described> =>
  (await (await fetch(`${url}/_mock/replicas`)).json()) as Described

/** Three replicas on one schema, each on a port of its own, which a new process takes again. */
class Cluster {
  readonly schema = postgres.schema()
  readonly #replicas = new Map<string, Serving>()
  /** Those that a load balancer would send requests to. */
  readonly inRotation = new Set<string>()
  readonly #lease: number

  constructor(lease = LEASE) {
    this.#lease = lease
  }

  async start(count = 3): Promise<this> {
    for (let at = 0; at < count; at++) await this.add(await freePort())
    return this
  }

  async add(port: number, more: string[] = []): Promise<string> {
    const args = ['--state', postgres.url, '--state-schema', this.schema, '--lease', String(this.#lease), '--quiet']
    const replica = await toolmock.start([...args, ...more], { TOOLMOCK_PORT: String(port) })
    this.#replicas.set(replica.url, replica)
    await expect.poll(async () => (await fetch(`${replica.url}/_mock/ready`)).status, { timeout: 60_000 }).toBe(200)
    this.inRotation.add(replica.url)
    return replica.url
  }

  get urls(): string[] {
    return [...this.inRotation]
  }

  of(url: string): Serving {
    const replica = this.#replicas.get(url)
    if (!replica) throw new Error(`there is no replica at ${url}`)
    return replica
  }

  /** The active replica, asked at one that answers. */
  async active(): Promise<{ url: string; epoch: number }> {
    const find = async (): Promise<Described['active'] | undefined> => {
      const described = await Promise.all(this.urls.map((url) => describeAt(url).catch(() => undefined)))
      return described.find((each) => each?.active)?.active
    }
    return vi.waitUntil(find, { timeout: 60_000 })
  }

  async stop(): Promise<void> {
    for (const { child } of this.#replicas.values()) child.kill('SIGKILL')
    this.#replicas.clear()
    await Promise.resolve()
  }
}

async function withCluster(work: (cluster: Cluster) => Promise<void>, lease = LEASE): Promise<void> {
  const cluster = new Cluster(lease)
  try {
    await cluster.start()
    await work(cluster)
  } finally {
    await cluster.stop()
  }
}

/** The epochs of the commits, in the order of the log. */
const epochsOf = async (schema: string): Promise<number[]> =>
  (
    await postgres.query<{ epoch: string }>(
      `select c.epoch from ${schema}.chunks c join ${schema}.files f on f.id = c.file where f.name like '%.wal.%' order by f.name, c.position`,
    )
  ).map(({ epoch }) => Number(epoch))

async function expectSound(history: History, { schema }: Cluster): Promise<void> {
  await history.end()
  expect(history.violations).toEqual([])
  expect(history.acknowledged).toBeGreaterThan(20)
  const epochs = await epochsOf(schema)
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b))
}

/** What another replica has recorded is said to be missing, until it is cleared. */
async function expectIncomplete({ urls: [url = ''] }: Cluster): Promise<void> {
  const verify = async (match: object, times?: number): Promise<unknown> => {
    const body = JSON.stringify({ match, ...(times !== undefined && { times }) })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/_mock/requests/verify`, { method: 'POST', headers, body })).json()
  }
  const incomplete_since = expect.any(String) as string
  const none = { operation: 'delete_connected_account' }
  expect(await verify(none, 0)).toMatchObject({ ok: false, matched: 0, incomplete_since })
  expect(await verify({ operation: 'update_connected_account' })).toMatchObject({ ok: true, incomplete_since })
  const contract = async (): Promise<unknown> => (await fetch(`${url}/_mock/contract`)).json()
  expect(await contract()).toMatchObject({ ok: false, total: { incomplete_since } })
  for (const path of ['requests', 'contract']) await fetch(`${url}/_mock/${path}`, { method: 'DELETE' })
  expect(await verify(none, 0)).toEqual({ ok: true, matched: 0, near_misses: [] })
  expect(await contract()).toMatchObject({ ok: true })
}

describeWith('postgresql', 'three replicas on one PostgreSQL', () => {
  beforeAll(async () => {
    postgres = await TestPostgres.start()
  })
  afterAll(async () => {
    await postgres.stop()
  })

  it('lose no answered write and answer no stale read when the active one is killed', async () => {
    await withCluster(async (cluster) => {
      const history = new History(() => cluster.urls)
      await history.begin(WRITERS)
      for (let round = 0; round < ROUNDS; round++) {
        await history.goesOn(20 + ((round * 37) % 50))
        const { url, epoch } = await cluster.active()
        cluster.inRotation.delete(url)
        await cluster.of(url).stop('SIGKILL')
        await expect.poll(async () => (await cluster.active()).epoch, { timeout: 30_000 }).toBeGreaterThan(epoch)
        await cluster.add(Number(new URL(url).port))
      }
      await expectSound(history, cluster)
      await expectIncomplete(cluster)
    })
  }, 1_200_000)

  it('lose nothing when the active one is stopped for longer than its lease, with requests in its sockets', async () => {
    await withCluster(async (cluster) => {
      const history = new History(() => cluster.urls)
      await history.begin(WRITERS)
      for (let round = 0; round < Math.ceil(ROUNDS / 10); round++) {
        await history.goesOn()
        const { url, epoch } = await cluster.active()
        cluster.inRotation.delete(url)
        cluster.of(url).child.kill('SIGSTOP')
        await expect.poll(async () => (await cluster.active()).epoch, { timeout: 30_000 }).toBeGreaterThan(epoch)
        await history.goesOn()
        const { end } = await history.readAllAt(url)
        cluster.of(url).child.kill('SIGCONT')
        await end
        cluster.inRotation.add(url)
        await history.goesOn()
      }
      await expectSound(history, cluster)
    })
  }, 1_200_000)

  it('lose nothing when PostgreSQL is restarted in the middle of commits, and come back by themselves', async () => {
    await withCluster(async (cluster) => {
      const history = new History(() => cluster.urls)
      await history.begin(WRITERS)
      for (let round = 0; round < Math.ceil(ROUNDS / 10) + 1; round++) {
        await history.goesOn()
        postgres.kill('immediate')
        await postgres.resume()
        await history.goesOn()
      }
      await expectSound(history, cluster)
      expect(history.answers.get(503)).toBeGreaterThan(0)
    })
  }, 1_200_000)

  it('fail no request in rolling restarts', async () => {
    await withCluster(async (cluster) => {
      const history = new History(() => cluster.urls)
      await history.begin(WRITERS)
      const restarts = ROUNDS > 2 ? 10 : 1
      for (let round = 0; round < restarts; round++) {
        for (const url of cluster.urls) {
          cluster.inRotation.delete(url)
          await history.isLeftBy(url)
          const { code } = await cluster.of(url).stop('SIGTERM')
          expect(code).toBe(0)
          await cluster.add(Number(new URL(url).port))
        }
      }
      await expectSound(history, cluster)
      expect([...history.refusals]).toEqual([])
      expect(Object.fromEntries(history.answers)).toEqual({ 200: expect.any(Number) as number })
    }, BUSY_LEASE)
  }, 1_200_000)

  it('reload a seed file on the active one, and give out the ids of an id seed once, also after a takeover', async () => {
    const seed = toolmock.path('watched.yaml')
    const write = (person: string): void => {
      writeFileSync(seed, `accounts:\n  - { connector: mail, identifier: ${person}@example.com }\n`)
    }
    write('ada')
    const flags = ['--seed', 'bundled', '--seed', seed, '--watch', '--id-seed', '7']
    const idsOf = async (count: number, between: (cluster: Cluster) => Promise<void>): Promise<string[]> => {
      const cluster = new Cluster(BUSY_LEASE)
      const ids: string[] = []
      try {
        for (let at = 0; at < count; at++) await cluster.add(await freePort(), flags)
        for (const identifier of ['one', 'two']) {
          const url = cluster.urls.at(-1) ?? ''
          const body = JSON.stringify({ accounts: [{ connector: 'mail', identifier: `${identifier}@example.com` }] })
          const headers = { 'content-type': 'application/json' }
          expect((await fetch(`${url}/_mock/seed`, { method: 'POST', headers, body })).status).toBe(200)
          const found = (await accountsAt(url)).find((account) => account.identifier === `${identifier}@example.com`)
          ids.push(found?.id ?? '')
          if (identifier === 'one') await between(cluster)
        }
      } finally {
        await cluster.stop()
      }
      return ids
    }
    const accountsAt = async (url: string): Promise<{ id: string; identifier: string }[]> => {
      const state = (await (await fetch(`${url}/_mock/state`)).json()) as {
        tables: { accounts: { id: string; identifier: string }[] }
      }
      return state.tables.accounts
    }
    const alone = await idsOf(1, () => Promise.resolve())
    const takeOver = async (cluster: Cluster): Promise<void> => {
      const { url, epoch } = await cluster.active()
      cluster.inRotation.delete(url)
      await cluster.of(url).stop('SIGKILL')
      await expect.poll(async () => (await cluster.active()).epoch).toBeGreaterThan(epoch)
    }
    const together = await idsOf(2, takeOver)
    expect(together[0]).toBe(alone[0])
    expect(new Set(together).size).toBe(2)
    expect(await idsOf(2, takeOver)).toEqual(together)

    const cluster = new Cluster(BUSY_LEASE)
    try {
      for (let at = 0; at < 2; at++) await cluster.add(await freePort(), flags)
      const { url: active } = await cluster.active()
      const standby = cluster.urls.find((url) => url !== active) ?? ''
      const people = async (): Promise<string[]> => (await accountsAt(standby)).map(({ identifier }) => identifier)
      expect(await people()).toContain('ada@example.com')
      write('grace')
      await expect.poll(people).toContain('grace@example.com')
    } finally {
      await cluster.stop()
    }
  }, 120_000)

  it('answer as one at every address, name what differs, and refuse what cannot be used together', async () => {
    await withCluster(async (cluster) => {
      const strict = await cluster.add(await freePort(), ['--strict'])
      const { active, replicas } = await describeAt(strict)
      expect(replicas).toHaveLength(4)
      expect(replicas.find(({ url }) => url === strict)?.differs).toEqual(['strict'])
      expect(JSON.stringify(replicas)).not.toContain('postgres')
      for (const url of [...cluster.urls, active?.url ?? '']) {
        const foreign = await fetch(`${url}/_mock/environments`, { headers: { origin: 'http://evil.example' } })
        expect([url, foreign.status]).toEqual([url, 403])
        const own = await fetch(`${url}/_mock/env?format=json`)
        expect(await own.json()).toMatchObject({ TOOLMOCK_URL: url })
        const forged = { 'x-toolmock-forwarded': 'guess admitted', origin: 'http://evil.example' }
        expect((await fetch(`${url}/_mock/environments`, { headers: forged })).status).toBe(403)
      }
      const journal = await (await fetch(`${strict}/_mock/requests`)).text()
      expect(journal).not.toContain('x-toolmock-')
      const standby = cluster.urls.find((url) => url !== active?.url) ?? ''
      const ended = once(cluster.of(standby).child, 'exit')
      expect((await fetch(`${standby}/_mock/shutdown`, { method: 'POST' })).status).toBe(200)
      expect(await ended).toEqual([0, null])
      expect((await describeAt(active?.url ?? '')).active).toMatchObject({ id: active?.id, epoch: active?.epoch })
      const fresh = await toolmock.run(['start', '--state', postgres.url, '--fresh'])
      expect(fresh).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--fresh replaces the whole state') as string,
      })
    }, BUSY_LEASE)
  }, 120_000)

  it('serve gRPC, gRPC-Web and Connect at a replica that stands by, by HTTP/1.1 and HTTP/2', async () => {
    const cluster = new Cluster(BUSY_LEASE)
    try {
      const more = ['--descriptors', DESCRIPTORS]
      await cluster.add(await freePort(), more)
      const standby = await cluster.add(await freePort(), more)
      expect((await cluster.active()).url).not.toBe(standby)
      const form = { grant_type: 'client_credentials', client_id: 'test_client', client_secret: 'test_secret' }
      const answer = await fetch(`${standby}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
      const { access_token } = (await answer.json()) as { access_token: string }
      const headers = { authorization: `Bearer ${access_token}` }
      for (const [name, transportTo] of Object.entries(TRANSPORTS)) {
        const accounts = createClient(ConnectedAccounts, transportTo(standby))
        const listed = await accounts.listAccounts({}, { headers })
        expect([name, listed.totalSize]).toEqual([name, 0n])
        const error = await failure(accounts.getDetails({ id: 'none' }, { headers }))
        expect([name, error.code]).toEqual([name, Code.NotFound])
        const refused = await failure(accounts.listAccounts({}, {}))
        expect([name, refused.code]).toEqual([name, Code.Unauthenticated])
      }
    } finally {
      await cluster.stop()
    }
  }, 120_000)

  it('warn of synchronous_commit = off at the start, and say synchronous_standby_names', async () => {
    const start = async (parameters = ''): Promise<Serving> =>
      toolmock.start(['--state', `${postgres.url}${parameters}`, '--state-schema', postgres.schema()])
    const on = await start()
    expect(await on.logged(/active/)).toEqual([
      expect.stringContaining('synchronous_commit is on, synchronous_standby_names is empty'),
      expect.stringContaining('this replica is active'),
    ])
    await on.stop('SIGKILL')
    // A commit of the others would wait for this standby, which there is not.
    await postgres.query(`alter system set synchronous_standby_names = 'other_machine'`)
    await postgres.query('select pg_reload_conf()')
    try {
      const named = async () => (await postgres.query<object>('show synchronous_standby_names'))[0]
      await expect.poll(named).toEqual({ synchronous_standby_names: 'other_machine' })
      const off = await start('?options=-c%20synchronous_commit%3Doff')
      const said = (await off.logged(/may lose changes/)).join('\n')
      expect(said).toContain('synchronous_commit is off, synchronous_standby_names is other_machine')
      expect(said).toMatch(/warn.*synchronous_commit is off: a crash of the database may lose changes/)
      await off.stop('SIGKILL')
    } finally {
      await postgres.query('alter system reset synchronous_standby_names')
      await postgres.query('select pg_reload_conf()')
    }
  }, 60_000)

  it('end with an error once their tables were dropped', async () => {
    const schema = postgres.schema()
    const active = await toolmock.start(['--state', postgres.url, '--state-schema', schema])
    await active.logged(/this replica is active/)
    const ended = once(active.child, 'exit')
    await postgres.query(`drop schema ${schema} cascade`)
    expect(await ended).toEqual([1, null])
  }, 60_000)

  it('stop reading the state on SIGTERM and give the lease back', async () => {
    const schema = postgres.schema()
    const args = ['--state', postgres.url, '--state-schema', schema, '--lease', '60000', '--port', '0']
    const first = await toolmock.start(args)
    await first.stop('SIGTERM')
    const leader = async (): Promise<{ epoch: string; held: boolean } | undefined> =>
      (
        await postgres.query<{ epoch: string; held: boolean }>(
          `select epoch, expires_at > clock_timestamp() as held from ${schema}.leader`,
        )
      )[0]
    await postgres
      .locked(`${schema}.chunks`, async () => {
        const reading = toolmock.begin(['start', ...args])
        await expect.poll(leader, { timeout: 30_000 }).toEqual({ epoch: '2', held: true })
        reading.child.kill('SIGTERM')
        await expect.poll(leader, { timeout: 30_000 }).toEqual({ epoch: '2', held: false })
        return reading
      })
      .then(async ({ end }) => expect(await end).toMatchObject({ code: 0 }))
  }, 120_000)

  it.each([
    ['deadline', 'stale'],
    ['deadline and guard', 'lost'],
  ] as const)(
    'the checker of these tests finds a replica without %s',
    async (without, kind) => {
      const schema = postgres.schema()
      const children: ChildProcess[] = []
      const start = async (): Promise<string> => {
        const args = ['--import', 'tsx', 'test/servers/replicas/broken-replica.ts', postgres.url, schema, without]
        const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
        children.push(child)
        const [line] = (await once(child.stdout, 'data')) as [Buffer]
        return line.toString().trim()
      }
      try {
        const urls = [await start(), await start()]
        let inRotation = urls
        const history = new History(() => inRotation)
        await history.begin(WRITERS)
        const [first = '', second = ''] = urls
        const stopped = (await describeAt(first)).active?.url === first ? first : second
        const other = stopped === first ? second : first
        const child = children[urls.indexOf(stopped)]
        inRotation = [other]
        await history.pauseWriters()
        await history.isLeftBy(stopped)
        child?.kill('SIGSTOP')
        await expect.poll(async () => (await describeAt(other)).active?.url, { timeout: 30_000 }).toBe(other)
        history.resumeWriters()
        await history.goesOn()
        const { end } = await history.readAllAt(stopped)
        child?.kill('SIGCONT')
        await end
        if (kind === 'lost') {
          const before = history.violations.length
          inRotation = urls
          await expect.poll(() => history.violations.length).toBeGreaterThan(before)
        }
        await history.end()
        expect(history.violations.map((each) => each.kind)).toContain(kind)
      } finally {
        for (const child of children) child.kill('SIGKILL')
      }
    },
    120_000,
  )
})
