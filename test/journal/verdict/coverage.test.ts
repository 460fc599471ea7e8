import { expect } from 'vitest'
import { ADA, createAccount, createActive, pendingRequest, verify } from '../../support/accounts.ts'
import { it } from '../../support/toolmock.ts'
import { contractOf, control, coverageOf, fieldReach, operation, reachOf, RULE_429 } from './reports.ts'

const EXECUTE = { ...ADA, tool_name: 'mail_list_messages', tool_input: {} }

it('has only the token operation driven at first', async ({ mock }) => {
  const { total } = await coverageOf(mock)
  expect(total.summary.operations).toEqual({ total: 20, driven: 1, injected_only: 0, never: 19 })
  expect(total.summary.lifecycle_moves).toMatchObject({ driven: 0, injected_only: 0 })
  expect(total.summary.scenarios).toEqual({ total: 25, driven: 0, injected_only: 0, never: 25 })
})

it('omits what --documented-only does not serve', async ({ startMock }) => {
  const mock = await startMock({ documentedOnly: true })
  const { total } = await coverageOf(mock)
  expect(total.summary.operations).toMatchObject({ total: 15 })
  expect(total.operations.map((each) => each.operation)).not.toContain('list_tools')
})

it('counts statuses and error codes with their answers', async ({ mock }) => {
  await createAccount(mock)
  await mock.api.post('/connected_accounts', ADA)
  const { total } = await coverageOf(mock)
  expect(operation(total, 'create_connected_account').statuses).toContainEqual({
    status: 409,
    reach: 'driven',
    answers: 1,
    injected: 0,
    error_codes: [{ error_code: 'ACCOUNT_ALREADY_EXISTS', reach: 'driven', answers: 1, injected: 0 }],
  })
  expect(reachOf(total, 'create_connected_account', 201)).toBe('driven')
  expect(reachOf(total, 'create_connected_account', 400, 'INVALID_CONNECTOR')).toBe('never')
})

it('counts an operation as driven once it has succeeded', async ({ mock }) => {
  await mock.api.get('/connected_accounts/details', { id: 'nobody' })
  expect(operation((await coverageOf(mock)).total, 'get_connected_account_details').reach).toBe('never')
  const { id } = await createAccount(mock)
  await mock.api.get('/connected_accounts/details', { id })
  expect(operation((await coverageOf(mock)).total, 'get_connected_account_details').reach).toBe('driven')
})

it('counts fields of requests that kept the contract, and of successful answers', async ({ mock }) => {
  await mock.api.get('/connected_accounts', { page_size: 'ten', connector: 'mail' })
  const before = (await coverageOf(mock)).total
  expect(fieldReach(before, 'list_connected_accounts', 'request', 'connector')).toBe('never')
  await createAccount(mock)
  await mock.api.get('/connected_accounts', { connector: 'mail' })
  const { total } = await coverageOf(mock)
  expect(fieldReach(total, 'list_connected_accounts', 'request', 'connector')).toBe('driven')
  expect(fieldReach(total, 'list_connected_accounts', 'request', 'page_size')).toBe('never')
  expect(fieldReach(total, 'list_connected_accounts', 'response', 'connected_accounts[].status')).toBe('driven')
  expect(fieldReach(total, 'list_connected_accounts', 'response', 'connected_accounts[].last_used_at')).toBe('never')
})

it('counts the fields of an answer again after the record was cleared', async ({ mock }) => {
  const { id } = await createAccount(mock)
  for (const path of ['/contract', '/none']) {
    await mock.api.get('/connected_accounts/details', { id })
    const { total } = await coverageOf(mock)
    const status = 'connected_account.status'
    expect(fieldReach(total, 'get_connected_account_details', 'response', status)).toBe('driven')
    await control(mock, 'delete', path)
  }
})

it('counts an injected answer as injected, until the mock has answered the same by itself', async ({ mock }) => {
  await createActive(mock)
  await control(mock, 'put', '/scenarios/limited', RULE_429)
  await control(mock, 'post', '/scenarios/limited/start')
  await mock.api.post('/execute_tool', EXECUTE)
  const { total } = await coverageOf(mock)
  expect(reachOf(total, 'execute_tool', 429)).toBe('injected_only')
  expect(total.summary.statuses.injected_only).toBe(1)
  expect(fieldReach(total, 'execute_tool', 'request', 'tool_name')).toBe('injected_only')
  expect(operation(total, 'execute_tool').reach).toBe('never')
  await control(mock, 'post', '/scenarios/limited/stop')
  await mock.api.post('/execute_tool', EXECUTE)
  const after = (await coverageOf(mock)).total
  expect(reachOf(after, 'execute_tool', 200)).toBe('driven')
  expect(reachOf(after, 'execute_tool', 429)).toBe('injected_only')
  expect(fieldReach(after, 'execute_tool', 'request', 'tool_name')).toBe('driven')
})

it('counts transitions by requests and pages as driven, and those by the control API as injected', async ({ mock }) => {
  const request = await pendingRequest(mock)
  await verify(mock, request)
  const { connected_account: account } = (await mock.api.get('/connected_accounts/auth', ADA)).body
  await control(mock, 'post', `/accounts/${String(account.id)}/disconnect`)
  const { lifecycle_moves: moves } = (await coverageOf(mock)).total
  const reached = moves.filter(({ reach }) => reach !== 'never')
  expect(reached.map(({ from, event, to, reach }) => `${from} ${event} ${to}: ${reach}`)).toEqual([
    'none link_requested PENDING_AUTH: driven',
    'PENDING_AUTH consent_approved_unverified PENDING_VERIFICATION: driven',
    'PENDING_VERIFICATION verified ACTIVE: driven',
    'ACTIVE disconnected DISCONNECTED: injected_only',
  ])
})

it('counts a bundled scenario as driven once its rules have fired', async ({ mock }) => {
  await createActive(mock)
  await control(mock, 'post', '/scenarios/rate-limited/start')
  const before = (await coverageOf(mock)).total.scenarios.find(({ name }) => name === 'rate-limited')
  expect(before).toMatchObject({ reach: 'never', started: 1, rules_fired: 0 })
  for (let calls = 0; calls < 5; calls += 1) await mock.api.post('/execute_tool', EXECUTE)
  const after = (await coverageOf(mock)).total.scenarios.find(({ name }) => name === 'rate-limited')
  expect(after).toMatchObject({ reach: 'driven', started: 1 })
})

it('counts a scenario as never driven while one of its rules has fired and another that must fire has not', async ({
  mock,
}) => {
  const rule = (name: string, operation: string) => ({
    name,
    at: 'service',
    on: { operation },
    do: [{ latency: 1 }],
  })
  const rules = [rule('met', 'list_connections'), rule('open', 'list_providers')]
  await control(mock, 'put', '/scenarios/rate-limited', { name: 'rate-limited', rules })
  await control(mock, 'post', '/scenarios/rate-limited/start')
  await mock.api.get('/connections')
  const ofIt = async () => (await coverageOf(mock)).total.scenarios.find(({ name }) => name === 'rate-limited')
  expect(await ofIt()).toMatchObject({ reach: 'never', rules: 2, rules_fired: 1 })
  expect((await contractOf(mock)).total.findings.map(({ rule }) => rule?.rule)).toEqual(['open'])
  await mock.api.get('/providers')
  expect(await ofIt()).toMatchObject({ reach: 'driven', rules_fired: 2 })
  expect((await contractOf(mock)).total.findings).toEqual([])
})

it('counts each kind separately: driven, injected only and never add up to the total', async ({ mock }) => {
  await createActive(mock)
  const { summary } = (await coverageOf(mock)).total
  for (const { total, driven, injected_only: injected, never } of Object.values(summary)) {
    expect(driven + injected + never).toBe(total)
  }
})
