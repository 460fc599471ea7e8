import type { Operation } from '../../../src/model/contract/shapes.ts'
import { answering, answersInsteadOfError, type Mutant, type MutantTable, answersOtherStatus } from '../mutant.ts'

const LIST = 'list_connected_accounts'
const SEARCH = 'search_connected_accounts'
const LIST_PATH = '/api/v1/connected_accounts'

/** List, search, connections and Discovery. */
export const LISTING_MUTANTS: MutantTable = {
  'connections/custom: the provider of a connection is its name in upper case': answering(
    'list_connections',
    ({ connections }) => {
      for (const each of connections) each.provider = each.key_id.toUpperCase()
    },
  ),
  'list/pages: a page token skips an account': answering(LIST, (body, { query }) => {
    if (query.page_token) body.connected_accounts.shift()
  }),
  'list/pages: a page begins with an account of the page before': answering(LIST, (body, { query }) => {
    if (query.page_token && body.connected_accounts.length > 0)
      body.connected_accounts.unshift(body.connected_accounts[0])
  }),
  'list/delete-between-pages: page tokens are offsets': ({ around }) =>
    around(LIST, async (call, handler) => {
      const { page_token: token, ...filter } = call.query
      const offset = Number(token ?? 0)
      const size = filter.page_size ?? 10
      const all = await handler({ ...call, query: { ...filter, page_size: 100 } })
      const { connected_accounts: accounts } = all.body as { connected_accounts: unknown[] }
      const next = offset + size < accounts.length ? String(offset + size) : ''
      const rows = accounts.slice(offset, offset + size)
      const prev = offset > 0 ? String(Math.max(0, offset - size)) : ''
      const body = {
        connected_accounts: rows,
        next_page_token: next,
        prev_page_token: prev,
        total_size: accounts.length,
      }
      return { status: 200, body }
    }),
  'list/token-of-other-environment: a page token of another environment is taken': ({ around }) =>
    around(LIST, (call, handler) => {
      const environment = Object.create(call.environment, { name: { value: 'any' } }) as typeof call.environment
      return handler({ ...call, environment })
    }),
  'list/percent-encoding: a query that is not well percent-encoded is taken': answersOtherStatus(
    LIST_PATH,
    'identifier',
    200,
    { connected_accounts: [] },
  ),
  'list/full-last-page: a last page that is full has a next_page_token': answering(LIST, (body, { query }) => {
    if (body.connected_accounts.length === query.page_size) body.next_page_token ||= 'YTE'
  }),
  'list/shape: next_page_token is null on the last page': answering(LIST, (body) => (body.next_page_token ||= null)),
  'list/back: prev_page_token is always empty': answering(LIST, (body) => (body.prev_page_token = '')),
  'list/total: total_size counts the page': answering(
    LIST,
    (body) => (body.total_size = body.connected_accounts.length),
  ),
  'list/total: total_size is a text': answering(LIST, (body) => (body.total_size = String(body.total_size))),
  'list/order: the newest account comes first': answering(LIST, (body) => body.connected_accounts.reverse()),
  'list/no-credentials: listed accounts carry api_config': answering(LIST, (body) => {
    for (const account of body.connected_accounts) account.api_config = {}
  }),
  'list/same-object: listed accounts lack token_expires_at': answering(LIST, (body) => {
    for (const account of body.connected_accounts) delete account.token_expires_at
  }),
  'list/default-page-size: a page has twenty accounts by default': ({ request }) =>
    request(({ method, path, query }) => {
      if (method === 'GET' && path === LIST_PATH && !query.has('page_size')) query.set('page_size', '20')
    }),
  'list/by-identifier: the filter identifier is ignored': withoutParameter('connected_accounts', 'identifier'),
  'list/by-user: the filter user_id is ignored': withoutParameter('connected_accounts', 'user_id'),
  'list/by-connector: the filter connector is ignored': withoutParameter('connected_accounts', 'connector'),
  'list/page-size-large: page_size over 100 is cut': ({ request }) =>
    request(({ path, query }) => {
      if (path === LIST_PATH && Number(query.get('page_size')) > 100) query.set('page_size', '100')
    }),
  'list/token-malformed: a page_token that cannot be read starts at the first page': ({ request }) =>
    request(({ path, query }) => {
      if (path === LIST_PATH && (query.get('page_token') ?? '').includes(' ')) query.delete('page_token')
    }),
  'search/two-characters: search takes two characters': ({ request }) =>
    request(({ path, query }) => {
      if (path.endsWith(':search') && query.get('query')?.length === 2) query.set('query', 'con')
    }),
  'search/three-characters: search needs four characters': ({ request }) =>
    request(({ path, query }) => {
      if (path.endsWith(':search') && query.get('query')?.length === 3) query.set('query', 'co')
    }),
  'search/any-case: search distinguishes case': answering(SEARCH, (body, { query }) => {
    if (/[A-Z]/.test(query.query)) body.connected_accounts = []
  }),
  'search/by-identifier: search matches the beginning of identifiers only': answering(SEARCH, (body, { query }) => {
    const fits = ({ identifier }: { identifier: string }) =>
      identifier.toLowerCase().startsWith(query.query.toLowerCase())
    body.connected_accounts = body.connected_accounts.filter(fits)
  }),
  'search/by-connector: search does not look at connectors': answering(SEARCH, (body, { query }) => {
    body.connected_accounts = body.connected_accounts.filter(({ identifier }: { identifier: string }) =>
      identifier.toLowerCase().includes(query.query.toLowerCase()),
    )
  }),
  'search/literal: search reads .* as a pattern': ({ request }) =>
    request(({ path, query }) => {
      if (path.endsWith(':search')) query.set('query', (query.get('query') ?? '').replace('.*', ''))
    }),
  'connections/fields: connections without domains lack the field': answering('list_connections', ({ connections }) => {
    for (const each of connections) if (each.domains.length === 0) delete each.domains
  }),
  'connections/type: a connection has the account type BASIC_AUTH': answering('list_connections', ({ connections }) => {
    for (const each of connections) if (each.type === 'BASIC') each.type = 'BASIC_AUTH'
  }),
  'discovery/scoped-pending: scoped tools include accounts that are not ACTIVE': ({ around }) =>
    around('list_scoped_tools', async (call, handler) => {
      const reply = await handler(call)
      const { tools } = reply.body as { tools: unknown[] }
      return tools.length > 0 ? reply : { status: 200, body: { tools: [{}] } }
    }),
  'discovery/tools: listed tools lack their input schema': answering('list_tools', ({ tools = [] }) => {
    for (const { definition } of tools) delete definition.input_schema
  }),
  'discovery/available: one tool that the identifier cannot use is available': answering(
    'list_available_tools',
    (body) => {
      if (body.tools.length > 0) body.tools.push({ ...body.tools[0], id: 'tool_of_nobody' })
    },
  ),
  'discovery/available-pending: accounts that are not ACTIVE make tools available': answering(
    'list_available_tools',
    (body) => {
      if (body.tools.length === 0) body.tools.push({})
    },
  ),
  'discovery/available-unknown: an identifier without any account has an empty list of available tools':
    answersInsteadOfError('list_available_tools', 'ACCOUNT_NOT_FOUND', () => ({
      status: 200,
      body: { tools: [], next_page_token: '', prev_page_token: '', total_size: 0 },
    })),
  'discovery/tools-once: a tool is listed for each connection of its provider': answering(
    'list_tools',
    ({ tools = [] }) => tools.push(...tools),
  ),
  'discovery/tool-effects: listed tools lack their annotations': answering('list_tools', ({ tools = [] }) => {
    for (const { definition } of tools) delete definition.annotations
  }),
  'discovery/available: available tools have the shape of scoped ones': answering(
    'list_available_tools',
    (body, { query }) => {
      body.tools = body.tools.map((tool: unknown) => ({ tool, identifier: query.identifier, connected_account_id: '' }))
    },
  ),
  'discovery/scoped-pages: the first page of list_scoped_tools is said to be the last': onePage('list_scoped_tools'),
  'discovery/available-pages: the first page of list_available_tools is said to be the last':
    onePage('list_available_tools'),
  'discovery/app-connections-pages: the first page of list_app_connections is said to be the last':
    onePage('list_app_connections'),
  'discovery/app-connections: the connections of single sign-on are among those of accounts': answering(
    'list_app_connections',
    ({ connections }) => {
      connections.push({ ...connections[0], type: 'SAML' })
    },
  ),
  'discovery/providers-standard: the filter filter.provider_type is ignored': ({ request }) =>
    request(({ query }) => query.delete('filter.provider_type')),
  'discovery/tools-page-size: a page of /tools has at most 100 entries': pageOf1001('tools'),
  'discovery/scoped-page-size: a page of /tools/scoped has at most 100 entries': pageOf1001('tools/scoped'),
  'discovery/available-page-size: a page of /tools/available has at most 100 entries': pageOf1001('tools/available'),
  'discovery/providers-page-size: a page of /providers has at most 100 entries': pageOf1001('providers'),
  'discovery/app-connections-page-size: a page of /connections/app has at most 100 entries':
    pageOf1001('connections/app'),
  'connections/of-organization: the filter organization_id of /connections is ignored': withoutParameter(
    'connections',
    'organization_id',
  ),
  'connections/of-domain: the filter domain of /connections is ignored': withoutParameter('connections', 'domain'),
  'discovery/app-connections-of-provider: the filter provider of /connections/app is ignored': withoutParameter(
    'connections/app',
    'provider',
  ),
  'discovery/providers: the providers of the service are custom ones': answering('list_providers', ({ providers }) => {
    for (const each of providers) each.is_custom = true
  }),
  'discovery/provider-of-accounts: the provider of an account is in upper case, and that of its tools is not': ({
    reply,
  }) =>
    reply(({ body }) => {
      const account = body?.connected_account
      if (account) account.provider = account.provider.toUpperCase()
    }),
  'discovery/providers-pages: the first page of providers is said to be the last': answering(
    'list_providers',
    (body) => (body.next_page_token = ''),
  ),
}

function withoutParameter(path: string, parameter: string): Mutant['mutate'] {
  return ({ request }) =>
    request((sent) => {
      if (sent.method === 'GET' && sent.path === `/api/v1/${path}`) sent.query.delete(parameter)
    })
}

function onePage(operation: Operation): Mutant['mutate'] {
  return answering(operation, (body) => (body.next_page_token = ''))
}

/** Such a page is refused, as pages of more than 100 are by a service that allows fewer. */
function pageOf1001(path: string): Mutant['mutate'] {
  return ({ request }) =>
    request((sent) => {
      const isLarge = sent.path === `/api/v1/${path}` && Number(sent.query.get('page_size')) > 100
      if (isLarge) sent.query.set('page_size', '1001')
    })
}
