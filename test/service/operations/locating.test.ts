import { expect } from 'vitest'
import { ADA, createAccount, expectError } from '../../support/accounts.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

const ORG = { organization_id: 'org_1' }
const USER = { user_id: 'usr_1' }
const PAIR = { ...ORG, ...USER }

function details({ api }: TestToolmock, scope: Record<string, string>) {
  return api.get('/connected_accounts/details', { ...ADA, ...scope })
}

it.for([ORG, USER, PAIR, {}])('is found by %j', async (scope, { mock }) => {
  const { id } = await createAccount(mock, PAIR)
  expect((await details(mock, scope)).body).toMatchObject({ connected_account: { id } })
  const updated = await mock.api.put('/connected_accounts', { ...ADA, ...scope, connected_account: {} })
  expect(updated.body).toMatchObject({ connected_account: { id } })
  const linked = await mock.api.post('/connected_accounts/magic_link', { ...ADA, ...scope })
  expect(linked.status).toBe(200)
  expect((await mock.api.get('/connected_accounts')).body).toMatchObject({ total_size: 1 })
  expect((await mock.api.post('/connected_accounts:delete', { ...ADA, ...scope })).status).toBe(200)
})

it('is found among many of the same name', async ({ mock }) => {
  for (let nth = 0; nth < 20; nth += 1) await createAccount(mock, { organization_id: `org_${nth}`, user_id: 'u' })
  expect((await details(mock, { organization_id: 'org_7' })).status).toBe(200)
  expectError(await details(mock, { user_id: 'u' }), 400, 'AMBIGUOUS_LOCATOR')
  expectError(await details(mock, { organization_id: 'org_20' }), 404, 'ACCOUNT_NOT_FOUND')
})
