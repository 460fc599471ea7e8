import { type JsonObject, ownMember } from '../../../model/domain/json.ts'
import { type ServiceResponse, must, equal } from '../service-response.ts'
import { type Check, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { eachOnce } from './discovery.ts'

const CONFIGS = '/mcp/configs'

/** Configs of MCP servers and session tokens. A target that does not serve them is not judged by them. */
export const MCP_CHECKS: readonly Check[] = [
  ...checksOf('mcp', 'list_mcp_configs', {
    'list-pages (convention:G67): page tokens lead through every config once': async (context) => {
      for (let count = 0; count < 3; count += 1) await createConfig(context)
      await eachOnce(context, CONFIGS, 'configs', { page_size: 2 }, 'id')
    },
    'list-page-size (convention:G67): page_size is 0 to 30': async (context) => {
      for (const page_size of [0, 30]) await servedResponse(context.api.get(CONFIGS, { page_size }))
      ;(await context.api.get(CONFIGS, { page_size: 31 })).is(400)
    },
    'list-name (convention:G67): filter.name is the whole name in any case, search a part of it': async (context) => {
      const { id, name } = await createConfig(context)
      const configs = async (query: Record<string, string>) =>
        (await servedResponse(context.api.get(CONFIGS, query))).objects('configs').map((each) => ownMember(each, 'id'))
      equal(await configs({ 'filter.name': name.toUpperCase() }), [id], 'the configs of the name')
      equal(await configs({ 'filter.name': name.slice(0, -1) }), [], 'the configs of a part of the name')
      must((await configs({ search: name })).includes(id), 'the config that is searched for', id)
    },
  }),
  ...checksOf('mcp', 'create_mcp_config', {
    'create (convention:G67): a config has an id, its name, its connections and a URL': async (context) => {
      const { name, response } = await createConfig(context)
      response.has('config.name', name)
      must(/^cfg_\d+$/.test(response.string('config.id')), 'an id of cfg_ and digits', response.at('config.id'))
      response.has('config.connection_tool_mappings.0.connection_name', (await context.catalog.main()).name)
      must(response.at('config.mcp_server_url') !== undefined, 'a URL', response.text)
    },
    'create-duplicate (convention:G67): a name that is in use is a 400 DUPLICATE_IDENTIFIER': async (context) => {
      const { name } = await createConfig(context)
      const again = (await context.api.post(CONFIGS, { name })).is(400)
      again.has('details.0.error_code', 'DUPLICATE_IDENTIFIER')
    },
    'create-name (convention:G67): a name of capitals is a 400': async (context) => {
      await createConfig(context)
      ;(await context.api.post(CONFIGS, { name: 'Capitals' })).is(400)
    },
  }),
  ...checksOf('mcp', 'get_mcp_config', {
    'get (convention:G67): a config is read as it was created': async (context) => {
      const { id, response } = await createConfig(context)
      ;(await context.api.get(`${CONFIGS}/${id}`)).is(200).has('config', response.at('config'))
    },
    'get-missing (convention:G67): an unknown config is a 404': async (context) => {
      await createConfig(context)
      ;(await context.api.get(`${CONFIGS}/cfg_0`)).is(404)
    },
  }),
  ...checksOf('mcp', 'update_mcp_config', {
    'update-tools (convention:G67): an update replaces the tools in their order and keeps id and name': async (
      context,
    ) => {
      const { id, name } = await createConfig(context)
      const { name: connection_name } = await context.catalog.main()
      const listed = (await context.catalog.toolsOf(connection_name)).slice(0, 2)
      const tools = listed.map((tool) => tool.name).toReversed()
      const changes = { connection_tool_mappings: [{ connection_name, tools }] }
      const response = (await context.api.put(`${CONFIGS}/${id}`, changes)).is(200)
      response.has('config.connection_tool_mappings.0.tools', tools).has('config.id', id).has('config.name', name)
    },
    'update-description (convention:G67): an update without mappings keeps them': async (context) => {
      const { id, response } = await createConfig(context)
      const changed = (await context.api.put(`${CONFIGS}/${id}`, { description: 'conform' })).is(200)
      changed.has('config.description', 'conform')
      changed.has('config.connection_tool_mappings', response.at('config.connection_tool_mappings'))
    },
  }),
  ...checksOf('mcp', 'delete_mcp_config', {
    'delete (convention:G67): a deleted config is a 404, and its name is free': async (context) => {
      const { id, name } = await createConfig(context)
      ;(await context.api.delete(`${CONFIGS}/${id}`)).is(200)
      ;(await context.api.get(`${CONFIGS}/${id}`)).is(404)
      await createConfig(context, { name })
    },
  }),
  ...checksOf('mcp', 'list_mcp_connected_accounts', {
    'states (convention:G67): the states name the account of a user, and make nothing': async (context) => {
      const { id } = await createConfig(context)
      const identifier = context.resources.identifier()
      const none = await readAccountStates(context, id, { identifier })
      equal(none.at('connected_accounts.0.connected_account_id') || '', '', 'the account of a new user')
      equal(
        (await readAccountStates(context, id, { identifier })).at('connected_accounts.0.connected_account_id') || '',
        '',
        'it',
      )
      const account = await activeWithoutScope(context)
      const response = await readAccountStates(context, id, { identifier: account.identifier })
      response.has('connected_accounts.0.connected_account_id', account.id)
      response.has('connected_accounts.0.connected_account_status', 'ACTIVE')
      equal(response.at('connected_accounts.0.authentication_link') || '', '', 'the link')
    },
    'states-links (convention:G67): with include_auth_link a missing account is made and has a link': async (
      context,
    ) => {
      const { id } = await createConfig(context)
      const identifier = context.resources.identifier()
      const response = await readAccountStates(context, id, { identifier, include_auth_link: true })
      response.string('connected_accounts.0.connected_account_id')
      response.string('connected_accounts.0.authentication_link')
    },
  }),
  ...checksOf('mcp', 'create_mcp_config_token', {
    'token (convention:G67): a user with an active account has a token for an hour': async (context) => {
      const { id } = await createConfig(context)
      const { identifier } = await activeWithoutScope(context)
      const response = (await context.api.post(`${CONFIGS}/${id}/tokens`, { identifier })).is(200)
      const parts = response.string('token').split('.')
      equal(parts.length, 3, 'the parts of the token')
      const claims = Buffer.from(parts[1] ?? '', 'base64url').toString()
      const { iat, exp } = JSON.parse(claims) as { iat: number; exp: number }
      equal(exp - iat, 3600, 'the lifetime in the token')
      const expires = response.string('expires_at')
      must(Math.abs(Date.parse(expires) - exp * 1000) < 2000, 'that expiry', expires)
    },
    'token-inactive (convention:G67): a user without an active account has no token: a 400 with code 9': async (
      context,
    ) => {
      const { id } = await createConfig(context)
      const identifier = context.resources.identifier()
      ;(await context.api.post(`${CONFIGS}/${id}/tokens`, { identifier })).is(400).has('code', 9)
    },
    'token-empty (convention:G67): a config without connections has no token: a 400 with code 9': async (context) => {
      const { id } = await createConfig(context, { connection_tool_mappings: [] })
      const { identifier } = await activeWithoutScope(context)
      ;(await context.api.post(`${CONFIGS}/${id}/tokens`, { identifier })).is(400).has('code', 9)
    },
    'token-missing (convention:G67): an unknown config has no token: a 404': async (context) => {
      await createConfig(context)
      const body = { identifier: context.resources.identifier() }
      ;(await context.api.post(`${CONFIGS}/cfg_0/tokens`, body)).is(404)
    },
    'token-target (convention:G67): a body that names a config or a connection too is a 400': async (context) => {
      const { id } = await createConfig(context)
      const { identifier } = await activeWithoutScope(context)
      for (const more of [{ mcp_config_id: id }, { key_id: (await context.catalog.main()).name }]) {
        ;(await context.api.post(`${CONFIGS}/${id}/tokens`, { identifier, ...more })).is(400).has('code', 3)
        ;(await connectionToken(context, more)).is(400).has('code', 3)
      }
    },
  }),
  ...checksOf('mcp', 'create_mcp_connection_token', {
    'connection-token (convention:G67): a new user of a connection has a token': async (context) => {
      const response = await connectionToken(context)
      response.is(200).string('token')
      must(Date.parse(response.string('expires_at')) > 0, 'a time', response.at('expires_at'))
    },
    'connection-token-missing (convention:G67): an unknown connection is a 404': async (context) => {
      await createConfig(context)
      const body = { identifier: context.resources.identifier() }
      ;(await context.api.post('/mcp/connections/nobody-knows/tokens', body)).is(404)
    },
    'token-expiry (convention:G67): a token lives for a minute at least and for a day at most': async (context) => {
      for (const expiry of ['60s', '86400s']) (await connectionToken(context, { expiry })).is(200)
      for (const expiry of ['59s', '86401s', '1h']) (await connectionToken(context, { expiry })).is(400)
    },
    'token-access-level (convention:G67): an access level is FULL or READ_ONLY': async (context) => {
      for (const access_level of ['', 'FULL', 'READ_ONLY']) (await connectionToken(context, { access_level })).is(200)
      ;(await connectionToken(context, { access_level: 'read_only' })).is(400)
    },
  }),
]

/** A config of the main connector, unless the body names other fields. @throws Skipped */
export async function createConfig(context: CheckContext, body: JsonObject = {}) {
  const { resources, catalog, api } = context
  const label = resources.name('config').toLowerCase()
  const name = label.replaceAll(/[^a-z\d_-]/g, '-')
  const connection_tool_mappings = [{ connection_name: (await catalog.main()).name }]
  const response = await servedResponse(api.post(CONFIGS, { name, connection_tool_mappings, ...body }))
  const id = response.is(201).string('config.id')
  resources.addAt(`${CONFIGS}/${id}`)
  return { id, name, response }
}

function readAccountStates({ api }: CheckContext, id: string, body: JsonObject): Promise<ServiceResponse> {
  return servedResponse(api.post(`${CONFIGS}/${id}/connected_accounts`, body))
}

/** A token of a new user for the main connector. @throws Skipped */
async function connectionToken(
  { api, catalog, resources }: CheckContext,
  body: JsonObject = {},
): Promise<ServiceResponse> {
  const path = `/mcp/connections/${encodeURIComponent((await catalog.main()).name)}/tokens`
  return servedResponse(api.post(path, { identifier: resources.identifier(), ...body }))
}

/** The identifier alone finds its account. */
export function activeWithoutScope(context: CheckContext) {
  return context.shared('account without a scope', (fresh) => fresh.active({ organization_id: '' }))
}

/** @throws Skipped when the target serves no calls of MCP */
async function servedResponse(asked: Promise<ServiceResponse>): Promise<ServiceResponse> {
  return (await asked).servedBy('configs of MCP')
}
