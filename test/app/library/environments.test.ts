import { describe, expect, it } from 'vitest'
import { connect, createToolmock } from '../../../src/index.ts'
import { freePort } from '../../support/free-port.ts'
import { clientOf, MESSAGE, TOKENS } from './client.ts'
import { rejection, ACCESSES, withMock } from './with-mock.ts'

describe.each(ACCESSES)('environments of the library, %s', (access) => {
  it('isolate accounts, clocks, scenarios, journals and resets, twelve of them at the same time', async () => {
    await withMock(access, {}, async (mock) => {
      const work = async (nth: number) => {
        await using own = await mock.environment(`worker-${nth}`, { clock: '2026-01-01T00:00:00Z', freeze: true })
        const client = await clientOf(own)
        const id = await client.account({ identifier: `user-${nth}@example.com`, connected_account: TOKENS })
        await own.clock.advance(`${nth}h`)
        if (nth % 2 === 0) await own.accounts.disconnect(id)
        if (nth % 3 === 0) await own.scenarios.start('third-party-fails')
        await own.journal.wait({ operation: 'create_connected_account' })
        const { body } = await client.get('/connected_accounts')
        const started = (await own.scenarios.list()).filter((scenario) => scenario.started)
        return [body['total_size'], await own.clock.now(), await own.journal.count({ kind: 'request' }), started.length]
      }
      const numbers = Array.from({ length: 12 }, (_, at) => at + 1)
      const seen = await Promise.all(numbers.map(work))
      const clock = (nth: number) => `2026-01-01T${String(nth).padStart(2, '0')}:00:00.000Z`
      expect(seen).toEqual(numbers.map((nth) => [1, clock(nth), 3, nth % 3 === 0 ? 1 : 0]))
      expect(await mock.journal.count({ operation: 'create_connected_account' })).toBe(0)
    })
  })

  it('are on the same server with credentials of their own, and are removed when they are closed', async () => {
    await withMock(access, {}, async (mock) => {
      const other = await mock.environment('worker-2')
      expect([other.name, other.url]).toEqual(['worker-2', mock.url])
      expect(other.env).toEqual({
        ...mock.env,
        TOOLMOCK_CLIENT_ID: other.clientId,
        TOOLMOCK_CLIENT_SECRET: other.clientSecret,
      })
      expect(other.clientId).not.toBe(mock.clientId)
      expect(await rejection(mock.environment('worker-2'))).toMatchObject({ code: 'ENVIRONMENT_EXISTS', status: 409 })
      const client = await clientOf(other)
      await other.close()
      await other.close()
      expect((await client.get('/connections')).status).toBe(401)
      expect(await rejection(other.clock.now())).toMatchObject({ code: 'CLOSED', status: 0 })
      await using again = await mock.environment('worker-2')
      expect(await again.journal.count()).toBe(0)
    })
  })

  it('end with their server, and can be closed after the connection that created them', async () => {
    await using server = await createToolmock()
    const mock = access === 'in this process' ? server : await connect(server.url)
    const other = await mock.environment('worker-2')
    await mock.close()
    const words = access === 'in this process' ? 'the server of environment worker-2 was closed' : undefined
    if (words === undefined) expect(await other.journal.count()).toBe(0)
    else expect(await rejection(other.journal.count())).toMatchObject({ code: 'CLOSED', message: words })
    await other.close()
    if (access === 'in this process') return
    expect(await rejection(connect(server.url, { environment: 'worker-2' }))).toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
    })
  })

  it('accept a seed, a clock and an id seed, and get a name by default', async () => {
    await withMock(access, {}, async (mock) => {
      const seed = { accounts: [{ connector: 'mail', identifier: 'seeded@example.com' }] }
      const options = { seed, clock: new Date('2031-01-01T00:00:00Z'), freeze: true, idSeed: 7 }
      const [one, two] = [await mock.environment(), await mock.environment()]
      expect(one.name).not.toBe(two.name)
      const ids = async () => {
        await using own = await mock.environment('repeated', options)
        expect(await own.clock.get()).toEqual({ now: '2031-01-01T00:00:00.000Z', frozen: true })
        return (await own.state()).tables.accounts.map(({ id }) => id)
      }
      const first = await ids()
      expect(first).toHaveLength(1)
      expect(await ids()).toEqual(first)
      const bad = await rejection(mock.environment('bad', { seed: { accountz: [] } as object }))
      expect(bad).toMatchObject({ code: 'INVALID_DOCUMENT', details: [{ path: expect.stringContaining('seed.') }] })
      expect(await rejection(mock.environment('a/b'))).toMatchObject({ code: 'INVALID_NAME', status: 400 })
    })
  })
})

it('connect finds the credentials of an existing environment, and does not remove it', async () => {
  await using server = await createToolmock()
  const other = await server.environment('worker-2')
  await using mock = await connect(`${server.url}/`, { environment: 'worker-2' })
  expect(mock.env).toEqual(other.env)
  await (await clientOf(mock)).post('/execute_tool', MESSAGE)
  expect(await other.journal.count({ operation: 'execute_tool', status: 404 })).toBe(1)
  await mock.close()
  expect(await rejection(mock.reset())).toMatchObject({ code: 'CLOSED' })
  expect(await other.journal.count({ operation: 'execute_tool' })).toBe(1)
})

it('connect reports what is wrong with the address, the environment or the admin token', async () => {
  const gone = await createToolmock({ port: await freePort() })
  await gone.close()
  expect(await rejection(connect(gone.url))).toMatchObject({
    code: 'UNREACHABLE',
    message: expect.stringContaining(gone.url),
    cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
  })
  expect(await rejection(connect('localhost:8665'))).toMatchObject({ code: 'INVALID_ARGUMENT' })
  await using server = await createToolmock({ adminToken: 's3cret' })
  const refused = { code: 'ADMIN_TOKEN_REQUIRED', status: 401 }
  expect(await rejection(connect(server.url))).toMatchObject(refused)
  expect(await rejection(connect(server.url, { adminToken: 'wrong' }))).toMatchObject(refused)
  const nowhere = connect(server.url, { adminToken: 's3cret', environment: 'nowhere' })
  expect(await rejection(nowhere)).toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND', status: 404 })
})

it('connect recognizes a server that is not toolmock', async () => {
  await using server = await createToolmock()
  expect(await rejection(connect(`${server.url}/elsewhere`))).toMatchObject({ code: 'NO_TOOLMOCK', status: 404 })
})
