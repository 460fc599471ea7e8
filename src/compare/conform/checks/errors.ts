import { type ServiceResponse, must, equal } from '../service-response.ts'
import { type CheckRun, checksOf, statusChecks } from '../check.ts'
import type { CheckContext } from '../context.ts'

const DETAILS = '/connected_accounts/details'
const VERIFY = '/connected_accounts/user/verify'

const bodyAnswers = statusChecks(({ api }, body: string) => api.send('POST', VERIFY, body))
const pathAnswers = statusChecks(({ api }, path: string) => api.get(path))

/** Error bodies, malformed requests, unknown paths (part 7, G5 to G8, G16, G18). */
export const ERROR_CHECKS = checksOf('errors', null, {
  'json (document:7.1): an error response is application/json': async (context) =>
    (await unknownAccount(context)).header('Content-Type', /^application\/json\b/),
  'shape (convention:G16): an error has code, message and details': async (context) => {
    const response = await unknownAccount(context)
    response.string('message')
    equal(response.list('details').length, 1, 'the number of details')
  },
  'error-info (convention:G16): the detail is an ErrorInfo with an upper-case error_code': async (context) => {
    const response = await unknownAccount(context)
    response.has('details.0.@type', 'type.googleapis.com/errdetails.ErrorInfo')
    const code = response.string('details.0.error_code')
    must(/^[A-Z][A-Z0-9_]+$/.test(code), 'an error_code in upper snake case', code)
  },
  'request-id (convention:G16): the error body names the request id of the header': async (context) => {
    const response = await unknownAccount(context)
    equal(response.at('details.0.request_info.request_id'), response.headers['x-request-id'], 'request_id')
  },
  'code-400 (convention:G16): a 400 has code 3': answersCode(400, 3, ({ api }) => api.get(DETAILS)),
  'code-401 (convention:G16): a 401 has code 16': answersCode(401, 16, ({ api }) =>
    api.send('GET', '/connected_accounts', undefined, { Authorization: '' }),
  ),
  'code-404 (convention:G16): a 404 has code 5': answersCode(404, 5, unknownAccount),
  'code-409 (convention:G16): a 409 has code 6': answersCode(409, 6, async (context) =>
    context.createAgain(await context.account()),
  ),
  'code-405 (convention:G16): a 405 has code 12': answersCode(405, 12, ({ api }) =>
    api.send('PATCH', '/connected_accounts', '{}'),
  ),
  'field-violations (convention:G16): a 400 names the field, what is wrong and the rule': async ({ api }) => {
    const response = (await api.post(VERIFY, { identifier: 'conform@example.com' })).is(400)
    const [violation] = response.objects('details.0.validation_error_info.field_violations')
    equal(violation?.['field'], 'auth_request_id', 'the field that is named')
    for (const part of ['description', 'constraint'])
      response.string(`details.0.validation_error_info.field_violations.0.${part}`)
  },
  'malformed-json (document:7.2): malformed JSON is a 400': bodyAnswers(400, '{"auth_request_id": '),
  'array-body (document:7.2): an array as a body is a 400': bodyAnswers(400, '[]'),
  'scalar-body (document:7.2): a text as a body is a 400': bodyAnswers(400, '"text"'),
  'no-body (document:7.2): no body where one is needed is a 400': bodyAnswers(400, ''),
  'deep-body (convention:G7): a body that nests 5,000 levels deep is a 400': bodyAnswers(400, deeplyNestedBody(5000)),
  'wrong-type (document:7.2): a field of the wrong type is a 400': bodyAnswers(
    400,
    '{"auth_request_id":1,"identifier":2}',
  ),
  'content-type (document:1): another content type than application/json is a 400': async ({ api }) =>
    (await api.send('POST', VERIFY, 'identifier=a', { 'Content-Type': 'text/plain' })).is(400),
  'charset (convention:G7): application/json with a charset parameter is taken': async ({ api }) => {
    const body = JSON.stringify({ auth_request_id: 'nobody', identifier: 'conform@example.com' })
    ;(await api.send('POST', VERIFY, body, { 'Content-Type': 'application/json; charset=utf-8' })).is(404)
  },
  'too-large (convention:G7): a body over the limit is a 413': async ({ api }) =>
    (await api.post(VERIFY, { auth_request_id: 'a'.repeat(3_000_000), identifier: 'a' })).is(413),
  'method (convention:G8): a method that is not served is a 405 with Allow': async ({ api }) =>
    (await api.send('DELETE', '/connected_accounts'))
      .is(405)
      .header('Allow', /^(?=.*\bGET\b)(?=.*\bPUT\b)(?=.*\bPOST\b)(?!.*DELETE)/),
  'unknown-path (convention:G8): /nothing-is-here is a 404': pathAnswers(404, '/nothing-is-here'),
  'longer-path (convention:G8): /connected_accountsXYZ is a 404': pathAnswers(404, '/connected_accountsXYZ'),
  'unknown-verb (convention:G8): /connected_accounts:nothing is a 404': pathAnswers(404, '/connected_accounts:nothing'),
  'request-id-kept (choice:G18): X-Request-Id of the request comes back': async (context) => {
    const id = context.resources.name('request')
    const response = await context.api.send('GET', '/connected_accounts', undefined, { 'X-Request-Id': id })
    equal(response.is(200).headers['x-request-id'], id, 'X-Request-Id')
  },
  'request-id-always (choice:G18): every response has an X-Request-Id of its own': async ({ api }) => {
    const [one, second] = [await api.get('/connections'), await api.get('/connections')]
    one.header('X-Request-Id', /./)
    must(one.headers['x-request-id'] !== second.headers['x-request-id'], 'two request ids', 'the same one twice')
  },
  'unknown-field (choice:G6): an unknown field is ignored, or refused with its name': async ({ api }) => {
    const response = await api.get('/connections', { no_such_parameter: 1 })
    if (response.is(200, 400).status === 400) response.has(FIRST_FIELD, 'no_such_parameter')
  },
  'repeated-parameter (convention:G5): a repeated single-valued parameter is a 400 that names it': async ({ api }) =>
    (await api.get('/connected_accounts', { page_size: ['1', '2'] })).is(400).has(FIRST_FIELD, 'page_size'),
})

const FIRST_FIELD = 'details.0.validation_error_info.field_violations.0.field'

function unknownAccount({ api }: CheckContext): Promise<ServiceResponse> {
  return api.get(DETAILS, { id: 'ca_nobody_has_this' }).then((response) => response.is(404))
}

function answersCode(status: number, code: number, ask: (context: CheckContext) => Promise<ServiceResponse>): CheckRun {
  return async (context) => (await ask(context)).is(status).has('code', code)
}

function deeplyNestedBody(levels: number): string {
  return `{"auth_request_id":${'['.repeat(levels)}${']'.repeat(levels)}}`
}
