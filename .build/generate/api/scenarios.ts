import type { SpecOperation } from '../spec-document.ts'

/** Errors that a client sees most: an operation fails with another one, where it has one of its own. */
const GENERAL = [
  'VALIDATION_FAILED',
  'MALFORMED_BODY',
  'UNSUPPORTED_CONTENT_TYPE',
  'UNAUTHENTICATED',
  'BODY_TOO_LARGE',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_client',
  'TOOL_ERROR',
]

/** A scenario that makes the first call of an operation fail with an error of its own, else with 429. */
export function failingScenario({ id, codes }: Pick<SpecOperation, 'id' | 'codes'>): {
  readonly yaml: string
  readonly status: number
  readonly code: string
} {
  const own = [...codes].flatMap(([status, each]) => each.map((code) => ({ status: Number(status), code })))
  const [{ status, code } = { status: 429, code: 'RATE_LIMITED' }] = own
    .filter((each) => !GENERAL.includes(each.code))
    .toSorted((a, b) => b.status - a.status)
  const more = status === 429 ? ', headers: { Retry-After: 2 }' : `, error_code: ${code}`
  const yaml = `name: ${id.replaceAll('_', '-')}-fails
rules:
  - name: the first call fails
    at: service
    on: { operation: ${id} }
    when: { first: 1 }
    do: [{ respond: { status: ${status}${more} } }]
`
  return { yaml, status, code }
}
