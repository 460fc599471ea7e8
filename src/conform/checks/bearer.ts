import type { Operation } from '../../contract/shapes.ts'
import { must } from '../answer.ts'
import { type Check, type CheckBasis, type CheckEntry, checksOf } from '../check.ts'

type BearerRequest = readonly [method: string, path: string, basis: CheckBasis]

/** Takes no bearer token, or is of Discovery, which a target may lack. */
type LeftOut =
  | 'create_token'
  | 'list_tools'
  | 'list_scoped_tools'
  | 'list_available_tools'
  | 'list_providers'
  | 'list_app_connections'

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

/** The bearer header (part 4, 5.3, 5.4). Nothing here can change anything: the bodies are empty objects. */
export const BEARER_CHECKS: readonly Check[] = [
  ...Object.entries(REQUESTS).flatMap(([operation, [method, path, basis]]) =>
    checksOf(operation as Operation, [
      {
        id: `bearer/missing-${operation}`,
        title: `${operation} without a bearer token is a 401`,
        basis,
        run: async ({ api }) => {
          const body = method === 'POST' || method === 'PUT' ? '{}' : undefined
          const answer = await api.send(method, path, body, { Authorization: '' })
          answer.is(401)
        },
      },
    ]),
  ),
  ...checksOf(null, [
    refused('unknown', 'an access token that was not issued is a 401', 'Bearer nobody-issued-this', 'document:5.4'),
    refused('other-scheme', 'another scheme than Bearer is a 401', 'Basic bm9ib2R5Om5vYm9keQ==', 'convention:G15'),
    refused('empty', 'a bearer header without a token is a 401', 'Bearer', 'convention:G15'),
    {
      id: 'bearer/scheme-case',
      title: 'the scheme may be written in any case',
      basis: 'convention:G15',
      run: async ({ api }) => {
        const Authorization = `bearer ${await api.token()}`
        const answer = await api.send('GET', '/connected_accounts', undefined, { Authorization })
        answer.is(200)
      },
    },
    {
      id: 'bearer/challenge',
      title: 'a 401 carries WWW-Authenticate: Bearer',
      basis: 'convention:G15',
      run: async ({ api }) => {
        const answer = await api.send('GET', '/connected_accounts', undefined, { Authorization: '' })
        answer.is(401).header('WWW-Authenticate', /^Bearer\b/)
      },
    },
    {
      id: 'bearer/challenge-invalid',
      title: 'the challenge says invalid_token when a token was sent',
      basis: 'convention:G15',
      run: async ({ api }) => {
        const answer = await api.send('GET', '/connected_accounts', undefined, { Authorization: 'Bearer nobody' })
        answer.is(401).header('WWW-Authenticate', /error="?invalid_token/)
      },
    },
    {
      id: 'bearer/before-validation',
      title: 'the token is checked before the request',
      basis: 'convention:G17',
      run: async ({ api }) => {
        const answer = await api.send('POST', '/connected_accounts/user/verify', '{"broken', { Authorization: '' })
        answer.is(401)
        const search = await api.send('GET', '/connected_accounts:search?query=a', undefined, { Authorization: '' })
        search.is(401)
      },
    },
    {
      id: 'bearer/nothing-told',
      title: 'a 401 does not show whether the account exists',
      basis: 'document:5.4',
      run: async (context) => {
        const account = await context.shared('account', (fresh) => fresh.active())
        const path = `/connected_accounts/auth?id=${encodeURIComponent(account.id)}`
        const answer = await context.api.send('GET', path, undefined, { Authorization: '' })
        must(!answer.is(401).text.includes(account.identifier), 'a 401 without the account', answer.text)
      },
    },
  ]),
]

function refused(name: string, title: string, Authorization: string, basis: CheckBasis): CheckEntry {
  return {
    id: `bearer/${name}`,
    title,
    basis,
    run: async ({ api }) => {
      const answer = await api.send('GET', '/connected_accounts', undefined, { Authorization })
      answer.is(401)
    },
  }
}
