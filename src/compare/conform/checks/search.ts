import { type ServiceResponse, everyPage, must, equal } from '../service-response.ts'
import { checksOf, statusChecks } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { QueryParameters } from '../target.ts'
import { idsOf, secondPage, sevenAccounts } from './list.ts'

const PATH = '/connected_accounts:search'

const answers = statusChecks(({ api }, query: QueryParameters) => api.get(PATH, query))

export const SEARCH_CHECKS = checksOf('search', 'search_connected_accounts', {
  'by-identifier (document:4.9): search finds an account by a part of its identifier': async (context) => {
    const { ids, identifiers } = await sevenAccounts(context)
    const text = (identifiers[4] ?? '').slice(3)
    must(
      idsOf(await searchAccounts(context, { query: text })).includes(ids[4] ?? ''),
      `${text} to find its account`,
      'none',
    )
  },
  'any-case (document:4.9): search ignores case': async (context) => {
    const { ids, identifiers } = await sevenAccounts(context)
    equal(
      idsOf(await searchAccounts(context, { query: (identifiers[4] ?? '').toUpperCase() })),
      [ids[4]],
      'the ids found',
    )
  },
  'by-connector (document:4.9): search finds accounts by their connector': async (context) => {
    await sevenAccounts(context)
    const { name } = await context.catalog.main()
    const response = await searchAccounts(context, { query: name, page_size: 30 })
    must(idsOf(response).length > 0, `accounts of ${name}`, 'none')
  },
  'nothing (document:4.9): a text that nothing matches finds nothing': async (context) => {
    const response = await searchAccounts(context, { query: `${context.resources.prefix}-nobody-has-this` })
    equal(idsOf(response), [], 'the ids found')
    response.has('total_size', 0).has('next_page_token', '').has('prev_page_token', '')
  },
  'shape (document:4.9): search answers the shape of list, without credentials': async (context) => {
    const { identifiers } = await sevenAccounts(context)
    const response = await searchAccounts(context, { query: identifiers[1] })
    response.has('total_size', 1).has('next_page_token', '').has('prev_page_token', '')
    response.lacks('connected_accounts.0.api_config').lacks('connected_accounts.0.authorization_details')
  },
  'pages (document:4.9): page tokens lead through every match once': async (context) => {
    const { ids, identifiers } = await sevenAccounts(context)
    const query = (identifiers[0] ?? '').slice(0, context.resources.prefix.length)
    const pages = await everyPage((page_token) => searchAccounts(context, { query, page_size: 30, page_token }))
    const pageIds = pages.flatMap(idsOf)
    equal(new Set(pageIds).size, pageIds.length, 'accounts seen once')
    const missing = ids.filter((id) => !pageIds.includes(id))
    equal(missing, [], 'accounts that no page had')
  },
  'three-characters (document:8): three characters are enough': (context) =>
    searchAccounts(context, { query: context.resources.prefix.slice(0, 3) }),
  'two-characters (document:8): two characters are a 400': answers(400, { query: 'co' }),
  'no-query (document:4.9): no query is a 400': answers(400, {}),
  'empty-query (document:4.9): an empty query is a 400': answers(400, { query: '' }),
  'blank-query (convention:G3): blanks do not count': answers(400, { query: '  co  ' }),
  'page-size-zero (convention:G3): page_size 0 is a 400': answers(400, { query: 'conform', page_size: 0 }),
  'page-size-large (convention:G3): page_size over 30 is a 400': answers(400, { query: 'conform', page_size: 31 }),
  'token-malformed (document:4.9): a malformed page_token is a 400': answers(400, {
    query: 'conform',
    page_token: '!',
  }),
  'token-of-list (convention:G4): a page_token of list is a 400': answers(400, async (context) => {
    const { token } = await secondPage(context)
    return { query: context.resources.prefix, page_token: token }
  }),
  'literal (document:4.9): characters of patterns are taken as they are': async (context) => {
    await sevenAccounts(context)
    for (const query of [`${context.resources.prefix}.*`, `${context.resources.prefix}%`]) {
      equal(idsOf(await searchAccounts(context, { query })), [], `the ids found for ${query}`)
    }
  },
})

async function searchAccounts({ api }: CheckContext, query: QueryParameters): Promise<ServiceResponse> {
  return (await api.get(PATH, query)).is(200)
}
