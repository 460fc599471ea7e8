import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Account } from '../../src/model/domain/account.ts'
import { Model } from '../../src/state/model/model.ts'
import type { Change } from '../../src/state/model/table.ts'
import { account } from '../support/registry.ts'

const LATER = '2026-01-02T00:00:00.000Z'
const LAST = '2026-01-03T00:00:00.000Z'

function rows(model: Model): Account[] {
  return [...model.tables.accounts.values()]
}

function expiring(sequence: number, at: string): Account {
  return account(sequence, { token_expires_at: at })
}

it('Model undoes everything a transaction did when it throws, the order of rows included', () => {
  const committed: (readonly Change[])[] = []
  const model = new Model((changes) => committed.push(changes))
  const { accounts } = model.tables
  model.transact(() => [1, 2, 3].forEach((sequence) => accounts.put(account(sequence))))
  const before = rows(model)
  const work = (): void => {
    accounts.remove('ca_1')
    accounts.put(account(2, { status: 'EXPIRED' }))
    accounts.put(account(1, { identifier: 'again' }))
    accounts.put(account(9))
    model.count('account_sequence')
    throw new Error('no')
  }
  expect(() => model.transact(work)).toThrow('no')
  expect(rows(model)).toEqual(before)
  expect(model.tables.counters.size).toBe(0)
  expect(model.accountIndex.where({})).toEqual(before)
  expect(model.accountIndex.withinScope('mail', 'again', { organization_id: '', user_id: '' })).toEqual([])
  expect(committed).toHaveLength(1)
})

it('Model treats nested transactions as one', () => {
  const committed: (readonly Change[])[] = []
  const model = new Model((changes) => committed.push(changes))
  const put = (sequence: number): void => model.transact(() => model.tables.accounts.put(account(sequence)))
  model.transact(() => [1, 2].forEach(put))
  expect(committed.map((changes) => changes.length)).toEqual([2])
  const failing = (): void => {
    put(3)
    throw new Error('no')
  }
  expect(() => model.transact(failing)).toThrow('no')
  expect(rows(model).map(({ id }) => id)).toEqual(['ca_1', 'ca_2'])
})

it('Model undoes a commit that the sink refuses', () => {
  const model = new Model(() => {
    throw new Error('refused')
  })
  expect(() => model.transact(() => model.tables.accounts.put(account(1)))).toThrow('refused')
  expect(rows(model)).toEqual([])
})

it('Model refuses changes outside a transaction', () => {
  const model = new Model(() => undefined)
  expect(() => model.tables.accounts.put(account(1))).toThrow('outside a transaction')
})

it('Model is the same after any changes are undone and redone', () => {
  const change = fc.record({ sequence: fc.integer({ min: 1, max: 6 }), remove: fc.boolean(), value: fc.string() })
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 8 }), fc.nat(8), (transactions, kept) => {
      const commits: (readonly Change[])[] = []
      const model = new Model((changes) => commits.push(changes))
      const states: Account[][] = []
      for (const changes of transactions) {
        states.push(rows(model))
        model.transact(() => {
          for (const { sequence, remove, value } of changes) {
            if (remove) model.tables.accounts.remove(`ca_${sequence}`)
            else model.tables.accounts.put(account(sequence, { user_id: value }))
          }
        })
        if (changes.length === 0 || commits.length < states.length) states.pop()
      }
      const end = rows(model)
      const from = Math.min(kept, commits.length)
      for (const changes of commits.slice(from).toReversed()) model.undo(changes)
      expect(rows(model)).toEqual(states[from] ?? end)
      for (const { table, id, after } of commits.slice(from).flat()) model.restore(table, id, after)
      expect(rows(model)).toEqual(end)
    }),
  )
})

/** Expires the earliest account that is due. */
function takeDue(model: Model, now: string): string | undefined {
  const { accounts } = model.tables
  const due = model.due.first(now)
  if (due) model.transact(() => accounts.put({ ...accounts.get(due.id)!, status: 'EXPIRED' }))
  return due?.id
}

it('a due row is returned in the order of time, then by id, and only once it is due', () => {
  const model = new Model(() => undefined)
  model.transact(() => {
    for (const row of [expiring(3, LAST), expiring(2, LATER), expiring(1, LATER)]) model.tables.accounts.put(row)
  })
  expect(model.due.first('2026-01-01T23:59:59.999Z')).toBeUndefined()
  expect([takeDue(model, LATER), takeDue(model, LATER), takeDue(model, LATER)]).toEqual(['ca_1', 'ca_2', undefined])
  expect(model.due.first(LAST)).toEqual({ at: LAST, table: 'accounts', id: 'ca_3' })
})

it('a due row is dropped when the row changes', () => {
  const model = new Model(() => undefined)
  const { accounts, auth_requests } = model.tables
  model.transact(() => {
    accounts.put(expiring(1, LATER))
    accounts.put(expiring(2, LATER))
    auth_requests.put({ id: 'r', account_id: 'ca_1', identifier: 'x', expires_at: LATER, outcome: 'pending' })
  })
  model.transact(() => {
    accounts.remove('ca_1')
    accounts.put(expiring(2, LAST))
    auth_requests.put({ id: 'r', account_id: 'ca_1', identifier: 'x', expires_at: LATER, outcome: 'consumed' })
  })
  expect(model.due.first(LATER)).toBeUndefined()
  expect(model.due.first(LAST)?.id).toBe('ca_2')
})

it('a due row is due again when the transaction that applied its event fails, or is undone later', () => {
  const commits: (readonly Change[])[] = []
  const model = new Model((changes) => commits.push(changes))
  const { accounts } = model.tables
  model.transact(() => accounts.put(expiring(1, LATER)))
  expect(model.due.first(LATER)?.id).toBe('ca_1')
  const failing = (): void => {
    accounts.put(account(1, { status: 'EXPIRED' }))
    throw new Error('no')
  }
  expect(() => model.transact(failing)).toThrow('no')
  expect(model.due.first(LATER)?.id).toBe('ca_1')
  model.transact(() => accounts.put(account(1, { status: 'EXPIRED', token_expires_at: LATER })))
  expect(model.due.first(LAST)).toBeUndefined()
  model.undo(commits.at(-1) ?? [])
  expect(model.due.first(LAST)?.id).toBe('ca_1')
})

it('a due row is correct after thousands of changes of its time', () => {
  const model = new Model(() => undefined)
  for (let at = 0; at < 10_000; at++) {
    const day = new Date(Date.UTC(2026, 0, 2 + (at % 300))).toISOString()
    model.transact(() => model.tables.accounts.put(expiring(1 + (at % 3), day)))
  }
  const taken = Array.from({ length: 4 }, () => takeDue(model, '2027-01-01T00:00:00.000Z'))
  expect(taken).toEqual(['ca_2', 'ca_3', 'ca_1', undefined])
})
