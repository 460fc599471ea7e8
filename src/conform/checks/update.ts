import type { JsonObject } from '../../domain/json.ts'
import { must, same } from '../answer.ts'
import { type CheckRun, checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf } from '../catalog.ts'

const PATH = '/connected_accounts'
const DETAILS = 'connected_account.authorization_details'
const CONFIG = 'connected_account.api_config'

export const UPDATE_CHECKS = checksOf('update_connected_account', {
  'update/by-id (document:4.2): update answers 200 with the account': async (context) => {
    const account = await context.account()
    ;(await update(context, account, { api_config: { a: 1 } }))
      .has('connected_account.id', account.id)
      .has(CONFIG, { a: 1 })
  },
  'update/by-name (document:4.2): update finds the account by organization, connector and identifier': async (
    context,
  ) => {
    const { id, organization_id, connector, identifier } = await context.account()
    const locator = { organization_id, connector, identifier }
    ;(await context.api.put(PATH, { ...locator, connected_account: { api_config: { a: 1 } } }))
      .is(200)
      .has('connected_account.id', id)
  },
  'update/config-merges (document:2.1): only the provided keys of api_config change': async (context) => {
    const account = await configured(context)
    ;(await update(context, account, { api_config: { b: 3 } })).has(CONFIG, { a: 1, b: 3, nested: { x: 1 } })
  },
  'update/config-top-level (choice:G27): api_config merges at the top level': async (context) => {
    const account = await configured(context)
    ;(await update(context, account, { api_config: { nested: { y: 2 } } })).has(CONFIG, {
      a: 1,
      b: 2,
      nested: { y: 2 },
    })
  },
  'update/config-null (choice:G27): null removes a key of api_config': async (context) => {
    const account = await configured(context)
    ;(await update(context, account, { api_config: { b: null } })).has(CONFIG, { a: 1, nested: { x: 1 } })
  },
  'update/stored (document:4.2): what update answers is what get-details answers then': async (context) => {
    const account = await configured(context)
    const answer = await update(context, account, { api_config: { b: 3 } })
    const details = await context.details(account.id)
    same(details.at(CONFIG), answer.at(CONFIG), 'the stored api_config')
  },
  'update/credentials-merge (document:2.2): only the included fields of the credentials change': async (context) => {
    const account = await oauthAccount(context)
    const answer = await update(context, account, {
      authorization_details: { oauth_token: { access_token: 'at-changed' } },
    })
    const before = account.created.object(`${DETAILS}.oauth_token`)
    answer.has(`${DETAILS}.oauth_token`, { ...before, access_token: 'at-changed' })
  },
  'update/credentials-kept (document:2.2): an update of api_config leaves the credentials as they are': async (
    context,
  ) => {
    const account = await context.active()
    ;(await update(context, account, { api_config: { a: 1 } }))
      .has(DETAILS, account.created.at(DETAILS))
      .has('connected_account.status', 'ACTIVE')
  },
  'update/activates (choice:G27): live credentials make a PENDING_AUTH account ACTIVE': async (context) => {
    const { kind } = await context.catalog.main()
    const account = await context.account()
    ;(await update(context, account, { authorization_details: credentialsOf(kind) })).has(
      'connected_account.status',
      'ACTIVE',
    )
  },
  'update/config-does-not-activate (choice:G27): an update without credentials leaves PENDING_AUTH': async (
    context,
  ) => {
    const account = await context.account()
    ;(await update(context, account, { api_config: { a: 1 } })).has('connected_account.status', 'PENDING_AUTH')
  },
  'update/updated-at (document:2.1): updated_at moves': async (context) => {
    const account = await context.account()
    const before = account.created.string('connected_account.updated_at')
    // The service's clock may be coarse: asked until it has moved.
    for (let turn = 0; turn < 50; turn += 1) {
      const answer = await update(context, account, { api_config: { turn } })
      if (answer.string('connected_account.updated_at') > before) return
    }
    must(false, 'updated_at after that of create', before)
  },
  'update/updated-at-stays (choice:G27): an update that changes nothing leaves updated_at': async (context) => {
    const account = await configured(context)
    const before = account.created.string('connected_account.updated_at')
    // The clock of the service may be coarse, so that one update would not show a moved one.
    for (let turn = 0; turn < 5; turn += 1)
      (await update(context, account, { api_config: { a: 1 } })).has('connected_account.updated_at', before)
  },
  'update/identity-stays (document:4.2): id, connector and identifier stay': async (context) => {
    const account = await context.account()
    const answer = await update(context, account, { api_config: { a: 1 } })
    for (const field of ['id', 'connection_id', 'connector', 'provider', 'identifier', 'authorization_type'])
      answer.has(`connected_account.${field}`, account.created.at(`connected_account.${field}`))
  },
  'update/unknown-id (document:4.2): an unknown id is a 404': refused(404, () => ({ id: 'ca_nobody_has_this' })),
  'update/no-locator (document:4.2): no locator is a 400': refused(400, () => ({})),
  'update/contradiction (choice:G21): an id with another connector is a 400': refused(400, ({ id }) => ({
    id,
    connector: 'nobody_has_this',
  })),
  'update/unknown-name (document:4.2): an unknown name is a 404': async (context) => {
    const locator = await context.newAccount()
    ;(await context.api.put(PATH, { ...locator, connected_account: {} })).is(404)
  },
  'update/no-account (document:4.2): no connected_account is a 400': async (context) => {
    const { id } = await context.account()
    ;(await context.api.put(PATH, { id })).is(400)
  },
  'update/other-kind (document:4.2): credentials of another type are a 400 and change nothing': async (context) => {
    const account = await context.active()
    const { kind } = await context.catalog.main()
    const other = kind === 'static_auth' ? 'oauth_token' : 'static_auth'
    const connected_account = { api_config: { a: 1 }, authorization_details: credentialsOf(other) }
    ;(await context.api.put(PATH, { id: account.id, connected_account })).is(400)
    ;(await context.auth(account.id)).has(CONFIG, {}).has(DETAILS, account.created.at(DETAILS))
  },
  'update/output-only (convention:G9): output-only fields are ignored': async (context) => {
    const { name } = await context.catalog.ofType('WORKSPACE_DWD')
    const account = await context.account({ connector: name })
    const answer = await update(context, account, {
      authorization_details: { workspace_dwd: { access_token: 'set-by-the-caller' } },
    })
    must(!answer.text.includes('set-by-the-caller'), 'an access token of the service', answer.text)
  },
})

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

function refused(status: number, locator: (account: CreatedAccount) => JsonObject): CheckRun {
  return async (context) => {
    const account = await context.activeAccount()
    ;(await context.api.put(PATH, { ...locator(account), connected_account: {} })).is(status)
  }
}
