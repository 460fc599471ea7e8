import { instant } from '../../../src/model/domain/instant.ts'
import type { MagicLink } from '../../../src/model/domain/generated/tables.ts'
import {
  answering,
  answersOtherError,
  answersInsteadOfError,
  type Mutant,
  answersOtherStatus,
  type Parts,
} from '../mutant.ts'

const LINK = 'create_magic_link'
const VERIFY = 'verify_user'
const REDIRECT = { status: 200, body: { post_user_verify_redirect_url: 'https://app.example/' } }

/** Magic links, consent and verification. */
export const LINK_MUTANTS: readonly Mutant[] = [
  {
    name: 'link-without-expiry',
    what: 'a link answers no expiry',
    caughtBy: 'link/shape',
    mutate: answering(LINK, (body) => delete body.expiry),
  },
  {
    name: 'link-never-expires',
    what: 'a link works after its expiry',
    caughtBy: 'time/link',
    mutate: storing((link) => ({ ...link, expires_at: instant(Date.UTC(2200, 0, 1)) })),
  },
  {
    name: 'link-expires-at-once',
    what: 'a link works for five minutes and says fifteen',
    caughtBy: 'time/link-before',
    mutate: storing((link) => ({ ...link, expires_at: instant(Date.parse(link.expires_at) - 600_000) })),
  },
  {
    name: 'link-in-the-past',
    what: 'the expiry is in the past',
    caughtBy: 'link/expiry',
    mutate: answering(LINK, (body) => (body.expiry = '2001-01-01T00:00:00.000Z')),
  },
  {
    name: 'link-always-the-same',
    what: 'an account has one link',
    caughtBy: 'link/unique',
    mutate: answering(LINK, (body) => (body.link = 'https://app.example/magic/one')),
  },
  {
    name: 'link-leaves-pending',
    what: 'a link for a new name that needs no user leaves it PENDING_AUTH',
    caughtBy: 'link/without-user',
    mutate: ({ around }) =>
      around(LINK, async (call, handler) => {
        const reply = await handler(call)
        const { model } = call.environment
        const [account] = model.accountIndex.where({ identifier: call.body.identifier ?? '' })
        if (account?.authorization_type === 'OAUTH_M2M')
          model.transact(() => model.tables.accounts.put({ ...account, status: 'PENDING_AUTH' }))
        return reply
      }),
  },
  {
    name: 'link-moves-updated-at',
    what: 'a link moves updated_at',
    caughtBy: 'link/updated-at-stays',
    mutate: ({ around }) =>
      around(LINK, async (call, handler) => {
        const reply = await handler(call)
        const { model } = call.environment
        const account = model.tables.accounts.get(call.body.id ?? '')
        const updated_at = instant(Date.UTC(2199, 0, 1))
        if (account) model.transact(() => model.tables.accounts.put({ ...account, updated_at }))
        return reply
      }),
  },
  {
    name: 'verify-disconnected',
    what: 'a disconnection leaves the auth request',
    caughtBy: 'time/disconnected-request',
    mutate: ({ around }) =>
      around(VERIFY, (call, handler) => {
        const request = call.environment.model.tables.auth_requests.get(call.body.auth_request_id)
        return request?.outcome === 'withdrawn' ? REDIRECT : handler(call)
      }),
  },
  {
    name: 'link-makes-no-account',
    what: 'a link for a new name is a 404',
    caughtBy: 'link/makes-account',
    mutate: ({ around }) =>
      around(LINK, async (call, handler) => {
        const { model } = call.environment
        const before = new Set([...model.tables.accounts.values()].map(({ id }) => id))
        const reply = await handler(call)
        model.transact(() => {
          for (const { id } of [...model.tables.accounts.values()])
            if (!before.has(id)) model.tables.accounts.remove(id)
        })
        return reply
      }),
  },
  {
    name: 'link-takes-active-away',
    what: 'a link makes an ACTIVE account PENDING_AUTH',
    caughtBy: 'link/active-stays',
    mutate: ({ around }) =>
      around(LINK, async (call, handler) => {
        const reply = await handler(call)
        const { model } = call.environment
        const account = call.body.id ? model.tables.accounts.get(call.body.id) : undefined
        if (account) model.transact(() => model.tables.accounts.put({ ...account, status: 'PENDING_AUTH' }))
        return reply
      }),
  },
  {
    name: 'link-unknown-connector-404',
    what: 'a link at an unknown connector is a 404',
    caughtBy: 'link/unknown-connector',
    mutate: answersOtherError(LINK, 'INVALID_CONNECTOR', 'PROVIDER_NOT_FOUND'),
  },
  {
    name: 'link-unknown-id-404',
    what: 'a link for an unknown id is a 404',
    caughtBy: 'link/unknown-id',
    mutate: answersOtherError(LINK, 'VALIDATION_FAILED', 'ACCOUNT_NOT_FOUND'),
  },
  {
    name: 'link-any-url',
    what: 'user_verify_url is not checked',
    caughtBy: 'link/relative-url',
    mutate: answersOtherStatus('/api/v1/connected_accounts/magic_link', 'user_verify_url', 200, {
      link: 'https://app.example/',
      expiry: '2100-01-01T00:00:00.000Z',
    }),
  },
  {
    name: 'state-lost',
    what: 'state does not come back',
    caughtBy: 'consent/state',
    mutate: storing((link) => ({ ...link, state: null })),
  },
  {
    name: 'state-encoded-twice',
    what: 'state comes back encoded twice',
    caughtBy: 'consent/state',
    mutate: storing((link) => ({ ...link, state: link.state === null ? null : encodeURIComponent(link.state) })),
  },
  {
    name: 'state-always',
    what: 'an empty state comes back where none was sent',
    caughtBy: 'consent/no-state',
    mutate: storing((link) => ({ ...link, state: link.state ?? '' })),
  },
  {
    name: 'verify-url-query-lost',
    what: "the verify URL's own query is lost",
    caughtBy: 'consent/redirect',
    mutate: storing((link) => ({ ...link, user_verify_url: link.user_verify_url.replace(/\?.*/, '') })),
  },
  {
    name: 'verification-skipped',
    what: 'an approved consent needs no verify',
    caughtBy: 'consent/pending-verification',
    mutate: storing((link) => ({ ...link, user_verify_url: '' })),
  },
  {
    name: 'verify-twice',
    what: 'a second verify answers 200',
    caughtBy: 'verify/twice',
    mutate: answersInsteadOfError(VERIFY, 'AUTH_REQUEST_NOT_FOUND', () => REDIRECT),
  },
  {
    name: 'verify-twice-409',
    what: 'a second verify is a 409',
    caughtBy: 'verify/twice',
    mutate: answersOtherError(VERIFY, 'AUTH_REQUEST_NOT_FOUND', 'ACCOUNT_ALREADY_EXISTS'),
  },
  {
    name: 'verify-anybody',
    what: 'verify does not compare the identifier',
    caughtBy: 'verify/mismatch',
    mutate: answersInsteadOfError(VERIFY, 'IDENTIFIER_MISMATCH', () => REDIRECT),
  },
  {
    name: 'verify-any-case',
    what: 'verify compares without case',
    caughtBy: 'verify/mismatch-case',
    mutate: ({ around }) =>
      around(VERIFY, (call, handler) => {
        const body = { ...call.body, identifier: call.body.identifier.toLowerCase() }
        return handler({ ...call, body })
      }),
  },
  {
    name: 'verify-mismatch-404',
    what: 'another identifier is a 404',
    caughtBy: 'verify/mismatch',
    mutate: answersOtherError(VERIFY, 'IDENTIFIER_MISMATCH', 'AUTH_REQUEST_NOT_FOUND'),
  },
  {
    name: 'verify-mismatch-consumes',
    what: 'a refused verify consumes the request',
    caughtBy: 'verify/mismatch-not-consumed',
    mutate: ({ around }) =>
      around(VERIFY, (call, handler) => {
        const { model } = call.environment
        const request = model.tables.auth_requests.get(call.body.auth_request_id)
        if (request && request.identifier !== call.body.identifier)
          model.transact(() => model.tables.auth_requests.put({ ...request, identifier: 'nobody' }))
        return handler(call)
      }),
  },
  {
    name: 'verify-mismatch-activates',
    what: 'a refused verify makes the account ACTIVE all the same',
    caughtBy: 'verify/mismatch-status',
    mutate: ({ around }) =>
      around(VERIFY, (call, handler) => {
        const { model } = call.environment
        const request = model.tables.auth_requests.get(call.body.auth_request_id)
        const account = request && model.tables.accounts.get(request.account_id)
        if (account) model.transact(() => model.tables.accounts.put({ ...account, status: 'ACTIVE' }))
        return handler(call)
      }),
  },
  {
    name: 'verify-drops-tokens',
    what: 'verify does not make the pending tokens live',
    caughtBy: 'verify/tokens-live',
    mutate: ({ around }) =>
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
  },
  {
    name: 'verify-empty-answer',
    what: 'verify answers no redirect URL',
    caughtBy: 'verify/redirect-url',
    mutate: answering(VERIFY, (body) => delete body.post_user_verify_redirect_url),
  },
  {
    name: 'verify-malformed-404',
    what: 'a malformed auth_request_id is a 404',
    caughtBy: 'verify/malformed',
    mutate: answersOtherStatus('/api/v1/connected_accounts/user/verify', 'auth_request_id', 404, { code: 5 }),
  },
  {
    name: 'auth-request-never-expires',
    what: 'an auth request can be verified at any time',
    caughtBy: 'time/auth-request',
    mutate: ({ around }) =>
      around(VERIFY, (call, handler) => {
        const { model } = call.environment
        const request = model.tables.auth_requests.get(call.body.auth_request_id)
        const expires_at = instant(Date.UTC(2200, 0, 1))
        if (request?.outcome === 'expired')
          model.transact(() => model.tables.auth_requests.put({ ...request, outcome: 'pending', expires_at }))
        return handler(call)
      }),
  },
]

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
