import { CREDENTIAL_KINDS, type CredentialKind } from '../../../model/domain/authorization-type.ts'
import { type JsonObject, textOf } from '../../../model/domain/json.ts'
import { must, equal } from '../service-response.ts'
import { checksOf, statusChecks } from '../check.ts'
import { credentialsOf, createBodyStoring } from '../catalog.ts'

const DETAILS = 'connected_account.authorization_details'
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const answers = statusChecks((context, body: JsonObject) => context.create(body))

export const CREATE_CHECKS = checksOf('create', 'create_connected_account', {
  'created (document:4.3): create answers 201 with the account': async (context) =>
    (await context.create()).is(201).object('connected_account'),
  'id (document:2.1): the generated id starts with ca_': async (context) => {
    const { id } = await context.activeAccount()
    must(/^ca_./.test(id), 'an id that starts with ca_', id)
  },
  'echo (document:2.1): connector and identifier come back as they were sent': async (context) => {
    const account = await context.account()
    account.created.has('connected_account.connector', account.connector)
    account.created.has('connected_account.identifier', account.identifier)
  },
  'fields (document:2.1): the account has connection, provider, type and status': async (context) => {
    const { created } = await context.account()
    for (const field of ['connection_id', 'provider', 'authorization_type', 'status'])
      created.string(`connected_account.${field}`)
  },
  'null (convention:G58): null for an optional field counts as absent, null for a required one is a 400': async (
    context,
  ) => {
    const nothing = { user_id: null, connected_account: { api_config: null, authorization_details: null } }
    ;(await context.create(nothing)).is(201).has('connected_account.api_config', {})
    ;(await context.create({ connector: null })).is(400)
  },
  'updated-at (choice:G54): updated_at is an instant in UTC with milliseconds': async (context) => {
    const at = (await context.account()).created.string('connected_account.updated_at')
    must(INSTANT.test(at), 'an instant such as 2026-01-31T09:00:00.000Z', at)
  },
  'zero-values (choice:G53): fields without a value have their zero value, instants that were never set are absent':
    async (context) => {
      const { created } = await context.account()
      created.has('connected_account.api_config', {}).lacks('connected_account.last_used_at')
      created.lacks('connected_account.token_expires_at')
    },
  'pending (choice:G24): without credentials the account is PENDING_AUTH': async (context) =>
    (await context.account()).created.has('connected_account.status', 'PENDING_AUTH'),
  'active (choice:G24): with credentials the account is ACTIVE': async (context) =>
    (await context.active()).created.has('connected_account.status', 'ACTIVE'),
  'credentials (document:2.2): the credentials come back in the response of create': async (context) => {
    const details = await context.credentials()
    ;(await context.account(createBodyStoring(details))).created.has(DETAILS, details)
  },
  'one-sub-object (document:2.2): no sub-object of another type comes back': async (context) => {
    const { kind } = await context.catalog.main()
    const fields = Object.keys((await context.active()).created.object(DETAILS))
    equal(fields, kind === null ? [] : [kind], 'the sub-objects of authorization_details')
  },
  'api-config (document:2.1): api_config is stored as it was sent': async (context) => {
    const config = { timeout: 30, nested: { flags: ['a', null, 1.5] }, __proto: 'x' }
    const { created } = await context.account({ connected_account: { api_config: config } })
    created.has('connected_account.api_config', config)
  },
  'token-expires (choice:G25): a stored access token has an expiry after its update': async (context) => {
    const { created } = await context.active()
    const expires = created.string('connected_account.token_expires_at')
    const updated = created.string('connected_account.updated_at')
    must(Date.parse(expires) > Date.parse(updated), 'token_expires_at after updated_at', expires)
  },
  'duplicate (document:4.3): the same identifier again is a 409': async (context) =>
    (await context.createAgain(await context.account())).is(409),
  'duplicate-names (choice:G55): the 409 names the existing account': async (context) => {
    const account = await context.account()
    const again = await context.createAgain(account)
    again.is(409).has('details.0.resource_info.resource_name', account.id)
  },
  'other-organization (choice:G20): the same identifier in another organization is another account': async (
    context,
  ) => {
    const { id, connector, identifier } = await context.account()
    const second = (await context.create({ connector, identifier })).is(201).string('connected_account.id')
    must(second !== id, 'another id', second)
  },
  'other-user (choice:G20): the same identifier for a user beside an organization is another account': async (
    context,
  ) => {
    const { organization_id, connector, identifier } = await context.account()
    const user_id = context.resources.name('user')
    ;(await context.create({ organization_id, user_id, connector, identifier })).is(201)
  },
  'unscoped (choice:G20): an account needs neither organization nor user': async (context) =>
    (await context.create({ organization_id: '' })).is(201),
  'concurrent (choice:G55): of equal creates at the same time exactly one is a 201': async (context) => {
    const body = await context.newAccount()
    const created = await Promise.all(Array.from({ length: 5 }, () => context.create(body)))
    equal(created.map(({ status }) => status).sort(), [201, 409, 409, 409, 409], 'the statuses of five equal creates')
  },
  'hostile-keys (document:2.1): __proto__ and constructor are keys like any other': async (context) => {
    const config = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}') as JsonObject
    const { created } = await context.account({ connected_account: { api_config: config } })
    created.has('connected_account.api_config', config)
    ;(await context.account()).created.has('connected_account.api_config', {})
  },
  'refresh-token-alone (choice:G24): a refresh token alone makes an ACTIVE account': async (context) => {
    const oauth_token = { refresh_token: context.resources.name('rt') }
    const { created } = await context.accountAt('OAUTH', createBodyStoring({ oauth_token }))
    created.has('connected_account.status', 'ACTIVE')
  },
  'empty-key (choice:G24): an empty key makes a PENDING_AUTH account': async (context) => {
    const { created } = await context.accountAt(
      'API_KEY',
      createBodyStoring({ static_auth: { details: { api_key: '' } } }),
    )
    created.has('connected_account.status', 'PENDING_AUTH')
  },
  'empty-kind (choice:G23): an empty sub-object of another type counts as absent': async (context) => {
    const { kind } = await context.catalog.main()
    const details = { ...(await context.credentials()), [otherKind(kind)]: {} }
    ;(await context.account(createBodyStoring(details))).created.has('connected_account.status', 'ACTIVE')
  },
  'no-connector (document:7.2): a missing connector is a 400': answers(400, { connector: '' }),
  'no-identifier (document:7.2): a missing identifier is a 400': answers(400, { identifier: '' }),
  'identifier-type (document:7.2): an identifier that is no text is a 400': answers(400, { identifier: 5 }),
  'connector-characters (document:2.1): a connector with other characters is a 400': answers(400, {
    connector: 'a/b?',
  }),
  'unknown-connector (choice:G19): an unknown connector is a 400': answers(400, { connector: 'nobody_has_this' }),
  'config-type (document:2.1): api_config that is no object is a 400': answers(400, {
    connected_account: { api_config: [] },
  }),
  'details-type (document:4.3): authorization_details that is no object is a 400': answers(400, {
    connected_account: { authorization_details: 'x' },
  }),
  'other-kind (choice:G23): credentials of another type are a 400': answers(400, async (context) => {
    const { kind } = await context.catalog.main()
    return createBodyStoring(credentialsOf(otherKind(kind)))
  }),
  'two-kinds (document:2.2): credentials of two types at once are a 400': answers(400, async (context) => {
    const { kind } = await context.catalog.main()
    return createBodyStoring({ ...credentialsOf(kind), ...credentialsOf(otherKind(kind)) })
  }),
  "other-type (choice:G10): an authorization_type that is not the connector's is a 400": async (context) => {
    const type = (await context.account()).created.string('connected_account.authorization_type')
    const otherType = type === 'NO_AUTH' ? 'OAUTH' : 'NO_AUTH'
    ;(await context.create({ connected_account: { authorization_type: otherType } })).is(400)
    ;(await context.create({ connected_account: { authorization_type: type } })).is(201)
  },
  'nothing-left (document:7.2): a refused create leaves no account': async (context) => {
    const body = await context.newAccount({ connected_account: { api_config: 5 } })
    ;(await context.create(body)).is(400)
    const { organization_id = '' } = body
    const accounts = await context.api.get('/connected_accounts', { organization_id: textOf(organization_id) })
    accounts.is(200).has('total_size', 0)
  },
})

function otherKind(kind: CredentialKind | null): CredentialKind {
  return CREDENTIAL_KINDS.find((each) => each !== kind) ?? 'oauth_token'
}
