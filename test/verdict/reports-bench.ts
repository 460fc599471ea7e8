import supertest, { type Response } from 'supertest'
import type { ContractReport, CoverageReport, Reach } from '../../src/documents/report-schemas.ts'
import type { TestToolmock } from '../support/toolmock.ts'

type Method = 'get' | 'put' | 'post' | 'delete'

/** A call of the control API. */
export async function control(mock: TestToolmock, method: Method, path: string, body?: object): Promise<Response> {
  const request = supertest(mock.simulator.app)[method](`/_mock${path}`)
  return body === undefined ? request : request.send(body)
}

export async function contractOf(mock: TestToolmock, query = ''): Promise<ContractReport> {
  return (await control(mock, 'get', `/contract${query}`)).body as ContractReport
}

export async function coverageOf(mock: TestToolmock, query = ''): Promise<CoverageReport> {
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

/** A file of a report as text, whatever its media type. */
export async function rendered(mock: TestToolmock, format: string): Promise<{ text: string; type: string }> {
  const answer = await supertest(mock.simulator.app)
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
