import type { Operation } from '../../contract/shapes.ts'
import { must } from '../answer.ts'
import type { Check, CheckBasis } from '../check.ts'
import { type CheckContext, VERIFY_URL } from '../context.ts'
import type { TestEnvironment } from '../control-api.ts'
import { credentialsOf } from '../catalog.ts'

const TOKEN = 'connected_account.authorization_details.oauth_token.access_token'

/** What happens when time passes, in an environment of a toolmock whose clock the check moves. */
export const TIME_CHECKS: readonly Check[] = [
  check(
    'bearer',
    'create_token',
    'an access token ends after expires_in',
    'convention:G13',
    async ({ environment, own }) => {
      const issued = (await own.api.requestToken()).is(200)
      const headers = { Authorization: `Bearer ${issued.string('access_token')}` }
      await environment.advance(`${Number(issued.at('expires_in')) - 60}s`)
      ;(await own.api.send('GET', '/connections', undefined, headers)).is(200)
      await environment.advance('61s')
      ;(await own.api.send('GET', '/connections', undefined, headers)).is(401)
    },
  ),
  check('link', 'create_magic_link', 'an expired link answers 410', 'document:2.3', async ({ environment, own }) => {
    const { id } = await own.account()
    const answer = (await own.link({ id, user_verify_url: VERIFY_URL })).is(200)
    await environment.advance('16m')
    ;(await own.target.send({ method: 'GET', path: answer.string('link') })).is(410)
  }),
  check(
    'link-before',
    'create_magic_link',
    'a link works until its expiry',
    'document:2.3',
    async ({ environment, own }) => {
      const { id } = await own.account()
      const answer = (await own.link({ id, user_verify_url: VERIFY_URL })).is(200)
      await environment.advance('14m')
      await own.control().decide(answer.string('link'), 'approve')
    },
  ),
  check(
    'auth-request',
    'verify_user',
    'an expired auth request is a 404 at verify',
    'choice:G32',
    async ({ environment, own }) => {
      const account = await own.account()
      const request = await own.pendingRequest(account)
      await environment.advance('11m')
      ;(await own.verify(request, account.identifier)).is(404)
      ;(await own.details(account.id)).has('connected_account.status', 'PENDING_AUTH')
    },
  ),
  check(
    'token-expires',
    'get_connected_account_details',
    'without a refresh token an account expires',
    'convention:States',
    async ({ environment, own }) => {
      const id = await stored(own, { access_token: 'at-short' })
      await environment.advance('25h')
      own.api.signOut()
      ;(await own.details(id)).has('connected_account.status', 'EXPIRED')
    },
  ),
  check(
    'expired-executes-nothing',
    'execute_tool',
    'an EXPIRED account is a 400 with code 9',
    'convention:G44',
    async ({ environment, own }) => {
      const id = await stored(own, { access_token: 'at-short' })
      await environment.accountEvent(id, 'expire')
      const tool = await own.catalog.tool((await own.catalog.ofType('OAUTH')).name, () => true, 'at all')
      const body = { connected_account_id: id, tool_name: tool.name, tool_input: {} }
      ;(await own.api.post('/execute_tool', body)).is(400).has('code', 9)
    },
  ),
  check(
    'token-refreshed',
    'get_connected_account_auth',
    'get-auth refreshes an expired token first',
    'document:2.2',
    async ({ environment, own }) => {
      const id = await consented(own)
      const before = (await own.auth(id)).string(TOKEN)
      await environment.advance('2h')
      const after = (await own.auth(id)).has('connected_account.status', 'ACTIVE')
      must(after.string(TOKEN) !== before, 'another access token than before', before)
      const [expires, updated] = ['token_expires_at', 'updated_at'].map((field) =>
        after.string(`connected_account.${field}`),
      )
      must((expires ?? '') > (updated ?? ''), 'an expiry in the future', expires)
    },
  ),
  check(
    'token-refreshed-for-tool',
    'execute_tool',
    'a tool call refreshes an expired token first',
    'convention:G46',
    async ({ environment, own }) => {
      const id = await consented(own)
      const { name } = await own.catalog.ofType('OAUTH')
      const tool = await own.catalog.tool(name, ({ required }) => required.length === 0, 'without required input')
      await environment.advance('2h')
      ;(await own.api.post('/execute_tool', { connected_account_id: id, tool_name: tool.name, tool_input: {} })).is(200)
    },
  ),
  check(
    'refresh-refused',
    'get_connected_account_auth',
    'a refused refresh makes the account EXPIRED',
    'convention:States',
    async ({ environment, own }) => {
      const id = await consented(own)
      await environment.accountEvent(id, 'revoke_refresh_token')
      await environment.advance('2h')
      ;(await own.auth(id)).has('connected_account.status', 'EXPIRED')
    },
  ),
  check(
    'expired-link',
    'create_magic_link',
    'a link for an EXPIRED account makes it PENDING_AUTH',
    'convention:States',
    async ({ environment, own }) => {
      const id = await stored(own, { access_token: 'at-short' })
      await environment.accountEvent(id, 'expire')
      ;(await own.link({ id })).is(200)
      ;(await own.details(id)).has('connected_account.status', 'PENDING_AUTH')
    },
  ),
  check(
    'disconnected-request',
    'verify_user',
    'a disconnection ends a pending auth request: verify is a 404',
    'convention:States',
    async ({ environment, own }) => {
      const account = await own.account()
      const request = await own.pendingRequest(account)
      await environment.accountEvent(account.id, 'disconnect')
      ;(await own.verify(request, account.identifier)).is(404)
      ;(await own.details(account.id)).has('connected_account.status', 'DISCONNECTED')
    },
  ),
  check(
    'expired-pending',
    'get_connected_account_details',
    'an account that waits for its user can be expired by hand',
    'choice:States',
    async ({ environment, own }) => {
      const { id } = await own.account()
      await environment.accountEvent(id, 'expire')
      ;(await own.details(id)).has('connected_account.status', 'EXPIRED')
    },
  ),
  check(
    'failed-call-used',
    'execute_tool',
    'a call that failed at the third party sets last_used_at',
    'choice:G26',
    async ({ environment, own }) => {
      const account = await own.active()
      const tool = await own.catalog.tool(
        account.connector,
        ({ required }) => required.length === 0,
        'without required input',
      )
      await environment.thirdPartyAnswers(500)
      await own.api.post('/execute_tool', { connected_account_id: account.id, tool_name: tool.name, tool_input: {} })
      ;(await own.details(account.id)).string('connected_account.last_used_at')
    },
  ),
  check(
    'status-leaves-updated-at',
    'get_connected_account_details',
    'a status alone leaves updated_at',
    'choice:G27',
    async ({ environment, own }) => {
      const { id, created } = await own.active()
      await environment.advance('1m')
      await environment.accountEvent(id, 'expire')
      const answer = (await own.details(id)).has('connected_account.status', 'EXPIRED')
      answer.has('connected_account.updated_at', created.string('connected_account.updated_at'))
    },
  ),
  check(
    'disconnected-executes-nothing',
    'execute_tool',
    'a DISCONNECTED account is a 400',
    'convention:G44',
    async ({ environment, own }) => {
      const account = await own.active()
      await environment.accountEvent(account.id, 'disconnect')
      ;(await own.details(account.id)).has('connected_account.status', 'DISCONNECTED')
      const tool = await own.catalog.tool(account.connector, () => true, 'at all')
      const body = { connected_account_id: account.id, tool_name: tool.name, tool_input: {} }
      ;(await own.api.post('/execute_tool', body)).is(400).has('code', 9)
    },
  ),
  check(
    'update-reactivates',
    'update_connected_account',
    'live credentials make an EXPIRED account ACTIVE',
    'choice:States',
    async ({ environment, own }) => {
      const id = await stored(own, { access_token: 'at-short' })
      await environment.accountEvent(id, 'expire')
      const details = credentialsOf('oauth_token', 'new')
      const answer = await own.api.put('/connected_accounts', {
        id,
        connected_account: { authorization_details: details },
      })
      answer.is(200).has('connected_account.status', 'ACTIVE')
    },
  ),
  check(
    'environments',
    null,
    'what one client makes another client does not see',
    'choice:environments',
    async ({ own }, context) => {
      const account = await own.account()
      ;(await context.api.get('/connected_accounts/details', { id: account.id })).is(404)
    },
  ),
]

interface OwnEnvironment {
  readonly environment: TestEnvironment
  readonly own: CheckContext
}

/** An account with these tokens. */
async function stored(own: CheckContext, oauth_token: Record<string, string>): Promise<string> {
  const { name } = await own.catalog.ofType('OAUTH')
  const connected_account = { authorization_details: { oauth_token } }
  return (await own.account({ connector: name, connected_account })).id
}

/** An account with the tokens of a real consent. */
async function consented(own: CheckContext): Promise<string> {
  const { name } = await own.catalog.ofType('OAUTH')
  const account = await own.account({ connector: name })
  ;(await own.verify(await own.pendingRequest(account), account.identifier)).is(200)
  return account.id
}

function check(
  name: string,
  operation: Operation | null,
  title: string,
  basis: CheckBasis,
  run: (environment: OwnEnvironment, context: CheckContext) => Promise<void>,
): Check {
  return {
    id: `time/${name}`,
    operation,
    title,
    basis,
    run: async (context) => run(await context.ownEnvironment(), context),
  }
}
