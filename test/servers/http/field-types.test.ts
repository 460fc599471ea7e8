import { describe, expect } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../../../src/model/domain/json.ts'
import { follow, member, operations, text } from '../../spec/document.ts'
import { createAccount } from '../../support/accounts.ts'
import { it } from '../../support/toolmock.ts'

/** A field of a request body: where it is, and what type the spec gives it. */
interface Field {
  readonly path: readonly string[]
  readonly type: string
}

/** A value of every type but null, which counts as absent (G58). */
const VALUES: Readonly<Record<string, JsonValue>> = {
  string: 'x',
  integer: 7,
  boolean: true,
  array: [],
  object: {},
}

/** Every field with a type, except those that are output-only. */
function fieldsOf(schema: JsonObject, path: readonly string[] = []): Field[] {
  const found = follow(schema)
  const properties = ownMember(found, 'properties')
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isJsonObject(property)) return []
    const target = follow(property)
    const type = ownMember(target, 'type')
    if (typeof type !== 'string' || ownMember(target, 'x-output-only') === true) return []
    return [{ path: [...path, name], type }, ...fieldsOf(target, [...path, name])]
  })
}

const BODIES = operations.flatMap(({ id, method, path, object }) => {
  const body = ownMember(object, 'requestBody')
  if (!isJsonObject(body)) return []
  const json = ownMember(member(follow(body), 'content'), 'application/json')
  return isJsonObject(json) ? [{ id, method, path, fields: fieldsOf(member(json, 'schema')) }] : []
})

/** A valid body except for one field. */
function wrong({ path }: Field, value: JsonValue): object {
  const base = {
    connector: 'mail',
    identifier: 'ada',
    display_name: 'A',
    auth_request_id: 'x',
    tool_name: 'mail_list_messages',
    connected_account: {},
  }
  const [first = '', ...rest] = path
  return { ...base, [first]: rest.reduceRight<JsonValue>((inner, name) => ({ [name]: inner }), value) }
}

it('the spec has the tested fields', () => {
  const paths = BODIES.flatMap(({ fields }) => fields.map(({ path }) => path.join('.')))
  expect(paths).toContain('connected_account.authorization_details.oauth_token.scopes')
  expect(paths.length).toBeGreaterThan(50)
})

describe.each(BODIES)('$id', ({ method, path, fields }) => {
  it.for(fields.map((field) => [field.path.join('.'), field] as const))(
    'refuses every other type for %s, and names it',
    async ([name, field], { startMock }) => {
      const { api, environment } = await startMock({ mcp: true })
      for (const [type, value] of Object.entries(VALUES)) {
        if (type === field.type || (type === 'integer' && field.type === 'number')) continue
        const target = path.slice('/api/v1'.length).replace('{identifier}', 'nobody')
        const send = { PUT: api.put, PATCH: api.patch }[method] ?? api.post
        const answer = await send(target, wrong(field, value))

        expect(answer.status, `${type} for ${name}: ${answer.text}`).toBe(400)
        expect(answer.body).toMatchObject({ code: 3, details: [{ error_code: 'VALIDATION_FAILED' }] })
        expect(fieldsNamed(answer.body)).toContain(name)
      }
      expect(environment.model.tables.accounts.size).toBe(0)
    },
  )
})

const listed = operations.flatMap(({ id, method, path, parameters }) =>
  parameters
    .filter((each) => ownMember(each, 'in') === 'query')
    .map((each) => [id, text(each, 'name'), { method, path, parameter: each }] as const),
)

it.for(listed)(
  'query parameters: %s answers 400 when %s is repeated, unless it is a list',
  async ([_id, name, { method, path, parameter }], { startMock }) => {
    const mock = await startMock({ mcp: true })
    const { api } = mock
    await createAccount(mock)
    const required = path.includes('/tools/')
      ? 'identifier=ada%40example.com&'
      : path.endsWith(':search')
        ? 'query=abc&'
        : ''
    const other = required.startsWith(`${name}=`) ? '' : required
    const isList = ownMember(follow(member(parameter, 'schema')), 'type') === 'array'
    const [target, query] = [path.slice('/api/v1'.length), `${other}${name}=1&${name}=1`]
    const answer = await (method === 'GET' ? api.get(target, query) : api.post(`${target}?${query}`))

    if (isList) expect(answer.status).toBe(200)
    else {
      expect(answer.status).toBe(400)
      expect(fieldsNamed(answer.body)).toContain(name)
    }
  },
)

function fieldsNamed(body: unknown): string[] {
  const { details } = body as { details: [{ validation_error_info?: { field_violations: { field: string }[] } }] }
  return details[0].validation_error_info?.field_violations.map(({ field }) => field) ?? []
}
