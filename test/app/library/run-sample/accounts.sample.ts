import { describe, expect } from 'vitest'
import { connect, createToolmock } from '../../../../src/index.ts'
import { test, toolmockTest } from '../../../../src/app/runners/vitest.ts'
import { clientOf, MESSAGE, TOKENS } from '../client.ts'

/** Set by `toolmock run` only. */
const url = process.env['TOOLMOCK_URL']

describe('accounts', () => {
  test('asks for a page that is too large', async ({ mock, toolmock }) => {
    expect([mock.url, toolmock.url]).toEqual([url, url])
    await (await clientOf(mock)).get('/connected_accounts?page_size=101')
  })

  test('asks for it again', async ({ mock }) => {
    await (await clientOf(mock)).get('/connected_accounts?page_size=101')
  })
})

const failing = toolmockTest({ scenario: 'third-party-fails', clock: '2026-01-31T12:00:00Z', freeze: true, idSeed: 7 })

failing('has the scenario, the clock and the ids of its options', async ({ mock, toolmock }) => {
  for (const each of [mock, toolmock]) {
    const running = (await each.scenarios.list()).filter((scenario) => scenario.running)
    expect(running.map(({ name }) => name)).toEqual(['third-party-fails'])
    expect(await each.clock.now()).toBe('2026-01-31T12:00:00.000Z')
  }
  const client = await clientOf(mock)
  await client.account({ connected_account: TOKENS })
  expect((await client.post('/execute_tool', MESSAGE)).status).toBe(500)
})

failing('may pass without a call that the scenario affects', async ({ mock }) => {
  await (await clientOf(mock)).get('/connections')
})

test('createToolmock() and connect() use the server of the run, with environments that are removed afterwards', async () => {
  const names: string[] = []
  for (const make of [() => createToolmock(), () => connect()]) {
    await using mock = await make()
    await using other = await mock.environment()
    expect([mock.url, other.url]).toEqual([url, url])
    names.push(mock.name, other.name)
    expect((await (await clientOf(other)).get('/connections')).status).toBe(200)
  }
  expect(new Set([...names, 'default']).size).toBe(5)
  for (const name of names) {
    await expect(connect(url, { environment: name })).rejects.toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND' })
  }
})

test('an option that only a server of its own can have is refused by name', async () => {
  await expect(createToolmock({ strict: true, descriptors: ['acme.binpb'], port: 1 })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringMatching(
      /^createToolmock: strict and descriptors and port are options .* toolmock run --strict --descriptors instead, leave port out$/,
    ),
  })
})
