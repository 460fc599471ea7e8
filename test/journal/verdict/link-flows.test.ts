import { expect, it } from 'vitest'
import { LinkFlows, unverifiedFlows } from '../../../src/journal/verdict/link-flows.ts'
import { recorded } from '../request-journal/recorded.ts'

/** The records of an environment whose client verifies elsewhere, with flows that ended without verification. */
function withFlows(count: number, name: string): LinkFlows {
  const flows = new LinkFlows()
  flows.see(recorded({ operation: 'verify_user' }))
  for (let at = 0; at < count; at++) {
    for (const event of ['made', 'approved'] as const) {
      const entry = recorded({ id: `${name}_${at}_${event}`, operation: 'create_magic_link' })
      entry.trace.link = { id: `${name}_${at}`, event, verified: false }
      flows.see(entry)
    }
  }
  return flows
}

const totals = (...all: readonly LinkFlows[]) => [...unverifiedFlows(all)].map(({ count }) => count)

it('flows without verification are counted up to 1,000, also those of several environments together', () => {
  expect(totals(withFlows(999, 'a'))).toEqual([999])
  expect(totals(withFlows(1001, 'a'))).toEqual([1000])
  const together = withFlows(600, 'a')
  together.add(withFlows(399, 'b'))
  expect(totals(together)).toEqual([999])
  together.add(withFlows(300, 'c'))
  expect(totals(together)).toEqual([1000])
  together.add(withFlows(1, 'd'))
  expect(totals(together)).toEqual([1000])
})

it('at most 1,000 links whose flow is open are kept, and a flow that ends makes room', () => {
  const flows = withFlows(0, 'a')
  const see = (id: string, event: 'made' | 'approved') => {
    const entry = recorded({ id: `${id}_${event}`, operation: 'create_magic_link' })
    entry.trace.link = { id, event, verified: false }
    flows.see(entry)
  }
  for (let at = 0; at <= 1000; at++) see(`l${at}`, 'made')
  see('l1000', 'approved')
  expect(totals(flows)).toEqual([])
  see('l999', 'approved')
  see('late', 'made')
  see('late', 'approved')
  expect(totals(flows)).toEqual([2])
})
