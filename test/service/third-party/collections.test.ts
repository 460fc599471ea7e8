import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/model/domain/json.ts'
import { parseConnector } from '../../../src/files/read.ts'
import { documentChecks } from '../../../src/app/document-checks.ts'
import { Fixture } from './fixture.ts'

const JSON_BODY = { 'Content-Type': 'application/json' }

const NOTES = `
connector: notes
authorization_type: NO_AUTH
collections:
  notes:
    per: environment
    fields: { id: 'n_{{sequence}}', title: '', labels: [], size: 0, folder: inbox, made: '{{now}}' }
    seed:
      - { title: Alpha, size: 3, labels: [red, blue] }
      - { title: Beta, size: 1, folder: archive }
      - { title: Gamma, size: 2 }
responders:
  - on: { method: POST, path: /notes }
    steps:
      - refuse: { request.body.title: { exists: false } }
        otherwise: { status: 400, body: { error: title_missing } }
      - { create: notes, unless: { title: '{{request.body.title}}' } }
  - on: { method: GET, path: /notes }
    steps:
      - list: notes
        where:
          folder: '{{request.query.folder}}'
          labels: '{{request.query.label}}'
          size: { gte: '{{request.query.min}}', lt: '{{request.query.max}}' }
        search: { text: '{{request.query.q}}', in: [title] }
        sort: '{{request.query.sort}}'
        page: { limit: '{{request.query.limit}}', token: '{{request.query.token}}', default: 2 }
    respond: { body: { notes: '{{items}}', next: '{{page.next}}', total: '{{page.total}}' } }
  - on: { method: GET, path: '/notes/{id}' }
    steps: [{ get: notes, key: '{{request.params.id}}' }]
  - on: { method: PATCH, path: '/notes/{id}' }
    steps: [{ update: notes, key: '{{request.params.id}}', set: '{{request.body}}' }]
  - on: { method: POST, path: '/notes/{id}/labels' }
    steps:
      - update: notes
        key: '{{request.params.id}}'
        add: { labels: '{{request.body.add}}' }
        remove: { labels: '{{request.body.remove}}' }
  - on: { method: DELETE, path: '/notes/{id}' }
    steps: [{ delete: notes, key: '{{request.params.id}}' }]
`

async function started(text = NOTES): Promise<Fixture> {
  return Fixture.start(await parseConnector(text, 'notes.yaml', documentChecks(false)))
}

function send(method: string, body: unknown): RequestInit {
  return { method, headers: JSON_BODY, body: JSON.stringify(body) }
}

async function titles(fixture: Fixture, query: string): Promise<unknown> {
  const { body } = await fixture.api(`/notes?limit=100&${query}`)
  return ((body as JsonObject)['notes'] as JsonObject[]).map(({ title }) => title)
}

it('items of seed: whose templates make the key of an item before them are left out', async () => {
  const fixture = await started(
    NOTES.replace('{ title: Alpha,', "{ id: '{{sequence}}', title: Alpha,").replace(
      '{ title: Beta,',
      "{ id: '1', title: Beta,",
    ),
  )
  expect(await titles(fixture, 'folder=')).toEqual(['Alpha', 'Gamma'])
})

it('items of seed: with an empty key get keys of their own', async () => {
  await using fixture = await started(
    NOTES.replace('{ title: Alpha,', "{ id: '', title: Alpha,").replace('{ title: Beta,', "{ id: '', title: Beta,"),
  )
  expect(await titles(fixture, 'folder=')).toEqual(['Alpha', 'Beta', 'Gamma'])
})

it('a collection contains the created items', async () => {
  await using fixture = await started()
  const created = await fixture.api('/notes', send('POST', { title: 'Delta', extra: { a: 1 } }))
  const made = '2026-01-01T00:00:00.000Z'
  const note = { id: 'n_4', title: 'Delta', labels: [], size: 0, folder: 'inbox', made, extra: { a: 1 } }
  expect([created.status, created.body]).toEqual([201, note])
  expect((await fixture.api('/notes/n_4')).body).toEqual(note)
  expect(await titles(fixture, '')).toEqual(['Alpha', 'Beta', 'Gamma', 'Delta'])
})

describe('an item that is created with an empty key', () => {
  it.each(['', null])('%j gets the default of its key', async (id) => {
    await using fixture = await started()
    expect(await fixture.api('/notes', send('POST', { id, title: 'Delta' }))).toMatchObject({
      status: 201,
      body: { id: 'n_4' },
    })
  })

  it.each(['', null])('%j gets a new id where its key has no default', async (id) => {
    await using fixture = await started(NOTES.replace("id: 'n_{{sequence}}', ", ''))
    expect(await fixture.api('/notes', send('POST', { id, title: 'Delta' }))).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^\w+$/) as string },
    })
  })
})

const [one, two, huge] = ['9007199254740992', '9007199254740993', '1e400']
it.each<[string, string[]]>([
  [`min=${two}`, ['Two', 'Huge']],
  [`max=${two}`, ['One']],
  [`min=${one}&max=${huge}`, ['One', 'Two']],
  ['min=1e5000', []],
  ['max=1e5000&sort=-size', ['Huge', 'Two', 'One']],
  ['sort=size', ['One', 'Two', 'Huge']],
])('a list of numbers that a double cannot hold: %s compares their values', async (query, expected) => {
  const seed = `seed: [{ title: Two, size: ${two} }, { title: Huge, size: ${huge} }, { title: One, size: ${one} }]`
  await using fixture = await started(NOTES.replace(/seed:[^]*?responders:/, `${seed}\nresponders:`))
  expect(await titles(fixture, query.includes('sort') ? query : `${query}&sort=size`)).toEqual(expected)
})

describe('a list', () => {
  it.each<[string, string, string[]]>([
    ['a value of a field', 'folder=archive', ['Beta']],
    ['a filter that is not given', 'folder=', ['Alpha', 'Beta', 'Gamma']],
    ['a value in a list', 'label=blue', ['Alpha']],
    ['any of two values', 'folder=archive&folder=inbox', ['Alpha', 'Beta', 'Gamma']],
    ['a lower bound', 'min=2', ['Alpha', 'Gamma']],
    ['two bounds', 'min=2&max=3', ['Gamma']],
    ['a bound that is no number', 'min=soon', []],
    ['words in any case', 'q=ALPH', ['Alpha']],
    ['words that are not all there', 'q=alpha+beta', []],
    ['two filters', 'folder=inbox&q=a&max=3', ['Gamma']],
    ['a sort order', 'sort=size', ['Beta', 'Gamma', 'Alpha']],
    ['a descending sort order', 'sort=folder,-size', ['Beta', 'Alpha', 'Gamma']],
    ['a sort by a field that is not there', 'sort=-nothing', ['Alpha', 'Beta', 'Gamma']],
    ['the name of an inherited property', 'sort=constructor&label=toString', []],
  ])('is filtered and ordered by %s', async (_, query, expected) => {
    await using fixture = await started()
    expect(await titles(fixture, query)).toEqual(expected)
  })

  it('is paged by a token, which neither skips nor repeats items when some are created and deleted', async () => {
    await using fixture = await started()
    const first = (await fixture.api('/notes?sort=-size')).body as { next: string }
    expect(first).toMatchObject({ notes: [{ title: 'Alpha' }, { title: 'Gamma' }], total: 3 })
    await fixture.api('/notes/n_3', { method: 'DELETE' })
    await fixture.api('/notes', send('POST', { title: 'New', size: 9 }))
    const second = (await fixture.api(`/notes?sort=-size&token=${first.next}`)).body
    expect(second).toMatchObject({ notes: [{ title: 'Beta' }], next: null, total: 3 })
  })

  it.each(['limit=0', 'limit=-1', 'limit=two', 'limit=1.5', 'token=AAAA', 'token=%FF'])('refuses %s', async (query) => {
    await using fixture = await started()
    expect(await fixture.api(`/notes?${query}`)).toMatchObject({ status: 400, body: { error: 'invalid' } })
  })

  it('refuses a token of other filters', async () => {
    await using fixture = await started()
    const { next } = (await fixture.api('/notes')).body as { next: string }
    expect((await fixture.api(`/notes?folder=inbox&token=${next}`)).status).toBe(400)
  })
})

it('an item is changed field by field', async () => {
  await using fixture = await started()
  const changed = await fixture.api('/notes/n_1', send('PATCH', { size: 4, title: null }))
  expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ title: 'Alpha', size: 4 })])
  expect(await titles(fixture, 'sort=-size')).toEqual(['Alpha', 'Gamma', 'Beta'])
  expect(await titles(fixture, 'min=4')).toEqual(['Alpha'])
})

it('an item can have values added to its lists and removed from them', async () => {
  await using fixture = await started()
  const body = { add: ['green', 'red'], remove: 'blue' }
  const { body: note } = await fixture.api('/notes/n_1/labels', send('POST', body))
  expect(note).toMatchObject({ labels: ['red', 'green'] })
  expect([await titles(fixture, 'label=green'), await titles(fixture, 'label=blue')]).toEqual([['Alpha'], []])
})

it('an item is a 404 once it was deleted', async () => {
  await using fixture = await started()
  expect(await fixture.api('/notes/n_1', { method: 'DELETE' })).toMatchObject({ status: 204, body: null })
  for (const method of ['GET', 'DELETE']) {
    const answer = await fixture.api('/notes/n_1', { method })
    const message = 'notes has no item with id "n_1"'
    expect([answer.status, answer.body]).toEqual([404, { error: 'not_found', message }])
  }
  expect(await titles(fixture, 'label=red')).toEqual([])
})

it('an item keeps its key', async () => {
  await using fixture = await started()
  expect((await fixture.api('/notes/n_1', send('PATCH', { id: 'n_9' }))).status).toBe(400)
  expect((await fixture.api('/notes/n_1')).body).toMatchObject({ id: 'n_1' })
})

it.each<[string, JsonObject, number]>([
  ['has the key of another', { id: 'n_1', title: 'Other' }, 409],
  ['meets the conditions of unless', { title: 'Alpha' }, 409],
  ['lacks what the responder asks for', { title: '' }, 400],
  ['has no usable key', { id: { a: 1 }, title: 'Other' }, 400],
])('an item is refused without a change when it %s', async (_, body, status) => {
  await using fixture = await started()
  const before = await titles(fixture, '')
  const rows = [...fixture.environment.model.tables.collection_items.values()]
  expect((await fixture.api('/notes', send('POST', body))).status).toBe(status)
  expect(await titles(fixture, '')).toEqual(before)
  expect([...fixture.environment.model.tables.collection_items.values()]).toEqual(rows)
})

it('an item can have fields with the names of prototype members', async () => {
  await using fixture = await started()
  const sent = { ...send('POST', {}), body: '{"title":"P","__proto__":{"x":1},"constructor":2}' }
  expect((await fixture.api('/notes', sent)).status).toBe(201)
  await fixture.api('/notes/n_4', { ...send('PATCH', {}), body: '{"__proto__":{"y":2}}' })
  const response = await fixture.api('/notes/n_4')
  expect(JSON.stringify(response.body)).toContain('"__proto__":{"y":2}')
  expect(({} as JsonObject)['y']).toBeUndefined()
})

/** A connector that creates items of one collection, and answers the item or `body`. */
function creating(collection: JsonObject, step: JsonObject = {}, body: JsonObject = {}): string {
  return JSON.stringify({
    connector: 'notes',
    authorization_type: 'NO_AUTH',
    collections: { notes: { per: 'environment', ...collection } },
    responders: [
      { on: { method: 'POST' }, steps: [{ create: 'notes', ...step }], respond: body },
      { on: { method: 'GET' }, steps: [{ list: 'notes' }] },
    ],
  })
}

it.each(['constructor', 'toString', '__proto__'])('a new item gets a key under the name %s', async (key) => {
  await using fixture = await started(creating({ key }))
  const { status, body } = await fixture.api('/notes', send('POST', { a: 1 }))
  expect([status, Object.keys(body as object)]).toEqual([201, [key, 'a']])
})

it('a new item gets defaults under the names of prototype members, which later defaults can read', async () => {
  const fields = JSON.parse('{"id":"n_1","__proto__":{"x":1},"constructor":"c"}') as JsonObject
  const text = creating({ fields: { ...fields, seen: '{{json (without item "id")}}' } })
  await using fixture = await started(text)
  const { body } = await fixture.api('/notes', send('POST', {}))
  expect(body).toMatchObject({ seen: '{"__proto__":{"x":1},"constructor":"c"}' })
  expect(JSON.stringify(body)).toContain('"__proto__":{"x":1}')
  expect(({} as JsonObject)['x']).toBeUndefined()
})

it('a new item gets defaults that can read the given fields and those before their own, and no other', async () => {
  const fields = {
    id: 'n_{{sequence}}',
    seen: '{{json (without item "id")}}',
    names: '{{#each item}}{{@key}} {{/each}}',
    whole: '{{item}}',
    later: 'l',
  }
  await using fixture = await started(creating({ fields }))
  const { body } = await fixture.api('/notes', send('POST', { z: 1 }))
  const { names, ...item } = body as { names: string }
  expect(names.trim().split(' ').sort()).toEqual(['id', 'seen', 'z'])
  const seen = '{"z":1}'
  expect(item).toEqual({ id: 'n_1', seen, whole: { id: 'n_1', seen, names, z: 1 }, later: 'l', z: 1 })
})

it.each<[string, JsonObject, JsonObject]>([
  ['the item', { fields: { self: '{{item}}' } }, {}],
  ['the item, inside of it', { fields: { self: [{ a: '{{item}}' }] } }, {}],
  ['all variables', { fields: { self: '{{@root}}' } }, {}],
  ['all variables of the step', {}, { item: { all: '{{@root}}' } }],
  ['this', {}, { item: { all: '{{this}}' } }],
])('a new item can have a field that is %s, and does not contain itself', async (_, collection, step) => {
  await using fixture = await started(creating(collection, step, { status: 201, body: { ok: true } }))
  expect((await fixture.api('/notes', send('POST', { a: 1 }))).body).toEqual({ ok: true })
  const rows = [...fixture.environment.model.tables.collection_items.values()]
  expect(rows).toHaveLength(1)
  expect(() => JSON.stringify(rows)).not.toThrow()
})

const MAILBOX = `
connector: mailbox
authorization_type: BEARER_TOKEN
collections:
  messages:
    fields: { id: 'm_{{id}}', folder: inbox, to: '{{account.identifier}}', thread: '{{default item.thread item.id}}' }
    generate: 2
  threads: { fields: { size: 0 } }
responders:
  - on: { method: GET, path: /messages }
    steps: [{ list: messages, as: messages, page: { number: '{{request.query.page}}', limit: '{{request.query.limit}}', link: page } }]
  - on: { method: POST, path: '/messages/{id}/reply' }
    steps:
      - { get: messages, key: '{{request.params.id}}', as: original }
      - create: threads
        item: { id: '{{original.thread}}' }
      - create: messages
        item: { text: '{{request.body.text}}', thread: '{{original.thread}}', folder: sent }
    respond: { status: 200, body: { sent: '{{item.id}}', in: '{{original.thread}}' } }
  - on: { method: DELETE, path: /messages }
    steps: [{ delete: messages, where: { folder: '{{request.query.folder}}' } }]
error_body: { problem: { code: '{{error.code}}', status: '{{error.status}}' } }
`

const token = (text: string) => ({ static_auth: { details: { token: text } } })
const as = (text: string, init: RequestInit = {}) => ({
  ...init,
  headers: { ...JSON_BODY, Authorization: `Bearer ${text}` },
})
const ids = ({ body }: { body: unknown }): unknown[] =>
  (body as { messages: JsonObject[] }).messages.map(({ id }) => id)

it('items of an account are not shared with other accounts', async () => {
  await using fixture = await started(MAILBOX)
  fixture.place(token('a'))
  fixture.place(token('g'), { id: 'ca_2', sequence: 2, identifier: 'grace@example.com' })
  const [ada, grace] = [await fixture.api('/messages', as('a')), await fixture.api('/messages', as('g'))]
  expect(grace.body).toMatchObject({ messages: [{ to: 'grace@example.com' }, { to: 'grace@example.com' }] })
  await fixture.api('/messages?folder=inbox', as('a', { method: 'DELETE' }))
  expect(ids(await fixture.api('/messages', as('a')))).toEqual([])
  expect(ids(await fixture.api('/messages', as('g')))).toEqual(ids(grace))
  expect(ids(ada)).not.toEqual(ids(grace))
})

it('items of an account are created by steps that find other items, all or none', async () => {
  await using fixture = await started(MAILBOX)
  fixture.place(token('a'))
  const [first] = ids(await fixture.api('/messages', as('a')))
  const reply = `/messages/${String(first)}/reply`
  const sent = await fixture.api(reply, as('a', send('POST', { text: 'Yes' })))
  expect([sent.status, sent.body]).toEqual([200, { sent: expect.stringMatching(/^m_/), in: first }])
  const again = await fixture.api(reply, as('a', send('POST', { text: 'Yes' })))
  expect([again.status, again.body]).toEqual([409, { problem: { code: 'conflict', status: 409 } }])
  expect(ids(await fixture.api('/messages', as('a')))).toHaveLength(3)
  expect((await fixture.api('/messages/none/reply', as('a', send('POST', {})))).status).toBe(404)
})

it('items of an account are not all deleted when a condition has no value', async () => {
  await using fixture = await started(MAILBOX)
  fixture.place(token('a'))
  const before = ids(await fixture.api('/messages', as('a')))
  await fixture.api('/messages', as('a', { method: 'DELETE' }))
  expect(ids(await fixture.api('/messages', as('a')))).toEqual(before)
})

it('items of an account are listed by numbered pages with links to the previous and the next', async () => {
  await using fixture = await started(MAILBOX)
  fixture.place(token('a'))
  const one = await fixture.api('/messages?limit=1&page=1', as('a'))
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(one.headers.get('link') ?? '') ?? []
  expect(new URL(next).search).toBe('?limit=1&page=2')
  const two = await (await fetch(next, as('a'))).json()
  expect(two).toMatchObject({ next: null })
  expect(ids({ body: two })).not.toEqual(ids(one))
  expect((await fixture.api('/messages?page=0', as('a'))).status).toBe(400)
})
