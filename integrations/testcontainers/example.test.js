// An application that asks a user for access, tested against a mock in a container: node --test
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ToolmockContainer } from 'toolmock-testcontainers'

/** @type {import('toolmock-testcontainers').StartedToolmockContainer} */
let mock

before(async () => {
  const image = process.env.TOOLMOCK_IMAGE ?? 'registry.example/your-team/toolmock:0.1.0'
  mock = await new ToolmockContainer(image).withSeed('bundled').withScenario('rate-limited').start()
})
after(() => mock?.stop())

test('the application tries again when a third party limits the rate', async (context) => {
  const { url, clientId, clientSecret } = await mock.createEnvironment(context.name)
  assert.deepEqual(await application(url, clientId, clientSecret), [201, 429, 429, 200])
})

/** @param {string} url @param {string} clientId @param {string} clientSecret */
async function application(url, clientId, clientSecret) {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
  const token = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = await token.json()
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  /** @param {string} path @param {object} body */
  const call = async (path, body) =>
    (await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status
  const account = { connector: 'mail', identifier: 'ada@example.com' }
  const credentials = { oauth_token: { access_token: 'at', refresh_token: 'rt' } }
  const message = { to: 'grace@example.com', subject: 'Hello', body: 'From a container.' }
  const send = () => call('/execute_tool', { ...account, tool_name: 'mail_send_message', tool_input: message })
  return [
    await call('/connected_accounts', { ...account, connected_account: { authorization_details: credentials } }),
    await send(),
    await send(),
    await send(),
  ]
}
