import type { JsonObject } from '../../../model/domain/json.ts'
import { must, equal } from '../service-response.ts'
import { type CheckRun, checksOf, statusChecks } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'
import { credentialsOf, createBodyStoring } from '../catalog.ts'

const PATH = '/connected_accounts'
const DETAILS = 'connected_account.authorization_details'
const CONFIG = 'connected_account.api_config'

/** An update that would change nothing. */
const answers = statusChecks(({ api }, locator: JsonObject) => api.put(PATH, { ...locator, connected_account: {} }))

export const UPDATE_CHECKS = checksOf('update', 'update_connected_account', {
  'by-id (document:4.2): update answers 200 with the account': async (context) => {
    const account = await context.account()
    const response = await updateAccount(context, account, { api_config: { a: 1 } })
    response.has('connected_account.id', account.id).has(CONFIG, { a: 1 })
  },
  'by-name (document:4.2): update finds the account by organization, connector and identifier': async (context) => {
    const { id, organization_id, connector, identifier } = await context.account()
    const body = { organization_id, connector, identifier, connected_account: { api_config: { a: 1 } } }
    ;(await context.api.put(PATH, body)).is(200).has('connected_account.id', id)
  },
  'config-merges (document:2.1): only the provided keys of api_config change': mergedConfigCheck(
    { b: 3 },
    { a: 1, b: 3, nested: { x: 1 } },
  ),
  'config-top-level (choice:G27): api_config merges at the top level': mergedConfigCheck(
    { nested: { y: 2 } },
    { a: 1, b: 2, nested: { y: 2 } },
  ),
  'config-null (choice:G27): null removes a key of api_config': mergedConfigCheck(
    { b: null },
    { a: 1, nested: { x: 1 } },
  ),
  'stored (document:4.2): what update answers is what get-details answers then': async (context) => {
    const account = await configuredAccount(context)
    const response = await updateAccount(context, account, { api_config: { b: 3 } })
    const details = await context.details(account.id)
    equal(details.at(CONFIG), response.at(CONFIG), 'the stored api_config')
  },
  'credentials-merge (document:2.2): only the included fields of the credentials change': async (context) => {
    const credentials = credentialsOf('oauth_token', context.resources.name())
    const account = await context.accountAt('OAUTH', createBodyStoring(credentials))
    const oauth_token = { access_token: 'at-changed' }
    const response = await updateAccount(context, account, { authorization_details: { oauth_token } })
    const before = account.created.object(`${DETAILS}.oauth_token`)
    response.has(`${DETAILS}.oauth_token`, { ...before, ...oauth_token })
  },
  'credentials-kept (document:2.2): an update of api_config leaves the credentials as they are': async (context) => {
    const account = await context.active()
    const response = await updateAccount(context, account, { api_config: { a: 1 } })
    response.has(DETAILS, account.created.at(DETAILS)).has('connected_account.status', 'ACTIVE')
  },
  'activates (choice:G27): live credentials make a PENDING_AUTH account ACTIVE': async (context) => {
    const { kind } = await context.catalog.main()
    const account = await context.account()
    const response = await updateAccount(context, account, { authorization_details: credentialsOf(kind) })
    response.has('connected_account.status', 'ACTIVE')
  },
  'config-does-not-activate (choice:G27): an update without credentials leaves PENDING_AUTH': async (context) => {
    const account = await context.account()
    ;(await updateAccount(context, account, { api_config: { a: 1 } })).has('connected_account.status', 'PENDING_AUTH')
  },
  'updated-at (document:2.1): updated_at moves': async (context) => {
    const account = await context.account()
    const before = account.created.string('connected_account.updated_at')
    // The service's clock may be coarse: asked until it has moved.
    for (let turn = 0; turn < 50; turn += 1) {
      const response = await updateAccount(context, account, { api_config: { turn } })
      if (response.string('connected_account.updated_at') > before) return
    }
    must(false, 'updated_at after that of create', before)
  },
  'updated-at-stays (choice:G27): an update that changes nothing leaves updated_at': async (context) => {
    const account = await configuredAccount(context)
    const before = account.created.string('connected_account.updated_at')
    // The clock of the service may be coarse, so that one update would not show a moved one.
    for (let turn = 0; turn < 5; turn += 1)
      (await updateAccount(context, account, { api_config: { a: 1 } })).has('connected_account.updated_at', before)
  },
  'identity-stays (document:4.2): id, connector and identifier stay': async (context) => {
    const account = await context.account()
    const response = await updateAccount(context, account, { api_config: { a: 1 } })
    for (const field of ['id', 'connection_id', 'connector', 'provider', 'identifier', 'authorization_type'])
      response.has(`connected_account.${field}`, account.created.at(`connected_account.${field}`))
  },
  'unknown-id (document:4.2): an unknown id is a 404': answers(404, { id: 'ca_nobody_has_this' }),
  'no-locator (document:4.2): no locator is a 400': answers(400, {}),
  'contradiction (choice:G21): an id with another connector is a 400': answers(400, async (context) => ({
    id: (await context.activeAccount()).id,
    connector: 'nobody_has_this',
  })),
  'unknown-name (document:4.2): an unknown name is a 404': answers(404, (context) => context.newAccount()),
  'no-account (document:4.2): no connected_account is a 400': async (context) => {
    const { id } = await context.account()
    ;(await context.api.put(PATH, { id })).is(400)
  },
  'other-kind (document:4.2): credentials of another type are a 400 and change nothing': async (context) => {
    const account = await context.active()
    const { kind } = await context.catalog.main()
    const otherKind = kind === 'static_auth' ? 'oauth_token' : 'static_auth'
    const connected_account = { api_config: { a: 1 }, authorization_details: credentialsOf(otherKind) }
    ;(await context.api.put(PATH, { id: account.id, connected_account })).is(400)
    ;(await context.auth(account.id)).has(CONFIG, {}).has(DETAILS, account.created.at(DETAILS))
  },
  'output-only (convention:G9): output-only fields are ignored': async (context) => {
    const account = await context.accountAt('WORKSPACE_DWD')
    const workspace_dwd = { access_token: 'set-by-the-caller' }
    const response = await updateAccount(context, account, { authorization_details: { workspace_dwd } })
    must(!response.text.includes('set-by-the-caller'), 'an access token of the service', response.text)
  },
})

async function updateAccount({ api }: CheckContext, { id }: CreatedAccount, connected_account: JsonObject) {
  return (await api.put(PATH, { id, connected_account })).is(200)
}

function configuredAccount(context: CheckContext): Promise<CreatedAccount> {
  return context.account({ connected_account: { api_config: { a: 1, b: 2, nested: { x: 1 } } } })
}

/** What api_config is after an update of that of `configured`. */
function mergedConfigCheck(api_config: JsonObject, expected: JsonObject): CheckRun {
  return async (context) => {
    ;(await updateAccount(context, await configuredAccount(context), { api_config })).has(CONFIG, expected)
  }
}
