import { ownMember, textOf } from '../../../model/domain/json.ts'
import { type ServiceResponse, everyPage, equal, sameMembers } from '../service-response.ts'
import { checksOf, statusChecks } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { QueryParameters } from '../target.ts'

const PATH = '/connected_accounts'

/** Seven accounts of one organization, in the order of their creation. */
export interface ListedAccounts {
  readonly organization_id: string
  readonly ids: readonly string[]
  readonly identifiers: readonly string[]
}

const answers = statusChecks(({ api }, query: QueryParameters) => api.get(PATH, query))

/** GET /connected_accounts: its pages and filters, and the page tokens and sizes that it refuses (4.1, G1, G4, G5). */
export const LIST_CHECKS = checksOf('list', 'list_connected_accounts', {
  'shape (document:4.1): list answers accounts, both tokens and the total': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const response = await listPage(context, { organization_id })
    equal(idsOf(response).length, ids.length, 'the number of accounts')
    response.has('next_page_token', '').has('prev_page_token', '').has('total_size', ids.length)
  },
  'order (convention:G4): accounts come in the order of their creation': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    equal(idsOf(await listPage(context, { organization_id })), ids, 'the listed ids')
  },
  'no-credentials (document:2.1): listed accounts carry neither api_config nor authorization_details': async (
    context,
  ) => {
    const { organization_id } = await context.active()
    const response = await listPage(context, { organization_id })
    response.lacks('connected_accounts.0.api_config').lacks('connected_accounts.0.authorization_details')
  },
  'same-object (document:2.1): listed accounts have the other fields of get-details': async (context) => {
    const account = await context.active()
    const listed = (await listPage(context, { organization_id: account.organization_id })).object(
      'connected_accounts.0',
    )
    const details = (await context.details(account.id)).object('connected_account')
    const { api_config: _config, authorization_details: _details, ...summary } = details
    equal(listed, summary, 'the listed account')
  },
  'pages (document:4.1): next_page_token leads through every account once': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const pages = await everyPage((page_token) => listPage(context, { organization_id, page_size: 2, page_token }))
    equal(pages.flatMap(idsOf), ids, 'the ids of all pages')
  },
  'total (document:4.1): total_size counts all matches across pages': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    ;(await listPage(context, { organization_id, page_size: 2 })).has('total_size', ids.length)
  },
  'first-page (document:4.1): the first page has no prev_page_token and a next_page_token': async (context) => {
    const { organization_id } = await sevenAccounts(context)
    ;(await listPage(context, { organization_id, page_size: 2 })).has('prev_page_token', '').string('next_page_token')
  },
  'last-page (document:4.1): the last page has no next_page_token and a prev_page_token': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const first = await listPage(context, { organization_id, page_size: ids.length - 1 })
    const last = await listPage(context, { organization_id, page_token: first.string('next_page_token') })
    last.has('next_page_token', '').string('prev_page_token')
  },
  'full-last-page (document:4.1): a last page that is full has no next_page_token either': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    ;(await listPage(context, { organization_id, page_size: ids.length })).has('next_page_token', '')
  },
  'back (document:4.1): prev_page_token leads back to the page before': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const filter = { organization_id, page_size: 2 }
    const first = await listPage(context, filter)
    const second = await listPage(context, { ...filter, page_token: first.string('next_page_token') })
    const back = await listPage(context, { ...filter, page_token: second.string('prev_page_token') })
    equal(idsOf(back), ids.slice(0, 2), 'the ids of the page before')
    back.has('prev_page_token', '')
  },
  'delete-between-pages (convention:G4): a delete between two pages neither skips nor repeats an account': async (
    context,
  ) => {
    const { organization_id, ids } = await createAccounts(context, 5)
    const filter = { organization_id, page_size: 2 }
    const first = await listPage(context, filter)
    ;(await context.api.post(`${PATH}:delete`, { id: ids[0] ?? '' })).is(200)
    const second = await listPage(context, { ...filter, page_token: first.string('next_page_token') })
    equal(idsOf(second), ids.slice(2, 4), 'the ids of the second page')
  },
  'page-size-may-change (convention:G4): page_size may change between pages': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const first = await listPage(context, { organization_id, page_size: 2 })
    const lastPage = await listPage(context, {
      organization_id,
      page_size: 3,
      page_token: first.string('next_page_token'),
    })
    equal(idsOf(lastPage), ids.slice(2, 5), 'the ids of the second page')
  },
  'default-page-size (convention:G1): a page has ten accounts when page_size is absent or 0': async (context) => {
    const { organization_id } = await context.shared('long shelf', (fresh) => createAccounts(fresh, 11))
    equal(idsOf(await listPage(context, { organization_id })).length, 10, 'the size of a page')
    equal(idsOf(await listPage(context, { organization_id, page_size: 0 })).length, 10, 'the size of a page')
  },
  'by-user (convention:G1): user_id filters exactly': async (context) => {
    const user_id = context.resources.name('user')
    const account = await context.account({ user_id })
    await context.account({ user_id: `${user_id}-2` })
    equal(idsOf(await listPage(context, { user_id })), [account.id], 'the ids of this user')
  },
  'by-identifier (convention:G1): identifier filters exactly': async (context) => {
    const { organization_id, ids, identifiers } = await sevenAccounts(context)
    const accounts = await listPage(context, { organization_id, identifier: identifiers[3] })
    equal(idsOf(accounts), [ids[3]], 'the ids with this identifier')
    const part = await listPage(context, { organization_id, identifier: identifiers[3]?.slice(0, -1) })
    equal(idsOf(part), [], 'the ids with a part of an identifier')
  },
  'by-connector (convention:G1): connector and provider filter exactly': async (context) => {
    const { organization_id, ids } = await sevenAccounts(context)
    const { name } = await context.catalog.main()
    sameMembers(idsOf(await listPage(context, { organization_id, connector: name })), ids, 'the ids of the connector')
    equal(idsOf(await listPage(context, { organization_id, connector: 'nobody_has_this' })), [], 'ids of no connector')
    equal(idsOf(await listPage(context, { organization_id, provider: 'nobody_has_this' })), [], 'ids of no provider')
  },
  'by-text (convention:G1): query filters by a part of the identifier in any case': async (context) => {
    const { organization_id, ids, identifiers } = await sevenAccounts(context)
    const query = identifiers[2]?.toUpperCase()
    equal(idsOf(await listPage(context, { organization_id, query })), [ids[2]], 'the ids that match')
  },
  'connection-names-exclusive (convention:G1): connection_names together with connector is a 400': async (context) => {
    const { name } = await context.catalog.main()
    ;(await context.api.get(PATH, { connector: name, connection_names: [name] })).is(400)
  },
  'token-malformed (document:4.1): a malformed page_token is a 400': answers(400, { page_token: 'not a token' }),
  'token-tampered (convention:G4): a page_token that was changed is a 400': async (context) => {
    const { organization_id, token } = await secondPage(context)
    const at = Math.floor(token.length / 2)
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    ;(await context.api.get(PATH, { organization_id, page_token: changed })).is(400)
  },
  'token-of-other-filters (convention:G4): a page_token of other filters is a 400': async (context) => {
    const { token } = await secondPage(context)
    ;(await context.api.get(PATH, { organization_id: context.resources.name('org'), page_token: token })).is(400)
  },
  'token-of-other-environment (choice:G60): a page_token of another environment is a 400': async (context) => {
    const { organization_id, token } = await secondPage(context)
    const environment = await context.ownEnvironment()
    ;(await environment.api.get(PATH, { organization_id, page_token: token })).is(400)
  },
  'percent-encoding (document:4.1): a query that is not well percent-encoded is a 400': async ({ api }) => {
    for (const value of ['100%', '%zz', '%ff']) (await api.send('GET', `${PATH}?identifier=${value}`)).is(400)
  },
  'page-size-large (convention:G1): page_size over 100 is a 400': answers(400, { page_size: 101 }),
  'page-size-negative (convention:G5): a negative page_size is a 400': answers(400, { page_size: -1 }),
  'page-size-text (convention:G5): a page_size that is no number is a 400': answers(400, { page_size: 'ten' }),
})

export function sevenAccounts(context: CheckContext): Promise<ListedAccounts> {
  return context.shared('shelf', (fresh) => createAccounts(fresh, 7))
}

async function createAccounts(context: CheckContext, size: number): Promise<ListedAccounts> {
  const organization_id = context.resources.name('org')
  const accounts = []
  for (let count = 0; count < size; count += 1) accounts.push(await context.account({ organization_id }))
  return { organization_id, ids: accounts.map(({ id }) => id), identifiers: accounts.map((each) => each.identifier) }
}

async function listPage({ api }: CheckContext, query: QueryParameters): Promise<ServiceResponse> {
  return (await api.get(PATH, query)).is(200)
}

export function idsOf(response: ServiceResponse): string[] {
  return response.objects('connected_accounts').map((account) => textOf(ownMember(account, 'id')))
}

/** The token of the second page of seven accounts. */
export async function secondPage(context: CheckContext): Promise<{ organization_id: string; token: string }> {
  const { organization_id } = await sevenAccounts(context)
  return {
    organization_id,
    token: (await listPage(context, { organization_id, page_size: 2 })).string('next_page_token'),
  }
}
