import type { Log } from 'sarif'
import { expect } from 'vitest'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { contractOf, control, rendered } from './reports.ts'
import { type Element, readXml } from './xml.ts'
import { during, it as base } from '../../support/mock-fixture.ts'

const LISTS = { label: 'accounts > lists them, 100%', file: 'test/accounts.test.ts', line: 12 }
const SENDS = { label: 'messages > sends one' }
const NAMED = { name: LISTS.label, file: LISTS.file, line: LISTS.line }
const SENTENCE = 'list_connected_accounts: page_size must be at most 100; found 101'

/** Lists in an environment of its own, at a path; the answer may come later. */
async function listIn(mock: TestToolmock, environment: object, path: string) {
  const { client_id, client_secret } = (await control(mock, 'post', '/environments', environment)).body
  const form = { client_id, client_secret, grant_type: 'client_credentials' }
  const token = await mock.http('post', '/oauth/token').type('form').send(form)
  return { sent: mock.http('get', `/api/v1${path}`).auth(String(token.body.access_token), { type: 'bearer' }) }
}

/** Runs `work` after two tests with the same mistake and one without. */
async function withTests(work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  await withToolmock({}, async (mock) => {
    for (const [name, test, path] of [
      ['lists', LISTS, '/connected_accounts?page_size=101'],
      ['sends', SENDS, '/connected_accounts?page_size=101'],
      ['keeps', { label: 'connections > keeps to the contract' }, '/connections'],
    ] as const) {
      await (
        await listIn(mock, { name, ...test }, path)
      ).sent
      await control(mock, 'delete', `/environments/${name}`)
    }
    await work(mock)
  })
}

const it = base.extend('mock', during(withTests))

it('in JSON: the tests, their number, and their requests', async ({ mock }) => {
  const { total, environments } = await contractOf(mock)
  expect(total.violations).toMatchObject([
    {
      count: 2,
      tests: [NAMED, { name: SENDS.label, file: null, line: null }],
      test_count: 2,
      examples: [
        { environment: 'lists', method: 'GET', path: '/api/v1/connected_accounts', excerpt: '?page_size=101' },
        { environment: 'sends' },
      ],
    },
  ])
  expect(environments.map(({ name, test }) => [name, test?.name])).toEqual([
    ['default', undefined],
    ['keeps', 'connections > keeps to the contract'],
    ['lists', LISTS.label],
    ['sends', SENDS.label],
  ])
})

it('also a test whose environment was removed before the request was answered', async () => {
  await withToolmock({}, async (mock) => {
    const on = { operation: 'list_connected_accounts' }
    const rules = [{ name: 'slow', at: 'service', on, do: [{ latency: { ms: 1000 } }] }]
    const given = { name: 'lists', ...LISTS, scenarios: [{ name: 'slow', rules }] }
    const listing = (await listIn(mock, given, '/connected_accounts')).sent.then((answer) => answer)
    const scenarios = async () => {
      const answer = await control(mock, 'get', '/scenarios?environment=lists')
      return (answer.body as { scenarios: { name: string; rules: { hits: number }[] }[] }).scenarios
    }
    while ((await scenarios()).find(({ name }) => name === 'slow')?.rules[0]?.hits !== 1)
      await new Promise((turn) => setImmediate(turn))
    await control(mock, 'delete', '/environments/lists')
    await listing
    const { environments } = await contractOf(mock)
    expect(environments.map(({ name, test }) => [name, test?.name])).toEqual([
      ['default', undefined],
      ['lists', LISTS.label],
    ])
  })
})

it('in the text that a run prints', async ({ mock }) => {
  const { text } = await rendered(mock, 'text')
  expect(text).toMatch(
    /^toolmock: the verdict failed for 1 reason\n {2}violation {2}list_connected_accounts: page_size /,
  )
  expect(text).toContain(
    '\n             in 2 tests: accounts > lists them, 100% (test/accounts.test.ts:12); messages > sends one\n',
  )
  expect(text).toMatch(/\n {13}GET \/api\/v1\/connected_accounts at 2026-\S+ in lists \(req_\w+\): \?page_size=101\n/)
})

it('in JUnit: a case for each test by its name, which fails with its violations', async ({ mock }) => {
  const root = readXml((await rendered(mock, 'junit')).text)
  const inside = (element: Element | undefined): Element[] =>
    (element?.content ?? []).filter((part) => typeof part !== 'string')
  const suite = inside(root).find(({ attributes }) => attributes['name'] === 'tests')
  const cases = inside(suite).map((each) => [
    each.attributes['classname'],
    each.attributes['name'],
    each.attributes['file'],
    each.attributes['line'],
    inside(each).map(({ attributes }) => attributes['message']?.startsWith(SENTENCE)),
  ])
  expect(cases).toEqual([
    ['tests.tests', 'connections > keeps to the contract', undefined, undefined, []],
    [LISTS.file, LISTS.label, LISTS.file, '12', [true]],
    ['tests.tests', SENDS.label, undefined, undefined, [true]],
  ])
})

it('in SARIF: at the test where its file is known, with the contract beside it', async ({ mock }) => {
  const [run] = (JSON.parse((await rendered(mock, 'sarif')).text) as Log).runs
  expect(run?.results).toMatchObject([
    {
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: LISTS.file, uriBaseId: '%SRCROOT%' },
            region: { startLine: 12 },
          },
          logicalLocations: [{ name: LISTS.label }],
        },
      ],
      relatedLocations: [{ physicalLocation: { artifactLocation: { uri: 'spec/openapi.yaml' } } }],
    },
  ])
})

it('on the page, with the answers of each operation by status before all details', async ({ mock }) => {
  const { text: page } = await rendered(mock, 'html')
  expect(page).toContain('<strong>accounts &gt; lists them, 100% (test/accounts.test.ts:12)</strong>')
  expect(page).toContain('<code>?page_size=101</code>')
  const [overview = '', collapsed = ''] = page.split('<h2 id="details-title">')
  expect(overview).toMatch(/<th scope="col" ?>400<\/th>/)
  expect(overview).toMatch(/<span class="reach driven" title="driven"> ?2<\/span>/)
  expect(collapsed.match(/<details /g)?.length).toBeGreaterThanOrEqual(20)
})

it('as annotations of GitHub, with everything escaped', async ({ mock }) => {
  const [first, last, ...more] = (await rendered(mock, 'github')).text.trimEnd().split('\n')
  expect(first).toMatch(
    /^::error file=test\/accounts\.test\.ts,line=12,title=toolmock%3A contract-violation::list_connected_accounts: page_size .*%0Ain 2 tests: accounts > lists them, 100%25 \(/,
  )
  expect(last).toBe('::notice title=toolmock::the verdict failed for 1 reason')
  expect(more).toEqual([])
})

it('as annotations of GitHub, without signs that a terminal obeys', async () => {
  await withToolmock({}, async (mock) => {
    const environment = { name: 'e', label: 'a\u001b[2J\u202eb\rc' }
    await (
      await listIn(mock, environment, '/connected_accounts?page_size=101')
    ).sent
    const { text } = await rendered(mock, 'github')
    expect(text).toContain('a\\u{1b}[2J\\u{202e}b\\u{d}c')
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  })
})

it('as code quality of GitLab', async ({ mock }) => {
  expect(JSON.parse((await rendered(mock, 'gitlab')).text)).toEqual([
    {
      description: expect.stringMatching(/^list_connected_accounts: page_size must be at most 100/),
      check_name: 'toolmock/contract-violation',
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      severity: 'major',
      location: { path: LISTS.file, lines: { begin: 12 } },
    },
  ])
})
