import { join } from 'node:path'
import { expect } from 'vitest'
import type { AppOptions } from '../../../src/app/app.ts'
import { type ControlMock, withControl } from './control-mock.ts'
import { itWith } from '../../support/mock-fixture.ts'

const PAD = {
  connector: 'pad',
  authorization_type: 'BEARER_TOKEN',
  rate_limit: { calls: 2, every: '1m' },
  tools: [{ name: 'pad_ping', call: { method: 'GET', path: '/ping' } }],
  responders: [{ on: { path: '/ping' }, respond: { body: { ok: true } } }],
}
const account = (token: string) => ({
  connector: 'pad',
  identifier: token,
  authorization_details: { static_auth: { details: { token } } },
})
const SEED = { connectors: [PAD], accounts: [account('ada'), account('grace')] }

interface RateLimitMock extends ControlMock {
  /** Makes a direct call; returns its status and how many calls are left. */
  readonly direct: (token: string) => Promise<[status: number, remaining: string | undefined]>
  /** Runs a tool; returns the status. */
  readonly tool: (identifier: string) => Promise<number>
}

async function withPad(options: AppOptions, work: (mock: RateLimitMock) => Promise<void>): Promise<void> {
  await withControl(options, async (mock) => {
    const bearer = await mock.token('test_client', 'test_secret')
    await work({
      ...mock,
      direct: async (token) => {
        const { status, headers } = await mock
          .http('get', '/third-party/pad/api/ping')
          .set('Authorization', `Bearer ${token}`)
        return [status, headers['x-ratelimit-remaining']]
      },
      tool: async (identifier) => {
        const body = { connector: 'pad', identifier, tool_name: 'pad_ping' }
        return (await mock.api(bearer, 'post', '/execute_tool', body)).status
      },
    })
  })
}

const it = itWith(withPad, {})

it('are tool calls and direct calls together, until exactly the end of the period', async ({
  mock: { call, direct, tool },
}) => {
  await call('post', '/seed', SEED)
  expect(await tool('ada')).toBe(200)
  expect(await direct('ada')).toEqual([200, '0'])
  expect(await tool('ada')).toBe(429)
  expect(await direct('grace')).toEqual([200, '1'])
  await call('put', '/clock', { advance: '59999ms' })
  expect(await direct('ada')).toEqual([429, '0'])
  await call('put', '/clock', { advance: '1ms' })
  expect(await direct('ada')).toEqual([200, '1'])
})

it('are counted separately in each environment', async ({ mock: { call, direct } }) => {
  await call('post', '/seed', SEED)
  await call('post', '/environments', { name: 'other', seed: { connectors: [PAD], accounts: [account('eve')] } })
  for (let nth = 1; nth <= 2; nth++) await direct('ada')
  expect(await direct('ada')).toEqual([429, '0'])
  expect(await direct('eve')).toEqual([200, '1'])
})

it('go back with a snapshot', async ({ mock: { call, direct } }) => {
  await call('post', '/seed', SEED)
  await direct('ada')
  await call('put', '/snapshots/one')
  for (let nth = 1; nth <= 2; nth++) await direct('ada')
  await call('post', '/snapshots/one/restore')
  expect(await direct('ada')).toEqual([200, '0'])
  expect(await direct('ada')).toEqual([429, '0'])
})

it('are zero after a reset', async ({ mock: { call, direct } }) => {
  await call('post', '/seed', SEED)
  for (let nth = 1; nth <= 3; nth++) await direct('ada')
  await call('post', '/reset')
  await call('post', '/seed', SEED)
  expect(await direct('ada')).toEqual([200, '1'])
})

it('are still counted after a restart from a state file', async ({ directory: folder }) => {
  const state = join(folder, 'state.json')
  await withPad({ state }, async ({ call, direct }) => {
    await call('post', '/seed', SEED)
    expect(await direct('ada')).toEqual([200, '1'])
  })
  await withPad({ state }, async ({ direct, tool }) => {
    expect(await direct('ada')).toEqual([200, '0'])
    expect(await tool('ada')).toBe(429)
  })
})
