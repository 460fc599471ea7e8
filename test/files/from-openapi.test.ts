import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DOCUMENT_CHECKS } from '../../src/app/document-checks.ts'
import { openapiConnector } from '../../src/app/openapi-connector.ts'
import { createResponseGenerator, createPrismValidator } from '../../src/model/contract/prism-validator.ts'
import type { Operation } from '../../src/model/contract/shapes.ts'
import { parseOpenapiText } from '../../src/files/openapi/parse-document.ts'
import { validateFiles } from '../../src/files/validate.ts'
import type { Connector } from '../../src/model/domain/connector.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'
import { emptyBundle } from '../../src/model/domain/seed.ts'
import type { ThirdParty, ToolResponse } from '../../src/model/domain/ports.ts'
import { applySeed } from '../support/apply-seed.ts'
import { startThirdParties, type ThirdParties } from '../../src/service/third-party/client.ts'
import { testEnvironment } from '../support/environment.ts'
import { seedAccount } from '../support/rows.ts'
import { connectorOf, withFiles } from './files.ts'
import { cpuTime } from '../support/cpu-time.ts'

const LIBRARY = readFileSync(new URL('../fixtures/openapi/library.yaml', import.meta.url), 'utf8')

function made(document: string | JsonObject, only?: string, file = 'crm.yaml') {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  return openapiConnector(text, { file, only })
}

/** A document of these paths. */
function openapi(paths: JsonObject, rest: JsonObject = {}): JsonObject {
  return { openapi: '3.1.0', info: { title: 'Small', version: '1' }, paths, ...rest }
}

const KIND: JsonObject = { propertyName: 'kind', mapping: { cat: 'Cat', doggy: '#/components/schemas/Dog' } }

const OK: JsonObject = { responses: { 200: { description: 'OK' } } }

/** Calls tools of a connector at its third party over HTTP. */
async function withCalls(connector: Connector, work: (call: Call) => Promise<void>): Promise<void> {
  const environment = testEnvironment()
  const parties: ThirdParties = await startThirdParties({ registry: { environment: () => environment } })
  try {
    const thirdParty: ThirdParty = parties.client(environment)
    const account = seedAccount(connector.connector)
    await applySeed(environment, thirdParty, { ...emptyBundle(), connectors: [connector], accounts: [account] })
    const [row] = environment.model.accountIndex.where({
      connector: connector.connector,
      identifier: 'ada@example.com',
    })
    await work((name, input) => {
      const tool = connector.tools.find((each) => each.name === name)
      if (!tool) throw new Error(`no tool ${name} in ${connector.tools.map((each) => each.name).join(', ')}`)
      return thirdParty.call(connector, tool, row!, input)
    })
  } finally {
    await parties.close()
  }
}
type Call = (name: string, input: JsonObject) => Promise<ToolResponse>

/** The schema of the required fields only: a generated value of an optional page token would be refused. */
function onlyRequired(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  const needed = Object.entries(properties as JsonObject).filter(
    ([name]) => Array.isArray(required) && required.includes(name),
  )
  return { ...schema, properties: Object.fromEntries(needed) }
}

function dataOf(answer: ToolResponse): JsonObject {
  if (answer.kind !== 'result') throw new Error(JSON.stringify(answer))
  return answer.data
}

it('is a valid file without warnings', async () => {
  const { text } = await made(LIBRARY, undefined, 'library.yaml')
  await withFiles({ 'library.yaml': text }, async (folder) => {
    const { problems, warnings } = await validateFiles([folder], DOCUMENT_CHECKS)
    expect([...problems, ...warnings].map(({ message }) => message)).toEqual([])
  })
})

it('has a tool for each operation, the authorization type, and the collections of its paths', async () => {
  const { connector, summary, leftOut } = await made(LIBRARY, undefined, 'library.yaml')
  expect(summary).toBe('library: 11 tools, 2 collections (books, loans), OAUTH')
  expect(connector).toMatchObject({ authorization_type: 'OAUTH', oauth: { scopes: ['books.read', 'books.write'] } })
  const [list] = connector['tools'] as JsonObject[]
  expect(list).toMatchObject({
    name: 'library_list_books',
    description: 'Lists books.',
    call: { method: 'GET', path: '/v1/books', query: { genre: '{{input.genre}}' } },
  })
  expect(leftOut).toEqual([
    'simplified: schemas that contain themselves, lie too deep or are too many: GET /books, POST /books, POST /books, GET /books/{bookId}, PATCH /books/{bookId}'.replace(
      'POST /books, POST /books',
      'POST /books',
    ),
    'left out: the body of an answer of application/pdf; it is empty: GET /reports/export',
    'left out: a tool calls with GET, POST, PUT, PATCH or DELETE: HEAD /reports/export',
  ])
})

it('is deterministic', async () => {
  expect((await made(LIBRARY)).text).toBe((await made(LIBRARY)).text)
})

it('gives tools that can all be called, and answers that Prism finds valid by the document', async () => {
  const { text } = await made(LIBRARY, undefined, 'library.yaml')
  const connector = await connectorOf(text)
  const makeValue = await createResponseGenerator()
  const prism = await createPrismValidator(parseOpenapiText(LIBRARY) as JsonObject)
  const statuses: [string, number][] = [
    ['listBooks', 200],
    ['createBook', 201],
    ['listLoans', 200],
    ['createLoan', 200],
    ['reserveBook', 200],
  ]
  await withCalls(connector, async (call) => {
    for (const tool of connector.tools) {
      const input = makeValue(onlyRequired(tool.input_schema)) as JsonObject
      const answer = await call(tool.name, input)
      // Calls for one item name an unknown one, which the third party answers with 404.
      const isOfItem = /(get|update|delete)_(book|loan)$/.test(tool.name)
      expect(answer, tool.name).toMatchObject(isOfItem ? { kind: 'failed', status: 404 } : { kind: 'result' })
      const operation = statuses.find(
        ([id]) => tool.name === `library_${id.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`,
      )
      if (!operation) continue
      const data = dataOf(answer)
      const body = Array.isArray(data) || !/Loans$/.test(operation[0]) ? data : (Object.values(data)[0] ?? data)
      expect(
        prism.response(operation[0] as Operation, operation[1], { 'content-type': 'application/json' }, body),
        tool.name,
      ).toEqual([])
    }
  })
})

it('stores what is created: it can be read, listed by fields and words, changed and deleted, and is then a 404 of the document', async () => {
  const connector = await connectorOf((await made(LIBRARY, undefined, 'library.yaml')).text)
  await withCalls(connector, async (call) => {
    const created = dataOf(await call('library_create_book', { body: { title: 'Sea poems', genre: 'poetry' } }))
    expect(created).toMatchObject({
      title: 'Sea poems',
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      created_at: expect.stringMatching(/Z$/),
    })
    const bookId = created['id'] as string
    expect(dataOf(await call('library_get_book', { bookId }))).toEqual(created)
    expect(dataOf(await call('library_list_books', { q: 'sea' }))).toMatchObject({
      books: [created],
      total: 1,
      next_page_token: null,
    })
    const page = dataOf(await call('library_list_books', { page_size: 1 }))
    expect(page).toMatchObject({ books: [expect.anything()], total: 3, next_page_token: expect.any(String) })
    expect(dataOf(await call('library_update_book', { bookId, body: { title: 'Songs' } }))).toMatchObject({
      title: 'Songs',
      genre: 'poetry',
    })
    expect(await call('library_delete_book', { bookId })).toMatchObject({ kind: 'result' })
    const gone = await call('library_get_book', { bookId })
    expect(gone).toMatchObject({ kind: 'failed', status: 404 })
    expect(gone).toMatchObject({ message: expect.stringContaining('books has no item with id') })
  })
})

it.each([
  [false, { kind: 'result', data: { id: expect.any(String) as string } }],
  [true, { kind: 'failed', status: 400 }],
])('creates without a body unless the document requires one (%j)', async (required, expected) => {
  const schema = {
    type: 'object',
    properties: { id: { type: 'string' }, title: { type: 'string', default: 'None' } },
  }
  const content = { 'application/json': { schema } }
  const answer = (status: number): JsonObject => ({ responses: { [status]: { description: 'OK', content } } })
  const document = openapi({
    '/notes': { post: { operationId: 'add', requestBody: { required, content }, ...answer(201) } },
    '/notes/{id}': { get: { operationId: 'get', ...answer(200) } },
  })
  const connector = await connectorOf((await made(document)).text)
  await withCalls(connector, async (call) => expect(await call('crm_add', {})).toMatchObject(expected))
})

const jsonOf = (schema: JsonValue, rest: JsonObject = {}): JsonObject => ({ 'application/json': { schema, ...rest } })
const answering = (status: number, content: JsonObject): JsonObject => ({
  responses: { [status]: { description: '', content } },
})

it.each<[string, JsonObject]>([
  ['allOf', { allOf: [{ type: 'object' }] }],
  [
    'oneOf',
    {
      oneOf: [
        { type: 'object', required: ['gone'] },
        { type: 'object', required: ['gone'] },
      ],
    },
  ],
])('applies each schema once, where each level of %s names the next twice, and itself', async (key, last) => {
  const schemas: JsonObject = { S24: last }
  for (let level = 0; level < 24; level++) {
    const [next, self] = [`S${level + 1}`, `S${level}`].map((name) => ({ $ref: `#/components/schemas/${name}` }))
    schemas[`S${level}`] = { [key]: [next!, next!, self!] }
  }
  const schema = { $ref: '#/components/schemas/S0' }
  const document = openapi(
    {
      '/x': {
        post: { requestBody: { content: jsonOf(schema) }, ...answering(200, jsonOf(schema, { example: {} })) },
      },
    },
    { components: { schemas } },
  )
  expect(await cpuTime(() => made(document))).toBeLessThan(5000)
})

it('makes a connector of a document whose schemas lead to one another 20,000 times', async () => {
  const schemas: JsonObject = { S20000: { type: 'object' } }
  for (let at = 0; at < 20_000; at++) schemas[`S${at}`] = { allOf: [{ $ref: `#/components/schemas/S${at + 1}` }] }
  const schema = jsonOf({ $ref: '#/components/schemas/S0' }, { example: { a: 1 } })
  const { connector } = await made(openapi({ '/x': { get: answering(200, schema) } }, { components: { schemas } }))
  expect(connector).toMatchObject({ responders: [{ respond: { body: { a: 1 } } }] })
})

it.each<[string, JsonObject, JsonObject, JsonValue]>([
  [
    'the word of the mapping for the choice that is answered',
    { oneOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }], discriminator: KIND },
    {},
    { kind: 'doggy', size: 3 },
  ],
  ['the word of a schema that inherits it', { $ref: '#/components/schemas/Lion' }, {}, { kind: 'lion', mane: true }],
  ['a word of the mapping for the base', { $ref: '#/components/schemas/Animal' }, {}, { kind: 'lion' }],
  [
    'the name of the schema without a mapping',
    { oneOf: [{ $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: 'kind' } },
    {},
    { kind: 'Dog', size: 3 },
  ],
])('gives a discriminator %s', async (_title, schema, _rest, expected) => {
  const components = {
    schemas: {
      Dog: { type: 'object', properties: { kind: { type: 'string' }, size: { type: 'integer', default: 3 } } },
      Cat: { type: 'object', properties: { kind: { type: 'string' } } },
      Animal: {
        ...{ type: 'object', properties: { kind: { type: 'string' } } },
        discriminator: { propertyName: 'kind', mapping: { lion: '#/components/schemas/Lion' } },
      },
      Lion: {
        allOf: [
          { $ref: '#/components/schemas/Animal' },
          { type: 'object', properties: { mane: { type: 'boolean', default: true } } },
        ],
      },
    },
  }
  const { connector } = await made(openapi({ '/x': { get: answering(200, jsonOf(schema)) } }, { components }))
  expect((connector['responders'] as { respond: { body: JsonValue } }[])[0]?.respond.body).toEqual(expected)
})

it('stores no write-only property, keeps the properties of each part of allOf, and says what it opens', async () => {
  const named = { type: 'object', properties: { name: { type: 'string' } } }
  const user = {
    allOf: [named],
    ...{ type: 'object', required: ['id'], additionalProperties: false },
    properties: { id: { type: 'string' }, pin: { type: 'string', writeOnly: true } },
  }
  const document = openapi({
    '/users': {
      post: {
        operationId: 'add',
        requestBody: { content: jsonOf({ ...named, properties: { ...named.properties, pin: { type: 'string' } } }) },
        ...answering(201, jsonOf(user, { example: { id: 'u1', name: 'Ada', pin: '1234' } })),
      },
    },
    '/users/{id}': { get: { operationId: 'get', ...answering(200, jsonOf(user)) } },
  })
  const { text, leftOut } = await made(document)
  expect(leftOut).toContainEqual(expect.stringMatching(/^without additionalProperties: false, .*GET \/users\/\{id\}/))
  expect(text).not.toContain('1234')
  await withCalls(await connectorOf(text), async (call) => {
    const created = dataOf(await call('crm_add', { body: { name: 'Grace', pin: '9876' } }))
    expect(created).toEqual({ id: expect.stringMatching(/./) as string, name: 'Grace' })
    expect(dataOf(await call('crm_get', { id: created['id'] ?? null }))).toEqual(created)
  })
})

it('stores no write-only property of an object or a list inside', async () => {
  const pin = { type: 'string', writeOnly: true }
  const inner = { type: 'object', properties: { nick: { type: 'string' }, pin } }
  const properties = { profile: inner, devices: { type: 'array', items: inner } }
  const user = { type: 'object', required: ['id'], properties: { id: { type: 'string' }, ...properties } }
  const document = openapi({
    '/users': {
      post: {
        operationId: 'add',
        requestBody: { content: jsonOf({ type: 'object', properties }) },
        ...answering(201, jsonOf(user)),
      },
    },
    '/users/{id}': { get: { operationId: 'get', ...answering(200, jsonOf(user)) } },
  })
  const { text } = await made(document)
  await withCalls(await connectorOf(text), async (call) => {
    const secret = { nick: 'g', pin: '9876' }
    const created = dataOf(await call('crm_add', { body: { profile: secret, devices: [secret, secret] } }))
    expect(created).toMatchObject({ profile: { nick: 'g' }, devices: [{ nick: 'g' }, { nick: 'g' }] })
    expect(JSON.stringify(created)).not.toContain('9876')
    expect(dataOf(await call('crm_get', { id: created['id'] ?? null }))).toEqual(created)
  })
})

it('keeps numbers of examples that a double cannot hold', async () => {
  const id = { type: 'integer', format: 'int64', example: '@' }
  const schema = { type: 'object', required: ['id'], properties: { id } }
  const whole = openapi({
    '/a': { get: { operationId: 'a', ...answering(200, jsonOf(schema)) } },
    '/b': { get: { operationId: 'b', ...answering(200, jsonOf(schema, { example: { id: '@' } })) } },
  })
  const big = '9223372036854775807'
  const { text } = await made(JSON.stringify(whole).replaceAll('"@"', big))
  await withCalls(await connectorOf(text), async (call) => {
    for (const tool of ['crm_a', 'crm_b']) expect(dataOf(await call(tool, {}))).toEqual({ id: BigInt(big) })
  })
})

it('answers texts that match the pattern of their schema', async () => {
  const schema = { type: 'object', properties: { uri: { type: 'string', pattern: '^/images/[a-f0-9]{4}$' } } }
  const { connector } = await made(openapi({ '/x': { get: answering(200, jsonOf(schema)) } }))
  const uri = expect.stringMatching(/^\/images\/[a-f0-9]{4}$/) as string
  expect(connector).toMatchObject({ responders: [{ respond: { body: { uri } } }] })
})

it('leaves request fields that answers declare with another type out of items, and reports them', async () => {
  const item = {
    type: 'object',
    required: ['owner'],
    properties: {
      id: { type: 'integer' },
      title: { type: 'string' },
      owner: { type: 'object', required: ['login'], properties: { login: { type: 'string', default: 'ada' } } },
    },
  }
  const request = { type: 'object', properties: { title: { type: 'string' }, owner: { type: 'string' } } }
  const listed = {
    type: 'object',
    required: ['stars'],
    properties: { id: { type: 'integer' }, stars: { default: 5 } },
  }
  const document = openapi({
    '/notes': {
      get: answering(200, jsonOf({ type: 'array', items: listed }, { example: [{ id: 40, stars: 5 }] })),
      post: { operationId: 'add', requestBody: { content: jsonOf(request) }, ...answering(201, jsonOf(item)) },
    },
    '/notes/{id}': { get: { operationId: 'get', ...answering(200, jsonOf(item)) } },
  })
  const { text, leftOut } = await made(document)
  expect(leftOut).toContainEqual(expect.stringMatching(/^left out of items: .*: owner of POST \/notes$/))
  await withCalls(await connectorOf(text), async (call) => {
    const created = dataOf(await call('crm_add', { body: { title: 'Hello', owner: 'grace' } }))
    // Lists require `stars`, and the key continues that of the example.
    expect(created).toMatchObject({ id: 42, title: 'Hello', owner: { login: 'ada' }, stars: 5 })
  })
})

it('seeds items that vary by what the document lists, and in its ranges', async () => {
  const properties: JsonObject = {
    id: { type: 'string' },
    kind: { type: 'string', enum: ['cat', 'dog', 'bird'] },
    size: { type: 'integer', exclusiveMinimum: 0, maximum: 90 },
    born: { type: 'string', format: 'date' },
    expires_at: { type: 'string', format: 'date-time' },
    home: { type: 'object', properties: { room: { enum: ['den', 'loft'], type: 'string' } } },
  }
  const pet: JsonObject = { type: 'object', required: ['kind'], properties }
  const document = openapi({
    '/pets': { get: { operationId: 'list', ...answering(200, jsonOf({ type: 'array', items: pet })) } },
    '/pets/{id}': { get: { operationId: 'get', ...answering(200, jsonOf(pet)) } },
  })
  await withCalls(await connectorOf((await made(document)).text), async (call) => {
    const [one, other] = dataOf(await call('crm_list', {}))['array'] as JsonObject[]
    expect([one?.['kind'], other?.['kind']]).toEqual(['cat', 'dog'])
    expect([one?.['home'], other?.['home']]).toEqual([{ room: 'den' }, { room: 'loft' }])
    // What ends in the future is not moved to the past.
    const dates = [other?.['born'], one?.['born'], one?.['expires_at']]
    expect(dates).toEqual([...dates].sort())
    expect(new Set(dates.map((date) => JSON.stringify(date).slice(0, 11))).size).toBe(3)
    expect(one?.['size']).not.toBe(other?.['size'])
  })
})

it('gives tools names that models accept', async () => {
  const operation = { ...OK, operationId: 'x'.repeat(80) }
  const { connector } = await made(openapi({ '/x': { get: operation }, '/y': { get: operation } }))
  const names = (connector['tools'] as { name: string }[]).map(({ name }) => name)
  expect(names.map((name) => name.length)).toEqual([64, 64])
  expect(names[1]).toMatch(/_2$/)
})

it('keeps items of different parents apart', async () => {
  const connector = await connectorOf((await made(LIBRARY, undefined, 'library.yaml')).text)
  await withCalls(connector, async (call) => {
    await call('library_create_loan', { reader_id: 1, body: { book_id: 'b1' } })
    const [mine, other] = [
      await call('library_list_loans', { reader_id: 1 }),
      await call('library_list_loans', { reader_id: 2 }),
    ]
    expect([JSON.stringify(mine).includes('b1'), JSON.stringify(other).includes('b1')]).toEqual([true, false])
  })
  const issue = { type: 'object', properties: { number: { type: 'integer' }, title: { type: 'string' } } }
  const issues = '/repos/{owner}/{repo}/issues'
  const change = { requestBody: { content: jsonOf(issue) }, ...answering(200, jsonOf(issue)) }
  const document = openapi({
    [issues]: { post: { operationId: 'add', ...change } },
    [`${issues}/{number}`]: {
      get: { operationId: 'get', ...answering(200, jsonOf(issue)) },
      patch: { operationId: 'change', ...change },
      delete: { operationId: 'remove', responses: { 204: { description: 'Gone' } } },
    },
  })
  await withCalls(await connectorOf((await made(document)).text), async (call) => {
    const [mine, other] = [
      { owner: 'ada', repo: 'sea', number: 1 },
      { owner: 'ada', repo: 'sky', number: 1 },
    ]
    await call('crm_add', { owner: 'ada', repo: 'sea', body: { title: 'Waves' } })
    for (const tool of ['crm_get', 'crm_change', 'crm_remove'])
      expect(await call(tool, { ...other, body: { title: 'Clouds' } }), tool).toMatchObject({ status: 404 })
    expect(dataOf(await call('crm_change', { ...mine, body: { title: 'Tides' } }))).toMatchObject({ title: 'Tides' })
    expect(dataOf(await call('crm_get', mine))).toMatchObject({ number: 1, title: 'Tides' })
    expect(await call('crm_remove', mine)).toMatchObject({ kind: 'result' })
    expect(await call('crm_get', mine)).toMatchObject({ status: 404 })
  })
})

it('answers examples of the document literally, including template syntax in them', async () => {
  const connector = await connectorOf((await made(LIBRARY, 'reports', 'library.yaml')).text)
  await withCalls(connector, async (call) => {
    const summary = await call('library_get_reports_summary', {})
    expect(dataOf(summary)).toEqual({ text: 'Write {{name}} to greet somebody.' })
  })
})

it('reads version 2.0: base path, body, form, sign-in', async () => {
  const document: JsonObject = {
    swagger: '2.0',
    info: { title: 'Old CRM', version: '1' },
    basePath: '/api',
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: { key: { type: 'apiKey', in: 'query', name: 'api-key' } },
    security: [{ key: [] }],
    paths: {
      '/people': {
        post: {
          parameters: [{ in: 'body', name: 'person', required: true, schema: { $ref: '#/definitions/Person' } }],
          responses: { 201: { description: '', schema: { $ref: '#/definitions/Person' } } },
        },
      },
      '/people/{id}': {
        get: {
          parameters: [{ in: 'path', name: 'id', type: 'integer', required: true }],
          responses: { 200: { description: '', schema: { $ref: '#/definitions/Person' } } },
        },
      },
      '/log': { post: { parameters: [{ in: 'formData', name: 'text', type: 'string', required: true }], ...OK } },
    },
    definitions: { Person: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } } },
  }
  const { connector, text } = await made(document, undefined, 'swagger.json')
  expect(connector).toMatchObject({
    connector: 'old_crm',
    authorization_type: 'API_KEY',
    credentials: { send: { query: { 'api-key': '{{credentials.api_key}}' } } },
    tools: [
      { name: 'old_crm_post_people', call: { path: '/api/people' } },
      { name: 'old_crm_get_people_by_id' },
      { input_schema: { properties: { body: { properties: { text: { type: 'string' } }, required: ['text'] } } } },
    ],
  })
  await withCalls(await connectorOf(text), async (call) => {
    const created = dataOf(await call('old_crm_post_people', { body: { name: 'Ada' } }))
    expect(dataOf(await call('old_crm_get_people_by_id', { id: created['id']! }))).toMatchObject({ name: 'Ada' })
  })
})

it.each(['swagger: 2.0', 'swagger: "2.0"', 'openapi: 3.1', 'openapi: 3.0.3'])('reads %s', async (version) => {
  const { connector } = await made(`${version}\npaths: { /x: { get: { responses: { 200: { description: '' } } } } }`)
  expect(connector['tools']).toMatchObject([{ name: 'crm_get_x' }])
})

it('answers a percent-encoded path', async () => {
  const { text } = await made(openapi({ '/my%20notes': { get: OK } }))
  await withCalls(await connectorOf(text), async (call) => {
    expect((await call('crm_get_my_20notes', {})).kind).toBe('result')
  })
})

const oauth = (...flows: string[]): JsonObject => ({
  type: 'oauth2',
  flows: Object.fromEntries(flows.map((flow) => [flow, { scopes: {} }])),
})
it.each<[string, JsonObject, JsonObject]>([
  ['a bearer token', { a: { type: 'http', scheme: 'Bearer' } }, { authorization_type: 'BEARER_TOKEN' }],
  ['HTTP Basic', { a: { type: 'http', scheme: 'basic' } }, { authorization_type: 'BASIC_AUTH' }],
  [
    'OpenID Connect',
    { a: { type: 'openIdConnect', openIdConnectUrl: 'https://example.com' } },
    { authorization_type: 'OAUTH' },
  ],
  ['client credentials alone', { a: oauth('clientCredentials') }, { authorization_type: 'OAUTH_M2M' }],
  [
    'client credentials among others',
    { a: oauth('clientCredentials', 'authorizationCode') },
    { authorization_type: 'OAUTH' },
  ],
  [
    'a key in a header',
    { a: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    { authorization_type: 'API_KEY', credentials: { send: { headers: { 'X-Key': '{{credentials.api_key}}' } } } },
  ],
  [
    'a key in a cookie',
    { a: { type: 'apiKey', in: 'cookie', name: 'sid' } },
    { authorization_type: 'API_KEY', credentials: { send: { headers: { Cookie: 'sid={{credentials.api_key}}' } } } },
  ],
  [
    'two keys together',
    { a: { type: 'apiKey', in: 'header', name: 'X-A' }, b: { type: 'apiKey', in: 'header', name: 'X-B' } },
    {
      authorization_type: 'CUSTOM',
      credentials: {
        fields: [{ name: 'a' }, { name: 'b' }],
        send: { headers: { 'X-A': '{{credentials.a}}', 'X-B': '{{credentials.b}}' } },
      },
    },
  ],
  [
    'a key whose scheme has a blank in its name',
    { 'API Key': { type: 'apiKey', in: 'header', name: 'X-Key' } },
    { authorization_type: 'API_KEY', credentials: { send: { headers: { 'X-Key': '{{credentials.api_key}}' } } } },
  ],
  ['nothing', {}, { authorization_type: 'NO_AUTH' }],
  ['a certificate alone', { a: { type: 'mutualTLS' } }, { authorization_type: 'NO_AUTH' }],
])('signs in by %s', async (_title, securitySchemes, expected) => {
  const needed = Object.fromEntries(Object.keys(securitySchemes).map((name) => [name, []]))
  const security = Object.keys(needed).length > 0 ? [needed] : []
  const { connector } = await made(openapi({ '/x': { get: OK } }, { components: { securitySchemes }, security }))
  expect(connector).toMatchObject(expected)
})

it('opens no connection and no file for references outside the document', async () => {
  const schema = { $ref: 'https://127.0.0.1:1/other.yaml#/Thing' }
  const content = { 'application/json': { schema } }
  const { connector } = await made(
    openapi({ '/x': { post: { requestBody: { content }, responses: { 200: { description: '', content } } } } }),
  )
  expect(connector['tools']).toMatchObject([{ input_schema: { properties: { body: {} } } }])
})

it('lists references that lead out of the document or nowhere, of paths, bodies and schemas', async () => {
  const content = (ref: string): JsonObject => ({ 'application/json': { schema: { $ref: ref } } })
  const post = { requestBody: { content: content('other.yaml#/Thing') }, ...OK }
  const put = { requestBody: { $ref: '#/components/requestBodies/absent' }, ...OK }
  const { leftOut } = await made(openapi({ '/x': { post, put }, '/y': { $ref: 'paths/y.yaml' } }))
  expect(leftOut).toEqual([
    'left out: references to other files (bundle them into one first), or to what the document does not have: #/components/requestBodies/absent, paths/y.yaml, other.yaml#/Thing',
  ])
  await expect(made(openapi({ '/y': { $ref: 'paths/y.yaml' } }))).rejects.toThrow(
    /has no operation; left out: references to other files .*: paths\/y\.yaml/,
  )
})

it('lists paths without a slash in front, and no extensions', async () => {
  const { leftOut } = await made(openapi({ '/x': { get: OK }, 'contacts/{id}': { get: OK }, 'x-note': {} }))
  expect(leftOut).toEqual(['left out: a path starts with /: "contacts/{id}"'])
  await expect(made(openapi({ contacts: { get: OK } }))).rejects.toThrow(
    'has no operation; left out: a path starts with /: "contacts"',
  )
})

it.each<[string, JsonValue | string, string | undefined, string]>([
  ['a seed', { clients: [] }, undefined, 'is no OpenAPI document: expected openapi: 3.x or swagger: 2.0, and paths'],
  ['another version', { openapi: '4.0.0', paths: {} }, undefined, 'is no OpenAPI document'],
  ['no operation', openapi({}), undefined, 'has no operation'],
  ['broken YAML', 'openapi: [3', undefined, 'cannot be read:'],
  [
    'aliases that multiply',
    `openapi: 3.1.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, at) => `a${String(at + 1)}: &a${String(at + 1)} [${`*a${String(at)}, `.repeat(10)}]\n`).join('')}paths: *a9`,
    undefined,
    'has aliases that write out more than 5000000 values; write out what they name',
  ],
  ['an alias inside what it names', 'openapi: &a [*a]', undefined, 'has aliases that write out more than'],
  ['an alias of nothing', 'openapi: *a', undefined, 'cannot be read: Unresolved alias'],
  ['what is nested too deep', '['.repeat(500), undefined, 'is nested too deep; allowed are 400 levels'],
  ['lists nested too deep', '- '.repeat(100_000), undefined, 'is nested too deep; allowed are 400 levels'],
  ['a number that JSON does not have', 'openapi: .inf', undefined, 'has the number Infinity, which JSON does not have'],
  ['a path that is not there', openapi({ '/x': { get: OK } }), '/y', 'has no path /y and none below it'],
  [
    'a tag that is nearly there',
    openapi({ '/x': { get: { tags: ['contacts'], ...OK } } }),
    'contact',
    'did you mean contacts?',
  ],
  ['a tag where there are none', openapi({ '/x': { get: OK } }), 'contacts', 'it has no tags; a path starts with /'],
])('refuses %s', async (_title, document, only, message) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  await expect(made(text, only)).rejects.toThrow(message)
})

it('can be limited to the operations of a tag, or of a path and below it', async () => {
  const paths = { '/x': { get: { tags: ['A'], ...OK } }, '/x/y': { get: OK }, '/xy': { get: OK } }
  const named = async (only: string) =>
    ((await made(openapi(paths), only)).connector['tools'] as JsonObject[]).map(({ name }) => name)
  expect([await named('a'), await named('/x')]).toEqual([['crm_get_x'], ['crm_get_x', 'crm_get_x_y']])
})
