import type { Bench } from '../bench.ts'
import type { Figure, Results } from '../figure.ts'
import { measureRounds, type Target } from '../rounds.ts'
import { spreadOf } from '../statistics.ts'
import { bearer, startToolmock } from '../toolmock.ts'
import { ask, requestText } from '../wire.ts'
import { cell, rateText } from './throughput.ts'

const ACCOUNTS = 100_000
/** CPU is counted finely, and many pages are asked for. */
const LONGEST = 250
const LIST = '/api/v1/connected_accounts'

/** Each is a page of 10, or what it says, out of 100,000 accounts. */
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

/** CPU for a page of list and search with 100,000 accounts; the most expensive one is judged. */
export async function pagesRow(bench: Bench): Promise<Results> {
  const state = await bench.states.copy(ACCOUNTS)
  await using ours = await startToolmock({ cli: bench.cli, state })
  const headers = await bearer(ours.url)
  const targets: Record<string, Target> = {}
  for (const [name, path] of Object.entries(await queries(ours.url, headers))) {
    targets[name] = { ...ours, requests: [requestText(`${ours.url}${path}`, { headers })], statuses: [200] }
  }
  const peers = await bench.peers?.pages()
  const milliseconds = Math.min(bench.scale.milliseconds, LONGEST)
  const warmUp = milliseconds
  // They share nearly all of their code, so that each is warm for the next.
  const warmUpSlices = bench.scale.unjudged ? bench.scale.warmUpSlices : 1
  const samples = await measureRounds(
    bench.generator,
    { ...targets, ...peers },
    { ...bench.scale, milliseconds, warmUp, warmUpSlices, connections: 4 },
  )
  bench.states.remove(state)
  const figures = Object.keys(targets).map((name): Figure => {
    const of = samples[name] ?? []
    return {
      what: name,
      accounts: ACCOUNTS,
      value: spreadOf(of.map(({ cpu }) => cpu)),
      unit: 'ms',
      detail: rateText(of),
    }
  })
  const worst = figures.reduce((a, b) => (a.value.median >= b.value.median ? a : b))
  const judged: Figure = { ...worst, bar: 'pages', what: `the most expensive page: ${worst.what}` }
  const shown = [
    ['toolmock', samples['list, first page']] as const,
    ...Object.keys(peers ?? {}).map((name) => [name, samples[name]] as const),
  ]
  return {
    figures: [judged, ...figures],
    peers: peers ? shown.map(([subject, of]) => cell('list, a page of 10 at 100,000', subject, of ?? [])) : [],
  }
}

/** The queries, and a page from the middle of the list by its token. */
async function queries(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
  let token = ''
  for (let page = 0; page < 50; page++) {
    const { body } = await ask(`${url}${LIST}?page_size=100&page_token=${token}`, { headers })
    token = (JSON.parse(body) as { next_page_token: string }).next_page_token
  }
  return { ...QUERIES, 'list, the 501st page by its token': `${LIST}?page_token=${token}` }
}
