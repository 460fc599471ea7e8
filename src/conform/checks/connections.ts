import { CONNECTION_TYPES } from '../../domain/authorization-type.ts'
import type { JsonObject } from '../../domain/json.ts'
import { must, same, textOf } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import type { Query } from '../target.ts'

const TEXTS = ['id', 'key_id', 'organization_id', 'organization_name', 'provider', 'provider_key', 'status', 'type']

/** GET /connections (4.10, 2.5). */
export const CONNECTION_CHECKS = checksOf('list_connections', [
  check('listed', 'connections are listed', 'document:4.10', async (context) => {
    await connections(context)
  }),
  check('fields', 'every connection has the fields of a connection', 'document:2.5', async (context) => {
    for (const connection of await connections(context)) {
      for (const field of TEXTS) same(typeof connection[field], 'string', `the type of ${field}`)
      same(typeof connection['enabled'], 'boolean', 'the type of enabled')
      same(Array.isArray(connection['domains']), true, 'whether domains is an array')
      same(typeof connection['mcp_server_url'], 'string', 'the type of mcp_server_url')
    }
  }),
  check('type', 'every type is one of the enumeration', 'document:2.5', async (context) => {
    const types: readonly unknown[] = CONNECTION_TYPES
    for (const { type } of await connections(context)) must(types.includes(type), 'a type of a connection', type)
  }),
  check('status', 'every status is DRAFT, IN_PROGRESS or COMPLETED', 'document:2.5', async (context) => {
    for (const { status } of await connections(context))
      must(['DRAFT', 'IN_PROGRESS', 'COMPLETED'].includes(textOf(status)), 'a status of a connection', status)
  }),
  check('provider', 'every provider is an upper-case name', 'document:2.5', async (context) => {
    for (const { provider } of await connections(context))
      must(/^[A-Z][A-Z0-9_]*$/.test(textOf(provider)), 'an upper-case name', provider)
  }),
  check('custom', 'the connection of a connector has the provider CUSTOM', 'choice:G41', async (context) => {
    const { name } = await context.catalog.main()
    const found = (await connections(context)).find((each) => each['key_id'] === name)
    same(found?.['provider'], 'CUSTOM', 'the provider of the connection')
  }),
  check(
    'of-organization',
    'organization_id leaves the connections of one organization',
    'convention:Discovery',
    async (context) => {
      const all = await connections(context)
      for (const organization_id of new Set([
        'nobody-has-this',
        ...all.map((each) => textOf(each['organization_id'])),
      ])) {
        const expected = all.filter((each) => organization_id === '' || each['organization_id'] === organization_id)
        same(idsOf(await connections(context, { organization_id })), idsOf(expected), 'the ids')
      }
    },
  ),
  check('of-domain', 'domain leaves the connections with that domain', 'convention:Discovery', async (context) => {
    const all = await connections(context)
    const domains = (each: JsonObject): unknown[] => (Array.isArray(each['domains']) ? each['domains'] : [])
    for (const domain of new Set(['nobody-has-this.example', ...all.flatMap(domains).map(String)])) {
      const expected = all.filter((each) => domains(each).includes(domain))
      same(idsOf(await connections(context, { domain })), idsOf(expected), 'the ids')
    }
  }),
  check('unique', 'ids and key ids are unique', 'document:2.5', async (context) => {
    const all = await connections(context)
    for (const field of ['id', 'key_id'])
      same(new Set(all.map((each) => each[field])).size, all.length, `how many different ${field}`)
  }),
  check('of-account', 'connection_id of an account is the id of a connection', 'document:2.1', async (context) => {
    const { created, connector } = await context.shared('account', (fresh) => fresh.active())
    const id = created.at('connected_account.connection_id')
    const found = (await connections(context)).find((each) => each['id'] === id)
    same(found?.['key_id'], connector, 'the key_id of the connection of an account')
  }),
  check('stable', 'the order stays from one list to the next', 'choice:G42', async (context) => {
    const ids = async () => (await connections(context)).map((each) => textOf(each['id']))
    same(await ids(), await ids(), 'the order of connections')
  }),
  check('disabled', 'a disabled connection refuses tools and links with a 400', 'choice:States', async (context) => {
    const { environment, own } = await context.ownEnvironment()
    const account = await own.active()
    const tool = await own.catalog.tool(account.connector, () => true, 'at all')
    await environment.connectionEvent(account.connector, 'disable')
    const body = { connected_account_id: account.id, tool_name: tool.name, tool_input: {} }
    ;(await own.api.post('/execute_tool', body)).is(400).has('code', 9)
    ;(await own.link({ id: account.id })).is(400)
  }),
])

async function connections({ api }: CheckContext, query: Query = {}): Promise<JsonObject[]> {
  return (await api.get('/connections', query)).is(200).objects('connections')
}

function idsOf(list: readonly JsonObject[]): string[] {
  return list.map((each) => textOf(each['id']))
}

function check(name: string, title: string, basis: CheckBasis, run: CheckEntry['run']): CheckEntry {
  return { id: `connections/${name}`, title, basis, run }
}
