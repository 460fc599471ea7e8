import { type Answer, must, same } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { Query } from '../target.ts'
import { idsOf, sevenAccounts } from './list.ts'

const PATH = '/connected_accounts:search'

/** GET /connected_accounts:search (4.9). */
export const SEARCH_CHECKS = checksOf('search_connected_accounts', [
  {
    id: 'search/by-identifier',
    title: 'search finds an account by a part of its identifier',
    basis: 'document:4.9',
    run: async (context) => {
      const { ids, identifiers } = await sevenAccounts(context)
      const text = (identifiers[4] ?? '').slice(3)
      must(idsOf(await found(context, { query: text })).includes(ids[4] ?? ''), `${text} to find its account`, 'none')
    },
  },
  {
    id: 'search/any-case',
    title: 'search ignores case',
    basis: 'document:4.9',
    run: async (context) => {
      const { ids, identifiers } = await sevenAccounts(context)
      same(idsOf(await found(context, { query: (identifiers[4] ?? '').toUpperCase() })), [ids[4]], 'the ids found')
    },
  },
  {
    id: 'search/by-connector',
    title: 'search finds accounts by their connector',
    basis: 'document:4.9',
    run: async (context) => {
      await sevenAccounts(context)
      const { name } = await context.catalog.main()
      const answer = await found(context, { query: name, page_size: 30 })
      must(idsOf(answer).length > 0, `accounts of ${name}`, 'none')
    },
  },
  {
    id: 'search/nothing',
    title: 'a text that nothing matches finds nothing',
    basis: 'document:4.9',
    run: async (context) => {
      const answer = await found(context, { query: `${context.resources.prefix}-nobody-has-this` })
      same(idsOf(answer), [], 'the ids found')
      answer.has('total_size', 0).has('next_page_token', '').has('prev_page_token', '')
    },
  },
  {
    id: 'search/shape',
    title: 'search answers the shape of list, without credentials',
    basis: 'document:4.9',
    run: async (context) => {
      const { identifiers } = await sevenAccounts(context)
      const answer = await found(context, { query: identifiers[1] })
      answer.has('total_size', 1).has('next_page_token', '').has('prev_page_token', '')
      answer.lacks('connected_accounts.0.api_config').lacks('connected_accounts.0.authorization_details')
    },
  },
  {
    id: 'search/pages',
    title: 'page tokens lead through every match once',
    basis: 'document:4.9',
    run: async (context) => {
      const { ids, identifiers } = await sevenAccounts(context)
      const organization = (identifiers[0] ?? '').slice(0, context.resources.prefix.length)
      const seen: string[] = []
      let token: string | undefined
      do {
        const answer = await found(context, { query: organization, page_size: 30, page_token: token })
        seen.push(...idsOf(answer))
        const next = answer.at('next_page_token')
        token = typeof next === 'string' && next !== '' ? next : undefined
      } while (token !== undefined && seen.length < 10_000)
      same(new Set(seen).size, seen.length, 'accounts seen once')
      same(
        ids.filter((id) => !seen.includes(id)),
        [],
        'accounts that no page had',
      )
    },
  },
  {
    id: 'search/three-characters',
    title: 'three characters are enough',
    basis: 'document:8',
    run: async (context) => {
      await found(context, { query: context.resources.prefix.slice(0, 3) })
    },
  },
  refused('two-characters', 'two characters are a 400', { query: 'co' }, 'document:8'),
  refused('no-query', 'no query is a 400', {}, 'document:4.9'),
  refused('empty-query', 'an empty query is a 400', { query: '' }, 'document:4.9'),
  refused('blank-query', 'blanks do not count', { query: '  co  ' }, 'convention:G3'),
  refused('page-size-zero', 'page_size 0 is a 400', { query: 'conform', page_size: 0 }, 'convention:G3'),
  refused('page-size-large', 'page_size over 30 is a 400', { query: 'conform', page_size: 31 }, 'convention:G3'),
  refused('token-malformed', 'a malformed page_token is a 400', { query: 'conform', page_token: '!' }, 'document:4.9'),
  {
    id: 'search/token-of-list',
    title: 'a page_token of list is a 400',
    basis: 'convention:G4',
    run: async (context) => {
      const { organization_id } = await sevenAccounts(context)
      const list = await context.api.get('/connected_accounts', { organization_id, page_size: 2 })
      const page_token = list.is(200).string('next_page_token')
      const answer = await context.api.get(PATH, { query: context.resources.prefix, page_token })
      answer.is(400)
    },
  },
  {
    id: 'search/literal',
    title: 'characters of patterns are taken as they are',
    basis: 'document:4.9',
    run: async (context) => {
      await sevenAccounts(context)
      for (const query of [`${context.resources.prefix}.*`, `${context.resources.prefix}%`]) {
        same(idsOf(await found(context, { query })), [], `the ids found for ${query}`)
      }
    },
  },
])

async function found({ api }: CheckContext, query: Query): Promise<Answer> {
  return (await api.get(PATH, query)).is(200)
}

function refused(name: string, title: string, query: Query, basis: CheckBasis): CheckEntry {
  return {
    id: `search/${name}`,
    title,
    basis,
    run: async ({ api }) => {
      const answer = await api.get(PATH, query)
      answer.is(400)
    },
  }
}
