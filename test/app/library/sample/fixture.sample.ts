import { expect } from 'vitest'
import { test, toolmockTest } from '../../../../src/app/runners/vitest.ts'
import { clientOf, MESSAGE, TOKENS } from '../client.ts'

const seen = new Set<string>()

test.concurrent.for(['one', 'two', 'three'])('an environment of its own: %s', async (_, { mock, toolmock }) => {
  const client = await clientOf(mock)
  await client.account({ connected_account: TOKENS })
  expect((await client.post('/execute_tool', MESSAGE)).status).toBe(200)
  expect(mock.url).toBe(toolmock.url)
  expect(mock.name).not.toBe('default')
  expect(seen.has(mock.name)).toBe(false)
  seen.add(mock.name)
})

test('the environments before are gone', async ({ toolmock }) => {
  expect(seen.size).toBe(3)
  for (const name of seen) await expect(toolmock.environment(name)).resolves.toMatchObject({ name })
})

test('fails, and is explained', async ({ mock }) => {
  const refused = await (await clientOf(mock)).post('/execute_tool', MESSAGE)
  expect(refused.status, 'the status of the tool call').toBe(200)
})

test('succeeds, and needs no explanation', async ({ mock }) => {
  expect((await (await clientOf(mock)).get('/connected_accounts?page_size=quiet')).status).toBe(400)
})

test('fails without a refused request', async ({ mock }) => {
  expect(await mock.journal.count()).toBe(1)
})

const documented = toolmockTest({ documentedOnly: true, scenario: 'token-dies-mid-run' })

documented('options go to the server', async ({ mock }) => {
  expect((await (await clientOf(mock)).get('/tools')).status).toBe(404)
  const running = (await mock.scenarios.list()).filter((scenario) => scenario.running)
  expect(running.map(({ name }) => name)).toEqual(['token-dies-mid-run'])
})

const elsewhere = toolmockTest({ url: process.env['SAMPLE_URL'] })

elsewhere('a server that runs already', ({ toolmock, mock }) => {
  expect(toolmock.url).toBe(process.env['SAMPLE_URL'])
  expect(mock.url).toBe(process.env['SAMPLE_URL'])
})

const held = toolmockTest({ contract: {} })

held('fails only since its client breaks the contract', async ({ mock }) => {
  await (await clientOf(mock)).get('/connected_accounts?page_size=many')
})

const lenient = toolmockTest({ contract: { allow: ['list_connected_accounts:page_size'] } })

lenient('breaks the contract on purpose', async ({ mock }) => {
  await (await clientOf(mock)).get('/connected_accounts?page_size=many')
})
