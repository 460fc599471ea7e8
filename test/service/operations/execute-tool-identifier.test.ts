import { expect } from 'vitest'
import { expectError, fieldsOf } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'
import { startScenario } from '../../support/scenario.ts'

const ADA = 'ada@example.com'

/** A connector with the tool `echo`, and one that only it has. */
function connector(name: string): object {
  const tool = (tool: string) => ({ name: tool, call: { method: 'POST', path: `/${tool}` } })
  const tools = [tool('echo'), tool(`${name}_only`)]
  const responders = [{ on: { method: 'POST' }, respond: { status: 200, body: {} } }]
  return { connector: name, authorization_type: 'API_KEY', tools, responders }
}

/** A seed with the connectors `app` and `other` and accounts of Ada's. */
function seedWith(...accounts: object[]) {
  return {
    seed: {
      connectors: [connector('app'), connector('other')],
      accounts: accounts.map((each) => ({ connector: 'app', identifier: ADA, ...each })),
    },
  }
}

function run({ api }: TestToolmock, body: object) {
  return api.post('/execute_tool', { identifier: ADA, tool_name: 'app_only', ...body })
}

/** The account of the last tool call in the journal. */
function journaledAccount({ app, environment }: TestToolmock): string | undefined {
  const entries = app.services.journals.of(environment).entries()
  return entries.findLast(({ operation }) => operation === 'execute_tool')?.trace.account?.id
}

it.for<[string, object[], object, string]>([
  ['the only account whose connector has the tool', [{ id: 'ca_1' }, { id: 'ca_2', connector: 'other' }], {}, 'ca_1'],
  ['the account without a scope', [{ id: 'ca_1', user_id: 'u' }, { id: 'ca_2' }], {}, 'ca_2'],
  ['the only account in a scope', [{ id: 'ca_1', user_id: 'u' }], {}, 'ca_1'],
  [
    'the account in exactly the scope (G52)',
    [
      { id: 'ca_1', user_id: 'u', organization_id: 'o' },
      { id: 'ca_2', user_id: 'u' },
    ],
    { user_id: 'u' },
    'ca_2',
  ],
  [
    'the account within the scope, at whichever connector',
    [{ id: 'ca_1' }, { id: 'ca_2', connector: 'other', organization_id: 'o' }],
    { organization_id: 'o', tool_name: 'echo' },
    'ca_2',
  ],
])('runs with %s, and the journal names it', async ([_kind, accounts, body, id], { startMock }) => {
  const mock = await startMock({ ...seedWith(...accounts), strict: true })
  expect((await run(mock, body)).body).toMatchObject({ execution_id: expect.stringMatching(/^exec_/) })
  expect(journaledAccount(mock)).toBe(id)
})

it('finds an account whatever its status is, and refuses it as any other', async ({ startMock }) => {
  const mock = await startMock(seedWith({ id: 'ca_1', status: 'EXPIRED' }))
  expectError(await run(mock, {}), 400, 'ACCOUNT_NOT_ACTIVE')
  expect(journaledAccount(mock)).toBe('ca_1')
})

it('does not choose between the accounts of two connectors, whatever their status is', async ({ startMock }) => {
  const mock = await startMock(seedWith({}, { connector: 'other', organization_id: 'o', status: 'EXPIRED' }))
  const answer = await run(mock, { tool_name: 'echo' })
  expectError(answer, 400, 'AMBIGUOUS_LOCATOR')
  expect(answer.body.message).toBe(
    '2 accounts with this identifier can run "echo", at "app" (no organization or user), ' +
      '"other" (organization "o"); send connected_account_id, connector or organization_id',
  )
  expect(fieldsOf(answer)).toEqual(['connector', 'organization_id'])
  expect(journaledAccount(mock)).toBeUndefined()
})

it('does not choose between two accounts of one connector in scopes', async ({ startMock }) => {
  const mock = await startMock(seedWith({ user_id: 'u' }, { user_id: 'v' }))
  const answer = await run(mock, {})
  expectError(answer, 400, 'AMBIGUOUS_LOCATOR')
  expect(fieldsOf(answer)).toEqual(['user_id'])
  expect(answer.body.message).toContain('"app" (user "u"), "app" (user "v"); send connected_account_id or user_id')
  expect((await run(mock, { user_id: 'v' })).status).toBe(200)
})

it('answers TOOL_NOT_FOUND for a tool that no connector has', async ({ startMock }) => {
  const mock = await startMock(seedWith({}))
  const answer = await run(mock, { tool_name: 'app_onyl' })
  expectError(answer, 404, 'TOOL_NOT_FOUND')
  expect(answer.body.message).toBe('tool not found: no connector has "app_onyl"')
})

it('answers ACCOUNT_NOT_FOUND where no connector with the tool has an account of the identifier', async ({
  startMock,
}) => {
  const mock = await startMock(seedWith({ connector: 'other' }, { user_id: 'u' }))
  const answer = await run(mock, { user_id: 'v' })
  expectError(answer, 404, 'ACCOUNT_NOT_FOUND')
  expect(answer.body.message).toContain(`identifier "${ADA}" at connector "app", which has the tool "app_only"`)
  expectError(await run(mock, { identifier: 'eve', tool_name: 'echo' }), 404, 'ACCOUNT_NOT_FOUND')
})

it('is 400 MISSING_LOCATOR with --documented-only, which names the flag', async ({ startMock }) => {
  const mock = await startMock({ ...seedWith({}), documentedOnly: true })
  for (const body of [{}, { user_id: 'u' }, { tool_name: 'none_has_it' }]) {
    const answer = await run(mock, body)
    expectError(answer, 400, 'MISSING_LOCATOR')
    expect(answer.body.message).toContain('--documented-only')
    expect(fieldsOf(answer)).toEqual(['connector'])
  }
})

it('refuses a call without an identifier, by the names of its own fields', async ({ startMock }) => {
  const { api } = await startMock(seedWith({}))
  const answer = await api.post('/execute_tool', { tool_name: 'app_only' })
  expectError(answer, 400, 'MISSING_LOCATOR')
  expect(answer.body.message).toContain('send connected_account_id, or')
})

it('is matched by a rule of a scenario on connector and identifier, and fails as the rule says', async ({
  startMock,
}) => {
  const mock = await startMock(seedWith({}))
  const on = { operation: 'execute_tool', connector: 'app', account: { connector: 'app', identifier: ADA } }
  await startScenario(mock, { on, do: [{ respond: { status: 429 } }] })
  expect((await run(mock, { tool_name: 'other_only' })).status).toBe(404)
  expect((await run(mock, {})).status).toBe(429)
})

it('is explained with the tool that was meant, and with the accounts that there are', async ({ startMock }) => {
  const mock = await startMock(seedWith({ connector: 'other' }))
  const explain = async (body: object) => {
    const id = String((await run(mock, body)).headers['x-request-id'])
    return JSON.stringify((await mock.http('get', `/_mock/requests/${id}/explain`)).body)
  }
  expect(await explain({ tool_name: 'app_onyl' })).toContain('did you mean app_only?')
  expect(await explain({})).toMatch(/id \\"ca_\w+\\": .* at other/)
})
