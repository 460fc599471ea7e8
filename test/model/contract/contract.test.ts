import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CheckedRequest, checkRequest, checkResponse } from '../../../src/model/contract/contract.ts'
import { isDeclared, isOperation, ROUTES, routeOf } from '../../../src/model/contract/route.ts'
import { BODY_FIELDS, type FieldNode } from '../../../src/model/contract/generated/field-tables.ts'
import type { Operation } from '../../../src/model/contract/shapes.ts'
import { judgeExchange } from '../../support/judge.ts'
import { exchangeOf } from './exchange.ts'

function check<Id extends Operation>(operation: Id, query: string, body?: unknown, options = {}) {
  return checkRequest(routeOf(operation), { query, path: { identifier: 'a' }, body }, options) as CheckedRequest<Id>
}

it('the routes: mark Discovery, and need a bearer token at every operation but the token endpoint', () => {
  expect(ROUTES.filter(({ discovery }) => discovery).map(({ operation }) => operation)).toEqual([
    'list_tools',
    'list_scoped_tools',
    'list_available_tools',
    'list_providers',
    'list_app_connections',
  ])
  expect(ROUTES.filter(({ bearer }) => !bearer).map(({ operation }) => operation)).toEqual(['create_token'])
})

it.each([
  ['execute_tool', true],
  ['executeTool', false],
  ['__proto__', false],
  ['constructor', false],
])('the routes: know whether %s is an operation', (name, is) => {
  expect(isOperation(name)).toBe(is)
})

it('the routes: know their statuses, their body and their parameters', () => {
  expect(routeOf('verify_user')).toMatchObject({
    method: 'POST',
    bodyMediaType: 'application/json',
    bodyRequired: true,
  })
  expect(isDeclared('verify_user', 403)).toBe(true)
  expect(isDeclared('verify_user', 409)).toBe(false)
  expect(routeOf('list_connected_accounts').query).toContainEqual({
    name: 'connection_names',
    type: 'string',
    repeatable: true,
    required: false,
  })
})

describe('checkRequest on a query', () => {
  it('reads numbers, booleans and lists by the types of the contract', () => {
    expect(
      check('list_connected_accounts', 'page_size=10&connection_names=a&connection_names=b&query=7'),
    ).toMatchObject({
      violations: [],
      warnings: [],
      query: { page_size: 10, connection_names: ['a', 'b'], query: '7' },
    })
    expect(check('list_tools', 'filter.summary=true&filter.tool_name=a').query).toEqual({
      'filter.summary': true,
      'filter.tool_name': ['a'],
    })
  })

  it.each([
    ['page_size=abc', 'page_size', 'type', 'must be an integer; found "abc"'],
    ['page_size=', 'page_size', 'type', 'must be an integer; found an empty string'],
    ['page_size=1.5', 'page_size', 'type', 'must be an integer; found "1.5"'],
    ['page_size=1e1', 'page_size', 'type', 'must be an integer; found "1e1"'],
    ['page_size=99999999999999999', 'page_size', 'type', 'must be an integer; found "99999999999999999"'],
    ['page_size=101', 'page_size', 'maximum', 'must be at most 100; found 101'],
    ['page_size=-1', 'page_size', 'minimum', 'must be at least 0; found -1'],
    ['connector=a&connector=b', 'connector', 'repeated', 'must be sent once; found it 2 times'],
  ])('reports one violation that names the parameter: %s', (query, field, constraint, description) => {
    expect(check('list_connected_accounts', query).violations).toEqual([{ field, constraint, description }])
  })

  it('names the values of a boolean', () => {
    expect(check('list_tools', 'filter.summary=1').violations).toEqual([
      { field: 'filter.summary', constraint: 'type', description: 'must be true or false; found "1"' },
    ])
  })

  it('reports a missing required parameter', () => {
    expect(check('search_connected_accounts', '').violations).toMatchObject([
      { field: 'query', constraint: 'required' },
    ])
  })

  it('warns of an unknown parameter, and refuses it in strict mode', () => {
    expect(check('list_connections', 'colour=red')).toMatchObject({
      violations: [],
      warnings: [{ field: 'colour', kind: 'unknown' }],
    })
    expect(check('list_connections', 'colour=red', undefined, { strict: true })).toMatchObject({
      violations: [{ field: 'colour', constraint: 'unknown' }],
    })
  })

  it.each([
    ['pageSize', 'page_size'],
    ['page-size', 'page_size'],
    ['PAGE_SIZE', 'page_size'],
    ['page_sizes', 'page_size'],
    ['paeg_size', 'page_size'],
    ['pagge_sizes', 'page_size'],
    ['pagge_sizess', undefined],
    ['page', undefined],
    ['colour', undefined],
  ])('names the parameter that %s may mean', (name, meant) => {
    const { warnings } = check('list_connected_accounts', `${name}=1`)
    const description = 'is no query parameter of list_connected_accounts'
    expect(warnings).toEqual([
      meant === undefined
        ? { field: name, description, kind: 'unknown' }
        : { field: name, description, kind: 'near_miss', did_you_mean: meant },
    ])
  })

  it.each([
    ['ids', 'id'],
    ['i_d', 'id'],
    ['idss', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
  ])('names the field that %s may mean', (name, meant) => {
    const { warnings } = check('delete_connected_account', '', JSON.parse(`{"${name}":"x"}`))
    expect(warnings).toMatchObject([{ kind: meant === undefined ? 'unknown' : 'near_miss' }])
    expect(warnings[0]?.did_you_mean).toBe(meant)
  })

  it('names in strict mode what a near miss may mean', () => {
    expect(check('list_connected_accounts', 'pageSize=1', undefined, { strict: true })).toMatchObject({
      violations: [
        {
          description:
            'is no query parameter of list_connected_accounts, which --strict refuses (did you mean page_size?)',
          constraint: 'unknown',
        },
      ],
    })
  })

  it('treats names of the prototype as unknown', () => {
    const { query, warnings } = check('list_connections', '__proto__=1&constructor=2&toString=3')
    expect(warnings.map(({ field }) => field)).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.keys(query)).toEqual([])
  })
})

describe('checkRequest on a body', () => {
  it.each([
    [{ identifier: 'a', connector: 5 }, 'connector', 'type', 'must be a string; found 5'],
    [{ identifier: 'a', connector: null }, 'connector', 'required', 'is required'],
    [{ identifier: 'a', connector: ['x'] }, 'connector', 'type', 'must be a string; found an array of 1 item'],
    [{ identifier: 'a' }, 'connector', 'required', 'is required'],
    [[], 'body', 'type', 'must be an object; found an empty array'],
    ['text', 'body', 'type', 'must be an object; found "text"'],
  ])('names the field, the rule and the value: %j', (body, field, constraint, description) => {
    expect(check('create_connected_account', '', body).violations).toContainEqual({ field, constraint, description })
  })

  it('names a field by its path', () => {
    const authorization_details = { oauth_token: { scopes: [1] } }
    const { violations } = check('update_connected_account', '', {
      id: 'a',
      connected_account: { authorization_details },
    })
    expect(violations.map(({ field }) => field)).toEqual([
      'connected_account.authorization_details.oauth_token.scopes[0]',
    ])
  })

  it('puts keys that are not identifiers into brackets', () => {
    const metadata = { 'my key': 5, 'a/b~c': 5 }
    const { violations } = check('create_custom_provider', '', { display_name: 'a', metadata })
    expect(violations.map(({ field }) => field)).toEqual(['metadata["my key"]', 'metadata["a/b~c"]'])
  })

  it('checks keys as well as values', () => {
    expect(check('create_custom_provider', '', { display_name: 'a', metadata: { ab: 'x' } }).violations).toEqual([
      {
        field: 'metadata.ab',
        constraint: 'minLength',
        description: 'must have at least 3 characters; found the key "ab" (2 characters)',
      },
    ])
  })

  it('shortens the values it repeats, lone surrogates included', () => {
    const { violations } = check('create_token', '', { grant_type: `\ud800${'x'.repeat(500)}` })
    expect(violations[0]?.description.length).toBeLessThan(150)
    expect(violations[0]?.description.isWellFormed()).toBe(true)
  })

  it.each([
    [
      'create_custom_provider',
      { display_name: 'x', proxy_url: 'http://a' },
      'must be empty, or a URL that begins with https://',
    ],
    [
      'create_custom_provider',
      { display_name: 'x', icon_src: 'a b' },
      'must be empty, or a URL that begins with http://, https://',
    ],
    [
      'verify_user',
      { auth_request_id: 'a b', identifier: 'x' },
      'must have no other characters than letters, digits, - and _',
    ],
    [
      'create_connected_account',
      { connector: 'a!' },
      'must have no other characters than letters, digits, spaces, _, : and -',
    ],
  ] as const)('says the pattern of %s in words: %o', (operation, body, words) => {
    const descriptions = check(operation, '', body).violations.map(({ description }) => description)
    expect(descriptions.join()).toContain(words)
    expect(descriptions.join()).not.toContain('must match')
  })

  it.each(['access_token', 'refresh_token'])('never repeats the content of %s', (name) => {
    const authorization_details = { oauth_token: { [name]: 424242 } }
    const { violations } = check('update_connected_account', '', {
      id: 'a',
      connected_account: { authorization_details },
    })
    expect(violations).toMatchObject([{ description: 'must be a string; found a number' }])
    expect(
      JSON.stringify(
        check('update_connected_account', '', {
          connected_account: { authorization_details: { static_auth: { details: 'hunter2' } } },
        }),
      ),
    ).toMatch(/must be an object; found a string/)
  })

  it('requires the body of an operation, and ignores one that the operation does not take', () => {
    expect(check('execute_tool', '').violations).toMatchObject([{ field: 'body', constraint: 'required' }])
    expect(check('list_connections', '', { a: 1 })).toMatchObject({
      violations: [],
      warnings: [{ field: 'body', kind: 'ignored' }],
      body: undefined,
    })
  })

  it('warns of unknown fields at every level, and refuses them in strict mode', () => {
    const body = JSON.parse(
      '{"connector":"a","identifier":"b","colour":1,"__proto__":{"x":1},"connected_account":{"shade":{}}}',
    )
    const fields = ['colour', '__proto__', 'connected_account.shade']
    const lenient = check('create_connected_account', '', body)
    expect(lenient.violations).toEqual([])
    expect(lenient.warnings.map(({ field }) => field)).toEqual(fields)
    const strict = check('create_connected_account', '', body, { strict: true })
    expect(strict.violations.map(({ field, constraint }) => [field, constraint])).toEqual(
      fields.map((field) => [field, 'unknown']),
    )
  })

  it('treats null for a known field as absent, at every level, but not inside a free-form object (G58)', () => {
    const body = {
      connector: 'a',
      identifier: 'b',
      user_id: null,
      connected_account: { api_config: { a: null }, authorization_details: { oauth_token: null, static_auth: null } },
    }
    expect(check('create_connected_account', '', body)).toMatchObject({
      violations: [],
      body: {
        connector: 'a',
        identifier: 'b',
        connected_account: { api_config: { a: null }, authorization_details: {} },
      },
    })
    expect(check('create_connected_account', '', body).body).not.toHaveProperty('user_id')
    expect(check('create_connected_account', '', { connector: null, identifier: 'b' }).violations).toMatchObject([
      { field: 'connector', constraint: 'required' },
    ])
    expect(check('execute_tool', '', { tool_name: 'a', tool_input: { x: null } }).body).toEqual({
      tool_name: 'a',
      tool_input: { x: null },
    })
  })

  it.each([
    ['a percent sign alone', 'identifier=100%', 'identifier'],
    ['digits that are none', 'identifier=%zz', 'identifier'],
    ['octets that are not UTF-8', 'identifier=%ff', 'identifier'],
    ['an octet of UTF-8 that stands alone', 'identifier=%c3&user_id=%a9', 'identifier'],
    ['the name of a parameter', 'identifier%=a', 'identifier%'],
    ['an unknown parameter', 'colour=%', 'colour'],
    ['a parameter without a name', '=%', '""'],
  ])('refuses a query that is not well percent-encoded: %s (G59)', (_name, query, field) => {
    const [violation] = check('list_connected_accounts', query).violations
    expect(violation).toMatchObject({ field, constraint: 'encoding' })
    expect(check('list_connected_accounts', query.replaceAll('%', '%25')).violations).toEqual([])
  })

  it('does not read the query of an operation that takes none', () => {
    expect(check('delete_custom_provider', 'colour=%').violations).toEqual([])
  })

  it('accepts anything in a free-form object', () => {
    const connected_account = {
      api_config: { deep: { anything: [1] } },
      authorization_details: { static_auth: { details: { pin: 1 } } },
    }
    const checked = check(
      'create_connected_account',
      '',
      { connector: 'a', identifier: 'b', connected_account },
      { strict: true },
    )
    expect(checked).toMatchObject({ violations: [], warnings: [] })
  })

  it('accepts output-only fields of any type with a warning, even in strict mode, and removes them from the body', () => {
    const authorization_details = { workspace_dwd: { subject: 'a@b.example', access_token: 5 } }
    const body = { connector: 'a', identifier: 'b', connected_account: { status: [], authorization_details } }
    const checked = check('create_connected_account', '', body, { strict: true })
    expect(checked.violations).toEqual([])
    expect(checked.warnings.map(({ field, kind }) => [field, kind])).toEqual([
      ['connected_account.status', 'output_only'],
      ['connected_account.authorization_details.workspace_dwd.access_token', 'output_only'],
    ])
    expect(checked.body.connected_account).toEqual({
      authorization_details: { workspace_dwd: { subject: 'a@b.example' } },
    })
    expect(body.connected_account.status).toEqual([])
  })

  it('removes output-only fields even when unknown fields fill the list of warnings', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`unknown_${index}`, 1]))
    const checked = check('create_connected_account', '', { ...unknown, connected_account: { status: 'ACTIVE' } })
    expect(checked.warnings).toHaveLength(20)
    expect(checked.body.connected_account).toEqual({})
  })

  it.each([
    [
      'half a million wrong items',
      'create_connected_account',
      { connected_account: { authorization_details: { oauth_token: { scopes: Array(500_000).fill(1) } } } },
    ],
    [
      'a hundred thousand wrong keys',
      'create_custom_provider',
      { metadata: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1])) },
    ],
    ['half a million wrong objects', 'create_custom_provider', { auth_patterns: Array(500_000).fill(1) }],
  ] as [string, Operation, unknown][])(
    'reports twenty violations of %s without describing all of them',
    (_, operation, body) => {
      const before = process.memoryUsage().heapUsed
      expect(check(operation, '', body).violations).toHaveLength(20)
      // An error object for each would take a hundred megabytes.
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000)
    },
  )
})

it('checkResponse accepts what is declared', () => {
  expect(
    checkResponse('verify_user', 200, { post_user_verify_redirect_url: 'http://127.0.0.1/connect/success' }),
  ).toEqual([])
  expect(checkResponse('delete_connected_account', 200, undefined)).toEqual([])
})

it.each([
  [418, {}, 'status', 'declared'],
  [200, {}, 'post_user_verify_redirect_url', 'required'],
  [200, undefined, 'body', 'type'],
])('checkResponse refuses %j %j', (status, body, field, constraint) => {
  expect(checkResponse('verify_user', status, body)).toMatchObject([{ field, constraint }])
})

it.each(['yesterday', '2030-13-01T00:00:00.000Z0', '2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000+00:00', 5])(
  'checkResponse refuses %j as a timestamp (G54)',
  (expiry) => {
    const link = 'http://127.0.0.1:8665/magic/abc'
    expect(checkResponse('create_magic_link', 200, { link, expiry: '2030-01-01T00:00:00.000Z' })).toEqual([])
    expect(checkResponse('create_magic_link', 200, { link, expiry })).toContainEqual(
      expect.objectContaining({ field: 'expiry' }),
    )
  },
)

it('checkResponse refuses a body where none is declared', () => {
  expect(checkResponse('delete_connected_account', 200, {})).toMatchObject([{ field: 'body', constraint: 'content' }])
})

const operation = fc.constantFrom(...ROUTES.map((route) => route.operation))
const query = fc.oneof(fc.string(), fc.webQueryParameters())

it('for any input: checkRequest reports twenty of thirty violations', () => {
  const { violations } = check('create_custom_provider', '', { display_name: 'x', auth_patterns: Array(30).fill(1) })
  expect(violations).toHaveLength(20)
})

it('for any input: checkRequest never throws and reports at most twenty violations, each with a description', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.object({ key: fc.constantFrom('__proto__', 'constructor', 'connected_account', 'metadata', 'a') }),
  )
  fc.assert(
    fc.property(operation, query, fc.option(anything, { nil: undefined }), fc.boolean(), (id, text, body, strict) => {
      const { violations } = check(id, text, body, { strict })
      expect(violations.length).toBeLessThanOrEqual(20)
      for (const { field, description, constraint } of violations) {
        expect([field, description, constraint]).not.toContain('')
        expect(description).toMatch(/^(must|is) .+/s)
      }
    }),
    { numRuns: 500 },
  )
})

it('for any input: the contract and Prism agree', () => {
  const sent = operation.chain((id) =>
    fc.record({ id: fc.constant(id), query: queryLike(id), body: bodyLike(BODY_FIELDS[id]) }),
  )
  fc.assert(
    fc.property(sent, ({ id, query: text, body }) => {
      judgeExchange(exchangeOf(id, { query: text, body: id === 'create_token' ? formLike(body) : body }))
    }),
    { numRuns: 500 },
  )
})

const scalar = fc.oneof(
  fc.constantFrom(
    '',
    'mail',
    'client_credentials',
    'https://a.example/x',
    'http://a.example',
    'a@b.example',
    'ca_1',
    'é',
    0,
    1,
    -1,
    1.5,
    true,
    null,
  ),
  fc.string(),
)

function queryLike(operation: Operation): fc.Arbitrary<string> {
  const names = routeOf(operation).query.map(({ name }) => name)
  if (names.length === 0) return fc.constant('')
  const pair = fc.tuple(fc.constantFrom(...names), scalar.map(String))
  return fc.array(pair, { maxLength: 6 }).map((pairs) => new URLSearchParams(pairs).toString())
}

/** Bodies of almost the right shape, with some wrong values. */
function bodyLike(node: FieldNode | undefined): fc.Arbitrary<object | undefined> {
  return node ? valueLike(node).filter((value) => typeof value === 'object' && value !== null) : fc.constant(undefined)
}

function valueLike(node: FieldNode): fc.Arbitrary<unknown> {
  return fc.oneof<fc.WeightedArbitrary<unknown>[]>(
    { weight: 12, arbitrary: rightValue(node) },
    { weight: 1, arbitrary: scalar },
  )
}

function rightValue({ fields, items }: FieldNode): fc.Arbitrary<unknown> {
  if (items) return fc.array(valueLike(items), { maxLength: 3 })
  if (!fields) return fc.oneof(scalar, fc.object({ maxDepth: 1 }))
  const values = Object.entries(fields).map(([name, field]) => [name, valueLike(field)])
  return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] })
}

/** A form has only texts. */
function formLike(body: object | undefined): object {
  const fields = Object.entries(body ?? {}).map(([name, value]) => [name, typeof value === 'string' ? value : 'a'])
  return Object.fromEntries(fields)
}
