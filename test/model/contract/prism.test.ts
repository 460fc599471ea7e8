import { describe, expect, it } from 'vitest'
import { ROUTES, routeOf } from '../../../src/model/contract/route.ts'
import { readDocument } from '../../../src/model/contract/generated/document.js'
import type { ObservedExchange } from '../../../src/journal/verdict/prism-check.ts'
import { createPrismValidator } from '../../../src/model/contract/prism-validator.ts'
import type { Operation } from '../../../src/model/contract/shapes.ts'
import { judgeExchange } from '../../support/judge.ts'
import { exchangeOf, type Sent } from './exchange.ts'

const prism = await createPrismValidator()
const document = readDocument() as unknown as Document

/** For each operation that takes parameters or a body, a request that breaks its schema; in a nested field where there is one. */
const BAD_REQUESTS: Record<
  Exclude<
    Operation,
    'delete_custom_provider' | 'get_mcp_config' | 'delete_mcp_config' | 'get_mcp_instance' | 'delete_mcp_instance'
  >,
  Sent
> = {
  create_token: { body: { grant_type: 'password' } },
  list_connected_accounts: { query: 'page_size=101' },
  update_connected_account: {
    body: { id: 'ca_1', connected_account: { authorization_details: { oauth_token: { scopes: 'a' } } } },
  },
  create_connected_account: {
    body: {
      connector: 'mail',
      identifier: 'a',
      connected_account: { authorization_details: { static_auth: { details: 1 } } },
    },
  },
  get_connected_account_auth: { query: 'id=a&id=b' },
  get_connected_account_details: { query: 'connector=a&connector=b' },
  create_magic_link: { body: { id: 5 } },
  verify_user: { body: { identifier: 'a' } },
  delete_connected_account: { body: { identifier: [] } },
  search_connected_accounts: { query: 'query=ab' },
  list_connections: { query: 'domain=a&domain=b' },
  create_custom_provider: { body: { display_name: 'a', metadata: { ok: '' } } },
  update_custom_provider: { body: { proxy_url: 'http://a.example' } },
  execute_tool: { body: { tool_name: 'a', connected_account_id: 'ca_1', tool_input: [] } },
  list_tools: { query: 'filter.summary=maybe' },
  list_scoped_tools: { query: '' },
  list_available_tools: { query: '' },
  list_providers: { query: 'page_size=-1' },
  list_app_connections: { query: 'page_size=1001' },
  list_mcp_configs: { query: 'page_size=31' },
  create_mcp_config: { body: { name: 'a', connection_tool_mappings: [{ tools: [] }] } },
  update_mcp_config: { body: { connection_tool_mappings: [{ connection_name: 'mail', tools: [1] }] } },
  list_mcp_connected_accounts: { body: { identifier: '' } },
  create_mcp_config_token: { body: { identifier: 'a', access_level: 'read_only' } },
  create_mcp_connection_token: { body: { identifier: 'a', expiry: '1h' } },
  list_mcp_instances: { query: 'page_size=31' },
  ensure_mcp_instance: { body: { config_name: 'a', user_identifier: ' ' } },
  get_mcp_instance_auth_state: { query: 'include_auth_links=maybe' },
  update_mcp_instance: { body: { name: 5 } },
}

const everyAnswer = ROUTES.flatMap((route) =>
  route.statuses.map((status) => ({
    operation: route.operation,
    status,
    examples: answerExamples(route.operation, status),
  })),
)
const answersWithBody = everyAnswer.filter(({ examples }) => examples.length > 0)

describe('requests, judged by Prism and by the contract', () => {
  it.each(Object.entries(BAD_REQUESTS) as [Operation, Sent][])('%s: both refuse a bad one', (operation, sent) => {
    const exchange = exchangeOf(operation, sent)
    expect(exchange.requestViolations).not.toEqual([])
    expect(prismOnRequest(operation, exchange)).not.toEqual([])
  })

  it.each(ROUTES.filter(({ bodyMediaType }) => bodyMediaType))(
    '$operation: both accept the examples',
    ({ operation }) => {
      const examples = requestExamples(operation)
      expect(examples).not.toEqual([])
      for (const body of examples) {
        const exchange = exchangeOf(operation, { body })
        expect(exchange.requestViolations).toEqual([])
        expect(prismOnRequest(operation, exchange)).toEqual([])
      }
    },
  )

  it.each(
    ROUTES.flatMap(({ operation, query }) =>
      query.filter(({ repeatable }) => !repeatable).map((parameter) => ({ operation, ...parameter })),
    ),
  )('$operation: both refuse a bad $name', ({ operation, name, type }) => {
    const exchange = exchangeOf(operation, { query: type === 'string' ? `${name}=a&${name}=b` : `${name}=abc` })
    expect(exchange.requestViolations?.map(({ field }) => field)).toContain(name)
    expect(prismOnRequest(operation, exchange)).not.toEqual([])
  })

  it('list_connected_accounts: both refuse more than twenty connection_names and accept twenty', () => {
    const names = Array.from({ length: 21 }, (_, index) => `connection_names=${index}`)
    const [many, most] = [names, names.slice(1)].map((list) =>
      exchangeOf('list_connected_accounts', { query: list.join('&') }),
    )
    expect(many!.requestViolations?.map(({ field }) => field)).toEqual(['connection_names'])
    expect(prismOnRequest('list_connected_accounts', many!)).not.toEqual([])
    expect(most!.requestViolations).toEqual([])
    expect(prismOnRequest('list_connected_accounts', most!)).toEqual([])
  })
})

describe('answers, judged by Prism and by the contract', () => {
  it('have an example for every status that has a body', () => {
    const without = everyAnswer.filter(({ examples }) => examples.length === 0)
    expect(without.map(({ operation, status }) => `${operation} ${status}`)).toEqual(['delete_connected_account 200'])
  })

  it.each(answersWithBody)('$operation $status: both accept the examples', ({ operation, status, examples }) => {
    for (const body of examples) {
      const exchange = exchangeOf(operation, {}, { status, body })
      expect(exchange.responseViolations).toEqual([])
      expect(bodyProblems(operation, exchange)).toEqual([])
    }
  })

  it.each(answersWithBody)(
    '$operation $status: both refuse a field that is not declared',
    ({ operation, status, examples }) => {
      const exchange = exchangeOf(operation, {}, { status, body: { ...examples[0], not_declared: 1 } })
      expect(exchange.responseViolations).not.toEqual([])
      expect(bodyProblems(operation, exchange)).not.toEqual([])
    },
  )

  it.each(ROUTES)('$operation: both refuse a status that is not declared', ({ operation }) => {
    const exchange = exchangeOf(operation, {}, { status: 418, body: {} })
    expect(exchange.responseViolations).not.toEqual([])
    expect(prism.response(operation, 418, exchange.response.headers, {})).not.toEqual([])
  })
})

const good = exchangeOf('verify_user', { body: { auth_request_id: 'abc', identifier: 'a' } })

it('judgeExchange does not throw while both agree', () => {
  expect(() => judgeExchange(good)).not.toThrow()
  expect(() => judgeExchange(exchangeOf('verify_user', { body: {} }))).not.toThrow()
})

it('judgeExchange throws when only the contract finds a violation', () => {
  const exchange = { ...good, requestViolations: [{ field: 'x', description: 'found it', constraint: 'type' }] }
  expect(() => judgeExchange(exchange)).toThrow(/disagree on the request of verify_user[^]*Prism: nothing wrong/)
})

it('judgeExchange throws when only Prism finds a violation', () => {
  const exchange = { ...exchangeOf('verify_user', { body: {} }, { status: 200, body: {} }), responseViolations: [] }
  expect(() => judgeExchange({ ...exchange, requestViolations: undefined })).toThrow(/disagree on the answer/)
})

it.each([
  ['create_token', { body: { grant_type: 'client_credentials', client_id: ['a', 'b'] } }],
  ['list_connected_accounts', { query: 'page_size=1.0' }],
  ['list_connected_accounts', { query: 'page_size=' }],
  ['list_connected_accounts', { query: 'PAGE_SIZE=abc&nonsense=1' }],
  ['list_connected_accounts', { body: { unexpected: true } }],
  [
    'create_connected_account',
    { body: { connector: 'mail', identifier: 'a', connected_account: { id: 5, status: [] } } },
  ],
] as [Operation, Sent][])('judgeExchange accepts the listed difference: %s %j', (operation, sent) => {
  expect(() => judgeExchange(exchangeOf(operation, sent))).not.toThrow()
})

function prismOnRequest(operation: Operation, { request }: ObservedExchange): unknown[] {
  const form = routeOf(operation).bodyMediaType?.includes('form')
  return prism.request(operation, {
    ...request,
    query: new URLSearchParams(request.query),
    body: request.body === '' ? undefined : form ? request.body : JSON.parse(request.body),
  })
}

/** The problems that Prism finds, except those of headers, which the examples do not have. */
function bodyProblems(operation: Operation, { response }: ObservedExchange): unknown[] {
  const all = prism.response(operation, response.status, response.headers, response.body)
  return all.filter(({ field }) => !field.startsWith('header'))
}

interface Media {
  content?: Record<string, { example?: unknown; examples?: Record<string, { $ref?: string; value?: unknown }> }>
}
interface Document {
  paths: Record<string, Record<string, { requestBody?: Media; responses: Record<string, Media & { $ref?: string }> }>>
}

function requestExamples(operation: Operation): unknown[] {
  return examplesIn(described(operation).requestBody)
}

function answerExamples(operation: Operation, status: number): object[] {
  return examplesIn(resolve(described(operation).responses[status])) as object[]
}

function described(operation: Operation): Document['paths'][string][string] {
  const { path, method } = routeOf(operation)
  return document.paths[path]![method.toLowerCase()]!
}

function examplesIn(media: Media | undefined): unknown[] {
  return Object.values(media?.content ?? {}).flatMap(({ example, examples = {} }) => [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples).map((one) => resolve(one).value),
  ])
}

function resolve<T>(value: (T & { $ref?: string }) | undefined): T {
  if (value?.$ref === undefined) return value as T
  const parts = value.$ref.split('/').slice(1)
  return parts.reduce<unknown>((target, part) => (target as Record<string, unknown>)[part], document) as T
}
