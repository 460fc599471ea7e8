import { answering, answersInsteadOfError, type Mutant, answersOtherStatus } from '../mutant.ts'

const LIST = 'list_connected_accounts'
const SEARCH = 'search_connected_accounts'
const LIST_PATH = '/api/v1/connected_accounts'

/** List, search, connections and Discovery. */
export const LISTING_MUTANTS: readonly Mutant[] = [
  {
    name: 'connection-provider-by-name',
    what: 'the provider of a connection is its name in upper case',
    caughtBy: 'connections/custom',
    mutate: answering('list_connections', ({ connections }) => {
      for (const each of connections) each.provider = each.key_id.toUpperCase()
    }),
  },
  {
    name: 'page-skips',
    what: 'a page token skips an account',
    caughtBy: 'list/pages',
    mutate: answering(LIST, (body, { query }) => {
      if (query.page_token) body.connected_accounts.shift()
    }),
  },
  {
    name: 'page-repeats',
    what: 'a page begins with an account of the page before',
    caughtBy: 'list/pages',
    mutate: answering(LIST, (body, { query }) => {
      if (query.page_token && body.connected_accounts.length > 0)
        body.connected_accounts.unshift(body.connected_accounts[0])
    }),
  },
  {
    name: 'page-by-offset',
    what: 'page tokens are offsets',
    caughtBy: 'list/delete-between-pages',
    mutate: ({ around }) =>
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
  },
  {
    name: 'page-token-of-any-environment',
    what: 'a page token of another environment is taken',
    caughtBy: 'list/token-of-other-environment',
    mutate: ({ around }) =>
      around(LIST, (call, handler) => {
        const environment = Object.create(call.environment, { name: { value: 'any' } }) as typeof call.environment
        return handler({ ...call, environment })
      }),
  },
  {
    name: 'query-encoding-lenient',
    what: 'a query that is not well percent-encoded is taken',
    caughtBy: 'list/percent-encoding',
    mutate: answersOtherStatus(LIST_PATH, 'identifier', 200, { connected_accounts: [] }),
  },
  {
    name: 'page-token-on-full-page',
    what: 'a last page that is full has a next_page_token',
    caughtBy: 'list/full-last-page',
    mutate: answering(LIST, (body, { query }) => {
      if (body.connected_accounts.length === query.page_size) body.next_page_token ||= 'YTE'
    }),
  },
  {
    name: 'page-token-null',
    what: 'next_page_token is null on the last page',
    caughtBy: 'list/shape',
    mutate: answering(LIST, (body) => (body.next_page_token ||= null)),
  },
  {
    name: 'page-no-way-back',
    what: 'prev_page_token is always empty',
    caughtBy: 'list/back',
    mutate: answering(LIST, (body) => (body.prev_page_token = '')),
  },
  {
    name: 'total-of-page',
    what: 'total_size counts the page',
    caughtBy: 'list/total',
    mutate: answering(LIST, (body) => (body.total_size = body.connected_accounts.length)),
  },
  {
    name: 'total-as-text',
    what: 'total_size is a text',
    caughtBy: 'list/total',
    mutate: answering(LIST, (body) => (body.total_size = String(body.total_size))),
  },
  {
    name: 'list-newest-first',
    what: 'the newest account comes first',
    caughtBy: 'list/order',
    mutate: answering(LIST, (body) => body.connected_accounts.reverse()),
  },
  {
    name: 'list-shows-config',
    what: 'listed accounts carry api_config',
    caughtBy: 'list/no-credentials',
    mutate: answering(LIST, (body) => {
      for (const account of body.connected_accounts) account.api_config = {}
    }),
  },
  {
    name: 'list-without-expiry',
    what: 'listed accounts lack token_expires_at',
    caughtBy: 'list/same-object',
    mutate: answering(LIST, (body) => {
      for (const account of body.connected_accounts) delete account.token_expires_at
    }),
  },
  {
    name: 'list-page-of-twenty',
    what: 'a page has twenty accounts by default',
    caughtBy: 'list/default-page-size',
    mutate: ({ request }) =>
      request(({ method, path, query }) => {
        if (method === 'GET' && path === LIST_PATH && !query.has('page_size')) query.set('page_size', '20')
      }),
  },
  ...['identifier', 'user_id', 'connector'].map((field): Mutant => ({
    name: `list-ignores-${field}`,
    what: `the filter ${field} is ignored`,
    caughtBy: `list/by-${field.replace('_id', '')}`,
    mutate: ({ request }) =>
      request(({ method, path, query }) => {
        if (method === 'GET' && path === LIST_PATH) query.delete(field)
      }),
  })),
  {
    name: 'list-any-page-size',
    what: 'page_size over 100 is cut',
    caughtBy: 'list/page-size-large',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path === LIST_PATH && Number(query.get('page_size')) > 100) query.set('page_size', '100')
      }),
  },
  {
    name: 'page-token-unchecked',
    what: 'a page_token that cannot be read starts at the first page',
    caughtBy: 'list/token-malformed',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path === LIST_PATH && (query.get('page_token') ?? '').includes(' ')) query.delete('page_token')
      }),
  },
  {
    name: 'search-two-characters',
    what: 'search takes two characters',
    caughtBy: 'search/two-characters',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path.endsWith(':search') && query.get('query')?.length === 2) query.set('query', 'con')
      }),
  },
  {
    name: 'search-four-characters',
    what: 'search needs four characters',
    caughtBy: 'search/three-characters',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path.endsWith(':search') && query.get('query')?.length === 3) query.set('query', 'co')
      }),
  },
  {
    name: 'search-case-sensitive',
    what: 'search distinguishes case',
    caughtBy: 'search/any-case',
    mutate: answering(SEARCH, (body, { query }) => {
      if (/[A-Z]/.test(query.query)) body.connected_accounts = []
    }),
  },
  {
    name: 'search-beginning-only',
    what: 'search matches the beginning of identifiers only',
    caughtBy: 'search/by-identifier',
    mutate: answering(SEARCH, (body, { query }) => {
      const fits = ({ identifier }: { identifier: string }) =>
        identifier.toLowerCase().startsWith(query.query.toLowerCase())
      body.connected_accounts = body.connected_accounts.filter(fits)
    }),
  },
  {
    name: 'search-identifier-only',
    what: 'search does not look at connectors',
    caughtBy: 'search/by-connector',
    mutate: answering(SEARCH, (body, { query }) => {
      body.connected_accounts = body.connected_accounts.filter(({ identifier }: { identifier: string }) =>
        identifier.toLowerCase().includes(query.query.toLowerCase()),
      )
    }),
  },
  {
    name: 'search-patterns',
    what: 'search reads .* as a pattern',
    caughtBy: 'search/literal',
    mutate: ({ request }) =>
      request(({ path, query }) => {
        if (path.endsWith(':search')) query.set('query', (query.get('query') ?? '').replace('.*', ''))
      }),
  },
  {
    name: 'connections-without-domains',
    what: 'connections without domains lack the field',
    caughtBy: 'connections/fields',
    mutate: answering('list_connections', ({ connections }) => {
      for (const each of connections) if (each.domains.length === 0) delete each.domains
    }),
  },
  {
    name: 'connections-basic-auth',
    what: 'a connection has the account type BASIC_AUTH',
    caughtBy: 'connections/type',
    mutate: answering('list_connections', ({ connections }) => {
      for (const each of connections) if (each.type === 'BASIC') each.type = 'BASIC_AUTH'
    }),
  },
  {
    name: 'tools-of-everybody',
    what: 'scoped tools include accounts that are not ACTIVE',
    caughtBy: 'discovery/scoped-pending',
    mutate: ({ around }) =>
      around('list_scoped_tools', async (call, handler) => {
        const reply = await handler(call)
        const { tools } = reply.body as { tools: unknown[] }
        return tools.length > 0 ? reply : { status: 200, body: { tools: [{}] } }
      }),
  },
  {
    name: 'tools-without-schema',
    what: 'listed tools lack their input schema',
    caughtBy: 'discovery/tools',
    mutate: answering('list_tools', ({ tools = [] }) => {
      for (const { definition } of tools) delete definition.input_schema
    }),
  },
  {
    name: 'available-of-everybody',
    what: 'one tool that the identifier cannot use is available',
    caughtBy: 'discovery/available',
    mutate: answering('list_available_tools', (body) => {
      if (body.tools.length > 0) body.tools.push({ ...body.tools[0], id: 'tool_of_nobody' })
    }),
  },
  {
    name: 'available-of-pending',
    what: 'accounts that are not ACTIVE make tools available',
    caughtBy: 'discovery/available-pending',
    mutate: answering('list_available_tools', (body) => {
      if (body.tools.length === 0) body.tools.push({})
    }),
  },
  {
    name: 'available-without-accounts',
    what: 'an identifier without any account has an empty list of available tools',
    caughtBy: 'discovery/available-unknown',
    mutate: answersInsteadOfError('list_available_tools', 'ACCOUNT_NOT_FOUND', () => ({
      status: 200,
      body: { tools: [], next_page_token: '', prev_page_token: '', total_size: 0 },
    })),
  },
  {
    name: 'tools-without-effects',
    what: 'listed tools lack their annotations',
    caughtBy: 'discovery/tool-effects',
    mutate: answering('list_tools', ({ tools = [] }) => {
      for (const { definition } of tools) delete definition.annotations
    }),
  },
  {
    name: 'available-with-accounts',
    what: 'available tools have the shape of scoped ones',
    caughtBy: 'discovery/available',
    mutate: answering('list_available_tools', (body, { query }) => {
      body.tools = body.tools.map((tool: unknown) => ({ tool, identifier: query.identifier, connected_account_id: '' }))
    }),
  },
  ...(
    [
      ['list_scoped_tools', 'scoped'],
      ['list_available_tools', 'available'],
      ['list_app_connections', 'app-connections'],
    ] as const
  ).map(([operation, name]): Mutant => ({
    name: `${name}-one-page`,
    what: `the first page of ${operation} is said to be the last`,
    caughtBy: `discovery/${name}-pages`,
    mutate: answering(operation, (body) => (body.next_page_token = '')),
  })),
  {
    name: 'app-connections-of-sign-on',
    what: 'the connections of single sign-on are among those of accounts',
    caughtBy: 'discovery/app-connections',
    mutate: answering('list_app_connections', ({ connections }) => {
      connections.push({ ...connections[0], type: 'SAML' })
    }),
  },
  {
    name: 'providers-of-any-type',
    what: 'the filter filter.provider_type is ignored',
    caughtBy: 'discovery/providers-standard',
    mutate: ({ request }) => request(({ query }) => query.delete('filter.provider_type')),
  },
  ...[
    ['tools', 'tools'],
    ['tools/scoped', 'scoped'],
    ['tools/available', 'available'],
    ['providers', 'providers'],
    ['connections/app', 'app-connections'],
  ].map(([path, name]): Mutant => ({
    name: `${name}-hundred`,
    what: `a page of /${path} has at most 100 entries`,
    caughtBy: `discovery/${name}-page-size`,
    mutate: ({ request }) =>
      request((sent) => {
        const isLarge = sent.path === `/api/v1/${path}` && Number(sent.query.get('page_size')) > 100
        if (isLarge) sent.query.set('page_size', '1001')
      }),
  })),
  ...[
    ['connections', 'organization_id', 'connections/of-organization'],
    ['connections', 'domain', 'connections/of-domain'],
    ['connections/app', 'provider', 'discovery/app-connections-of-provider'],
  ].map(([path, parameter = '', caughtBy = '']): Mutant => ({
    name: `${path}-of-any-${parameter}`.replace('/', '-'),
    what: `the filter ${parameter} of /${path} is ignored`,
    caughtBy,
    mutate: ({ request }) =>
      request((sent) => {
        if (sent.path === `/api/v1/${path}`) sent.query.delete(parameter)
      }),
  })),
  {
    name: 'providers-all-custom',
    what: 'the providers of the service are custom ones',
    caughtBy: 'discovery/providers',
    mutate: answering('list_providers', ({ providers }) => {
      for (const each of providers) each.is_custom = true
    }),
  },
  {
    name: 'accounts-of-other-provider',
    what: 'the provider of an account is in upper case, and that of its tools is not',
    caughtBy: 'discovery/provider-of-accounts',
    mutate: ({ reply }) =>
      reply(({ body }) => {
        const account = body?.connected_account
        if (account) account.provider = account.provider.toUpperCase()
      }),
  },
  {
    name: 'providers-one-page',
    what: 'the first page of providers is said to be the last',
    caughtBy: 'discovery/providers-pages',
    mutate: answering('list_providers', (body) => (body.next_page_token = '')),
  },
]
