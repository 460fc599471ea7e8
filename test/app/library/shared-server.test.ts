import { afterEach, describe, expect, it, vi } from 'vitest'
import { connect, createToolmock } from '../../../src/index.ts'
import { clientOf } from './client.ts'
import { rejection } from './with-mock.ts'

afterEach(() => void vi.unstubAllEnvs())

describe('createToolmock() with a running server', () => {
  it('creates an environment on the server of url, and removes it with those created from it', async () => {
    await using server = await createToolmock({ adminToken: 'open' })
    const mock = await createToolmock({
      url: server.url,
      adminToken: 'open',
      clock: '2026-01-31T12:00:00Z',
      freeze: true,
    })
    const other = await mock.environment('worker-2')
    expect([mock.url, other.url]).toEqual([server.url, server.url])
    expect([await mock.clock.now(), await other.clock.now()]).toEqual(Array(2).fill('2026-01-31T12:00:00.000Z'))
    const client = await clientOf(mock)
    expect((await client.get('/connections')).status).toBe(200)
    await mock.close()
    expect((await client.get('/connections')).status).toBe(401)
    expect(await rejection(connect(server.url, { adminToken: 'open', environment: 'worker-2' }))).toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
    })
    expect((await (await clientOf(server)).get('/connections')).status).toBe(200)
  })

  it('leaves no environment behind: one that is being made while it closes is removed, a later one is refused', async () => {
    await using server = await createToolmock()
    const mock = await createToolmock({ url: server.url })
    const making = mock.environment('worker-1')
    const closing = mock.close()
    await Promise.allSettled([making, closing])
    expect(await rejection(mock.environment('worker-2'))).toMatchObject({ code: 'CLOSED' })
    for (const environment of ['worker-1', 'worker-2'])
      expect(await rejection(connect(server.url, { environment }))).toMatchObject({ code: 'ENVIRONMENT_NOT_FOUND' })
  })

  it('runs its scenarios in each of its environments, a file among them, and after a reset', async () => {
    await using server = await createToolmock()
    const scenarios = ['third-party-fails', 'scenarios/auth-request-consumed.yaml']
    await using mock = await createToolmock({ url: server.url, scenarios })
    const other = await mock.environment(undefined, { scenarios: ['slow-bodies'] })
    await other.reset()
    const running = async (environment: typeof other) =>
      (await environment.scenarios.list()).filter((each) => each.running).map(({ name }) => name)
    expect(await running(mock)).toHaveLength(2)
    expect(await running(other)).toEqual([...(await running(mock)), 'slow-bodies'])
    expect(await running(server)).toEqual([])
  })

  it('refuses an unknown scenario by name', async () => {
    await using server = await createToolmock()
    const refusals = await Promise.all(
      ['third-party-fail', 'scenarios/no-such.yaml'].map((name) =>
        rejection(createToolmock({ url: server.url, scenario: name })),
      ),
    )
    expect(refusals).toMatchObject([
      {
        code: 'INVALID_BODY',
        message: expect.stringMatching(/"third-party-fail".*[Dd]id you mean .*third-party-fails/),
      },
      { code: 'NOT_STARTED', message: expect.stringMatching(/scenarios\/no-such\.yaml.*there is no such file/) },
    ])
  })

  it.each([
    [{ port: 1 }, 'port is an option of a server of its own, and the server of `url` is used here: leave port out'],
    [{ strict: true, tls: true }, 'strict and tls are options of a server of its own'],
  ])('refuses %j by name', async (options, message) => {
    await using server = await createToolmock()
    expect(await rejection(createToolmock({ url: server.url, ...options }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    })
  })

  it('is named by TOOLMOCK_RUN; TOOLMOCK_URL alone has no effect', async () => {
    await using server = await createToolmock()
    vi.stubEnv('TOOLMOCK_URL', server.url)
    vi.stubEnv('TOOLMOCK_RUN', '')
    await using own = await createToolmock({ strict: true })
    expect(own.url).not.toBe(server.url)
    vi.stubEnv('TOOLMOCK_RUN', server.url)
    for (const make of [() => createToolmock(), () => connect()]) {
      await using shared = await make()
      expect(shared.url).toBe(server.url)
      expect(shared.name).not.toBe('default')
    }
  })
})

it('connect() without a URL starts a server of its own outside of a run', async () => {
  await using mock = await connect()
  expect((await (await clientOf(mock)).get('/connections')).status).toBe(200)
})

it('connect() without a URL refuses options that are about a server that runs', async () => {
  expect(await rejection(connect(undefined, { environment: 'worker-2' }))).toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'connect: environment is about a server that runs; give its URL first',
  })
})
