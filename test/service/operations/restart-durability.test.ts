import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MemoryDisk } from '../../support/memory-disk.ts'
import { type TestOptions, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { appSeed, run } from './app-seed.ts'
import { startScenario } from '../../support/scenario.ts'

/** A real folder, because the lock of a state file is a real socket. */
const FOLDER = mkdtempSync(join(tmpdir(), 'toolmock-restart-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

const seed = appSeed([{ name: 'do', answers: { body: { ok: true } }, input_schema: { required: ['x'] } }])

/** Does the work in as many processes, each of which has the disk that the one before has left. */
async function inTurn(
  times: number,
  end: 'killed' | 'stopped',
  options: TestOptions,
  work: (mock: TestToolmock) => Promise<void>,
) {
  let disk = new MemoryDisk()
  for (let time = 0; time < times; time++) {
    const present: MemoryDisk = disk
    await withToolmock({ ...options, seed, state: join(FOLDER, 'state.json'), fileSystem: present }, async (mock) => {
      await work(mock)
      if (end === 'killed') disk = present.after('killed')
    })
  }
}

/** Requests that store nothing: refused ones, one that a rule answers, reads and pages. */
async function requestsThatStoreNothing(mock: TestToolmock): Promise<string[]> {
  const { api, http } = mock
  const answers = [
    await run(mock, 'none'),
    await run(mock, 'do'),
    await api.post('/execute_tool', { connector: 'app', identifier: 'nobody', tool_name: 'do' }),
    await api.get('/connections'),
    await api.get('/connected_accounts/details', { id: 'ca_none' }),
    await http('patch', '/api/v1/execute_tool'),
    await http('get', '/nowhere'),
    await http('get', '/magic/unknown'),
    await http('get', '/connect/success'),
    await http('get', '/third-party/app/authorize'),
    await http('get', '/.well-known/oauth-authorization-server'),
    await http('post', '/third-party/app/api/do'),
  ]
  return answers.map(({ headers }) => String(headers['x-request-id']))
}

it.each(['killed', 'stopped'] as const)(
  'MCP, over a crash configs and session tokens are there when the server was %s',
  async (end) => {
    let given: { config: { id: string; mcp_server_url: string }; token: string } | undefined
    await inTurn(2, end, { mcp: true }, async ({ api, http }) => {
      if (!given) {
        await api.post('/connected_accounts', { connector: 'app', identifier: 'ada' })
        const connection_tool_mappings = [{ connection_name: 'app' }]
        const { config } = (await api.post('/mcp/configs', { name: 'one', connection_tool_mappings })).body
        const { token } = (await api.post('/mcp/connections/app/tokens', { identifier: 'ada' })).body
        given = { config, token }
      }
      const { config, token } = given
      const read = (await api.get(`/mcp/configs/${config.id}`)).body.config
      expect(read).toMatchObject({ ...config, mcp_server_url: expect.any(String) })
      const list = await http('post', '/mcp/v3/connections/app')
        .set('Authorization', `Bearer ${token}`)
        .set('Accept', 'application/json, text/event-stream')
        .send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      expect(list.status).toBe(200)
    })
  },
)

it('MCP, over a crash configs are kept by a start without --mcp', async () => {
  const disk = new MemoryDisk()
  const options = { seed, state: join(FOLDER, 'state.json'), fileSystem: disk }
  await withToolmock({ ...options, mcp: true }, async ({ api }) => {
    await api.post('/mcp/configs', { name: 'one' })
  })
  await withToolmock(options, async ({ api }) => expect((await api.get('/mcp/configs')).status).toBe(404))
  await withToolmock({ ...options, mcp: true }, async ({ api }) => {
    expect((await api.get('/mcp/configs')).body.configs).toMatchObject([{ name: 'one' }])
  })
})

describe('with an id seed, over a crash', () => {
  it('no request gets the X-Request-Id of an earlier one, also when nothing else is stored', async () => {
    const ids: string[] = []
    await inTurn(3, 'killed', { idSeed: 7 }, async (mock) => {
      ids.push(...(await requestsThatStoreNothing(mock)))
    })
    expect(ids).toHaveLength(36)
    expect(new Set(ids).size).toBe(36)
  })

  it('no call gets the execution_id of an earlier one, when the third party is not asked and a rule answers', async () => {
    const ids: unknown[] = []
    await inTurn(3, 'killed', { idSeed: 7 }, async (mock) => {
      const scenarios = mock.app.services.scenarios.of(mock.environment)
      if (ids.length === 0)
        await startScenario(mock, { on: { operation: 'execute_tool' }, do: [{ respond: { status: 429 } }] })
      expect(scenarios.active).toBe(true)
      for (let call = 0; call < 3; call++) {
        const { status, body } = await run(mock, 'do', { x: 1 })
        expect(status).toBe(429)
        ids.push(JSON.stringify(body).match(/exec_[a-z0-9]{20}/)?.[0])
      }
    })
    expect(new Set(ids).size).toBe(9)
  })
})

it('with an id seed, over a clean stop: ids go on where they were, as in one run', async () => {
  const idsOf = async (times: number, calls: number): Promise<string[]> => {
    const ids: string[] = []
    await inTurn(times, 'stopped', { idSeed: 7 }, (mock) => {
      for (let call = 0; call < calls; call++) ids.push(mock.environment.ids.id('x'))
      return Promise.resolve()
    })
    return ids
  }
  // The bearer token of the second start takes one too.
  const [once, twice] = [await idsOf(1, 9), await idsOf(2, 4)]
  expect(twice).toEqual(once.filter((_, at) => at !== 4))
})

it('requests that a rule counts: stay counted over a crash, also reads, which store nothing else (G63)', async () => {
  const statuses: number[] = []
  await inTurn(3, 'killed', {}, async ({ api, app }) => {
    const rule = { on: { operation: 'list_connections' }, when: { first: 3 }, do: [{ respond: { status: 500 } }] }
    if (statuses.length === 0) await startScenario({ app }, rule)
    for (let call = 0; call < 2; call++) statuses.push((await api.get('/connections')).status)
  })
  expect(statuses).toEqual([500, 500, 500, 200, 200, 200])
})

it('requests that a rule counts are not counted when the disk refuses that', async () => {
  const disk = new MemoryDisk()
  await withToolmock({ seed, state: join(FOLDER, 'refused.json'), fileSystem: disk }, async ({ api, app }) => {
    const rule = { on: { operation: 'list_connections' }, when: { nth: 2 }, do: [{ respond: { status: 500 } }] }
    await startScenario({ app }, rule)
    disk.fails = () => new Error('no disk')
    for (let call = 0; call < 2; call++) expect((await api.get('/connections')).status).toBe(503)
    disk.fails = () => undefined
    const statuses = [await api.get('/connections'), await api.get('/connections'), await api.get('/connections')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 500, 200])
  })
})
