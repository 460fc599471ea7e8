import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import type { EntryDocument } from '../../src/journal/request-journal/entry.ts'
import type { ContractReport } from '../../src/journal/verdict/report-types.ts'
import { it, type ScenarioMock, withScenarios } from './scenario-mock.ts'
import { until } from '../support/until.ts'

// The time of barriers stands still in these tests until they move it on.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const LIST = { at: 'service', on: { operation: 'list_connections' } }

function barrier(requests: number, more: object = {}, rule: object = LIST) {
  return { name: 'race', rules: [{ name: 'meet', ...rule, do: [{ hold_until: { requests, within: '5s', ...more } }] }] }
}

function matched({ scenarios }: ScenarioMock): number {
  return scenarios.list()[0]?.rules[0]?.matched ?? 0
}

async function journal({ url }: ScenarioMock, query: string): Promise<EntryDocument[]> {
  const found = (await (await fetch(`${url}/_mock/requests?limit=200&${query}`)).json()) as {
    requests: { id: string }[]
  }
  return Promise.all(
    found.requests.map(async ({ id }) => {
      const { request } = (await (await fetch(`${url}/_mock/requests/${id}`)).json()) as { request: EntryDocument }
      return request
    }),
  )
}

describe('hold_until', () => {
  it.for([2, 10, 100])(
    'lets %i requests go on one by one, in the order of their arrival',
    async (requests, { startMock }) => {
      const mock = await startMock({ scenarios: [barrier(requests)] })
      const held = new Held(mock)
      for (let number = 1; number < requests; number++) await held.send()
      expect(held.answered).toEqual([])
      await held.send()
      await held.all()
      expect(held.answered).toEqual(held.sent)
      // Once for each start of the scenario.
      expect((await mock.call('GET', '/connections')).status).toBe(200)
    },
  )

  it('lets them go on in the reverse order with release: reverse', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(3, { release: 'reverse' })] })
    const held = new Held(mock)
    for (let number = 1; number <= 3; number++) await held.send()
    await held.all()
    expect(held.answered).toEqual(held.sent.toReversed())
  })

  it('opens by its time, and the journal and the verdict say so', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(3)] })
    const held = new Held(mock)
    await held.send()
    await held.send()
    await vi.advanceTimersByTimeAsync(4999)
    expect(held.answered).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await held.all()
    expect(held.answered).toEqual(held.sent)
    const late = 'opened its barrier after 5000 ms with 2 of 3 requests'
    const entries = await journal(mock, 'operation=list_connections')
    expect(entries.map(({ rules }) => rules[0]?.sentence)).toEqual([
      expect.stringContaining(late),
      expect.stringContaining(late),
    ])
    const { ok, total } = await contractOf(mock)
    expect(ok).toBe(true)
    expect(total.findings).toMatchObject([{ code: 'barrier_opened_late', allowed: late, count: 2 }])
  })

  it('lets the next request go on when one has been answered that met at another barrier since', () => {
    const other = { name: 'other', rules: barrier(2, { within: '1s' }).rules }
    return withScenarios({ scenarios: [barrier(2, { within: '60s' }), other] }, async (mock) => {
      const held = new Held(mock)
      await held.send()
      await held.send()
      // The second request waits for the answer to the first, which waits for the second.
      await vi.advanceTimersByTimeAsync(1000)
      await held.all()
      expect(held.answered).toEqual(held.sent)
    })
  })

  it('does not count a request whose client has gone, and does not carry it out', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [barrier(2, {}, { at: 'service', on: { operation: 'create_connected_account' } })],
    })
    const gone = new AbortController()
    const create = (identifier: string, signal?: AbortSignal): Promise<number> =>
      fetch(`${mock.url}/api/v1/connected_accounts`, {
        method: 'POST',
        headers: { Authorization: mock.authorization(), 'Content-Type': 'application/json' },
        body: JSON.stringify({ connector: 'mail', identifier }),
        ...(signal && { signal }),
      }).then(({ status }) => status)
    const first = create('gone@example.com', gone.signal).catch(() => 0)
    await until(() => matched(mock) === 1)
    gone.abort()
    expect(await first).toBe(0)
    await journaled(mock, 'operation=create_connected_account', 1)
    const second = create('ada@example.com')
    await until(() => matched(mock) === 2)
    expect((await mock.call('GET', '/connected_accounts')).body).toMatchObject({ total_size: 0 })
    const third = create('grace@example.com')
    expect(await Promise.all([second, third])).toEqual([201, 201])
    expect((await mock.call('GET', '/connected_accounts')).body).toMatchObject({ total_size: 2 })
  })

  it.for<[string, (mock: ScenarioMock) => unknown]>([
    ['a stop', ({ scenarios }) => scenarios.stop('race')],
    ['a reset', ({ url }) => fetch(`${url}/_mock/reset`, { method: 'POST' })],
    ['the removal of all scenarios', ({ url }) => fetch(`${url}/_mock/scenarios`, { method: 'DELETE' })],
    ['a new start', ({ scenarios }) => scenarios.start('race')],
  ])('lets go of what waits at %s', async ([_, release], { startMock }) => {
    const mock = await startMock({ scenarios: [barrier(2)] })
    const held = new Held(mock)
    await held.send()
    await release(mock)
    await held.all()
    expect(held.statuses).toEqual([200])
  })

  it('lets go of what waits at the removal of its environment, which is 401', { timeout: 10_000 }, () =>
    withScenarios({}, async ({ url }) => {
      const post = async (path: string, body: object): Promise<Record<string, string>> => {
        const sent = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
        return (await (await fetch(`${url}/_mock${path}`, sent)).json()) as Record<string, string>
      }
      const { client_id = '', client_secret = '' } = await post('/environments', { name: 'gone' })
      const of = '?environment=gone'
      const define = {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(barrier(2)),
      }
      await fetch(`${url}/_mock/scenarios/race${of}`, define)
      await post(`/scenarios/race/start${of}`, {})
      const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
      const token = (await (await fetch(`${url}/oauth/token`, { method: 'POST', body: form })).json()) as {
        access_token: string
      }
      const headers = { Authorization: `Bearer ${token.access_token}` }
      const held = fetch(`${url}/api/v1/connections`, { headers })
      const hasArrived = async (): Promise<boolean> => {
        const { scenarios } = (await (await fetch(`${url}/_mock/scenarios${of}`)).json()) as {
          scenarios: { name: string; rules: { matched: number }[] }[]
        }
        return scenarios.some(({ name, rules }) => name === 'race' && rules[0]?.matched === 1)
      }
      await until(hasArrived)
      await fetch(`${url}/_mock/environments/gone`, { method: 'DELETE' })
      expect((await held).status).toBe(401)
    }),
  )

  it('does not keep the server from stopping', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(2)] })
    const held = new Held(mock)
    await held.send()
    await mock.close()
    await held.all()
    expect(held.sent).toEqual([1])
  })

  it('waits for a request that is never answered no longer than its own time', async ({ startMock }) => {
    const mock = await startMock({
      scenarios: [
        barrier(2),
        { name: 'dead', rules: [{ name: 'dead', ...LIST, when: { nth: 1 }, do: [{ timeout: {} }] }] },
      ],
    })
    const held = new Held(mock)
    await held.send()
    await held.send()
    await vi.advanceTimersByTimeAsync(4999)
    expect(held.answered).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await until(() => held.answered.length === 1)
    expect(held.answered).toEqual([2])
    await mock.close()
  })

  it('holds the calls of tools by MCP too', async ({ startMock }) => {
    const mock = await startMock({
      transport: 'MCP',
      scenarios: [barrier(2, {}, { at: 'service', on: { operation: 'execute_tool' } })],
    })
    const account = await mock.account()
    const first = mock.send(account)
    await until(() => matched(mock) === 1)
    const answers = await Promise.all([first, mock.send(account)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it('holds calls of the third party', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(2, {}, { at: 'third_party' })] })
    const account = await mock.account()
    const first = mock.send(account)
    await until(() => matched(mock) === 1)
    const answers = await Promise.all([first, mock.send(account)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it('holds refreshes of the service; of one account there is only one, for all callers', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(2, {}, { at: 'token_refresh' })] })
    const accounts = [await mock.account(), await mock.account('grace@example.com')]
    for (const id of accounts) await fetch(`${mock.url}/_mock/accounts/${id}/expire_access_token`, { method: 'POST' })
    const ada = [mock.send(accounts[0]!), mock.send(accounts[0]!)]
    await until(() => matched(mock) === 1)
    const answers = await Promise.all([...ada, mock.send(accounts[1]!)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(matched(mock)).toBe(2)
  })

  it('holds decisions at consent', async ({ startMock }) => {
    const mock = await startMock({ scenarios: [barrier(2, {}, { at: 'consent' })] })
    const link = async (identifier: string): Promise<string> => {
      const { body } = await mock.call('POST', '/connected_accounts/magic_link', { connector: 'mail', identifier })
      return body?.['link'] as string
    }
    const decide = async (url: string): Promise<number> =>
      (await fetch(`${url}?decision=approve`, { redirect: 'manual' })).status
    const links = [await link('ada@example.com'), await link('grace@example.com')]
    const first = decide(links[0]!)
    await until(() => matched(mock) === 1)
    expect(await Promise.all([first, decide(links[1]!)])).toEqual([302, 302])
  })
})

/** Requests that a barrier holds, by their numbers. */
class Held {
  readonly sent: number[] = []
  readonly answered: number[] = []
  readonly statuses: number[] = []
  readonly #mock: ScenarioMock
  readonly #answers: Promise<void>[] = []

  constructor(mock: ScenarioMock) {
    this.#mock = mock
  }

  /** Sends a request, and returns once it has come to the barrier. */
  async send(): Promise<void> {
    const number = this.sent.push(this.sent.length + 1)
    const answer = this.#mock.call('GET', '/connections').then(
      ({ status }) => {
        this.answered.push(number)
        this.statuses.push(status)
      },
      () => undefined,
    )
    this.#answers.push(answer)
    await until(() => matched(this.#mock) === number)
  }

  async all(): Promise<void> {
    await Promise.all(this.#answers)
  }
}

async function journaled(mock: ScenarioMock, query: string, count: number): Promise<void> {
  await until(async () => (await journal(mock, query)).length >= count)
}

async function contractOf({ url }: ScenarioMock): Promise<ContractReport> {
  return (await (await fetch(`${url}/_mock/contract`)).json()) as ContractReport
}
