import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/domain/json.ts'
import { SECTION_NAMES, TABLE_NAMES } from '../../src/state/model/model.ts'
import { replayJson } from '../../src/state/wal/replay-json.ts'
import type { WalChange, WalLine } from '../../src/state/wal/write-ahead-log.ts'

const put = (table: string, row: JsonObject): WalChange => ({ put: table, row: row as never })
const line = (fields: Partial<WalLine>): WalLine => ({ n: 1, synced: 0, environment: 'default', ...fields })

const SECTION = SECTION_NAMES.find((name) => name !== 'snapshots') ?? 'snapshots'

/** A state file with one environment, as JSON. */
function state(environment: JsonObject = {}): JsonObject {
  return {
    version: 2,
    environments: {
      default: { settings: { a: 1 }, tables: { accounts: [{ id: 'ca_1' }, { id: 'ca_2' }] }, ...environment },
    },
  }
}

function replayed(lines: Partial<WalLine>[], before = state()): JsonObject {
  const { environments } = replayJson(before, lines.map(line))
  return environments as JsonObject
}

const one = (lines: Partial<WalLine>[], before = state()) => replayed(lines, before)['default'] as JsonObject

describe('replaying a log on the JSON of a state file', () => {
  it('has no effect without lines, and keeps unknown fields', () => {
    expect(replayJson(state({ more: [1] }), [])).toEqual({ ...state({ more: [1] }) })
    expect(replayed([], { environments: { odd: 'text' } })).toEqual({ odd: 'text' })
    expect(replayed([], { environments: 'text' })).toEqual({})
  })

  it('puts, replaces and removes rows, and keeps their order', () => {
    const changes = [
      put('accounts', { id: 'ca_1', v: 2 }),
      put('accounts', { id: 'ca_3' }),
      { remove: 'accounts', id: 'ca_2' },
      put('grants', { id: 'gr_1' }),
    ]
    expect(one([{ changes }])['tables']).toEqual({
      accounts: [{ id: 'ca_1', v: 2 }, { id: 'ca_3' }],
      grants: [{ id: 'gr_1' }],
    })
    const apart = changes.map((change) => ({ changes: [change] }))
    expect(one(apart)).toEqual(one([{ changes }]))
  })

  it('keeps invalid rows, and rows with the same id, for the later check', () => {
    const accounts = [{ id: 'ca_1' }, 'text', { id: 'ca_1', second: true }, { other: 1 }, { other: 2 }]
    const changed = one([{ changes: [put('accounts', { id: 'ca_1', v: 2 })] }], state({ tables: { accounts } }))
    expect(changed['tables']).toEqual({ accounts: [{ id: 'ca_1', v: 2 }, ...accounts.slice(1)] })
  })

  it('replaces an invalid list of rows by the rows of the log', () => {
    const changed = one([{ changes: [put('accounts', { id: 'ca_9' })] }], state({ tables: { accounts: 'text' } }))
    expect(changed['tables']).toEqual({ accounts: [{ id: 'ca_9' }] })
  })

  it('puts the rows of a section beside the tables, and not into them', () => {
    const before = state({ [SECTION]: [{ id: 'first' }] })
    const changed = one([{ changes: [put(SECTION, { id: 'second' })] }], before)
    expect(changed[SECTION]).toEqual([{ id: 'first' }, { id: 'second' }])
    expect(changed['tables']).toEqual({ accounts: [{ id: 'ca_1' }, { id: 'ca_2' }] })
  })

  it('takes a snapshot of the environment at that position of the log', () => {
    const before = state({ clock: { offset_ms: 5 }, ids: { seed: 1, position: 2 } })
    const changed = one(
      [
        { changes: [{ remove: 'accounts', id: 'ca_1' }] },
        { changes: [put('snapshots', { id: 'one', taken_at: 'then' })] },
        { changes: [{ remove: 'accounts', id: 'ca_2' }] },
      ],
      before,
    )
    expect(changed['snapshots']).toEqual([
      {
        ...{ id: 'one', taken_at: 'then', settings: { a: 1 }, clock: { offset_ms: 5 } },
        ...{ ids: { seed: 1, position: 2 }, tables: { accounts: [{ id: 'ca_2' }] } },
      },
    ])
    expect(changed['tables']).toEqual({ accounts: [] })
  })

  it('merges the record of an environment, and counts seeded ids on', () => {
    const before = state({ ids: { seed: 1, position: 2 } })
    expect(one([{ record: { settings: { b: 2 } } as never, ids: 9 }], before)).toMatchObject({
      settings: { b: 2 },
      ids: { seed: 1, position: 9 },
      tables: { accounts: [{ id: 'ca_1' }, { id: 'ca_2' }] },
    })
    expect(one([{}], before)['ids']).toEqual({ seed: 1, position: 2 })
    expect(one([{ ids: 9 }], state({ ids: { kind: 'random' } }))['ids']).toEqual({ kind: 'random' })
    expect(one([{ ids: 9 }])).not.toHaveProperty('ids')
  })

  it('creates an environment with empty tables, and removes one with its rows', () => {
    const made = replayed([{ environment: 'other', record: { settings: {} } as never }])
    const empty = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, []]))
    expect(made['other']).toEqual({ settings: {}, tables: empty(TABLE_NAMES), ...empty(SECTION_NAMES) })
    const again = one([
      { changes: [put('accounts', { id: 'ca_9' })] },
      { record: null },
      { record: { settings: {} } as never, changes: [put('accounts', { id: 'ca_1' })] },
    ])
    expect((again['tables'] as JsonObject)['accounts']).toEqual([{ id: 'ca_1' }])
    expect(replayed([{ record: null }])).toEqual({})
  })
})
