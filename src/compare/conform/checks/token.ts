import { must, Skipped } from '../service-response.ts'
import { type CheckRun, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { type Api, type ClientCredentials, FORM, type QueryParameters } from '../target.ts'

const NO_CLIENT = { client_id: undefined, client_secret: undefined }

/** The token endpoint (part 5). */
export const TOKEN_CHECKS = checksOf('token', 'create_token', {
  'issued (document:5.1): client credentials get an access token': async (context) =>
    (await issueToken(context)).string('access_token'),
  'json (document:1): the token response is application/json': async (context) =>
    (await issueToken(context)).header('Content-Type', /^application\/json\b/),
  'type (convention:G13): the token type is Bearer': async (context) =>
    (await issueToken(context)).has('token_type', 'Bearer'),
  'lifetime (convention:G13): expires_in is a whole number of seconds': async (context) => {
    const seconds = (await issueToken(context)).at('expires_in')
    must(Number.isInteger(seconds) && Number(seconds) > 0, 'expires_in to be a positive integer', seconds)
  },
  'scope (convention:G13): the scope is empty': async (context) => (await issueToken(context)).has('scope', ''),
  'not-stored (convention:G13): the token response forbids caches to keep it': async (context) =>
    (await issueToken(context)).header('Cache-Control', /\bno-store\b/).header('Pragma', /\bno-cache\b/),
  'usable (document:5.3): a fresh token opens an operation': async ({ api }) => {
    const token = (await api.requestToken()).is(200).string('access_token')
    ;(await api.send('GET', '/connected_accounts', undefined, { Authorization: `Bearer ${token}` })).is(200)
  },
  'several (convention:G13): a later token leaves an earlier one valid': async ({ api }) => {
    const [first, second] = [await api.requestToken(), await api.requestToken()]
    must(first.string('access_token') !== second.string('access_token'), 'two different tokens', 'the same token')
    const header = { Authorization: `Bearer ${first.string('access_token')}` }
    ;(await api.send('GET', '/connected_accounts', undefined, header)).is(200)
  },
  'no-grant-type (convention:G14): a missing grant_type is invalid_request': refusedToken('invalid_request', {
    grant_type: undefined,
  }),
  'other-grant-type (convention:G14): another grant_type is unsupported_grant_type': refusedToken(
    'unsupported_grant_type',
    {
      grant_type: 'password',
    },
  ),
  'no-client-id (convention:G14): a missing client_id is invalid_client': invalidClient({ client_id: undefined }),
  'no-secret (convention:G14): a missing client_secret is invalid_client': invalidClient({ client_secret: undefined }),
  'no-authentication (convention:G14): a client that does not authenticate at all is invalid_client':
    invalidClient(NO_CLIENT),
  'wrong-secret (convention:G14): a wrong client_secret is invalid_client': invalidClient({ client_secret: 'wrong' }),
  'unknown-client (convention:G14): an unknown client_id is invalid_client': invalidClient({
    client_id: 'nobody-knows',
  }),
  'repeated-field (convention:G14): a repeated field is invalid_request': refusedToken('invalid_request', {
    grant_type: ['client_credentials', 'client_credentials'],
  }),
  'json-body (document:5.1): a token request in JSON is a 400': async ({ api }) => {
    const { id, secret } = api.client
    const body = JSON.stringify({ client_id: id, client_secret: secret, grant_type: 'client_credentials' })
    const headers = { 'Content-Type': 'application/json' }
    ;(await api.target.send({ method: 'POST', path: '/oauth/token', headers, body })).is(400)
  },
  'basic (convention:G14): client credentials work as HTTP Basic too': async ({ api }) =>
    (await byBasic(api, api.client, NO_CLIENT)).is(200).string('access_token'),
  'basic-wrong (convention:G14): wrong HTTP Basic credentials are answered with the Basic challenge': async ({ api }) =>
    (await byBasic(api, { ...api.client, secret: 'wrong' }, NO_CLIENT))
      .is(401)
      .has('error', 'invalid_client')
      .header('WWW-Authenticate', /^Basic\b/i),
  'authenticated-twice (convention:G14): HTTP Basic and client_secret together are invalid_request': async ({ api }) =>
    (await byBasic(api, api.client, {})).is(400).has('error', 'invalid_request'),
  'two-clients (convention:G14): HTTP Basic of one client and the client_id of another are invalid_request': async ({
    api,
  }) => {
    const form = { client_id: 'nobody-knows', client_secret: undefined }
    ;(await byBasic(api, api.client, form)).is(400).has('error', 'invalid_request')
  },
  'old-bearer (convention:G14): a token request whose header still has the old bearer token gets a new one': async ({
    api,
  }) => {
    const old = (await api.requestToken()).is(200).string('access_token')
    ;(await api.requestToken({}, { ...FORM, Authorization: `Bearer ${old}` })).is(200).string('access_token')
  },
  'metadata (convention:G14): the metadata of RFC 8414 names the token endpoint': async ({ api }) => {
    const response = await api.target.send({ method: 'GET', path: '/.well-known/oauth-authorization-server' })
    if (response.status === 404) throw new Skipped('the target serves no metadata')
    const issuer = response.is(200).string('issuer')
    response.has('token_endpoint', `${issuer}/oauth/token`).has('grant_types_supported', ['client_credentials'])
  },
  'description (convention:G14): a token error says what is wrong in error_description': async ({ api }) =>
    (await api.requestToken({ grant_type: undefined })).is(400).string('error_description'),
})

async function issueToken({ api }: CheckContext) {
  return (await api.requestToken()).is(200)
}

/** A token request that authenticates by HTTP Basic; `form` may change its form too. */
function byBasic(api: Api, { id, secret }: ClientCredentials, form: QueryParameters) {
  const encoded = [id, secret].map((part) => encodeURIComponent(part)).join(':')
  const Authorization = `Basic ${Buffer.from(encoded).toString('base64')}`
  return api.requestToken(form, { ...FORM, Authorization })
}

/** A client that does not authenticate as it has to. */
function invalidClient(changes: QueryParameters): CheckRun {
  return refusedToken('invalid_client', changes, 401)
}

/** A token request that is refused in the words of RFC 6749 5.2. */
function refusedToken(error: string, changes: QueryParameters, status = 400): CheckRun {
  return async ({ api }) => (await api.requestToken(changes)).is(status).has('error', error)
}
