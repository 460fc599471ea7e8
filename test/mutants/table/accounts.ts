import { ServiceError } from '../../../src/model/domain/errors.ts'
import {
  answering,
  answersOtherError,
  answersInsteadOfError,
  type Mutant,
  type MutantTable,
  answersOtherStatus,
} from '../mutant.ts'

const CREATE = 'create_connected_account'
const AUTH = 'get_connected_account_auth'
const UPDATE = 'update_connected_account'
const DELETE = 'delete_connected_account'
const DETAILS = 'get_connected_account_details'

/** Create, get-auth, get-details, update and delete. */
export const ACCOUNT_MUTANTS: MutantTable = {
  'create/null: null for the connector is taken': answersOtherStatus(
    '/api/v1/connected_accounts',
    'connector',
    201,
    {},
  ),
  'create/created: create answers 200': ({ around }) =>
    around(CREATE, async (call, handler) => ({ ...(await handler(call)), status: 200 })),
  'create/other-organization: a 409 across scopes': ({ around }) =>
    around(CREATE, (call, handler) => {
      const { connector, identifier } = call.body
      if (call.environment.model.accountIndex.where({ connector, identifier }).length > 0)
        throw new ServiceError('ACCOUNT_ALREADY_EXISTS', 'exists somewhere')
      return handler(call)
    }),
  'create/other-user: the scope is the organization alone': ({ around }) =>
    around(CREATE, (call, handler) => {
      const { user_id: _user, ...body } = call.body
      return handler(call.body.organization_id ? { ...call, body } : call)
    }),
  'create/duplicate: the same identifier again is a 200 with the account that is there': answersInsteadOfError(
    CREATE,
    'ACCOUNT_ALREADY_EXISTS',
    () => ({ status: 200, body: { connected_account: {} } }),
  ),
  'create/duplicate-names: the 409 does not name the existing account': answersOtherError(
    CREATE,
    'ACCOUNT_ALREADY_EXISTS',
    'ACCOUNT_ALREADY_EXISTS',
  ),
  'create/unscoped: an account needs an organization or a user': ({ around }) =>
    around(CREATE, (call, handler) => {
      if (!call.body.organization_id && !call.body.user_id) throw new ServiceError('MISSING_LOCATOR', 'no scope')
      return handler(call)
    }),
  'create/id: ids start with acc_': ({ reply }) =>
    reply(({ body }, { method, path }) => {
      if (method === 'POST' && path === '/api/v1/connected_accounts' && body.connected_account)
        body.connected_account.id = body.connected_account.id.replace('ca_', 'acc_')
    }),
  'create/echo: identifiers are stored in lower case': answering(CREATE, ({ connected_account: account }) => {
    account.identifier = account.identifier.replace('conform', 'CONFORM')
  }),
  'create/active: create answers PENDING_AUTH whatever was stored': answering(
    CREATE,
    ({ connected_account: account }) => {
      account.status = 'PENDING_AUTH'
    },
  ),
  'create/credentials: create answers no credentials': answering(CREATE, ({ connected_account: account }) => {
    account.authorization_details = {}
  }),
  'create/one-sub-object: sub-objects that do not apply are there and empty': answering(
    CREATE,
    ({ connected_account: account }) => {
      account.authorization_details = { static_auth: {}, ...account.authorization_details }
    },
  ),
  'create/zero-values: instants that were never set are null': answering(CREATE, ({ connected_account: account }) => {
    account.last_used_at ??= null
  }),
  'create/updated-at: instants have no milliseconds': answering(CREATE, ({ connected_account: account }) => {
    account.updated_at = account.updated_at.replace(/\.\d+Z/, 'Z')
  }),
  'create/unknown-connector: create at an unknown connector is a 404': answersOtherError(
    CREATE,
    'INVALID_CONNECTOR',
    'PROVIDER_NOT_FOUND',
  ),
  'create/other-kind: credentials of another type are ignored': answersInsteadOfError(
    CREATE,
    'INVALID_AUTHORIZATION_DETAILS',
    () => ({ status: 201, body: { connected_account: {} } }),
  ),
  'create/no-identifier: an identifier may be empty': answersOtherStatus(
    '/api/v1/connected_accounts',
    'identifier',
    201,
    { connected_account: {} },
  ),
  'details/no-credentials: details shows the access token': answering(
    DETAILS,
    ({ connected_account: account }, { environment }) => {
      const stored = environment.model.tables.accounts.get(account.id)?.credentials.oauth_token
      if (stored) account.authorization_details.oauth_token.access_token = stored.access_token
    },
  ),
  'details/no-static-credentials: details shows an API key': answering(
    DETAILS,
    ({ connected_account: account }, { environment }) => {
      const stored = environment.model.tables.accounts.get(account.id)?.credentials.static_auth
      if (stored) account.authorization_details.static_auth = stored
    },
  ),
  'details/what-is-no-credential: details lacks scopes and domain': answering(
    DETAILS,
    ({ connected_account: account }) => (account.authorization_details = {}),
  ),
  'auth/credentials: get-auth leaves out the refresh token': answering(AUTH, ({ connected_account: account }) => {
    delete account.authorization_details.oauth_token?.refresh_token
  }),
  'auth/trusted-idp: get-auth answers the session token of a TRUSTED_IDP account': answering(
    AUTH,
    ({ connected_account: account }) => {
      const { trusted_idp } = account.authorization_details
      if (trusted_idp) trusted_idp.session_token = 'session'
    },
  ),
  'time/token-refreshed: get-auth answers an expired token': ({ around }) =>
    around(AUTH, async (call, handler) => {
      const { accounts } = call.environment.model.tables
      const before = call.query.id === undefined ? undefined : accounts.get(call.query.id)
      const reply = await handler(call)
      const body = structuredClone(reply.body) as { connected_account: { authorization_details: object } }
      const stale = before?.credentials.oauth_token
      if (stale) body.connected_account.authorization_details = { oauth_token: stale }
      return { ...reply, body }
    }),
  'details/ambiguous: of several accounts with a name the first is taken': answersInsteadOfError(
    DETAILS,
    'AMBIGUOUS_LOCATOR',
    () => ({ status: 200, body: { connected_account: {} } }),
  ),
  'details/other-scope: another organization finds the account': ({ around }) =>
    around(DETAILS, (call, handler) => {
      const { connector, identifier } = call.query
      return handler(connector && identifier ? { ...call, query: { connector, identifier } } : call)
    }),
  'auth/contradiction: an id wins over fields that contradict it': ({ around }) =>
    around(AUTH, (call, handler) => handler(call.query.id ? { ...call, query: { id: call.query.id } } : call)),
  'details/unknown: an unknown id is a 400': answersOtherError(DETAILS, 'ACCOUNT_NOT_FOUND', 'MISSING_LOCATOR'),
  'create/refresh-token-alone: a refresh token alone leaves an account PENDING_AUTH': answering(
    CREATE,
    ({ connected_account: account }, { body }) => {
      const sent = body.connected_account?.authorization_details?.oauth_token
      if (sent?.refresh_token && !sent.access_token) account.status = 'PENDING_AUTH'
    },
  ),
  'create/empty-key: an empty key makes an account ACTIVE': answering(
    CREATE,
    ({ connected_account: account }, { body }) => {
      if (body.connected_account?.authorization_details?.static_auth?.details) account.status = 'ACTIVE'
    },
  ),
  'create/empty-kind: an empty sub-object of another type is a 400': ({ around }) =>
    around(CREATE, (call, handler) => {
      const details = call.body.connected_account?.authorization_details ?? {}
      if (Object.keys(details).length > 1) throw new ServiceError('INVALID_AUTHORIZATION_DETAILS', 'two kinds')
      return handler(call)
    }),
  'details/by-either: get-details finds an account by its whole scope alone': exactScope(
    'get_connected_account_details',
  ),
  'auth/by-either: get-auth finds an account by its whole scope alone': exactScope(AUTH),
  'time/status-leaves-updated-at: the expiry of an account moves updated_at': answering(
    DETAILS,
    ({ connected_account: account }) => {
      if (account.status === 'EXPIRED') account.updated_at = '2199-01-01T00:00:00.000Z'
    },
  ),
  'time/expired-pending: an account that waits for its user is never EXPIRED': answering(
    DETAILS,
    ({ connected_account: account }) => {
      if (account.status === 'EXPIRED' && !account.token_expires_at) account.status = 'PENDING_AUTH'
    },
  ),
  'update/updated-at-stays: an update that changes nothing moves updated_at': answering(
    UPDATE,
    ({ connected_account: account }) => {
      account.updated_at = '2199-01-01T00:00:00.000Z'
    },
  ),
  'providers/delete-keeps-accounts: an account whose provider was deleted cannot be updated': ({ around }) =>
    around(UPDATE, (call, handler) => {
      const { connector } = call.body
      if (connector && !call.environment.connector(connector))
        throw new ServiceError('PROVIDER_NOT_FOUND', 'its provider is gone')
      return handler(call)
    }),
  'update/config-merges: update replaces api_config': ({ around }) =>
    around(UPDATE, async (call, handler) => {
      const { model } = call.environment
      const account = call.body.id === undefined ? undefined : model.tables.accounts.get(call.body.id)
      if (account && call.body.connected_account.api_config)
        model.transact(() => model.tables.accounts.put({ ...account, api_config: {} }))
      return handler(call)
    }),
  'update/config-null: null is stored in api_config': answering(UPDATE, ({ connected_account: account }, { body }) => {
    Object.assign(account.api_config, body.connected_account.api_config)
  }),
  'update/stored: update answers the change and does not store it': ({ around }) =>
    around(UPDATE, async (call, handler) => {
      const { model } = call.environment
      const before = call.body.id === undefined ? undefined : model.tables.accounts.get(call.body.id)
      const reply = await handler(call)
      if (before) model.transact(() => model.tables.accounts.put(before))
      return reply
    }),
  'update/activates: new credentials leave PENDING_AUTH': answering(UPDATE, ({ connected_account: account }) => {
    account.status = 'PENDING_AUTH'
  }),
  'update/config-does-not-activate: any update makes an account ACTIVE': answering(
    UPDATE,
    ({ connected_account: account }) => {
      account.status = 'ACTIVE'
    },
  ),
  'update/credentials-merge: fields of the credentials that are not included are cleared': answering(
    UPDATE,
    ({ connected_account: account }, { body }) => {
      const sent = body.connected_account.authorization_details?.oauth_token
      if (sent && !sent.refresh_token) account.authorization_details.oauth_token.refresh_token = ''
    },
  ),
  'update/updated-at: updated_at stays that of create': answering(UPDATE, ({ connected_account: account }) => {
    account.updated_at = '2000-01-01T00:00:00.000Z'
  }),
  'update/unknown-name: update of an unknown account creates one': answersInsteadOfError(
    UPDATE,
    'ACCOUNT_NOT_FOUND',
    () => ({ status: 200, body: { connected_account: {} } }),
  ),
  'delete/empty-answer: delete answers an empty object': ({ around }) =>
    around(DELETE, async (call, handler) => ({ ...(await handler(call)), body: {} })),
  'delete/twice: a second delete is a 200': answersInsteadOfError(DELETE, 'ACCOUNT_NOT_FOUND', () => ({ status: 200 })),
  'delete/details: delete answers 200 and removes nothing': ({ around }) =>
    around(DELETE, (call, handler) => {
      const account = call.environment.model.tables.accounts.get(call.body.id ?? '')
      return account ? { status: 200 } : handler(call)
    }),
  'delete/others-stay: delete removes the accounts of that name in every organization': ({ around }) =>
    around(DELETE, async (call, handler) => {
      const { model } = call.environment
      const account = model.tables.accounts.get(call.body.id ?? '')
      const reply = await handler(call)
      if (account)
        model.transact(() => {
          for (const { id } of model.accountIndex.where({
            connector: account.connector,
            identifier: account.identifier,
          }))
            model.tables.accounts.remove(id)
        })
      return reply
    }),
}

/** Hides an account that has both an organization and a user from a request that names one of them. */
function exactScope(operation: typeof AUTH | typeof DETAILS): Mutant['mutate'] {
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
