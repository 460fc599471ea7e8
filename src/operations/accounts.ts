import type { Account } from '../domain/account.ts'
import { invalidField } from '../domain/errors.ts'
import { type Binding, decodePageToken, encodePageToken, type Position } from '../domain/page-token.ts'
import type { AccountFilter } from '../state/model/account-index.ts'
import { type Environment, now } from '../state/environment.ts'
import { locateAccount } from './account-access.ts'
import { summary, withCredentials, withoutCredentials } from './account-view.ts'
import { isOver, renew } from './fresh-credentials.ts'
import type { Call, Reply } from './operation.ts'

/** GET /connected_accounts (4.1, G1). */
export function listConnectedAccounts({ environment, query }: Call<'list_connected_accounts'>): Reply {
  const { connection_names, page_size, page_token, ...exact } = query
  if (connection_names?.length && query.connector) {
    throw invalidField('connection_names', 'found it beside connector, expected one of the two', 'exclusive')
  }
  const filter = { ...given(exact), ...(connection_names?.length ? { connectors: connection_names } : {}) }
  return {
    status: 200,
    body: page(environment, 'list', filter, { size: page_size || DEFAULT_PAGE_SIZE, token: page_token }),
  }
}

/** GET /connected_accounts:search (4.9, G3): at least three characters after trimming. */
export function searchConnectedAccounts({ environment, query }: Call<'search_connected_accounts'>): Reply {
  const text = query.query.trim()
  const { length } = Array.from(text)
  if (length < 3) {
    throw invalidField('query', `found ${length} characters after trimming, expected at least 3`, 'minLength')
  }
  const filter = given({ query: text, connection_id: query.connection_id })
  const { page_size = DEFAULT_PAGE_SIZE, page_token } = query
  return { status: 200, body: page(environment, 'search', filter, { size: page_size, token: page_token }) }
}

/** GET /connected_accounts/auth (4.4): full credentials, renewed first when their token has expired (G56). */
export async function getConnectedAccountAuth(call: Call<'get_connected_account_auth'>): Promise<Reply> {
  const located = locateAccount(call, call.query)
  const stale = located.status === 'ACTIVE' && isOver(call.environment, located)
  const account = stale ? (await renew(call, located)).account : located
  return { status: 200, body: { connected_account: withCredentials(account) } }
}

/** GET /connected_accounts/details (4.5): never a stored credential. */
export function getConnectedAccountDetails(call: Call<'get_connected_account_details'>): Reply {
  const account = locateAccount(call, call.query)
  // Records are immutable, and so is what is told of one.
  const body = call.environment.details.of(account, () => ({ connected_account: withoutCredentials(account) }))
  return { status: 200, body, cacheable: true }
}

/** POST /connected_accounts:delete (4.8, 3.1): the third party refuses its tokens and keys from then on. */
export function deleteConnectedAccount(call: Call<'delete_connected_account'>): Reply {
  const { environment, thirdParty, trace } = call
  const account = locateAccount(call, call.body)
  environment.model.transact(() => {
    thirdParty.revoke(account)
    environment.model.tables.accounts.remove(account.id)
    trace.deleted(account, now(environment))
  })
  return { status: 200 }
}

const DEFAULT_PAGE_SIZE = 10

function page(
  environment: Environment,
  listing: string,
  filter: AccountFilter,
  { size, token }: { size: number; token: string | undefined },
) {
  const binding: Binding = [['listing', listing], ...Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))]
  const position: Position = token ? decodePageToken(token, binding) : { after: 0 }
  const { rows, total, has_previous, has_next } = environment.model.accountIndex.page(filter, position, size)
  const [first, last] = edges(rows, position)
  return {
    connected_accounts: rows.map(summary),
    next_page_token: has_next ? encodePageToken({ after: last }, binding) : '',
    prev_page_token: has_previous ? encodePageToken({ before: first }, binding) : '',
    total_size: total,
  }
}

/** The positions on both sides of a page, also of one that deletes have emptied. */
function edges(rows: readonly Account[], position: Position): [first: number, last: number] {
  const [below, above] =
    'after' in position ? [position.after, position.after + 1] : [position.before - 1, position.before]
  return [rows[0]?.sequence ?? above, rows.at(-1)?.sequence ?? below]
}

/** Filters that were sent: an empty string counts as not given. */
function given(filter: Record<string, string | undefined>): AccountFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value))
}
