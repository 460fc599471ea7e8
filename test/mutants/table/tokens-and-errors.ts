import { instant } from '../../../src/model/domain/instant.ts'
import type { Mutant, MutantTable, WireReply } from '../mutant.ts'

const NEVER = instant(Date.UTC(2200, 0, 1))

/** The token endpoint, the bearer header and error bodies. */
export const TOKEN_AND_ERROR_MUTANTS: MutantTable = {
  'token/type: the token type is MAC': token(({ body }) => (body.token_type = 'MAC')),
  'token/lifetime: expires_in is missing': token(({ body }) => delete body.expires_in),
  'token/lifetime: expires_in is a text': token(({ body }) => (body.expires_in = '86399')),
  'token/scope: scope is missing': token(({ body }) => delete body.scope),
  'token/not-stored: a cache may keep tokens': token(({ headers }) => delete headers['cache-control']),
  'token/wrong-secret: token errors have the shape of other errors': ({ reply }) =>
    reply((answer, { path }) => {
      if (path === '/oauth/token' && answer.status >= 400) answer.body = { code: 3, message: answer.body.error }
    }),
  'token/wrong-secret: a wrong secret is a 400': ({ reply }) =>
    reply((answer, { path }) => {
      if (path === '/oauth/token' && answer.status === 401) answer.status = 400
    }),
  'token/old-bearer: a token request is refused for the old bearer token in its header': ({ reply }) =>
    reply((answer, { path, headers }) => {
      if (path !== '/oauth/token' || !String(headers['authorization']).startsWith('Bearer ')) return
      answer.status = 401
      answer.body = { error: 'invalid_client', error_description: 'the header is not Basic' }
    }),
  'token/no-authentication: a token request without client authentication is an invalid_request': ({ reply }) =>
    reply((answer, { path }) => {
      if (path !== '/oauth/token' || !answer.body?.error_description?.includes('is required')) return
      answer.status = 400
      answer.body.error = 'invalid_request'
    }),
  'token/two-clients: the client_id of another client beside HTTP Basic is not read': ({ reply }) =>
    reply((answer, { path }) => {
      if (path === '/oauth/token' && /^client_id must/.test(answer.body?.error_description)) answer.status = 200
    }),
  'token/metadata: the metadata names another token endpoint': ({ reply }) =>
    reply(({ body }, { path }) => {
      if (path.startsWith('/.well-known/')) body.token_endpoint = `${body.issuer}/token`
    }),
  'token/authenticated-twice: HTTP Basic is not read at the token endpoint': ({ request }) =>
    request(({ path, headers }) => {
      if (path === '/oauth/token') delete headers.authorization
    }),
  'token/several: a new token revokes those before it': ({ around }) =>
    around('create_token', (call, handler) => {
      const { model } = call.environment
      model.transact(() => {
        for (const { id } of [...model.tables.bearer_tokens.values()]) model.tables.bearer_tokens.remove(id)
      })
      return handler(call)
    }),
  'time/bearer: access tokens live ten times as long as they say': ({ around }) =>
    around('create_token', async (call, handler) => {
      const reply = await handler(call)
      const { model } = call.environment
      model.transact(() => {
        for (const each of [...model.tables.bearer_tokens.values()])
          model.tables.bearer_tokens.put({ ...each, expires_at: NEVER })
      })
      return reply
    }),
  'bearer/missing-list_connected_accounts: a missing token is a 403': status(401, 403),
  'bearer/missing-list_connections: connections are listed without a token': ({ reply }) =>
    reply((answer, { path }) => {
      if (path === '/api/v1/connections' && answer.status === 401) {
        answer.status = 200
        answer.body = { connections: [] }
      }
    }),
  'bearer/challenge: a 401 lacks WWW-Authenticate': ({ reply }) =>
    reply(({ headers }) => {
      delete headers['www-authenticate']
    }),
  'bearer/scheme-case: the scheme must be written Bearer': ({ request }) =>
    request(({ headers }) => {
      if (String(headers['authorization']).startsWith('bearer ')) delete headers['authorization']
    }),
  'bearer/before-validation: search checks its text before the token': ({ reply }) =>
    reply((answer, { path, query }) => {
      if (path.endsWith(':search') && (query.get('query') ?? '').length < 3) answer.status = 400
    }),
  'errors/code-404: a 404 has code 3': error(({ status, body }) => {
    if (status === 404) body.code = 3
  }),
  'errors/code-409: a 409 has code 10': error(({ status, body }) => {
    if (status === 409) body.code = 10
  }),
  'errors/code-401: a 401 has code 7': error(({ status, body }) => {
    if (status === 401) body.code = 7
  }),
  'errors/shape: the error is wrapped in an object': error((answer) => {
    answer.body = { error: answer.body }
  }),
  'errors/json: errors are text/plain': error(({ headers }) => {
    headers['content-type'] = 'text/plain'
  }),
  'errors/error-info: error_code is in lower case': error(({ body }) => {
    const [info] = body.details ?? []
    if (info) info.error_code = info.error_code.toLowerCase()
  }),
  'errors/request-id: the error body names another request': error(({ body }) => {
    const [info] = body.details ?? []
    if (info) info.request_info.request_id = 'req_other'
  }),
  'errors/field-violations: a 400 names no field': error(({ body }) => {
    const [info] = body.details ?? []
    if (info) delete info.validation_error_info
  }),
  'errors/request-id-kept: X-Request-Id of the request is not taken over': ({ request }) =>
    request(({ headers }) => {
      delete headers['x-request-id']
    }),
  'errors/method: a method that is not served is a 404': status(405, 404),
  'errors/too-large: a large body is a 400': status(413, 400),
  'errors/method: a 405 lacks Allow': ({ reply }) =>
    reply(({ headers }) => {
      delete headers['allow']
    }),
  'errors/longer-path: a longer path is served too': ({ reply }) =>
    reply((answer, { path }) => {
      if (path.startsWith('/api/v1/connected_accountsX')) answer.status = 200
    }),
  'errors/content-type: a body of another content type is another kind of error': ({ reply }) =>
    reply((answer) => {
      if (answer.body?.details?.[0]?.error_code === 'UNSUPPORTED_CONTENT_TYPE') answer.status = 415
    }),
}

function token(change: (reply: WireReply) => unknown): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer, { path }) => {
      if (path === '/oauth/token' && answer.status === 200) change(answer)
    })
}

function error(change: (reply: WireReply) => void): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer, { path }) => {
      if (path !== '/oauth/token' && answer.status >= 400) change(answer)
    })
}

function status(from: number, to: number): Mutant['mutate'] {
  return ({ reply }) =>
    reply((answer, { path }) => {
      if (path !== '/oauth/token' && answer.status === from) answer.status = to
    })
}
