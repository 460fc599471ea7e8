import { expect, it } from 'vitest'
import { openapiConnector } from '../../src/app/openapi-connector.ts'
import { connectorFromOpenapi } from '../../src/files/openapi/connector-from-openapi.ts'
import type { JsonObject, JsonValue } from '../../src/model/domain/json.ts'

const document = (paths: JsonObject): JsonObject => ({
  openapi: '3.1.0',
  info: { title: 'Large', version: '1' },
  paths,
})

it('has valid tools for 2,000 operations', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`field_${String(at)}`, { type: 'string', description: 'x'.repeat(200) }]),
  )
  const Thing = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      ...properties,
      parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
    },
  }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } }
  const answered = { responses: { 200: { description: '', content } } }
  const deleted = { responses: { 200: { description: 'OK' } } }
  const paths = Object.fromEntries(
    Array.from({ length: 500 }, (_, at): [string, JsonObject][] => [
      [`/things${String(at)}`, { post: { requestBody: { content }, ...answered } }],
      [
        `/things${String(at)}/{id}`,
        { get: answered, patch: { requestBody: { content }, ...answered }, delete: deleted },
      ],
    ]).flat(),
  )
  const { connector } = await openapiConnector(
    JSON.stringify({ ...document(paths), components: { schemas: { Thing } } }),
    { file: 'crm.yaml', only: undefined },
  )
  expect((connector['tools'] as JsonValue[]).length).toBe(2000)
  expect(Object.keys(connector['collections'] as JsonObject)).toHaveLength(500)
}, 120_000)

it('stops at what one file can have, whatever the length of the document', () => {
  const operation: JsonObject = { responses: { 200: { content: { 'application/json': { schema: {} } } } } }
  const callsFor = (count: number): number => {
    let calls = 0
    const makeValue = (): JsonValue => {
      calls += 1
      return {}
    }
    const paths = Object.fromEntries(Array.from({ length: count }, (_, at) => [`/x${String(at)}`, { get: operation }]))
    expect(() => connectorFromOpenapi(document(paths), { fileName: 'x', only: undefined, makeValue })).toThrow(
      'which is more than one connector file can have; choose by --only TAG_OR_PATH',
    )
    return calls
  }
  expect(callsFor(20_000)).toBe(callsFor(10_000))
})
