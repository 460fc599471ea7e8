import { join } from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { MemoryDisk } from '../support/memory-disk.ts'
import { type TestToolmock, withToolmock } from '../support/toolmock.ts'

// The disk is in memory; the lock of the state file needs a folder.
const folder = await mkdtemp(join(tmpdir(), 'toolmock-scenarios-'))
afterAll(() => rm(folder, { recursive: true }))

/** The first rule leads to the state of the second; each fires on the request of its number. */
const STEPS = {
  name: 'step-by-step',
  initial: 'first',
  rules: [
    rule('a', { nth: 2, state: 'first' }, { then: 'second' }),
    rule('b', { nth: 2, state: 'second' }, { do: [{ respond: { status: 503 } }] }),
  ],
}

function rule(name: string, when: object, what: object): object {
  return { name, at: 'service', on: { operation: 'list_connections' }, when, ...what }
}

describe('scenarios that came by the control API', () => {
  it('survive a restart with their state and their counts', async () => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      await start(mock)
      await list(mock, 2)
      expect(await view(mock)).toMatchObject({ running: true, state: 'second', rules: [{ hits: 1 }, { matched: 1 }] })
    })
    await withMock(disk, async (mock) => {
      expect(await view(mock)).toMatchObject({ running: true, state: 'second', rules: [{ hits: 1 }, { matched: 1 }] })
      expect((await mock.api.get('/connections')).status).toBe(503)
    })
  })

  it('match by a pattern after a restart, in a process that has read no document', async () => {
    const disk = new MemoryDisk()
    let crashed = disk
    const on = { operation: 'list_connections', client: { matches: '^test_' } }
    await withMock(disk, async (mock) => {
      const rules = [{ name: 'a', at: 'service', on, do: [{ respond: { status: 503 } }] }]
      await control(mock, 'put', '/scenarios/step-by-step', { name: 'step-by-step', rules })
      await control(mock, 'post', '/scenarios/step-by-step/start')
      crashed = disk.after('power-lost')
    })
    for (const again of [disk, crashed]) {
      vi.resetModules()
      const { withToolmock: withFresh } = await import('../support/toolmock.ts')
      await withFresh({ state: join(folder, 'state.json'), fileSystem: again }, async (mock) => {
        expect((await mock.api.get('/connections')).status).toBe(503)
      })
    }
  })

  it('survive a restart also when their file has changed meanwhile', async () => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      await start(mock)
      const { scenario } = mock.environment.model.tables.scenario_definitions.get('step-by-step')!
      mock.app.services.scenarios.redefine([scenario], [mock.environment])
      await list(mock, 2)
    })
    await withMock(disk, async (mock) => expect(await view(mock)).toMatchObject({ running: true, state: 'second' }))
  })

  it('a barrier at which a request waited holds no request after the restart', async () => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      const hold = rule('meet', {}, { do: [{ hold_until: { requests: 2, within: '60s' } }] })
      await control(mock, 'put', '/scenarios/step-by-step', { ...STEPS, rules: [hold], initial: undefined })
      await control(mock, 'post', '/scenarios/step-by-step/start')
      const waiting = mock.api.get('/connections').then(
        () => 'answered',
        () => 'cut off',
      )
      await expect.poll(async () => (await view(mock)) as object).toMatchObject({ rules: [{ matched: 1 }] })
      await mock.app.close()
      expect(['answered', 'cut off']).toContain(await waiting)
    })
    await withMock(disk, async (mock) => {
      expect(await view(mock)).toMatchObject({ running: true, rules: [{ matched: 1, hits: 1 }] })
      expect((await mock.api.get('/connections')).status).toBe(200)
    })
  })

  it('stay stopped after a restart', async () => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      await start(mock)
      await list(mock, 1)
      await control(mock, 'post', '/scenarios/step-by-step/stop')
    })
    await withMock(disk, async (mock) => {
      expect(await view(mock)).toMatchObject({ running: false, state: 'first', rules: [{ matched: 1 }, {}] })
      await list(mock, 4)
      expect(await view(mock)).toMatchObject({ running: false, state: 'first', rules: [{ matched: 1 }, {}] })
    })
  })

  it('survive a crash as of the last commit', async () => {
    const disk = new MemoryDisk()
    let crashed = disk
    await withMock(disk, async (mock) => {
      await start(mock)
      await list(mock, 1)
      await mock.api.post('/connected_accounts', { connector: 'mail', identifier: 'ada@example.com' })
      crashed = disk.after('power-lost')
    })
    await withMock(crashed, async (mock) => {
      expect(await view(mock)).toMatchObject({ running: true, state: 'first', rules: [{ matched: 1 }, {}] })
    })
  })

  it('are not part of the state that the control API shows', async () => {
    await withMock(new MemoryDisk(), async (mock) => {
      await start(mock)
      expect(JSON.stringify((await control(mock, 'get', '/state')).body)).not.toContain('step-by-step')
    })
  })

  it('stay known after a reset, and no longer run', async () => {
    await withMock(new MemoryDisk(), async (mock) => {
      await start(mock)
      await list(mock, 1)
      await control(mock, 'post', '/reset')
      expect(await view(mock)).toMatchObject({
        running: false,
        started: false,
        state: null,
        rules: [{ matched: 0 }, {}],
      })
    })
  })
})

describe('a change of scenarios that the disk refuses', () => {
  it.each<[string, 'post' | 'put' | 'delete', string, object | undefined]>([
    ['a stop', 'post', '/scenarios/step-by-step/stop', undefined],
    ['a new start', 'post', '/scenarios/step-by-step/start', undefined],
    ['another definition', 'put', '/scenarios/step-by-step', { ...STEPS, description: 'another' }],
    ['a start of another one', 'post', '/scenarios/rate-limited/start', undefined],
    ['the end of all', 'delete', '/scenarios', undefined],
    ['a reset', 'post', '/reset', undefined],
  ])('%s is answered with 503 and does not change them', async (_change, method, path, body) => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      await start(mock)
      await list(mock, 1)
      const before = await all(mock)
      disk.fails = () => new Error('ENOSPC: no space left')
      expect((await control(mock, method, path, body)).status).toBe(503)
      disk.fails = () => undefined
      expect(await all(mock)).toEqual(before)
      // The second request fires the first rule, because the refused change has no effect.
      await list(mock, 1)
      expect(await view(mock)).toMatchObject({ state: 'second', rules: [{ matched: 2, hits: 1 }, {}] })
    })
  })
})

describe('an answer of a rule whose firing the disk refuses', () => {
  it.each([
    ['a text', 'gone for lunch'],
    ['JSON', { gone: 'for lunch' }],
  ])('is the 503 of the service in its place: %s', async (_kind, body) => {
    const disk = new MemoryDisk()
    await withMock(disk, async (mock) => {
      const answered = rule('answered', { first: 1 }, { do: [{ respond: { status: 500, body } }] })
      const scenario = { name: 'step-by-step', rules: [answered] }
      expect((await control(mock, 'put', '/scenarios/step-by-step', scenario)).status).toBe(200)
      expect((await control(mock, 'post', '/scenarios/step-by-step/start')).status).toBe(200)
      disk.fails = () => new Error('ENOSPC: no space left')
      const { status, text } = await mock.api.get('/connections')
      disk.fails = () => undefined
      expect(status).toBe(503)
      expect(JSON.parse(text)).toMatchObject({ details: [{ error_code: 'STORAGE_UNAVAILABLE' }] })
    })
  })
})

function withMock(fileSystem: MemoryDisk, work: (mock: TestToolmock) => Promise<void>): Promise<void> {
  return withToolmock({ state: join(folder, 'state.json'), fileSystem }, work)
}

function control(mock: TestToolmock, method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) {
  const request = mock.http(method, `/_mock${path}`)
  return body ? request.send(body) : request
}

async function start(mock: TestToolmock): Promise<void> {
  expect((await control(mock, 'put', '/scenarios/step-by-step', STEPS)).status).toBe(200)
  expect((await control(mock, 'post', '/scenarios/step-by-step/start')).status).toBe(200)
}

async function list(mock: TestToolmock, times: number): Promise<void> {
  for (let time = 0; time < times; time++) expect((await mock.api.get('/connections')).status).toBe(200)
}

async function all(mock: TestToolmock): Promise<object[]> {
  const { body } = (await control(mock, 'get', '/scenarios')) as { body: { scenarios: { name: string }[] } }
  return body.scenarios
}

async function view(mock: TestToolmock): Promise<object | undefined> {
  return (await all(mock)).find((scenario) => 'name' in scenario && scenario.name === 'step-by-step')
}
