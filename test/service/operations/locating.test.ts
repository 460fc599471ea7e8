import { expect } from 'vitest'
import { ADA, createAccount, expectError, fieldsOf } from '../../support/accounts.ts'
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

it.for([{ organization_id: 'org_2' }, { user_id: 'usr_2' }, { ...ORG, user_id: 'usr_2' }])(
  'is not found by %j',
  async (scope, { mock }) => {
    await createAccount(mock, PAIR)
    expectError(await details(mock, scope), 404, 'ACCOUNT_NOT_FOUND')
  },
)

it('has lower priority than the account with exactly the given scope', async ({ mock }) => {
  await createAccount(mock, PAIR)
  const { id } = await createAccount(mock, ORG)
  expect((await details(mock, ORG)).body).toMatchObject({ connected_account: { id } })
})

it('is ambiguous with others: 400 names the fields that differ', async ({ mock }) => {
  await createAccount(mock, PAIR)
  await createAccount(mock, { ...ORG, user_id: 'usr_2' })
  const answer = await details(mock, ORG)
  expectError(answer, 400, 'AMBIGUOUS_LOCATOR')
  expect(fieldsOf(answer)).toEqual(['user_id'])
  expect((await details(mock, USER)).status).toBe(200)
})

it('does not conflict with one in the organization alone', async ({ mock }) => {
  await createAccount(mock, PAIR)
  await createAccount(mock, ORG)
  expectError(await mock.api.post('/connected_accounts', { ...ADA, ...PAIR }), 409, 'ACCOUNT_ALREADY_EXISTS')
})

it('is found among many of the same name', async ({ mock }) => {
  for (let nth = 0; nth < 20; nth += 1) await createAccount(mock, { organization_id: `org_${nth}`, user_id: 'u' })
  expect((await details(mock, { organization_id: 'org_7' })).status).toBe(200)
  expectError(await details(mock, { user_id: 'u' }), 400, 'AMBIGUOUS_LOCATOR')
  expectError(await details(mock, { organization_id: 'org_20' }), 404, 'ACCOUNT_NOT_FOUND')
})
