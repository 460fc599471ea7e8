import { expect, it } from 'vitest'
import { ownMember } from '../../src/model/domain/json.ts'
import type { JsonObject } from '../../src/model/domain/json.ts'
import { components, document, fidelity, operations, walk } from './document.ts'

const LEGAL = /^(document:\d(\.\d+)?|(convention|choice)(:G\d+)?|transport)$/

function basisOf(value: JsonObject): string {
  const basis = ownMember(value, 'x-basis')
  return typeof basis === 'string' ? basis : 'none'
}

/** Every `x-basis` of the document, at any place. */
const used = [...new Set(walk(document).map(([, object]) => basisOf(object)))].filter((basis) => basis !== 'none')

/** Every identifier with the kinds of basis of all its rows; each row has its basis in the last column. */
const explained = new Map<string, Set<string>>()
for (const [, id = '', basis = ''] of fidelity.matchAll(/^\| (G\d+) .*\| ([^|]+?) +\|$/gm)) {
  const kinds = basis.split(', ').map((part) => part.split(':')[0] ?? '')
  explained.set(id, new Set([...(explained.get(id) ?? []), ...kinds]))
}

it.each(operations)(
  'is given for $id, its parameters and each of its statuses',
  ({ object, parameters, responses }) => {
    const parts = [object, ...parameters, ...responses.map(([, response]) => response)]
    expect(parts.map(basisOf)).toEqual(parts.map(() => expect.stringMatching(LEGAL)))
  },
)

it.each(['schemas', 'parameters', 'headers', 'securitySchemes'])('is given for each of the shared %s', (kind) => {
  const without = components(kind).filter(([, component]) => !LEGAL.test(basisOf(component)))
  expect(without.map(([name]) => name)).toEqual([])
})

it('has a legal form wherever it is used', () => {
  expect(used.filter((basis) => !LEGAL.test(basis))).toEqual([])
})

it('names only identifiers that docs/fidelity.md explains, with the same basis', () => {
  const claims = used.filter((basis) => basis.includes(':G')).map((basis) => basis.split(':'))
  const wrong = claims.filter(([kind = '', id = '']) => !explained.get(id)?.has(kind))
  expect(claims.length).toBeGreaterThan(10)
  expect(wrong).toEqual([])
})

it('names each of the operations 1 to 14 by its part of the document', () => {
  const parts = operations.map(({ object }) => basisOf(object)).filter((basis) => basis.startsWith('document:4.'))
  expect(parts.sort()).toEqual(Array.from({ length: 14 }, (_, index) => `document:4.${index + 1}`).sort())
})
