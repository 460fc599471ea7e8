import { type JsonObject, jsonText, type JsonValue, ownMember, parsedJson } from '../../../model/domain/json.ts'
import { valueAt } from '../../../model/domain/value-match.ts'
import { type Check, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { must, equal, mcpMessage, ServiceResponse } from '../service-response.ts'
import { eachOnce } from './discovery.ts'
import { activeWithoutScope, createConfig } from './mcp.ts'

const INSTANCES = '/mcp/instances'

/** Instances of MCP configs. A target that does not serve them is not judged by them. */
export const MCP_INSTANCE_CHECKS: readonly Check[] = [
  ...checksOf('mcp', 'list_mcp_instances', {
    'instance-pages (convention:G67): page tokens lead through every instance once': async (context) => {
      const { body } = await ensureInstance(context)
      for (const name of ['second', 'third']) await ensureInstance(context, { ...body, name })
      await eachOnce(context, INSTANCES, 'instances', { page_size: 2 }, 'id')
    },
    'instance-filters (convention:G67): instances are listed by id, name, config and user': async (context) => {
      const { id, body } = await ensureInstance(context, { name: context.resources.name('instance') })
      const { name, config_name, user_identifier } = body
      await ensureInstance(context, { ...body, name: 'other' })
      await ensureInstance(context)
      const ids = async (query: Record<string, string>) =>
        (await context.api.get(INSTANCES, query))
          .is(200)
          .objects('instances')
          .map((each) => ownMember(each, 'id'))
      equal(await ids({ 'filter.id': id }), [id], 'the instances of the id')
      equal(await ids({ 'filter.name': name }), [id], 'the instances of the name')
      equal((await ids({ 'filter.config_name': config_name })).length, 2, 'the instances of the config')
      equal((await ids({ 'filter.user_identifier': user_identifier })).length, 2, 'the instances of the user')
      must((await ids({ search: name })).includes(id), 'the instance that is searched for', id)
    },
    'instance-page-size (convention:G67): page_size of instances is at most 30': async (context) => {
      await ensureInstance(context)
      ;(await context.api.get(INSTANCES, { page_size: 30 })).is(200)
      ;(await context.api.get(INSTANCES, { page_size: 31 })).is(400)
    },
  }),
  ...checksOf('mcp', 'ensure_mcp_instance', {
    'instance (convention:G67): an instance has an id, its config, its user and a URL': async (context) => {
      const { id, body, response } = await ensureInstance(context)
      must(id.startsWith('inst_'), 'an id of inst_', id)
      response.has('instance.config.name', body.config_name).has('instance.user_identifier', body.user_identifier)
      must(response.string('instance.url') !== '', 'a URL', response.text)
      must(response.string('instance.last_used_at').startsWith('0001-'), 'the zero of a time', response.text)
    },
    'instance-again (convention:G67): the same config, name and user are the same instance': async (context) => {
      const { id, body } = await ensureInstance(context, { name: 'one' })
      equal((await ensureInstance(context, body)).id, id, 'the id')
      must((await ensureInstance(context, { ...body, name: 'two' })).id !== id, 'another id', id)
    },
    'instance-config (convention:G67): an instance of an unknown config is a 400': async (context) => {
      const { body } = await ensureInstance(context)
      ;(await context.api.post(INSTANCES, { ...body, config_name: 'nobody-knows' })).is(400)
    },
    'instance-url (convention:G67): its URL works without a token': async (context) => {
      const { response } = await ensureInstance(context)
      const list = await callInSession(context, response.string('instance.url'), 'tools/list')
      must(list.is(200).text.includes('"tools"'), 'a list of tools', list.text)
    },
  }),
  ...checksOf('mcp', null, {
    'initialize (convention:G61): initialize answers with the revision that it was asked for, and has tools': async (
      context,
    ) => {
      const response = await initialize(context, (await ensureInstance(context)).response.string('instance.url'))
      response.has('result.protocolVersion', REVISION).object('result.capabilities.tools')
    },
    'call (convention:G61): tools/call answers the data of execute_tool, and the same as text': async (context) => {
      const account = await activeWithoutScope(context)
      const tool = await context.catalog.tool(account.connector, 'without required input')
      const { data } = (await context.execute(account, tool)).is(200).json as JsonObject
      const { response } = await ensureInstance(context, { user_identifier: account.identifier })
      const result = await callInstanceTool(context, response.string('instance.url'), tool.name)
      equal(Object.keys(result.object('result.structuredContent')), Object.keys(data as JsonObject), 'the fields')
      equal(parsedJson(result.string('result.content.0.text')), result.at('result.structuredContent'), 'the text')
    },
    'call-refused (choice:G61): a call that is refused is a result with isError and the error': async (context) => {
      const { response } = await ensureInstance(context)
      const result = await callInstanceTool(context, response.string('instance.url'), 'nobody_has_this_tool')
      result.has('result.isError', true)
      const error_code = valueAt(parsedJson(result.string('result.content.0.text')), 'details.0.error_code')
      equal(error_code, 'TOOL_NOT_FOUND', 'the error_code')
    },
    'unknown-method (convention:G61): an unknown method is the protocol error -32601': async (context) => {
      const { response } = await ensureInstance(context)
      const answer = await callInSession(context, response.string('instance.url'), 'nobody/has-this')
      answer.has('error.code', -32601)
    },
    'tool-pages (convention:G61): pages of tools/list lead through every tool once': async (context) => {
      const isolated = await context.ownEnvironment({ settings: { mcp: { page_size: 1 } } })
      const { response } = await ensureInstance(isolated)
      const names: unknown[] = []
      for (let cursor: JsonValue | undefined; names.length === 0 || cursor !== undefined;) {
        const params = cursor === undefined ? {} : { cursor }
        const list = await callServer(isolated, response.string('instance.url'), 'tools/list', params)
        const tools = list.objects('result.tools')
        equal(tools.length, 1, 'the number of tools of a page')
        names.push(ownMember(tools[0] ?? {}, 'name'))
        cursor = list.at('result.nextCursor')
      }
      const { name } = await isolated.catalog.main()
      const expected = (await isolated.catalog.toolsOf(name)).map((tool) => tool.name)
      equal(names.toSorted(), expected.toSorted(), 'the tools of the pages')
    },
    'session (convention:G61): a session begins with initialize, is needed, and ends by DELETE': async (context) => {
      const isolated = await context.ownEnvironment({ settings: { mcp: { sessions: true } } })
      const url = (await ensureInstance(isolated)).response.string('instance.url')
      const session = await sessionHeaders(isolated, url)
      must(session['Mcp-Session-Id'] !== undefined, 'a session', url)
      const list = (headers: Record<string, string>) => callServer(isolated, url, 'tools/list', {}, headers)
      ;(await list(session)).is(200)
      ;(await list({})).is(400)
      ;(await list({ 'Mcp-Session-Id': 'nobody-has-this' })).is(404)
      ;(await isolated.api.target.send({ method: 'DELETE', path: new URL(url).pathname, headers: session })).is(200)
      ;(await list(session)).is(404)
    },
  }),
  ...checksOf('mcp', 'get_mcp_instance', {
    'instance-get (convention:G67): an instance is read as it was created': async (context) => {
      const { id, response } = await ensureInstance(context)
      ;(await context.api.get(`${INSTANCES}/${id}`)).is(200).has('instance', response.at('instance'))
    },
    'instance-missing (convention:G67): an unknown instance is a 404': async (context) => {
      await ensureInstance(context)
      ;(await context.api.get(`${INSTANCES}/inst_0`)).is(404)
    },
  }),
  ...checksOf('mcp', 'update_mcp_instance', {
    'instance-rename (convention:G67): an instance is renamed and keeps id and URL': async (context) => {
      const { id, response } = await ensureInstance(context)
      const renamed = (await patchInstance(context, id, { name: 'renamed' })).is(200)
      renamed.has('instance.id', id).has('instance.name', 'renamed')
      renamed.has('instance.url', response.at('instance.url'))
    },
    'instance-move (convention:G67): an instance gets the connections of another config': async (context) => {
      const { id } = await ensureInstance(context)
      const { name } = await createConfig(context, { connection_tool_mappings: [] })
      const moved = (await patchInstance(context, id, { config_name: name })).is(200)
      moved.has('instance.config.name', name).has('instance.config.connection_tool_mappings', [])
    },
  }),
  ...checksOf('mcp', 'delete_mcp_instance', {
    'instance-delete (convention:G67): a deleted instance is a 404, and so is its URL': async (context) => {
      const { id, response } = await ensureInstance(context)
      ;(await context.api.delete(`${INSTANCES}/${id}`)).is(200)
      ;(await context.api.get(`${INSTANCES}/${id}`)).is(404)
      ;(await callServer(context, response.string('instance.url'), 'tools/list')).is(404)
    },
    'instance-config-delete (convention:G67): an instance ends with its config': async (context) => {
      const { id, response } = await ensureInstance(context)
      ;(await context.api.delete(`/mcp/configs/${response.string('instance.config.id')}`)).is(200)
      ;(await context.api.get(`${INSTANCES}/${id}`)).is(404)
    },
  }),
  ...checksOf('mcp', 'get_mcp_instance_auth_state', {
    'auth-state (convention:G67): the states of an instance name the account of its user, and make nothing': async (
      context,
    ) => {
      const fresh = await authState(context, (await ensureInstance(context)).id)
      equal(fresh.at('connections.0.connected_account_id') || '', '', 'the account of a new user')
      const account = await activeWithoutScope(context)
      const { id } = await ensureInstance(context, { user_identifier: account.identifier })
      const response = await authState(context, id)
      response.has('connections.0.connected_account_id', account.id)
      response.has('connections.0.connected_account_status', 'ACTIVE')
      equal(response.at('connections.0.authentication_link') || '', '', 'the link')
    },
    'auth-state-links (convention:G67): with include_auth_links a missing account is made and has a link': async (
      context,
    ) => {
      const response = await authState(context, (await ensureInstance(context)).id, '?include_auth_links=true')
      response.string('connections.0.connected_account_id')
      response.string('connections.0.authentication_link')
    },
  }),
]

/** An instance of a new config for a new user, unless the body names others. @throws Skipped */
async function ensureInstance(context: CheckContext, fields: Partial<Record<string, string>> = {}) {
  const config_name = fields['config_name'] ?? (await createConfig(context)).name
  const body = { user_identifier: context.resources.identifier(), ...fields, config_name } as Record<
    'config_name' | 'user_identifier' | 'name',
    string
  >
  const response = (await context.api.post(INSTANCES, body)).servedBy('instances of MCP').is(200)
  return { id: response.string('instance.id'), body, response }
}

function patchInstance({ api }: CheckContext, id: string, body: JsonObject): Promise<ServiceResponse> {
  return api.send('PATCH', `${INSTANCES}/${id}`, JSON.stringify(body))
}

async function authState({ api }: CheckContext, id: string, query = ''): Promise<ServiceResponse> {
  return (await api.send('POST', `${INSTANCES}/${id}:get_auth_state${query}`)).is(200)
}

const REVISION = '2025-06-18'

function initialize(context: CheckContext, url: string): Promise<ServiceResponse> {
  const clientInfo = { name: 'conform', version: '1' }
  return callServer(context, url, 'initialize', { protocolVersion: REVISION, capabilities: {}, clientInfo })
}

async function callInstanceTool(context: CheckContext, url: string, name: string): Promise<ServiceResponse> {
  return (await callInSession(context, url, 'tools/call', { name, arguments: {} })).is(200)
}

/** As a client does: a server that has sessions is called in one. */
async function callInSession(context: CheckContext, url: string, method: string, params: JsonObject = {}) {
  return callServer(context, url, method, params, await sessionHeaders(context, url))
}

async function sessionHeaders(context: CheckContext, url: string): Promise<Record<string, string>> {
  const session = (await initialize(context, url)).is(200).headers['mcp-session-id']
  return session === undefined ? {} : { 'Mcp-Session-Id': [session].flat().join() }
}

/** What the server at a URL answers to a client that sends no token; a message that is an event stands for the answer. */
async function callServer(
  { api }: CheckContext,
  url: string,
  method: string,
  params: JsonObject = {},
  session: Record<string, string> = {},
): Promise<ServiceResponse> {
  const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { ...accept, ...session }
  const response = await api.target.send({ method: 'POST', path: new URL(url).pathname, headers, body })
  const message = mcpMessage(response.text)
  return message ? new ServiceResponse(response.asked, response.status, response.headers, jsonText(message)) : response
}
