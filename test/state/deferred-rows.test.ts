import { describe, expect, it } from 'vitest'
import type { Grant } from '../../src/domain/grant.ts'
import { GrantIndex } from '../../src/state/model/grant-index.ts'
import { DeferredRows } from '../../src/state/model/table.ts'

const GRANTS = 2500

/** Every third grant has the token of the one before it. */
function grant(number: number): Grant {
  return {
    id: `grant_${number}`,
    connector: 'mail',
    account_id: `ca_${number % 2000}`,
    person: '',
    scopes: [],
    access: `at_${number - (number % 3 === 0 ? 1 : 0)}`,
    secret: '',
    refresh_token: `rt_${number}`,
    revoked: false,
    refresh_revoked: false,
  }
}

function lookUps(index: GrantIndex): unknown[] {
  return Array.from({ length: GRANTS + 1 }, (_, number) => [
    index.byAccess('mail', `at_${number}`)?.id,
    index.byRefreshToken('mail', `rt_${number}`)?.id,
    index.ofAccount(`ca_${number}`).map(({ id }) => id),
  ])
}

describe('rows that are indexed later', () => {
  it.each([0, 1, 2, 3, 4])('have the same index after %i turns as rows that are indexed at once', (turns) => {
    const [later, atOnce] = [new GrantIndex(), new GrantIndex()]
    for (let number = 0; number < GRANTS; number++) {
      later.load(grant(number))
      atOnce.update(undefined, grant(number))
    }
    for (let turn = 0; turn < turns; turn++) later.enterSome()
    for (const index of [later, atOnce]) {
      index.update(grant(2), undefined)
      index.update(grant(2400), { ...grant(2400), access: 'at_1' })
    }
    expect(lookUps(later)).toEqual(lookUps(atOnce))
  })

  it('are indexed once each, in their order, for any number of queries', () => {
    const entered: number[] = []
    const rows = new DeferredRows<number>((row) => entered.push(row))
    const all = Array.from({ length: GRANTS }, (_, number) => number)
    for (const number of all) rows.add(number)
    expect(rows.enterSome()).toBe(true)
    expect(entered.length).toBeLessThan(GRANTS)
    rows.enterAll()
    rows.enterAll()
    expect(rows.enterSome()).toBe(false)
    expect(entered).toEqual(all)
  })
})
