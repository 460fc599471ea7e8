import type { Operation } from '../../../model/contract/shapes.ts'
import { must } from '../service-response.ts'
import { type Check, type CheckName, type CheckRun, checksOf } from '../check.ts'
import { type CheckContext, type CreatedAccount, type OwnContext, VERIFY_URL } from '../context.ts'
import { credentialsOf, createBodyStoring } from '../catalog.ts'

const TOKEN = 'connected_account.authorization_details.oauth_token.access_token'

/** What happens when time passes, in an environment of a toolmock whose clock the check moves. */
export const TIME_CHECKS: readonly Check[] = [
  ...timeChecks('create_token', {
    'bearer (convention:G13): an access token ends after expires_in': async (isolated) => {
      const issued = (await isolated.api.requestToken()).is(200)
      const headers = { Authorization: `Bearer ${issued.string('access_token')}` }
      await isolated.environment.advance(`${Number(issued.at('expires_in')) - 60}s`)
      ;(await isolated.api.send('GET', '/connections', undefined, headers)).is(200)
      await isolated.environment.advance('61s')
      ;(await isolated.api.send('GET', '/connections', undefined, headers)).is(401)
    },
  }),
  ...timeChecks('create_magic_link', {
    'link (document:2.3): an expired link answers 410': async (isolated) => {
      const { id } = await isolated.account()
      const response = (await isolated.link({ id, user_verify_url: VERIFY_URL })).is(200)
      await isolated.environment.advance('16m')
      ;(await isolated.api.target.send({ method: 'GET', path: response.string('link') })).is(410)
    },
    'link-before (document:2.3): a link works until its expiry': async (isolated) => {
      const { id } = await isolated.account()
      const response = (await isolated.link({ id, user_verify_url: VERIFY_URL })).is(200)
      await isolated.environment.advance('14m')
      await isolated.control().decide(response.string('link'), 'approve')
    },
    'expired-link (convention:States): a link for an EXPIRED account makes it PENDING_AUTH': async (isolated) => {
      const id = await expiredAccount(isolated)
      ;(await isolated.link({ id })).is(200)
      ;(await isolated.details(id)).has('connected_account.status', 'PENDING_AUTH')
    },
  }),
  ...timeChecks('verify_user', {
    'auth-request (choice:G32): an expired auth request is a 404 at verify': async (isolated) => {
      const { account, request } = await isolated.approved()
      await isolated.environment.advance('11m')
      ;(await isolated.verify(request, account.identifier)).is(404)
      ;(await isolated.details(account.id)).has('connected_account.status', 'PENDING_AUTH')
    },
    'auth-request-before (choice:G32): an auth request can be verified until it expires': async (isolated) => {
      const { account, request } = await isolated.approved()
      await isolated.environment.advance('9m')
      ;(await isolated.verify(request, account.identifier)).is(200)
    },
    'disconnected-request (convention:States): a disconnection ends a pending auth request: verify is a 404': async (
      isolated,
    ) => {
      const { account, request } = await isolated.approved()
      await isolated.environment.accountEvent(account.id, 'disconnect')
      ;(await isolated.verify(request, account.identifier)).is(404)
      ;(await isolated.details(account.id)).has('connected_account.status', 'DISCONNECTED')
    },
  }),
  ...timeChecks('get_connected_account_details', {
    'token-expires (convention:States): without a refresh token an account expires': async (isolated) => {
      const { id } = await isolated.accountAt('OAUTH', SHORT_TOKEN)
      await isolated.environment.advance('25h')
      isolated.api.signOut()
      ;(await isolated.details(id)).has('connected_account.status', 'EXPIRED')
    },
    'expired-pending (choice:States): an account that waits for its user can be expired by the control API': async (
      isolated,
    ) => {
      const { id } = await isolated.account()
      await isolated.environment.accountEvent(id, 'expire')
      ;(await isolated.details(id)).has('connected_account.status', 'EXPIRED')
    },
    'status-leaves-updated-at (choice:G27): a status alone leaves updated_at': async (isolated) => {
      const { id, created } = await isolated.active()
      await isolated.environment.advance('1m')
      await isolated.environment.accountEvent(id, 'expire')
      const response = (await isolated.details(id)).has('connected_account.status', 'EXPIRED')
      response.has('connected_account.updated_at', created.string('connected_account.updated_at'))
    },
  }),
  ...timeChecks('execute_tool', {
    'expired-executes-nothing (convention:G44): an EXPIRED account is a 400 with code 9': async (isolated) => {
      const id = await expiredAccount(isolated)
      const tool = await isolated.catalog.tool((await isolated.catalog.ofType('OAUTH')).name)
      ;(await isolated.execute({ id }, tool)).is(400).has('code', 9)
    },
    'token-refreshed-for-tool (convention:G46): a tool call refreshes an expired token first': async (isolated) => {
      const account = await consentedAccount(isolated)
      const tool = await isolated.catalog.tool(account.connector, 'without required input')
      await isolated.environment.advance('2h')
      ;(await isolated.execute(account, tool)).is(200)
    },
    'refresh-refused-for-tool (convention:G46): a refused refresh is a 400 with code 9, and makes the account EXPIRED':
      async (isolated) => {
        const account = await consentedAccount(isolated)
        const tool = await isolated.catalog.tool(account.connector, 'without required input')
        await isolated.environment.accountEvent(account.id, 'revoke_refresh_token')
        await isolated.environment.advance('2h')
        ;(await isolated.execute(account, tool)).is(400).has('code', 9)
        ;(await isolated.details(account.id)).has('connected_account.status', 'EXPIRED')
      },
    'failed-call-used (choice:G26): a call that failed at the third party sets last_used_at': async (isolated) => {
      const account = await isolated.active()
      const tool = await isolated.catalog.tool(account.connector, 'without required input')
      await isolated.environment.thirdPartyAnswers(500)
      await isolated.execute(account, tool)
      ;(await isolated.details(account.id)).string('connected_account.last_used_at')
    },
    'disconnected-executes-nothing (convention:G44): a DISCONNECTED account is a 400': async (isolated) => {
      const account = await isolated.active()
      await isolated.environment.accountEvent(account.id, 'disconnect')
      ;(await isolated.details(account.id)).has('connected_account.status', 'DISCONNECTED')
      const tool = await isolated.catalog.tool(account.connector)
      ;(await isolated.execute(account, tool)).is(400).has('code', 9)
    },
  }),
  ...timeChecks('get_connected_account_auth', {
    'token-refreshed (document:2.2): get-auth refreshes an expired token first': async (isolated) => {
      const { id } = await consentedAccount(isolated)
      const before = (await isolated.auth(id)).string(TOKEN)
      await isolated.environment.advance('2h')
      const after = (await isolated.auth(id)).has('connected_account.status', 'ACTIVE')
      must(after.string(TOKEN) !== before, 'another access token than before', before)
      const expires = after.string('connected_account.token_expires_at')
      const updated = after.string('connected_account.updated_at')
      must(expires > updated, 'an expiry in the future', expires)
    },
    'refresh-refused (convention:States): a refused refresh makes the account EXPIRED': async (isolated) => {
      const { id } = await consentedAccount(isolated)
      await isolated.environment.accountEvent(id, 'revoke_refresh_token')
      await isolated.environment.advance('2h')
      ;(await isolated.auth(id)).has('connected_account.status', 'EXPIRED')
    },
  }),
  ...timeChecks('update_connected_account', {
    'update-reactivates (choice:States): live credentials make an EXPIRED account ACTIVE': async (isolated) => {
      const id = await expiredAccount(isolated)
      const connected_account = { authorization_details: credentialsOf('oauth_token', 'new') }
      const response = await isolated.api.put('/connected_accounts', { id, connected_account })
      response.is(200).has('connected_account.status', 'ACTIVE')
    },
  }),
  ...timeChecks(null, {
    'environments (choice:environments): what one client makes another client does not see': async (
      isolated,
      context,
    ) => {
      const account = await isolated.account()
      ;(await context.api.get('/connected_accounts/details', { id: account.id })).is(404)
    },
  }),
]

/** Credentials that end and cannot be refreshed. */
const SHORT_TOKEN = createBodyStoring({ oauth_token: { access_token: 'at-short' } })

async function expiredAccount(isolated: OwnContext): Promise<string> {
  const { id } = await isolated.accountAt('OAUTH', SHORT_TOKEN)
  await isolated.environment.accountEvent(id, 'expire')
  return id
}

async function consentedAccount(isolated: CheckContext): Promise<CreatedAccount> {
  return isolated.verified(await isolated.accountAt('OAUTH'))
}

function timeChecks(
  operation: Operation | null,
  runs: Readonly<Record<CheckName, (isolated: OwnContext, context: CheckContext) => unknown>>,
): Check[] {
  const entries = Object.entries(runs).map(([name, run]): [string, CheckRun] => [
    name,
    async (context) => run(await context.ownEnvironment(), context),
  ])
  return checksOf('time', operation, Object.fromEntries(entries))
}
