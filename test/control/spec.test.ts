import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CONTROL_ERROR_CODES } from '../../src/control/errors.ts'
import { BODIES, QUERIES } from '../../src/control/input.ts'
import { withControl } from './control-mock.ts'
import { answersOf, CONTROL_OPERATIONS, CONTROL_SPEC, faultsOf, resolved } from './control-spec.ts'

describe('spec/control.openapi.yaml', () => {
  it('lists every error code', () => {
    expect(CONTROL_SPEC.components.schemas['ErrorCode']).toMatchObject({ enum: CONTROL_ERROR_CODES })
  })

  it('describes every operation, with its parameters', () => {
    const undescribed = CONTROL_OPERATIONS.filter(({ operation }) => !operation.description || !operation.summary)
    expect(undescribed.map(({ operation }) => operation.operationId)).toEqual([])
  })

  const bodies = CONTROL_OPERATIONS.flatMap(({ operation: { operationId, requestBody } }) => {
    const schema = (BODIES as Record<string, z.ZodType>)[operationId]
    const described = requestBody?.content['application/json']?.schema
    return schema && !(schema instanceof z.ZodUnknown) ? [{ operationId, schema, described }] : []
  })
  it.each(bodies)('describes the body of $operationId as it is read', ({ schema, described }) => {
    expect(comparable(described)).toEqual(comparable(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })))
  })

  it('has a schema for every body except documents and messages of MCP', () => {
    const documents = ['add_seed', 'put_connector', 'put_extension', 'put_scenario', 'validate_document', 'call_mcp']
    const withBody = CONTROL_OPERATIONS.filter(({ operation }) => operation.requestBody !== undefined)
    const names = withBody.map(({ operation }) => operation.operationId)
    expect(names.sort()).toEqual([...Object.keys(BODIES), ...documents].sort())
  })

  it('describes the query of every operation as it is read', () => {
    for (const { operation } of CONTROL_OPERATIONS) {
      const { operationId } = operation
      if (operationId === 'list_requests') continue
      const schema = (QUERIES as Record<string, z.ZodType>)[operationId] ?? z.object({})
      const described = (operation.parameters ?? []).map(resolved).filter((parameter) => parameter.in === 'query')
      const read = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
      const names = new Set([...Object.keys(read.properties ?? {}), ...(operation.environment ? ['environment'] : [])])
      expect(described.map(({ name }) => name).sort(), operationId).toEqual([...names].sort())
      for (const { name, required = false, schema: parameter } of described.filter(
        ({ name }) => name !== 'environment',
      )) {
        const { enum: values, default: standard } = parameter as JsonSchema
        expect([required, values, standard], `${operationId} ${name}`).toEqual([
          read.required?.includes(name) ?? false,
          read.properties?.[name]?.enum,
          (schema.safeParse({}).data as Record<string, unknown> | undefined)?.[name],
        ])
      }
    }
  })

  it('has examples that are valid', () => {
    const faults = CONTROL_OPERATIONS.flatMap(({ operation }) => {
      const bodies = operation.requestBody ? [operation.requestBody.content] : []
      return [...bodies, ...answersOf(operation).values()].flatMap((content) =>
        Object.values(content).flatMap(({ schema, example }) =>
          example === undefined ? [] : [faultsOf(schema, JSON.parse(JSON.stringify(example)))],
        ),
      )
    })
    expect(faults.length).toBeGreaterThan(40)
    expect(faults.filter(Boolean)).toEqual([])
  })

  it('is served as JSON', async () => {
    await withControl({}, async ({ call }) => {
      const { body } = await call('get', '/openapi')
      expect(body).toEqual(JSON.parse(JSON.stringify(CONTROL_SPEC)))
    })
  })

  it('is served whole: it refers to no file', async () => {
    await withControl({}, async ({ call }) => {
      const { text } = await call('get', '/openapi')
      expect(text).toContain('"$ref":"#/components/')
      expect(text.match(/"\$ref":"[^#][^"]*"/g)).toBeNull()
    })
  })
})

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly [key: string]: unknown
}

/** The constraints of a schema without descriptions; an object that another module validates counts as a plain object. */
function comparable(given: object | undefined): unknown {
  const { type, properties, required, anyOf, additionalProperties, ...rest } = resolved<JsonSchema>(
    (given ?? {}) as JsonSchema,
  )
  const alternatives = anyOf?.map(comparable) as JsonSchema[] | undefined
  if (alternatives?.every((each) => Object.keys(each).join() === 'type')) {
    return { type: alternatives.map((each) => each.type) }
  }
  if (alternatives) return { anyOf: alternatives }
  const limits = ['enum', 'minimum', 'maximum', 'minLength', 'minProperties', 'default', 'format'].flatMap((key) =>
    rest[key] === undefined ? [] : [[key, rest[key]]],
  )
  const fields = Object.entries(properties ?? {}).map(([name, schema]) => {
    const readElsewhere = name === 'seed' || name === 'match'
    return [name, readElsewhere ? { type: resolved<JsonSchema>(schema).type } : comparable(schema)]
  })
  return {
    ...(type !== undefined && { type }),
    ...Object.fromEntries(limits),
    ...(properties && {
      properties: Object.fromEntries(fields),
      required: [...(required ?? [])].sort(),
      additionalProperties,
    }),
  }
}
