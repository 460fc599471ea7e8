import { expect } from 'vitest'
import { createActive } from '../../support/accounts.ts'
import { itWith } from '../../support/mock-fixture.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'

const KEY = { static_auth: { details: { api_key: 'k' } } }
const TOKEN = { oauth_token: { access_token: 'at_1', refresh_token: 'rt_1' } }
const FINAL = { seed: { settings: { revocation: 'final' } } }

async function runs({ api }: TestToolmock, id: string, tool_name: string): Promise<boolean> {
  const tool_input = tool_name === 'weather_get_forecast' ? { city: 'Oslo' } : {}
  const { status } = await api.post('/execute_tool', { connected_account_id: id, tool_name, tool_input })
  return status === 200
}

async function deleted(mock: TestToolmock, body: object, credentials: object): Promise<void> {
  const { id } = await createActive(mock, body, credentials)
  expect((await mock.api.post('/connected_accounts:delete', { id })).status).toBe(200)
}

const it = itWith(withToolmock, FINAL)

it('count as newly issued when they are stored again', async ({ startMock }) => {
  const mock = await startMock({})
  await deleted(mock, { connector: 'weather' }, KEY)
  const { id } = await createActive(mock, { connector: 'weather' }, KEY)
  expect(await runs(mock, id, 'weather_get_forecast')).toBe(true)
})

it('are refused permanently where revocation is final', async ({ mock }) => {
  await deleted(mock, { connector: 'weather' }, KEY)
  const { id } = await createActive(mock, { connector: 'weather' }, KEY)
  expect(await runs(mock, id, 'weather_get_forecast')).toBe(false)
  mock.time.advance('1000d')
  await mock.signIn()
  const other = await createActive(mock, { connector: 'weather', identifier: 'grace' }, KEY)
  expect(await runs(mock, other.id, 'weather_get_forecast')).toBe(false)
})

it('cannot be refreshed either where revocation is final', async ({ mock }) => {
  await deleted(mock, {}, TOKEN)
  const { id } = await createActive(mock, {}, { oauth_token: { refresh_token: 'rt_1' } })
  expect(await runs(mock, id, 'mail_list_messages')).toBe(false)
})

it('do not affect other credentials where revocation is final', async ({ mock }) => {
  await deleted(mock, {}, TOKEN)
  const { id } = await createActive(mock, {}, { oauth_token: { access_token: 'at_2' } })
  expect(await runs(mock, id, 'mail_list_messages')).toBe(true)
  const replaced = { authorization_details: { oauth_token: { access_token: 'at_3' } } }
  await mock.api.put('/connected_accounts', { id, connected_account: replaced })
  const back = { authorization_details: { oauth_token: { access_token: 'at_2' } } }
  await mock.api.put('/connected_accounts', { id, connected_account: back })
  expect(await runs(mock, id, 'mail_list_messages')).toBe(true)
})
