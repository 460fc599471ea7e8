import { must, same } from '../answer.ts'
import { checksOf } from '../check.ts'

const TOKEN = 'connected_account.authorization_details.oauth_token.access_token'

/** POST /connected_accounts/user/verify (4.7, 3.1). */
export const VERIFY_CHECKS = checksOf('verify_user', [
  {
    id: 'verify/redirect-url',
    title: 'verify answers a redirect URL',
    basis: 'document:4.7',
    run: async (context) => {
      const account = await context.account()
      const answer = (await context.verify(await context.pendingRequest(account), account.identifier)).is(200)
      const url = answer.string('post_user_verify_redirect_url')
      must(URL.canParse(url), 'a URL', url)
    },
  },
  {
    id: 'verify/active',
    title: 'verify makes the account ACTIVE',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      ;(await context.verify(await context.pendingRequest(account), account.identifier)).is(200)
      ;(await context.details(account.id)).has('connected_account.status', 'ACTIVE')
    },
  },
  {
    id: 'verify/tokens-live',
    title: 'verify makes the pending tokens live',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      ;(await context.verify(await context.pendingRequest(account), account.identifier)).is(200)
      ;(await context.auth(account.id)).string(TOKEN)
    },
  },
  {
    id: 'verify/tokens-replaced',
    title: 'verify replaces the live tokens of an ACTIVE account',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.active()
      const before = (await context.auth(account.id)).string(TOKEN)
      ;(await context.verify(await context.pendingRequest(account), account.identifier)).is(200)
      const after = (await context.auth(account.id)).string(TOKEN)
      must(after !== before, 'other tokens than before', after)
    },
  },
  {
    id: 'verify/twice',
    title: 'a second verify with the same request is a 404',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      const request = await context.pendingRequest(account)
      ;(await context.verify(request, account.identifier)).is(200)
      ;(await context.verify(request, account.identifier)).is(404)
    },
  },
  {
    id: 'verify/mismatch',
    title: 'another identifier is a 403',
    basis: 'document:4.7',
    run: async (context) => {
      const request = await context.pendingRequest(await context.account())
      ;(await context.verify(request, 'somebody@else.example')).is(403)
    },
  },
  {
    id: 'verify/mismatch-case',
    title: 'an identifier in another case is another identifier',
    basis: 'document:4.7',
    run: async (context) => {
      const account = await context.account()
      const request = await context.pendingRequest(account)
      ;(await context.verify(request, account.identifier.toUpperCase())).is(403)
    },
  },
  {
    id: 'verify/mismatch-code',
    title: 'the 403 has code 7',
    basis: 'convention:G16',
    run: async (context) => {
      const request = await context.pendingRequest(await context.account())
      ;(await context.verify(request, 'somebody@else.example')).is(403).has('code', 7)
    },
  },
  {
    id: 'verify/mismatch-status',
    title: 'a refused verify leaves the account as it was',
    basis: 'document:4.7',
    run: async (context) => {
      const account = await context.account()
      ;(await context.verify(await context.pendingRequest(account), 'somebody@else.example')).is(403)
      const details = await context.details(account.id)
      must(details.at('connected_account.status') !== 'ACTIVE', 'an account that is not ACTIVE', 'ACTIVE')
    },
  },
  {
    id: 'verify/mismatch-not-consumed',
    title: 'a refused verify does not consume the request',
    basis: 'choice:States',
    run: async (context) => {
      const account = await context.account()
      const request = await context.pendingRequest(account)
      ;(await context.verify(request, 'somebody@else.example')).is(403)
      ;(await context.verify(request, account.identifier)).is(200)
    },
  },
  {
    id: 'verify/mismatch-secret',
    title: 'the 403 does not contain the stored identifier',
    basis: 'document:4.7',
    run: async (context) => {
      const account = await context.account()
      const answer = await context.verify(await context.pendingRequest(account), 'somebody@else.example')
      must(!answer.is(403).text.includes(account.identifier), 'a 403 without the stored identifier', answer.text)
    },
  },
  {
    id: 'verify/superseded',
    title: 'a newer consent supersedes an older request',
    basis: 'choice:States',
    run: async (context) => {
      const account = await context.account()
      const older = await context.pendingRequest(account)
      const newer = await context.pendingRequest(account)
      ;(await context.verify(older, account.identifier)).is(404)
      ;(await context.verify(newer, account.identifier)).is(200)
    },
  },
  {
    id: 'verify/unknown',
    title: 'an unknown auth_request_id is a 404',
    basis: 'document:4.7',
    run: async (context) => void (await context.verify('bm9ib2R5LW1hZGUtdGhpcw', 'conform@example.com')).is(404),
  },
  {
    id: 'verify/malformed',
    title: 'an auth_request_id outside the base64url alphabet is a 400',
    basis: 'document:4.7',
    run: async (context) => void (await context.verify('not base64url!', 'conform@example.com')).is(400),
  },
  {
    id: 'verify/no-request',
    title: 'a missing auth_request_id is a 400',
    basis: 'document:4.7',
    run: async ({ api }) =>
      void (await api.post('/connected_accounts/user/verify', { identifier: 'conform@example.com' })).is(400),
  },
  {
    id: 'verify/no-identifier',
    title: 'a missing identifier is a 400',
    basis: 'document:4.7',
    run: async ({ api }) =>
      void (await api.post('/connected_accounts/user/verify', { auth_request_id: 'bm9ib2R5' })).is(400),
  },
  {
    id: 'verify/malformed-before-unknown',
    title: 'what is malformed is a 400 before what is unknown is a 404',
    basis: 'convention:G17',
    run: async (context) => {
      const answer = await context.verify('bm9ib2R5', '')
      same(answer.status, 400, 'the status for an unknown request with an empty identifier')
    },
  },
])
