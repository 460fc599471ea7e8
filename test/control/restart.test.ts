import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '../support/memory-disk.ts'
import { withDirectory } from '../support/registry.ts'
import { type ControlBench, withControl } from './control-bench.ts'

/* Whatever the server accepts by its control API, it starts with again. */

interface Step {
  readonly method: 'post' | 'put'
  readonly path: string
  readonly body: object
}

const DAY = 86_400_000

/** Instants at and beyond every limit, in the forms that people write. */
const anInstant = fc.oneof(
  fc.constantFrom(
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00Z',
    '7999-12-31T23:59:59.999Z',
    '8000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.999-12:00',
    '2026-02-30T00:00:00Z',
  ),
  fc
    .date({ min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999), noInvalidDate: true })
    .map((date) => date.toISOString()),
)
const aDuration = fc.oneof(
  fc.constantFrom('0s', '1ms', '3660d', '3661d', '100000d', 'PT5M', 'P1Y', '-1s', '9007199254740991'),
  fc.integer({ min: -1, max: 400_000_000 }),
  fc.double(),
)
const milliseconds = fc.oneof(
  fc.constantFrom(-1, 0, 1, 3660 * DAY, 3660 * DAY + 1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
  fc.integer(),
  fc.double(),
)
const lifetimes = fc.constantFrom('bearer_token_lifetime', 'magic_link_lifetime', 'auth_request_lifetime')

const clockChange = fc
  .record({ now: anInstant, advance: aDuration, frozen: fc.boolean() }, { requiredKeys: [] })
  .map((body): Step => ({ method: 'put', path: '/clock', body }))
const seeded = fc
  .record({ name: lifetimes, value: aDuration, expires: anInstant })
  .map(({ name, value, expires }): Step => {
    const account = { connector: 'mail', identifier: 'ada@example.com', token_expires_at: expires }
    return { method: 'post', path: '/seed', body: { settings: { [name]: value }, accounts: [account] } }
  })
const connector = aDuration.map((access_token_lifetime): Step => {
  const body = { connector: 'notes', authorization_type: 'OAUTH', oauth: { access_token_lifetime } }
  return { method: 'put', path: '/connectors/notes', body }
})
const environment = fc
  .record({ now: anInstant, frozen: fc.boolean() }, { requiredKeys: [] })
  .map((clock): Step => ({ method: 'post', path: '/environments', body: { clock } }))
/** The path is that of a state; what stands for it is what GET answers, changed. */
const replaced = fc
  .record({ name: lifetimes, value: milliseconds, offset_ms: milliseconds, frozen_at: fc.option(anInstant) })
  .map(({ name, value, ...clock }): Step => ({
    method: 'put',
    path: '/state',
    body: { settings: { [name]: value }, clock },
  }))
const snapshot = fc.constantFrom<Step>(
  { method: 'put', path: '/snapshots/one', body: {} },
  { method: 'post', path: '/snapshots/one/restore', body: {} },
  { method: 'post', path: '/reset', body: {} },
)
const steps = fc.array(fc.oneof(clockChange, seeded, connector, environment, replaced, snapshot), { maxLength: 6 })

interface State {
  settings: object
  clock: object
}

async function taken({ call }: ControlBench, { method, path, body }: Step): Promise<number> {
  if (path !== '/state') return (await call(method, path, body)).status
  const state = (await call('get', '/state')).body as State
  const { settings, clock } = body as State
  return (await call('put', '/state', { ...state, settings: { ...state.settings, ...settings }, clock })).status
}

/** Requests of a client, which leave instants behind: now, and so much later. */
async function used({ token, api }: ControlBench): Promise<void> {
  const bearer = await token('test_client', 'test_secret')
  await api(bearer, 'post', '/connected_accounts/magic_link', { connector: 'mail', identifier: 'grace@example.com' })
  await api(bearer, 'post', '/connected_accounts', { connector: 'notes', identifier: 'grace@example.com' })
}

async function statesOf({ app, call }: ControlBench): Promise<unknown> {
  const names = app.services.registry.environments().map(({ name }) => name)
  const states = []
  for (const name of names.sort()) states.push([name, (await call('get', `/state?environment=${name}`)).body])
  return states
}

async function check(given: readonly Step[]): Promise<void> {
  await withDirectory(async (directory) => {
    const disk = new MemoryDisk()
    const options = { state: join(directory, 'state.json'), time: () => Date.parse('2026-01-01T00:00:00Z') }
    let states: unknown
    let killed = disk
    await withControl({ ...options, fileSystem: disk }, async (bench) => {
      for (const step of given) {
        expect([200, 201, 400, 404]).toContain(await taken(bench, step))
        await used(bench)
      }
      states = await statesOf(bench)
      killed = disk.after('killed')
    })
    for (const fileSystem of [disk, killed]) {
      await withControl({ ...options, fileSystem }, async (bench) => {
        expect(await statesOf(bench)).toEqual(states)
        expect((await bench.call('post', '/reset')).status).toBe(200)
        await used(bench)
      })
    }
  })
}

describe('what the control API has accepted', () => {
  it('is there after a restart, whatever it was', { timeout: 120_000 }, async () => {
    await fc.assert(fc.asyncProperty(steps, check), { numRuns: 25 })
  })

  it('keeps the scenarios and the test that an environment was made with', async () => {
    const disk = new MemoryDisk()
    const options = { state: '/state.json', fileSystem: disk }
    await withControl(options, async ({ call }) => {
      const body = { name: 'worker-2', scenarios: ['third-party-fails'], label: 'sends', file: 'a.test.ts', line: 3 }
      expect((await call('post', '/environments', body)).status).toBe(201)
    })
    await withControl(options, async ({ call, app }) => {
      await call('post', '/reset?environment=worker-2')
      const { body } = await call('get', '/scenarios?environment=worker-2')
      const { scenarios } = body as { scenarios: { name: string; running: boolean }[] }
      expect(scenarios.filter(({ running }) => running).map(({ name }) => name)).toEqual(['third-party-fails'])
      const origin = app.services.registry.environment('worker-2')?.model.tables.origins.get('origin')
      expect(origin?.test).toEqual({ label: 'sends', file: 'a.test.ts', line: 3 })
    })
  })

  it('keeps snapshots, which can be compared and restored, and none that was deleted (G63)', async () => {
    await withDirectory(async (directory) => {
      const disk = new MemoryDisk()
      const options = { state: join(directory, 'state.json'), time: () => Date.parse('2026-01-01T00:00:00Z') }
      let killed = disk
      await withControl({ ...options, fileSystem: disk }, async (bench) => {
        for (const name of ['kept', 'gone']) expect((await bench.call('put', `/snapshots/${name}`)).status).toBe(200)
        expect((await bench.call('delete', '/snapshots/gone')).status).toBe(200)
        await used(bench)
        killed = disk.after('power-lost')
      })
      for (const fileSystem of [disk, killed]) {
        await withControl({ ...options, fileSystem }, async ({ call }) => {
          expect((await call('get', '/snapshots')).body).toMatchObject({ snapshots: [{ name: 'kept' }] })
          expect(JSON.stringify((await call('get', '/state')).body)).not.toContain('"kept"')
          const { added } = (await call('get', '/state/diff?snapshot=kept')).body as { added: { table: string }[] }
          expect(added.filter(({ table }) => table === 'accounts')).toHaveLength(1)
          expect((await call('post', '/snapshots/kept/restore')).status).toBe(200)
          const { tables } = (await call('get', '/state')).body as { tables: { accounts: object[] } }
          expect(tables.accounts).toEqual([])
        })
      }
    })
  })

  it.each<[string, Step[]]>([
    [
      'a clock at its end',
      [{ method: 'put', path: '/clock', body: { now: '9999-12-31T23:59:59.999Z', frozen: true } }],
    ],
    [
      'a lifetime without end',
      [
        {
          method: 'put',
          path: '/state',
          body: {
            settings: { bearer_token_lifetime: Number.MAX_SAFE_INTEGER },
            clock: { offset_ms: 0, frozen_at: null },
          },
        },
      ],
    ],
    [
      'a negative lifetime',
      [
        {
          method: 'put',
          path: '/state',
          body: { settings: { magic_link_lifetime: -1 }, clock: { offset_ms: 0, frozen_at: null } },
        },
      ],
    ],
  ])('%s is refused, or is there after a restart', async (_, given) => {
    await check(given)
  })
})
