import type { Account } from '../domain/account.ts'
import type { Connector, Tool } from '../domain/connector.ts'
import { type Binding, decodePageToken, encodePageToken, type Position } from '../domain/page-token.ts'
import type { AccountFilter } from '../state/model/account-index.ts'
import { instant } from '../domain/instant.ts'
import type { Environment } from '../state/environment.ts'
import { connectorsOf } from './connections.ts'
import type { Call, Reply } from './operation.ts'

/** GET /tools: the tools of every connector, or of the connectors whose accounts match the filter. */
export function listTools({ environment, query }: Call<'list_tools'>): Reply {
  const filter = new Map(Object.entries(query))
  const matches = matching(query)
  const offered = positionedTools(environment, connectorsFor(environment, query)).filter(({ item }) => matches(item))
  filter.delete('page_size')
  filter.delete('page_token')
  const binding: Binding = [
    ['listing', 'tools'],
    ...[...filter].map(([name, value]) => [name, JSON.stringify(value)] as const),
  ]
  const { items, ...rest } = slice(offered, binding, { size: query.page_size, token: query.page_token })
  const names = query['filter.summary']
  return {
    status: 200,
    body: {
      ...(names
        ? { tool_names: items.map(({ tool }) => tool.name) }
        : { tools: items.map((item) => toolView(environment, item)) }),
      ...rest,
    },
  }
}

/** GET /tools/scoped: the tools that the identifier's active accounts can run. */
export function listScopedTools({ environment, query }: Call<'list_scoped_tools'>): Reply {
  const accounts = accountsWhere(environment, { identifier: query.identifier }).filter(
    ({ status }) => status === 'ACTIVE',
  )
  const tools = accounts.flatMap((account) => {
    const connector = environment.connector(account.connector)
    return connector ? scopedView(environment, toolsOf(connector).filter(chosen(query)), query.identifier, account) : []
  })
  return { status: 200, body: { tools } }
}

/** GET /tools/available: every tool that the identifier could use, with its account at the tool's connector, if any. */
export function listAvailableTools({ environment, query }: Call<'list_available_tools'>): Reply {
  const accounts = accountsWhere(environment, { identifier: query.identifier })
  const tools = connectorsOf(environment).flatMap((connector) => {
    const account = accounts.find((each) => each.connector === connector.connector)
    return scopedView(environment, toolsOf(connector).filter(chosen(query)), query.identifier, account)
  })
  return { status: 200, body: { tools } }
}

/** GET /providers: custom ones and those of the connectors, in creation order. */
export function listProviders({ environment, query }: Call<'list_providers'>): Reply {
  const providers = [...environment.model.tables.providers.placed()].map(([position, item]) => ({ position, item }))
  const { items, ...rest } = slice(providers, [['listing', 'providers']], {
    size: query.page_size,
    token: query.page_token,
  })
  return { status: 200, body: { providers: items, ...rest } }
}

interface Offer {
  connector: Connector
  tool: Tool
}

function toolsOf(connector: Connector): Offer[] {
  return connector.tools.map((tool) => ({ connector, tool }))
}

function toolView(environment: Environment, { connector, tool }: Offer) {
  return {
    id: `${connector.connector}:${tool.name}`,
    provider: connector.connector,
    definition: {
      name: tool.name,
      display_name: tool.display_name,
      description: tool.description,
      input_schema: tool.input_schema,
    },
    is_default: tool.is_default,
    tags: tool.tags,
    metadata: {},
    updated_at: instant(environment.model.definitions.of(connector.connector)),
  }
}

function scopedView(environment: Environment, offers: Offer[], identifier: string, account: Account | undefined) {
  return offers.map((offer) => ({
    tool: toolView(environment, offer),
    identifier,
    connected_account_id: account?.id ?? '',
  }))
}

/** The connectors of the accounts that a filter names, or all of them when it names none. */
function connectorsFor(environment: Environment, query: Call<'list_tools'>['query']): Connector[] {
  const id = query['filter.connected_account_id']
  const filter: AccountFilter = {
    ...(query['filter.connector'] ? { connector: query['filter.connector'] } : {}),
    ...(query['filter.identifier'] ? { identifier: query['filter.identifier'] } : {}),
    ...(query['filter.organization_id'] ? { organization_id: query['filter.organization_id'] } : {}),
    ...(query['filter.user_id'] ? { user_id: query['filter.user_id'] } : {}),
  }
  const all = connectorsOf(environment)
  const onlyConnector = Object.keys(filter).every((field) => field === 'connector')
  if (!id && onlyConnector) return all.filter(({ connector }) => !filter.connector || filter.connector === connector)
  const accounts = accountsWhere(environment, filter).filter((account) => !id || account.id === id)
  const used = new Set(accounts.map(({ connector }) => connector))
  return all.filter(({ connector }) => used.has(connector))
}

function matching(query: Call<'list_tools'>['query']): (offer: Offer) => boolean {
  const names = query['filter.tool_name'] ?? []
  const provider = query['filter.provider']
  const text = query['filter.query']?.toLowerCase()
  return ({ connector, tool }) =>
    (names.length === 0 || names.includes(tool.name)) &&
    (!provider || provider === connector.connector) &&
    (!text || [tool.name, tool.display_name, tool.description].some((value) => value.toLowerCase().includes(text)))
}

function chosen(query: Call<'list_scoped_tools' | 'list_available_tools'>['query']): (offer: Offer) => boolean {
  const sets = [query['filter.providers'], query['filter.tool_names'], query['filter.connection_names']]
  return ({ connector, tool }) => {
    const values = [connector.connector, tool.name, connector.connector]
    return sets.every((set, at) => !set?.length || set.includes(values[at] ?? ''))
  }
}

function accountsWhere(environment: Environment, filter: AccountFilter): readonly Account[] {
  return environment.model.accountIndex.page(filter, { after: 0 }, Number.MAX_SAFE_INTEGER).rows
}

/** An item of a list with its position, which page tokens name: it grows from item to item and never changes. */
interface Positioned<T> {
  readonly position: number
  readonly item: T
}

/** The distance between the positions of two connectors: more than any connector has tools. */
const POSITIONS_PER_CONNECTOR = 100_000

function positionedTools(environment: Environment, connectors: readonly Connector[]): Positioned<Offer>[] {
  const chosen = new Map(connectors.map((connector) => [connector.connector, connector]))
  return [...environment.model.tables.connections.placed()].flatMap(([position, { key_id }]) => {
    const connector = chosen.get(key_id)
    return connector
      ? toolsOf(connector).map((item, at) => ({ position: position * POSITIONS_PER_CONNECTOR + at, item }))
      : []
  })
}

/** One page of a list that is short enough to scan. Positions in tokens begin with 1 (G4). */
function slice<T>(
  list: readonly Positioned<T>[],
  binding: Binding,
  { size, token }: { size: number | undefined; token: string | undefined },
) {
  const from: Position = token ? decodePageToken(token, binding) : { after: 0 }
  const length = size || 10
  const isForward = 'after' in from
  const border = isForward ? from.after : from.before - 1
  const passed = list.filter(({ position }) => position < border).length
  const start = isForward ? passed : Math.max(0, passed - length)
  const end = isForward ? Math.min(list.length, passed + length) : passed
  // Deletes may have left no item on this side of the position. Then the page is empty and both tokens start from there.
  const [first = border, last = border - 1] = [list[start]?.position, list[end - 1]?.position]
  return {
    items: list.slice(start, end).map(({ item }) => item),
    next_page_token: end < list.length ? encodePageToken({ after: last + 1 }, binding) : '',
    prev_page_token: start > 0 ? encodePageToken({ before: first + 1 }, binding) : '',
    total_size: list.length,
  }
}
