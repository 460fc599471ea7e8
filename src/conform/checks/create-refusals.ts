import { CREDENTIAL_KINDS, type CredentialKind } from '../../domain/authorization-type.ts'
import type { JsonValue } from '../../domain/json.ts'
import { textOf } from '../answer.ts'
import type { Check, CheckBasis } from '../check.ts'
import { credentialsOf } from '../offer.ts'

/** What POST /connected_accounts refuses (4.3). */
export const CREATE_REFUSAL_CHECKS: readonly Check[] = [
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
      const kind = otherKind((await context.offer.main()).kind)
      const answer = await context.create({ connected_account: { authorization_details: credentialsOf(kind) } })
      answer.is(400)
    },
  },
  {
    id: 'create/two-kinds',
    title: 'credentials of two types at once are a 400',
    basis: 'document:2.2',
    run: async (context) => {
      const { kind } = await context.offer.main()
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
]

function otherKind(kind: CredentialKind | null): CredentialKind {
  return CREDENTIAL_KINDS.find((each) => each !== kind) ?? 'oauth_token'
}

function refused(name: string, title: string, body: Record<string, JsonValue>, basis: CheckBasis): Check {
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
