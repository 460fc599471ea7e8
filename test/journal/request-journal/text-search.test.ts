import { expect } from 'vitest'
import { it } from '../../servers/control/control-mock.ts'

it.for([
  ['an identifier in a query', 'gone@example.com', ['get_connected_account_details']],
  ['words of one entry, in any case', 'MINUTES lost@example', ['execute_tool']],
  ['a text that JSON escapes', 'sa"y', ['execute_tool']],
  ['an answer', 'list_connections connector_that_is_sought', ['list_connections']],
  ['a header', 'x-sought-header', ['list_connections']],
  ['the label of the test, with a word of an entry', 'checks GONE@', ['get_connected_account_details']],
  ['words that no entry has together', 'minutes gone@example.com', []],
])('finds %s', async ([_what, text, operations], { mock }) => {
  await mock.call('post', '/environments', { name: 'w', label: 'the client > checks' }).then(async ({ body }) => {
    const { client_id, client_secret } = body as { client_id: string; client_secret: string }
    const token = await mock.token(client_id, client_secret)
    await mock.call('put', '/connectors/connector_that_is_sought?environment=w', {
      connector: 'connector_that_is_sought',
      authorization_type: 'API_KEY',
    })
    await mock.api(token, 'get', '/connected_accounts/details?connector=mail&identifier=gone%40example.com')
    const tool_input = { to: 'a@example.com', subject: 'Minutes', body: 'They sa"y' }
    const account = { connector: 'mail', identifier: 'lost@example.com' }
    await mock.api(token, 'post', '/execute_tool', { ...account, tool_name: 'mail_send_message', tool_input })
    await mock
      .http('get', '/api/v1/connections')
      .set('Authorization', `Bearer ${String(token)}`)
      .set('X-Sought-Header', 'here')
  })
  const query = new URLSearchParams({ environment: 'w', text, short: 'true' })
  const { requests, entries } = (await mock.call('get', `/requests?${query.toString()}`)).body as {
    requests: object[]
    entries: { operation: string | null }[]
  }
  expect(requests).toEqual([])
  expect(entries.map(({ operation }) => operation).filter((name) => name !== null)).toEqual(operations)
})

it('finds no secret, and no part of one', async ({ mock }) => {
  const token = String(await mock.token('test_client', 'test_secret'))
  await mock.api(token, 'get', '/connections')
  const found = async (text: string) =>
    ((await mock.call('get', `/requests?text=${encodeURIComponent(text)}`)).body as { requests: object[] }).requests
  expect(await found(token)).toEqual([])
  expect(await found(token.slice(0, -3))).toEqual([])
  expect(await found('test_secret')).toEqual([])
  expect(await found('list_connections')).toHaveLength(1)
})

it('refuses a value of short that is neither true nor false', async ({ mock }) => {
  expect((await mock.call('get', '/requests?short=yes')).status).toBe(400)
})
