import { expect, it } from 'vitest'
import { createToolmock, type Toolmock, type ToolmockEnvironment } from '../../../src/index.ts'
import { FORMATS, renderReport, type ReportFormat } from '../../../src/journal/verdict/formats/formats.ts'
import { verdictMarkdown } from '../../../src/journal/verdict/formats/markdown.ts'
import { mergeReports } from '../../../src/journal/verdict/merge-reports.ts'
import type { ReportPair } from '../../../src/journal/verdict/report-pair.ts'
import type { ContractRecord } from '../../../src/journal/verdict/report-types.ts'
import { judgeReports, nothingJudged, verdictOf } from '../../../src/journal/verdict/verdict.ts'
import { ConnectedAccounts } from '../../fixtures/rpc/generated/acme/tools/v1/tools_pb.ts'
import { ADA, clientOf as libraryClient } from '../../app/library/client.ts'
import { withMcp } from '../../servers/mcp/fixture.ts'
import { clientOf, failure, withRpc } from '../../servers/rpc/fixture.ts'
import { xmlText } from '../../../src/model/domain/junit.ts'

type Server = Pick<ToolmockEnvironment, 'env'>

function signIn({ env }: Server, secret = env.TOOLMOCK_CLIENT_SECRET, client_id = env.TOOLMOCK_CLIENT_ID) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: secret })
  return fetch(`${env.TOOLMOCK_URL}/oauth/token`, { method: 'POST', body: form })
}
const get = ({ env }: Server, token = 'stale', path = '/api/v1/connections') =>
  fetch(env.TOOLMOCK_URL + path, { headers: { Authorization: `Bearer ${token}` } })
async function pairOf({ contract }: Toolmock): Promise<ReportPair> {
  const everywhere = { everywhere: true }
  return { contract: await contract.report(everywhere), coverage: await contract.coverage(everywhere) }
}

const BOTH = "nothing was judged: 2 requests, both 401 (the client's secret is wrong, the bearer token is unknown)"

it('fails in the library, everywhere and in the default environment, unless that is allowed', async () => {
  await using mock = await createToolmock()
  await signIn(mock, 'wrong')
  await get(mock)
  for (const everywhere of [true, false]) {
    const { ok, reasons } = await mock.contract.verdict({ everywhere })
    const finding = { kind: 'violation', code: 'nothing_judged', request: null }
    expect({ ok, reasons }).toMatchObject({ ok: false, reasons: [finding] })
    expect(reasons[0]?.sentence).toMatch(/^nothing was judged: 2 requests, both 401 \(.*--allow-no-requests/)
    expect(reasons[0]?.sentence).toContain(BOTH)
  }
  expect(await mock.contract.verdict({ allowNoRequests: true })).toMatchObject({ ok: true, requests: 2, judged: 0 })
  expect((await mock.contract.report()).total).toMatchObject({
    refused: [
      { reason: "the client's secret is wrong", requests: 1 },
      { reason: 'the bearer token is unknown', requests: 1 },
    ],
  })
})

it('is green in the environment of a test, which may be about a wrong secret', async () => {
  await using mock = await createToolmock()
  const test = await mock.environment('refused', { test: { label: 'a wrong secret' } })
  await signIn(test, 'wrong')
  expect(await test.contract.verify()).toMatchObject({ ok: true, requests: 1, judged: 0 })
  expect(await mock.contract.verdict({ everywhere: true })).toMatchObject({ ok: false })
  await (await libraryClient(await mock.environment('judged'))).get('/connections')
  expect(await mock.contract.verdict({ everywhere: true })).toMatchObject({ ok: true, requests: 3, judged: 1 })
})

it('says the reasons of all environments, each with its number', async () => {
  await using mock = await createToolmock()
  const other = await mock.environment('other')
  const issued = (await (await signIn(other)).json()) as { access_token: string }
  await mock.clock.advance('1h')
  await other.clock.advance('48h')
  for (const token of ['a', 'b', issued.access_token]) await get(mock, token)
  await get(mock, 'c', '/proxy/v1/messages')
  await signIn(mock, 'x', 'nobody')
  const { reasons } = await mock.contract.verdict({ everywhere: true })
  expect(reasons.map(({ sentence }) => sentence)).toEqual([
    expect.stringContaining(
      '6 requests, 5 of them 401 (3 times the bearer token is unknown, the client is unknown, the bearer token expired), 1 of them for a token;',
    ),
  ])
})

it.each<[string, (mock: Toolmock) => Promise<unknown>]>([
  [
    'of an account that is not there',
    async (mock) => (await libraryClient(mock)).get('/connected_accounts/details?id=x'),
  ],
  ['that breaks the contract without a token', (mock) => fetch(`${mock.url}/api/v1/connections`)],
  ['for a token that breaks the contract', (mock) => fetch(`${mock.url}/oauth/token`, { method: 'POST' })],
  [
    'that a scenario answers with 401',
    async (mock) => {
      const rule = { name: 'r', at: 'service', do: [{ respond: { status: 401 } }], must_fire: false } as const
      await mock.scenarios.define({ name: 'refuses', rules: [{ ...rule, on: { operation: 'list_connections' } }] })
      await mock.scenarios.start('refuses')
      await (await libraryClient(mock)).get('/connections')
    },
  ],
])('a request %s is judged', async (_what, ask) => {
  await using mock = await createToolmock()
  await ask(mock)
  const { judged, reasons } = await mock.contract.verdict()
  expect([judged, reasons.map(({ code }) => code).includes('nothing_judged')]).toEqual([1, false])
})

it('is known over gRPC and at an MCP server too', async () => {
  await withRpc({}, async (mock) => {
    const headers = { authorization: 'Bearer stale' }
    await failure(clientOf(ConnectedAccounts, mock).listAccounts({}, { headers }))
    const { contract } = (await (
      await fetch(`${mock.url}/_mock/contract`)
    )
      .json()
      .then((contract: unknown) => ({ contract }))) as ReportPair
    expect(sentencesOf(contract.total)).toEqual([
      expect.stringContaining('2 requests, 1 of them 401 (the bearer token is unknown), 1 of them for a token'),
    ])
  })
  await withMcp({}, async ({ url }) => {
    await fetch(`${url}/_mock/contract`, { method: 'DELETE' })
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/mcp/v3/connections/mail`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
    await ask({ Authorization: 'Bearer stale' })
    await ask({})
    const contract = (await (await fetch(`${url}/_mock/contract`)).json()) as ReportPair['contract']
    expect(sentencesOf(contract.total)).toEqual([
      expect.stringContaining(
        '2 requests, both 401 (the bearer token is unknown, the Authorization header is missing)',
      ),
    ])
  })
})

it.each([...Object.keys(FORMATS), 'json'])('is a finding of the report of a server: %s', async (format) => {
  await using mock = await createToolmock()
  await signIn(mock, 'wrong')
  await get(mock)
  const written = async (query = '') => {
    const answer = await fetch(`${mock.url}/_mock/contract?format=${format}${query}`)
    expect(answer.status).toBe(200)
    return answer.text()
  }
  // The JSON of a server has no verdict yet.
  const expected = format === 'json' ? '"judged":0' : format === 'junit' || format === 'html' ? BOTH.slice(0, 40) : BOTH
  expect(await written()).toContain(expected)
  if (format === 'json') return
  expect(await written('&allow_no_requests=true')).not.toContain('nothing was judged:')
  expect(await written('&environment=default')).not.toContain('nothing was judged:')
})

it('is a finding of every format of a run', async () => {
  await using mock = await createToolmock()
  await signIn(mock, 'wrong')
  await get(mock)
  const judged = judgeReports(await pairOf(mock), { requireRequests: true })
  expect(verdictMarkdown(judged.verdict)).toContain(`- violation: \`${BOTH}`)
  for (const format of Object.keys(FORMATS) as ReportFormat[]) {
    const { text } = await renderReport(format, judged)
    const escaped = format === 'junit' ? xmlText(BOTH) : format === 'html' ? BOTH.replaceAll("'", '&#39;') : BOTH
    expect(text, format).toContain(escaped)
  }
})

it('is judged once all reports are merged', async () => {
  await using first = await createToolmock()
  await using second = await createToolmock()
  await signIn(first, 'wrong')
  await signIn(second, 'wrong')
  await get(second)
  const merged = mergeReports([await pairOf(first), await pairOf(second)])
  expect(verdictOf(merged, { requireRequests: true }).reasons.map(({ sentence }) => sentence)).toEqual([
    expect.stringContaining("3 requests, all 401 (2 times the client's secret is wrong, the bearer token is unknown);"),
  ])
  await (await libraryClient(second)).account(ADA)
  const all = mergeReports([await pairOf(first), await pairOf(second)])
  expect(verdictOf(all, { requireRequests: true })).toMatchObject({ ok: true, requests: 5, judged: 1 })
})

it('is judged over all cases, and never by the case of a wrong secret', async () => {
  await using mock = await createToolmock()
  await signIn(mock, 'wrong')
  const pair = await pairOf(mock)
  const passed = { name: 'a', file: 'cases.yaml', line: 2, ok: true, reasons: [], requests: 1, duration_ms: 1 }
  const cases = [{ ...passed, transcript: '' }]
  expect(verdictOf(pair, { requireRequests: true, perTest: true })).toMatchObject({ ok: true })
  expect(judgeReports({ ...pair, cases }, { requireRequests: true }).verdict).toMatchObject({
    ok: false,
    reasons: [{ code: 'nothing_judged' }],
  })
  expect(judgeReports({ ...pair, cases }, { requireRequests: false }).verdict).toMatchObject({ ok: true })
})

function sentencesOf(record: ContractRecord): string[] {
  return nothingJudged(record, {}).map(({ allowed }) => allowed)
}
