import type { Account } from '../../model/domain/account.ts'
import { ServiceError } from '../../model/domain/errors.ts'
import { foldCase } from '../../model/domain/fold-case.ts'
import { type Connector, providerOf, type Tool } from '../../model/domain/connector.ts'
import { providerView } from '../../model/domain/provider.ts'
import { instant } from '../../model/domain/instant.ts'
import { indexOfText, quote } from '../../model/domain/text.ts'
import type { Environment } from '../../state/environment.ts'
import { accountFilter } from './accounts.ts'
import { isEnabled, isOfAccounts, withServerUrl } from './connections.ts'
import type { Call, Reply } from './operation.ts'
import { pageOfList, type Positioned, positionedRows } from './paging.ts'

/** GET /tools: the tools of every connector, or of the connectors whose accounts match the filter. */
export function listTools({ environment, query }: Call<'list_tools'>): Reply {
  const [matches, isUsed] = [toolFilter(query), connectionFilter(environment, query)]
  const tools = toolsAt(environment, (each) => isUsed(each.connection) && matches(each))
  const { items, ...pageFields } = pageOfList(environment, 'tools', tools, query)
  const listed = query['filter.summary']
    ? { tool_names: items.map(({ tool }) => tool.name) }
    : { tools: items.map((item) => toolView(environment, item)) }
  return { status: 200, body: { ...listed, ...pageFields } }
}

/** GET /tools/scoped: the tools that the identifier's active accounts can run, which those of disabled connections are not. */
export function listScopedTools({ environment, query }: Call<'list_scoped_tools'>): Reply {
  const { identifier } = query
  const matches = offerFilter(query)
  const tools = usableAccounts(environment, identifier).flatMap((account) => {
    const connector = environment.connector(account.connector)
    const all = connector ? toolsFrom(account.sequence, account.connector, connector) : []
    return all
      .filter(({ item }) => matches(item))
      .map(({ position, item }) => ({ position, item: { ...item, account } }))
  })
  const { items, ...pageFields } = pageOfList(environment, 'scoped tools', tools, query)
  const views = items.map((item) => ({
    tool: toolView(environment, item),
    identifier,
    connected_account_id: item.account.id,
  }))
  return { status: 200, body: { tools: views, ...pageFields } }
}

/** GET /tools/available: the tools that the active accounts of the identifier can run. @throws ServiceError ACCOUNT_NOT_FOUND */
export function listAvailableTools({ environment, query }: Call<'list_available_tools'>): Reply {
  const { identifier } = query
  const matches = offerFilter(query)
  if (environment.model.accountIndex.where({ identifier }).length === 0)
    throw new ServiceError('ACCOUNT_NOT_FOUND', `the identifier ${quote(identifier)} has no connected account`)
  const connections = new Set(usableAccounts(environment, identifier).map(({ connector }) => connector))
  const tools = toolsAt(environment, (each) => connections.has(each.connection) && matches(each))
  const { items, ...pageFields } = pageOfList(environment, 'available tools', tools, query)
  return { status: 200, body: { tools: items.map((item) => toolView(environment, item)), ...pageFields } }
}

/** The accounts of an identifier that can run tools: active ones, but for those of disabled connections. */
function usableAccounts(environment: Environment, identifier: string): Account[] {
  const accounts = environment.model.accountIndex.where({ identifier })
  return accounts.filter(({ status, connector }) => status === 'ACTIVE' && isEnabled(environment, connector))
}

/** GET /providers: custom ones and those of the connectors, in creation order. */
export function listProviders({ environment, query }: Call<'list_providers'>): Reply {
  const { 'filter.provider_type': type, 'filter.identifier': identifier } = query
  const providers = positionedRows(environment.model.tables.providers).filter(
    ({ item }) => (!type || item.is_custom === (type === 'CUSTOM')) && (!identifier || item.identifier === identifier),
  )
  const { items, ...pageFields } = pageOfList(environment, 'providers', providers, query)
  return { status: 200, body: { providers: items.map(providerView), ...pageFields } }
}

/** GET /connections/app: the connections of account types, a page at a time. */
export function listAppConnections(call: Call<'list_app_connections'>): Reply {
  const { environment, query } = call
  const connections = positionedRows(environment.model.tables.connections).filter(
    ({ item }) => isOfAccounts(item) && (!query.provider || item.provider === query.provider),
  )
  const { items, ...pageFields } = pageOfList(environment, 'connections', connections, query)
  return { status: 200, body: { connections: items.map((item) => withServerUrl(call, item)), ...pageFields } }
}

interface ConnectorTool {
  /** The `key_id` of a connection of the connector. */
  connection: string
  connector: Connector
  tool: Tool
}

/** The distance between the positions of two connectors or accounts: more than any connector has tools. */
const POSITIONS_BETWEEN = 100_000

/** The tools of a connector, of which a connection or an account is at a position of its own list. */
function toolsFrom(position: number, connection: string, connector: Connector): Positioned<ConnectorTool>[] {
  return connector.tools.map((tool, at) => ({
    position: position * POSITIONS_BETWEEN + at,
    item: { connection, connector, tool },
  }))
}

/** The tools of connections, in the order of these (G42): each tool once, also where its connector has several (G73). */
function toolsAt(environment: Environment, isChosen: (tool: ConnectorTool) => boolean): Positioned<ConnectorTool>[] {
  const listed = new Set<string>()
  return positionedRows(environment.model.tables.connections).flatMap(({ position, item: { key_id } }) => {
    const connector = environment.connector(key_id)
    if (!connector || listed.has(connector.connector)) return []
    const tools = toolsFrom(position, key_id, connector).filter(({ item }) => isChosen(item))
    if (tools.length > 0) listed.add(connector.connector)
    return tools
  })
}

function toolView(environment: Environment, { connector, tool }: ConnectorTool) {
  return {
    id: `${connector.connector}:${tool.name}`,
    provider: providerOf(connector),
    definition: {
      name: tool.name,
      display_name: tool.display_name,
      description: tool.description,
      input_schema: tool.input_schema,
      output_schema: tool.output_schema ?? {},
      annotations: { read_only_hint: tool.annotations?.read_only_hint ?? false },
    },
    is_default: tool.is_default,
    tags: tool.tags,
    metadata: {},
    updated_at: instant(environment.model.definitions.of(connector.connector)),
  }
}

/** Whether a connection has one of the accounts that a filter names; any has where it names none. */
function connectionFilter(
  environment: Environment,
  query: Call<'list_tools'>['query'],
): (connection: string) => boolean {
  const id = query['filter.connected_account_id']
  const filter = accountFilter({
    connector: query['filter.connector'],
    identifier: query['filter.identifier'],
    organization_id: query['filter.organization_id'],
    user_id: query['filter.user_id'],
  })
  const onlyConnector = Object.keys(filter).every((field) => field === 'connector')
  if (!id && onlyConnector) return (connection) => !filter.connector || filter.connector === connection
  const accounts = environment.model.accountIndex.where(filter).filter((account) => !id || account.id === id)
  const used = new Set(accounts.map(({ connector }) => connector))
  return (connection) => used.has(connection)
}

function toolFilter(query: Call<'list_tools'>['query']): (offer: ConnectorTool) => boolean {
  const names = query['filter.tool_name'] ?? []
  const provider = query['filter.provider']
  const text = foldCase(query['filter.query'] ?? '')
  return ({ connector, tool }) =>
    (names.length === 0 || names.includes(tool.name)) &&
    (!provider || provider === providerOf(connector)) &&
    (!text || [tool.name, tool.display_name, tool.description].some((value) => indexOfText(foldCase(value), text) >= 0))
}

function offerFilter(
  query: Call<'list_scoped_tools' | 'list_available_tools'>['query'],
): (offer: ConnectorTool) => boolean {
  const sets = [query['filter.providers'], query['filter.tool_names'], query['filter.connection_names']]
  return ({ connection, connector, tool }) => {
    const values = [providerOf(connector), tool.name, connection]
    return sets.every((set, at) => !set?.length || set.includes(values[at] ?? ''))
  }
}
