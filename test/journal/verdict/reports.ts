import supertest, { type Response } from 'supertest'
import type { ContractReport, CoverageReport, Reach } from '../../../src/journal/verdict/report-types.ts'
import { type TestToolmock, withToolmock } from '../../support/toolmock.ts'
import { during, it as base } from '../../support/mock-fixture.ts'

type Method = 'get' | 'put' | 'post' | 'delete'

/** Anything whose app can be called. */
type Served = Pick<TestToolmock, 'app'>

/** Calls the control API. */
export async function control(mock: Served, method: Method, path: string, body?: object): Promise<Response> {
  const request = supertest(mock.app.listener)[method](`/_mock${path}`)
  return body === undefined ? request : request.send(body)
}

/** The report, its findings also by their kinds. */
export async function contractOf(mock: Served, query = '') {
  const report = (await control(mock, 'get', `/contract${query}`)).body as ContractReport
  return { ...report, total: byKind(report.total), environments: report.environments.map(byKind) }
}

/** A record with its findings also by their kinds. */
export function byKind<Of extends ContractReport['total']>(record: Of) {
  const of = (kind: string) => record.findings.filter((finding) => finding.kind === kind)
  return { ...record, violations: of('violation'), warnings: of('warning') }
}

export async function coverageOf(mock: Served, query = ''): Promise<CoverageReport> {
  return (await control(mock, 'get', `/coverage${query}`)).body as CoverageReport
}

type Coverage = CoverageReport['total']
type OperationCoverage = Coverage['operations'][number]

export function operation({ operations }: Coverage, name: string): OperationCoverage {
  const found = operations.find((each) => each.operation === name)
  if (!found) throw new Error(`no operation ${name} in the report`)
  return found
}

/** The reach of a status, or of one of its error codes. */
export function reachOf(coverage: Coverage, name: string, status: number, code?: string): Reach | undefined {
  const found = operation(coverage, name).statuses.find((each) => each.status === status)
  return code === undefined ? found?.reach : found?.error_codes.find((each) => each.error_code === code)?.reach
}

export function fieldReach(coverage: Coverage, name: string, part: 'request' | 'response', path: string) {
  const of = operation(coverage, name)
  const fields = part === 'request' ? of.request_fields : of.response_fields
  return fields.find((each) => each.path === path)?.reach
}

export const RULE_429 = {
  name: 'limited',
  rules: [
    {
      name: 'too many',
      at: 'service',
      on: { operation: 'execute_tool' },
      do: [{ respond: { status: 429 } }],
    },
  ],
}

/** A report in a format as text, with its media type. */
export async function rendered(mock: Served, format: string): Promise<{ text: string; type: string }> {
  const answer = await supertest(mock.app.listener)
    .get(`/_mock/contract?format=${format}`)
    .buffer(true)
    .parse((response, done) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => done(null, text))
    })
  return { text: answer.body as string, type: String(answer.headers['content-type']) }
}

/** A name or a value of a client that every output must escape. */
export const HOSTILE =
  '<script>alert(1)</script>"\'<img src=x onerror=alert(2)>]]>&amp;\u0000\u001b[31m\u202e](http://evil.example) ${x} {{y}}'

/** Sends requests that break every kind of rule, some with {@link HOSTILE}, and some that keep the contract. */
async function breakContract(mock: TestToolmock): Promise<void> {
  const { api, http } = mock
  await control(mock, 'put', '/scenarios/limited', RULE_429)
  await control(mock, 'post', '/scenarios/limited/start')
  const rule = { name: HOSTILE, at: 'service', on: { operation: 'delete_connected_account' } }
  await control(mock, 'put', '/scenarios/unmet', {
    name: 'unmet',
    rules: [{ ...rule, do: [{ respond: { status: 500 } }] }],
  })
  await control(mock, 'post', '/scenarios/unmet/start')
  const account = { connector: 'mail', identifier: 'ada@example.com' }
  await api.post('/connected_accounts', { ...account, [HOSTILE]: 1 })
  await api.post('/execute_tool', { ...account, tool_name: 'mail_list_messages', params: {} })
  await api.post('/connected_accounts', { connector: HOSTILE, identifier: 7 })
  await api.post('/custom-providers', { display_name: 'x', proxy_url: HOSTILE, metadata: { [`${HOSTILE}\ud800`]: '' } })
  await api.get('/connected_accounts', { page_size: 'ten' })
  await api.get('/connected_accounts', { page_size: 'many' })
  await http('get', `/api/v1/${encodeURIComponent(HOSTILE)}`)
  await http('get', '/api/v1/<script>]]>&amp;"\'')
}

/** Runs `look` on the report of a client that breaks every kind of rule. */
export async function withViolations(
  look: (mock: TestToolmock, total: Awaited<ReturnType<typeof contractOf>>['total']) => Promise<void>,
): Promise<void> {
  await withToolmock({}, async (mock) => {
    await breakContract(mock)
    await look(mock, (await contractOf(mock)).total)
  })
}

export const it = base.extend('mock', during(withViolations))
