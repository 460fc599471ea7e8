import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type Route, ROUTES } from '../../../src/model/contract/route.ts'
import { BODY_FIELDS, type FieldNode } from '../../../src/model/contract/generated/field-tables.ts'
import { it, type TestToolmock } from '../../support/toolmock.ts'

/** Values with a meaning for the service, and texts that often break software. */
const WORDS = fc.constantFrom(
  ...[
    'mail',
    'weather',
    'ada',
    'ca_ada',
    'ca_nobody',
    'org',
    'OAUTH',
    'API_KEY',
    'mail_send_message',
    'mail_get_message',
  ],
  ...['weather_get_current', 'client_credentials', 'test_client', 'test_secret', 'http://localhost:3000/x?y=1#z'],
  ...['__proto__', 'constructor', 'toString', '{{id}}', '$&', '.*', '(a+)+$', '<b>', '..', '', ' ', '\ud800', '\u0000'],
  ...['javascript:alert(1)', 'https://a.example/\r\nX: y', '100', '-1', '0', '1e3', 'true', 'null', '💾'],
)
const TEXT = fc.oneof({ weight: 3, arbitrary: WORDS }, fc.string({ unit: 'binary', maxLength: 30 }))
const JUNK = fc.oneof(TEXT, fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }))

/** A value of the shape that the spec declares, with some random values in it. */
function shaped(node: FieldNode): fc.Arbitrary<unknown> {
  if (node.items) return fc.oneof({ weight: 4, arbitrary: fc.array(shaped(node.items), { maxLength: 3 }) }, JUNK)
  if (!node.fields) return fc.oneof({ weight: 4, arbitrary: TEXT }, fc.dictionary(TEXT, JUNK, { maxKeys: 3 }), JUNK)
  const fields = Object.fromEntries(Object.entries(node.fields).map(([name, inner]) => [name, shaped(inner)]))
  const known = fc.record(fields, { requiredKeys: [] })
  const extended = fc.tuple(known, fc.dictionary(TEXT, JUNK, { maxKeys: 2 })).map(([a, b]) => ({ ...b, ...a }))
  return fc.oneof({ weight: 8, arbitrary: known }, { weight: 2, arbitrary: extended }, { weight: 1, arbitrary: JUNK })
}

interface Sent {
  readonly query: readonly (readonly [string, string])[]
  readonly part: string
  readonly body: unknown
}

function requestsOf({ operation, query }: Route): fc.Arbitrary<Sent> {
  const names = query.map(({ name }) => name)
  const name = names.length > 0 ? fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, TEXT) : TEXT
  return fc.record({
    query: fc.array(fc.tuple(name, TEXT), { maxLength: 4 }),
    part: TEXT,
    body: shaped(BODY_FIELDS[operation] ?? { fields: {} }),
  })
}

const escaped = (text: string): string => encodeURIComponent(text.toWellFormed())

async function send({ http }: TestToolmock, route: Route, sent: Sent, token: string) {
  const path = route.path.replace('{identifier}', escaped(sent.part) || 'x')
  const query = sent.query.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&')
  const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'delete'
  const request = http(method, query === '' ? path : `${path}?${query}`)
  if (route.bearer) request.set('Authorization', `Bearer ${token}`)
  if (route.bodyMediaType === 'application/json') return request.type('json').send(JSON.stringify(sent.body))
  return route.bodyMediaType === null ? request : request.type('form').send(form(sent.body))
}

function form(body: unknown): string {
  const entries: [string, unknown][] = typeof body === 'object' && body !== null ? Object.entries(body) : [['x', body]]
  return entries
    .map(([name, value]) => `${escaped(name)}=${escaped(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join('&')
}

/** Whether a 500 reports what the third party refused, by its word or a 4xx status (G44). */
function isThirdPartys(body: unknown): boolean {
  const details = (body as { details?: { tool_error_info?: { tool_error_code: string } }[] }).details
  return /^(?:4\d\d|(?!internal$)[a-z_]+)$/.test(details?.[0]?.tool_error_info?.tool_error_code ?? '')
}

const SEED = {
  accounts: [
    { id: 'ca_ada', connector: 'mail', identifier: 'ada' },
    { connector: 'weather', identifier: 'ada', organization_id: 'org' },
  ],
}

describe.each([false, true])('any input (strict: %s)', (strict) => {
  it.for(ROUTES.map((route) => [route.operation, route] as const))(
    '%s answers a status that it declares, in the shape that it declares',
    async ([_name, route], { startMock }) => {
      const mock = await startMock({ seed: SEED, strict })
      const token = await mock.signIn()
      const property = fc.asyncProperty(requestsOf(route), async (sent) => {
        const answer = await send(mock, route, sent, token)
        // The client resolved a path segment such as `..`, so that the path is not served.
        if (answer.status === 404 && JSON.stringify(answer.body).includes('PATH_NOT_FOUND')) return
        const { responseViolations } = mock.exchanges.at(-1)!

        expect(route.statuses).toContain(answer.status)
        expect(responseViolations).toEqual([])
        if (answer.status >= 500) expect(isThirdPartys(answer.body), answer.text).toBe(true)
      })
      // The seed is fixed, so that every run tests the same inputs.
      await fc.assert(property, { seed: 20_260_101, numRuns: 60 })
    },
    60_000,
  )
})
