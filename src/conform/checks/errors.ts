import { type Answer, must, same } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'

const DETAILS = '/connected_accounts/details'
const VERIFY = '/connected_accounts/user/verify'

/** Error bodies, malformed requests, unknown paths (part 7, G5 to G8, G16, G18). */
export const ERROR_CHECKS = checksOf(null, [
  {
    id: 'errors/json',
    title: 'an error response is application/json',
    basis: 'document:7.1',
    run: async (context) => void (await unknownAccount(context)).header('Content-Type', /^application\/json\b/),
  },
  {
    id: 'errors/shape',
    title: 'an error has code, message and details',
    basis: 'convention:G16',
    run: async (context) => {
      const answer = await unknownAccount(context)
      answer.string('message')
      same(answer.list('details').length, 1, 'the number of details')
    },
  },
  {
    id: 'errors/error-info',
    title: 'the detail is an ErrorInfo with an upper-case error_code',
    basis: 'convention:G16',
    run: async (context) => {
      const answer = await unknownAccount(context)
      answer.has('details.0.@type', 'type.googleapis.com/errdetails.ErrorInfo')
      const code = answer.string('details.0.error_code')
      must(/^[A-Z][A-Z0-9_]+$/.test(code), 'an error_code in upper snake case', code)
    },
  },
  {
    id: 'errors/request-id',
    title: 'the error body names the request id of the header',
    basis: 'convention:G16',
    run: async (context) => {
      const answer = await unknownAccount(context)
      same(answer.at('details.0.request_info.request_id'), answer.headers['x-request-id'], 'request_id')
    },
  },
  coded('400', 3, ({ api }) => api.get(DETAILS)),
  coded('401', 16, ({ api }) => api.send('GET', '/connected_accounts', undefined, { Authorization: '' })),
  coded('404', 5, unknownAccount),
  coded('409', 6, async (context) => {
    const { identifier, connector, organization_id } = await context.account()
    return context.create({ identifier, connector, organization_id })
  }),
  coded('405', 12, ({ api }) => api.send('PATCH', '/connected_accounts', '{}')),
  {
    id: 'errors/field-violations',
    title: 'a 400 names the field, what is wrong and the rule',
    basis: 'convention:G16',
    run: async ({ api }) => {
      const answer = (await api.post(VERIFY, { identifier: 'conform@example.com' })).is(400)
      const [violation] = answer.objects('details.0.validation_error_info.field_violations')
      same(violation?.['field'], 'auth_request_id', 'the field that is named')
      for (const part of ['description', 'constraint'])
        answer.string(`details.0.validation_error_info.field_violations.0.${part}`)
    },
  },
  malformed('malformed-json', 'malformed JSON is a 400', '{"auth_request_id": ', 'document:7.2'),
  malformed('array-body', 'an array as a body is a 400', '[]', 'document:7.2'),
  malformed('scalar-body', 'a text as a body is a 400', '"text"', 'document:7.2'),
  malformed('no-body', 'no body where one is needed is a 400', '', 'document:7.2'),
  malformed('deep-body', 'a body that nests 5,000 levels deep is a 400', deep(5000), 'convention:G7'),
  malformed('wrong-type', 'a field of the wrong type is a 400', '{"auth_request_id":1,"identifier":2}', 'document:7.2'),
  {
    id: 'errors/content-type',
    title: 'another content type than application/json is a 400',
    basis: 'document:1',
    run: async ({ api }) => {
      const answer = await api.send('POST', VERIFY, 'identifier=a', { 'Content-Type': 'text/plain' })
      answer.is(400)
    },
  },
  {
    id: 'errors/charset',
    title: 'application/json with a charset parameter is taken',
    basis: 'convention:G7',
    run: async ({ api }) => {
      const body = JSON.stringify({ auth_request_id: 'nobody', identifier: 'conform@example.com' })
      const answer = await api.send('POST', VERIFY, body, { 'Content-Type': 'application/json; charset=utf-8' })
      answer.is(404)
    },
  },
  {
    id: 'errors/too-large',
    title: 'a body over the limit is a 413',
    basis: 'convention:G7',
    run: async ({ api }) => {
      const answer = await api.post(VERIFY, { auth_request_id: 'a'.repeat(3_000_000), identifier: 'a' })
      answer.is(413)
    },
  },
  {
    id: 'errors/method',
    title: 'a method that is not served is a 405 with Allow',
    basis: 'convention:G8',
    run: async ({ api }) => {
      const answer = await api.send('DELETE', '/connected_accounts')
      answer.is(405).header('Allow', /^(?=.*\bGET\b)(?=.*\bPUT\b)(?=.*\bPOST\b)(?!.*DELETE)/)
    },
  },
  unknownPath('unknown-path', '/nothing-is-here'),
  unknownPath('longer-path', '/connected_accountsXYZ'),
  unknownPath('unknown-verb', '/connected_accounts:nothing'),
  {
    id: 'errors/request-id-kept',
    title: 'X-Request-Id of the request comes back',
    basis: 'choice:G18',
    run: async (context) => {
      const id = context.resources.name('request')
      const answer = await context.api.send('GET', '/connected_accounts', undefined, { 'X-Request-Id': id })
      same(answer.is(200).headers['x-request-id'], id, 'X-Request-Id')
    },
  },
  {
    id: 'errors/request-id-always',
    title: 'every response has an X-Request-Id of its own',
    basis: 'choice:G18',
    run: async ({ api }) => {
      const [one, other] = [await api.get('/connections'), await api.get('/connections')]
      one.header('X-Request-Id', /./)
      must(one.headers['x-request-id'] !== other.headers['x-request-id'], 'two request ids', 'the same one twice')
    },
  },
  {
    id: 'errors/unknown-field',
    title: 'an unknown field is ignored, or refused with its name',
    basis: 'choice:G6',
    run: async ({ api }) => {
      const answer = await api.get('/connections', { no_such_parameter: 1 })
      if (answer.is(200, 400).status === 400) answer.has(FIRST_FIELD, 'no_such_parameter')
    },
  },
  {
    id: 'errors/repeated-parameter',
    title: 'a repeated single-valued parameter is a 400 that names it',
    basis: 'convention:G5',
    run: async ({ api }) => {
      const answer = await api.get('/connected_accounts', { page_size: ['1', '2'] })
      answer.is(400).has(FIRST_FIELD, 'page_size')
    },
  },
])

const FIRST_FIELD = 'details.0.validation_error_info.field_violations.0.field'

function unknownAccount({ api }: CheckContext): Promise<Answer> {
  return api.get(DETAILS, { id: 'ca_nobody_has_this' }).then((answer) => answer.is(404))
}

function coded(status: string, code: number, ask: (context: CheckContext) => Promise<Answer>): CheckEntry {
  return {
    id: `errors/code-${status}`,
    title: `a ${status} has code ${code}`,
    basis: 'convention:G16',
    run: async (context) => void (await ask(context)).is(Number(status)).has('code', code),
  }
}

function malformed(name: string, title: string, body: string, basis: CheckBasis): CheckEntry {
  return {
    id: `errors/${name}`,
    title,
    basis,
    run: async ({ api }) => {
      const answer = await api.send('POST', VERIFY, body)
      answer.is(400)
    },
  }
}

function unknownPath(name: string, path: string): CheckEntry {
  return {
    id: `errors/${name}`,
    title: `${path} is a 404`,
    basis: 'convention:G8',
    run: async ({ api }) => {
      const answer = await api.get(path)
      answer.is(404)
    },
  }
}

function deep(levels: number): string {
  return `{"auth_request_id":${'['.repeat(levels)}${']'.repeat(levels)}}`
}
