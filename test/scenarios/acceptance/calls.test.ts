import { describe, expect } from 'vitest'
import { rulesNotFired } from '../../../src/scenarios/scenario-run.ts'
import { it, TRANSPORTS } from '../scenario-mock.ts'
import { failed, statusOf, statusAndCode } from './steps.ts'

describe.each(TRANSPORTS)('bundled scenarios about calls that fail, by %s', (transport) => {
  it('rate-limited: given an account, when it sends three times, then it has to wait twice', async ({ startMock }) => {
    const mock = await startMock({ transport, scenarios: ['rate-limited'] })
    const account = await mock.account()
    for (const answer of [await mock.send(account), await mock.send(account)]) {
      expect(statusAndCode(answer)).toBe('429 TOOL_ERROR')
      expect(answer.headers.get('retry-after')).toBe('2')
    }
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('third-party-fails: given an account, when it sends three times, then two calls fail', async ({ startMock }) => {
    const mock = await startMock({ transport, scenarios: ['third-party-fails'] })
    const account = await mock.account()
    expect(statusAndCode(await mock.send(account))).toBe('500 TOOL_ERROR')
    expect(statusAndCode(await mock.send(account))).toBe('500 TOOL_ERROR')
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('third-party-never-answers: given a tool with a short timeout, when it is called, then 504, and 200 after', async ({
    startMock,
  }) => {
    const mock = await startMock({
      transport,
      scenarios: ['third-party-never-answers'],
      seed: { connectors: [IMPATIENT] },
    })
    const account = await mock.account('ada', 'impatient')
    const call = () => mock.send(account, 'ask', {})
    expect(statusAndCode(await call())).toBe('504 TOOL_ERROR')
    expect(statusAndCode(await call())).toBe('200')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('slow-bodies: given an account, when it sends, then the body takes a second', async ({ startMock }) => {
    const mock = await startMock({ transport, scenarios: ['slow-bodies'] })
    const account = await mock.account()
    const start = performance.now()
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(performance.now() - start).toBeGreaterThan(950)
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('broken-bodies: given an account, when it sends three times, then two answers cannot be used', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['broken-bodies'] })
    const account = await mock.account()
    expect(await failed(mock.send(account))).toBe(true)
    expect(await failed(mock.send(account))).toBe(true)
    expect(await failed(mock.send(account))).toBe(false)
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })

  it('connection-reset: given an account, when it sends twice, then the first call gets no answer', async ({
    startMock,
  }) => {
    const mock = await startMock({ transport, scenarios: ['connection-reset'] })
    const account = await mock.account()
    expect(await failed(mock.send(account))).toBe(true)
    expect(statusAndCode(await mock.send(account))).toBe('200')
    expect(await statusOf(mock, account)).toBe('ACTIVE')
    expect(rulesNotFired(mock.scenarios.history())).toEqual([])
  })
})

const IMPATIENT = {
  connector: 'impatient',
  authorization_type: 'OAUTH',
  people: ['ada'],
  tools: [{ name: 'ask', call: { method: 'GET', path: '/v1/answer', timeout: '100ms' } }],
  responders: [{ on: {}, respond: { body: { answer: 42 } } }],
}
