import { expect } from 'vitest'
import { CONTROL_ERROR_CODES } from '../../../src/servers/control/errors.ts'
import { it } from './control-mock.ts'
import { answersOf, CONTROL_OPERATIONS, CONTROL_SPEC, faultsOf } from './control-spec.ts'

it('lists every error code', () => {
  expect(CONTROL_SPEC.components.schemas['ErrorCode']).toMatchObject({ enum: CONTROL_ERROR_CODES })
})

it('describes every operation, with its parameters', () => {
  const undescribed = CONTROL_OPERATIONS.filter(({ operation }) => !operation.description || !operation.summary)
  expect(undescribed.map(({ operation }) => operation.operationId)).toEqual([])
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

it('is served as JSON', async ({ mock: { call } }) => {
  const { body } = await call('get', '/openapi')
  expect(body).toEqual(JSON.parse(JSON.stringify(CONTROL_SPEC)))
})

it('is served whole: it refers to no file', async ({ mock: { call } }) => {
  const { text } = await call('get', '/openapi')
  expect(text).toContain('"$ref":"#/components/')
  expect(text.match(/"\$ref":"[^#][^"]*"/g)).toBeNull()
})
