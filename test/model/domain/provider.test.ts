import { expect, it } from 'vitest'
import { authorizationTypeOf, isMcp, type Provider, providerView, slug } from '../../../src/model/domain/provider.ts'

it('is answered without the name it was created under (G39)', () => {
  expect(providerView({ id: 'prv_1', created_as: 'Acme' } as Provider)).toEqual({ id: 'prv_1' })
})

it.each([
  [[{ type: 'BEARER' }], 'BEARER_TOKEN'],
  [[{ type: 'OAUTH' }, { type: 'BASIC' }], 'OAUTH'],
  [[{ type: ['OAUTH'] }], 'CUSTOM'],
  [[{ type: 'constructor' }], 'CUSTOM'],
  [[], 'CUSTOM'],
] as const)('with the patterns %j has accounts of type %s (G38)', (patterns, type) => {
  expect(authorizationTypeOf(patterns as never)).toBe(type)
})

it.each([
  [[{}, { is_mcp: true }], true],
  [[{ is_mcp: 'true' }, { is_mcp: false }], false],
  [['is_mcp'], false],
  [[], false],
])('with the patterns %j is an MCP server: %s (G38)', (patterns, expected) => {
  expect(isMcp(patterns as never)).toBe(expected)
})

it.each([
  ['Acme Süd 2', 'acme-s-d-2'],
  ['  --Acme--  ', 'acme'],
  ['日本', 'provider'],
  ['', 'provider'],
  ['x'.repeat(41), 'x'.repeat(40)],
])('%j has the readable identifier %j (G37)', (name, expected) => {
  expect(slug(name)).toBe(expected)
})
