import { must, Skipped } from '../answer.ts'
import { type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { type ClientCredentials, FORM } from '../target.ts'

/** The token endpoint (part 5). */
export const TOKEN_CHECKS = checksOf('create_token', [
  {
    id: 'token/issued',
    title: 'client credentials get an access token',
    basis: 'document:5.1',
    run: async (context) => void (await issued(context)).string('access_token'),
  },
  {
    id: 'token/json',
    title: 'the token response is application/json',
    basis: 'document:1',
    run: async (context) => void (await issued(context)).header('Content-Type', /^application\/json\b/),
  },
  {
    id: 'token/type',
    title: 'the token type is Bearer',
    basis: 'convention:G13',
    run: async (context) => void (await issued(context)).has('token_type', 'Bearer'),
  },
  {
    id: 'token/lifetime',
    title: 'expires_in is a whole number of seconds',
    basis: 'convention:G13',
    run: async (context) => {
      const seconds = (await issued(context)).at('expires_in')
      must(Number.isInteger(seconds) && Number(seconds) > 0, 'expires_in to be a positive integer', seconds)
    },
  },
  {
    id: 'token/scope',
    title: 'the scope is empty',
    basis: 'convention:G13',
    run: async (context) => void (await issued(context)).has('scope', ''),
  },
  {
    id: 'token/not-stored',
    title: 'the token response forbids caches to keep it',
    basis: 'convention:G13',
    run: async (context) =>
      void (await issued(context)).header('Cache-Control', /\bno-store\b/).header('Pragma', /\bno-cache\b/),
  },
  {
    id: 'token/usable',
    title: 'a fresh token opens an operation',
    basis: 'document:5.3',
    run: async ({ api }) => {
      const token = (await api.requestToken()).is(200).string('access_token')
      const answer = await api.send('GET', '/connected_accounts', undefined, { Authorization: `Bearer ${token}` })
      answer.is(200)
    },
  },
  {
    id: 'token/several',
    title: 'a later token leaves an earlier one valid',
    basis: 'convention:G13',
    run: async ({ api }) => {
      const [first, second] = [await api.requestToken(), await api.requestToken()]
      must(first.string('access_token') !== second.string('access_token'), 'two different tokens', 'the same token')
      const header = { Authorization: `Bearer ${first.string('access_token')}` }
      const answer = await api.send('GET', '/connected_accounts', undefined, header)
      answer.is(200)
    },
  },
  refused('no-grant-type', 'a missing grant_type is invalid_request', { grant_type: undefined }, 'invalid_request'),
  refused(
    'other-grant-type',
    'another grant_type is unsupported_grant_type',
    { grant_type: 'password' },
    'unsupported_grant_type',
  ),
  refused('no-client-id', 'a missing client_id is invalid_client', { client_id: undefined }, 'invalid_client'),
  refused('no-secret', 'a missing client_secret is invalid_client', { client_secret: undefined }, 'invalid_client'),
  refused(
    'no-authentication',
    'a client that does not authenticate at all is invalid_client',
    { client_id: undefined, client_secret: undefined },
    'invalid_client',
  ),
  refused('wrong-secret', 'a wrong client_secret is invalid_client', { client_secret: 'wrong' }, 'invalid_client'),
  refused('unknown-client', 'an unknown client_id is invalid_client', { client_id: 'nobody-knows' }, 'invalid_client'),
  {
    id: 'token/repeated-field',
    title: 'a repeated field is invalid_request',
    basis: 'convention:G14',
    run: async ({ target, api }) => {
      const { id, secret } = api.client
      const body = `${new URLSearchParams({ client_id: id, client_secret: secret }).toString()}&grant_type=client_credentials&grant_type=client_credentials`
      const answer = await target.send({ method: 'POST', path: '/oauth/token', headers: FORM, body })
      answer.is(400).has('error', 'invalid_request')
    },
  },
  {
    id: 'token/json-body',
    title: 'a token request in JSON is invalid_request',
    basis: 'document:5.1',
    run: async ({ target, api }) => {
      const { id, secret } = api.client
      const body = JSON.stringify({ client_id: id, client_secret: secret, grant_type: 'client_credentials' })
      const headers = { 'Content-Type': 'application/json' }
      const answer = await target.send({ method: 'POST', path: '/oauth/token', headers, body })
      answer.is(400)
    },
  },
  {
    id: 'token/basic',
    title: 'client credentials work as HTTP Basic too',
    basis: 'convention:G14',
    run: async (context) => {
      const { id, secret } = context.api.client
      const answer = await byBasic(context, id, secret)
      answer.is(200).string('access_token')
    },
  },
  {
    id: 'token/basic-wrong',
    title: 'wrong HTTP Basic credentials are answered with the Basic challenge',
    basis: 'convention:G14',
    run: async (context) => {
      const answer = await byBasic(context, context.api.client.id, 'wrong')
      answer
        .is(401)
        .has('error', 'invalid_client')
        .header('WWW-Authenticate', /^Basic\b/i)
    },
  },
  {
    id: 'token/authenticated-twice',
    title: 'HTTP Basic and client_secret together are invalid_request',
    basis: 'convention:G14',
    run: async ({ api }) => {
      const answer = await api.requestToken({}, { ...FORM, Authorization: basic(api.client) })
      answer.is(400).has('error', 'invalid_request')
    },
  },
  {
    id: 'token/two-clients',
    title: 'HTTP Basic of one client and the client_id of another are invalid_request',
    basis: 'convention:G14',
    run: async ({ api }) => {
      const form = { client_id: 'nobody-knows', client_secret: undefined }
      const answer = await api.requestToken(form, { ...FORM, Authorization: basic(api.client) })
      answer.is(400).has('error', 'invalid_request')
    },
  },
  {
    id: 'token/old-bearer',
    title: 'a token request whose header still has the old bearer token gets a new one',
    basis: 'convention:G14',
    run: async ({ api }) => {
      const old = (await api.requestToken()).is(200).string('access_token')
      const answer = await api.requestToken({}, { ...FORM, Authorization: `Bearer ${old}` })
      answer.is(200).string('access_token')
    },
  },
  {
    id: 'token/metadata',
    title: 'the metadata of RFC 8414 names the token endpoint',
    basis: 'convention:G14',
    run: async ({ target }) => {
      const answer = await target.send({ method: 'GET', path: '/.well-known/oauth-authorization-server' })
      if (answer.status === 404) throw new Skipped('the target serves no metadata')
      const issuer = answer.is(200).string('issuer')
      answer.has('token_endpoint', `${issuer}/oauth/token`).has('grant_types_supported', ['client_credentials'])
    },
  },
  {
    id: 'token/description',
    title: 'a token error says what is wrong in error_description',
    basis: 'convention:G14',
    run: async ({ api }) => {
      const answer = await api.requestToken({ grant_type: undefined })
      answer.is(400).string('error_description')
    },
  },
])

async function issued({ api }: CheckContext) {
  return (await api.requestToken()).is(200)
}

function byBasic({ api }: CheckContext, id: string, secret: string) {
  const nothing = { client_id: undefined, client_secret: undefined }
  return api.requestToken(nothing, { ...FORM, Authorization: basic({ id, secret }) })
}

function basic({ id, secret }: ClientCredentials): string {
  const encoded = [id, secret].map((part) => encodeURIComponent(part)).join(':')
  return `Basic ${Buffer.from(encoded).toString('base64')}`
}

/** A token request that is refused in the words of RFC 6749 5.2. */
function refused(name: string, title: string, changes: Record<string, string | undefined>, error: string): CheckEntry {
  return {
    id: `token/${name}`,
    title,
    basis: 'convention:G14',
    run: async ({ api }) => {
      const answer = await api.requestToken(changes)
      answer.is(error === 'invalid_client' ? 401 : 400).has('error', error)
    },
  }
}
