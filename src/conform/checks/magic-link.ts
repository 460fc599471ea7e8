import type { JsonObject } from '../../domain/json.ts'
import { must, same, textOf } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import { type CheckContext, VERIFY_URL } from '../context.ts'

/** POST /connected_accounts/magic_link (4.6), and what the links lead to. */
export const MAGIC_LINK_CHECKS = checksOf('create_magic_link', [
  {
    id: 'link/shape',
    title: 'a link is a URL with an expiry',
    basis: 'document:2.3',
    run: async (context) => {
      const { id } = await context.account()
      const answer = (await context.link({ id })).is(200)
      must(URL.canParse(answer.string('link')), 'a URL', answer.at('link'))
      must(!Number.isNaN(Date.parse(answer.string('expiry'))), 'a date-time', answer.at('expiry'))
    },
  },
  {
    id: 'link/expiry',
    title: 'the link expires in the future, and within a day',
    basis: 'document:8',
    run: async (context) => {
      const account = await context.account()
      const made = Date.parse(account.created.string('connected_account.updated_at'))
      const ahead = Date.parse((await context.link({ id: account.id })).is(200).string('expiry')) - made
      must(ahead > 0 && ahead < 86_400_000, 'an expiry within a day', `${ahead} ms after create`)
    },
  },
  {
    id: 'link/unique',
    title: 'two links of one account differ',
    basis: 'document:2.3',
    run: async (context) => {
      const { id } = await context.account()
      const [one, other] = [await context.link({ id }), await context.link({ id })]
      must(one.string('link') !== other.string('link'), 'two links', one.string('link'))
    },
  },
  {
    id: 'link/updated-at-stays',
    title: 'a link leaves updated_at',
    basis: 'choice:G27',
    run: async (context) => {
      const { id, created } = await context.account()
      ;(await context.link({ id })).is(200)
      const before = created.string('connected_account.updated_at')
      ;(await context.details(id)).has('connected_account.updated_at', before)
    },
  },
  {
    id: 'link/by-name',
    title: 'a link by organization, connector and identifier is for the account of that name',
    basis: 'document:4.6',
    run: async (context) => {
      const { id, organization_id, connector, identifier } = await context.account()
      ;(await context.link({ organization_id, connector, identifier })).is(200)
      const listed = (await context.api.get('/connected_accounts', { organization_id })).is(200)
      listed.has('total_size', 1).has('connected_accounts.0.id', id)
    },
  },
  {
    id: 'link/makes-account',
    title: 'a link for an unknown name creates a PENDING_AUTH account',
    basis: 'convention:States',
    run: async (context) => {
      const { organization_id = '', connector = '', identifier = '' } = await context.newAccount()
      ;(await context.link({ organization_id, connector, identifier })).is(200)
      const listed = await context.api.get('/connected_accounts', { organization_id: textOf(organization_id) })
      listed.is(200).has('connected_accounts.0.identifier', identifier)
      listed.has('connected_accounts.0.status', 'PENDING_AUTH')
    },
  },
  {
    id: 'link/active-stays',
    title: 'a link for an ACTIVE account leaves it ACTIVE',
    basis: 'choice:States',
    run: async (context) => {
      const { id } = await context.active()
      ;(await context.link({ id })).is(200)
      ;(await context.details(id)).has('connected_account.status', 'ACTIVE')
    },
  },
  refused('no-locator', 'no locator is a 400', {}, 'document:4.6'),
  refused('no-identifier', 'a connector alone is a 400', { connector: 'mail' }, 'document:4.6'),
  refused(
    'unknown-connector',
    'an unknown connector is a 400',
    { connector: 'nobody_has_this', identifier: 'conform@example.com' },
    'document:4.6',
  ),
  refused('unknown-id', 'an unknown id is a 400', { id: 'ca_nobody_has_this' }, 'choice:G34'),
  badUrl('relative-url', '/back'),
  badUrl('script-url', 'javascript:alert(1)'),
  badUrl('text-url', 'no url'),
  {
    id: 'link/localhost',
    title: 'user_verify_url may be on any host',
    basis: 'choice:G35',
    run: async (context) => {
      const { id } = await context.account()
      ;(await context.link({ id, user_verify_url: 'http://localhost:3000/verify' })).is(200)
    },
  },
  {
    id: 'consent/redirect',
    title: 'an approved consent leads to user_verify_url, its own query kept',
    basis: 'document:4.6',
    run: async (context) => {
      const url = await context.consent(await context.account())
      same(`${url.origin}${url.pathname}`, 'https://app.example/back', 'where the user is sent')
      same(url.searchParams.get('tab'), '1', "the URL's own query")
    },
  },
  {
    id: 'consent/auth-request',
    title: 'the redirect carries a base64url auth_request_id of 128 bits or more',
    basis: 'document:4.7',
    run: async (context) => {
      const id = (await context.consent(await context.account())).searchParams.get('auth_request_id') ?? ''
      must(/^[A-Za-z0-9_-]{22,}$/.test(id), 'base64url of at least 22 characters', id)
    },
  },
  {
    id: 'consent/state',
    title: 'state comes back exactly as it was sent',
    basis: 'document:4.6',
    run: async (context) => {
      const state = 'a b&c=d#é+%20'
      const url = await context.consent(await context.account(), { state })
      same(url.searchParams.get('state'), state, 'state')
    },
  },
  {
    id: 'consent/no-state',
    title: 'without a state none comes back',
    basis: 'document:4.6',
    run: async (context) => {
      const url = await context.consent(await context.account())
      same(url.searchParams.has('state'), false, 'whether there is a state')
    },
  },
  status('pending-verification', 'an approved consent makes PENDING_VERIFICATION', 'PENDING_VERIFICATION', (context) =>
    context.account(),
  ),
  status('active-stays', 'an approved consent leaves an ACTIVE account ACTIVE', 'ACTIVE', (context) =>
    context.active(),
  ),
  {
    id: 'consent/active-keeps-tokens',
    title: 'the live tokens of an ACTIVE account stay until verify',
    basis: 'choice:States',
    run: async (context) => {
      const account = await context.active()
      const details = 'connected_account.authorization_details'
      await context.consent(account)
      ;(await context.auth(account.id)).has(details, account.created.at(details))
    },
  },
  {
    id: 'consent/pending-tokens-hidden',
    title: 'tokens that wait for verify are not given out',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      await context.consent(account)
      const token = (await context.auth(account.id)).at(
        'connected_account.authorization_details.oauth_token.access_token',
      )
      must(token === '' || token === undefined, 'no access token before verify', token)
    },
  },
  {
    id: 'consent/without-verification',
    title: 'without a user_verify_url an approved consent makes the account ACTIVE',
    basis: 'choice:States',
    run: async (context) => {
      const account = await context.account()
      const control = context.control()
      await control.decide((await context.link({ id: account.id })).is(200).string('link'), 'approve')
      ;(await context.details(account.id)).has('connected_account.status', 'ACTIVE')
    },
  },
  {
    id: 'consent/denied',
    title: 'a denied consent leads back with access_denied and the state, and leaves PENDING_AUTH',
    basis: 'convention:States',
    run: async (context) => {
      const account = await context.account()
      const url = await context.consent(account, { state: 'kept' }, 'deny')
      same(url.searchParams.get('error'), 'access_denied', 'error')
      same(url.searchParams.get('state'), 'kept', 'state')
      same(url.searchParams.has('auth_request_id'), false, 'whether there is an auth_request_id')
      ;(await context.details(account.id)).has('connected_account.status', 'PENDING_AUTH')
    },
  },
  {
    id: 'consent/once',
    title: 'a link whose flow is complete does not work again',
    basis: 'choice:G28',
    run: async (context) => {
      const { id } = await context.account()
      const link = (await context.link({ id, user_verify_url: VERIFY_URL })).is(200).string('link')
      await context.control().decide(link, 'approve')
      const again = await context.target.send({ method: 'GET', path: link })
      again.is(410)
    },
  },
])

function refused(name: string, title: string, body: JsonObject, basis: CheckBasis): CheckEntry {
  return {
    id: `link/${name}`,
    title,
    basis,
    run: async (context) => void (await context.link(body)).is(400),
  }
}

function badUrl(name: string, user_verify_url: string): CheckEntry {
  return {
    id: `link/${name}`,
    title: `${user_verify_url} as user_verify_url is a 400`,
    basis: 'choice:G35',
    run: async (context) => {
      const { id } = await context.shared('account', (fresh) => fresh.active())
      ;(await context.link({ id, user_verify_url })).is(400)
    },
  }
}

function status(
  name: string,
  title: string,
  expected: string,
  make: (context: CheckContext) => Promise<{ id: string }>,
): CheckEntry {
  return {
    id: `consent/${name}`,
    title,
    basis: expected === 'ACTIVE' ? 'choice:States' : 'convention:States',
    run: async (context) => {
      const account = await make(context)
      await context.consent(account)
      ;(await context.details(account.id)).has('connected_account.status', expected)
    },
  }
}
