import { instant } from '../../../src/model/domain/instant.ts'
import type { Mutant, WireReply } from '../mutant.ts'

const NEVER = instant(Date.UTC(2200, 0, 1))

/** The token endpoint, the bearer header and error bodies. */
export const TOKEN_AND_ERROR_MUTANTS: readonly Mutant[] = [
  token('token-type-mac', 'the token type is MAC', 'token/type', ({ body }) => (body.token_type = 'MAC')),
  token('token-without-lifetime', 'expires_in is missing', 'token/lifetime', ({ body }) => delete body.expires_in),
  token('token-lifetime-as-text', 'expires_in is a text', 'token/lifetime', ({ body }) => (body.expires_in = '86399')),
  token('token-scope-missing', 'scope is missing', 'token/scope', ({ body }) => delete body.scope),
  token(
    'token-cacheable',
    'a cache may keep tokens',
    'token/not-stored',
    ({ headers }) => delete headers['cache-control'],
  ),
  {
    name: 'token-error-shape',
    what: 'token errors have the shape of other errors',
    caughtBy: 'token/wrong-secret',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path === '/oauth/token' && answer.status >= 400) answer.body = { code: 3, message: answer.body.error }
      }),
  },
  {
    name: 'token-wrong-client-400',
    what: 'a wrong secret is a 400',
    caughtBy: 'token/wrong-secret',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path === '/oauth/token' && answer.status === 401) answer.status = 400
      }),
  },
  {
    name: 'token-old-bearer',
    what: 'a token request is refused for the old bearer token in its header',
    caughtBy: 'token/old-bearer',
    mutate: ({ reply }) =>
      reply((answer, { path, headers }) => {
        if (path !== '/oauth/token' || !String(headers['authorization']).startsWith('Bearer ')) return
        answer.status = 401
        answer.body = { error: 'invalid_client', error_description: 'the header is not Basic' }
      }),
  },
  {
    name: 'token-unauthenticated-400',
    what: 'a token request without client authentication is an invalid_request',
    caughtBy: 'token/no-authentication',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path !== '/oauth/token' || !answer.body?.error_description?.includes('is required')) return
        answer.status = 400
        answer.body.error = 'invalid_request'
      }),
  },
  {
    name: 'token-other-client-ignored',
    what: 'the client_id of another client beside HTTP Basic is not read',
    caughtBy: 'token/two-clients',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path === '/oauth/token' && /^client_id must/.test(answer.body?.error_description)) answer.status = 200
      }),
  },
  {
    name: 'token-metadata-elsewhere',
    what: 'the metadata names another token endpoint',
    caughtBy: 'token/metadata',
    mutate: ({ reply }) =>
      reply(({ body }, { path }) => {
        if (path.startsWith('/.well-known/')) body.token_endpoint = `${body.issuer}/token`
      }),
  },
  {
    name: 'token-basic-unread',
    what: 'HTTP Basic is not read at the token endpoint',
    caughtBy: 'token/authenticated-twice',
    mutate: ({ request }) =>
      request(({ path, headers }) => {
        if (path === '/oauth/token') delete headers.authorization
      }),
  },
  {
    name: 'token-revokes-earlier',
    what: 'a new token revokes those before it',
    caughtBy: 'token/several',
    mutate: ({ around }) =>
      around('create_token', (call, handler) => {
        const { model } = call.environment
        model.transact(() => {
          for (const { id } of [...model.tables.bearer_tokens.values()]) model.tables.bearer_tokens.remove(id)
        })
        return handler(call)
      }),
  },
  {
    name: 'token-never-ends',
    what: 'access tokens live ten times as long as they say',
    caughtBy: 'time/bearer',
    mutate: ({ around }) =>
      around('create_token', async (call, handler) => {
        const reply = await handler(call)
        const { model } = call.environment
        model.transact(() => {
          for (const each of [...model.tables.bearer_tokens.values()])
            model.tables.bearer_tokens.put({ ...each, expires_at: NEVER })
        })
        return reply
      }),
  },
  status('bearer-missing-403', 'a missing token is a 403', 'bearer/missing-list_connected_accounts', 401, 403),
  {
    name: 'bearer-open-connections',
    what: 'connections are listed without a token',
    caughtBy: 'bearer/missing-list_connections',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path === '/api/v1/connections' && answer.status === 401) {
          answer.status = 200
          answer.body = { connections: [] }
        }
      }),
  },
  {
    name: 'bearer-without-challenge',
    what: 'a 401 lacks WWW-Authenticate',
    caughtBy: 'bearer/challenge',
    mutate: ({ reply }) =>
      reply(({ headers }) => {
        delete headers['www-authenticate']
      }),
  },
  {
    name: 'bearer-case-sensitive',
    what: 'the scheme must be written Bearer',
    caughtBy: 'bearer/scheme-case',
    mutate: ({ request }) =>
      request(({ headers }) => {
        if (String(headers['authorization']).startsWith('bearer ')) delete headers['authorization']
      }),
  },
  {
    name: 'validation-before-bearer',
    what: 'search checks its text before the token',
    caughtBy: 'bearer/before-validation',
    mutate: ({ reply }) =>
      reply((answer, { path, query }) => {
        if (path.endsWith(':search') && (query.get('query') ?? '').length < 3) answer.status = 400
      }),
  },
  error('error-code-number', 'a 404 has code 3', 'errors/code-404', ({ status, body }) => {
    if (status === 404) body.code = 3
  }),
  error('error-code-conflict', 'a 409 has code 10', 'errors/code-409', ({ status, body }) => {
    if (status === 409) body.code = 10
  }),
  error('error-code-unauthenticated', 'a 401 has code 7', 'errors/code-401', ({ status, body }) => {
    if (status === 401) body.code = 7
  }),
  error('error-wrapped', 'the error is wrapped in an object', 'errors/shape', (answer) => {
    answer.body = { error: answer.body }
  }),
  error('error-as-text', 'errors are text/plain', 'errors/json', ({ headers }) => {
    headers['content-type'] = 'text/plain'
  }),
  error('error-lower-case-code', 'error_code is in lower case', 'errors/error-info', ({ body }) => {
    const [info] = body.details ?? []
    if (info) info.error_code = info.error_code.toLowerCase()
  }),
  error('error-without-request-id', 'the error body names another request', 'errors/request-id', ({ body }) => {
    const [info] = body.details ?? []
    if (info) info.request_info.request_id = 'req_other'
  }),
  error('error-without-fields', 'a 400 names no field', 'errors/field-violations', ({ body }) => {
    const [info] = body.details ?? []
    if (info) delete info.validation_error_info
  }),
  {
    name: 'request-id-lost',
    what: 'X-Request-Id of the request is not taken over',
    caughtBy: 'errors/request-id-kept',
    mutate: ({ request }) =>
      request(({ headers }) => {
        delete headers['x-request-id']
      }),
  },
  status('method-404', 'a method that is not served is a 404', 'errors/method', 405, 404),
  status('too-large-400', 'a large body is a 400', 'errors/too-large', 413, 400),
  {
    name: 'method-without-allow',
    what: 'a 405 lacks Allow',
    caughtBy: 'errors/method',
    mutate: ({ reply }) =>
      reply(({ headers }) => {
        delete headers['allow']
      }),
  },
  {
    name: 'prefix-match',
    what: 'a longer path is served too',
    caughtBy: 'errors/longer-path',
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path.startsWith('/api/v1/connected_accountsX')) answer.status = 200
      }),
  },
  {
    name: 'content-type-ignored',
    what: 'a body of another content type is another kind of error',
    caughtBy: 'errors/content-type',
    mutate: ({ reply }) =>
      reply((answer) => {
        if (answer.body?.details?.[0]?.error_code === 'UNSUPPORTED_CONTENT_TYPE') answer.status = 415
      }),
  },
]

function token(name: string, what: string, caughtBy: string, change: (reply: WireReply) => unknown): Mutant {
  return {
    name,
    what,
    caughtBy,
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path === '/oauth/token' && answer.status === 200) change(answer)
      }),
  }
}

function error(name: string, what: string, caughtBy: string, change: (reply: WireReply) => void): Mutant {
  return {
    name,
    what,
    caughtBy,
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path !== '/oauth/token' && answer.status >= 400) change(answer)
      }),
  }
}

function status(name: string, what: string, caughtBy: string, from: number, to: number): Mutant {
  return {
    name,
    what,
    caughtBy,
    mutate: ({ reply }) =>
      reply((answer, { path }) => {
        if (path !== '/oauth/token' && answer.status === from) answer.status = to
      }),
  }
}
