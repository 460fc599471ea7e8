import { own } from '../../domain/json.ts'
import { type Answer, must, same, sameMembers, textOf } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { Query } from '../target.ts'

const PATH = '/connected_accounts'

/** Seven accounts of one organization, in the order of their creation. */
export interface ListedAccounts {
  readonly organization_id: string
  readonly ids: readonly string[]
  readonly identifiers: readonly string[]
}

/** GET /connected_accounts (4.1). */
export const LIST_CHECKS = checksOf('list_connected_accounts', [
  {
    id: 'list/shape',
    title: 'list answers accounts, both tokens and the total',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const answer = await page(context, { organization_id })
      same(idsOf(answer).length, ids.length, 'the number of accounts')
      answer.has('next_page_token', '').has('prev_page_token', '').has('total_size', ids.length)
    },
  },
  {
    id: 'list/order',
    title: 'accounts come in the order of their creation',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      same(idsOf(await page(context, { organization_id })), ids, 'the listed ids')
    },
  },
  {
    id: 'list/no-credentials',
    title: 'listed accounts carry neither api_config nor authorization_details',
    basis: 'document:2.1',
    run: async (context) => {
      const account = await context.active()
      const answer = await page(context, { organization_id: account.organization_id })
      answer.lacks('connected_accounts.0.api_config').lacks('connected_accounts.0.authorization_details')
    },
  },
  {
    id: 'list/same-object',
    title: 'listed accounts have the other fields of get-details',
    basis: 'document:2.1',
    run: async (context) => {
      const account = await context.active()
      const listed = (await page(context, { organization_id: account.organization_id })).object('connected_accounts.0')
      const details = (await context.details(account.id)).object('connected_account')
      const { api_config: _config, authorization_details: _details, ...rest } = details
      same(listed, rest, 'the listed account')
    },
  },
  {
    id: 'list/pages',
    title: 'next_page_token leads through every account once',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      same(await walk(context, { organization_id, page_size: 2 }), ids, 'the ids of all pages')
    },
  },
  {
    id: 'list/total',
    title: 'total_size counts all matches across pages',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const answer = await page(context, { organization_id, page_size: 2 })
      answer.has('total_size', ids.length)
    },
  },
  {
    id: 'list/first-page',
    title: 'the first page has no prev_page_token and a next_page_token',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id } = await sevenAccounts(context)
      const answer = await page(context, { organization_id, page_size: 2 })
      answer.has('prev_page_token', '').string('next_page_token')
    },
  },
  {
    id: 'list/last-page',
    title: 'the last page has no next_page_token and a prev_page_token',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const first = await page(context, { organization_id, page_size: ids.length - 1 })
      const last = await page(context, { organization_id, page_token: first.string('next_page_token') })
      last.has('next_page_token', '').string('prev_page_token')
    },
  },
  {
    id: 'list/full-last-page',
    title: 'a last page that is full has no next_page_token either',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const answer = await page(context, { organization_id, page_size: ids.length })
      answer.has('next_page_token', '')
    },
  },
  {
    id: 'list/back',
    title: 'prev_page_token leads back to the page before',
    basis: 'document:4.1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const filter = { organization_id, page_size: 2 }
      const first = await page(context, filter)
      const second = await page(context, { ...filter, page_token: first.string('next_page_token') })
      const back = await page(context, { ...filter, page_token: second.string('prev_page_token') })
      same(idsOf(back), ids.slice(0, 2), 'the ids of the page before')
      back.has('prev_page_token', '')
    },
  },
  {
    id: 'list/delete-between-pages',
    title: 'a delete between two pages neither skips nor repeats an account',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id, ids } = await createAccounts(context, 5)
      const filter = { organization_id, page_size: 2 }
      const first = await page(context, filter)
      ;(await context.api.post(`${PATH}:delete`, { id: ids[0] ?? '' })).is(200)
      const second = await page(context, { ...filter, page_token: first.string('next_page_token') })
      same(idsOf(second), ids.slice(2, 4), 'the ids of the second page')
    },
  },
  {
    id: 'list/page-size-may-change',
    title: 'page_size may change between pages',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const first = await page(context, { organization_id, page_size: 2 })
      const rest = await page(context, { organization_id, page_size: 3, page_token: first.string('next_page_token') })
      same(idsOf(rest), ids.slice(2, 5), 'the ids of the second page')
    },
  },
  {
    id: 'list/default-page-size',
    title: 'a page has ten accounts when page_size is absent or 0',
    basis: 'convention:G1',
    run: async (context) => {
      const { organization_id } = await context.shared('long shelf', (fresh) => createAccounts(fresh, 11))
      same(idsOf(await page(context, { organization_id })).length, 10, 'the size of a page')
      same(idsOf(await page(context, { organization_id, page_size: 0 })).length, 10, 'the size of a page')
    },
  },
])

export function sevenAccounts(context: CheckContext): Promise<ListedAccounts> {
  return context.shared('shelf', (fresh) => createAccounts(fresh, 7))
}

async function createAccounts(context: CheckContext, size: number): Promise<ListedAccounts> {
  const organization_id = context.resources.name('org')
  const accounts = []
  for (let made = 0; made < size; made += 1) accounts.push(await context.account({ organization_id }))
  return { organization_id, ids: accounts.map(({ id }) => id), identifiers: accounts.map((each) => each.identifier) }
}

async function page({ api }: CheckContext, query: Query): Promise<Answer> {
  return (await api.get(PATH, query)).is(200)
}

export function idsOf(answer: Answer): string[] {
  return answer.objects('connected_accounts').map((account) => textOf(own(account, 'id')))
}

/** The ids of every page, first to last. */
async function walk(context: CheckContext, query: Query): Promise<string[]> {
  const ids: string[] = []
  let token: string | undefined
  for (let pages = 0; pages < 20; pages += 1) {
    const answer = await page(context, { ...query, page_token: token })
    ids.push(...idsOf(answer))
    const next = answer.at('next_page_token')
    if (next === '') return ids
    token = answer.string('next_page_token')
  }
  must(false, 'a last page', 'twenty pages and no end')
  return ids
}

/** The filters of GET /connected_accounts, and the page tokens and sizes that it refuses (4.1, G1, G4, G5). */
export const LIST_FILTER_CHECKS = checksOf('list_connected_accounts', [
  {
    id: 'list/by-user',
    title: 'user_id filters exactly',
    basis: 'convention:G1',
    run: async (context) => {
      const user_id = context.resources.name('user')
      const account = await context.account({ user_id })
      await context.account({ user_id: `${user_id}-2` })
      same(idsOf(await page(context, { user_id })), [account.id], 'the ids of this user')
    },
  },
  {
    id: 'list/by-identifier',
    title: 'identifier filters exactly',
    basis: 'convention:G1',
    run: async (context) => {
      const { organization_id, ids, identifiers } = await sevenAccounts(context)
      const found = await page(context, { organization_id, identifier: identifiers[3] })
      same(idsOf(found), [ids[3]], 'the ids with this identifier')
      const part = await page(context, { organization_id, identifier: identifiers[3]?.slice(0, -1) })
      same(idsOf(part), [], 'the ids with a part of an identifier')
    },
  },
  {
    id: 'list/by-connector',
    title: 'connector and provider filter exactly',
    basis: 'convention:G1',
    run: async (context) => {
      const { organization_id, ids } = await sevenAccounts(context)
      const { name } = await context.catalog.main()
      sameMembers(idsOf(await page(context, { organization_id, connector: name })), ids, 'the ids of the connector')
      same(idsOf(await page(context, { organization_id, connector: 'nobody_has_this' })), [], 'ids of no connector')
      same(idsOf(await page(context, { organization_id, provider: 'nobody_has_this' })), [], 'ids of no provider')
    },
  },
  {
    id: 'list/by-text',
    title: 'query filters by a part of the identifier in any case',
    basis: 'convention:G1',
    run: async (context) => {
      const { organization_id, ids, identifiers } = await sevenAccounts(context)
      const query = identifiers[2]?.toUpperCase()
      same(idsOf(await page(context, { organization_id, query })), [ids[2]], 'the ids that match')
    },
  },
  {
    id: 'list/connection-names-exclusive',
    title: 'connection_names together with connector is a 400',
    basis: 'convention:G1',
    run: async (context) => {
      const { name } = await context.catalog.main()
      const answer = await context.api.get(PATH, { connector: name, connection_names: [name] })
      answer.is(400)
    },
  },
  refused('token-malformed', 'a malformed page_token is a 400', { page_token: 'not a token' }, 'document:4.1'),
  {
    id: 'list/token-tampered',
    title: 'a page_token that was changed is a 400',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id } = await sevenAccounts(context)
      const token = (await page(context, { organization_id, page_size: 2 })).string('next_page_token')
      const at = Math.floor(token.length / 2)
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      const answer = await context.api.get(PATH, { organization_id, page_token: changed })
      answer.is(400)
    },
  },
  {
    id: 'list/token-of-other-filters',
    title: 'a page_token of other filters is a 400',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id } = await sevenAccounts(context)
      const token = (await page(context, { organization_id, page_size: 2 })).string('next_page_token')
      const answer = await context.api.get(PATH, { organization_id: context.resources.name('org'), page_token: token })
      answer.is(400)
    },
  },
  {
    id: 'list/token-of-other-environment',
    title: 'a page_token of another environment is a 400',
    basis: 'choice:G60',
    run: async (context) => {
      const { organization_id } = await sevenAccounts(context)
      const token = (await page(context, { organization_id, page_size: 2 })).string('next_page_token')
      const { own: other } = await context.ownEnvironment()
      const answer = await other.api.get(PATH, { organization_id, page_token: token })
      answer.is(400)
    },
  },
  {
    id: 'list/percent-encoding',
    title: 'a query that is not well percent-encoded is a 400',
    basis: 'document:4.1',
    run: async ({ api }) => {
      for (const value of ['100%', '%zz', '%ff']) (await api.send('GET', `${PATH}?identifier=${value}`)).is(400)
    },
  },
  refused('page-size-large', 'page_size over 100 is a 400', { page_size: 101 }, 'convention:G1'),
  refused('page-size-negative', 'a negative page_size is a 400', { page_size: -1 }, 'convention:G5'),
  refused('page-size-text', 'a page_size that is no number is a 400', { page_size: 'ten' }, 'convention:G5'),
])

function refused(name: string, title: string, query: Query, basis: CheckBasis): CheckEntry {
  return {
    id: `list/${name}`,
    title,
    basis,
    run: async ({ api }) => {
      const answer = await api.get(PATH, query)
      answer.is(400)
    },
  }
}
