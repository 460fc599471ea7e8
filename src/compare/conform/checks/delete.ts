import type { JsonObject } from '../../../model/domain/json.ts'
import { equal } from '../service-response.ts'
import { checksOf, statusChecks } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'

const PATH = '/connected_accounts:delete'

const answers = statusChecks(({ api }, body: JsonObject) => api.post(PATH, body))

export const DELETE_CHECKS = checksOf('delete', 'delete_connected_account', {
  'empty-answer (document:4.8): delete answers 200 without body content': async (context) => {
    const { id } = await context.account()
    equal((await context.api.post(PATH, { id })).is(200).text, '', 'the body')
  },
  'by-name (document:4.8): delete finds the account by organization, connector and identifier': async (context) => {
    const { id, organization_id, connector, identifier } = await context.account()
    ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(200)
    ;(await context.api.get('/connected_accounts/details', { id })).is(404)
  },
  'details (document:3.1): a deleted account has no details any more': async (context) =>
    (await context.api.get('/connected_accounts/details', await deletedId(context))).is(404),
  'auth (document:3.1): a deleted account has no credentials any more': async (context) =>
    (await context.api.get('/connected_accounts/auth', await deletedId(context))).is(404),
  'update (document:3.1): a deleted account cannot be updated': async (context) =>
    (await context.api.put('/connected_accounts', { ...(await deletedId(context)), connected_account: {} })).is(404),
  'twice (document:4.8): a second delete is a 404': answers(404, deletedId),
  'list (document:3.1): a deleted account is in no list': async (context) => {
    const { organization_id } = await deleteAccount(context)
    ;(await context.api.get('/connected_accounts', { organization_id })).is(200).has('total_size', 0)
  },
  'search (document:3.1): search does not find a deleted account': async (context) => {
    const { identifier } = await deleteAccount(context)
    ;(await context.api.get('/connected_accounts:search', { query: identifier })).is(200).has('total_size', 0)
  },
  'execute (document:3.1): a deleted account executes nothing': async (context) => {
    const account = await deleteAccount(context, await context.active())
    ;(await context.execute(account, await context.catalog.tool(account.connector))).is(404)
  },
  'others-stay (document:3.1): the same identifier in another organization stays': async (context) => {
    const account = await context.account()
    const successor = (await context.create({ identifier: account.identifier })).is(201)
    ;(await context.api.post(PATH, { id: account.id })).is(200)
    await context.details(successor.string('connected_account.id'))
  },
  'created-again (document:3.1): a name that was deleted can be created again, with another id': async (context) => {
    const account = await deleteAccount(context)
    const id = (await context.createAgain(account)).is(201).string('connected_account.id')
    equal(id === account.id, false, 'whether the id was used again')
  },
  'pending-request (document:3.1): a pending auth request of a deleted account is a 404 at verify': async (context) => {
    const { account, request } = await context.approved()
    ;(await context.api.post(PATH, { id: account.id })).is(200)
    ;(await context.verify(request, account.identifier)).is(404)
  },
  'no-locator (document:4.8): no locator is a 400': answers(400, {}),
  'unknown (document:4.8): an unknown id is a 404': answers(404, { id: 'ca_nobody_has_this' }),
  'other-scope (document:4.8): a name in another organization is a 404, and stays': async (context) => {
    const { id, connector, identifier } = await context.account()
    const organization_id = context.resources.name('org')
    ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(404)
    await context.details(id)
  },
})

async function deleteAccount(context: CheckContext, created?: CreatedAccount): Promise<CreatedAccount> {
  const account = created ?? (await context.account())
  ;(await context.api.post(PATH, { id: account.id })).is(200)
  return account
}

async function deletedId(context: CheckContext): Promise<{ id: string }> {
  return { id: (await deleteAccount(context)).id }
}
