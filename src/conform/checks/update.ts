import type { JsonObject } from '../../domain/json.ts'
import { must, same } from '../answer.ts'
import { type CheckBasis, type CheckEntry, checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf } from '../catalog.ts'

const PATH = '/connected_accounts'
const DETAILS = 'connected_account.authorization_details'
const CONFIG = 'connected_account.api_config'

/** PUT /connected_accounts (4.2). */
export const UPDATE_CHECKS = checksOf('update_connected_account', [
  {
    id: 'update/by-id',
    title: 'update answers 200 with the account',
    basis: 'document:4.2',
    run: async (context) => {
      const account = await context.account()
      const answer = await update(context, account, { api_config: { a: 1 } })
      answer.has('connected_account.id', account.id).has(CONFIG, { a: 1 })
    },
  },
  {
    id: 'update/by-name',
    title: 'update finds the account by organization, connector and identifier',
    basis: 'document:4.2',
    run: async (context) => {
      const { id, organization_id, connector, identifier } = await context.account()
      const locator = { organization_id, connector, identifier }
      const answer = await context.api.put(PATH, { ...locator, connected_account: { api_config: { a: 1 } } })
      answer.is(200).has('connected_account.id', id)
    },
  },
  {
    id: 'update/config-merges',
    title: 'only the provided keys of api_config change',
    basis: 'document:2.1',
    run: async (context) => {
      const account = await configured(context)
      const answer = await update(context, account, { api_config: { b: 3 } })
      answer.has(CONFIG, { a: 1, b: 3, nested: { x: 1 } })
    },
  },
  {
    id: 'update/config-top-level',
    title: 'api_config merges at the top level',
    basis: 'choice:G27',
    run: async (context) => {
      const account = await configured(context)
      const answer = await update(context, account, { api_config: { nested: { y: 2 } } })
      answer.has(CONFIG, { a: 1, b: 2, nested: { y: 2 } })
    },
  },
  {
    id: 'update/config-null',
    title: 'null removes a key of api_config',
    basis: 'choice:G27',
    run: async (context) => {
      const account = await configured(context)
      const answer = await update(context, account, { api_config: { b: null } })
      answer.has(CONFIG, { a: 1, nested: { x: 1 } })
    },
  },
  {
    id: 'update/stored',
    title: 'what update answers is what get-details answers then',
    basis: 'document:4.2',
    run: async (context) => {
      const account = await configured(context)
      const answer = await update(context, account, { api_config: { b: 3 } })
      const details = await context.details(account.id)
      same(details.at(CONFIG), answer.at(CONFIG), 'the stored api_config')
    },
  },
  {
    id: 'update/credentials-merge',
    title: 'only the included fields of the credentials change',
    basis: 'document:2.2',
    run: async (context) => {
      const account = await oauthAccount(context)
      const answer = await update(context, account, {
        authorization_details: { oauth_token: { access_token: 'at-changed' } },
      })
      const before = account.created.object(`${DETAILS}.oauth_token`)
      answer.has(`${DETAILS}.oauth_token`, { ...before, access_token: 'at-changed' })
    },
  },
  {
    id: 'update/credentials-kept',
    title: 'an update of api_config leaves the credentials as they are',
    basis: 'document:2.2',
    run: async (context) => {
      const account = await context.active()
      const answer = await update(context, account, { api_config: { a: 1 } })
      answer.has(DETAILS, account.created.at(DETAILS)).has('connected_account.status', 'ACTIVE')
    },
  },
  {
    id: 'update/activates',
    title: 'live credentials make a PENDING_AUTH account ACTIVE',
    basis: 'choice:G27',
    run: async (context) => {
      const { kind } = await context.catalog.main()
      const account = await context.account()
      const answer = await update(context, account, { authorization_details: credentialsOf(kind) })
      answer.has('connected_account.status', 'ACTIVE')
    },
  },
  {
    id: 'update/config-does-not-activate',
    title: 'an update without credentials leaves PENDING_AUTH',
    basis: 'choice:G27',
    run: async (context) => {
      const account = await context.account()
      const answer = await update(context, account, { api_config: { a: 1 } })
      answer.has('connected_account.status', 'PENDING_AUTH')
    },
  },
  {
    id: 'update/updated-at',
    title: 'updated_at moves',
    basis: 'document:2.1',
    run: async (context) => {
      const account = await context.account()
      const before = account.created.string('connected_account.updated_at')
      // The service's clock may be coarse: asked until it has moved.
      for (let turn = 0; turn < 50; turn += 1) {
        const answer = await update(context, account, { api_config: { turn } })
        if (answer.string('connected_account.updated_at') > before) return
      }
      must(false, 'updated_at after that of create', before)
    },
  },
  {
    id: 'update/updated-at-stays',
    title: 'an update that changes nothing leaves updated_at',
    basis: 'choice:G27',
    run: async (context) => {
      const account = await configured(context)
      const before = account.created.string('connected_account.updated_at')
      // The clock of the service may be coarse, so that one update would not show a moved one.
      for (let turn = 0; turn < 5; turn += 1)
        (await update(context, account, { api_config: { a: 1 } })).has('connected_account.updated_at', before)
    },
  },
  {
    id: 'update/identity-stays',
    title: 'id, connector and identifier stay',
    basis: 'document:4.2',
    run: async (context) => {
      const account = await context.account()
      const answer = await update(context, account, { api_config: { a: 1 } })
      for (const field of ['id', 'connection_id', 'connector', 'provider', 'identifier', 'authorization_type'])
        answer.has(`connected_account.${field}`, account.created.at(`connected_account.${field}`))
    },
  },
  refused({ name: 'unknown-id', title: 'an unknown id is a 404', status: 404, basis: 'document:4.2' }, () => ({
    id: 'ca_nobody_has_this',
  })),
  refused({ name: 'no-locator', title: 'no locator is a 400', status: 400, basis: 'document:4.2' }, () => ({})),
  refused(
    { name: 'contradiction', title: 'an id with another connector is a 400', status: 400, basis: 'choice:G21' },
    ({ id }) => ({ id, connector: 'nobody_has_this' }),
  ),
  {
    id: 'update/unknown-name',
    title: 'an unknown name is a 404',
    basis: 'document:4.2',
    run: async (context) => {
      const locator = await context.newAccount()
      const answer = await context.api.put(PATH, { ...locator, connected_account: {} })
      answer.is(404)
    },
  },
  {
    id: 'update/no-account',
    title: 'no connected_account is a 400',
    basis: 'document:4.2',
    run: async (context) => {
      const { id } = await context.account()
      const answer = await context.api.put(PATH, { id })
      answer.is(400)
    },
  },
  {
    id: 'update/other-kind',
    title: 'credentials of another type are a 400 and change nothing',
    basis: 'document:4.2',
    run: async (context) => {
      const account = await context.active()
      const { kind } = await context.catalog.main()
      const other = kind === 'static_auth' ? 'oauth_token' : 'static_auth'
      const connected_account = { api_config: { a: 1 }, authorization_details: credentialsOf(other) }
      const answer = await context.api.put(PATH, { id: account.id, connected_account })
      answer.is(400)
      const details = await context.auth(account.id)
      details.has(CONFIG, {}).has(DETAILS, account.created.at(DETAILS))
    },
  },
  {
    id: 'update/output-only',
    title: 'output-only fields are ignored',
    basis: 'convention:G9',
    run: async (context) => {
      const { name } = await context.catalog.ofType('WORKSPACE_DWD')
      const account = await context.account({ connector: name })
      const answer = await update(context, account, {
        authorization_details: { workspace_dwd: { access_token: 'set-by-the-caller' } },
      })
      must(!answer.text.includes('set-by-the-caller'), 'an access token of the service', answer.text)
    },
  },
])

async function update({ api }: CheckContext, { id }: CreatedAccount, connected_account: JsonObject) {
  return (await api.put(PATH, { id, connected_account })).is(200)
}

function configured(context: CheckContext): Promise<CreatedAccount> {
  return context.account({ connected_account: { api_config: { a: 1, b: 2, nested: { x: 1 } } } })
}

async function oauthAccount(context: CheckContext): Promise<CreatedAccount> {
  const { name } = await context.catalog.ofType('OAUTH')
  return context.account({
    connector: name,
    connected_account: { authorization_details: credentialsOf('oauth_token', context.resources.name()) },
  })
}

interface Refusal {
  readonly name: string
  readonly title: string
  readonly status: number
  readonly basis: CheckBasis
}

function refused(
  { name, title, status, basis }: Refusal,
  locator: (account: CreatedAccount) => JsonObject,
): CheckEntry {
  return {
    id: `update/${name}`,
    title,
    basis,
    run: async (context) => {
      const account = await context.shared('account', (fresh) => fresh.active())
      const answer = await context.api.put(PATH, { ...locator(account), connected_account: {} })
      answer.is(status)
    },
  }
}
