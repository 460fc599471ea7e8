import { describe, expect, it } from 'vitest'
import { violation } from '../../../src/journal/request-journal/findings.ts'
import { allowsFinding, readAllowance, readVerdictOptions } from '../../../src/journal/verdict/verdict-options.ts'

function allowed(text: string, operation: string, path: string): boolean {
  const allowance = readAllowance(text)
  if ('expected' in allowance) throw new Error(allowance.expected)
  const isPath = operation === 'unknown_path'
  const where = isPath
    ? { operation: null, code: operation, field: `GET ${path}` }
    : { operation, code: 'type', field: path }
  return allowsFinding(allowance, violation({ ...where, found: null, allowed: '' }))
}

it.each([
  ['execute_tool', 'execute_tool', 'tool_input.to', true],
  ['execute_tool', 'verify_user', 'identifier', false],
  ['execute_tool:tool_input', 'execute_tool', 'tool_input', true],
  ['execute_tool:tool_input', 'execute_tool', 'tool_input.to', true],
  ['execute_tool:tool_input', 'execute_tool', 'tool_input[0]', true],
  ['execute_tool:tool_input', 'execute_tool', 'tool_inputs', false],
  ['execute_tool:tool_input.to', 'execute_tool', 'tool_input', false],
  ['execute_tool:list[]', 'execute_tool', 'list[3].name', true],
  ['execute_tool:list[0].name', 'execute_tool', 'list[3].name', true],
  ['unknown_path', 'unknown_path', '/anything', true],
  ['unknown_path', 'execute_tool', 'body', false],
  ['unknown_path:/v2', 'unknown_path', '/v2', true],
  ['unknown_path:/v2', 'unknown_path', '/v2/a', true],
  ['unknown_path:/v2/', 'unknown_path', '/v2/a', true],
  ['unknown_path:/v2', 'unknown_path', '/v2.json', false],
  ['unknown_path:/a:b', 'unknown_path', '/a:b', true],
  ['unknown_path:/', 'unknown_path', '/anything', true],
])('an allowance: %s, of %s at %s: %s', (text, operation, path, expected) => {
  expect(allowed(text, operation, path)).toBe(expected)
})

it.each([
  ['verify', /^an operation, alone or with :FIELD\. Allowed are create_token, .*, unknown_path$/],
  ['exectue_tool:x', /did you mean execute_tool\? Allowed are/],
  ['execute_tool:', /^execute_tool alone, or with the name of a field/],
  ['constructor', /^an operation/],
  ['unknown_path:v2', /begins with \//],
  ['', /^an operation/],
])('an allowance: %j is refused with what is allowed', (text, expected) => {
  expect(readAllowance(text)).toEqual({ expected: expect.stringMatching(expected) })
})

describe('options of a verdict', () => {
  it.each([
    ['12', { count: 12 }],
    [12, { count: 12 }],
    ['0', { count: 0 }],
    ['80%', { percent: 80 }],
    ['100%', { percent: 100 }],
  ])('%j is an amount', (minOperations, read) => {
    expect(readVerdictOptions({ minOperations })).toMatchObject({ minOperations: read })
  })

  it.each(['101%', '-1', -1, 1.5, Number.NaN, '', '%', '1e3', ' 1'])('%j is not an amount', (minStatuses) => {
    expect(() => readVerdictOptions({ minStatuses })).toThrow(
      /^minStatuses must be a whole number from 0 to \d+, or a per.*; found /,
    )
  })

  it('have no minimum that no run could reach', () => {
    expect(readVerdictOptions({ minOperations: 34 })).toMatchObject({ minOperations: { count: 34 } })
    expect(() => readVerdictOptions({ minOperations: 35 })).toThrow(
      'minOperations must be a whole number from 0 to 34, or a percentage from 0% to 100%; found 35',
    )
    expect(() => readVerdictOptions({ minStatuses: 999 })).toThrow(
      /^minStatuses must be a whole number from 0 to 143, /,
    )
  })
})
