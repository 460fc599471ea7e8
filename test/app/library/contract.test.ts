import { describe, expect, it } from 'vitest'
import { type ContractExpectation, createToolmock } from '../../../src/index.ts'
import { ADA, clientOf, MESSAGE, TOKENS } from './client.ts'
import { rejection, ACCESSES, withMock } from './with-mock.ts'

const WRONG_INPUT = { ...MESSAGE, tool_input: { to: 7 } }

describe.each(ACCESSES)('the contract verdict of the library, %s', (access) => {
  it('passes for a client that keeps the contract, and shows what it exercised', async () => {
    await withMock(access, {}, async (mock) => {
      const client = await clientOf(mock)
      await client.account({ connected_account: TOKENS })
      expect(await mock.contract.verify({ minOperations: 2 })).toMatchObject({ ok: true, reasons: [], requests: 2 })
      expect(await mock.contract.report()).toMatchObject({ ok: true, total: { requests: 2, findings: [] } })
      const { total } = await mock.contract.coverage()
      expect(total.summary.operations).toMatchObject({ total: 20, driven: 2 })
      const created = total.operations.find(({ operation }) => operation === 'create_connected_account')
      expect(created?.statuses).toContainEqual(expect.objectContaining({ status: 201, reach: 'driven', answers: 1 }))
    })
  })

  it('fails with every reason: a violation, an unknown path, too little coverage', async () => {
    await withMock(access, {}, async (mock) => {
      const client = await clientOf(mock)
      await client.account({ connected_account: TOKENS })
      await client.post('/execute_tool', WRONG_INPUT)
      await fetch(`${mock.url}/api/v1/conections`)
      const error = await rejection(mock.contract.verify({ minOperations: '50%', minStatuses: 2 }))
      expect(error).toMatchObject({
        code: 'CONTRACT_BROKEN',
        message: expect.stringMatching(
          /^the contract was not kept in environment default, for 4 reasons\n- violation: /,
        ),
        details: [
          { kind: 'violation', sentence: expect.stringMatching(/^execute_tool: tool_input\.subject/) },
          { kind: 'violation', sentence: expect.stringMatching(/^execute_tool: tool_input\.to/) },
          { kind: 'violation', code: 'unknown_path', sentence: expect.stringContaining('GET /api/v1/connections?') },
          { kind: 'violation', code: 'coverage', sentence: '2 of 20 operations were driven; the minimum is 50% (10)' },
        ],
      })
      expect(await mock.contract.verdict()).toMatchObject({ ok: false, reasons: { length: 3 } })
    })
  })

  it('allows deliberate violations, warns of unused allowances, and refuses invalid options', async () => {
    await withMock(access, {}, async ({ contract, env, url }) => {
      const client = await clientOf({ env })
      await client.account({ connected_account: TOKENS })
      await client.post('/execute_tool', WRONG_INPUT)
      await fetch(`${url}/v2/ping`)
      const allow = ['execute_tool:tool_input', 'unknown_path:/v2', 'verify_user'] as const
      expect(await contract.verify({ allow })).toMatchObject({
        ok: true,
        allowed: { length: 3 },
        warnings: [
          { kind: 'warning', code: 'unused_allowance', sentence: 'verify_user is allowed, but no request needed it' },
        ],
      })
      expect(
        (await contract.verdict({ allow: ['execute_tool:tool_input.to', 'unknown_path:/v'] })).reasons,
      ).toHaveLength(2)
      const unread: [ContractExpectation, string][] = [
        [{ allow: ['exectue_tool' as 'execute_tool'] }, 'did you mean execute_tool?'],
        [{ minOperations: '200%' }, 'minOperations must be a whole number'],
        [{ minStatuses: -1 }, 'found -1'],
        [{ minOperations: 200 }, 'a whole number from 0 to 34'],
        [{ allowNoRequests: 1 as never }, 'allowed: true or false'],
      ]
      for (const [expectation, message] of unread) {
        const expected = { code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) }
        expect(await rejection(contract.verdict(expectation))).toMatchObject(expected)
      }
    })
  })

  it('covers its own environment, or the whole server with removed environments', async () => {
    await withMock(access, {}, async (mock) => {
      const other = await mock.environment('other')
      await (await clientOf(other)).post('/connected_accounts', { connector: 'mail' })
      expect(await mock.contract.verify({ allowNoRequests: true })).toMatchObject({ requests: 0 })
      await other.close()
      expect(await rejection(mock.contract.verify({ everywhere: true }))).toMatchObject({
        message: expect.stringMatching(
          /^the contract was not kept in the server, for 1 reason\n- violation: .*identifier/,
        ),
      })
      await mock.contract.clear({ everywhere: true })
      expect((await mock.contract.report({ everywhere: true })).environments).toMatchObject([{ name: 'default' }])
      await mock.contract.verify({ everywhere: true, allowNoRequests: true })
    })
  })

  it('survives a reset, until it is cleared', async () => {
    await withMock(access, {}, async (mock) => {
      await (await clientOf(mock)).get('/connected_accounts?page_size=many')
      await mock.reset()
      expect(await mock.contract.verdict()).toMatchObject({ ok: false })
      await mock.contract.clear()
      expect(await mock.contract.verdict({ allowNoRequests: true })).toMatchObject({ ok: true, requests: 0 })
    })
  })

  it('fails without a request to any operation, as run does, unless that is allowed', async () => {
    await withMock(access, {}, async ({ contract }) => {
      expect(await rejection(contract.verify())).toMatchObject({
        code: 'CONTRACT_BROKEN',
        details: [
          {
            kind: 'violation',
            code: 'no_requests',
            sentence: expect.stringMatching(/^no operation was called, .*allowNoRequests: true/),
          },
        ],
      })
      expect(await contract.verify({ allowNoRequests: true })).toMatchObject({ ok: true, requests: 0 })
    })
  })
})

it('the contract verdict of a scenario fails until every rule has fired', async () => {
  await using mock = await createToolmock({ scenario: 'token-dies-mid-run' })
  const { reasons } = await mock.contract.verdict()
  expect(reasons.map(({ code }) => code)).toEqual(['must_fire', 'must_fire', 'no_requests'])
  const client = await clientOf(mock)
  await client.account({ ...ADA, connected_account: TOKENS })
  for (let nth = 1; nth <= 3; nth++) await client.post('/execute_tool', MESSAGE)
  await mock.contract.verify()
})
