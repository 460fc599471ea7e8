import { PROXY_REQUEST } from '../../../model/contract/shapes.ts'
import { type ServiceResponse, equal, Skipped } from '../service-response.ts'
import { checksOf } from '../check.ts'
import type { CheckContext, CreatedAccount } from '../context.ts'

/** A path that no third party serves. */
const PATH = '/conform/nobody-serves-this'

/** /proxy/{path}. A target that does not serve it is not judged by it; what reaches a third party needs that of a toolmock. */
export const PROXY_CHECKS = checksOf('proxy', PROXY_REQUEST, {
  'bearer (convention:Discovery): a request through the proxy without a bearer token is a 401': async (context) => {
    await requestWithoutAccount(context)
    ;(await sendByProxy(context, { Authorization: '' })).is(401)
  },
  'no-account (convention:Discovery): headers that name no account are a 400': async (context) => {
    ;(await requestWithoutAccount(context)).is(400)
    const { name } = await context.catalog.main()
    ;(await sendByProxy(context, { connection_name: name })).is(400)
  },
  'unknown-account (convention:Discovery): an unknown account is a 404': async (context) => {
    await requestWithoutAccount(context)
    const { name } = await context.catalog.main()
    const response = await sendByProxy(context, { connection_name: name, identifier: context.resources.identifier() })
    response.is(404).string('message')
  },
  'inactive (convention:Discovery): an account that is PENDING_AUTH is a 400 with code 9': async (context) => {
    await requestWithoutAccount(context)
    ;(await sendByProxy(context, locatorHeaders(await context.account()))).is(400).has('code', 9)
  },
  'forwards (convention:Discovery): the third party gets path and method, with a credential that it takes': async (
    context,
  ) => {
    const account = await accountForProxy(context)
    for (const headers of [{ connected_account_id: account.id }, locatorHeaders(account)]) {
      const response = await sendByProxy(context, headers, 'PATCH')
      response.is(404).has('error', 'no_responder').has('path', PATH).has('method', 'PATCH')
    }
  },
  'last-used (convention:Discovery): a request through the proxy sets last_used_at': async (context) => {
    await accountForProxy(context)
    const account = await context.active()
    await sendByProxy(context, locatorHeaders(account))
    ;(await context.details(account.id)).string('connected_account.last_used_at')
  },
  'body (convention:Discovery): the third party gets query and body as they were sent': async (context) => {
    const isolated = await context.ownEnvironment()
    await requestWithoutAccount(isolated)
    const account = await isolated.active()
    await isolated.environment.thirdPartyAnswers(422, { query: { a: 'b' }, body: { 'a.b': [1, 'ä'] } })
    ;(await sendByProxy(isolated, locatorHeaders(account), 'POST', { a: { b: [1, 'ä'] } })).is(422)
    ;(await sendByProxy(isolated, locatorHeaders(account), 'POST', { a: { b: [1] } })).is(404)
  },
  "status (convention:Discovery): the third party's status is passed on": async (context) => {
    const { response, account, isolated } = await expectProxied(context, 422)
    response.is(422).lacks('details')
    equal((await isolated.details(account.id)).at('connected_account.status'), 'ACTIVE', 'the status of the account')
  },
  'refused (convention:Discovery): a 401 that a new token does not fix makes the account EXPIRED': async (context) => {
    const { response, account, isolated } = await expectProxied(context, 401)
    response.is(401)
    equal((await isolated.details(account.id)).at('connected_account.status'), 'EXPIRED', 'the status of the account')
  },
})

function sendByProxy(
  { api }: CheckContext,
  headers: Record<string, string>,
  method = 'GET',
  json?: object,
): Promise<ServiceResponse> {
  return api.request(method, `/proxy${PATH}?a=b`, json && JSON.stringify(json), headers)
}

/** A request that names no account. @throws Skipped when the target serves no proxy */
async function requestWithoutAccount(context: CheckContext): Promise<ServiceResponse> {
  const response = await sendByProxy(context, {})
  if (response.status === 404) throw new Skipped('the target serves no proxy')
  return response
}

function locatorHeaders({ connector, identifier, organization_id }: CreatedAccount): Record<string, string> {
  return { connection_name: connector, identifier, organization_id }
}

/** An account whose credentials the third party takes. @throws Skipped */
async function accountForProxy(context: CheckContext): Promise<CreatedAccount> {
  context.control()
  await requestWithoutAccount(context)
  return context.activeAccount()
}

/** What the proxy answers where the third party always answers a status, in an environment of its own. */
async function expectProxied(context: CheckContext, status: number) {
  const isolated = await context.ownEnvironment()
  await requestWithoutAccount(isolated)
  const account = await isolated.active()
  await isolated.environment.thirdPartyAnswers(status)
  return { response: await sendByProxy(isolated, locatorHeaders(account)), account, isolated }
}
