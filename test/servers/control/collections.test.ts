import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { AppOptions } from '../../../src/app/app.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { type ControlMock, expectControlError, START, withControl } from './control-mock.ts'
import { itWith } from '../../support/mock-fixture.ts'

const listing = (name: string, path: string) => ({ name, call: { method: 'GET', path } })

/** Notes belong to accounts; tags are shared. */
const PAD = {
  connector: 'pad',
  authorization_type: 'BEARER_TOKEN',
  tools: [
    {
      name: 'pad_add_note',
      input_schema: { type: 'object', properties: { title: { type: 'string' } } },
      call: { method: 'POST', path: '/notes', body: { title: '{{input.title}}' } },
    },
    listing('pad_list_notes', '/notes'),
    listing('pad_list_tags', '/tags'),
  ],
  collections: {
    notes: {
      fields: { id: 'n_{{id}}', title: '', made: '{{now}}' },
      seed: [{ id: 'n_1', title: 'First of {{account.identifier}}' }],
    },
    tags: { key: 'name', per: 'environment', seed: [{ name: 'red' }, { name: 'blue' }] },
  },
  responders: [
    { on: { method: 'POST', path: '/notes' }, steps: [{ create: 'notes' }] },
    { on: { method: 'GET', path: '/notes' }, steps: [{ list: 'notes' }] },
    { on: { method: 'GET', path: '/tags' }, steps: [{ list: 'tags' }] },
  ],
}
const ADA = { connector: 'pad', identifier: 'ada@example.com' }
const GRACE = { connector: 'pad', identifier: 'grace@example.com' }

interface Pad extends ControlMock {
  /** Runs a tool with ada's account and returns its data. */
  readonly run: (tool: string, input?: object, of?: object) => Promise<{ status: number; data: { items: object[] } }>
  readonly notes: (query?: string) => Promise<object[]>
}

async function withPad(options: AppOptions, work: (pad: Pad) => Promise<void>): Promise<void> {
  await withControl(options, async (mock) => {
    const { call, api, token } = mock
    const { connectors } = ((await call('get', '/state')).body as { tables: { connectors: { id: string }[] } }).tables
    if (!connectors.some(({ id }) => id === 'pad')) {
      await call('put', '/connectors/pad', PAD)
      await call('post', '/seed', { accounts: [ADA, GRACE] })
    }
    const bearer = await token('test_client', 'test_secret')
    await work({
      ...mock,
      run: async (tool_name, tool_input = {}, of = ADA) => {
        const { status, body } = await api(bearer, 'post', '/execute_tool', { ...of, tool_name, tool_input })
        return { status, data: (body as { data: { items: object[] } }).data }
      },
      notes: async (query = 'account=ada@example.com') => {
        return ((await call('get', `/collections/pad/notes?${query}`)).body as { items: object[] }).items
      },
    })
  })
}

const FIRST = { id: 'n_1', title: 'First of ada@example.com', made: START }

const it = itWith(withPad, {})

describe('collections', () => {
  it('are listed by connector', async ({ mock: { call } }) => {
    const { collections } = (await call('get', '/collections')).body as { collections: unknown[] }
    expect(collections).toEqual(
      expect.arrayContaining([
        { connector: 'pad', collection: 'notes', key: 'id', per: 'account' },
        { connector: 'pad', collection: 'tags', key: 'name', per: 'environment' },
      ]),
    )
  })

  it('contain the items that tools created, separate for each account', async ({ mock: { run, notes } }) => {
    const { data } = await run('pad_add_note', { title: 'Second' })
    expect(await notes()).toEqual([FIRST, data])
    expect((await run('pad_list_notes')).data.items).toEqual([FIRST, data])
    expect(await notes('account=grace@example.com')).toEqual([{ ...FIRST, title: 'First of grace@example.com' }])
  })

  it('are part of state, differences, snapshots and resets', async ({ mock: { call, run, notes } }) => {
    await run('pad_list_notes')
    await call('put', '/snapshots/before')
    const { id } = (await run('pad_add_note', { title: 'Second' })).data as unknown as { id: string }
    const { tables } = (await call('get', '/state')).body as { tables: Record<string, { id: string }[]> }
    const account = tables['accounts']?.find((each) => Reflect.get(each, 'identifier') === ADA.identifier)?.id ?? ''
    const row = { connector: 'pad', collection: 'notes', account_id: account }
    expect(tables['collection_items']).toEqual([
      { id: `pad/notes/${account}/n_1`, ...row, sequence: 1, item: FIRST },
      { id: `pad/notes/${account}/${id}`, ...row, sequence: 2, item: { id, title: 'Second', made: START } },
    ])
    expect((await call('get', '/state/diff?snapshot=before')).body).toMatchObject({
      added: [{ table: 'collection_items', id: `pad/notes/${account}/${id}` }],
    })
    await call('post', '/snapshots/before/restore')
    expect(await notes()).toEqual([FIRST])
    await run('pad_add_note', { title: 'Third' })
    await call('post', '/reset')
    expect(await notes()).toEqual([FIRST])
  })

  it('get items from seeds, for each account and shared, and a reset restores them', async ({
    mock: { call, run, notes },
  }) => {
    const account = { ...ADA, collections: { notes: [{ id: 'n_7', title: 'Seeded' }] } }
    const tags = { connector: 'pad', collection: 'tags', items: [{ name: 'green' }] }
    expect((await call('post', '/seed', { accounts: [account], collections: [tags] })).status).toBe(200)
    await run('pad_add_note', { title: 'More' })
    await call('post', '/reset')
    expect(await notes()).toEqual([{ id: 'n_7', title: 'Seeded' }])
    expect((await run('pad_list_tags')).data.items).toEqual([{ name: 'green' }])
  })

  it('are replaced as a whole by PUT, and tools see it at once', async ({ mock: { call, run, notes } }) => {
    const items = [
      { id: 'n_2', title: 'b' },
      { id: 1, title: 'a' },
    ]
    expect((await call('put', '/collections/pad/notes?account=ada@example.com', { items })).status).toBe(200)
    expect((await run('pad_list_notes')).data.items).toEqual(items)
    await call('put', '/collections/pad/notes?account=ada@example.com', { items: [] })
    expect(await notes()).toEqual([])
    await call('put', '/collections/pad/tags', { items: [{ name: 'x' }] })
    expect((await run('pad_list_tags')).data.items).toEqual([{ name: 'x' }])
  })

  it.for<[string, string, object | undefined, string, string]>([
    ['an unknown connector', 'pda/notes', undefined, 'COLLECTION_NOT_FOUND', 'there is no connector "pda"'],
    ['an unknown collection', 'pad/constructor', undefined, 'COLLECTION_NOT_FOUND', 'there are notes, tags'],
    ['no account', 'pad/notes', undefined, 'INVALID_QUERY', 'the id or identifier of an account of pad'],
    ['an unknown account', 'pad/notes?account=x', undefined, 'ACCOUNT_NOT_FOUND', 'pad has no connected account "x"'],
    ['a superfluous account', 'pad/tags?account=x', undefined, 'INVALID_QUERY', 'accounts share the items'],
    ['no items', 'pad/tags', {}, 'INVALID_BODY', '`items` is required'],
    ['an item that is none', 'pad/tags', { items: [1] }, 'INVALID_BODY', '`items[0]` is 1'],
    ['no key', 'pad/tags', { items: [{ name: 'a' }, { name: '' }] }, 'INVALID_BODY', '`items[1].name` is ""'],
    ['a key twice', 'pad/tags', { items: [{ name: 1 }, { name: '1' }] }, 'INVALID_BODY', 'for the second time'],
  ])('refuse %s, and do not change', async ([_, path, body, code, message], { mock: { call, run } }) => {
    const answer = body ? await call('put', `/collections/${path}`, body) : await call('get', `/collections/${path}`)
    expectControlError(answer, code.endsWith('_NOT_FOUND') ? 404 : 400, code)
    expect(answer.text.replaceAll('\\"', '"')).toContain(message)
    expect((await run('pad_list_tags')).data.items).toEqual([{ name: 'red' }, { name: 'blue' }])
  })

  it.for<[string, object, string]>([
    ['an unknown collection', { accounts: [{ ...ADA, collections: { note: [] } }] }, 'did you mean notes?'],
    ['a shared one at an account', { accounts: [{ ...ADA, collections: { tags: [] } }] }, 'share tags'],
    [
      'one of accounts as a shared one',
      { collections: [{ connector: 'pad', collection: 'notes', items: [] }] },
      'of its own',
    ],
    [
      'an unknown connector',
      { collections: [{ connector: 'pda', collection: 'notes', items: [] }] },
      'did you mean pad?',
    ],
    ['an item without a key', { accounts: [{ ...ADA, collections: { notes: [{ title: 'x' }] } }] }, 'notes[0].id'],
  ])('of a seed refuse %s', async ([_, seed, message], { mock: { call } }) => {
    const answer = await call('post', '/seed', seed)
    expectControlError(answer, 400, 'INVALID_DOCUMENT')
    expect(answer.text).toContain(message)
  })

  it('lose the items of an account that is deleted', async ({ mock: { call, api, token, run } }) => {
    await run('pad_list_notes')
    await run('pad_list_notes', {}, GRACE)
    await api(await token('test_client', 'test_secret'), 'post', '/connected_accounts:delete', ADA)
    const { tables } = (await call('get', '/state')).body as {
      tables: { collection_items: { item: object }[]; counters: { id: string }[] }
    }
    expect(tables.collection_items).toMatchObject([{ item: { title: 'First of grace@example.com' } }])
    expect(tables.counters.filter(({ id }) => id.startsWith('collection '))).toHaveLength(1)
  })

  it('are those of one environment', async ({ mock: { call, run, notes } }) => {
    await call('post', '/environments', { name: 'other', seed: { connectors: [PAD], accounts: [ADA] } })
    await run('pad_add_note', { title: 'Second' })
    expect(await notes('account=ada@example.com&environment=other')).toEqual([FIRST])
    expect(await notes()).toHaveLength(2)
  })

  it('repeat with the seed of ids', async () => {
    const ids: unknown[] = []
    for (let run = 1; run <= 2; run++) {
      await withPad({ idSeed: 7 }, async (pad) => {
        await pad.run('pad_add_note', { title: 'Second' })
        ids.push(await pad.notes())
      })
    }
    expect(ids[0]).toEqual(ids[1])
  })

  it('are kept over a restart, one row a line, and after a crash have everything that was answered', async ({
    directory,
  }) => {
    const disk = new MemoryDisk()
    const file = join(directory, 'state.json')
    const options = { state: file, fileSystem: disk }
    let kept: unknown
    let crashed = disk
    await withPad(options, async (pad) => {
      await pad.run('pad_add_note', { title: 'Second' })
      await pad.call('post', '/state/checkpoint')
      const lines = ((await disk.read(file)) ?? Buffer.alloc(0)).toString().split('\n')
      expect(lines.filter((line) => line.includes('"id":"pad/notes/'))).toHaveLength(2)
      await pad.run('pad_add_note', { title: 'Third' })
      kept = await pad.notes()
      crashed = disk.after('power-lost')
    })
    for (const fileSystem of [disk, crashed]) {
      await withPad({ state: file, fileSystem }, async ({ notes, run }) => {
        expect(await notes()).toEqual(kept)
        expect((await run('pad_list_notes')).data.items).toEqual(kept)
      })
    }
  })

  it('begin again when another field is their key, and stay when anything else of their connector changes', async ({
    mock: { call, run, notes },
  }) => {
    const { data } = await run('pad_add_note', { title: 'Second' })
    await call('put', '/connectors/pad', { ...PAD, display_name: 'Notes' })
    expect(await notes()).toEqual([FIRST, data])
    const { notes: former, tags } = PAD.collections
    const collections = { notes: { ...former, key: 'title' }, tags }
    await call('put', '/connectors/pad', { ...PAD, collections })
    expect(await notes()).toEqual([FIRST])
    expect((await run('pad_add_note', { title: FIRST.title })).status).toBe(500)
    expect((await run('pad_add_note', { title: 'Second' })).status).toBe(200)
    expect((await run('pad_list_tags')).data.items).toHaveLength(2)
  })

  it('do not change when the disk refuses', async ({ directory }) => {
    const disk = new MemoryDisk()
    await withPad({ state: join(directory, 'state.json'), fileSystem: disk }, async ({ run, notes }) => {
      const before = await notes()
      disk.fails = () => new Error('ENOSPC: no space left')
      expect((await run('pad_add_note', { title: 'Second' })).status).toBe(503)
      disk.fails = () => undefined
      expect(await notes()).toEqual(before)
      expect((await run('pad_list_notes')).data.items).toEqual(before)
    })
  })

  it('are empty in a state file of an earlier release', async ({ mock: { call, notes } }) => {
    const state = (await call('get', '/state')).body as { tables: Record<string, unknown> }
    delete state.tables['collection_items']
    expect((await call('put', '/state', state)).status).toBe(200)
    expect(await notes()).toEqual([FIRST])
  })
})

describe('a sequence of answers', () => {
  const responder = (answers: string[]) => ({ on: { path: '/queue' }, sequence: answers.map((body) => ({ body })) })

  it('begins again when its connector is put, and goes on when another one is', async ({ mock: { call, run } }) => {
    const queue = (...answers: string[]) =>
      call('put', '/connectors/queue', {
        connector: 'queue',
        authorization_type: 'NO_AUTH',
        tools: [listing('queue_next', '/queue')],
        responders: [responder(answers)],
      })
    const of = { connector: 'queue', identifier: ADA.identifier }
    const next = async () => (await run('queue_next', {}, of)).data
    await queue('queued', 'running', 'done')
    await call('post', '/seed', { accounts: [of] })
    expect([await next(), await next()]).toEqual([{ value: 'queued' }, { value: 'running' }])
    await call('put', '/connectors/pad', PAD)
    expect(await next()).toEqual({ value: 'done' })
    await queue('first', 'second', 'third')
    expect([await next(), await next()]).toEqual([{ value: 'first' }, { value: 'second' }])
  })

  it('begins again in every environment when its extension is put', async () => {
    await withControl({}, async ({ call, api, token }) => {
      const queue = (...answers: string[]) =>
        call('put', '/extensions/queue', {
          extension: 'queue',
          responders: [{ name: 'next', ...responder(answers), on: { path: '/api/v1/queue' } }],
        })
      const made = await call('post', '/environments', { name: 'other' })
      const { client_id, client_secret } = made.body as Record<string, string>
      const bearers = [await token('test_client', 'test_secret'), await token(String(client_id), String(client_secret))]
      const next = async () => Promise.all(bearers.map(async (bearer) => (await api(bearer, 'get', '/queue')).body))
      await queue('queued', 'done')
      expect([await next(), await next()]).toEqual([
        ['queued', 'queued'],
        ['done', 'done'],
      ])
      await queue('first', 'second')
      expect(await next()).toEqual(['first', 'first'])
    })
  })
})
