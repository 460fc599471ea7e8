import { describe, expect } from 'vitest'
import { createPrismValidator } from '../../../src/model/contract/prism-validator.ts'
import type { PrismCheck } from '../../../src/journal/verdict/report-types.ts'
import { contractReportSchema } from './report-schemas.ts'
import { prismCheck } from '../../../src/journal/verdict/prism-check.ts'
import { recorded } from '../request-journal/recorded.ts'
import { ADA, createAccount } from '../../support/accounts.ts'
import { it, type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { control, RULE_429, withViolations } from './reports.ts'

async function prismCheckOf(mock: TestToolmock, query = ''): Promise<PrismCheck> {
  const { status, body } = await control(mock, 'get', `/contract?judge=prism${query}`)
  expect(status).toBe(200)
  const { second_opinion: byPrism } = contractReportSchema.parse(body)
  if (!byPrism) throw new Error('there is no check by Prism')
  return byPrism
}

describe('GET /_mock/contract?judge=prism', () => {
  it('checks every exchange of the journal against the contract, and agrees with the mock', async () => {
    await withViolations(async (mock, total) => {
      const byPrism = await prismCheckOf(mock)
      expect(byPrism).toMatchObject({ judge: 'prism', disagreements: [], left_out: 0 })
      expect(byPrism.judged.requests).toBe(total.requests)
      expect(byPrism.judged.answers).toBe(total.requests - total.injected)
      expect(byPrism.not_judged).toEqual({ refused: 0, injected: total.injected, shortened: 0 })
    })
  })

  it('omits requests that were refused before the contract check, and entries that the journal has shortened', async ({
    mock,
  }) => {
    await mock.http('get', '/api/v1/connections')
    await mock.api.post('/connected_accounts', { ...ADA, organization_id: 'o'.repeat(20_000) })
    expect(await prismCheckOf(mock)).toMatchObject({
      judged: { requests: 1, answers: 3 },
      not_judged: { refused: 1, injected: 0, shortened: 1 },
      disagreements: [],
    })
  })

  it('uses the words of the wire (G48)', async () => {
    const vocabulary = { connector: 'app', page_size: 'limit', OAUTH: 'OAUTH2', VALIDATION_FAILED: 'INVALID' }
    await withToolmock({ seed: { settings: { vocabulary } } }, async (mock) => {
      await mock.api.post('/connected_accounts', { app: 'mail', identifier: 'ada@example.com' })
      await mock.api.post('/connected_accounts', { app: 7, identifier: 'ada@example.com' })
      await mock.api.get('/connected_accounts', { limit: '1.0' })
      await mock.api.get('/connected_accounts', { limit: 5, app: 'mail' })
      expect(await prismCheckOf(mock)).toMatchObject({ judged: { requests: 5, answers: 5 }, disagreements: [] })
    })
  })

  it('reads a body with a byte order mark as the mock does', async ({ mock }) => {
    const token = await mock.signIn()
    const answer = await mock
      .http('post', '/api/v1/connected_accounts')
      .set('Authorization', `Bearer ${token}`)
      .type('json')
      .send(`\ufeff${JSON.stringify(ADA)}`)
    expect(answer.status).toBe(201)
    expect((await prismCheckOf(mock)).disagreements).toEqual([])
  })

  it('checks only the named environment', async ({ mock }) => {
    await createAccount(mock)
    await control(mock, 'post', '/environments', { name: 'worker-2' })
    expect((await prismCheckOf(mock, '&environment=worker-2')).judged).toEqual({ requests: 0, answers: 0 })
    expect((await prismCheckOf(mock, '&environment=default')).judged).toEqual({ requests: 2, answers: 2 })
  })

  it.for([
    ['contract?judge=me', 'judge', 'prism'],
    ['contract?judge=prism&format=sarif', 'judge', 'only with format=json'],
    ['coverage?judge=prism', 'judge', 'environment, format'],
  ])('%s is refused with what is allowed', async ([path, at, allowed], { mock }) => {
    const { status, body } = await control(mock, 'get', `/${path}`)
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'INVALID_QUERY', details: [{ path: at, allowed }] })
  })

  it('does not change the rest of the report', async ({ mock }) => {
    await control(mock, 'put', '/scenarios/limited', RULE_429)
    await createAccount(mock)
    const timeless = async (query: string) => {
      const { at: _at, second_opinion: _opinion, ...rest } = (await control(mock, 'get', `/contract${query}`)).body
      return rest as unknown
    }
    expect(await timeless('?judge=prism')).toEqual(await timeless(''))
  })
})

const answered = {
  operation: 'verify_user',
  url: '/api/v1/connected_accounts/user/verify',
  responseHeaders: { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1' },
} as const
const good = { ...answered, requestBody: Buffer.from('{"auth_request_id":"abc","identifier":"a"}') }
const done = JSON.stringify({ post_user_verify_redirect_url: 'http://localhost/connect/success' })

it('a check by Prism lists each disagreement with the violations of both checks', async () => {
  const prism = await createPrismValidator()
  const entries = [
    recorded({ ...good, id: 'agreed', responseBody: done }),
    recorded({ ...answered, id: 'overlooked', requestBody: Buffer.from('{"identifier":"a"}'), responseBody: done }),
    recorded({
      ...good,
      id: 'invented',
      checkViolations: [{ field: 'identifier', description: 'found it', constraint: 'type' }],
      responseBody: done,
    }),
    recorded({ ...good, id: 'answered', responseBody: '{"post_user_verify_redirect_url":7}' }),
  ]
  const { disagreements } = await prismCheck(prism, entries)
  const about = { environment: 'default', operation: 'verify_user' }
  expect(disagreements).toEqual([
    {
      ...about,
      request: 'overlooked',
      part: 'request',
      contract: [],
      prism: [expect.stringContaining('auth_request')],
    },
    { ...about, request: 'invented', part: 'request', contract: ['identifier: found it'], prism: [] },
    { ...about, request: 'answered', part: 'answer', contract: [], prism: [expect.stringContaining('redirect_url')] },
  ])
})

it('a check by Prism keeps the first two hundred', async () => {
  const prism = await createPrismValidator()
  const entries = Array.from({ length: 203 }, () => recorded({ ...answered, responseBody: done }))
  const byPrism = await prismCheck(prism, entries)
  expect([byPrism.disagreements.length, byPrism.left_out]).toEqual([200, 3])
})

it('a check by Prism lets other tasks of the event loop run', async () => {
  const prism = await createPrismValidator()
  const entries = Array.from({ length: 100 }, () => recorded({ ...good, responseBody: done }))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 0)
  await prismCheck(prism, entries)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})
