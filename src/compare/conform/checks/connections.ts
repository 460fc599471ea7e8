import { CONNECTION_TYPES } from '../../../model/domain/authorization-type.ts'
import { type JsonObject, textOf } from '../../../model/domain/json.ts'
import { must, equal } from '../service-response.ts'
import { checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { QueryParameters } from '../target.ts'

const TEXTS = ['id', 'key_id', 'organization_id', 'organization_name', 'provider', 'provider_key', 'status', 'type']

export const CONNECTION_CHECKS = checksOf('connections', 'list_connections', {
  'listed (document:4.10): connections are listed': readConnections,
  'fields (document:2.5): every connection has the fields of a connection': async (context) => {
    for (const connection of await readConnections(context)) {
      for (const field of TEXTS) equal(typeof connection[field], 'string', `the type of ${field}`)
      equal(typeof connection['enabled'], 'boolean', 'the type of enabled')
      equal(Array.isArray(connection['domains']), true, 'whether domains is an array')
      equal(typeof connection['mcp_server_url'], 'string', 'the type of mcp_server_url')
    }
  },
  'type (document:2.5): every type is one of the enumeration': async (context) => {
    const types: readonly unknown[] = CONNECTION_TYPES
    for (const { type } of await readConnections(context)) must(types.includes(type), 'a type of a connection', type)
  },
  'status (document:2.5): every status is DRAFT, IN_PROGRESS or COMPLETED': async (context) => {
    for (const { status } of await readConnections(context))
      must(['DRAFT', 'IN_PROGRESS', 'COMPLETED'].includes(textOf(status)), 'a status of a connection', status)
  },
  'provider (document:2.5): every provider is an upper-case name': async (context) => {
    for (const { provider } of await readConnections(context))
      must(/^[A-Z][A-Z0-9_]*$/.test(textOf(provider)), 'an upper-case name', provider)
  },
  'custom (choice:G41): the connection of a connector has the provider CUSTOM': async (context) => {
    const { name } = await context.catalog.main()
    const connection = (await readConnections(context)).find((each) => each['key_id'] === name)
    equal(connection?.['provider'], 'CUSTOM', 'the provider of the connection')
  },
  'of-organization (convention:Discovery): organization_id leaves the connections of one organization': (context) =>
    checkFilterValues(context, 'organization_id', (each) => [each['organization_id']]),
  'of-domain (convention:Discovery): domain leaves the connections with that domain': (context) =>
    checkFilterValues(context, 'domain', ({ domains }) => (Array.isArray(domains) ? domains : [])),
  'unique (document:2.5): ids and key ids are unique': async (context) => {
    const all = await readConnections(context)
    for (const field of ['id', 'key_id'])
      equal(new Set(all.map((each) => each[field])).size, all.length, `how many different ${field}`)
  },
  'of-account (document:2.1): connection_id of an account is the id of a connection': async (context) => {
    const { created, connector } = await context.activeAccount()
    const id = created.at('connected_account.connection_id')
    const connection = (await readConnections(context)).find((each) => each['id'] === id)
    equal(connection?.['key_id'], connector, 'the key_id of the connection of an account')
  },
  'stable (choice:G42): the order stays from one list to the next': async (context) =>
    equal(
      connectionIds(await readConnections(context)),
      connectionIds(await readConnections(context)),
      'the order of connections',
    ),
  'disabled (choice:States): a disabled connection refuses tools and links with a 400': async (context) => {
    const isolated = await context.ownEnvironment()
    const account = await isolated.active()
    const tool = await isolated.catalog.tool(account.connector)
    await isolated.environment.connectionEvent(account.connector, 'disable')
    ;(await isolated.execute(account, tool)).is(400).has('code', 9)
    ;(await isolated.link({ id: account.id })).is(400)
  },
})

async function readConnections({ api }: CheckContext, query: QueryParameters = {}): Promise<JsonObject[]> {
  return (await api.get('/connections', query)).is(200).objects('connections')
}

function connectionIds(list: readonly JsonObject[]): string[] {
  return list.map((each) => textOf(each['id']))
}

/** Asks with every value of a filter that a connection has, and with one that none has. */
async function checkFilterValues(
  context: CheckContext,
  filter: string,
  valuesOf: (connection: JsonObject) => unknown[],
) {
  const all = await readConnections(context)
  for (const value of new Set(['nobody-has-this.example', ...all.flatMap(valuesOf).map(textOf)])) {
    const expected = all.filter((each) => value === '' || valuesOf(each).includes(value))
    equal(connectionIds(await readConnections(context, { [filter]: value })), connectionIds(expected), 'the ids')
  }
}
