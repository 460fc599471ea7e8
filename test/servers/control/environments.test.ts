import type { Response } from 'supertest'
import { describe, expect } from 'vitest'
import { withDirectory } from '../../support/registry.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ControlMock, expectControlError, it, START, withControl } from './control-mock.ts'
import { until } from '../../support/until.ts'

interface Created {
  name: string
  client_id: string
  client_secret: string
  base_url: string
}

const created = ({ body }: Response): Created => body as Created

async function create(mock: ControlMock, body?: object): Promise<Created & { token: string | number }> {
  const environment = created(await mock.call('post', '/environments', body))
  return { ...environment, token: await mock.token(environment.client_id, environment.client_secret) }
}

async function withPattern(work: (mock: ControlMock) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const file = join(directory, 'seed.yaml')
    await writeFile(file, 'clients:\n  - { client_id: "ci-*", client_secret: ci_secret }\n')
    await withControl({ seeds: ['bundled', file] }, work)
  })
}

const account = { connector: 'mail', identifier: 'ada@example.com' }

describe('POST /_mock/environments', () => {
  it.for([
    [
      { scenarios: ['third-party-fail'] },
      'INVALID_BODY',
      /`scenarios\[0\]`.*"third-party-fail" \(did you mean third-party-fails\?\)/,
    ],
    [{ scenarios: ['third-party-fails', 'third-party-fails'] }, 'INVALID_BODY', /`scenarios\[1\]`.*again/],
    [
      { scenarios: [{ name: 'x', rules: [{ name: 'r', at: 'servce', do: [] }] }] },
      'INVALID_DOCUMENT',
      /scenarios\[0\]/,
    ],
    [{ scenarios: 'third-party-fails' }, 'INVALID_BODY', /`scenarios`/],
    [{ label: '' }, 'INVALID_BODY', /`label`/],
    [{ file: 'a.test.ts' }, 'INVALID_BODY', /`label`.*the name of the test, where file or line is given/],
    [{ label: 'a test', line: 0 }, 'INVALID_BODY', /`line`/],
  ])('refuses %j and creates none', async ([body, code, message], { mock: { call } }) => {
    const refused = await call('post', '/environments', { name: 'new', ...body })
    expectControlError(refused, 400, code)
    expect((refused.body as { error: { message: string } }).error.message).toMatch(message)
    expect((await call('get', '/clock?environment=new')).status).toBe(404)
  })

  it('creates an isolated environment: accounts, links and the clock of one are not visible in another', async ({
    mock,
  }) => {
    const { api, call } = mock
    const [one, two] = [await create(mock, { name: 'one' }), await create(mock, { name: 'two' })]
    await api(one.token, 'post', '/connected_accounts', account)
    await api(one.token, 'post', '/connected_accounts/magic_link', account)
    await call('put', '/clock?environment=one', { advance: '5m' })
    const listed = await Promise.all([one, two].map(({ token }) => api(token, 'get', '/connected_accounts')))
    expect(listed.map(({ body }) => (body as { total_size: number }).total_size)).toEqual([1, 0])
    const links = await Promise.all(['one', 'two'].map((name) => call('get', `/links?environment=${name}`)))
    expect(links.map(({ body }) => (body as { links: object[] }).links.length)).toEqual([1, 0])
    expect((await call('get', '/clock?environment=two')).body).toEqual({ now: START, frozen: true })
    expect(
      (await call('post', '/requests/count?environment=two', { match: { operation: 'create_magic_link' } })).body,
    ).toEqual({ count: 0 })
  })

  it('accepts an inline seed for accounts at the connectors of the server', async ({ mock }) => {
    const made = await create(mock, {
      seed: { accounts: [account], clients: [{ client_id: 'mine', client_secret: 's' }] },
    })
    expect(made).toMatchObject({ client_id: 'mine', client_secret: 's' })
    const { body } = await mock.api(made.token, 'get', '/connected_accounts')
    expect(body).toMatchObject({ connected_accounts: [{ identifier: 'ada@example.com', status: 'ACTIVE' }] })
  })

  it('creates no environment from a seed with problems, and names the path of each', async ({ mock: { call } }) => {
    const seed = { accounts: [{ connector: 'nowhere', identifier: 'x' }], settings: { consent: 'perhaps' } }
    const refused = await call('post', '/environments', { name: 'broken', seed })
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({
      error: {
        code: 'INVALID_DOCUMENT',
        details: [{ path: 'seed.settings.consent' }, { path: 'seed.accounts[0].connector' }],
      },
    })
    expect((await call('get', '/clock?environment=broken')).status).toBe(404)
  })

  it('starts its clock at the given time, and repeats its ids with the same id seed', async ({ mock }) => {
    const ids = []
    for (const clock of ['2030-01-01T00:00:00Z', { now: '2030-01-01T00:00:00Z', frozen: true }]) {
      const { token, client_id } = await create(mock, { name: 'again', clock, id_seed: 7 })
      const { body } = await mock.api(token, 'post', '/connected_accounts', account)
      ids.push([client_id, (body as { connected_account: { id: string } }).connected_account.id])
      const time = (await mock.call('get', '/clock?environment=again')).body as { now: string; frozen: boolean }
      expect(time.now).toMatch(/^2030-01-01T00:00:0/)
      await mock.call('delete', '/environments/again')
    }
    expect(ids[0]).toEqual(ids[1])
  })

  it('gives every environment without a name another one', async ({ mock: { call } }) => {
    const made = await Promise.all(Array.from({ length: 5 }, () => call('post', '/environments')))
    expect(new Set(made.map((each) => created(each).name)).size).toBe(5)
    expect(new Set(made.map((each) => created(each).client_id)).size).toBe(5)
  })

  it.for([
    [{ name: 'default' }, 409, 'ENVIRONMENT_EXISTS'],
    [{ seed: { clients: [{ client_id: 'test_client', client_secret: 'x' }] } }, 409, 'CLIENT_ID_TAKEN'],
    [{ name: '../x' }, 400, 'INVALID_NAME'],
    [{ clock: 'tomorrow' }, 400, 'INVALID_BODY'],
    [{ clock: { freeze: true } }, 400, 'INVALID_BODY'],
    [{ id_seed: 1.5 }, 400, 'INVALID_BODY'],
    [{ nmae: 'x' }, 400, 'INVALID_BODY'],
    [[], 400, 'INVALID_BODY'],
  ])('refuses %j with %d %s', async ([body, status, code], { mock: { call } }) => {
    const refused = await call('post', '/environments', body)
    expectControlError(refused, status, code)
  })

  it('removes an environment with its tokens, but never the default one', async ({ mock }) => {
    const { token, client_id, client_secret } = await create(mock, { name: 'gone' })
    expect((await mock.call('delete', '/environments/gone')).status).toBe(200)
    expect((await mock.api(token, 'get', '/connections')).status).toBe(401)
    expect(await mock.token(client_id, client_secret)).toBe(401)
    expect((await mock.call('delete', '/environments/gone')).status).toBe(404)
    expectControlError(await mock.call('delete', '/environments/default'), 409, 'ENVIRONMENT_REQUIRED')
  })
})

it('a new environment of an old name gets no call of a tool that was under way in the old one', async ({ mock }) => {
  const authorization_details = { oauth_token: { access_token: 'at_1' } }
  const connected = { ...account, connected_account: { authorization_details } }
  const on = { operation: 'execute_tool' }
  const rules = [{ name: 'slow', at: 'service', on, do: [{ latency: { ms: 1500 } }] }]
  const { token: former } = await create(mock, { name: 'worker', scenarios: [{ name: 'slow', rules }] })
  await mock.api(former, 'post', '/connected_accounts', connected)
  const tool_input = { to: 'bob@example.com', subject: 'sent before', body: 'x' }
  const late = mock.api(former, 'post', '/execute_tool', { ...account, tool_name: 'mail_send_message', tool_input })
  const hits = async (): Promise<number | undefined> => {
    const { body } = await mock.call('get', '/scenarios?environment=worker')
    const { scenarios } = body as { scenarios: { name: string; rules: { hits: number }[] }[] }
    return scenarios.find(({ name }) => name === 'slow')?.rules[0]?.hits
  }
  await until(async () => (await hits()) === 1)
  await mock.call('delete', '/environments/worker')
  const { token } = await create(mock, { name: 'worker' })
  await mock.api(token, 'post', '/connected_accounts', connected)
  expect((await late).status).toBe(401)
  expect((await mock.call('get', '/state?environment=worker')).text).not.toContain('sent before')
})

describe('a client id pattern in the seed', () => {
  it('creates the environment of that name once, with the first token request', async () => {
    await withPattern(async ({ token, call, app }) => {
      const tokens = await Promise.all(Array.from({ length: 10 }, () => token('ci-42', 'ci_secret')))
      expect(tokens.every((each) => typeof each === 'string')).toBe(true)
      expect(app.services.registry.environments().map(({ name }) => name)).toEqual(['default', 'ci-42'])
      expect((await call('get', '/clock?environment=ci-42')).status).toBe(200)
    })
  })

  it('needs its secret, and creates no environment without it', async () => {
    await withPattern(async ({ token, app }) => {
      expect(await token('ci-42', 'guess')).toBe(401)
      expect(await token('other', 'ci_secret')).toBe(401)
      expect(app.services.registry.environments().map(({ name }) => name)).toEqual(['default'])
    })
  })

  it('keeps ids apart whose names look the same', async () => {
    await withPattern(async ({ token, app }) => {
      for (const id of ['ci-a/b', 'ci-a b', 'ci-__proto__', `ci-${'x'.repeat(100)}`])
        expect(await token(id, 'ci_secret')).toEqual(expect.any(String))
      const names = app.services.registry.environments().map(({ name }) => name)
      expect(new Set(names).size).toBe(5)
      expect(names.filter((name) => !/^[A-Za-z0-9._-]{1,64}$/.test(name))).toEqual([])
    })
  })

  it('can be added to an environment that runs', async ({ mock: { call, token, api } }) => {
    const clients = [{ client_id: 'late-*', client_secret: 's' }]
    await call('post', '/seed', { clients, accounts: [account] })
    const late = await token('late-1', 's')
    expect((await api(late, 'get', '/connected_accounts')).body).toMatchObject({ total_size: 1 })
  })
})
