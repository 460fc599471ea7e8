import { describe, expect, it } from 'vitest'
import {
  grpcCodeOf,
  invalidField,
  isErrorCode,
  isToolErrorStatus,
  descriptionParts,
  ruleAndFound,
  ServiceError,
  TokenError,
  violationText,
} from '../../../src/model/domain/errors.ts'

describe('an error of the service', () => {
  it('has the status and the code of the catalogue', () => {
    const error = new ServiceError('ACCOUNT_NOT_FOUND', 'there is none')
    expect(error).toMatchObject({ status: 404, code: 5, message: 'there is none', context: {}, name: 'ServiceError' })
  })

  it.each([
    [401, 16],
    [403, 7],
    [429, 8],
    [500, 13],
    [504, 4],
  ] as const)('of a tool has the status %i that the third party leads to, and its code %i (G44)', (status, code) => {
    const tool = { status, execution_id: 'exe_1', tool_error_code: 'x', tool_error_message: 'y' }
    expect(new ServiceError('TOOL_ERROR', 'failed', { tool })).toMatchObject({ status, code })
  })

  it('about a field names it, and describes what is wrong with it', () => {
    const error = invalidField('page_size', 'must be at most 100', 'maximum')
    expect(error).toMatchObject({
      errorCode: 'VALIDATION_FAILED',
      message: 'page_size must be at most 100',
      context: { violations: [{ field: 'page_size', description: 'must be at most 100', constraint: 'maximum' }] },
    })
  })
})

it.each([
  ['TOOL_ERROR', true],
  ['OUT_OF_PAPER', false],
  ['toString', false],
])('an error code: %s is of the catalogue: %s', (word, expected) => {
  expect(isErrorCode(word)).toBe(expected)
})

it.each([
  ['TOOL_ERROR', 504, 4],
  // TOOL_ERROR never has status 404, so the number is that of the catalogue.
  ['TOOL_ERROR', 404, 13],
  ['RATE_LIMITED', 500, 8],
  ['OUT_OF_PAPER', 409, 6],
  ['OUT_OF_PAPER', 418, 2],
])('an error code: %s with status %i has the number %i', (word, status, code) => {
  expect(grpcCodeOf(word, status)).toBe(code)
  expect(isToolErrorStatus(status)).toBe([500, 504].includes(status))
})

it('a description states the rule, then the value that was found', () => {
  const description = ruleAndFound('must be an integer', '"x"')
  expect(description).toBe('must be an integer; found "x"')
  expect(descriptionParts(description)).toEqual({ rule: 'must be an integer', found: '"x"' })
  expect(descriptionParts('is required')).toEqual({ rule: 'is required', found: undefined })
  expect(violationText({ field: 'a', description, constraint: 'type' })).toBe('a must be an integer; found "x"')
})

it('a description may start with the value that was found', () => {
  expect(descriptionParts('; found "x"')).toEqual({ rule: '', found: '"x"' })
})

it.each([
  ['invalid_client', 401],
  ['invalid_request', 400],
  ['unsupported_grant_type', 400],
] as const)('an error of the token endpoint: %s answers %i', (error, status) => {
  const found = new TokenError(error, 'why')
  expect(found).toMatchObject({ status, message: 'why', challenge: false, violations: [], name: 'TokenError' })
})
