import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { expectControlError } from '../servers/control/control-mock.ts'
import { type TestOptions, type TestToolmock, withToolmock } from '../support/toolmock.ts'

type Send = (method: Parameters<TestToolmock['http']>[0], path: string, body?: object) => Promise<Response>

/** A service with these extensions, a file of which is the text of `file`. */
async function withExtension(
  { file, scenario, ...options }: TestOptions & { file?: string; scenario?: string },
  work: (mock: TestToolmock & { send: Send }) => Promise<void>,
): Promise<void> {
  await withFiles({ 'own.yaml': file, 'fault.yaml': scenario }, async (paths) => {
    const extensions = [...(options.extensions ?? []), ...(paths['own.yaml'] ? [paths['own.yaml']] : [])]
    const scenarios = paths['fault.yaml'] ? { scenarios: [paths['fault.yaml']] } : {}
    await withToolmock({ ...options, extensions, ...scenarios }, async (mock) => {
      const token = await mock.signIn()
      const send: Send = (method, path, body) => {
        const request = mock.http(method, path).set('Authorization', `Bearer ${token}`)
        return Promise.resolve(body ? request.send(body) : request)
      }
      await work({ ...mock, send })
    })
  })
}

async function withFiles(
  files: Record<string, string | undefined>,
  work: (paths: Record<string, string>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmock-extensions-'))
  try {
    const paths: Record<string, string> = {}
    for (const [name, text] of Object.entries(files)) {
      if (text === undefined) continue
      paths[name] = join(folder, name)
      await writeFile(join(folder, name), text)
    }
    await work(paths)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const O = '/api/v1/organizations'
const NOTES = `
extension: notes
collections: { notes: {} }
responders:
  - name: take
    on: { method: POST, path: /api/v1/notes }
    steps: [{ create: notes }]
  - name: show
    on: { method: GET, path: '/api/v1/notes/{id}' }
    steps: [{ get: notes, key: '{{request.params.id}}' }]
  - name: patched
    on: { method: PATCH, path: /api/v1/tools }
    respond: { body: { patched: true } }
`

const errorCode = ({ body }: Response): string => (body as { details: { error_code: string }[] }).details[0]!.error_code

describe('the bundled extension organizations', () => {
  const withOrganizations = (work: (mock: TestToolmock & { send: Send }) => Promise<void>) =>
    withExtension({ extensions: ['organizations'] }, work)

  it('is off without --extension', async () => {
    await withToolmock({}, async ({ api }) => {
      const { status } = await api.post('/organizations', { display_name: 'Acme' })
      expect(status).toBe(404)
    })
  })

  it.each([
    ['/api/v1/organizations', true],
    ['/api/v1/organizations:external/e', true],
    ['/api/v1/organization', false],
    ['/organizations', false],
  ])('says at %s that a bundled extension answers there: %s', (path, isNamed) =>
    withExtension({}, async ({ send }) => {
      const { status, body } = await send('get', path)
      expect(status).toBe(404)
      expect((body.message as string).includes('--extension organizations')).toBe(isNamed)
    }),
  )

  it('creates an organization', async () => {
    await withOrganizations(async ({ send }) => {
      const sent = { display_name: 'Acme', external_id: 'ext_1', metadata: { plan: 'pro' }, slug: 'acme' }
      const { status, body, headers } = await send('post', O, sent)
      expect(status).toBe(201)
      expect(body).toEqual({
        organization: {
          id: expect.stringMatching(/^org_\w{1,28}$/) as string,
          create_time: '2026-01-01T00:00:00.000Z',
          update_time: '2026-01-01T00:00:00.000Z',
          region_code: 'US',
          settings: { features: [] },
          ...sent,
        },
      })
      expect(headers['x-request-id']).toMatch(/./)
    })
  })

  it('refuses an organization without a name, and one whose slug is taken', async () => {
    await withOrganizations(async ({ send }) => {
      const nameless = await send('post', O, { slug: 'acme' })
      expect([nameless.status, errorCode(nameless)]).toEqual([400, 'INVALID_ARGUMENT'])
      await send('post', O, { display_name: 'Acme', slug: 'acme' })
      const twice = await send('post', O, { display_name: 'Other', slug: 'acme' })
      expect([twice.status, errorCode(twice), twice.body.code]).toEqual([409, 'ALREADY_EXISTS', 6])
      expect(twice.body.message).toBe('organizations already has an item that conflicts in slug')
    })
  })

  it('gets an organization by its id and by its external id, or not', async () => {
    await withOrganizations(async ({ send }) => {
      const { body } = await send('post', O, { display_name: 'Acme', external_id: 'ext 1' })
      expect((await send('get', `${O}/${body.organization.id}`)).body).toEqual(body)
      expect((await send('get', `${O}:external/ext%201`)).body).toEqual(body)
      const missing = [await send('get', `${O}/org_none`), await send('get', `${O}:external/none`)]
      expect(missing.map(({ status }) => status)).toEqual([404, 404])
      expect(missing.map(errorCode)).toEqual(['NOT_FOUND', 'NOT_FOUND'])
    })
  })

  it('changes what is sent, and no more', async () => {
    await withOrganizations(async ({ send, time }) => {
      const { body } = await send('post', O, { display_name: 'Acme', external_id: 'ext_1', slug: 'acme' })
      time.advance('1h')
      const { id } = body.organization
      const changed = await send('patch', `${O}/${id}`, { display_name: 'Acme Inc.', id: 'org_other', slug: 'acme' })
      expect(changed.status).toBe(200)
      const organization = { ...body.organization, display_name: 'Acme Inc.', update_time: '2026-01-01T01:00:00.000Z' }
      expect(changed.body).toEqual({ organization })
      expect((await send('patch', `${O}/org_none`, { display_name: 'x' })).status).toBe(404)
    })
  })

  it('switches features', async () => {
    await withOrganizations(async ({ send }) => {
      const { body } = await send('post', O, { display_name: 'Acme' })
      const features = [{ name: 'sso', enabled: true }]
      const changed = await send('patch', `${O}/${body.organization.id}/settings`, { features })
      expect(changed.status).toBe(200)
      expect(changed.body.organization.settings).toEqual({ features })
    })
  })

  it('deletes an organization', async () => {
    await withOrganizations(async ({ send }) => {
      const { body } = await send('post', O, { display_name: 'Acme' })
      const deleted = await send('delete', `${O}/${body.organization.id}`)
      expect([deleted.status, deleted.body]).toEqual([200, {}])
      expect((await send('get', `${O}/${body.organization.id}`)).status).toBe(404)
    })
  })

  it('lists organizations in pages, the newest first, and by external id', async () => {
    await withOrganizations(async ({ send, time }) => {
      for (let at = 1; at <= 11; at++) {
        await send('post', O, { display_name: `Org ${at}`, external_id: `ext_${at}` })
        // Some are of the same instant.
        if (at % 3 === 0) time.advance('1m')
      }
      const names = ({ body }: Response) =>
        body.organizations.map((each: { display_name: string }) => each.display_name)
      const first = await send('get', `${O}?page_size=10`)
      expect(names(first)).toEqual(Array.from({ length: 10 }, (_, at) => `Org ${11 - at}`))
      const second = await send('get', `${O}?page_size=10&page_token=${first.body.next_page_token}`)
      expect([names(second), second.body.next_page_token]).toEqual([['Org 1'], ''])
      expect(names(await send('get', `${O}?external_id=ext_4`))).toEqual(['Org 4'])
    })
  })

  const text = (length: number): string => 'x'.repeat(length)
  const url = (length: number): string => `https://${text(length - 'https://'.length)}`
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, 'v']))
  it.each<[field: string, allowed: object[], refused: object[]]>([
    [
      'display_name',
      [{ display_name: text(1) }, { display_name: text(200) }],
      [{ display_name: '' }, { display_name: text(201) }],
    ],
    ['slug', [{ slug: text(253) }, { slug: null }], [{ slug: text(254) }]],
    ['logo_url', [{ logo_url: url(1024) }, { logo_url: '' }], [{ logo_url: url(1025) }, { logo_url: 'http://x.test' }]],
    ['metadata', [{ metadata: entries(10) }], [{ metadata: entries(11) }]],
    [
      'metadata',
      [{ metadata: { abc: 'v', [text(25)]: text(256) } }],
      [{ metadata: { ab: 'v' } }, { metadata: { [text(26)]: 'v' } }],
    ],
    ['metadata', [], [{ metadata: { abc: '' } }, { metadata: { abc: text(257) } }, { metadata: { abc: 1 } }]],
    ['external_id', [{ external_id: 'e' }, { external_id: null }], [{ external_id: 1 }]],
  ])('bounds %s, when it is created and when it is changed', async (field, allowed, refused) => {
    await withOrganizations(async ({ send }) => {
      const acme = await send('post', O, { display_name: 'Acme' })
      for (const fields of allowed) {
        const created = await send('post', O, { display_name: 'Other', ...fields })
        const changed = await send('patch', `${O}/${created.body.organization.id}`, fields)
        expect([created.status, changed.status], JSON.stringify(fields)).toEqual([201, 200])
      }
      for (const fields of refused) {
        const created = await send('post', O, { display_name: 'Other', ...fields })
        const changed = await send('patch', `${O}/${acme.body.organization.id}`, fields)
        expect([created.status, changed.status], JSON.stringify(fields)).toEqual([400, 400])
        expect([errorCode(created), created.body.message]).toEqual([
          'INVALID_ARGUMENT',
          expect.stringContaining(`body.${field}`),
        ])
      }
    })
  })

  it('names every field that a body without them lacks', async () => {
    await withOrganizations(async ({ send }) => {
      expect((await send('post', O)).body.message).toBe('body.display_name is required')
      const { body } = await send('post', O, { display_name: 'Acme' })
      const settings = `${O}/${body.organization.id}/settings`
      const wrong = await send('patch', settings, { features: [{ name: 'scim' }] })
      expect([wrong.status, wrong.body.message]).toEqual([
        400,
        expect.stringMatching(/body\.features\[0\]\.enabled is required.*body\.features\[0\]\.name .*sso.*dir_sync/),
      ])
    })
  })

  it.each([
    [9, 'the request is refused because request.query.page_size is less than 10'],
    [101, 'the request is refused because request.query.page_size is greater than 100'],
    ['ten', 'the limit must be a whole number of at least 1; found "ten"'],
  ])('says why it does not list %s at once', async (size, message) => {
    await withOrganizations(async ({ send }) => {
      expect((await send('get', `${O}?page_size=${size}`)).body.message).toBe(message)
    })
  })

  it.each([
    [9, 400],
    [10, 200],
    [100, 200],
    [101, 400],
    ['many', 400],
  ])('lists %s at once: %i', async (size, status) => {
    await withOrganizations(async ({ send }) => {
      expect((await send('get', `${O}?page_size=${size}`)).status).toBe(status)
    })
  })
})

it('a request that an extension answers needs a bearer token', async () => {
  await withExtension({ file: NOTES }, async ({ http }) => {
    const answer = await http('post', '/api/v1/notes').send({ id: 'a' })
    expect([answer.status, errorCode(answer)]).toEqual([401, 'UNAUTHENTICATED'])
    const wrong = await http('post', '/api/v1/notes').set('Authorization', 'Bearer nope').send({ id: 'a' })
    expect(wrong.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
  })
})

it('a request that an extension answers is in the journal under the name of the extension', async () => {
  await withExtension({ file: NOTES }, async ({ send, http }) => {
    await send('post', '/api/v1/notes', { id: 'a' })
    const { body } = await http('get', '/_mock/requests?operation=notes')
    expect(body.requests).toMatchObject([{ operation: 'notes', method: 'POST', path: '/api/v1/notes', status: 201 }])
  })
})

it('a request that an extension answers is no violation, and a path beside it is one', async () => {
  await withExtension({ file: NOTES }, async ({ send, http }) => {
    await send('post', '/api/v1/notes', { id: 'a' })
    await send('get', '/api/v1/notes/none')
    const clean = await http('get', '/_mock/contract')
    expect(clean.body.total.findings).toEqual([])
    await send('get', '/api/v1/note')
    expect((await http('get', '/_mock/contract')).body.total.findings).toMatchObject([
      { code: 'unknown_path', field: expect.stringMatching(/ \/api\/v1\/note$/) },
    ])
  })
})

it('a request that an extension answers changes nothing in another environment', async () => {
  await withExtension({ file: NOTES }, async ({ send, http }) => {
    const made = await http('post', '/_mock/environments').send({ name: 'other' })
    const { client_id, client_secret } = made.body.environment ?? made.body
    const form = { client_id, client_secret, grant_type: 'client_credentials' }
    const { body } = await http('post', '/oauth/token').type('form').send(form)
    await send('post', '/api/v1/notes', { id: 'a' })
    const asOther = http('get', '/api/v1/notes/a').set('Authorization', `Bearer ${body.access_token}`)
    expect([(await asOther).status, (await send('get', '/api/v1/notes/a')).status]).toEqual([404, 200])
  })
})

it('a request that an extension answers meets the rules of scenarios that name the extension', async () => {
  const scenario = `
name: slow
rules: [{ name: busy, at: service, on: { operation: notes, body: { id: b } }, do: [{ respond: { status: 503 } }] }]`
  await withExtension({ file: NOTES, scenario }, async ({ send }) => {
    const answers = [await send('post', '/api/v1/notes', { id: 'b' }), await send('post', '/api/v1/notes', { id: 'a' })]
    expect(answers.map(({ status }) => status)).toEqual([503, 201])
  })
})

it('a request that an extension answers may have a method that a served path lacks, which joins Allow', async () => {
  await withExtension({ file: NOTES }, async ({ send }) => {
    expect((await send('patch', '/api/v1/tools', {})).body).toEqual({ patched: true })
    const refused = await send('delete', '/api/v1/tools')
    expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD, PATCH'])
    const own = await send('delete', '/api/v1/notes')
    expect([own.status, own.headers['allow']]).toEqual([405, 'POST'])
  })
})

it('a request that an extension answers: with a body that is not JSON is refused', async () => {
  await withExtension({ file: NOTES }, async ({ http, signIn }) => {
    const Authorization = `Bearer ${await signIn()}`
    const sent = http('post', '/api/v1/notes').set({ Authorization }).type('json').send('{"id":')
    expect(errorCode(await sent)).toBe('MALFORMED_BODY')
  })
})

it('a request that an extension answers is not served with --documented-only', async () => {
  await withExtension({ file: NOTES, documentedOnly: true }, async ({ send }) => {
    const answer = await send('post', '/api/v1/notes', { id: 'a' })
    expect(answer.status).toBe(404)
    expect(answer.body.message).toMatch(/^POST \/api\/v1\/notes is not served with --documented-only, /)
    expect((await send('get', '/api/v1/other')).body.message).not.toContain('--documented-only')
  })
})

it('a request that an extension answers is refused by PUT with --documented-only', async () => {
  await withToolmock({ documentedOnly: true }, async ({ http }) => {
    const responders = [{ name: 'take', on: { path: '/api/v1/memos' }, respond: { body: 1 } }]
    const answer = await http('put', '/_mock/extensions/memos').send({ extension: 'memos', responders })
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('--documented-only')])
  })
})

it('the responder of a request is named by its explanation, also when a step fails', async () => {
  await withExtension({ file: NOTES }, async ({ send, http }) => {
    const answers = [await send('post', '/api/v1/notes', { id: 'a' }), await send('get', '/api/v1/notes/none')]
    const facts = answers.map(async ({ headers }) => {
      const { body } = await http('get', `/_mock/requests/${headers['x-request-id']}/explain`)
      return body.facts[0]
    })
    expect(await Promise.all(facts)).toEqual([
      'Responder "take" of extension notes answered.',
      'Responder "show" of extension notes answered.',
    ])
  })
})

it('the collections of an extension are listed, read and replaced beside those of connectors', async () => {
  await withExtension({ file: NOTES }, async ({ send, http }) => {
    await send('post', '/api/v1/notes', { id: 'a' })
    const { body } = await http('get', '/_mock/collections')
    expect(body.collections.at(-1)).toEqual({
      connector: 'extension.notes',
      collection: 'notes',
      key: 'id',
      per: 'environment',
    })
    const path = '/_mock/collections/extension.notes/notes'
    expect((await http('get', path)).body).toEqual({ items: [{ id: 'a' }] })
    expect((await http('put', path).send({ items: [{ id: 'b' }] })).status).toBe(200)
    expect((await send('get', '/api/v1/notes/b')).body).toEqual({ id: 'b' })
  })
})

describe('PUT /_mock/extensions/{name}', () => {
  const put = ({ http }: TestToolmock, name: string, text: string) =>
    http('put', `/_mock/extensions/${name}`).type('application/yaml').send(text)

  it('adds an extension, and replaces it with its items kept', async () => {
    await withExtension({}, async ({ send, ...mock }) => {
      expect((await send('post', '/api/v1/notes', { id: 'a' })).status).toBe(404)
      expect((await put(mock, 'notes', NOTES)).status).toBe(200)
      expect((await send('post', '/api/v1/notes', { id: 'a' })).status).toBe(201)
      expect((await put(mock, 'notes', NOTES.replaceAll('/notes', '/memos'))).status).toBe(200)
      expect((await send('get', '/api/v1/notes/a')).status).toBe(404)
      expect((await send('get', '/api/v1/memos/a')).body).toEqual({ id: 'a' })
      await mock.http('post', '/_mock/reset')
      expect((await send('get', '/api/v1/memos/a')).status).toBe(404)
    })
  })

  it('begins a collection again whose items get another key', async () => {
    await withExtension({ file: NOTES }, async ({ send, ...mock }) => {
      await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      const titled = NOTES.replace('notes: {}', 'notes: { key: title }')
      expect((await put(mock, 'notes', titled)).status).toBe(200)
      expect((await mock.http('get', '/_mock/collections/extension.notes/notes')).body).toEqual({ items: [] })
    })
  })

  it('begins a collection again whose items in a snapshot or a state that is put back had another key', async () => {
    await withExtension({ file: NOTES }, async ({ send, ...mock }) => {
      const items = async () => (await mock.http('get', '/_mock/collections/extension.notes/notes')).body
      await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      await mock.http('put', '/_mock/snapshots/before')
      const state: unknown = (await mock.http('get', '/_mock/state')).body
      expect((await mock.http('post', '/_mock/snapshots/before/restore')).status).toBe(200)
      expect(await items()).toEqual({ items: [{ id: 'a', title: 'First' }] })
      await put(mock, 'notes', NOTES.replace('notes: {}', 'notes: { key: title }'))
      expect((await mock.http('post', '/_mock/snapshots/before/restore')).status).toBe(200)
      expect(await items()).toEqual({ items: [] })
      expect((await mock.http('put', '/_mock/state').send(state as object)).status).toBe(200)
      expect(await items()).toEqual({ items: [] })
      await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      expect(await items()).toEqual({ items: [{ id: 'a', title: 'First' }] })
    })
  })

  it('begins a collection again whose items in the kept state have another key', async () => {
    const titled = NOTES.replace('notes: {}', 'notes: { key: title }')
    const items = async ({ http }: TestToolmock) => (await http('get', '/_mock/collections/extension.notes/notes')).body
    await withFiles({ 'state.json': '' }, async ({ 'state.json': state = '' }) => {
      await rm(state)
      await withExtension({ state, file: NOTES }, async ({ send }) => {
        await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      })
      await withExtension({ state, file: NOTES }, async ({ send, ...mock }) => {
        expect(mock.app.notices).toHaveLength(1)
        expect(await items(mock)).toEqual({ items: [{ id: 'a', title: 'First' }] })
      })
      await withExtension({ state, file: titled }, async ({ send, ...mock }) => {
        expect(mock.app.notices.at(-1)).toBe(
          'the collection notes of extension.notes begins again in the environment default: its items had another key',
        )
        expect(await items(mock)).toEqual({ items: [] })
        await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      })
      await withExtension({ state }, async ({ send: _send, ...mock }) => {
        expect((await put(mock, 'notes', titled)).status).toBe(200)
        expect(await items(mock)).toEqual({ items: [{ id: 'a', title: 'First' }] })
      })
      await withExtension({ state }, async ({ send: _send, ...mock }) => {
        expect((await put(mock, 'notes', NOTES)).status).toBe(200)
        expect(await items(mock)).toEqual({ items: [] })
      })
    })
  })

  it('keeps the items of a collection that a start does not name', async () => {
    const drafts = NOTES.replace('notes: {}', 'drafts: {}').replaceAll(/(create|get): notes/g, '$1: drafts')
    await withFiles({ 'state.json': '' }, async ({ 'state.json': state = '' }) => {
      await rm(state)
      await withExtension({ state, file: NOTES }, async ({ send }) => {
        await send('post', '/api/v1/notes', { id: 'a', title: 'First' })
      })
      await withExtension({ state, file: drafts }, ({ app }) => {
        expect(app.notices.join()).not.toContain('begins again')
        return Promise.resolve()
      })
      await withExtension({ state, file: NOTES }, async ({ send }) => {
        expect((await send('get', '/api/v1/notes/a')).body).toEqual({ id: 'a', title: 'First' })
      })
    })
  })

  it('makes its name one that scenarios can have', async () => {
    await withExtension({}, async ({ send, ...mock }) => {
      const rules = [{ name: 'busy', at: 'service', on: { operation: 'notes' }, do: [{ respond: { status: 503 } }] }]
      const scenario = () => mock.http('put', '/_mock/scenarios/slow').send({ name: 'slow', rules })
      expect((await scenario()).body.error.message).toContain('"notes"')
      await put(mock, 'notes', NOTES)
      expect((await scenario()).status).toBe(200)
      await mock.http('post', '/_mock/scenarios/slow/start')
      expect((await send('post', '/api/v1/notes', { id: 'a' })).status).toBe(503)
    })
  })

  it.each([
    ['other', NOTES, '`extension` is "notes"; allowed: "other", the name in the path'],
    [
      'notes',
      NOTES.replace('/api/v1/notes', '/api/v1/organizations'),
      'responder take answers /api/v1/organizations, which',
    ],
    [
      'notes',
      NOTES.replace('PATCH, path: /api/v1/tools', 'GET, path: /api/v1/tools'),
      'list_tools (GET /api/v1/tools)',
    ],
    [
      'notes',
      NOTES.replace('- name: take', '- name: take\n    body_schema: { type: list }'),
      'responders[0].body_schema.type',
    ],
    [
      'notes',
      NOTES.replace('- name: take', '- name: take\n    body_schema: { properties: { a: { pattern: (a)\\1 } } }'),
      'cannot run in linear time',
    ],
    ['notes', 'connector: notes', 'a connector; allowed: an extension'],
    ['notes', 'extension: [', 'body:'],
  ])('%s refuses %s and changes nothing', async (name, text, message) => {
    await withExtension({ file: NOTES, extensions: ['organizations'] }, async ({ send, ...mock }) => {
      const refused = await put(mock, name, text)
      expectControlError(refused, 400, 'INVALID_DOCUMENT')
      expect(JSON.stringify(refused.body).replaceAll('\\"', '"')).toContain(message)
      expect((await send('post', '/api/v1/notes', { id: 'a' })).status).toBe(201)
    })
  })
})

it('a seed: that is a folder brings its extensions', async () => {
  await withFiles({ 'seed.yaml': 'settings: {}', 'notes.yaml': NOTES }, async ({ 'seed.yaml': seed = '' }) => {
    await withExtension({ seeds: ['bundled', dirname(seed)] }, async ({ send }) => {
      expect((await send('post', '/api/v1/notes', { id: 'a' })).status).toBe(201)
    })
  })
})

it('a seed: that is a folder with an extension that cannot be used is refused', async () => {
  const bad = NOTES.replace('/api/v1/notes', '/oauth/notes')
  await withFiles({ 'seed.yaml': 'settings: {}', 'notes.yaml': bad }, async ({ 'seed.yaml': seed = '' }) => {
    await expect(createApp({ seeds: [dirname(seed)] })).rejects.toThrow('a path under /oauth')
  })
})

it('a seed: that is an extension file is refused', async () => {
  await withFiles({ 'notes.yaml': NOTES }, async ({ 'notes.yaml': seeds = '' }) => {
    const message = 'an extension; allowed: seeds and connectors (extensions start with --extension)'
    await expect(createApp({ seeds: ['bundled', seeds] })).rejects.toThrow(message)
  })
})

describe('an extension that cannot be used', () => {
  const responder = (on: string) => `extension: own\nresponders: [{ name: a, on: ${on}, respond: {} }]`
  const RESERVED = '/_mock, /oauth, /magic, /third-party, /proxy, /mcp, /keys, /connect, /.well-known'

  it.each([
    [
      'extension: Own\nresponders: []',
      [
        '`extension` is "Own"; allowed: a small letter, then up to 63 small letters, digits, underscores and hyphens',
        'responders',
      ],
    ],
    ['extension: list_tools\nresponders: [{ name: a, on: { path: /a }, respond: {} }]', ['which is an operation']],
    [responder('{ method: GET, path: /api/v1/tools }'), ['list_tools (GET /api/v1/tools)']],
    [responder("{ method: PUT, path: '/api/v1/connected_accounts/{id}' }"), []],
    [responder('{ path: /_mock/x }'), [`"/_mock/x", which can be a path under /_mock`, RESERVED]],
    [responder("{ path: '/{any}/x' }"), ['a path under /_mock']],
    [responder('{ path: /oauth/authorize }'), ['a path under /oauth']],
    [responder('{ path: / }'), ['the start page']],
    [responder("{ path: '/teams?all=1' }"), ['"/teams?all=1", which the path of no request matches']],
    [responder("{ path: '/teams#top' }"), ['which the path of no request matches']],
    [responder('{ path: /teams/../x }'), ['which the path of no request matches']],
    [responder('{ path: /teams/. }'), ['which the path of no request matches']],
    [responder('{ method: GET }'), ['responders[0].on.path']],
    ['extension: own\nresponders: [{ on: { path: /a }, respond: {} }]', ['responders[0].name']],
    [
      'extension: own\nresponders: [{ name: a, on: { path: /a }, respond: {} }, { name: a, on: { path: /b }, respond: {} }]',
      ['"a" for the second time'],
    ],
    [
      'extension: own\nresponders: [{ name: a, on: { path: /a }, steps: [{ list: thingz }] }]\ncollections: { things: {} }',
      ['"thingz" (did you mean things?)'],
    ],
    ["extension: own\nresponders: [{ name: a, on: { path: /a }, respond: { body: '{{reqest.path}}' } }]", ['reqest']],
    [
      'extension: own\ncollections: { things: { per: account } }\nresponders: [{ name: a, on: { path: /a }, respond: {} }]',
      ['`collections.things.per` is "account"; allowed: environment: a request of the service is of no account'],
    ],
    [
      'extension: own\nresponders: [{ name: a, on: { path: /a }, sequence: [{}], per: account }]',
      ['`responders[0].per` is "account"; allowed: environment: a request of the service is of no account'],
    ],
    ['connector: mail\nauthorization_type: NO_AUTH', ['a connector', 'an extension']],
  ])('%s', async (file, messages) => {
    await withFiles({ 'own.yaml': file }, async ({ 'own.yaml': path = '' }) => {
      const error = await createApp({ extensions: [path] }).then(
        (app) => app.close().then(() => new Error('started')),
        (reason: unknown) => reason as Error,
      )
      for (const message of messages) expect(error.message).toContain(message)
    })
  })

  it('is refused where it is not there, is given twice, or answers what another answers', async () => {
    await withFiles(
      { 'a.yaml': NOTES, 'b.yaml': NOTES.replace('extension: notes', 'extension: other') },
      async (paths) => {
        const start = (...extensions: string[]) => createApp({ extensions })
        await expect(start('organisations')).rejects.toThrow(
          'there is no bundled extension "organisations" (did you mean organizations?); there is only organizations, or give the path of a file',
        )
        await expect(start('organizations', 'organizations')).rejects.toThrow(
          'organizations is there for the second time',
        )
        await expect(start(paths['a.yaml']!, paths['b.yaml']!)).rejects.toThrow(
          'responder take answers /api/v1/notes, which responder take of extension notes answers',
        )
      },
    )
  })
})
