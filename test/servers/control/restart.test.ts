import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { JsonValue } from '../../../src/model/domain/json.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { it } from '../../support/mock-fixture.ts'
import { withDirectory } from '../../support/registry.ts'
import { type ControlMock, withControl } from './control-mock.ts'

/* The server can restart with everything that its control API accepts. */

interface Step {
  readonly method: 'post' | 'put'
  readonly path: string
  readonly body: object
}

const DAY = 86_400_000

/** Instants at and beyond every limit, in the usual notations. */
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
/** Fields of rows that are instants or numbers, with values. */
const aField = fc.oneof(
  fc.record({
    table: fc.constantFrom('accounts', 'magic_links', 'bearer_tokens', 'grants'),
    field: fc.constantFrom('token_expires_at', 'last_used_at', 'updated_at', 'expires_at'),
    value: anInstant,
  }),
  fc.record({ table: fc.constant('counters'), field: fc.constant('value'), value: milliseconds }),
  fc.record({
    table: fc.constantFrom('accounts', 'collection_items'),
    field: fc.constant('sequence'),
    value: milliseconds,
  }),
)
/** PUTs the state that GET answers, with some values replaced. */
const replaced = fc
  .record({
    name: lifetimes,
    value: milliseconds,
    offset_ms: milliseconds,
    frozen_at: fc.option(anInstant),
    position: fc.option(milliseconds),
  })
  .map(({ name, value, position, ...clock }): Step => {
    const ids = position === null ? {} : { ids: { seed: 7, position } }
    return { method: 'put', path: '/state', body: { settings: { [name]: value }, clock, ...ids } }
  })
/** One field of every row of a table that has it. */
const rowsReplaced = aField.map((row): Step => ({ method: 'put', path: '/state', body: { row } }))
/** A scenario that the requests of {@link used} fire. */
const scenario = fc.record({ by: aDuration, from: fc.option(anInstant) }).map(({ by, from }): Step => {
  const on = { operation: 'create_magic_link' }
  const rule = { name: 'r', at: 'service', on, ...(from && { when: { from } }), do: [{ advance_clock: by }] }
  return { method: 'put', path: '/scenarios/later', body: { name: 'later', rules: [rule] } }
})
const started: Step = { method: 'post', path: '/scenarios/later/start', body: {} }
const aTemplate = fc.constantFrom<JsonValue[]>(
  "{{now '3660d'}}",
  "{{date '-3660d'}}",
  "{{now '100000d'}}",
  '{{item}}',
  '{{@root}}',
  '{{request.body}}',
  "{{sum item.a 1e308 '1e308'}}",
  ['{{item}}', { deep: '{{this}}' }],
  null,
)
/** A connector with a collection, in which the direct calls of {@link used} create items. */
const collection = fc.record({ a: aTemplate, b: aTemplate, every: aDuration }).map(({ every, ...fields }): Step => {
  return { method: 'put', path: '/connectors/pad', body: { ...padOf(fields), rate_limit: { calls: 9, every } } }
})

function padOf(fields: object): object {
  return {
    connector: 'pad',
    authorization_type: 'NO_AUTH',
    collections: { notes: { per: 'environment', fields } },
    responders: [{ on: { method: 'POST' }, steps: [{ create: 'notes' }], respond: { body: { ok: true } } }],
  }
}
const LAST = Number.MAX_SAFE_INTEGER
const snapshot = fc.constantFrom<Step>(
  { method: 'put', path: '/snapshots/one', body: {} },
  { method: 'post', path: '/snapshots/one/restore', body: {} },
  { method: 'post', path: '/reset', body: {} },
)
const steps = fc.array(
  fc.oneof(
    clockChange,
    seeded,
    connector,
    environment,
    replaced,
    rowsReplaced,
    scenario,
    fc.constant(started),
    collection,
    snapshot,
  ),
  { maxLength: 8 },
)

interface State {
  settings: object
  clock: object
  tables: Record<string, object[]>
}

async function taken({ call }: ControlMock, { method, path, body }: Step): Promise<number> {
  if (path !== '/state') return (await call(method, path, body)).status
  const state = (await call('get', '/state')).body as State
  const { settings, row, ...others } = body as Partial<State> & {
    row?: { table: string; field: string; value: unknown }
  }
  const { table = '', field = '', value } = row ?? {}
  const rows = state.tables[table]?.map((each) => (field in each ? { ...each, [field]: value } : each)) ?? []
  const tables = row ? { ...state.tables, [table]: rows } : state.tables
  return (await call('put', '/state', { ...state, ...others, tables, settings: { ...state.settings, ...settings } }))
    .status
}

/** Sends requests of a client that store the present time, and times later than it. */
async function used({ token, api, http }: ControlMock): Promise<void> {
  const bearer = await token('test_client', 'test_secret')
  const grace = { connector: 'mail', identifier: 'grace@example.com' }
  const answers = [
    await api(bearer, 'post', '/connected_accounts/magic_link', grace),
    await api(bearer, 'post', '/connected_accounts', { ...grace, connector: 'notes' }),
    await http('post', '/third-party/pad/api/notes').send({ text: 'Hi' }),
  ]
  expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
}

async function statesOf({ app, call }: ControlMock): Promise<unknown> {
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
    await withControl({ ...options, fileSystem: disk }, async (mock) => {
      for (const step of given) {
        expect([200, 201, 400, 404]).toContain(await taken(mock, step))
        await used(mock)
      }
      states = await statesOf(mock)
      killed = disk.after('killed')
    })
    for (const fileSystem of [disk, killed]) {
      await withControl({ ...options, fileSystem }, async (mock) => {
        expect(await statesOf(mock)).toEqual(states)
        expect((await mock.call('post', '/reset')).status).toBe(200)
        await used(mock)
      })
    }
  })
}

it.each(['2026-01-31T12:00:00Z', '2026-01-31T14:00:00.000+02:00'])(
  'a server that was started: with the clock %s starts again',
  async (clock) => {
    for (const freeze of [false, true]) {
      const options = { state: '/state.json', fileSystem: new MemoryDisk(), time: () => 0, freeze }
      for (const given of [
        { ...options, clock },
        { ...options, clock: undefined },
      ]) {
        await withControl(given, async ({ call }) => {
          expect((await call('get', '/clock')).body).toEqual({ now: '2026-01-31T12:00:00.000Z', frozen: freeze })
          expect((await call('post', '/reset')).status).toBe(200)
          expect((await call('get', '/clock')).body).toEqual({ now: '2026-01-31T12:00:00.000Z', frozen: freeze })
        })
      }
    }
  },
)

describe('a change that the control API accepted', () => {
  it('is kept over a restart', { timeout: 120_000 }, async () => {
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

  it('keeps snapshots, which can be compared and restored, and none that was deleted (G63)', async ({ directory }) => {
    const disk = new MemoryDisk()
    const options = { state: join(directory, 'state.json'), time: () => Date.parse('2026-01-01T00:00:00Z') }
    let killed = disk
    await withControl({ ...options, fileSystem: disk }, async (mock) => {
      for (const name of ['kept', 'gone']) expect((await mock.call('put', `/snapshots/${name}`)).status).toBe(200)
      expect((await mock.call('delete', '/snapshots/gone')).status).toBe(200)
      await used(mock)
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
    [
      'a count at its end',
      [
        { method: 'put', path: '/connectors/pad', body: padOf({}) },
        { method: 'put', path: '/state', body: { row: { table: 'counters', field: 'value', value: LAST } } },
      ],
    ],
    [
      'a place in creation order at its end',
      [
        { method: 'put', path: '/connectors/pad', body: padOf({}) },
        { method: 'put', path: '/state', body: { row: { table: 'accounts', field: 'sequence', value: LAST } } },
      ],
    ],
    [
      'two items at one place in creation order',
      [
        { method: 'put', path: '/connectors/pad', body: padOf({}) },
        { method: 'put', path: '/clock', body: {} },
        { method: 'put', path: '/state', body: { row: { table: 'collection_items', field: 'sequence', value: 1 } } },
      ],
    ],
    [
      'an item at the place of the next one',
      [
        { method: 'put', path: '/connectors/pad', body: padOf({}) },
        { method: 'put', path: '/state', body: { row: { table: 'collection_items', field: 'sequence', value: 2 } } },
      ],
    ],
    ['a position of ids at its end', [{ method: 'put', path: '/state', body: { ids: { seed: 7, position: LAST } } }]],
    [
      'an item that would contain itself',
      [{ method: 'put', path: '/connectors/pad', body: padOf({ self: '{{item}}', all: '{{@root}}' }) }],
    ],
  ])('%s is refused, or is kept over a restart', async (_, given) => {
    await check(given)
  })
})
