import { isJsonObject, type JsonObject } from '../../../model/domain/json.ts'
import { must, equal } from '../service-response.ts'
import { type CheckRun, checksOf, statusChecks } from '../check.ts'
import type { CheckContext, CreatedAccount, OwnContext } from '../context.ts'
import { credentialsOf, type ListedTool, createBodyStoring } from '../catalog.ts'

const PATH = '/execute_tool'
const NO_TOOL = { name: 'nobody_has_this_tool' }

const answers = statusChecks(({ api }, body: JsonObject) => api.post(PATH, body))

/** POST /execute_tool (4.14). What reaches a third party needs credentials that it takes: those of a toolmock. */
export const EXECUTE_CHECKS = checksOf('execute', 'execute_tool', {
  'result (convention:G43): a tool answers data and an execution id': async (context) => {
    const response = (await executeWithNewAccount(context)).is(200)
    response.object('data')
    const id = response.string('execution_id')
    must(id.startsWith('exec_'), 'an execution id that starts with exec_', id)
  },
  'execution-ids (document:4.14): every execution has an id of its own': async (context) => {
    const [one, second] = [await executeWithNewAccount(context), await executeWithNewAccount(context)]
    must(one.string('execution_id') !== second.string('execution_id'), 'two execution ids', 'one')
  },
  'by-name (document:4.14): the account may be named by organization, connector and identifier': async (context) => {
    const { account, tool } = await accountWithTool(context)
    const { organization_id, connector, identifier } = account
    const body = { organization_id, connector, identifier, tool_name: tool.name, tool_input: {} }
    ;(await context.api.post(PATH, body)).is(200)
  },
  'by-identifier (choice:G21): the account may be named by its identifier alone': async (context) => {
    const { tool } = await accountWithTool(context)
    const { connector, identifier, organization_id } = await context.active()
    const body = { identifier, tool_name: tool.name, tool_input: {} }
    ;(await context.api.post(PATH, body)).is(200)
    ;(await context.api.post(PATH, { ...body, tool_name: 'nobody_has_this_tool' })).is(404)
    ;(await context.api.post(PATH, { ...body, identifier: `nobody.${identifier}` })).is(404)
    await context.active({ connector, identifier })
    ;(await context.api.post(PATH, body)).is(400).has('code', 3)
    ;(await context.api.post(PATH, { ...body, organization_id })).is(200)
  },
  'params (convention:G11): params is another name for tool_input': async (context) => {
    const { account, tool } = await accountWithTool(context)
    const body = { connected_account_id: account.id, tool_name: tool.name, params: {} }
    ;(await context.api.post(PATH, body)).is(200)
    ;(await context.api.post(PATH, { ...body, params: { a: 1 }, tool_input: { a: 2 } })).is(400)
  },
  'agent-run-id (convention:G12): agent_run_id is taken': async (context) => {
    const { account, tool } = await accountWithTool(context)
    const body = { connected_account_id: account.id, tool_name: tool.name, tool_input: {}, agent_run_id: 'run-1' }
    ;(await context.api.post(PATH, body)).is(200)
  },
  'last-used (document:2.1): an execution sets last_used_at': async (context) => {
    const { tool } = await accountWithTool(context)
    const account = await context.active()
    ;(await context.details(account.id)).lacks('connected_account.last_used_at')
    ;(await context.execute(account, tool)).is(200)
    ;(await context.details(account.id)).string('connected_account.last_used_at')
  },
  'after-consent (document:1): an account that was verified executes tools': async (context) => {
    const { tool } = await accountWithTool(context)
    ;(await context.execute(await context.verified(), tool)).is(200)
  },
  'shared-credentials (choice:G65): a deleted account leaves the same credentials of another account valid': async (
    context,
  ) => {
    const { tool } = await accountWithTool(context)
    const stored = createBodyStoring(await context.credentials())
    const [one, second] = [await context.account(stored), await context.account(stored)]
    ;(await context.api.post('/connected_accounts:delete', { id: one.id })).is(200)
    ;(await context.execute(second, tool)).is(200)
  },
  'pending (convention:G44): an account that is PENDING_AUTH is a 400 with code 9': async (context) => {
    const account = await context.account()
    ;(await context.execute(account, await anyTool(context))).is(400).has('code', 9)
  },
  'unverified (document:3.1): an account that is PENDING_VERIFICATION executes nothing': async (context) => {
    const account = await context.account()
    await context.consent(account)
    ;(await context.execute(account, await anyTool(context))).is(400)
  },
  'no-tool-name (convention:G44): no tool_name is a 400': async (context) => {
    const { id } = await context.activeAccount()
    ;(await context.api.post(PATH, { connected_account_id: id, tool_input: {} })).is(400)
  },
  'no-locator (convention:G44): no account is a 400': answers(400, { tool_name: 'any_tool', tool_input: {} }),
  'input-type (document:4.14): tool_input that is no object is a 400': async (context) => {
    const { id } = await context.activeAccount()
    ;(await context.api.post(PATH, { connected_account_id: id, tool_name: 'any_tool', tool_input: [] })).is(400)
  },
  'unknown-account (convention:G44): an unknown account is a 404': async ({ api }) => {
    const body = { connected_account_id: 'ca_nobody_has_this', tool_name: 'any_tool', tool_input: {} }
    ;(await api.post(PATH, body)).is(404)
  },
  'unknown-tool (convention:G44): an unknown tool is a 404': async (context) =>
    (await context.execute(await context.activeAccount(), NO_TOOL)).is(404),
  'hostile-tool (convention:G44): constructor and __proto__ are no tools': async (context) => {
    for (const name of ['constructor', '__proto__', 'toString'])
      (await context.execute(await context.activeAccount(), { name })).is(404)
  },
  'tool-of-other-connector (convention:G44): a tool of another connector is a 404': async (context) => {
    const { name } = await context.catalog.ofType('API_KEY')
    const tool = await context.catalog.tool(name)
    ;(await context.execute(await context.activeAccount(), tool)).is(404)
  },
  'invalid-input (convention:G44): input that lacks what the tool requires is a 400': async (context) => {
    const account = await context.activeAccount()
    const tool = await context.catalog.tool(account.connector, 'with required input')
    ;(await context.execute(account, tool)).is(400).has('code', 3)
  },
  'null-input (convention:G44): null is taken where the schema of the tool has it among the types': async (context) => {
    context.control()
    const { connector, tool } = await context.catalog.nullableTool()
    const credentials = credentialsOf(connector.kind, context.resources.name('cred'))
    // Whichever scopes the tool needs: those of an account that were never said are all.
    const { oauth_token: token } = credentials
    const stored = isJsonObject(token) ? { oauth_token: { ...token, scopes: [] } } : credentials
    const account = await context.account({ connector: connector.name, ...createBodyStoring(stored) })
    const input = Object.fromEntries(tool.nullable.map((name) => [name, null]))
    ;(await context.execute(account, tool, input)).is(200)
  },
  'tool-before-state (convention:G17): an unknown tool is reported before the state of the account': async (context) =>
    (await context.execute(await context.account(), NO_TOOL)).is(404),
  'state-before-input (convention:G17): the state of the account is reported before invalid input': async (context) => {
    const account = await context.account()
    const tool = await context.catalog.tool(account.connector, 'with required input')
    ;(await context.execute(account, tool)).is(400).has('code', 9)
  },
  'shape-before-account (convention:G17): a malformed request is reported before an unknown account': async ({ api }) =>
    (await api.post(PATH, { connected_account_id: 'ca_nobody_has_this', tool_name: 5 })).is(400),
  'refusal-keeps-last-used (document:2.1): a refused execution leaves last_used_at unset': async (context) => {
    const account = await context.active()
    ;(await context.execute(account, NO_TOOL)).is(404)
    ;(await context.details(account.id)).lacks('connected_account.last_used_at')
  },
  'inactive-words (convention:G44): the refusal names the account and says that authorization is needed': async (
    context,
  ) => {
    const account = await context.account()
    const message = (await context.execute(account, await anyTool(context))).is(400).has('code', 9).string('message')
    const words = [`connected_account ${account.id} of connector ${account.connector}`, account.identifier]
    for (const word of [...words, 'is PENDING_AUTH', 'authorization is needed']) {
      must(message.includes(word), `a message with ${word}`, message)
    }
  },
  'rate-limited (convention:G44): a rate limit of the third party is a 429 with Retry-After':
    failingThirdPartyCheck(429),
  'third-party-forbids (convention:G44): a 403 of the third party is a 403': failingThirdPartyCheck(403),
  'third-party-refuses (convention:G44): credentials that the third party refuses are a 401, and EXPIRED':
    failingThirdPartyCheck(401),
  'third-party-fails (convention:G44): a failure of the third party is a 500 with tool_error_info':
    failingThirdPartyCheck(503, 500),
  'list-result (convention:G43): a list that a third party answers is data.array': async (context) => {
    const isolated = await context.ownEnvironment()
    const { account, tool } = await withTool(isolated, { method: 'GET', path: '/list' })
    await isolated.environment.thirdPartyAnswers({ respond: { status: 200, body: [1, 2] } })
    ;(await isolated.execute(account, tool)).is(200).has('data', { array: [1, 2] })
  },
  'third-party-status (convention:G44): the status stands in for a word that the third party does not say': async (
    context,
  ) => {
    const isolated = await context.ownEnvironment()
    const { account, tool } = await accountWithTool(isolated)
    const body = { error: { message: 'not today', code: 1042 } }
    await isolated.environment.thirdPartyAnswers({ respond: { status: 422, body } })
    const response = (await isolated.execute(account, tool)).is(500)
    response.has('details.0.tool_error_info.tool_error_code', '422').has('message', 'tool execution failed - not today')
  },
  'scopes (choice:G71): a token without the scopes of a tool is a 403 insufficient_scope': async (context) => {
    const isolated = await context.ownEnvironment()
    const connector = 'conform'
    const call = { method: 'GET', path: '/scoped' }
    const tool = { name: 'conform_scoped', description: 'Needs a scope', scopes: ['write'], call }
    const oauth = { scopes: ['read', 'write'] }
    const answers = { tools: [tool], responders: [{ on: {}, respond: { body: {} } }] }
    const document = { connector, authorization_type: 'OAUTH', people: ['ada'], oauth, ...answers }
    await isolated.environment.addConnector(document)
    for (const [scopes, status] of [
      [[], 200],
      [['read'], 403],
      [['write'], 200],
    ] as const) {
      const oauth_token = { access_token: isolated.resources.name('token'), scopes: [...scopes] }
      const account = await isolated.account({ connector, ...createBodyStoring({ oauth_token }) })
      const response = (await isolated.execute(account, tool)).is(status)
      if (status === 403) response.has('details.0.tool_error_info.tool_error_code', 'insufficient_scope')
    }
  },
  'connections-of-provider (document:2.1): the tools of a provider work for the accounts of each of its connections':
    async (context) => {
      const isolated = await context.ownEnvironment()
      const { account, tool } = await accountWithTool(isolated)
      const connector = 'conform-second'
      await isolated.environment.addConnection(connector, account.connector)
      const second = await isolated.active({ connector, identifier: account.identifier })
      second.created.has('connected_account.connector', connector)
      second.created.has('connected_account.provider', account.created.at('connected_account.provider'))
      const body = { identifier: account.identifier, tool_name: tool.name, tool_input: {} }
      for (const key of [connector, account.connector]) {
        ;(await isolated.api.post(PATH, { ...body, connector: key })).is(200)
      }
      ;(await isolated.details(second.id)).string('connected_account.last_used_at')
      ;(await isolated.api.post(PATH, body)).is(400).has('code', 3)
    },
  'third-party-unusable (convention:G44): an answer that is no JSON is a 500 unusable_answer': async (context) => {
    const isolated = await context.ownEnvironment()
    const { account, tool } = await accountWithTool(isolated)
    await isolated.environment.thirdPartyAnswers({ malformed_json: {} })
    const response = (await isolated.execute(account, tool)).is(500).has('code', 13)
    response.has('details.0.tool_error_info.tool_error_code', 'unusable_answer')
  },
  'third-party-silent (convention:G44): a third party that does not answer in time is a 504 timeout': async (
    context,
  ) => {
    const isolated = await context.ownEnvironment()
    const { account, tool } = await withTool(isolated, { method: 'GET', path: '/slow', timeout: '100ms' })
    await isolated.environment.thirdPartyAnswers({ timeout: {} })
    const response = (await isolated.execute(account, tool)).is(504).has('code', 4)
    response.has('details.0.tool_error_info.tool_error_code', 'timeout')
  },
})

async function anyTool(context: CheckContext): Promise<ListedTool> {
  return context.catalog.tool((await context.catalog.main()).name)
}

/** An account whose credentials the third party takes, and a tool that needs no input. @throws Skipped */
async function accountWithTool(context: CheckContext): Promise<{ account: CreatedAccount; tool: ListedTool }> {
  context.control()
  const account = await context.activeAccount()
  const tool = await context.catalog.tool(account.connector, 'without required input')
  return { account, tool }
}

/** An account of a connector of its own, with a tool that makes this call. */
async function withTool(isolated: OwnContext, call: JsonObject) {
  const tool = { name: 'conform_tool', description: 'Calls the third party', call }
  await isolated.environment.addConnector({ connector: 'conform', authorization_type: 'NO_AUTH', tools: [tool] })
  return { account: await isolated.account({ connector: 'conform' }), tool }
}

async function executeWithNewAccount(context: CheckContext) {
  const { account, tool } = await accountWithTool(context)
  return context.execute(account, tool)
}

/** The code of an error by its status (G16). */
const CODES: Readonly<Record<number, number>> = { 401: 16, 403: 7, 429: 8, 500: 13 }

/** A third party that answers a status, in an environment of its own. */
function failingThirdPartyCheck(answered: number, status = answered): CheckRun {
  return async (context) => {
    const isolated = await context.ownEnvironment()
    const { account, tool } = await accountWithTool(isolated)
    await isolated.environment.thirdPartyAnswers(answered)
    const response = (await isolated.execute(account, tool)).is(status).has('code', CODES[status])
    response.has('details.0.error_code', 'TOOL_ERROR').has('message', 'tool execution failed - conform')
    for (const field of ['code', 'message']) response.has(`details.0.tool_error_info.tool_error_${field}`, 'conform')
    if (status === 429) response.header('Retry-After', /^\d+$/)
    const after = (await isolated.details(account.id)).string('connected_account.status')
    equal(after, status === 401 ? 'EXPIRED' : 'ACTIVE', 'the status of the account')
    equal(response.string('details.0.tool_error_info.execution_id').startsWith('exec_'), true, 'an execution id')
  }
}
