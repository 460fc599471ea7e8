import { CREDENTIAL_KINDS, type CredentialKind } from '../../domain/authorization-type.ts'
import type { JsonValue } from '../../domain/json.ts'
import { must, same, textOf } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { credentialsOf } from '../catalog.ts'

const DETAILS = 'connected_account.authorization_details'
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** POST /connected_accounts (4.3). */
export const CREATE_CHECKS = checksOf('create_connected_account', [
  {
    id: 'create/created',
    title: 'create answers 201 with the account',
    basis: 'document:4.3',
    run: async (context) => void (await context.create()).is(201).object('connected_account'),
  },
  {
    id: 'create/id',
    title: 'the generated id starts with ca_',
    basis: 'document:2.1',
    run: async (context) => {
      const { id } = await context.shared('account', (fresh) => fresh.active())
      must(/^ca_./.test(id), 'an id that starts with ca_', id)
    },
  },
  {
    id: 'create/echo',
    title: 'connector and identifier come back as they were sent',
    basis: 'document:2.1',
    run: async (context) => {
      const account = await context.account()
      account.created.has('connected_account.connector', account.connector)
      account.created.has('connected_account.identifier', account.identifier)
    },
  },
  {
    id: 'create/fields',
    title: 'the account has connection, provider, type and status',
    basis: 'document:2.1',
    run: async (context) => {
      const { created } = await context.account()
      for (const field of ['connection_id', 'provider', 'authorization_type', 'status'])
        created.string(`connected_account.${field}`)
    },
  },
  {
    id: 'create/null',
    title: 'null for an optional field counts as absent, null for a required one is a 400',
    basis: 'convention:G58',
    run: async (context) => {
      const nothing = { user_id: null, connected_account: { api_config: null, authorization_details: null } }
      ;(await context.create(nothing)).is(201).has('connected_account.api_config', {})
      ;(await context.create({ connector: null })).is(400)
    },
  },
  {
    id: 'create/updated-at',
    title: 'updated_at is an instant in UTC with milliseconds',
    basis: 'choice:G54',
    run: async (context) => {
      const at = (await context.account()).created.string('connected_account.updated_at')
      must(INSTANT.test(at), 'an instant such as 2026-01-31T09:00:00.000Z', at)
    },
  },
  {
    id: 'create/zero-values',
    title: 'fields without a value have their zero value, instants that were never set are absent',
    basis: 'choice:G53',
    run: async (context) => {
      const { created } = await context.account()
      created.has('connected_account.api_config', {}).lacks('connected_account.last_used_at')
      created.lacks('connected_account.token_expires_at')
    },
  },
  {
    id: 'create/pending',
    title: 'without credentials the account is PENDING_AUTH',
    basis: 'choice:G24',
    run: async (context) => void (await context.account()).created.has('connected_account.status', 'PENDING_AUTH'),
  },
  {
    id: 'create/active',
    title: 'with credentials the account is ACTIVE',
    basis: 'choice:G24',
    run: async (context) => void (await context.active()).created.has('connected_account.status', 'ACTIVE'),
  },
  {
    id: 'create/credentials',
    title: 'the credentials come back in the response of create',
    basis: 'document:2.2',
    run: async (context) => {
      const { kind } = await context.catalog.main()
      const details = credentialsOf(kind, context.resources.name('cred'))
      const { created } = await context.account({ connected_account: { authorization_details: details } })
      created.has(DETAILS, details)
    },
  },
  {
    id: 'create/one-sub-object',
    title: 'no sub-object of another type comes back',
    basis: 'document:2.2',
    run: async (context) => {
      const { kind } = await context.catalog.main()
      const found = Object.keys((await context.active()).created.object(DETAILS))
      same(found, kind === null ? [] : [kind], 'the sub-objects of authorization_details')
    },
  },
  {
    id: 'create/api-config',
    title: 'api_config is stored as it was sent',
    basis: 'document:2.1',
    run: async (context) => {
      const config = { timeout: 30, nested: { flags: ['a', null, 1.5] }, __proto: 'x' }
      const { created } = await context.account({ connected_account: { api_config: config } })
      created.has('connected_account.api_config', config)
    },
  },
  {
    id: 'create/token-expires',
    title: 'a stored access token has an expiry after its update',
    basis: 'choice:G25',
    run: async (context) => {
      const { created } = await context.active()
      const [expires, updated] = ['token_expires_at', 'updated_at'].map((field) =>
        created.string(`connected_account.${field}`),
      )
      must(Date.parse(expires ?? '') > Date.parse(updated ?? ''), 'token_expires_at after updated_at', expires)
    },
  },
  {
    id: 'create/duplicate',
    title: 'the same identifier again is a 409',
    basis: 'document:4.3',
    run: async (context) => void (await duplicate(context)).is(409),
  },
  {
    id: 'create/duplicate-names',
    title: 'the 409 names the existing account',
    basis: 'choice:G55',
    run: async (context) => {
      const account = await context.account()
      const again = await context.create({ ...sameName(account), organization_id: account.organization_id })
      again.is(409).has('details.0.resource_info.resource_name', account.id)
    },
  },
  {
    id: 'create/other-organization',
    title: 'the same identifier in another organization is another account',
    basis: 'choice:G20',
    run: async (context) => {
      const account = await context.account()
      const other = await context.create(sameName(account))
      const id = other.is(201).string('connected_account.id')
      must(id !== account.id, 'another id', id)
    },
  },
  {
    id: 'create/other-user',
    title: 'the same identifier for a user beside an organization is another account',
    basis: 'choice:G20',
    run: async (context) => {
      const account = await context.account()
      const scope = { organization_id: account.organization_id, user_id: context.resources.name('user') }
      const other = await context.create({ ...sameName(account), ...scope })
      other.is(201)
    },
  },
  {
    id: 'create/unscoped',
    title: 'an account needs neither organization nor user',
    basis: 'choice:G20',
    run: async (context) => {
      const other = await context.create({ organization_id: '' })
      other.is(201)
    },
  },
  {
    id: 'create/concurrent',
    title: 'of equal creates at the same time exactly one is a 201',
    basis: 'choice:G55',
    run: async (context) => {
      const body = await context.newAccount()
      const answers = await Promise.all(Array.from({ length: 5 }, () => context.create(body)))
      same(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409], 'the statuses of five equal creates')
    },
  },
  {
    id: 'create/hostile-keys',
    title: '__proto__ and constructor are keys like any other',
    basis: 'document:2.1',
    run: async (context) => {
      const config = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}') as { [key: string]: JsonValue }
      const account = await context.account({ connected_account: { api_config: config } })
      account.created.has('connected_account.api_config', config)
      const plain = await context.account()
      plain.created.has('connected_account.api_config', {})
    },
  },
])

async function duplicate(context: CheckContext) {
  const account = await context.account()
  return context.create({ ...sameName(account), organization_id: account.organization_id })
}

function sameName({ connector, identifier }: { connector: string; identifier: string }) {
  return { connector, identifier }
}

/** Which credentials of POST /connected_accounts make an account ACTIVE (G23, G24). */
export const CREATE_CREDENTIALS_CHECKS = checksOf('create_connected_account', [
  {
    id: 'create/refresh-token-alone',
    title: 'a refresh token alone makes an ACTIVE account',
    basis: 'choice:G24',
    run: async (context) => {
      const { name: connector } = await context.catalog.ofType('OAUTH')
      const authorization_details = { oauth_token: { refresh_token: context.resources.name('rt') } }
      const { created } = await context.account({ connector, connected_account: { authorization_details } })
      created.has('connected_account.status', 'ACTIVE')
    },
  },
  {
    id: 'create/empty-key',
    title: 'an empty key makes a PENDING_AUTH account',
    basis: 'choice:G24',
    run: async (context) => {
      const { name: connector } = await context.catalog.ofType('API_KEY')
      const authorization_details = { static_auth: { details: { api_key: '' } } }
      const { created } = await context.account({ connector, connected_account: { authorization_details } })
      created.has('connected_account.status', 'PENDING_AUTH')
    },
  },
  {
    id: 'create/empty-kind',
    title: 'an empty sub-object of another type counts as absent',
    basis: 'choice:G23',
    run: async (context) => {
      const { kind } = await context.catalog.main()
      const authorization_details = { ...credentialsOf(kind, context.resources.name('cred')), [otherKind(kind)]: {} }
      const { created } = await context.account({ connected_account: { authorization_details } })
      created.has('connected_account.status', 'ACTIVE')
    },
  },
])

/** What POST /connected_accounts refuses (4.3). */
export const CREATE_REFUSAL_CHECKS = checksOf('create_connected_account', [
  refused('no-connector', 'a missing connector is a 400', { connector: '' }, 'document:7.2'),
  refused('no-identifier', 'a missing identifier is a 400', { identifier: '' }, 'document:7.2'),
  refused('identifier-type', 'an identifier that is no text is a 400', { identifier: 5 }, 'document:7.2'),
  refused('connector-characters', 'a connector with other characters is a 400', { connector: 'a/b?' }, 'document:2.1'),
  refused('unknown-connector', 'an unknown connector is a 400', { connector: 'nobody_has_this' }, 'choice:G19'),
  refused(
    'config-type',
    'api_config that is no object is a 400',
    { connected_account: { api_config: [] } },
    'document:2.1',
  ),
  refused(
    'details-type',
    'authorization_details that is no object is a 400',
    { connected_account: { authorization_details: 'x' } },
    'document:4.3',
  ),
  {
    id: 'create/other-kind',
    title: 'credentials of another type are a 400',
    basis: 'choice:G23',
    run: async (context) => {
      const kind = otherKind((await context.catalog.main()).kind)
      const answer = await context.create({ connected_account: { authorization_details: credentialsOf(kind) } })
      answer.is(400)
    },
  },
  {
    id: 'create/two-kinds',
    title: 'credentials of two types at once are a 400',
    basis: 'document:2.2',
    run: async (context) => {
      const { kind } = await context.catalog.main()
      const both = { ...credentialsOf(kind), ...credentialsOf(otherKind(kind)) }
      const answer = await context.create({ connected_account: { authorization_details: both } })
      answer.is(400)
    },
  },
  {
    id: 'create/other-type',
    title: "an authorization_type that is not the connector's is a 400",
    basis: 'choice:G10',
    run: async (context) => {
      const own = (await context.account()).created.string('connected_account.authorization_type')
      const other = own === 'NO_AUTH' ? 'OAUTH' : 'NO_AUTH'
      const answer = await context.create({ connected_account: { authorization_type: other } })
      answer.is(400)
      const same = await context.create({ connected_account: { authorization_type: own } })
      same.is(201)
    },
  },
  {
    id: 'create/nothing-left',
    title: 'a refused create leaves no account',
    basis: 'document:7.2',
    run: async (context) => {
      const body = await context.newAccount({ connected_account: { api_config: 5 } })
      ;(await context.create(body)).is(400)
      const { organization_id = '' } = body
      const found = await context.api.get('/connected_accounts', { organization_id: textOf(organization_id) })
      found.is(200).has('total_size', 0)
    },
  },
])

function otherKind(kind: CredentialKind | null): CredentialKind {
  return CREDENTIAL_KINDS.find((each) => each !== kind) ?? 'oauth_token'
}

function refused(name: string, title: string, body: Record<string, JsonValue>, basis: CheckBasis): CheckEntry {
  return {
    id: `create/${name}`,
    title,
    basis,
    run: async (context) => {
      const answer = await context.create(body)
      answer.is(400)
    },
  }
}
