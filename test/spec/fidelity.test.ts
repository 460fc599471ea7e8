import { describe, expect, it } from 'vitest'
import { document, fidelity, operations } from './document.ts'

const IDS = Array.from({ length: 57 }, (_, index) => `G${index + 1}`)

describe('docs/fidelity.md', () => {
  it.each(IDS)('explains %s in exactly one row', (id) => {
    expect(fidelity.match(new RegExp(`^\\| ${id} `, 'gm')) ?? []).toHaveLength(1)
  })

  it('mentions no identifier that it does not explain', () => {
    const mentioned = new Set([...fidelity.matchAll(/\bG\d+\b/g)].map(([id]) => id))
    expect([...mentioned].filter((id) => !IDS.includes(id))).toEqual([])
  })

  it('describes every Discovery operation', () => {
    const discovery = operations.filter(({ object }) => JSON.stringify(object.tags) === '["Discovery"]')
    expect(discovery).toHaveLength(4)
    expect(discovery.filter(({ method, path }) => !fidelity.includes(`${method} \`${path}\``))).toEqual([])
  })

  it('keeps one place, in order, for the generated lifecycle', () => {
    expect(fidelity.match(/<!-- lifecycle:(start|end) -->/g)).toEqual([
      '<!-- lifecycle:start -->',
      '<!-- lifecycle:end -->',
    ])
  })

  it('stands alone, as the contract does: neither points to a file outside the project', () => {
    expect(fidelity + JSON.stringify(document)).not.toMatch(/gaps\.md|service\.md|design\.md|\/work\//)
  })
})
