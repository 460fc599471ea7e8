import { same } from '../answer.ts'
import { checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'

const PATH = '/connected_accounts:delete'

export const DELETE_CHECKS = checksOf('delete_connected_account', {
  'delete/empty-answer (document:4.8): delete answers 200 without body content': async (context) => {
    const { id } = await context.account()
    const answer = await context.api.post(PATH, { id })
    same(answer.is(200).text, '', 'the body')
  },
  'delete/by-name (document:4.8): delete finds the account by organization, connector and identifier': async (
    context,
  ) => {
    const { id, organization_id, connector, identifier } = await context.account()
    ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(200)
    ;(await context.api.get('/connected_accounts/details', { id })).is(404)
  },
  'delete/details (document:3.1): a deleted account has no details any more': async (context) => {
    const { id } = await deleted(context)
    ;(await context.api.get('/connected_accounts/details', { id })).is(404)
  },
  'delete/auth (document:3.1): a deleted account has no credentials any more': async (context) => {
    const { id } = await deleted(context)
    ;(await context.api.get('/connected_accounts/auth', { id })).is(404)
  },
  'delete/update (document:3.1): a deleted account cannot be updated': async (context) => {
    const { id } = await deleted(context)
    ;(await context.api.put('/connected_accounts', { id, connected_account: {} })).is(404)
  },
  'delete/twice (document:4.8): a second delete is a 404': async (context) => {
    const { id } = await deleted(context)
    ;(await context.api.post(PATH, { id })).is(404)
  },
  'delete/list (document:3.1): a deleted account is in no list': async (context) => {
    const { organization_id } = await deleted(context)
    ;(await context.api.get('/connected_accounts', { organization_id })).is(200).has('total_size', 0)
  },
  'delete/search (document:3.1): search does not find a deleted account': async (context) => {
    const { identifier } = await deleted(context)
    ;(await context.api.get('/connected_accounts:search', { query: identifier })).is(200).has('total_size', 0)
  },
  'delete/execute (document:3.1): a deleted account executes nothing': async (context) => {
    const account = await deleted(context, await context.active())
    ;(await context.execute(account, await context.catalog.tool(account.connector))).is(404)
  },
  'delete/others-stay (document:3.1): the same identifier in another organization stays': async (context) => {
    const account = await context.account()
    const other = (await context.create({ identifier: account.identifier })).is(201)
    ;(await context.api.post(PATH, { id: account.id })).is(200)
    await context.details(other.string('connected_account.id'))
  },
  'delete/created-again (document:3.1): a name that was deleted can be created again, with another id': async (
    context,
  ) => {
    const account = await deleted(context)
    const id = (await context.createAgain(account)).is(201).string('connected_account.id')
    same(id === account.id, false, 'whether the id was used again')
  },
  'delete/pending-request (document:3.1): a pending auth request of a deleted account is a 404 at verify': async (
    context,
  ) => {
    const account = await context.account()
    const request = await context.pendingRequest(account)
    ;(await context.api.post(PATH, { id: account.id })).is(200)
    ;(await context.verify(request, account.identifier)).is(404)
  },
  'delete/no-locator (document:4.8): no locator is a 400': async ({ api }) => (await api.post(PATH, {})).is(400),
  'delete/unknown (document:4.8): an unknown id is a 404': async ({ api }) =>
    (await api.post(PATH, { id: 'ca_nobody_has_this' })).is(404),
  'delete/other-scope (document:4.8): a name in another organization is a 404, and stays': async (context) => {
    const { id, connector, identifier } = await context.account()
    const organization_id = context.resources.name('org')
    ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(404)
    await context.details(id)
  },
})

/** An account that is no longer there. */
async function deleted(context: CheckContext, given?: CreatedAccount): Promise<CreatedAccount> {
  const account = given ?? (await context.account())
  ;(await context.api.post(PATH, { id: account.id })).is(200)
  return account
}
