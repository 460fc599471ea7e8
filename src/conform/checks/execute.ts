import { must, same } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import type { ListedTool } from '../catalog.ts'

const PATH = '/execute_tool'

/** POST /execute_tool (4.14). What reaches a third party needs credentials that it takes: those of a toolmock. */
export const EXECUTE_CHECKS = checksOf('execute_tool', [
  check('result', 'a tool answers data and an execution id', 'convention:G43', async (context) => {
    const answer = (await succeed(context)).is(200)
    answer.object('data')
    const id = answer.string('execution_id')
    must(id.startsWith('exec_'), 'an execution id that starts with exec_', id)
  }),
  check('execution-ids', 'every execution has an id of its own', 'document:4.14', async (context) => {
    const [one, other] = [await succeed(context), await succeed(context)]
    must(one.string('execution_id') !== other.string('execution_id'), 'two execution ids', 'one')
  }),
  check(
    'by-name',
    'the account may be named by organization, connector and identifier',
    'document:4.14',
    async (context) => {
      const { account, tool } = await runnable(context)
      const { organization_id, connector, identifier } = account
      const body = { organization_id, connector, identifier, tool_name: tool.name, tool_input: {} }
      ;(await context.api.post(PATH, body)).is(200)
    },
  ),
  check('by-identifier', 'the account may be named by its identifier alone', 'choice:G21', async (context) => {
    const { tool } = await runnable(context)
    const { connector, identifier, organization_id } = await context.active()
    const body = { identifier, tool_name: tool.name, tool_input: {} }
    ;(await context.api.post(PATH, body)).is(200)
    ;(await context.api.post(PATH, { ...body, tool_name: 'nobody_has_this_tool' })).is(404)
    ;(await context.api.post(PATH, { ...body, identifier: `nobody.${identifier}` })).is(404)
    await context.active({ connector, identifier })
    ;(await context.api.post(PATH, body)).is(400).has('code', 3)
    ;(await context.api.post(PATH, { ...body, organization_id })).is(200)
  }),
  check('params', 'params is another name for tool_input', 'convention:G11', async (context) => {
    const { account, tool } = await runnable(context)
    const body = { connected_account_id: account.id, tool_name: tool.name, params: {} }
    ;(await context.api.post(PATH, body)).is(200)
    ;(await context.api.post(PATH, { ...body, params: { a: 1 }, tool_input: { a: 2 } })).is(400)
  }),
  check('agent-run-id', 'agent_run_id is taken', 'convention:G12', async (context) => {
    const { account, tool } = await runnable(context)
    const body = { connected_account_id: account.id, tool_name: tool.name, tool_input: {}, agent_run_id: 'run-1' }
    ;(await context.api.post(PATH, body)).is(200)
  }),
  check('last-used', 'an execution sets last_used_at', 'document:2.1', async (context) => {
    const { tool } = await runnable(context)
    const account = await context.active()
    ;(await context.details(account.id)).lacks('connected_account.last_used_at')
    ;(await run(context, account, tool.name)).is(200)
    ;(await context.details(account.id)).string('connected_account.last_used_at')
  }),
  check('after-consent', 'an account that was verified executes tools', 'document:1', async (context) => {
    const { tool } = await runnable(context)
    const account = await context.account()
    ;(await context.verify(await context.pendingRequest(account), account.identifier)).is(200)
    ;(await run(context, account, tool.name)).is(200)
  }),
  check('pending', 'an account that is PENDING_AUTH is a 400 with code 9', 'convention:G44', async (context) => {
    const account = await context.account()
    ;(await run(context, account, (await anyTool(context)).name)).is(400).has('code', 9)
  }),
  check('unverified', 'an account that is PENDING_VERIFICATION executes nothing', 'document:3.1', async (context) => {
    const account = await context.account()
    await context.consent(account)
    ;(await run(context, account, (await anyTool(context)).name)).is(400)
  }),
  check('no-tool-name', 'no tool_name is a 400', 'convention:G44', async (context) => {
    const { id } = await shared(context)
    ;(await context.api.post(PATH, { connected_account_id: id, tool_input: {} })).is(400)
  }),
  check('no-locator', 'no account is a 400', 'convention:G44', async ({ api }) => {
    ;(await api.post(PATH, { tool_name: 'any_tool', tool_input: {} })).is(400)
  }),
  check('input-type', 'tool_input that is no object is a 400', 'document:4.14', async (context) => {
    const { id } = await shared(context)
    ;(await context.api.post(PATH, { connected_account_id: id, tool_name: 'any_tool', tool_input: [] })).is(400)
  }),
  check('unknown-account', 'an unknown account is a 404', 'convention:G44', async ({ api }) => {
    const body = { connected_account_id: 'ca_nobody_has_this', tool_name: 'any_tool', tool_input: {} }
    ;(await api.post(PATH, body)).is(404)
  }),
  check('unknown-tool', 'an unknown tool is a 404', 'convention:G44', async (context) => {
    ;(await run(context, await shared(context), 'nobody_has_this_tool')).is(404)
  }),
  check('hostile-tool', 'constructor and __proto__ are no tools', 'convention:G44', async (context) => {
    for (const name of ['constructor', '__proto__', 'toString'])
      (await run(context, await shared(context), name)).is(404)
  }),
  check('tool-of-other-connector', 'a tool of another connector is a 404', 'convention:G44', async (context) => {
    const { name } = await context.catalog.ofType('API_KEY')
    const tool = await context.catalog.tool(name, () => true, 'at all')
    ;(await run(context, await shared(context), tool.name)).is(404)
  }),
  check('invalid-input', 'input that lacks what the tool requires is a 400', 'convention:G44', async (context) => {
    const account = await shared(context)
    const tool = await context.catalog.tool(
      account.connector,
      ({ required }) => required.length > 0,
      'with required input',
    )
    ;(await run(context, account, tool.name)).is(400).has('code', 3)
  }),
  check(
    'tool-before-state',
    'an unknown tool is reported before the state of the account',
    'convention:G17',
    async (context) => {
      ;(await run(context, await context.account(), 'nobody_has_this_tool')).is(404)
    },
  ),
  check(
    'state-before-input',
    'the state of the account is reported before invalid input',
    'convention:G17',
    async (context) => {
      const account = await context.account()
      const tool = await context.catalog.tool(
        account.connector,
        ({ required }) => required.length > 0,
        'with required input',
      )
      ;(await run(context, account, tool.name)).is(400).has('code', 9)
    },
  ),
  check(
    'shape-before-account',
    'a malformed request is reported before an unknown account',
    'convention:G17',
    async ({ api }) => {
      ;(await api.post(PATH, { connected_account_id: 'ca_nobody_has_this', tool_name: 5 })).is(400)
    },
  ),
  check('refusal-keeps-last-used', 'a refused execution leaves last_used_at unset', 'document:2.1', async (context) => {
    const account = await context.active()
    ;(await run(context, account, 'nobody_has_this_tool')).is(404)
    ;(await context.details(account.id)).lacks('connected_account.last_used_at')
  }),
  check(
    'inactive-words',
    'the refusal names the account and says that authorization is needed',
    'convention:G44',
    async (context) => {
      const account = await context.account()
      const { name } = await anyTool(context)
      const message = (await run(context, account, name)).is(400).has('code', 9).string('message')
      const words = [`connected_account ${account.id} of connector ${account.connector}`, account.identifier]
      for (const word of [...words, 'is PENDING_AUTH', 'authorization is needed']) {
        must(message.includes(word), `a message with ${word}`, message)
      }
    },
  ),
  failing('rate-limited', 429, [429, 8], 'a rate limit of the third party is a 429 with Retry-After'),
  failing('third-party-forbids', 403, [403, 7], 'a 403 of the third party is a 403'),
  failing('third-party-refuses', 401, [401, 16], 'credentials that the third party refuses are a 401, and EXPIRED'),
  failing('third-party-fails', 503, [500, 13], 'a failure of the third party is a 500 with tool_error_info'),
])

function shared(context: CheckContext): Promise<CreatedAccount> {
  return context.shared('account', (fresh) => fresh.active())
}

async function anyTool(context: CheckContext): Promise<ListedTool> {
  return context.catalog.tool((await context.catalog.main()).name, () => true, 'at all')
}

function run({ api }: CheckContext, { id }: { id: string }, tool_name: string) {
  return api.post(PATH, { connected_account_id: id, tool_name, tool_input: {} })
}

/** An account whose credentials the third party takes, and a tool that needs no input. @throws Skipped */
async function runnable(context: CheckContext): Promise<{ account: CreatedAccount; tool: ListedTool }> {
  context.control()
  const account = await shared(context)
  const tool = await context.catalog.tool(
    account.connector,
    ({ required }) => required.length === 0,
    'without required input',
  )
  return { account, tool }
}

async function succeed(context: CheckContext) {
  const { account, tool } = await runnable(context)
  return run(context, account, tool.name)
}

/** A third party that answers a status, in an environment of its own. */
function failing(name: string, answered: number, [status, code]: [number, number], title: string): CheckEntry {
  return check(name, title, 'convention:G44', async (context) => {
    const { environment, own } = await context.ownEnvironment()
    const { account, tool } = await runnable(own)
    await environment.thirdPartyAnswers(answered)
    const answer = (await run(own, account, tool.name)).is(status).has('code', code)
    answer.has('details.0.error_code', 'TOOL_ERROR').has('details.0.tool_error_info.tool_error_code', String(answered))
    if (status === 429) answer.header('Retry-After', /^\d+$/)
    const after = (await own.details(account.id)).string('connected_account.status')
    same(after, status === 401 ? 'EXPIRED' : 'ACTIVE', 'the status of the account')
    same(answer.string('details.0.tool_error_info.execution_id').startsWith('exec_'), true, 'an execution id')
  })
}

function check(name: string, title: string, basis: CheckBasis, run: CheckEntry['run']): CheckEntry {
  return { id: `execute/${name}`, title, basis, run }
}
