import { describe, expect } from 'vitest'
import { DOCUMENT_CHECKS } from '../../../src/app/document-checks.ts'
import { loadSeeds } from '../../../src/files/load.ts'
import { TWELVE_SEEDS } from '../../support/twelve-connectors.ts'
import { it, withToolmock } from '../../support/toolmock.ts'

interface Tool {
  id: string
  provider: string
  definition: { name: string; display_name: string; description: string; input_schema: object }
}
interface Page {
  next_page_token: string
  prev_page_token: string
  total_size: number
}
interface ToolPage extends Page {
  tools: Tool[]
}
interface Scoped {
  tools: { tool: Tool; identifier: string; connected_account_id: string }[]
}

const names = (body: unknown): string[] => (body as ToolPage).tools.map(({ definition }) => definition.name)
const scopedNames = (body: unknown): string[] => (body as Scoped).tools.map(({ tool }) => tool.definition.name)

const ACCOUNTS = {
  accounts: [
    { id: 'ca_ada_mail', connector: 'mail', identifier: 'ada', organization_id: 'org', user_id: 'u1' },
    { id: 'ca_ada_weather', connector: 'weather', identifier: 'ada', status: 'EXPIRED' },
    { id: 'ca_grace_mail', connector: 'mail', identifier: 'grace' },
  ],
}
const TWO_ACTIVE = {
  accounts: [
    { id: 'ca_ada_mail', connector: 'mail', identifier: 'ada' },
    { id: 'ca_ada_mail_of_org', connector: 'mail', identifier: 'ada', organization_id: 'org' },
    { id: 'ca_ada_weather', connector: 'weather', identifier: 'ada' },
    { id: 'ca_grace_mail', connector: 'mail', identifier: 'grace' },
  ],
}
/** So many active accounts of ada, each with the tools of mail. */
const manyAccounts = (count: number) => ({
  accounts: Array.from({ length: count }, (_, at) => ({ connector: 'mail', identifier: 'ada', user_id: `u${at}` })),
})
/** Beside the connector mail, a connection of accounts and one of sign-on with other providers. */
const OTHER_PROVIDERS = {
  connections: [
    { key_id: 'zeta', type: 'API_KEY', provider: 'CODE_HOST' },
    { key_id: 'sign_on', type: 'OIDC', provider: 'IDP_SIMULATOR' },
  ],
}
const { connectors: BUNDLED } = await loadSeeds(['bundled'], DOCUMENT_CHECKS)
const toolsOf = (name: string): string[] =>
  BUNDLED.filter(({ connector }) => connector === name).flatMap(({ tools }) => tools.map((tool) => tool.name))
const MAIL = toolsOf('mail')
const WEATHER = toolsOf('weather')

/** The names on all pages, from the first one to the last, and the way back, whose pages are full. */
async function walk<P extends Page>(list: (token: string) => Promise<P>, namesOn: (page: P) => string[], size: number) {
  let page = await list('')
  const forth = namesOn(page)
  while (page.next_page_token !== '') forth.push(...namesOn((page = await list(page.next_page_token))))
  const back = namesOn(page)
  while (page.prev_page_token !== '') {
    page = await list(page.prev_page_token)
    expect(namesOn(page)).toHaveLength(size)
    back.unshift(...namesOn(page))
  }
  return { forth, back, total: page.total_size }
}

it('GET /tools answers the tools of every connector, ten to a page', async ({ mock: { api } }) => {
  const answer = await api.get('/tools')

  expect(answer.status).toBe(200)
  expect(names(answer.body)).toHaveLength(10)
  expect(names(answer.body)).toEqual([...MAIL, ...WEATHER].slice(0, 10))
  expect((answer.body as ToolPage).tools[0]).toEqual({
    id: expect.stringMatching(/\w/),
    provider: 'mail',
    definition: {
      name: 'mail_send_message',
      display_name: 'Mail send message',
      description: 'Sends one message.',
      input_schema: expect.objectContaining({ type: 'object', required: ['to', 'subject'] }),
      output_schema: expect.objectContaining({ type: 'object', required: ['message_id', 'thread_id'] }),
      annotations: { read_only_hint: false },
    },
    is_default: true,
    tags: [],
    metadata: {},
    updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
})

it('GET /tools visits each tool once, forward and back', async ({ mock: { api } }) => {
  const pageOf = async (page_token: string) => (await api.get('/tools', { page_size: 7, page_token })).body as ToolPage
  const { forth, back, total } = await walk(pageOf, names, 7)

  expect(new Set(forth).size).toBe(forth.length)
  expect(forth).toHaveLength(total)
  expect(back).toEqual(forth)
})

it.for<[string, Record<string, string | string[]>, string[]]>([
  ['a provider', { 'filter.provider': 'weather' }, WEATHER],
  ['a connector', { 'filter.connector': 'weather' }, WEATHER],
  ['a connector without accounts', { 'filter.connector': 'encyclopedia' }, toolsOf('encyclopedia')],
  ['one tool name', { 'filter.tool_name': 'mail_get_message' }, ['mail_get_message']],
  [
    'several tool names',
    { 'filter.tool_name': ['mail_get_message', 'weather_get_current'] },
    ['mail_get_message', 'weather_get_current'],
  ],
  ['a text, in any case', { 'filter.query': 'SENDS ONE' }, ['mail_send_message']],
  ['a text that is a regular expression', { 'filter.query': '.*' }, []],
  ['an identifier', { 'filter.identifier': 'ada' }, [...MAIL, ...WEATHER]],
  ['another identifier', { 'filter.identifier': 'grace' }, MAIL],
  ['an organization', { 'filter.organization_id': 'org' }, MAIL],
  ['a user', { 'filter.user_id': 'u1' }, MAIL],
  ['a connected account', { 'filter.connected_account_id': 'ca_ada_weather' }, WEATHER],
  ['two filters at once', { 'filter.identifier': 'ada', 'filter.provider': 'weather' }, WEATHER],
  ['filters that exclude each other', { 'filter.connector': 'mail', 'filter.provider': 'weather' }, []],
  ['an unknown account', { 'filter.connected_account_id': 'ca_nobody' }, []],
  ['an unknown provider', { 'filter.provider': '__proto__' }, []],
  [
    'an account and a scope that is not its own',
    { 'filter.connected_account_id': 'ca_ada_mail', 'filter.user_id': 'u2' },
    [],
  ],
])('GET /tools: filters by %s', async ([_name, query, expected], { startMock }) => {
  const { api } = await startMock({ seed: ACCOUNTS })
  const answer = await api.get('/tools', { ...query, page_size: 100 })

  expect(answer.status).toBe(200)
  expect(names(answer.body)).toEqual(expected)
  expect(answer.body).toMatchObject({ total_size: expected.length, next_page_token: '', prev_page_token: '' })
})

it('GET /tools answers names only with filter.summary=true, and whole tools with false', async ({ mock: { api } }) => {
  const summary = await api.get('/tools', { 'filter.summary': 'true', 'filter.provider': 'weather' })
  const whole = await api.get('/tools', { 'filter.summary': 'false', 'filter.provider': 'weather' })

  expect(summary.body).toEqual({
    tool_names: WEATHER,
    next_page_token: '',
    prev_page_token: '',
    total_size: WEATHER.length,
  })
  expect(names(whole.body)).toEqual(WEATHER)
})

it('GET /tools answers the tags of a tool, and whether it is one of the default', () => {
  const tool = { name: 'app_call', call: { method: 'GET', path: '/call' }, tags: ['read', 'x'], is_default: false }
  const seed = { connectors: [{ connector: 'app', authorization_type: 'NO_AUTH', tools: [tool] }] }
  return withToolmock({ seed }, async ({ api }) => {
    const { body } = await api.get('/tools', { 'filter.connector': 'app' })
    expect(body).toMatchObject({ tools: [{ tags: ['read', 'x'], is_default: false }] })
  })
})

it('GET /tools has the tools of a custom provider once there is one', async ({ startMock }) => {
  const { api } = await startMock({
    seed: {
      connectors: [
        {
          connector: 'notes',
          custom_provider: 'Notes',
          tools: [{ name: 'notes_add', call: { method: 'GET', path: '/' } }],
        },
      ],
    },
  })
  const before = await api.get('/tools', { 'filter.tool_name': 'notes_add' })
  const created = await api.post('/custom-providers', { display_name: 'Notes' })
  const { identifier } = (created.body as { provider: { identifier: string } }).provider
  const after = await api.get('/tools', { 'filter.tool_name': 'notes_add' })

  expect(names(before.body)).toEqual([])
  expect((after.body as ToolPage).tools).toMatchObject([{ provider: identifier }])
})

describe.each([
  ['/tools/scoped', scopedNames],
  ['/tools/available', names],
])('GET %s', (path, namesOf) => {
  it.for([{}, { identifier: '' }])('needs an identifier: %j', async (query, { mock: { api } }) => {
    const answer = await api.get(path, query)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      code: 3,
      details: [{ validation_error_info: { field_violations: [{ field: 'identifier' }] } }],
    })
  })

  it.for<[string, Record<string, string | string[]>, string[]]>([
    ['providers', { 'filter.providers': ['mail', 'nobody'] }, MAIL],
    ['tool names', { 'filter.tool_names': ['mail_get_message', 'toString'] }, ['mail_get_message']],
    ['connection names', { 'filter.connection_names': ['mail'] }, MAIL],
    ['all of them', { 'filter.providers': 'mail', 'filter.connection_names': 'weather' }, []],
    ['an empty name, which chooses nothing', { 'filter.providers': ['mail', ''], 'filter.tool_names': '' }, MAIL],
  ])('filters by %s', async ([_name, query, expected], { startMock }) => {
    const { api } = await startMock({ seed: ACCOUNTS })
    const answer = await api.get(path, { identifier: 'ada', page_size: 100, ...query })
    expect(namesOf(answer.body)).toEqual(expected)
    expect(answer.body).toMatchObject({ total_size: expected.length, next_page_token: '', prev_page_token: '' })
  })

  it('visits each tool once, forward and back', async ({ startMock }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS.slice(0, 2), seed: TWO_ACTIVE })
    const list = async (page_size: number, page_token = ''): Promise<Page> =>
      (await api.get(path, { identifier: 'ada', page_size, page_token })).body as Page
    const whole = await list(100)
    const { forth, back } = await walk((token) => list(2, token), namesOf, 2)

    expect(whole).toMatchObject({ total_size: namesOf(whole).length, next_page_token: '', prev_page_token: '' })
    expect(forth).toEqual(namesOf(whole))
    expect(back).toEqual(forth)
    expect(namesOf(await list(0))).toEqual(forth.slice(0, 10))
  })

  it('leaves out the tools of disabled connections, which no call could use', async ({ startMock }) => {
    const { api, http } = await startMock({
      seed: { ...TWO_ACTIVE, connections: [{ key_id: 'mail', enabled: false }] },
    })
    const list = async () => namesOf((await api.get(path, { identifier: 'ada', page_size: 1000 })).body)
    const call = { identifier: 'ada', tool_name: 'weather_get_current', tool_input: { city: 'Bergen' } }
    expect(await list()).toContain('weather_get_current')
    expect(await list()).not.toContain('mail_get_message')
    await http('post', '/_mock/connections/mail/enable')
    await http('post', '/_mock/connections/weather/disable')
    expect(await list()).toContain('mail_get_message')
    expect(await list()).not.toContain('weather_get_current')
    expect((await api.post('/execute_tool', call)).body.details[0].error_code).toBe('CONNECTION_DISABLED')
  })

  it('refuses the page tokens of another identifier (G4)', async ({ startMock }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS, seed: TWO_ACTIVE })
    const { next_page_token } = (await api.get(path, { identifier: 'ada', page_size: 1 })).body as Page
    expect((await api.get(path, { identifier: 'grace', page_token: next_page_token })).status).toBe(400)
    expect((await api.get(path, { identifier: 'ada', page_token: next_page_token })).status).toBe(200)
  })

  it('takes a page token with the same filters in another order, or with an empty one (G4)', async ({ startMock }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS, seed: TWO_ACTIVE })
    const filters = ['filter.providers=mail', 'filter.providers=weather', 'identifier=ada']
    const sent = filters.join('&')
    const { next_page_token } = (await api.get(path, `${sent}&page_size=1`)).body as Page
    for (const same of [sent, filters.toReversed().join('&'), `${sent}&filter.tool_names=`])
      expect((await api.get(path, `${same}&page_token=${next_page_token}`)).status, same).toBe(200)
    for (const other of [`${sent}&filter.tool_names=x`, 'filter.providers=mail&identifier=ada'])
      expect((await api.get(path, `${other}&page_token=${next_page_token}`)).status, other).toBe(400)
  })
})

describe('GET /tools/scoped', () => {
  it('answers the tools that the active accounts of the identifier can run', async ({ startMock }) => {
    const { api } = await startMock({ seed: ACCOUNTS })
    const { status, body } = await api.get('/tools/scoped', { identifier: 'ada', page_size: 100 })

    expect(status).toBe(200)
    expect(scopedNames(body)).toEqual(MAIL)
    for (const tool of (body as Scoped).tools) {
      expect(tool).toMatchObject({ identifier: 'ada', connected_account_id: 'ca_ada_mail' })
    }
  })

  it('answers no tools for an identifier without accounts, with any characters', async ({ startMock }) => {
    const { api } = await startMock({ seed: ACCOUNTS })
    for (const identifier of ['nobody', '__proto__', '{{id}}', '.*', '<b>']) {
      expect((await api.get('/tools/scoped', { identifier })).body).toEqual({
        tools: [],
        next_page_token: '',
        prev_page_token: '',
        total_size: 0,
      })
    }
  })

  it('skips and repeats none when an account of the page before is disconnected', async ({ startMock }) => {
    const { api, environment } = await startMock({ seed: TWO_ACTIVE })
    const { accounts } = environment.model.tables
    const first = (await api.get('/tools/scoped', { identifier: 'ada', page_size: MAIL.length + 1 })).body as Scoped &
      Page
    environment.model.transact(() => accounts.put({ ...accounts.get('ca_ada_mail')!, status: 'DISCONNECTED' }))
    const query = { identifier: 'ada', page_size: 100, page_token: first.next_page_token }
    const next = (await api.get('/tools/scoped', query)).body as Scoped & Page

    expect(scopedNames(first)).toEqual([...MAIL, 'mail_send_message'])
    expect(scopedNames(next)).toEqual([...MAIL.slice(1), ...WEATHER])
    expect(next.total_size).toBe(MAIL.length + WEATHER.length)
  })
})

describe('pages of /tools/scoped, when all tools before the token were removed', () => {
  it('begin with an empty page, whose next_page_token leads to all other tools', async ({ startMock }) => {
    const { api } = await startMock({ seed: TWO_ACTIVE })
    const list = async (page_size: number, page_token = '') =>
      (await api.get('/tools/scoped', { identifier: 'ada', page_size, page_token })).body as Scoped & Page
    const first = await list(MAIL.length)
    const next = await list(1, first.next_page_token)
    await api.post('/connected_accounts:delete', { id: 'ca_ada_mail' })
    const back = await list(100, next.prev_page_token)
    expect([scopedNames(back), back.prev_page_token]).toEqual([[], ''])
    const rest = await list(100, back.next_page_token)
    expect(scopedNames(rest)).toEqual([...MAIL, ...WEATHER])
  })
})

describe('GET /tools/available', () => {
  it.for<[string, object, string[]]>([
    ['ACTIVE accounts, as GET /tools does', ACCOUNTS, MAIL],
    ['several ACTIVE accounts, each tool once', TWO_ACTIVE, [...MAIL, ...WEATHER]],
    ['no ACTIVE account: none', { accounts: [{ connector: 'mail', identifier: 'ada', status: 'PENDING_AUTH' }] }, []],
  ])('answers the tools of an identifier with %s', async ([_name, seed, expected], { startMock }) => {
    const { api } = await startMock({ seed })
    const available = await api.get('/tools/available', { identifier: 'ada', page_size: 100 })
    const all = (await api.get('/tools', { page_size: 1000 })).body as ToolPage

    expect(available.status).toBe(200)
    expect(names(available.body)).toEqual(expected)
    expect((available.body as ToolPage).tools).toEqual(
      all.tools.filter(({ definition }) => expected.includes(definition.name)),
    )
    expect(available.body).toMatchObject({ total_size: expected.length })
  })

  it('is a 404 for an identifier without any account', async ({ startMock }) => {
    const { api } = await startMock({ seed: ACCOUNTS })
    const answer = await api.get('/tools/available', { identifier: 'nobody' })

    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ code: 5, details: [{ error_code: 'ACCOUNT_NOT_FOUND' }] })
  })
})

describe('GET /connections/app', () => {
  interface Connections extends Page {
    connections: { key_id: string; type: string }[]
  }

  it('answers the connections of account types, as GET /connections does (G49)', async ({ mock: { api } }) => {
    const { status, body } = await api.get('/connections/app', { page_size: 100 })
    const { connections } = (await api.get('/connections')).body as Connections

    expect(status).toBe(200)
    expect(connections.map(({ type }) => type)).toEqual(expect.arrayContaining(['OIDC', 'SAML']))
    expect(body).toEqual({
      connections: connections.filter(({ type }) => type !== 'OIDC' && type !== 'SAML'),
      next_page_token: '',
      prev_page_token: '',
      total_size: connections.length - 2,
    })
  })

  it.for([
    ['CUSTOM', ['mail']],
    ['CODE_HOST', ['zeta']],
    ['custom', []],
    ['IDP_SIMULATOR', []],
    ['', ['mail', 'zeta']],
  ])(
    'filters by the provider %j, exactly, and binds page tokens to it',
    async ([provider, expected], { startMock }) => {
      const { api } = await startMock({ seeds: TWELVE_SEEDS.slice(0, 1), seed: OTHER_PROVIDERS })
      const { status, body } = await api.get('/connections/app', { provider })
      const { next_page_token } = (await api.get('/connections/app', { page_size: 1 })).body as Page

      expect(status).toBe(200)
      expect((body as Connections).connections.map(({ key_id }) => key_id)).toEqual(expected)
      expect(body).toMatchObject({ total_size: expected.length })
      expect((await api.get('/connections/app', { provider: 'CUSTOM', page_token: next_page_token })).status).toBe(400)
    },
  )

  it('has the connection of a custom provider', async ({ mock: { api } }) => {
    const created = await api.post('/custom-providers', { display_name: 'Acme' })
    const { identifier } = (created.body as { provider: { identifier: string } }).provider
    const { connections } = (await api.get('/connections/app', { page_size: 100 })).body as Connections

    expect(connections.at(-1)?.key_id).toBe(identifier)
  })

  it('pages ten at a time, and refuses the page tokens of other lists', async ({ mock: { api } }) => {
    const first = (await api.get('/connections/app')).body as Connections
    const second = (await api.get('/connections/app', { page_token: first.next_page_token })).body as Connections
    const back = (await api.get('/connections/app', { page_token: second.prev_page_token })).body as Connections
    const providers = (await api.get('/providers')).body as Page

    expect(first.connections).toHaveLength(10)
    expect(second.connections).toHaveLength(BUNDLED.length - 10)
    expect(second.next_page_token).toBe('')
    expect(back).toEqual(first)
    const foreign = { page_token: providers.next_page_token }
    expect((await api.get('/connections/app', foreign)).status).toBe(400)
  })
})

describe('GET /providers', () => {
  it('answers every connector as a provider that is not custom, and the custom ones after them', async ({
    startMock,
  }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS })
    await api.post('/custom-providers', { display_name: 'Acme' })
    const { status, body } = await api.get('/providers', { page_size: 100 })
    const { providers } = body as { providers: { identifier: string; is_custom: boolean; metadata: object }[] }

    expect(status).toBe(200)
    expect(providers).toHaveLength(13)
    expect(providers[0]).toMatchObject({ identifier: 'mail', display_name: 'Mail', is_custom: false, metadata: {} })
    expect(providers.map(({ is_custom }) => is_custom)).toEqual([...Array.from({ length: 12 }, () => false), true])
    expect(body).toMatchObject({ next_page_token: '', prev_page_token: '', total_size: 13 })
  })

  it('answers a renamed provider as its update did', async ({ mock: { api } }) => {
    const created = await api.post('/custom-providers', { display_name: 'Acme' })
    const { identifier } = (created.body as { provider: { identifier: string } }).provider
    const { provider } = (await api.put(`/custom-providers/${identifier}`, { display_name: 'Other' })).body as {
      provider: object
    }
    const { body } = await api.get('/providers', { 'filter.identifier': identifier })
    expect((body as { providers: object[] }).providers).toEqual([provider])
    expect(Object.keys(provider)).toEqual(Object.keys((created.body as { provider: object }).provider))
  })

  it('pages ten at a time', async ({ startMock }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS })
    const first = (await api.get('/providers')).body as { providers: object[]; next_page_token: string }
    const second = (await api.get('/providers', { page_token: first.next_page_token })).body as typeof first

    expect(first.providers).toHaveLength(10)
    expect(second.providers).toHaveLength(2)
    expect(second.next_page_token).toBe('')
  })

  it.for<[string, Record<string, string>, string[]]>([
    ['the type CUSTOM', { 'filter.provider_type': 'CUSTOM' }, ['Acme', 'Notes']],
    ['the type STANDARD', { 'filter.provider_type': 'STANDARD', 'filter.identifier': 'mail' }, ['Mail']],
    ['an identifier', { 'filter.identifier': 'weather' }, ['Weather']],
    ['an identifier of another type', { 'filter.provider_type': 'CUSTOM', 'filter.identifier': 'mail' }, []],
    ['an unknown identifier', { 'filter.identifier': '__proto__' }, []],
  ])('filters by %s', async ([_name, query, expected], { mock: { api } }) => {
    for (const display_name of ['Acme', 'Notes']) await api.post('/custom-providers', { display_name })
    const { status, body } = await api.get('/providers', query)

    expect(status).toBe(200)
    expect((body as { providers: object[] }).providers).toMatchObject(
      expected.map((display_name) => ({ display_name })),
    )
    expect(body).toMatchObject({ total_size: expected.length, next_page_token: '', prev_page_token: '' })
  })

  it('refuses a type that is neither, and page tokens of another filter', async ({ mock: { api } }) => {
    const wrong = await api.get('/providers', { 'filter.provider_type': 'custom' })
    const { next_page_token } = (await api.get('/providers')).body as Page
    const query = { 'filter.provider_type': 'STANDARD', page_token: next_page_token }

    expect(wrong.status).toBe(400)
    expect((wrong.body as { message: string }).message).toBe(
      'filter.provider_type must be one of CUSTOM, STANDARD, an empty string; found "custom"',
    )
    expect((await api.get('/providers', query)).status).toBe(400)
  })

  it('keeps a page token valid when providers are deleted in between', async ({ startMock }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS })
    const created = [1, 2, 3].map(() => api.post('/custom-providers', { display_name: 'Acme' }))
    const identifiers = (await Promise.all(created)).map(
      ({ body }) => (body as { provider: { identifier: string } }).provider.identifier,
    )
    const { next_page_token } = (await api.get('/providers', { page_size: 15 - 1 })).body as {
      next_page_token: string
    }
    for (const identifier of identifiers) await api.delete(`/custom-providers/${identifier}`)
    const answer = await api.get('/providers', { page_size: 14, page_token: next_page_token })

    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ providers: [], next_page_token: '', total_size: 12 })
  })
})

describe('pages of providers, while some are created and deleted', () => {
  interface ProviderPage {
    providers: { identifier: string }[]
    next_page_token: string
    prev_page_token: string
  }
  const identifiers = ({ providers }: ProviderPage): string[] => providers.map(({ identifier }) => identifier)

  type Change = (made: string, create: () => Promise<string>, drop: (identifier: string) => Promise<unknown>) => unknown

  /** Lists fifteen providers, three of them custom: the first `size`, then a change, then pages forward and back. */
  async function around(size: number, change: Change) {
    const pages = { made: [] as string[], shown: [] as string[], next: [] as string[], back: [] as string[] }
    await withToolmock({ seeds: TWELVE_SEEDS }, async ({ api }) => {
      const list = async (page_size: number, token = ''): Promise<ProviderPage> =>
        (await api.get('/providers', { page_size, page_token: token })).body as ProviderPage
      const create = async (): Promise<string> =>
        ((await api.post('/custom-providers', { display_name: 'Acme' })).body as { provider: { identifier: string } })
          .provider.identifier
      pages.made = [await create(), await create(), await create()]
      const first = await list(size)
      await change(pages.made[0] ?? '', create, (identifier) => api.delete(`/custom-providers/${identifier}`))
      const next = await list(50, first.next_page_token)
      const back = await list(50, next.prev_page_token)
      Object.assign(pages, { shown: identifiers(first), next: identifiers(next), back: identifiers(back) })
    })
    return pages
  }

  it('skips none when one of the page before is deleted', async () => {
    const { made, next, back, shown } = await around(14, (first, _create, drop) => drop(first))
    expect(next).toEqual(made.slice(2))
    expect(back).toEqual(shown.filter((identifier) => identifier !== made[0]))
  })

  it('skips and repeats none when the last of the page before is deleted', async () => {
    const { made, next, back, shown } = await around(13, (first, _create, drop) => drop(first))
    expect(next).toEqual(made.slice(1))
    expect(back).toEqual(shown.slice(0, 12))
  })

  it('repeats none when one is created, and shows it at the end', async () => {
    const created: string[] = []
    const { made, next, back, shown } = await around(13, async (_first, create) => created.push(await create()))
    expect(next).toEqual([...made.slice(1), ...created])
    expect(back).toEqual(shown)
  })

  it('skips and repeats no tools of providers either', async ({ startMock }) => {
    const { api } = await startMock({
      seeds: TWELVE_SEEDS.slice(0, 2),
      seed: {
        connectors: [
          {
            connector: 'notes',
            custom_provider: 'Notes',
            tools: ['add', 'drop'].map((name) => ({ name: `notes_${name}`, call: { method: 'GET', path: '/' } })),
          },
        ],
      },
    })
    const made: string[] = []
    for (const display_name of ['Notes', 'Notes']) {
      const { body } = await api.post('/custom-providers', { display_name })
      made.push((body as { provider: { identifier: string } }).provider.identifier)
    }
    const all = ((await api.get('/tools')).body as ToolPage).total_size
    const page = (await api.get('/tools', { page_size: all - 2 })).body as ToolPage
    await api.delete(`/custom-providers/${made[0] ?? ''}`)
    const next = (await api.get('/tools', { page_size: 50, page_token: page.next_page_token })).body as ToolPage

    expect(next.tools.map(({ id }) => id)).toEqual([`${made[1] ?? ''}:notes_add`, `${made[1] ?? ''}:notes_drop`])
  })
})

describe('a connector that names its provider', () => {
  const notes = (provider?: string) => ({
    connector: 'notes',
    ...(provider !== undefined && { provider }),
    authorization_type: 'NO_AUTH',
    tools: [{ name: 'notes_add', call: { method: 'GET', path: '/' } }],
  })
  const providersIn = (body: unknown): string[] =>
    (body as { providers: { identifier: string }[] }).providers.map(({ identifier }) => identifier)
  const seed = {
    connectors: [notes('NOTES')],
    accounts: [{ id: 'ca_seeded', connector: 'notes', identifier: 'ada' }],
  }

  it('is named so by accounts, tools and the list of providers, and by its own name everywhere else', async ({
    startMock,
  }) => {
    const { api } = await startMock({ seeds: TWELVE_SEEDS.slice(0, 1), seed })
    const created = await api.post('/connected_accounts', { connector: 'notes', identifier: 'grace' })
    const seeded = await api.get('/connected_accounts/details', { id: 'ca_seeded' })
    for (const { body } of [created, seeded]) {
      expect(body).toMatchObject({ connected_account: { connector: 'notes', provider: 'NOTES' } })
    }
    expect((await api.get('/connected_accounts', { provider: 'NOTES' })).body).toMatchObject({ total_size: 2 })
    expect((await api.get('/connected_accounts', { provider: 'notes' })).body).toMatchObject({ total_size: 0 })
    expect(providersIn((await api.get('/providers')).body)).toEqual(['mail', 'NOTES'])
    const tools = await api.get('/tools', { 'filter.provider': 'NOTES' })
    expect(tools.body).toMatchObject({ total_size: 1, tools: [{ id: 'notes:notes_add', provider: 'NOTES' }] })
    expect(names((await api.get('/tools', { 'filter.provider': 'notes' })).body)).toEqual([])
    expect(names((await api.get('/tools', { 'filter.connector': 'notes' })).body)).toEqual(['notes_add'])
    const scoped = { identifier: 'ada', 'filter.providers': 'NOTES', 'filter.connection_names': 'notes' }
    expect(scopedNames((await api.get('/tools/scoped', scoped)).body)).toEqual(['notes_add'])
    const { connections } = (await api.get('/connections/app')).body as { connections: object[] }
    expect(connections.at(-1)).toMatchObject({ key_id: 'notes', provider: 'CUSTOM' })
  })

  it('changes it for its accounts too, and leaves no provider that nothing names', async ({ startMock }) => {
    const { api, http } = await startMock({ seeds: TWELVE_SEEDS.slice(0, 1), seed })
    for (const provider of ['OTHER', undefined]) {
      expect((await http('put', '/_mock/connectors/notes').send(notes(provider))).status).toBeLessThan(300)
      const { body } = await api.get('/connected_accounts/details', { id: 'ca_seeded' })
      expect(body).toMatchObject({ connected_account: { provider: provider ?? 'notes' } })
      expect(providersIn((await api.get('/providers')).body)).toEqual(['mail', provider ?? 'notes'])
    }
  })

  it('shares it with another connector', async ({ startMock }) => {
    const { api, http } = await startMock({
      seeds: [],
      seed: { connectors: [notes('X'), { ...notes('X'), connector: 'more', tools: [] }] },
    })
    expect(providersIn((await api.get('/providers')).body)).toEqual(['X'])
    await http('put', '/_mock/connectors/more').send({ ...notes(), connector: 'more', tools: [] })
    expect(providersIn((await api.get('/providers')).body)).toEqual(['X', 'more'])
  })

  it('cannot be one of a connector for custom providers', async ({ mock: { http } }) => {
    const document = { connector: 'notes', provider: 'NOTES', custom_provider: 'Notes' }
    const refused = await http('put', '/_mock/connectors/notes').send(document)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('set beside custom_provider')
  })
})

it('updated_at of a tool is the time at which its connector was defined or changed', async ({ startMock }) => {
  const { api, environment, time } = await startMock({ now: '2030-01-01T00:00:00.000Z' })
  const updated = async (name: string) =>
    ((await api.get('/tools', { 'filter.tool_name': name })).body as { tools: { updated_at: string }[] }).tools[0]
      ?.updated_at
  time.advance('60s')
  expect(await updated('mail_get_message')).toBe('2030-01-01T00:00:00.000Z')
  const mail = environment.model.tables.connectors.get('mail')!
  environment.model.transact(() => environment.model.tables.connectors.put({ ...mail, description: 'another' }))
  time.advance('60s')
  expect(await updated('mail_get_message')).toBe('2030-01-01T00:01:00.000Z')
  expect(await updated('weather_get_current')).toBe('2030-01-01T00:00:00.000Z')
})

describe('paging of Discovery', () => {
  it.for([
    ['/tools', 'tools'],
    ['/tools/scoped', 'tools'],
    ['/tools/available', 'tools'],
    ['/providers', 'providers'],
    ['/connections/app', 'connections'],
  ])(
    '%s takes a page size of 0, which means 10, to 1000, and no other (G5, G69)',
    async ([path, member], { startMock }) => {
      const { api } = await startMock({ seeds: TWELVE_SEEDS, seed: manyAccounts(600) })
      const list = async (page_size: number) => api.get(path, { identifier: 'ada', page_size })
      const whole = await list(1000)
      const items = (body: unknown): object[] => (body as Record<string, object[]>)[member]!

      expect(whole.status).toBe(200)
      expect(items(whole.body)).toHaveLength(Math.min(1000, (whole.body as Page).total_size))
      expect(items((await list(0)).body)).toEqual(items(whole.body).slice(0, 10))
      for (const query of ['page_size=1001', 'page_size=-1', 'page_size=x', 'page_size=1&page_size=2', 'page_token=x'])
        expect((await api.get(path, `identifier=ada&${query}`)).status, query).toBe(400)
    },
  )

  it.for(['/tools?filter.provider=mail&', '/providers?'])(
    '%s refuses page tokens that are not its own (G4)',
    async (list, { mock: { api } }) => {
      const { next_page_token } = (await api.get('/tools', { page_size: 1 })).body as ToolPage
      expect((await api.get(`${list}page_token=${next_page_token}`)).status).toBe(400)
    },
  )

  it('lets the page size change between pages', async ({ mock: { api } }) => {
    const { next_page_token } = (await api.get('/tools', { page_size: 1 })).body as ToolPage
    const second = await api.get('/tools', { page_size: 2, page_token: next_page_token })
    expect(names(second.body)).toEqual(MAIL.slice(1, 3))
  })
})

it.for(['/tools', '/tools/scoped?identifier=ada', '/tools/available?identifier=ada', '/providers', '/connections/app'])(
  'with --documented-only: %s is a 404 that names the flag',
  async (path, { startMock }) => {
    const { api } = await startMock({ documentedOnly: true })
    const answer = await api.get(path)

    expect(answer.status).toBe(404)
    expect(answer.body).toMatchObject({ code: 5, details: [{ error_code: 'PATH_NOT_FOUND' }] })
    expect(answer.body.message).toContain('--documented-only')
  },
)

it('with --strict: Discovery is served', async ({ startMock }) => {
  const { api } = await startMock({ strict: true })
  expect((await api.get('/tools')).status).toBe(200)
})
