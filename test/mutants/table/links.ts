import { instant } from '../../../src/model/domain/instant.ts'
import type { MagicLink } from '../../../src/model/domain/generated/tables.ts'
import {
  answering,
  answersOtherError,
  answersInsteadOfError,
  type MutantTable,
  answersOtherStatus,
  type Parts,
} from '../mutant.ts'

const LINK = 'create_magic_link'
const VERIFY = 'verify_user'
const REDIRECT = { status: 200, body: { post_user_verify_redirect_url: 'https://app.example/' } }

/** Magic links, consent and verification. */
export const LINK_MUTANTS: MutantTable = {
  'link/shape: a link answers no expiry': answering(LINK, (body) => delete body.expiry),
  'time/link: a link works after its expiry': storing((link) => ({
    ...link,
    expires_at: instant(Date.UTC(2200, 0, 1)),
  })),
  'time/link-before: a link works for five minutes and says fifteen': storing((link) => ({
    ...link,
    expires_at: instant(Date.parse(link.expires_at) - 600_000),
  })),
  'link/expiry: the expiry is in the past': answering(LINK, (body) => (body.expiry = '2001-01-01T00:00:00.000Z')),
  'link/unique: an account has one link': answering(LINK, (body) => (body.link = 'https://app.example/magic/one')),
  'link/without-user: a link for a new name that needs no user leaves it PENDING_AUTH': ({ around }) =>
    around(LINK, async (call, handler) => {
      const reply = await handler(call)
      const { model } = call.environment
      const [account] = model.accountIndex.where({ identifier: call.body.identifier ?? '' })
      if (account?.authorization_type === 'OAUTH_M2M')
        model.transact(() => model.tables.accounts.put({ ...account, status: 'PENDING_AUTH' }))
      return reply
    }),
  'link/updated-at-stays: a link moves updated_at': ({ around }) =>
    around(LINK, async (call, handler) => {
      const reply = await handler(call)
      const { model } = call.environment
      const account = model.tables.accounts.get(call.body.id ?? '')
      const updated_at = instant(Date.UTC(2199, 0, 1))
      if (account) model.transact(() => model.tables.accounts.put({ ...account, updated_at }))
      return reply
    }),
  'time/disconnected-request: a disconnection leaves the auth request': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const request = call.environment.model.tables.auth_requests.get(call.body.auth_request_id)
      return request?.outcome === 'withdrawn' ? REDIRECT : handler(call)
    }),
  'link/makes-account: a link for a new name is a 404': ({ around }) =>
    around(LINK, async (call, handler) => {
      const { model } = call.environment
      const before = new Set([...model.tables.accounts.values()].map(({ id }) => id))
      const reply = await handler(call)
      model.transact(() => {
        for (const { id } of [...model.tables.accounts.values()]) if (!before.has(id)) model.tables.accounts.remove(id)
      })
      return reply
    }),
  'link/active-stays: a link makes an ACTIVE account PENDING_AUTH': ({ around }) =>
    around(LINK, async (call, handler) => {
      const reply = await handler(call)
      const { model } = call.environment
      const account = call.body.id ? model.tables.accounts.get(call.body.id) : undefined
      if (account) model.transact(() => model.tables.accounts.put({ ...account, status: 'PENDING_AUTH' }))
      return reply
    }),
  'link/unknown-connector: a link at an unknown connector is a 404': answersOtherError(
    LINK,
    'INVALID_CONNECTOR',
    'PROVIDER_NOT_FOUND',
  ),
  'link/unknown-id: a link for an unknown id is a 404': answersOtherError(
    LINK,
    'VALIDATION_FAILED',
    'ACCOUNT_NOT_FOUND',
  ),
  'link/relative-url: user_verify_url is not checked': answersOtherStatus(
    '/api/v1/connected_accounts/magic_link',
    'user_verify_url',
    200,
    {
      link: 'https://app.example/',
      expiry: '2100-01-01T00:00:00.000Z',
    },
  ),
  'consent/state: state does not come back': storing((link) => ({ ...link, state: null })),
  'consent/state: state comes back encoded twice': storing((link) => ({
    ...link,
    state: link.state === null ? null : encodeURIComponent(link.state),
  })),
  'consent/no-state: an empty state comes back where none was sent': storing((link) => ({
    ...link,
    state: link.state ?? '',
  })),
  "consent/redirect: the verify URL's own query is lost": storing((link) => ({
    ...link,
    user_verify_url: link.user_verify_url.replace(/\?.*/, ''),
  })),
  'consent/pending-verification: an approved consent needs no verify': storing((link) => ({
    ...link,
    user_verify_url: '',
  })),
  'verify/twice: a second verify answers 200': answersInsteadOfError(VERIFY, 'AUTH_REQUEST_NOT_FOUND', () => REDIRECT),
  'verify/twice: a second verify is a 409': answersOtherError(
    VERIFY,
    'AUTH_REQUEST_NOT_FOUND',
    'ACCOUNT_ALREADY_EXISTS',
  ),
  'verify/mismatch: verify does not compare the identifier': answersInsteadOfError(
    VERIFY,
    'IDENTIFIER_MISMATCH',
    () => REDIRECT,
  ),
  'verify/mismatch-case: verify compares without case': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const body = { ...call.body, identifier: call.body.identifier.toLowerCase() }
      return handler({ ...call, body })
    }),
  'verify/mismatch: another identifier is a 404': answersOtherError(
    VERIFY,
    'IDENTIFIER_MISMATCH',
    'AUTH_REQUEST_NOT_FOUND',
  ),
  'verify/mismatch-not-consumed: a refused verify consumes the request': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const { model } = call.environment
      const request = model.tables.auth_requests.get(call.body.auth_request_id)
      if (request && request.identifier !== call.body.identifier)
        model.transact(() => model.tables.auth_requests.put({ ...request, identifier: 'nobody' }))
      return handler(call)
    }),
  'verify/mismatch-status: a refused verify makes the account ACTIVE all the same': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const { model } = call.environment
      const request = model.tables.auth_requests.get(call.body.auth_request_id)
      const account = request && model.tables.accounts.get(request.account_id)
      if (account) model.transact(() => model.tables.accounts.put({ ...account, status: 'ACTIVE' }))
      return handler(call)
    }),
  'verify/tokens-live: verify does not make the pending tokens live': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const { model } = call.environment
      const request = model.tables.auth_requests.get(call.body.auth_request_id)
      const account = request && model.tables.accounts.get(request.account_id)
      if (account) {
        const { pending: _pending, ...rest } = account
        model.transact(() => model.tables.accounts.put(rest))
      }
      return handler(call)
    }),
  'verify/redirect-url: verify answers no redirect URL': answering(
    VERIFY,
    (body) => delete body.post_user_verify_redirect_url,
  ),
  'verify/malformed: a malformed auth_request_id is a 404': answersOtherStatus(
    '/api/v1/connected_accounts/user/verify',
    'auth_request_id',
    404,
    { code: 5 },
  ),
  'time/auth-request: an auth request can be verified at any time': ({ around }) =>
    around(VERIFY, (call, handler) => {
      const { model } = call.environment
      const request = model.tables.auth_requests.get(call.body.auth_request_id)
      const expires_at = instant(Date.UTC(2200, 0, 1))
      if (request?.outcome === 'expired')
        model.transact(() => model.tables.auth_requests.put({ ...request, outcome: 'pending', expires_at }))
      return handler(call)
    }),
}

/** Changes the stored link, and not the answer. */
function storing(change: (link: MagicLink) => MagicLink) {
  return ({ around }: Parts): void => {
    around(LINK, async (call, handler) => {
      const reply = await handler(call)
      const { model } = call.environment
      const id = (reply.body as { link: string }).link.split('/').at(-1) ?? ''
      const link = model.tables.magic_links.get(id)
      if (link) model.transact(() => model.tables.magic_links.put(change(link)))
      return reply
    })
  }
}
