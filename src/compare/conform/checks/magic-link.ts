import { type JsonObject, textOf } from '../../../model/domain/json.ts'
import { parseUrl } from '../../../model/domain/parse-url.ts'
import { must, equal } from '../service-response.ts'
import { type CheckRun, checksOf, statusChecks } from '../check.ts'
import { VERIFY_URL } from '../context.ts'

const DETAILS = 'connected_account.authorization_details'

const answers = statusChecks((context, body: JsonObject) => context.link(body))

/** POST /connected_accounts/magic_link (4.6). */
export const LINK_CHECKS = checksOf('link', 'create_magic_link', {
  'shape (document:2.3): a link is a URL with an expiry': async (context) => {
    const { id } = await context.account()
    const response = (await context.link({ id })).is(200)
    must(parseUrl(response.string('link')) !== undefined, 'a URL', response.at('link'))
    must(!Number.isNaN(Date.parse(response.string('expiry'))), 'a date-time', response.at('expiry'))
  },
  'expiry (document:8): the link expires in the future, and within a day': async (context) => {
    const account = await context.account()
    const createdAt = Date.parse(account.created.string('connected_account.updated_at'))
    const ahead = Date.parse((await context.link({ id: account.id })).is(200).string('expiry')) - createdAt
    must(ahead > 0 && ahead < 86_400_000, 'an expiry within a day', `${ahead} ms after create`)
  },
  'unique (document:2.3): two links of one account differ': async (context) => {
    const { id } = await context.account()
    const [one, second] = [await context.link({ id }), await context.link({ id })]
    must(one.string('link') !== second.string('link'), 'two links', one.string('link'))
  },
  'updated-at-stays (choice:G27): a link leaves updated_at': async (context) => {
    const { id, created } = await context.account()
    ;(await context.link({ id })).is(200)
    const before = created.string('connected_account.updated_at')
    ;(await context.details(id)).has('connected_account.updated_at', before)
  },
  'by-name (document:4.6): a link by organization, connector and identifier is for the account of that name': async (
    context,
  ) => {
    const { id, organization_id, connector, identifier } = await context.account()
    ;(await context.link({ organization_id, connector, identifier })).is(200)
    const listed = (await context.api.get('/connected_accounts', { organization_id })).is(200)
    listed.has('total_size', 1).has('connected_accounts.0.id', id)
  },
  'makes-account (convention:States): a link for an unknown name creates a PENDING_AUTH account': async (context) => {
    const { organization_id = '', connector = '', identifier = '' } = await context.newAccount()
    ;(await context.link({ organization_id, connector, identifier })).is(200)
    const listed = await context.api.get('/connected_accounts', { organization_id: textOf(organization_id) })
    listed.is(200).has('connected_accounts.0.identifier', identifier)
    listed.has('connected_accounts.0.status', 'PENDING_AUTH')
  },
  'without-user (choice:States): links for a new name that needs no user make one account, which is ACTIVE': async (
    context,
  ) => {
    const { name: connector } = await context.catalog.ofType('OAUTH_M2M')
    const { organization_id = '', identifier = '' } = await context.newAccount({ connector })
    for (let count = 0; count < 2; count += 1) (await context.link({ organization_id, connector, identifier })).is(200)
    const listed = await context.api.get('/connected_accounts', { organization_id: textOf(organization_id) })
    listed.is(200).has('total_size', 1).has('connected_accounts.0.status', 'ACTIVE')
  },
  'active-stays (choice:States): a link for an ACTIVE account leaves it ACTIVE': async (context) => {
    const { id } = await context.active()
    ;(await context.link({ id })).is(200)
    ;(await context.details(id)).has('connected_account.status', 'ACTIVE')
  },
  'no-locator (document:4.6): no locator is a 400': answers(400, {}),
  'no-identifier (document:4.6): a connector alone is a 400': answers(400, { connector: 'mail' }),
  'unknown-connector (document:4.6): an unknown connector is a 400': answers(400, {
    connector: 'nobody_has_this',
    identifier: 'conform@example.com',
  }),
  'unknown-id (choice:G34): an unknown id is a 400': answers(400, { id: 'ca_nobody_has_this' }),
  'relative-url (choice:G35): /back as user_verify_url is a 400': badUrl('/back'),
  'script-url (choice:G35): javascript:alert(1) as user_verify_url is a 400': badUrl('javascript:alert(1)'),
  'text-url (choice:G35): no url as user_verify_url is a 400': badUrl('no url'),
  'localhost (choice:G35): user_verify_url may be on any host': async (context) => {
    const { id } = await context.account()
    ;(await context.link({ id, user_verify_url: 'http://localhost:3000/verify' })).is(200)
  },
})

/** What a link leads to when its user has decided. */
export const CONSENT_CHECKS = checksOf('consent', 'create_magic_link', {
  'redirect (document:4.6): an approved consent leads to user_verify_url, its own query kept': async (context) => {
    const url = await context.consent(await context.account())
    equal(`${url.origin}${url.pathname}`, 'https://app.example/back', 'where the user is sent')
    equal(url.searchParams.get('tab'), '1', "the URL's own query")
  },
  'auth-request (document:4.7): the redirect carries a base64url auth_request_id of 128 bits or more': async (
    context,
  ) => {
    const id = (await context.consent(await context.account())).searchParams.get('auth_request_id') ?? ''
    must(/^[A-Za-z0-9_-]{22,}$/.test(id), 'base64url of at least 22 characters', id)
  },
  'state (document:4.6): state comes back exactly as it was sent': async (context) => {
    const state = 'a b&c=d#é+%20'
    const url = await context.consent(await context.account(), { state })
    equal(url.searchParams.get('state'), state, 'state')
  },
  'no-state (document:4.6): without a state none comes back': async (context) => {
    const url = await context.consent(await context.account())
    equal(url.searchParams.has('state'), false, 'whether there is a state')
  },
  'pending-verification (convention:States): an approved consent makes PENDING_VERIFICATION': statusAfterConsentCheck(
    'PENDING_VERIFICATION',
    'account',
  ),
  'active-stays (choice:States): an approved consent leaves an ACTIVE account ACTIVE': statusAfterConsentCheck(
    'ACTIVE',
    'active',
  ),
  'active-keeps-tokens (choice:States): the live tokens of an ACTIVE account stay until verify': async (context) => {
    const account = await context.active()
    await context.consent(account)
    ;(await context.auth(account.id)).has(DETAILS, account.created.at(DETAILS))
  },
  'pending-tokens-hidden (document:3.1): tokens that wait for verify are not given out': async (context) => {
    const account = await context.account()
    await context.consent(account)
    const token = (await context.auth(account.id)).at(`${DETAILS}.oauth_token.access_token`)
    must(token === '' || token === undefined, 'no access token before verify', token)
  },
  'without-verification (choice:States): without a user_verify_url an approved consent makes the account ACTIVE':
    async (context) => {
      const account = await context.account()
      await context.control().decide((await context.link({ id: account.id })).is(200).string('link'), 'approve')
      ;(await context.details(account.id)).has('connected_account.status', 'ACTIVE')
    },
  'denied (convention:States): a denied consent leads back with access_denied and the state, and leaves PENDING_AUTH':
    async (context) => {
      const account = await context.account()
      const url = await context.consent(account, { state: 'kept' }, 'deny')
      equal(url.searchParams.get('error'), 'access_denied', 'error')
      equal(url.searchParams.get('state'), 'kept', 'state')
      equal(url.searchParams.has('auth_request_id'), false, 'whether there is an auth_request_id')
      ;(await context.details(account.id)).has('connected_account.status', 'PENDING_AUTH')
    },
  'once (choice:G28): a link whose flow is complete does not work again': async (context) => {
    const { id } = await context.account()
    const link = (await context.link({ id, user_verify_url: VERIFY_URL })).is(200).string('link')
    await context.control().decide(link, 'approve')
    ;(await context.api.target.send({ method: 'GET', path: link })).is(410)
  },
})

function badUrl(user_verify_url: string): CheckRun {
  return async (context) => (await context.link({ id: (await context.activeAccount()).id, user_verify_url })).is(400)
}

/** The status of an account, new or with stored credentials, whose user has approved. */
function statusAfterConsentCheck(expected: string, make: 'account' | 'active'): CheckRun {
  return async (context) => {
    const account = await context[make]()
    await context.consent(account)
    ;(await context.details(account.id)).has('connected_account.status', expected)
  }
}
