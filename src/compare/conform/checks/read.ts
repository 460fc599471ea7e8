import { must, equal } from '../service-response.ts'
import { type Check, type CheckBasis, type CheckName, type CheckRun, checksOf, statusChecks } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf, createBodyStoring } from '../catalog.ts'
import type { QueryParameters } from '../target.ts'

const DETAILS = 'connected_account.authorization_details'

/** GET /connected_accounts/auth and /details (4.4, 4.5), and the locators of both. */
export const READ_CHECKS: readonly Check[] = [
  ...checksOf('details', 'get_connected_account_details', {
    'found (document:4.5): get-details answers the account by id': async (context) => {
      const account = await context.activeAccount()
      const response = await context.details(account.id)
      response.has('connected_account.id', account.id).has('connected_account.identifier', account.identifier)
    },
    'no-credentials (document:4.5): get-details shows no stored credential': async (context) => {
      const { id } = await context.activeAccount()
      const { text } = await context.details(id)
      const secrets = secretsIn((await context.auth(id)).object(DETAILS))
      for (const secret of secrets) must(!text.includes(secret), 'no stored credential', text)
      equal(secrets.length > 0, true, 'credentials in get-auth to compare with')
    },
    'no-static-credentials (document:4.5): get-details shows no API key': async (context) => {
      const account = await staticAccount(context)
      const response = await context.details(account.id)
      must(!response.text.includes(SECRET), 'get-details without the stored key', response.text)
    },
    'what-is-no-credential (choice:G22): get-details shows scopes and domain': async (context) => {
      const { kind } = await context.catalog.main()
      const response = await context.details((await context.activeAccount()).id)
      if (kind === 'oauth_token')
        response.has(`${DETAILS}.oauth_token`, { scopes: ['conform.read'], domain: 'conform.example' })
      else response.object(DETAILS)
    },
    'api-config (document:2.1): get-details shows api_config': async (context) => {
      const account = await context.account({ connected_account: { api_config: { region: 'eu' } } })
      ;(await context.details(account.id)).has('connected_account.api_config', { region: 'eu' })
    },
  }),
  ...checksOf('auth', 'get_connected_account_auth', {
    'credentials (document:4.4): get-auth answers the full credentials': async (context) => {
      const account = await context.activeAccount()
      ;(await context.auth(account.id)).has(DETAILS, account.created.at(DETAILS))
    },
    'static-credentials (document:2.2): get-auth answers an API key': async (context) => {
      const account = await staticAccount(context)
      ;(await context.auth(account.id)).has(`${DETAILS}.static_auth.details.api_key`, SECRET)
    },
    'trusted-idp (document:2.2): the secrets of a TRUSTED_IDP account are never returned': async (context) => {
      const account = await context.accountAt('TRUSTED_IDP', createBodyStoring(credentialsOf('trusted_idp')))
      const response = await context.auth(account.id)
      response.object(`${DETAILS}.trusted_idp`)
      response.lacks(`${DETAILS}.trusted_idp.secret_access_key`).lacks(`${DETAILS}.trusted_idp.session_token`)
    },
    'delegated-subject (choice:G23): a WORKSPACE_DWD account has the identifier as its subject when none is sent':
      async (context) => {
        const account = await context.accountAt('WORKSPACE_DWD')
        ;(await context.auth(account.id)).has(`${DETAILS}.workspace_dwd.subject`, account.identifier)
      },
    ...locatorChecks('auth', 'document:4.4'),
  }),
  ...checksOf('details', 'get_connected_account_details', locatorChecks('details', 'document:4.5')),
]

const SECRET = 'conform-secret-key'

function staticAccount(context: CheckContext): Promise<CreatedAccount> {
  const credentials = createBodyStoring({ static_auth: { details: { api_key: SECRET } } })
  return context.shared('static account', (fresh) => fresh.accountAt('API_KEY', credentials))
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
function locatorChecks(read: 'auth' | 'details', basis: CheckBasis): Record<CheckName, CheckRun> {
  const ask = ({ api }: CheckContext, query: QueryParameters) => api.get(`/connected_accounts/${read}`, query)
  const answers = statusChecks(ask)
  /** An account with this scope is found by each field of it. */
  const finds =
    (...fields: string[]): CheckRun =>
    async (context) => {
      const scope = Object.fromEntries(fields.map((field) => [field, context.resources.name(field)]))
      const { id, connector, identifier } = await context.account(scope)
      for (const [field, value] of Object.entries(scope))
        (await ask(context, { [field]: value, connector, identifier })).is(200).has('connected_account.id', id)
    }
  return {
    [`by-name (${basis}): get-${read} finds an account by organization, connector and identifier`]:
      finds('organization_id'),
    [`by-user (${basis}): get-${read} finds an account by user, connector and identifier`]: finds('user_id'),
    [`by-either (choice:G52): get-${read} finds an account of an organization and a user by either one`]: finds(
      'organization_id',
      'user_id',
    ),
    [`unknown (${basis}): get-${read} answers 404 for an unknown id`]: answers(404, { id: 'ca_nobody_has_this' }),
    [`other-scope (${basis}): get-${read} answers 404 for another organization`]: answers(404, async (context) => {
      const { connector, identifier } = await context.activeAccount()
      return { organization_id: context.resources.name('org'), connector, identifier }
    }),
    [`no-locator (${basis}): get-${read} answers 400 without a locator`]: answers(400, {}),
    [`half-locator (${basis}): get-${read} answers 400 for a connector alone`]: answers(400, async (context) => {
      const { connector } = await context.activeAccount()
      return { connector }
    }),
    [`contradiction (choice:G21): get-${read} answers 400 for an id with another identifier`]: answers(
      400,
      async (context) => ({ id: (await context.activeAccount()).id, identifier: 'someone@else.example' }),
    ),
    [`ambiguous (choice:G21): get-${read} answers 400 when several accounts have the name`]: async (
      context: CheckContext,
    ) => {
      const { connector, identifier } = await context.account()
      ;(await context.create({ connector, identifier })).is(201)
      ;(await ask(context, { connector, identifier })).is(400)
    },
  }
}
