import { parseUrl } from '../../../model/domain/parse-url.ts'
import { must, equal } from '../service-response.ts'
import { checksOf } from '../check.ts'

const TOKEN = 'connected_account.authorization_details.oauth_token.access_token'

export const VERIFY_CHECKS = checksOf('verify', 'verify_user', {
  'redirect-url (document:4.7): verify answers a redirect URL': async (context) => {
    const { account, request } = await context.approved()
    const response = (await context.verify(request, account.identifier)).is(200)
    const url = response.string('post_user_verify_redirect_url')
    must(parseUrl(url) !== undefined, 'a URL', url)
  },
  'active (document:3.1): verify makes the account ACTIVE': async (context) => {
    const account = await context.verified()
    ;(await context.details(account.id)).has('connected_account.status', 'ACTIVE')
  },
  'tokens-live (document:3.1): verify makes the pending tokens live': async (context) => {
    const account = await context.verified()
    ;(await context.auth(account.id)).string(TOKEN)
  },
  'tokens-replaced (document:3.1): verify replaces the live tokens of an ACTIVE account': async (context) => {
    const account = await context.active()
    const before = (await context.auth(account.id)).string(TOKEN)
    await context.verified(account)
    const after = (await context.auth(account.id)).string(TOKEN)
    must(after !== before, 'other tokens than before', after)
  },
  'twice (document:3.1): a second verify with the same request is a 404': async (context) => {
    const { account, request } = await context.approved()
    ;(await context.verify(request, account.identifier)).is(200)
    ;(await context.verify(request, account.identifier)).is(404)
  },
  'mismatch (document:4.7): another identifier is a 403': async (context) => {
    const { request } = await context.approved()
    ;(await context.verify(request, 'somebody@else.example')).is(403)
  },
  'mismatch-case (document:4.7): an identifier in another case is another identifier': async (context) => {
    const { account, request } = await context.approved()
    ;(await context.verify(request, account.identifier.toUpperCase())).is(403)
  },
  'mismatch-code (convention:G16): the 403 has code 7': async (context) => {
    const { request } = await context.approved()
    ;(await context.verify(request, 'somebody@else.example')).is(403).has('code', 7)
  },
  'mismatch-status (document:4.7): a refused verify leaves the account as it was': async (context) => {
    const { account, request } = await context.approved()
    ;(await context.verify(request, 'somebody@else.example')).is(403)
    const details = await context.details(account.id)
    must(details.at('connected_account.status') !== 'ACTIVE', 'an account that is not ACTIVE', 'ACTIVE')
  },
  'mismatch-not-consumed (choice:States): a refused verify does not consume the request': async (context) => {
    const { account, request } = await context.approved()
    ;(await context.verify(request, 'somebody@else.example')).is(403)
    ;(await context.verify(request, account.identifier)).is(200)
  },
  'mismatch-secret (document:4.7): the 403 does not contain the stored identifier': async (context) => {
    const { account, request } = await context.approved()
    const response = await context.verify(request, 'somebody@else.example')
    must(!response.is(403).text.includes(account.identifier), 'a 403 without the stored identifier', response.text)
  },
  'superseded (choice:States): a newer consent supersedes an older request': async (context) => {
    const { account, request: older } = await context.approved()
    const newer = await context.pendingRequest(account)
    ;(await context.verify(older, account.identifier)).is(404)
    ;(await context.verify(newer, account.identifier)).is(200)
  },
  'unknown (document:4.7): an unknown auth_request_id is a 404': async (context) =>
    (await context.verify('bm9ib2R5LW1hZGUtdGhpcw', 'conform@example.com')).is(404),
  'malformed (document:4.7): an auth_request_id outside the base64url alphabet is a 400': async (context) =>
    (await context.verify('not base64url!', 'conform@example.com')).is(400),
  'no-request (document:4.7): a missing auth_request_id is a 400': async ({ api }) =>
    (await api.post('/connected_accounts/user/verify', { identifier: 'conform@example.com' })).is(400),
  'no-identifier (document:4.7): a missing identifier is a 400': async ({ api }) =>
    (await api.post('/connected_accounts/user/verify', { auth_request_id: 'bm9ib2R5' })).is(400),
  'malformed-before-unknown (convention:G17): what is malformed is a 400 before what is unknown is a 404': async (
    context,
  ) => {
    const response = await context.verify('bm9ib2R5', '')
    equal(response.status, 400, 'the status for an unknown request with an empty identifier')
  },
})
