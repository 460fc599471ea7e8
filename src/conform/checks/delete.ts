import { same } from '../answer.ts'
import { checksOf } from '../check.ts'
import type { CheckContext } from '../context.ts'

const PATH = '/connected_accounts:delete'

/** POST /connected_accounts:delete (4.8, 3.1). */
export const DELETE_CHECKS = checksOf('delete_connected_account', [
  {
    id: 'delete/empty-answer',
    title: 'delete answers 200 without body content',
    basis: 'document:4.8',
    run: async (context) => {
      const { id } = await context.account()
      const answer = await context.api.post(PATH, { id })
      same(answer.is(200).text, '', 'the body')
    },
  },
  {
    id: 'delete/by-name',
    title: 'delete finds the account by organization, connector and identifier',
    basis: 'document:4.8',
    run: async (context) => {
      const { id, organization_id, connector, identifier } = await context.account()
      ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(200)
      ;(await context.api.get('/connected_accounts/details', { id })).is(404)
    },
  },
  {
    id: 'delete/details',
    title: 'a deleted account has no details any more',
    basis: 'document:3.1',
    run: async (context) => {
      const id = await deleted(context)
      ;(await context.api.get('/connected_accounts/details', { id })).is(404)
    },
  },
  {
    id: 'delete/auth',
    title: 'a deleted account has no credentials any more',
    basis: 'document:3.1',
    run: async (context) => {
      const id = await deleted(context)
      ;(await context.api.get('/connected_accounts/auth', { id })).is(404)
    },
  },
  {
    id: 'delete/update',
    title: 'a deleted account cannot be updated',
    basis: 'document:3.1',
    run: async (context) => {
      const id = await deleted(context)
      ;(await context.api.put('/connected_accounts', { id, connected_account: {} })).is(404)
    },
  },
  {
    id: 'delete/twice',
    title: 'a second delete is a 404',
    basis: 'document:4.8',
    run: async (context) => {
      const id = await deleted(context)
      ;(await context.api.post(PATH, { id })).is(404)
    },
  },
  {
    id: 'delete/list',
    title: 'a deleted account is in no list',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      ;(await context.api.post(PATH, { id: account.id })).is(200)
      const { organization_id } = account
      ;(await context.api.get('/connected_accounts', { organization_id })).is(200).has('total_size', 0)
    },
  },
  {
    id: 'delete/search',
    title: 'search does not find a deleted account',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      ;(await context.api.post(PATH, { id: account.id })).is(200)
      const answer = await context.api.get('/connected_accounts:search', { query: account.identifier })
      answer.is(200).has('total_size', 0)
    },
  },
  {
    id: 'delete/execute',
    title: 'a deleted account executes nothing',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.active()
      ;(await context.api.post(PATH, { id: account.id })).is(200)
      const tool = await context.catalog.tool(account.connector, () => true, 'at all')
      const answer = await context.api.post('/execute_tool', {
        connected_account_id: account.id,
        tool_name: tool.name,
        tool_input: {},
      })
      answer.is(404)
    },
  },
  {
    id: 'delete/others-stay',
    title: 'the same identifier in another organization stays',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      const other = (await context.create({ identifier: account.identifier })).is(201)
      ;(await context.api.post(PATH, { id: account.id })).is(200)
      await context.details(other.string('connected_account.id'))
    },
  },
  {
    id: 'delete/created-again',
    title: 'a name that was deleted can be created again, with another id',
    basis: 'document:3.1',
    run: async (context) => {
      const { id, organization_id, connector, identifier } = await context.account()
      ;(await context.api.post(PATH, { id })).is(200)
      const again = (await context.create({ organization_id, connector, identifier })).is(201)
      same(again.string('connected_account.id') === id, false, 'whether the id was used again')
    },
  },
  {
    id: 'delete/pending-request',
    title: 'a pending auth request of a deleted account is a 404 at verify',
    basis: 'document:3.1',
    run: async (context) => {
      const account = await context.account()
      const request = await context.pendingRequest(account)
      ;(await context.api.post(PATH, { id: account.id })).is(200)
      ;(await context.verify(request, account.identifier)).is(404)
    },
  },
  {
    id: 'delete/no-locator',
    title: 'no locator is a 400',
    basis: 'document:4.8',
    run: async ({ api }) => void (await api.post(PATH, {})).is(400),
  },
  {
    id: 'delete/unknown',
    title: 'an unknown id is a 404',
    basis: 'document:4.8',
    run: async ({ api }) => void (await api.post(PATH, { id: 'ca_nobody_has_this' })).is(404),
  },
  {
    id: 'delete/other-scope',
    title: 'a name in another organization is a 404, and stays',
    basis: 'document:4.8',
    run: async (context) => {
      const { id, connector, identifier } = await context.account()
      const organization_id = context.resources.name('org')
      ;(await context.api.post(PATH, { organization_id, connector, identifier })).is(404)
      await context.details(id)
    },
  },
])

/** The id of an account that is no longer there. */
async function deleted(context: CheckContext): Promise<string> {
  const { id } = await context.account()
  ;(await context.api.post(PATH, { id })).is(200)
  return id
}
