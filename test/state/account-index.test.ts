import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/domain/account.ts'
import type { Position } from '../../src/domain/page-token.ts'
import { AccountIndex, type AccountFilter } from '../../src/state/model/account-index.ts'
import { Model } from '../../src/state/model/model.ts'
import type { Page } from '../../src/state/model/rows-in-order.ts'
import { account } from '../support/registry.ts'

const NAMES = ['mail', 'Mail', 'chat', '__proto__', 'constructor', '']
const SCOPES = ['', 'a', 'b', '__proto__']
const IDENTIFIERS = ['ada@example.com', 'ADA', 'grace@x', 'İx', 'mail.*', '\ud800', 'aaaa', 'aa', '']
const name = fc.constantFrom(...NAMES)
const scope = fc.constantFrom(...SCOPES)
const identifier = fc.constantFrom(...IDENTIFIERS)
const places = {
  organization_id: scope,
  user_id: scope,
  connector: name,
  provider: name,
  connection_id: name,
  identifier,
}
/** A new account, or a change of some fields of an existing one. */
const row = fc.oneof(
  fc.record({ sequence: fc.integer({ min: 1, max: 25 }), ...places }),
  fc.record({ sequence: fc.integer({ min: 1, max: 25 }), ...places }, { requiredKeys: ['sequence'] }),
)
const asked = {
  ...places,
  connectors: fc.array(name, { maxLength: 3 }),
  query: fc.constantFrom('a', 'ada', 'AIL', 'example', 'aaa', '.*', 'i', '', '@', '__proto__', 'nobody'),
}
/** Most filters have one field, because filters with several match few accounts. */
const filter: fc.Arbitrary<AccountFilter> = fc.oneof(
  ...Object.entries(asked).map(([field, value]) => fc.record({ [field]: value as fc.Arbitrary<string | string[]> })),
  fc.record(asked, { requiredKeys: [] }),
)
const position = fc.oneof(
  fc.record({ after: fc.integer({ min: 0, max: 26 }) }),
  fc.record({ before: fc.integer({ min: 0, max: 26 }) }),
)
type Step =
  | { put: Partial<Account> & { sequence: number } }
  | { remove: number }
  | { page: [AccountFilter, Position, number] }
  | { find: [connector: string, identifier: string] }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: row }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 2, arbitrary: fc.record({ find: fc.tuple(name, identifier) }) },
  { weight: 3, arbitrary: fc.record({ page: fc.tuple(filter, position, fc.integer({ min: 1, max: 5 })) }) },
)

/** The expected answers of the index, computed by a scan of all accounts. */
class NaiveAccounts {
  readonly rows = new Map<string, Account>()

  page({ query, connectors, ...exact }: AccountFilter, at: Position, size: number): Page<Account> {
    const text = query?.toLowerCase()
    const matches = [...this.rows.values()]
      .sort((a, b) => a.sequence - b.sequence)
      .filter((each) => Object.entries(exact).every(([field, value]) => each[field as keyof Account] === value))
      .filter((each) => connectors?.includes(each.connector) ?? true)
      .filter(({ identifier: id, connector, provider }) =>
        text === undefined ? true : [id, connector, provider].some((value) => value.toLowerCase().includes(text)),
      )
    const rows =
      'after' in at
        ? matches.filter(({ sequence }) => sequence > at.after).slice(0, size)
        : matches.filter(({ sequence }) => sequence < at.before).slice(-size)
    const first = rows[0]?.sequence ?? ('after' in at ? at.after + 1 : at.before)
    const last = rows.at(-1)?.sequence ?? ('after' in at ? at.after : at.before - 1)
    return {
      rows,
      total: matches.length,
      has_previous: matches.some(({ sequence }) => sequence < first),
      has_next: matches.some(({ sequence }) => sequence > last),
    }
  }

  named(connector: string, id: string): Account[] {
    return [...this.rows.values()]
      .filter((each) => each.connector === connector && each.identifier === id)
      .sort((a, b) => a.sequence - b.sequence)
  }
}

/** Asserts that the index finds the same accounts by name, and in every scope. */
function expectFound(index: AccountIndex, naive: NaiveAccounts, [connector, id]: [string, string]): void {
  const named = naive.named(connector, id)
  expect(index.named(connector, id)).toEqual(named)
  for (const organization_id of SCOPES)
    for (const user_id of SCOPES) {
      const inScope = named.find((each) => each.organization_id === organization_id && each.user_id === user_id)
      expect(index.inScope(connector, id, { organization_id, user_id })).toBe(inScope)
    }
}

function apply(index: AccountIndex, naive: NaiveAccounts, each: Step): void {
  if ('page' in each) {
    expect(index.page(...each.page)).toEqual(naive.page(...each.page))
    return
  }
  if ('find' in each) {
    expectFound(index, naive, each.find)
    return
  }
  const id = `ca_${'put' in each ? each.put.sequence : each.remove}`
  const before = naive.rows.get(id)
  const after = 'put' in each ? account(each.put.sequence, { ...before, ...each.put }) : undefined
  if (!before && !after) return
  index.update(before, after)
  if (after) naive.rows.set(id, after)
  else naive.rows.delete(id)
}

describe('AccountIndex', () => {
  it('answers pages, totals and look-ups like a scan of all accounts, after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const naive = new NaiveAccounts()
        const index = new AccountIndex((id) => naive.rows.get(id))
        for (const each of steps) apply(index, naive, each)
        for (const each of naive.rows.values()) expect(index.byId(each.id)).toBe(each)
        for (const connector of NAMES) for (const id of IDENTIFIERS) expectFound(index, naive, [connector, id])
      }),
      { numRuns: 300 },
    )
  })

  it('finds new accounts by filters that were asked before', () => {
    const filters = fc.uniqueArray(filter, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(filters, fc.array(fc.record(places), { maxLength: 12 }), (asked, added) => {
        const naive = new NaiveAccounts()
        const index = new AccountIndex((id) => naive.rows.get(id))
        for (const [at, each] of added.entries()) {
          for (const one of asked) apply(index, naive, { page: [one, { after: 0 }, 5] })
          apply(index, naive, { put: { sequence: at + 1, ...each } })
        }
        for (const one of asked) apply(index, naive, { page: [one, { after: 0 }, 5] })
      }),
      { numRuns: 300 },
    )
  })

  it('visits every match once when paging forward and back while others are deleted', () => {
    const index = new AccountIndex(() => undefined)
    const accounts = Array.from({ length: 3000 }, (_, at) => account(at + 1))
    for (const each of accounts) index.update(undefined, each)
    const seen: number[] = []
    for (let after = 0; ;) {
      const page = index.page({ query: 'USER' }, { after }, 100)
      seen.push(...page.rows.map(({ sequence }) => sequence))
      after = page.rows.at(-1)?.sequence ?? after
      for (const each of page.rows) if (each.sequence % 2 === 0) index.update(each, undefined)
      if (!page.has_next) break
    }
    expect(seen).toEqual(accounts.map(({ sequence }) => sequence))
    expect(index.page({ query: 'user' }, { before: 3001 }, 2).rows.map(({ sequence }) => sequence)).toEqual([
      2997, 2999,
    ])
    expect(index.page({}, { after: 0 }, 1).total).toBe(1500)
  })

  it('finds the account of one scope among thousands with the same name', () => {
    const index = new AccountIndex(() => undefined)
    for (let at = 1; at <= 5000; at++)
      index.update(undefined, account(at, { identifier: 'me', organization_id: `org_${at}` }))
    expect(index.inScope('mail', 'me', { organization_id: 'org_4321', user_id: '' })?.sequence).toBe(4321)
    expect(index.inScope('mail', 'me', { organization_id: 'org_4321', user_id: 'u' })).toBeUndefined()
  })

  it('finds the identifier that differs by case or blanks alone, after changes too', () => {
    const index = new AccountIndex(() => undefined)
    const rows = ['ada@example.com', 'Grace @Example.com', 'LIN'].map((identifier, at) =>
      account(at + 1, { identifier }),
    )
    for (const row of rows) index.update(undefined, row)
    const asked = ['ADA@example.com', ' ada@example.com', 'ada@example.com', 'grace@example.com', 'lin', 'Lin ', 'x']
    const similar = (): (string | undefined)[] => asked.map((identifier) => index.similar(identifier))
    const [ada, grace] = ['ada@example.com', 'Grace @Example.com']
    expect(similar()).toEqual([ada, ada, undefined, grace, 'LIN', 'LIN', undefined])
    index.update(rows[1], undefined)
    index.update(undefined, account(4, { identifier: 'X' }))
    expect(similar()).toEqual([ada, ada, undefined, undefined, 'LIN', 'LIN', 'X'])
  })

  it('finds a text among 30,000 accounts', () => {
    const index = new AccountIndex(() => undefined)
    for (let at = 1; at <= 30_000; at++) index.update(undefined, account(at))
    for (const text of ['r29999@', 'r11111@', 'r5@', 'r20202@', 'r777@', 'R1234@']) {
      expect(index.page({ query: text }, { after: 0 }, 10).rows.map(({ identifier: id }) => id)).toEqual([
        `use${text.toLowerCase()}example.com`,
      ])
    }
  })

  it('keeps the answer to two filters correct while accounts are created, changed and deleted', () => {
    const index = new AccountIndex(() => undefined)
    const row = (at: number): Account =>
      account(at, { user_id: at % 2 === 0 ? 'even' : 'odd', connector: at % 3 === 0 ? 'mail' : 'chat' })
    for (let at = 1; at <= 3000; at++) index.update(undefined, row(at))
    const total = (): number => index.page({ user_id: 'even', connector: 'mail' }, { after: 0 }, 10).total
    expect(total()).toBe(500)
    index.update(row(6), undefined)
    index.update(row(12), { ...row(12), connector: 'chat' })
    index.update(row(1), { ...row(1), user_id: 'even', connector: 'mail' })
    index.update(row(18), { ...row(18), status: 'EXPIRED' })
    expect(total()).toBe(499)
    expect(index.page({ user_id: 'even', connector: 'mail' }, { after: 0 }, 3).rows).toMatchObject([
      { sequence: 1 },
      { sequence: 18, status: 'EXPIRED' },
      { sequence: 24 },
    ])
  })

  it('refuses a second account with the same connector, identifier and scope, and keeps the first', () => {
    const model = new Model(() => undefined)
    const { accounts } = model.tables
    model.transact(() => accounts.put(account(1)))
    expect(() => model.transact(() => accounts.put(account(1, { id: 'ca_other' })))).toThrow('belongs to ca_1')
    expect(model.accountIndex.page({}, { after: 0 }, 10).rows).toEqual([account(1)])
    expect([...accounts.values()]).toEqual([account(1)])
  })
})
