import { type Answer, must, same } from '../answer.ts'
import { type Check, type CheckBasis, type CheckName, type CheckRun, checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf } from '../catalog.ts'
import type { Query } from '../target.ts'

const DETAILS = 'connected_account.authorization_details'

/** GET /connected_accounts/auth and /details (4.4, 4.5), and the locators of both. */
export const READ_CHECKS: readonly Check[] = [
  ...checksOf('get_connected_account_details', {
    'details/found (document:4.5): get-details answers the account by id': async (context) => {
      const account = await context.activeAccount()
      const answer = await context.details(account.id)
      answer.has('connected_account.id', account.id).has('connected_account.identifier', account.identifier)
    },
    'details/no-credentials (document:4.5): get-details shows no stored credential': async (context) => {
      const account = await context.activeAccount()
      await showsNoSecret(context, account, await context.details(account.id))
    },
    'details/no-static-credentials (document:4.5): get-details shows no API key': async (context) => {
      const account = await staticAccount(context)
      const answer = await context.details(account.id)
      must(!answer.text.includes(SECRET), 'get-details without the stored key', answer.text)
    },
    'details/what-is-no-credential (choice:G22): get-details shows scopes and domain': async (context) => {
      const { kind } = await context.catalog.main()
      const answer = await context.details((await context.activeAccount()).id)
      if (kind === 'oauth_token')
        answer.has(`${DETAILS}.oauth_token`, { scopes: ['conform.read'], domain: 'conform.example' })
      else answer.object(DETAILS)
    },
    'details/api-config (document:2.1): get-details shows api_config': async (context) => {
      const account = await context.account({ connected_account: { api_config: { region: 'eu' } } })
      ;(await context.details(account.id)).has('connected_account.api_config', { region: 'eu' })
    },
  }),
  ...checksOf('get_connected_account_auth', {
    'auth/credentials (document:4.4): get-auth answers the full credentials': async (context) => {
      const account = await context.activeAccount()
      ;(await context.auth(account.id)).has(DETAILS, account.created.at(DETAILS))
    },
    'auth/static-credentials (document:2.2): get-auth answers an API key': async (context) => {
      const account = await staticAccount(context)
      ;(await context.auth(account.id)).has(`${DETAILS}.static_auth.details.api_key`, SECRET)
    },
    'auth/trusted-idp (document:2.2): the secrets of a TRUSTED_IDP account are never returned': async (context) => {
      const { name: connector } = await context.catalog.ofType('TRUSTED_IDP')
      const connected_account = { authorization_details: credentialsOf('trusted_idp') }
      const account = await context.account({ connector, connected_account })
      const answer = await context.auth(account.id)
      answer.object(`${DETAILS}.trusted_idp`)
      answer.lacks(`${DETAILS}.trusted_idp.secret_access_key`).lacks(`${DETAILS}.trusted_idp.session_token`)
    },
    'auth/delegated-subject (choice:G23): a WORKSPACE_DWD account has the identifier as its subject when none is sent':
      async (context) => {
        const { name } = await context.catalog.ofType('WORKSPACE_DWD')
        const account = await context.account({ connector: name })
        ;(await context.auth(account.id)).has(`${DETAILS}.workspace_dwd.subject`, account.identifier)
      },
    ...locating('auth', 'document:4.4'),
  }),
  ...checksOf('get_connected_account_details', locating('details', 'document:4.5')),
]

const SECRET = 'conform-secret-key'

async function staticAccount(context: CheckContext): Promise<CreatedAccount> {
  const { name: connector } = await context.catalog.ofType('API_KEY')
  const authorization_details = { static_auth: { details: { api_key: SECRET } } }
  const connected_account = { authorization_details }
  return context.shared('static account', (fresh) => fresh.account({ connector, connected_account }))
}

async function showsNoSecret(context: CheckContext, { id }: CreatedAccount, answer: Answer): Promise<void> {
  const secrets = secretsIn((await context.auth(id)).object(DETAILS))
  for (const secret of secrets) must(!answer.text.includes(secret), 'no stored credential', answer.text)
  same(secrets.length > 0, true, 'credentials in get-auth to compare with')
}

/** The texts of credentials that no answer but get-auth, create and update may hold. */
function secretsIn(details: Record<string, unknown>): string[] {
  const secret = /token|key|password|details|api_key/
  return Object.entries(details).flatMap(([name, value]): string[] => {
    if (typeof value === 'string') return secret.test(name) && value !== '' ? [value] : []
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return secretsIn(value as Record<string, unknown>)
  })
}

/** The ways of naming an account (part 4, "Locating an account"), and what names none or several, which both operations share. */
function locating(read: 'auth' | 'details', basis: CheckBasis): Record<CheckName, CheckRun> {
  const ask = ({ api }: CheckContext, query: Query) => api.get(`/connected_accounts/${read}`, query)
  return {
    [`${read}/by-name (${basis}): get-${read} finds an account by organization, connector and identifier`]: async (
      context: CheckContext,
    ) => {
      const { id, organization_id, connector, identifier } = await context.activeAccount()
      ;(await ask(context, { organization_id, connector, identifier })).is(200).has('connected_account.id', id)
    },
    [`${read}/by-user (${basis}): get-${read} finds an account by user, connector and identifier`]: async (
      context: CheckContext,
    ) => {
      const user_id = context.resources.name('user')
      const { id, connector, identifier } = await context.account({ user_id })
      ;(await ask(context, { user_id, connector, identifier })).is(200).has('connected_account.id', id)
    },
    [`${read}/by-either (choice:G52): get-${read} finds an account of an organization and a user by either one`]:
      async (context: CheckContext) => {
        const scope = { organization_id: context.resources.name('org'), user_id: context.resources.name('user') }
        const { id, connector, identifier } = await context.account(scope)
        for (const [field, value] of Object.entries(scope))
          (await ask(context, { [field]: value, connector, identifier })).is(200).has('connected_account.id', id)
      },
    [`${read}/unknown (${basis}): get-${read} answers 404 for an unknown id`]: async (context: CheckContext) =>
      (await ask(context, { id: 'ca_nobody_has_this' })).is(404),
    [`${read}/other-scope (${basis}): get-${read} answers 404 for another organization`]: async (
      context: CheckContext,
    ) => {
      const { connector, identifier } = await context.activeAccount()
      ;(await ask(context, { organization_id: context.resources.name('org'), connector, identifier })).is(404)
    },
    [`${read}/no-locator (${basis}): get-${read} answers 400 without a locator`]: async (context: CheckContext) =>
      (await ask(context, {})).is(400),
    [`${read}/half-locator (${basis}): get-${read} answers 400 for a connector alone`]: async (context: CheckContext) =>
      (await ask(context, { connector: (await context.activeAccount()).connector })).is(400),
    [`${read}/contradiction (choice:G21): get-${read} answers 400 for an id with another identifier`]: async (
      context: CheckContext,
    ) => (await ask(context, { id: (await context.activeAccount()).id, identifier: 'someone@else.example' })).is(400),
    [`${read}/ambiguous (choice:G21): get-${read} answers 400 when several accounts have the name`]: async (
      context: CheckContext,
    ) => {
      const { connector, identifier } = await context.account()
      ;(await context.create({ connector, identifier })).is(201)
      ;(await ask(context, { connector, identifier })).is(400)
    },
  }
}
