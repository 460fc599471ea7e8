import { type Answer, must, same } from '../answer.ts'
import { type Check, type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf } from '../catalog.ts'
import type { Query } from '../target.ts'

const DETAILS = 'connected_account.authorization_details'

/** GET /connected_accounts/auth and /details (4.4, 4.5), and the locators of both. */
export const READ_CHECKS: readonly Check[] = [
  ...checksOf('get_connected_account_details', [
    {
      id: 'details/found',
      title: 'get-details answers the account by id',
      basis: 'document:4.5',
      run: async (context) => {
        const account = await shared(context)
        const answer = await context.details(account.id)
        answer.has('connected_account.id', account.id).has('connected_account.identifier', account.identifier)
      },
    },
    {
      id: 'details/no-credentials',
      title: 'get-details shows no stored credential',
      basis: 'document:4.5',
      run: async (context) => {
        const account = await shared(context)
        await showsNoSecret(context, account, await context.details(account.id))
      },
    },
    {
      id: 'details/no-static-credentials',
      title: 'get-details shows no API key',
      basis: 'document:4.5',
      run: async (context) => {
        const { name } = await context.catalog.ofType('API_KEY')
        const account = await staticAccount(context, name)
        const answer = await context.details(account.id)
        must(!answer.text.includes(SECRET), 'get-details without the stored key', answer.text)
      },
    },
    {
      id: 'details/what-is-no-credential',
      title: 'get-details shows scopes and domain',
      basis: 'choice:G22',
      run: async (context) => {
        const { kind } = await context.catalog.main()
        const answer = await context.details((await shared(context)).id)
        if (kind === 'oauth_token')
          answer.has(`${DETAILS}.oauth_token`, { scopes: ['conform.read'], domain: 'conform.example' })
        else answer.object(DETAILS)
      },
    },
    {
      id: 'details/api-config',
      title: 'get-details shows api_config',
      basis: 'document:2.1',
      run: async (context) => {
        const account = await context.account({ connected_account: { api_config: { region: 'eu' } } })
        const answer = await context.details(account.id)
        answer.has('connected_account.api_config', { region: 'eu' })
      },
    },
  ]),
  ...checksOf('get_connected_account_auth', [
    {
      id: 'auth/credentials',
      title: 'get-auth answers the full credentials',
      basis: 'document:4.4',
      run: async (context) => {
        const account = await shared(context)
        const answer = await context.auth(account.id)
        answer.has(DETAILS, account.created.at(DETAILS))
      },
    },
    {
      id: 'auth/static-credentials',
      title: 'get-auth answers an API key',
      basis: 'document:2.2',
      run: async (context) => {
        const { name } = await context.catalog.ofType('API_KEY')
        const account = await staticAccount(context, name)
        const answer = await context.auth(account.id)
        answer.has(`${DETAILS}.static_auth.details.api_key`, SECRET)
      },
    },
    {
      id: 'auth/trusted-idp',
      title: 'the secrets of a TRUSTED_IDP account are never returned',
      basis: 'document:2.2',
      run: async (context) => {
        const { name } = await context.catalog.ofType('TRUSTED_IDP')
        const details = credentialsOf('trusted_idp')
        const account = await context.account({
          connector: name,
          connected_account: { authorization_details: details },
        })
        const answer = await context.auth(account.id)
        answer.object(`${DETAILS}.trusted_idp`)
        answer.lacks(`${DETAILS}.trusted_idp.secret_access_key`).lacks(`${DETAILS}.trusted_idp.session_token`)
      },
    },
    {
      id: 'auth/delegated-subject',
      title: 'a WORKSPACE_DWD account has the identifier as its subject when none is sent',
      basis: 'choice:G23',
      run: async (context) => {
        const { name } = await context.catalog.ofType('WORKSPACE_DWD')
        const account = await context.account({ connector: name })
        const answer = await context.auth(account.id)
        answer.has(`${DETAILS}.workspace_dwd.subject`, account.identifier)
      },
    },
    ...locating('auth', 'document:4.4'),
  ]),
  ...checksOf('get_connected_account_details', locating('details', 'document:4.5')),
]

const SECRET = 'conform-secret-key'

function shared(context: CheckContext): Promise<CreatedAccount> {
  return context.shared('account', (fresh) => fresh.active())
}

function staticAccount(context: CheckContext, connector: string): Promise<CreatedAccount> {
  return context.shared('static account', (fresh) =>
    fresh.account({
      connector,
      connected_account: { authorization_details: { static_auth: { details: { api_key: SECRET } } } },
    }),
  )
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

/** The ways of naming an account (part 4, "Locating an account"), which both operations share. */
function locating(read: 'auth' | 'details', basis: CheckBasis): CheckEntry[] {
  const { ask, check } = reading(read)
  return [
    check('by-name', 'finds an account by organization, connector and identifier', basis, async (context) => {
      const { id, organization_id, connector, identifier } = await shared(context)
      const answer = await ask(context, { organization_id, connector, identifier })
      answer.is(200).has('connected_account.id', id)
    }),
    check('by-user', 'finds an account by user, connector and identifier', basis, async (context) => {
      const user_id = context.resources.name('user')
      const { id, connector, identifier } = await context.account({ user_id })
      const answer = await ask(context, { user_id, connector, identifier })
      answer.is(200).has('connected_account.id', id)
    }),
    check(
      'by-either',
      'finds an account of an organization and a user by either one',
      'choice:G52',
      async (context) => {
        const scope = { organization_id: context.resources.name('org'), user_id: context.resources.name('user') }
        const { id, connector, identifier } = await context.account(scope)
        for (const [field, value] of Object.entries(scope)) {
          const answer = await ask(context, { [field]: value, connector, identifier })
          answer.is(200).has('connected_account.id', id)
        }
      },
    ),
    ...unlocated(read, basis),
  ]
}

/** What names no account, or not exactly one. */
function unlocated(read: 'auth' | 'details', basis: CheckBasis): CheckEntry[] {
  const { ask, check } = reading(read)
  return [
    check('unknown', 'answers 404 for an unknown id', basis, async (context) => {
      const answer = await ask(context, { id: 'ca_nobody_has_this' })
      answer.is(404)
    }),
    check('other-scope', 'answers 404 for another organization', basis, async (context) => {
      const { connector, identifier } = await shared(context)
      const answer = await ask(context, { organization_id: context.resources.name('org'), connector, identifier })
      answer.is(404)
    }),
    check('no-locator', 'answers 400 without a locator', basis, async (context) => {
      const answer = await ask(context, {})
      answer.is(400)
    }),
    check('half-locator', 'answers 400 for a connector alone', basis, async (context) => {
      const answer = await ask(context, { connector: (await shared(context)).connector })
      answer.is(400)
    }),
    check('contradiction', 'answers 400 for an id with another identifier', 'choice:G21', async (context) => {
      const answer = await ask(context, { id: (await shared(context)).id, identifier: 'someone@else.example' })
      answer.is(400)
    }),
    check('ambiguous', 'answers 400 when several accounts have the name', 'choice:G21', async (context) => {
      const { connector, identifier } = await context.account()
      ;(await context.create({ connector, identifier })).is(201)
      const answer = await ask(context, { connector, identifier })
      answer.is(400)
    }),
  ]
}

function reading(read: 'auth' | 'details') {
  return {
    ask: (context: CheckContext, query: Query) => context.api.get(`/connected_accounts/${read}`, query),
    check: (name: string, title: string, basis: CheckBasis, run: CheckEntry['run']): CheckEntry => ({
      id: `${read}/${name}`,
      title: `get-${read} ${title}`,
      basis,
      run,
    }),
  }
}
