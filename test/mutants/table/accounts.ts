import { ServiceError } from '../../../src/model/domain/errors.ts'
import { answering, answersOtherError, answersInsteadOfError, type Mutant, answersOtherStatus } from '../mutant.ts'

const DETAILS = 'get_connected_account_details'

/** Create, get-auth, get-details, update and delete. */
export const ACCOUNT_MUTANTS: readonly Mutant[] = [
  {
    name: 'create-null-connector',
    what: 'null for the connector is taken',
    caughtBy: 'create/null',
    mutate: answersOtherStatus('/api/v1/connected_accounts', 'connector', 201, {}),
  },
  {
    name: 'create-200',
    what: 'create answers 200',
    caughtBy: 'create/created',
    mutate: ({ around }) =>
      around('create_connected_account', async (call, handler) => ({ ...(await handler(call)), status: 200 })),
  },
  {
    name: 'create-across-scopes',
    what: 'a 409 across scopes',
    caughtBy: 'create/other-organization',
    mutate: ({ around }) =>
      around('create_connected_account', (call, handler) => {
        const { connector, identifier } = call.body
        if (call.environment.model.accountIndex.named(connector, identifier).length > 0)
          throw new ServiceError('ACCOUNT_ALREADY_EXISTS', 'exists somewhere')
        return handler(call)
      }),
  },
  {
    name: 'create-ignores-user',
    what: 'the scope is the organization alone',
    caughtBy: 'create/other-user',
    mutate: ({ around }) =>
      around('create_connected_account', (call, handler) => {
        const { user_id: _user, ...body } = call.body
        return handler(call.body.organization_id ? { ...call, body } : call)
      }),
  },
  {
    name: 'create-twice',
    what: 'the same identifier again is a 200 with the account that is there',
    caughtBy: 'create/duplicate',
    mutate: answersInsteadOfError('create_connected_account', 'ACCOUNT_ALREADY_EXISTS', () => ({
      status: 200,
      body: { connected_account: {} },
    })),
  },
  {
    name: 'create-conflict-nameless',
    what: 'the 409 does not name the existing account',
    caughtBy: 'create/duplicate-names',
    mutate: answersOtherError('create_connected_account', 'ACCOUNT_ALREADY_EXISTS', 'ACCOUNT_ALREADY_EXISTS'),
  },
  {
    name: 'create-needs-scope',
    what: 'an account needs an organization or a user',
    caughtBy: 'create/unscoped',
    mutate: ({ around }) =>
      around('create_connected_account', (call, handler) => {
        if (!call.body.organization_id && !call.body.user_id) throw new ServiceError('MISSING_LOCATOR', 'no scope')
        return handler(call)
      }),
  },
  {
    name: 'create-id-prefix',
    what: 'ids start with acc_',
    caughtBy: 'create/id',
    mutate: ({ reply }) =>
      reply(({ body }, { method, path }) => {
        if (method === 'POST' && path === '/api/v1/connected_accounts' && body.connected_account)
          body.connected_account.id = body.connected_account.id.replace('ca_', 'acc_')
      }),
  },
  {
    name: 'create-lower-case-identifier',
    what: 'identifiers are stored in lower case',
    caughtBy: 'create/echo',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.identifier = account.identifier.replace('conform', 'CONFORM')
    }),
  },
  {
    name: 'create-always-pending',
    what: 'create answers PENDING_AUTH whatever was stored',
    caughtBy: 'create/active',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.status = 'PENDING_AUTH'
    }),
  },
  {
    name: 'create-hides-credentials',
    what: 'create answers no credentials',
    caughtBy: 'create/credentials',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.authorization_details = {}
    }),
  },
  {
    name: 'create-all-sub-objects',
    what: 'sub-objects that do not apply are there and empty',
    caughtBy: 'create/one-sub-object',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.authorization_details = { static_auth: {}, ...account.authorization_details }
    }),
  },
  {
    name: 'create-null-instants',
    what: 'instants that were never set are null',
    caughtBy: 'create/zero-values',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.last_used_at ??= null
    }),
  },
  {
    name: 'create-instant-without-milliseconds',
    what: 'instants have no milliseconds',
    caughtBy: 'create/updated-at',
    mutate: answering('create_connected_account', ({ connected_account: account }) => {
      account.updated_at = account.updated_at.replace(/\.\d+Z/, 'Z')
    }),
  },
  {
    name: 'create-unknown-connector-404',
    what: 'create at an unknown connector is a 404',
    caughtBy: 'create/unknown-connector',
    mutate: answersOtherError('create_connected_account', 'INVALID_CONNECTOR', 'PROVIDER_NOT_FOUND'),
  },
  {
    name: 'create-takes-two-kinds',
    what: 'credentials of another type are ignored',
    caughtBy: 'create/other-kind',
    mutate: answersInsteadOfError('create_connected_account', 'INVALID_AUTHORIZATION_DETAILS', () => ({
      status: 201,
      body: { connected_account: {} },
    })),
  },
  {
    name: 'create-without-identifier',
    what: 'an identifier may be empty',
    caughtBy: 'create/no-identifier',
    mutate: answersOtherStatus('/api/v1/connected_accounts', 'identifier', 201, { connected_account: {} }),
  },
  {
    name: 'details-show-token',
    what: 'details shows the access token',
    caughtBy: 'details/no-credentials',
    mutate: answering(DETAILS, ({ connected_account: account }, { environment }) => {
      const stored = environment.model.tables.accounts.get(account.id)?.credentials.oauth_token
      if (stored) account.authorization_details.oauth_token.access_token = stored.access_token
    }),
  },
  {
    name: 'details-show-key',
    what: 'details shows an API key',
    caughtBy: 'details/no-static-credentials',
    mutate: answering(DETAILS, ({ connected_account: account }, { environment }) => {
      const stored = environment.model.tables.accounts.get(account.id)?.credentials.static_auth
      if (stored) account.authorization_details.static_auth = stored
    }),
  },
  {
    name: 'details-hide-scopes',
    what: 'details lacks scopes and domain',
    caughtBy: 'details/what-is-no-credential',
    mutate: answering(DETAILS, ({ connected_account: account }) => (account.authorization_details = {})),
  },
  {
    name: 'auth-without-refresh-token',
    what: 'get-auth leaves out the refresh token',
    caughtBy: 'auth/credentials',
    mutate: answering('get_connected_account_auth', ({ connected_account: account }) => {
      delete account.authorization_details.oauth_token?.refresh_token
    }),
  },
  {
    name: 'auth-shows-session-token',
    what: 'get-auth answers the session token of a TRUSTED_IDP account',
    caughtBy: 'auth/trusted-idp',
    mutate: answering('get_connected_account_auth', ({ connected_account: account }) => {
      const { trusted_idp } = account.authorization_details
      if (trusted_idp) trusted_idp.session_token = 'session'
    }),
  },
  {
    name: 'auth-does-not-refresh',
    what: 'get-auth answers an expired token',
    caughtBy: 'time/token-refreshed',
    mutate: ({ around }) =>
      around('get_connected_account_auth', async (call, handler) => {
        const { accounts } = call.environment.model.tables
        const before = call.query.id === undefined ? undefined : accounts.get(call.query.id)
        const reply = await handler(call)
        const body = structuredClone(reply.body) as { connected_account: { authorization_details: object } }
        const stale = before?.credentials.oauth_token
        if (stale) body.connected_account.authorization_details = { oauth_token: stale }
        return { ...reply, body }
      }),
  },
  {
    name: 'locate-by-first',
    what: 'of several accounts with a name the first is taken',
    caughtBy: 'details/ambiguous',
    mutate: answersInsteadOfError(DETAILS, 'AMBIGUOUS_LOCATOR', () => ({
      status: 200,
      body: { connected_account: {} },
    })),
  },
  {
    name: 'locate-in-any-scope',
    what: 'another organization finds the account',
    caughtBy: 'details/other-scope',
    mutate: ({ around }) =>
      around(DETAILS, (call, handler) => {
        const { connector, identifier } = call.query
        return handler(connector && identifier ? { ...call, query: { connector, identifier } } : call)
      }),
  },
  {
    name: 'locate-ignores-contradiction',
    what: 'an id wins over fields that contradict it',
    caughtBy: 'auth/contradiction',
    mutate: ({ around }) =>
      around('get_connected_account_auth', (call, handler) =>
        handler(call.query.id ? { ...call, query: { id: call.query.id } } : call),
      ),
  },
  {
    name: 'details-404-as-400',
    what: 'an unknown id is a 400',
    caughtBy: 'details/unknown',
    mutate: answersOtherError(DETAILS, 'ACCOUNT_NOT_FOUND', 'MISSING_LOCATOR'),
  },
  {
    name: 'create-needs-access-token',
    what: 'a refresh token alone leaves an account PENDING_AUTH',
    caughtBy: 'create/refresh-token-alone',
    mutate: answering('create_connected_account', ({ connected_account: account }, { body }) => {
      const sent = body.connected_account?.authorization_details?.oauth_token
      if (sent?.refresh_token && !sent.access_token) account.status = 'PENDING_AUTH'
    }),
  },
  {
    name: 'create-takes-empty-key',
    what: 'an empty key makes an account ACTIVE',
    caughtBy: 'create/empty-key',
    mutate: answering('create_connected_account', ({ connected_account: account }, { body }) => {
      if (body.connected_account?.authorization_details?.static_auth?.details) account.status = 'ACTIVE'
    }),
  },
  {
    name: 'create-refuses-empty-kind',
    what: 'an empty sub-object of another type is a 400',
    caughtBy: 'create/empty-kind',
    mutate: ({ around }) =>
      around('create_connected_account', (call, handler) => {
        const details = call.body.connected_account?.authorization_details ?? {}
        if (Object.keys(details).length > 1) throw new ServiceError('INVALID_AUTHORIZATION_DETAILS', 'two kinds')
        return handler(call)
      }),
  },
  {
    name: 'details-exact-scope',
    what: 'get-details finds an account by its whole scope alone',
    caughtBy: 'details/by-either',
    mutate: exactScope('get_connected_account_details'),
  },
  {
    name: 'auth-exact-scope',
    what: 'get-auth finds an account by its whole scope alone',
    caughtBy: 'auth/by-either',
    mutate: exactScope('get_connected_account_auth'),
  },
  {
    name: 'status-moves-updated-at',
    what: 'the expiry of an account moves updated_at',
    caughtBy: 'time/status-leaves-updated-at',
    mutate: answering(DETAILS, ({ connected_account: account }) => {
      if (account.status === 'EXPIRED') account.updated_at = '2199-01-01T00:00:00.000Z'
    }),
  },
  {
    name: 'pending-stays-pending',
    what: 'an account that waits for its user is never EXPIRED',
    caughtBy: 'time/expired-pending',
    mutate: answering(DETAILS, ({ connected_account: account }) => {
      if (account.status === 'EXPIRED' && !account.token_expires_at) account.status = 'PENDING_AUTH'
    }),
  },
  {
    name: 'update-always-moves-time',
    what: 'an update that changes nothing moves updated_at',
    caughtBy: 'update/updated-at-stays',
    mutate: answering('update_connected_account', ({ connected_account: account }) => {
      account.updated_at = '2199-01-01T00:00:00.000Z'
    }),
  },
  {
    name: 'update-needs-provider',
    what: 'an account whose provider was deleted cannot be updated',
    caughtBy: 'providers/delete-keeps-accounts',
    mutate: ({ around }) =>
      around('update_connected_account', (call, handler) => {
        const { connector } = call.body
        if (connector && !call.environment.connector(connector))
          throw new ServiceError('PROVIDER_NOT_FOUND', 'its provider is gone')
        return handler(call)
      }),
  },
  {
    name: 'update-replaces-config',
    what: 'update replaces api_config',
    caughtBy: 'update/config-merges',
    mutate: ({ around }) =>
      around('update_connected_account', async (call, handler) => {
        const { model } = call.environment
        const account = call.body.id === undefined ? undefined : model.tables.accounts.get(call.body.id)
        if (account && call.body.connected_account.api_config)
          model.transact(() => model.tables.accounts.put({ ...account, api_config: {} }))
        return handler(call)
      }),
  },
  {
    name: 'update-keeps-null',
    what: 'null is stored in api_config',
    caughtBy: 'update/config-null',
    mutate: answering('update_connected_account', ({ connected_account: account }, { body }) => {
      Object.assign(account.api_config, body.connected_account.api_config)
    }),
  },
  {
    name: 'update-forgets',
    what: 'update answers the change and does not store it',
    caughtBy: 'update/stored',
    mutate: ({ around }) =>
      around('update_connected_account', async (call, handler) => {
        const { model } = call.environment
        const before = call.body.id === undefined ? undefined : model.tables.accounts.get(call.body.id)
        const reply = await handler(call)
        if (before) model.transact(() => model.tables.accounts.put(before))
        return reply
      }),
  },
  {
    name: 'update-does-not-activate',
    what: 'new credentials leave PENDING_AUTH',
    caughtBy: 'update/activates',
    mutate: answering('update_connected_account', ({ connected_account: account }) => {
      account.status = 'PENDING_AUTH'
    }),
  },
  {
    name: 'update-activates-always',
    what: 'any update makes an account ACTIVE',
    caughtBy: 'update/config-does-not-activate',
    mutate: answering('update_connected_account', ({ connected_account: account }) => {
      account.status = 'ACTIVE'
    }),
  },
  {
    name: 'update-clears-refresh-token',
    what: 'fields of the credentials that are not included are cleared',
    caughtBy: 'update/credentials-merge',
    mutate: answering('update_connected_account', ({ connected_account: account }, { body }) => {
      const sent = body.connected_account.authorization_details?.oauth_token
      if (sent && !sent.refresh_token) account.authorization_details.oauth_token.refresh_token = ''
    }),
  },
  {
    name: 'update-stops-time',
    what: 'updated_at stays that of create',
    caughtBy: 'update/updated-at',
    mutate: answering('update_connected_account', ({ connected_account: account }) => {
      account.updated_at = '2000-01-01T00:00:00.000Z'
    }),
  },
  {
    name: 'update-creates',
    what: 'update of an unknown account creates one',
    caughtBy: 'update/unknown-name',
    mutate: answersInsteadOfError('update_connected_account', 'ACCOUNT_NOT_FOUND', () => ({
      status: 200,
      body: { connected_account: {} },
    })),
  },
  {
    name: 'delete-with-body',
    what: 'delete answers an empty object',
    caughtBy: 'delete/empty-answer',
    mutate: ({ around }) =>
      around('delete_connected_account', async (call, handler) => ({ ...(await handler(call)), body: {} })),
  },
  {
    name: 'delete-twice',
    what: 'a second delete is a 200',
    caughtBy: 'delete/twice',
    mutate: answersInsteadOfError('delete_connected_account', 'ACCOUNT_NOT_FOUND', () => ({ status: 200 })),
  },
  {
    name: 'delete-softly',
    what: 'delete answers 200 and removes nothing',
    caughtBy: 'delete/details',
    mutate: ({ around }) =>
      around('delete_connected_account', (call, handler) => {
        const account = call.environment.model.tables.accounts.get(call.body.id ?? '')
        return account ? { status: 200 } : handler(call)
      }),
  },
  {
    name: 'delete-every-scope',
    what: 'delete removes the accounts of that name in every organization',
    caughtBy: 'delete/others-stay',
    mutate: ({ around }) =>
      around('delete_connected_account', async (call, handler) => {
        const { model } = call.environment
        const account = model.tables.accounts.get(call.body.id ?? '')
        const reply = await handler(call)
        if (account)
          model.transact(() => {
            for (const { id } of model.accountIndex.named(account.connector, account.identifier))
              model.tables.accounts.remove(id)
          })
        return reply
      }),
  },
]

/** Hides an account that has both an organization and a user from a request that names one of them. */
function exactScope(operation: 'get_connected_account_auth' | 'get_connected_account_details'): Mutant['mutate'] {
  return ({ around }) => {
    around(operation, (call, handler) => {
      const { connector = '', identifier = '', organization_id = '', user_id = '' } = call.query
      const scope = { organization_id, user_id }
      if (connector && !call.environment.model.accountIndex.inScope(connector, identifier, scope))
        throw new ServiceError('ACCOUNT_NOT_FOUND', 'no account in exactly that scope')
      return handler(call)
    })
  }
}
