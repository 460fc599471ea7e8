import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Account } from '../../src/model/domain/account.ts'
import type { Position } from '../../src/model/domain/page-token.ts'
import { rangeAt } from '../../src/service/operations/paging.ts'
import { AccountIndex, type AccountFilter } from '../../src/state/model/account-index.ts'
import { Model } from '../../src/state/model/model.ts'
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
type Step =
  | { put: Partial<Account> & { sequence: number } }
  | { remove: number }
  | { where: AccountFilter }
  | { find: [connector: string, identifier: string] }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: row }) },
  { weight: 2, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 2, arbitrary: fc.record({ find: fc.tuple(name, identifier) }) },
  { weight: 3, arbitrary: fc.record({ where: filter }) },
)

/** The expected answers of the index, computed by a scan of all accounts. */
class NaiveAccounts {
  readonly rows = new Map<string, Account>()

  where({ query, connectors, ...exact }: AccountFilter): Account[] {
    const text = query?.toLowerCase()
    return [...this.rows.values()]
      .sort((a, b) => a.sequence - b.sequence)
      .filter((each) => Object.entries(exact).every(([field, value]) => each[field as keyof Account] === value))
      .filter((each) => connectors?.includes(each.connector) ?? true)
      .filter(({ identifier: id, connector, provider }) =>
        text === undefined ? true : [id, connector, provider].some((value) => value.toLowerCase().includes(text)),
      )
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
  expect(index.where({ connector, identifier: id })).toEqual(named)
  for (const organization_id of SCOPES)
    for (const user_id of SCOPES) {
      const inScope = named.find((each) => each.organization_id === organization_id && each.user_id === user_id)
      expect(index.inScope(connector, id, { organization_id, user_id })).toBe(inScope)
    }
}

function apply(index: AccountIndex, naive: NaiveAccounts, each: Step): void {
  if ('where' in each) {
    expect(index.where(each.where)).toEqual(naive.where(each.where))
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
        for (const one of asked) apply(index, naive, { where: one })
        apply(index, naive, { put: { sequence: at + 1, ...each } })
      }
      for (const one of asked) apply(index, naive, { where: one })
    }),
    { numRuns: 300 },
  )
})

it('has pages that visit every match once, forward and back, while others are deleted', () => {
  const index = new AccountIndex(() => undefined)
  const accounts = Array.from({ length: 3000 }, (_, at) => account(at + 1))
  for (const each of accounts) index.update(undefined, each)
  const pageAt = (position: Position, size: number): readonly Account[] => {
    const matches = index.where({ query: 'USER' })
    const { from, to } = rangeAt(matches, ({ sequence }) => sequence, position, size)
    return matches.slice(from, to)
  }
  const seen: number[] = []
  for (let page = pageAt({ after: 0 }, 100); page.length > 0; page = pageAt({ after: seen.at(-1) ?? 0 }, 100)) {
    seen.push(...page.map(({ sequence }) => sequence))
    for (const each of page) if (each.sequence % 2 === 0) index.update(each, undefined)
  }
  expect(seen).toEqual(accounts.map(({ sequence }) => sequence))
  expect(pageAt({ before: 3001 }, 2).map(({ sequence }) => sequence)).toEqual([2997, 2999])
  expect(pageAt({ before: 4 }, 5).map(({ sequence }) => sequence)).toEqual([1, 3])
  expect(pageAt({ after: 2999 }, 5)).toEqual([])
})

it.each(['ann@x\nmail', 'mail\nmail'])('finds nothing by %j, which spans two fields', (query) => {
  const index = new AccountIndex(() => undefined)
  index.update(undefined, account(1, { identifier: 'ann@x', connector: 'mail', provider: 'mail' }))
  expect(index.where({ query })).toEqual([])
  expect(index.where({ query: 'ann@x' })).toHaveLength(1)
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
  const rows = ['ada@example.com', 'Grace @Example.com', 'LIN'].map((identifier, at) => account(at + 1, { identifier }))
  for (const row of rows) index.update(undefined, row)
  const asked = ['ADA@example.com', ' ada@example.com', 'ada@example.com', 'grace@example.com', 'lin', 'Lin ', 'x']
  const similar = (): (string | undefined)[] => asked.map((identifier) => index.similar(identifier))
  const [ada, grace] = ['ada@example.com', 'Grace @Example.com']
  expect(similar()).toEqual([ada, ada, undefined, grace, 'LIN', 'LIN', undefined])
  index.update(rows[1], undefined)
  index.update(undefined, account(4, { identifier: 'X' }))
  expect(similar()).toEqual([ada, ada, undefined, undefined, 'LIN', 'LIN', 'X'])
})

it('keeps the answer to two filters correct while accounts are created, changed and deleted', () => {
  const index = new AccountIndex(() => undefined)
  const row = (at: number): Account =>
    account(at, { user_id: at % 2 === 0 ? 'even' : 'odd', connector: at % 3 === 0 ? 'mail' : 'chat' })
  for (let at = 1; at <= 3000; at++) index.update(undefined, row(at))
  const total = (): number => index.where({ user_id: 'even', connector: 'mail' }).length
  expect(total()).toBe(500)
  index.update(row(6), undefined)
  index.update(row(12), { ...row(12), connector: 'chat' })
  index.update(row(1), { ...row(1), user_id: 'even', connector: 'mail' })
  index.update(row(18), { ...row(18), status: 'EXPIRED' })
  expect(total()).toBe(499)
  expect(index.where({ user_id: 'even', connector: 'mail' }).slice(0, 3)).toMatchObject([
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
  expect(model.accountIndex.where({})).toEqual([account(1)])
  expect([...accounts.values()]).toEqual([account(1)])
})
