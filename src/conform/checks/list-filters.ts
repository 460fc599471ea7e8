import { same, sameMembers } from '../answer.ts'
import type { Query } from '../api.ts'
import type { Check, CheckBasis } from '../check.ts'
import { idsOf, page, PATH, shelf } from './list.ts'

/** The filters of GET /connected_accounts, and the page tokens and sizes that it refuses (4.1, G1, G4, G5). */
export const LIST_FILTER_CHECKS: readonly Check[] = [
  {
    id: 'list/by-user',
    title: 'user_id filters exactly',
    basis: 'convention:G1',
    run: async (context) => {
      const user_id = context.ledger.name('user')
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
      const { organization_id, ids, identifiers } = await shelf(context)
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
      const { organization_id, ids } = await shelf(context)
      const { name } = await context.offer.main()
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
      const { organization_id, ids, identifiers } = await shelf(context)
      const query = identifiers[2]?.toUpperCase()
      same(idsOf(await page(context, { organization_id, query })), [ids[2]], 'the ids that match')
    },
  },
  {
    id: 'list/connection-names-exclusive',
    title: 'connection_names together with connector is a 400',
    basis: 'convention:G1',
    run: async (context) => {
      const { name } = await context.offer.main()
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
      const { organization_id } = await shelf(context)
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
      const { organization_id } = await shelf(context)
      const token = (await page(context, { organization_id, page_size: 2 })).string('next_page_token')
      const answer = await context.api.get(PATH, { organization_id: context.ledger.name('org'), page_token: token })
      answer.is(400)
    },
  },
  refused('page-size-large', 'page_size over 100 is a 400', { page_size: 101 }, 'convention:G1'),
  refused('page-size-negative', 'a negative page_size is a 400', { page_size: -1 }, 'convention:G5'),
  refused('page-size-text', 'a page_size that is no number is a 400', { page_size: 'ten' }, 'convention:G5'),
]

function refused(name: string, title: string, query: Query, basis: CheckBasis): Check {
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
