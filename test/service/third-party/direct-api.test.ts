import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { AppOptions } from '../../../src/app/app.ts'
import { type ControlMock, withControl } from '../../servers/control/control-mock.ts'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { TWELVE_CONNECTORS } from '../../support/twelve-connectors.ts'
import { until } from '../../support/until.ts'
import { during, it as base } from '../../support/mock-fixture.ts'
import { startScenario } from '../../support/scenario.ts'

const PAD = {
  connector: 'pad',
  authorization_type: 'BEARER_TOKEN',
  tools: [{ name: 'pad_list', call: { method: 'GET', path: '/v1/notes' } }],
  collections: { notes: { seed: [{ id: 'n_1' }, { id: 'a/b' }] } },
  responders: [
    {
      on: { method: 'GET', path: '/v1/notes' },
      steps: [{ list: 'notes', page: { limit: 1, offset: '{{request.query.at}}', link: 'at' } }],
    },
    { on: { method: 'GET', path: '/v1/notes/{id}' }, steps: [{ get: 'notes', key: '{{request.params.id}}' }] },
    { on: { method: 'POST', path: '/v1/notes' }, steps: [{ create: 'notes' }] },
  ],
}
const OPEN = {
  ...PAD,
  connector: 'open',
  authorization_type: 'NO_AUTH',
  collections: { notes: { ...PAD.collections.notes, per: 'environment' } },
}
const account = (token: string) => ({
  connector: 'pad',
  identifier: `${token}@example.com`,
  authorization_details: { static_auth: { details: { token } } },
})

async function withPad(work: (mock: ControlMock) => Promise<void>, options: AppOptions = {}): Promise<void> {
  await withControl(options, async (mock) => {
    await mock.call('put', '/connectors/pad', PAD)
    await mock.call('put', '/connectors/open', OPEN)
    await mock.call('post', '/seed', { accounts: [account('ada')] })
    await mock.call('post', '/environments', {
      name: 'other',
      seed: { connectors: [PAD, OPEN], accounts: [account('eve')] },
    })
    await work(mock)
  })
}

const it = base.extend('mock', during(withPad))

describe('/third-party/{connector}/api', () => {
  it('answers a program with a credential like the service', async ({ mock: { http, api, token } }) => {
    const created = await http('post', '/third-party/pad/api/v1/notes')
      .set('Authorization', 'Bearer ada')
      .send({ id: 'n_2' })
    expect([created.status, created.body]).toEqual([201, { id: 'n_2' }])
    const one = await http('get', '/third-party/pad/api/v1/notes/a%2Fb').set('Authorization', 'Bearer ada')
    expect(one.body).toEqual({ id: 'a/b' })
    const bearer = await token('test_client', 'test_secret')
    const tool = { connector: 'pad', identifier: 'ada@example.com', tool_name: 'pad_list', tool_input: {} }
    expect((await api(bearer, 'post', '/execute_tool', tool)).body).toMatchObject({
      data: { items: [{ id: 'n_1' }] },
    })
  })

  it('links to its own address', async ({ mock: { http } }) => {
    const { headers } = await http('get', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer ada')
    expect(headers['link']).toMatch(/^<http:\/\/127\.0\.0\.1:\d+\/third-party\/pad\/api\/v1\/notes\?at=1>; rel="next"$/)
  })

  it('finds the environment by the credential, or without one by a header', async ({ mock: { http, call } }) => {
    await http('post', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer eve').send({ id: 'n_9' })
    const items = (await call('get', '/collections/pad/notes?account=eve@example.com&environment=other')).body as object
    expect(items).toEqual({ items: [{ id: 'n_1' }, { id: 'a/b' }, { id: 'n_9' }] })
    await http('post', '/third-party/open/api/v1/notes').send({ id: 'here' })
    await http('post', '/third-party/open/api/v1/notes').set('X-Toolmock-Environment', 'other').send({ id: 'there' })
    for (const [name, id] of [
      ['default', 'here'],
      ['other', 'there'],
    ]) {
      const { body } = await call('get', `/collections/open/notes?environment=${name}`)
      expect((body as { items: object[] }).items).toContainEqual({ id })
    }
  })

  it('refuses the name of an environment that there is not', async ({ mock: { http } }) => {
    const answer = await http('get', '/third-party/pad/api/v1/notes').set('X-Toolmock-Environment', 'none')
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: 'not_found', message: 'there is no environment "none"' },
    ])
  })

  it('refuses what the application refuses, and unknown applications', async ({ mock: { http } }) => {
    const unknown = await http('get', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer nobody')
    expect([unknown.status, unknown.body]).toMatchObject([401, { reason: 'unknown' }])
    expect((await http('get', '/third-party/pad/api/v1/notes')).body).toMatchObject({ reason: 'missing' })
    const path = await http('get', '/third-party/pad/api/v2').set('Authorization', 'Bearer ada')
    expect([path.status, path.body]).toMatchObject([404, { error: 'no_responder', path: '/v2' }])
    const none = await http('get', '/third-party/pda/api/v1/notes')
    expect([none.status, none.body]).toMatchObject([404, { message: expect.stringContaining('did you mean pad?') }])
  })

  it('acts for the account that the caller names, where the application asks for no credential', async () => {
    const connector = { ...OPEN, collections: PAD.collections }
    await withPad(async ({ http, call }) => {
      await call('put', '/connectors/open', connector)
      const accounts = ['a', 'b'].map((name) => ({ id: `ca_${name}`, connector: 'open', identifier: name }))
      await call('post', '/seed', { accounts })
      const notes = '/third-party/open/api/v1/notes'
      await http('post', notes).set('X-Toolmock-Account', 'ca_a').send({ id: 'n_2' })
      const of = async (id: string) => (await http('get', `${notes}/n_2`).set('X-Toolmock-Account', id)).status
      expect([await of('ca_a'), await of('ca_b')]).toEqual([200, 404])
    })
  })

  it('is refused once the account was deleted', async ({ mock: { http, api, token } }) => {
    const bearer = await token('test_client', 'test_secret')
    await api(bearer, 'post', '/connected_accounts:delete', { connector: 'pad', identifier: 'ada@example.com' })
    const answer = await http('get', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer ada')
    expect([answer.status, answer.body]).toMatchObject([401, { reason: 'revoked' }])
  })

  it.for([
    ['get', '/v1/notes/n_1'],
    ['post', '/v1/notes'],
  ] as const)(
    'is a 404 of the application when its environment is removed meanwhile: %s %s',
    async ([method, path], { mock: { app, call, http } }) => {
      const { registry, scenarios } = app.services
      const other = registry.environment('other')!
      const rules = [{ name: 'hold', at: 'third_party', do: [{ hold_until: { requests: 2, within: '60s' } }] }]
      await call('put', '/scenarios/held?environment=other', { name: 'held', rules })
      await call('post', '/scenarios/held/start?environment=other')
      const sent = http(method, `/third-party/pad/api${path}`).set('Authorization', 'Bearer eve')
      const answering = sent.then((answer) => answer)
      const own = scenarios.of(other)
      await until(() => own.list()[0]?.rules[0]?.matched === 1)
      own.stop('held')
      registry.remove('other')
      const answer = await answering
      const message = 'there is no environment "other"'
      expect([answer.status, answer.body]).toEqual([404, { error: 'not_found', message }])
    },
  )

  it('is recorded in the journal with its answer, masked like other answers', async ({ mock: { http, call } }) => {
    const note = { id: 'n_5', text: 'Grüße', access_token: 'tok_5f2b7c9d1e' }
    await http('post', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer ada').send(note)
    const { requests } = (await call('get', '/requests')).body as { requests: { id: string; kind: string }[] }
    const { id = '' } = requests.find(({ kind }) => kind === 'third_party') ?? {}
    const { body } = await call('get', `/requests/${id}`)
    expect(body).toMatchObject({ request: { response: { body: { id: 'n_5', text: 'Grüße' } } } })
    expect(JSON.stringify(body)).not.toContain('tok_5f2b7c9d1e')
  })

  it('answers 422 to a template that exceeds a limit, like to the service', async ({ mock: { http, call } }) => {
    const body = { text: "{{faker 'lorem.words' 99999}}" }
    const respond = { on: { method: 'GET', path: '/v1/many' }, respond: { body } }
    await call('put', '/connectors/pad', { ...PAD, responders: [...PAD.responders, respond] })
    const answer = await http('get', '/third-party/pad/api/v1/many').set('Authorization', 'Bearer ada')
    expect([answer.status, answer.body]).toMatchObject([422, { error: 'unusable_template' }])
  })

  it('waits for the disk, also during a call of the service and with its header', async ({ directory }) => {
    const disk = new MemoryDisk()
    const work = async ({ app, http, call, api, token }: ControlMock): Promise<void> => {
      await startScenario({ app }, { at: 'third_party', on: { tool: 'pad_list' }, do: [{ timeout: {} }] })
      const bearer = await token('test_client', 'test_secret')
      const tool = { connector: 'pad', identifier: 'ada@example.com', tool_name: 'pad_list', tool_input: {} }
      const open = api(bearer, 'post', '/execute_tool', tool)
      open.catch(() => undefined)
      await expect.poll(async () => (await call('get', '/scenarios/test')).text).toContain('"hits":1')
      disk.fails = () => new Error('ENOSPC: no space left')
      const created = await http('post', '/third-party/open/api/v1/notes').set('X-Mock-Call', '1').send({ id: 'n_2' })
      disk.fails = () => undefined
      expect(created.status).toBe(503)
    }
    await withPad(work, { state: join(directory, 'state.json'), fileSystem: disk })
  })

  it('is recorded in the journal with the rules of scenarios that fired', async ({ mock: { app, http, call } }) => {
    await startScenario({ app }, { at: 'third_party', on: { connector: 'pad' }, do: [{ respond: { status: 500 } }] })
    const answer = await http('get', '/third-party/pad/api/v1/notes').set('Authorization', 'Bearer ada')
    expect(answer.status).toBe(500)
    const { requests } = (await call('get', '/requests')).body as { requests: { kind: string; path: string }[] }
    const entry = requests.find(({ kind }) => kind === 'third_party')
    expect(entry).toMatchObject({ path: '/third-party/pad/api/v1/notes', status: 500 })
    expect(JSON.stringify(entry)).not.toContain('Bearer ada')
  })
})

it('GET /_mock/third-parties lists the applications with the addresses of their APIs', async ({ mock: { call } }) => {
  const { third_parties } = (await call('get', '/third-parties')).body as { third_parties: { connector: string }[] }
  const connectors = third_parties.map(({ connector }) => connector)
  expect(connectors).toEqual(expect.arrayContaining([...TWELVE_CONNECTORS, 'pad', 'open']))
  expect(new Set(connectors).size).toBe(connectors.length)
  expect(third_parties.find(({ connector }) => connector === 'pad')).toEqual({
    connector: 'pad',
    display_name: 'Pad',
    authorization_type: 'BEARER_TOKEN',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/third-party\/pad\/api$/),
    collections: ['notes'],
  })
})
