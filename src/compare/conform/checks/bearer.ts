import type { Operation } from '../../../model/contract/shapes.ts'
import { type ServiceResponse, must } from '../service-response.ts'
import { type Check, type CheckBasis, type CheckRun, checksOf, statusChecks } from '../check.ts'
import type { Api } from '../target.ts'

type BearerRequest = readonly [method: string, path: string, basis: CheckBasis]

/** Takes no bearer token, or is of Discovery or MCP, which a target may lack. */
type LeftOut =
  'create_token' | `list_${string}tools` | 'list_providers' | 'list_app_connections' | `${string}_mcp_${string}`

/** A well-formed request of every other operation; a body is an empty object. */
const REQUESTS: Readonly<Record<Exclude<Operation, LeftOut>, BearerRequest>> = {
  list_connected_accounts: ['GET', '/connected_accounts', 'document:4.1'],
  update_connected_account: ['PUT', '/connected_accounts', 'document:4.2'],
  create_connected_account: ['POST', '/connected_accounts', 'document:4.3'],
  get_connected_account_auth: ['GET', '/connected_accounts/auth?id=ca_nobody', 'document:4.4'],
  get_connected_account_details: ['GET', '/connected_accounts/details?id=ca_nobody', 'document:4.5'],
  create_magic_link: ['POST', '/connected_accounts/magic_link', 'document:4.6'],
  verify_user: ['POST', '/connected_accounts/user/verify', 'document:4.7'],
  delete_connected_account: ['POST', '/connected_accounts:delete', 'document:4.8'],
  search_connected_accounts: ['GET', '/connected_accounts:search?query=nobody', 'document:4.9'],
  list_connections: ['GET', '/connections', 'choice:G15'],
  create_custom_provider: ['POST', '/custom-providers', 'choice:G15'],
  update_custom_provider: ['PUT', '/custom-providers/nobody-knows', 'choice:G15'],
  delete_custom_provider: ['DELETE', '/custom-providers/nobody-knows', 'choice:G15'],
  execute_tool: ['POST', '/execute_tool', 'choice:G15'],
}

const answers = statusChecks(({ api }, authorization: string) => listAs(api, authorization))

/** The bearer header (part 4, 5.3, 5.4). Nothing here can change anything: the bodies are empty objects. */
export const BEARER_CHECKS: readonly Check[] = [
  ...Object.entries(REQUESTS).flatMap(([operation, [method, path, basis]]) =>
    checksOf('bearer', operation as Operation, {
      [`missing-${operation} (${basis}): ${operation} without a bearer token is a 401`]: withoutToken(method, path),
    }),
  ),
  ...checksOf('bearer', null, {
    'unknown (document:5.4): an access token that was not issued is a 401': answers(401, 'Bearer nobody-issued-this'),
    'other-scheme (convention:G15): another scheme than Bearer is a 401': answers(401, 'Basic bm9ib2R5Om5vYm9keQ=='),
    'empty (convention:G15): a bearer header without a token is a 401': answers(401, 'Bearer'),
    'scheme-case (convention:G15): the scheme may be written in any case': async ({ api }) =>
      (await listAs(api, `bearer ${await api.token()}`)).is(200),
    'challenge (convention:G15): a 401 carries WWW-Authenticate: Bearer': async ({ api }) =>
      (await listAs(api, '')).is(401).header('WWW-Authenticate', /^Bearer\b/),
    'challenge-invalid (convention:G15): the challenge says invalid_token when a token was sent': async ({ api }) =>
      (await listAs(api, 'Bearer nobody')).is(401).header('WWW-Authenticate', /error="?invalid_token/),
    'before-validation (convention:G17): the token is checked before the request': async ({ api }) => {
      ;(await api.send('POST', '/connected_accounts/user/verify', '{"broken', { Authorization: '' })).is(401)
      ;(await api.send('GET', '/connected_accounts:search?query=a', undefined, { Authorization: '' })).is(401)
    },
    'nothing-told (document:5.4): a 401 does not show whether the account exists': async (context) => {
      const account = await context.activeAccount()
      const path = `/connected_accounts/auth?id=${encodeURIComponent(account.id)}`
      const response = await context.api.send('GET', path, undefined, { Authorization: '' })
      must(!response.is(401).text.includes(account.identifier), 'a 401 without the account', response.text)
    },
  }),
]

function withoutToken(method: string, path: string): CheckRun {
  const body = method === 'POST' || method === 'PUT' ? '{}' : undefined
  return async ({ api }) => (await api.send(method, path, body, { Authorization: '' })).is(401)
}

function listAs(api: Api, Authorization: string): Promise<ServiceResponse> {
  return api.send('GET', '/connected_accounts', undefined, { Authorization })
}
