import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { createAccount, expectError, fieldsOf } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

const LIST = '/connected_accounts'
const SEARCH = '/connected_accounts:search'
type Query = Record<string, string | number | readonly string[]>

/** Both listings, with a query that finds every account of `numbered`. */
const LISTINGS = [
  [LIST, {}],
  [SEARCH, { query: 'person-' }],
] as const satisfies readonly (readonly [string, Query])[]

/** A seed with this many accounts, which alternate between three connectors. */
function numbered(count: number) {
  const connectors = ['mail', 'weather', 'encyclopedia']
  const accounts = Array.from({ length: count }, (_, index) => ({
    id: `ca_${index}`,
    connector: connectors[index % connectors.length],
    identifier: `person-${index}@example.com`,
    organization_id: index % 2 === 0 ? 'org_even' : '',
  }))
  return { accounts }
}

async function page({ api }: TestToolmock, path: string, query: Query) {
  const answer = await api.get(path, query)
  expect(answer.status, answer.text).toBe(200)
  const { connected_accounts, next_page_token, prev_page_token, total_size } = answer.body
  const ids: string[] = connected_accounts.map(({ id }: { id: string }) => id)
  return { ids, next: String(next_page_token), previous: String(prev_page_token), total: Number(total_size) }
}

const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `ca_${from + index}`)

describe.each(LISTINGS)('GET %s page by page', (path, query) => {
  it('answers ten accounts in creation order, and the tokens of other pages (G4)', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(25) })
    const first = await page(mock, path, query)
    expect(first).toEqual({ ids: ids(0, 10), next: expect.stringMatching(/^[\w-]+$/), previous: '', total: 25 })
    const second = await page(mock, path, { ...query, page_token: first.next })
    expect(second).toMatchObject({ ids: ids(10, 20), total: 25 })
    const third = await page(mock, path, { ...query, page_token: second.next })
    expect(third).toMatchObject({ ids: ids(20, 25), next: '' })
    expect(await page(mock, path, { ...query, page_token: third.previous })).toEqual(second)
    expect(await page(mock, path, { ...query, page_token: second.previous })).toEqual(first)
  })

  it('has no tokens when everything fits on one page', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(10) })
    expect(await page(mock, path, query)).toEqual({ ids: ids(0, 10), next: '', previous: '', total: 10 })
  })

  it('answers an empty page when there are no accounts', async ({ mock }) => {
    expect(await page(mock, path, query)).toEqual({ ids: [], next: '', previous: '', total: 0 })
  })

  it('lets the page size change between pages (G4)', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(12) })
    const first = await page(mock, path, { ...query, page_size: 3 })
    const second = await page(mock, path, { ...query, page_size: 7, page_token: first.next })
    expect([first.ids, second.ids]).toEqual([ids(0, 3), ids(3, 10)])
  })

  it('treats an empty page token as the first page', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(3) })
    expect((await page(mock, path, { ...query, page_token: '' })).ids).toEqual(ids(0, 3))
  })

  it('puts accounts that were created between two pages at the end', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(4) })
    const first = await page(mock, path, { ...query, page_size: 3 })
    const { id } = await createAccount(mock, { identifier: 'person-new' })
    const second = await page(mock, path, { ...query, page_size: 3, page_token: first.next })
    expect(second).toMatchObject({ ids: ['ca_3', id], next: '', total: 5 })
  })

  it('ends with an empty page when everything after the token was deleted', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(4) })
    const first = await page(mock, path, { ...query, page_size: 2 })
    for (const id of ['ca_2', 'ca_3']) await mock.api.post('/connected_accounts:delete', { id })
    const second = await page(mock, path, { ...query, page_size: 2, page_token: first.next })
    expect(second).toMatchObject({ ids: [], next: '', total: 2 })
    const back = await page(mock, path, { ...query, page_size: 2, page_token: second.previous })
    expect(back).toMatchObject({ ids: ['ca_0', 'ca_1'], previous: '', next: '' })
  })

  it('begins with an empty page when everything before the token was deleted', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(4) })
    const first = await page(mock, path, { ...query, page_size: 2 })
    const second = await page(mock, path, { ...query, page_size: 2, page_token: first.next })
    for (const id of ['ca_0', 'ca_1']) await mock.api.post('/connected_accounts:delete', { id })
    const back = await page(mock, path, { ...query, page_size: 2, page_token: second.previous })
    expect(back).toMatchObject({ ids: [], previous: '', total: 2 })
    const forth = await page(mock, path, { ...query, page_size: 2, page_token: back.next })
    expect(forth).toMatchObject({ ids: ['ca_2', 'ca_3'], next: '' })
  })

  it('has last_used_at once an account was used', async ({ startMock }) => {
    const mock = await startMock({ seed: { accounts: [{ connector: 'encyclopedia', identifier: 'person-1' }] } })
    const listed = async () => (await mock.api.get(path, query)).body.connected_accounts[0]
    expect(await listed()).not.toHaveProperty('last_used_at')
    mock.time.advance('5m')
    const tool = { tool_name: 'encyclopedia_list_categories', tool_input: {} }
    await mock.api.post('/execute_tool', { connector: 'encyclopedia', identifier: 'person-1', ...tool })
    expect(await listed()).toMatchObject({ last_used_at: '2026-01-01T00:05:00.000Z' })
  })

  it('visits each remaining account exactly once, with any deletes between the pages', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(40) })
    const plan = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.subarray(ids(0, 40), { maxLength: 3 })))
    const present = new Set(ids(0, 40))
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const before = new Set(present)
        const seen: string[] = []
        const steady = [...steps, ...Array.from({ length: 40 }, (): [number, string[]] => [8, []])]
        let token = ''
        for (const [page_size, deleted] of steady) {
          const found = await page(mock, path, { ...query, page_size, page_token: token })
          seen.push(...found.ids)
          token = found.next
          if (token === '') break
          for (const id of deleted.filter((each) => present.delete(each) && present.size > 5)) {
            await mock.api.post('/connected_accounts:delete', { id })
          }
          for (const id of deleted) if (mock.environment.model.tables.accounts.get(id)) present.add(id)
        }
        expect(token).toBe('')
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.every((id) => before.has(id))).toBe(true)
        expect(seen.filter((id) => present.has(id))).toEqual([...ids(0, 40)].filter((id) => present.has(id)))
      }),
      { numRuns: 8 },
    )
  })

  it('pages backward over the same accounts as forward', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(23) })
    let at = await page(mock, path, { ...query, page_size: 5 })
    const forth = [at.ids]
    for (; at.next !== ''; forth.push(at.ids))
      at = await page(mock, path, { ...query, page_size: 5, page_token: at.next })
    const back = [at.ids]
    for (; at.previous !== ''; back.unshift(at.ids))
      at = await page(mock, path, { ...query, page_size: 5, page_token: at.previous })
    expect(back.flat()).toEqual(forth.flat())
    expect(forth.flat()).toEqual(ids(0, 23))
  })

  it.for([
    ['no token at all', () => 'nonsense'],
    ['a character changed', (token: string) => (token.startsWith('Y') ? 'Z' : 'Y') + token.slice(1)],
    ['the last character changed', (token: string) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')],
    ['cut short', (token: string) => token.slice(0, -3)],
    ['something added', (token: string) => `${token}A`],
    ['another position in it', (token: string) => moved(token)],
    ['padding', (token: string) => `${token}==`],
    ['other characters', () => '€{{7*7}}%00'],
  ])('answers 400 to a page token with %s (G4)', async ([_, change], { startMock }) => {
    const mock = await startMock({ seed: numbered(12) })
    const { next } = await page(mock, path, query)
    const answer = await mock.api.get(path, { ...query, page_token: change(next) })
    expectError(answer, 400, 'INVALID_PAGE_TOKEN')
    expect(fieldsOf(answer)).toEqual(['page_token'])
  })

  it('answers 400 naming page_size and page_token when they are repeated (G5)', async ({ mock: { api } }) => {
    for (const name of ['page_size', 'page_token']) {
      const answer = await api.get(path, { ...query, [name]: ['1', '2'] })
      expectError(answer, 400, 'VALIDATION_FAILED')
      expect(fieldsOf(answer)).toEqual([name])
    }
  })
})

/** The token with its position increased by one, as by a client that decodes it. */
function moved(token: string): string {
  const text = Buffer.from(token, 'base64url').toString('latin1')
  const changed = text.replace(/\d+/, (digits) => String(Number(digits) + 1))
  return Buffer.from(changed, 'latin1').toString('base64url')
}

describe('a page token of another environment (G60)', () => {
  it.for(['/connected_accounts', '/tools'])('is a 400 at %s', async (path, { mock }) => {
    for (const identifier of ['a', 'b']) await createAccount(mock, { identifier })
    const { body } = await mock.api.get(path, { page_size: 1 })
    const made = await mock.http('post', '/_mock/environments').send({ name: 'other' })
    const form = { ...made.body, grant_type: 'client_credentials' }
    const { access_token } = (await mock.http('post', '/oauth/token').type('form').send(form)).body
    const answer = await mock
      .http('get', `/api/v1${path}?page_token=${String(body.next_page_token)}`)
      .set('Authorization', `Bearer ${String(access_token)}`)

    expectError(answer, 400, 'INVALID_PAGE_TOKEN')
  })
})

it.for([
  [LIST, {}, LIST, { connector: 'mail' }],
  [LIST, { connector: 'mail' }, LIST, {}],
  [LIST, { connector: 'mail' }, LIST, { connector: 'weather' }],
  [LIST, { connector: 'mail' }, LIST, { provider: 'mail' }],
  [LIST, { organization_id: 'org_even' }, LIST, { user_id: 'org_even' }],
  [LIST, { query: 'person' }, LIST, { query: 'persons' }],
  [LIST, { query: 'person' }, SEARCH, { query: 'person' }],
  [SEARCH, { query: 'person' }, LIST, { query: 'person' }],
  [SEARCH, { query: 'person' }, SEARCH, { query: 'erson' }],
  [LIST, { connection_names: ['mail'] }, LIST, { connection_names: ['mail', 'weather'] }],
  [LIST, { connection_names: ['mail'] }, LIST, { connector: 'mail' }],
] as const satisfies readonly (readonly [string, Query, string, Query])[])(
  'page tokens and filters: a token of %s with %j answers 400 at %s with %j (G4)',
  async ([path, query, otherPath, otherQuery], { startMock }) => {
    const mock = await startMock({ seed: numbered(12) })
    const { next } = await page(mock, path, { ...query, page_size: 1 })
    expect(next).not.toBe('')
    const answer = await mock.api.get(otherPath, { ...otherQuery, page_size: 1, page_token: next })
    expectError(answer, 400, 'INVALID_PAGE_TOKEN')
  },
)

it('page tokens and filters: a token is valid for any order of the filters', async ({ startMock }) => {
  const mock = await startMock({ seed: numbered(12) })
  const { next } = await page(mock, LIST, { provider: 'mail', connector: 'mail', page_size: 1 })
  expect((await page(mock, LIST, { page_token: next, connector: 'mail', provider: 'mail' })).ids[0]).toBe('ca_3')
})

it('page tokens and filters: a token is valid for any order of the connection names', async ({ startMock }) => {
  const mock = await startMock({ seed: numbered(12) })
  const { next } = await page(mock, LIST, { connection_names: ['weather', 'mail'], page_size: 1 })
  const second = await page(mock, LIST, { page_token: next, connection_names: ['mail', 'weather'] })
  expect(second.ids[0]).toBe('ca_1')
})

const seed = {
  accounts: [
    { id: 'ca_a', connector: 'mail', identifier: 'Ada@example.com', organization_id: 'org_1' },
    { id: 'ca_b', connector: 'mail', identifier: 'Ada@example.com', user_id: 'user_1' },
    { id: 'ca_c', connector: 'weather', identifier: 'grace', organization_id: 'org_1', user_id: 'user_1' },
    { id: 'ca_d', connector: 'encyclopedia', identifier: 'a.b*c%d_e' },
  ],
}

it.for([
  [{}, ['ca_a', 'ca_b', 'ca_c', 'ca_d']],
  [{ organization_id: 'org_1' }, ['ca_a', 'ca_c']],
  [{ organization_id: 'org_' }, []],
  [{ user_id: 'user_1' }, ['ca_b', 'ca_c']],
  [{ organization_id: 'org_1', user_id: 'user_1' }, ['ca_c']],
  [{ connector: 'mail' }, ['ca_a', 'ca_b']],
  [{ connector: 'nobody' }, []],
  [{ provider: 'weather' }, ['ca_c']],
  [{ identifier: 'Ada@example.com' }, ['ca_a', 'ca_b']],
  [{ identifier: 'ada@example.com' }, []],
  [{ identifier: 'Ada' }, []],
  [{ query: 'ADA' }, ['ca_a', 'ca_b']],
  [{ query: 'g' }, ['ca_c']],
  [{ query: 'MAIL' }, ['ca_a', 'ca_b']],
  [{ query: 'mail', organization_id: 'org_1' }, ['ca_a']],
  [{ query: '.*' }, []],
  [{ query: '%' }, ['ca_d']],
  [{ query: 'b*c' }, ['ca_d']],
  [{ query: 'a_b' }, []],
  [{ connection_names: 'weather' }, ['ca_c']],
  [{ connection_names: ['weather', 'mail', 'weather'] }, ['ca_a', 'ca_b', 'ca_c']],
  [{ connection_names: ['nobody', 'encyclopedia'] }, ['ca_d']],
  [{ organization_id: '', connector: '' }, ['ca_a', 'ca_b', 'ca_c', 'ca_d']],
  [{ connection_names: '' }, ['ca_a', 'ca_b', 'ca_c', 'ca_d']],
  [{ connection_names: ['', 'weather'] }, ['ca_c']],
  [{ connection_names: '', connector: 'weather' }, ['ca_c']],
])('GET /connected_accounts answers to %j with %j (G1)', async ([query, expected], { startMock }) => {
  const mock = await startMock({ seed })
  expect(await page(mock, LIST, query)).toMatchObject({ ids: expected, total: expected.length })
})

it.for([
  ['0', 10],
  ['1', 1],
  ['100', 100],
])('GET /connected_accounts answers %s accounts a page as %i (G1)', async ([page_size, size], { startMock }) => {
  const mock = await startMock({ seed: numbered(101) })
  expect((await page(mock, LIST, { page_size })).ids).toHaveLength(size)
})

it.for([
  ['page_size', { page_size: '-1' }],
  ['page_size', { page_size: '101' }],
  ['page_size', { page_size: '1.5' }],
  ['page_size', { page_size: 'ten' }],
  ['page_size', { page_size: '1e1' }],
  ['page_size', { page_size: '99999999999999999999' }],
  ['connection_names', { connection_names: Array.from({ length: 21 }, (_, index) => `c${index}`) }],
  ['connection_names', { connection_names: 'mail', connector: 'mail' }],
  ['organization_id', { organization_id: ['a', 'b'] }],
  ['user_id', { user_id: ['a', 'b'] }],
  ['connector', { connector: ['a', 'a'] }],
  ['connector', { connector: 'not/allowed' }],
  ['identifier', { identifier: ['a', 'b'] }],
  ['provider', { provider: ['a', 'b'] }],
  ['query', { query: ['a', 'b'] }],
])('GET /connected_accounts answers 400 naming %s for %j (G1, G5)', async ([field, query], { mock: { api } }) => {
  const answer = await api.get(LIST, query)
  expectError(answer, 400, 'VALIDATION_FAILED')
  expect(fieldsOf(answer)).toContain(field)
})

it('GET /connected_accounts accepts twenty connection names', async ({ startMock }) => {
  const mock = await startMock({ seed })
  const connection_names = ['mail', ...Array.from({ length: 19 }, (_, index) => `c${index}`)]
  expect((await page(mock, LIST, { connection_names })).total).toBe(2)
})

describe('GET /connected_accounts:search', () => {
  const identifiers = [
    'Ada Lovelace',
    '50%_off',
    '(a+)+$ [x]',
    'a\\b*c?d',
    'ÉCOLE',
    '{{7*7}}',
    "x' OR '1'='1",
    '😀😀😀',
  ]
  const seed = {
    accounts: [
      ...identifiers.map((identifier) => ({ connector: 'encyclopedia', identifier })),
      { connector: 'mail', identifier: 'x' },
      { connector: 'code_hosting', identifier: 'y' },
    ],
  }
  async function found({ api }: TestToolmock, query: string): Promise<string[]> {
    const answer = await api.get(SEARCH, { query })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.connected_accounts.map(({ identifier }: { identifier: string }) => identifier)
  }

  it.for([
    ['ada', ['Ada Lovelace']],
    ['LOVELACE', ['Ada Lovelace']],
    ['a l', ['Ada Lovelace']],
    ['  love  ', ['Ada Lovelace']],
    ['50%', ['50%_off']],
    ['%_o', ['50%_off']],
    ['%%%', []],
    ['___', []],
    ['...', []],
    ['.*.', []],
    ['a+)', ['(a+)+$ [x]']],
    ['(a+)+$', ['(a+)+$ [x]']],
    ['[x]', ['(a+)+$ [x]']],
    ['\\b*', ['a\\b*c?d']],
    ['*c?', ['a\\b*c?d']],
    ['école', ['ÉCOLE']],
    ['{{7*7}}', ['{{7*7}}']],
    ["' or", ["x' OR '1'='1"]],
    ['😀😀😀', ['😀😀😀']],
    ['mail', ['x']],
    ['MAI', ['x']],
    ['hosting', ['y']],
    ['nothing like it', []],
  ])('finds for %j exactly %j (G3)', async ([query, expected], { startMock }) => {
    const mock = await startMock({ seed })
    expect(await found(mock, query)).toEqual(expected)
  })

  it.for(['', 'a', 'ab', '  ab  ', '   ', '\t\n ', '😀😀', ' 😀a ', ' é'])(
    'answers 400 to %j, which has fewer than three characters after trimming (4.9)',
    async (query, { startMock }) => {
      const { api } = await startMock({ seed })
      const answer = await api.get(SEARCH, { query })
      expectError(answer, 400, 'VALIDATION_FAILED')
      expect(fieldsOf(answer)).toEqual(['query'])
    },
  )

  it.for([
    ['query', {}],
    ['query', { query: ['ada', 'ada'] }],
    ['page_size', { query: 'ada', page_size: '0' }],
    ['page_size', { query: 'ada', page_size: '31' }],
    ['page_size', { query: 'ada', page_size: 'x' }],
    ['connection_id', { query: 'ada', connection_id: ['a', 'b'] }],
  ])('answers 400 naming %s for %j (G3)', async ([field, query], { mock: { api } }) => {
    const answer = await api.get(SEARCH, query)
    expectError(answer, 400, 'VALIDATION_FAILED')
    expect(fieldsOf(answer)).toContain(field)
  })

  it('answers up to 30 accounts a page (G3)', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(31) })
    expect(await page(mock, SEARCH, { query: 'person', page_size: 30 })).toMatchObject({ ids: ids(0, 30), total: 31 })
  })

  it('keeps to one connection when connection_id is given (G3)', async ({ startMock }) => {
    const mock = await startMock({ seed: numbered(6) })
    const { connections } = (await mock.api.get('/connections')).body
    const { id } = connections.find(({ key_id }: { key_id: string }) => key_id === 'weather')
    expect((await page(mock, SEARCH, { query: 'person', connection_id: id })).ids).toEqual(['ca_1', 'ca_4'])
    expect((await page(mock, SEARCH, { query: 'person', connection_id: 'conn_none' })).total).toBe(0)
  })

  it('finds accounts created after the same search, and no deleted ones', async ({ mock }) => {
    expect(await found(mock, 'late')).toEqual([])
    const { id } = await createAccount(mock, { identifier: 'Latecomer' })
    expect(await found(mock, 'late')).toEqual(['Latecomer'])
    await mock.api.post('/connected_accounts:delete', { id })
    expect(await found(mock, 'late')).toEqual([])
  })
})
