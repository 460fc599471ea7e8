import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds, type Sample, type Target } from '../rounds.ts'
import { spreadOf } from '../statistics.ts'
import { bearer, type Served, startToolmock } from '../toolmock.ts'
import { send, requestText } from '../wire.ts'
import { cell, rateText } from './throughput.ts'

/** The number of accounts, and of items. */
const SIZE = 10_000
/** The longest round in milliseconds. It is enough, because CPU time is counted in nanoseconds. */
const MAX_LENGTH = 250
const LIST = '/api/v1/connected_accounts'

/** Each query reads one page of the accounts, of 10 accounts unless it says otherwise. */
const QUERIES: Readonly<Record<string, string>> = {
  'list, first page': LIST,
  'list, 100 a page': `${LIST}?page_size=100`,
  'list of one user': `${LIST}?connector=mail&user_id=user_1`,
  'list by text in half of the accounts': `${LIST}?query=mail`,
  'search, every account matches': `${LIST}:search?query=example`,
  'search, some match': `${LIST}:search?query=smith`,
  'search, none matches': `${LIST}:search?query=zzzqqq`,
  'search, a word of three letters in many': `${LIST}:search?query=son`,
}

/** The CPU time of pages of list and search, with 10,000 accounts. A bar applies to the most expensive one. */
export async function pagesRow(bench: Bench): Promise<Results> {
  const state = await bench.states.copy(SIZE)
  await using ours = await startToolmock({ cli: bench.cli, state })
  const headers = await bearer(ours.url)
  const peers = await bench.peers?.pages()
  const targets = targetsOf(ours, await queries(ours.url, headers), headers)
  const samples = await measurePages(bench, { ...targets, ...peers })
  bench.states.remove(state)
  const shown = [
    ['toolmock', samples['list, first page']] as const,
    ...Object.keys(peers ?? {}).map((name) => [name, samples[name]] as const),
  ]
  return {
    figures: figuresOf(Object.keys(targets), samples, {
      bar: 'pages-10000',
      what: 'the most expensive page',
      accounts: SIZE,
    }),
    peers: peers ? shown.map(([subject, of]) => cell('list, a page of 10 at 10,000', subject, of ?? [])) : [],
  }
}

/** Creates an item, reads one page of 20 of them, and deletes the new one again. */
const CHANGED = '/changed'

/** Each query reads one page of 20 items of a connector. */
const ITEM_QUERIES: Readonly<Record<string, string>> = {
  'items, sorted': '?sort=title',
  'items, filtered and sorted': '?kind=a&sort=-title',
  'items, a range that leaves nearly all': '?least=100&sort=title',
  'items, a range that leaves none': '?least=1000000&sort=title',
  'items, search, every item matches': '?q=item',
  'items, search, one matches': '?q=item+7777&sort=title',
  'items, search, none matches': '?q=zzzqqq',
  'items, sorted, after a change': `${CHANGED}?sort=title`,
}

const PAGE = { list: 'items', sort: '{{request.query.sort}}', page: { token: '{{request.query.token}}' } }

const ITEMS_CONNECTOR = {
  connector: 'shop',
  authorization_type: 'NO_AUTH',
  collections: {
    items: {
      fields: {
        id: '{{sequence}}',
        number: '{{sequence}}',
        kind: '{{#if (eq item.id 1)}}a{{else}}b{{/if}}',
        title: 'Item {{sequence}}',
      },
      generate: SIZE,
    },
  },
  responders: [
    {
      on: { method: 'GET', path: '/items' },
      steps: [
        {
          ...PAGE,
          where: { kind: '{{request.query.kind}}', number: { gte: '{{request.query.least}}' } },
          search: { text: '{{request.query.q}}', in: ['title'] },
        },
      ],
    },
    {
      on: { method: 'POST', path: `/items${CHANGED}` },
      steps: [{ create: 'items', as: 'created' }, PAGE, { delete: 'items', key: '{{created.id}}', as: 'deleted' }],
      respond: { status: 200, body: '{{items}}' },
    },
  ],
}

/** The CPU time of a list of 20 out of 10,000 items of a connector. A bar applies to the most expensive one. */
export async function itemsRow(bench: Bench): Promise<Results> {
  const seed = join(bench.work, 'items.json')
  writeFileSync(seed, JSON.stringify({ connectors: [ITEMS_CONNECTOR] }))
  await using ours = await startToolmock({ cli: bench.cli, flags: ['--seed', seed] })
  const list = '/third-party/shop/api/items'
  const paths = Object.entries(ITEM_QUERIES).map(([name, query]) => [name, `${list}${query}`] as const)
  const samples = await measurePages(bench, targetsOf(ours, Object.fromEntries(paths), {}))
  const what = 'the most expensive list of 20 out of 10,000 items'
  return { figures: figuresOf(Object.keys(ITEM_QUERIES), samples, { bar: 'items-10000', what }), peers: [] }
}

function targetsOf(
  ours: Served,
  paths: Readonly<Record<string, string>>,
  headers: Record<string, string>,
): Record<string, Target> {
  const targets: Record<string, Target> = {}
  for (const [name, path] of Object.entries(paths)) {
    const method = path.includes(CHANGED) ? 'POST' : 'GET'
    targets[name] = { ...ours, requests: [requestText(`${ours.url}${path}`, { method, headers })], statuses: [200] }
  }
  return targets
}

async function measurePages(
  bench: Bench,
  targets: Readonly<Record<string, Target>>,
): Promise<Record<string, Sample[]>> {
  const milliseconds = Math.min(bench.scale.milliseconds, MAX_LENGTH)
  // The queries share nearly all of their code, so each one warms up the next.
  const warmUpSlices = bench.scale.unjudged ? bench.scale.warmUpSlices : 1
  return measureRounds(bench.generator, targets, {
    ...bench.scale,
    milliseconds,
    warmUp: milliseconds,
    warmUpSlices,
    connections: 4,
  })
}

/** The figure of the most expensive page, and then one for each page. */
function figuresOf(
  names: readonly string[],
  samples: Readonly<Record<string, Sample[]>>,
  { bar, what, accounts }: Required<Pick<Figure, 'bar' | 'what'>> & Pick<Figure, 'accounts'>,
): Figure[] {
  const figures = names.map((name): Figure => {
    const of = samples[name] ?? []
    const value = spreadOf(of.map(({ cpu }) => cpu))
    return { what: name, ...(accounts !== undefined && { accounts }), value, unit: 'ms', detail: rateText(of) }
  })
  const worst = figures.reduce((a, b) => (a.value.median >= b.value.median ? a : b))
  return [{ ...worst, bar, what: `${what}: ${worst.what}` }, ...figures]
}

/** The queries, and a page from the middle of the list by its token. */
async function queries(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
  let token = ''
  for (let page = 0; page < 50; page++) {
    const { body } = await send(`${url}${LIST}?page_size=100&page_token=${token}`, { headers })
    token = (JSON.parse(body) as { next_page_token: string }).next_page_token
  }
  return { ...QUERIES, 'list, the 501st page by its token': `${LIST}?page_token=${token}` }
}
