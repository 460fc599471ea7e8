import { isJsonObject } from '../domain/json.ts'
import type { Settings } from '../domain/settings.ts'
import type { ClockState } from './model/clock.ts'
import { type Rows, type TableName, TABLE_NAMES } from './model/model.ts'
import { clockShape, idsShape, rowShape, settingsShape } from './state-file/row-shapes.ts'
import { describe, type Fault, pathText, type Shape, within } from './state-file/shape.ts'
import { replaceRows } from './snapshots.ts'
import type { StoredEnvironment } from './stored-environment.ts'
import type { EnvironmentRegistry } from './environment-registry.ts'

/** A model as the state file holds that of one environment. What is not given beside the tables stays as it is. */
export interface EnvironmentState {
  settings?: Settings
  clock?: ClockState
  tables: { readonly [Name in TableName]: readonly Rows[Name][] }
}

/** One thing that is wrong with a state: where, what is there, what may be. */
export interface StateProblem {
  path: string
  found: string
  allowed: string
}

/** More would not help anybody: they have the same cause. */
const MOST_PROBLEMS = 100

const PARTS: ReadonlyMap<string, Shape> = new Map([
  ['settings', settingsShape],
  ['clock', clockShape],
  ['ids', idsShape],
])

/**
 * Reads a state for an environment: `settings`, `clock`, `ids` and `tables`. Ids are taken for the sake of a state that was
 * read before, and ignored: a sequence never goes back.
 * @param refuse told of every problem; the state is undefined when there was one
 */
export function readState(
  value: unknown,
  owner: { registry: EnvironmentRegistry; environment: StoredEnvironment },
  refuse: (problem: StateProblem) => void,
): EnvironmentState | undefined {
  const faults = shapeFaults(value)
  const wellShaped = faults.length === 0 ? (value as EnvironmentState) : undefined
  if (wellShaped) faults.push(...contradictions(wellShaped, owner))
  for (const { path, found, allowed } of faults.slice(0, MOST_PROBLEMS))
    refuse({ path: pathText(path), found, allowed })
  return faults.length === 0 ? wellShaped : undefined
}

/** Puts a state in place of everything that an environment has, in one commit. */
export function replaceState(
  registry: EnvironmentRegistry,
  environment: StoredEnvironment,
  state: EnvironmentState,
): void {
  registry.change(environment, () => {
    if (state.settings) environment.configure(state.settings)
    if (state.clock) environment.clock.restore(state.clock)
    for (const table of TABLE_NAMES) replaceRows(environment, table, state.tables[table])
  })
}

function shapeFaults(value: unknown): Fault[] {
  if (!isJsonObject(value)) return [{ path: [], found: describe(value), allowed: 'an object with "tables"' }]
  const faults = Object.entries(value).flatMap(([name, part]): Fault[] => {
    if (name === 'tables') return []
    const shape = PARTS.get(name)
    if (!shape) return [{ path: [name], found: 'an unknown field', allowed: 'settings, clock, ids, tables' }]
    return faultOf(shape(part) ?? impossibleInstant(part), name)
  })
  const tables = Object.hasOwn(value, 'tables') ? value['tables'] : undefined
  if (!isJsonObject(tables)) return [...faults, { path: ['tables'], found: describe(tables), allowed: 'an object' }]
  for (const name of Object.keys(tables)) {
    if (TABLE_NAMES.some((known) => known === name)) continue
    faults.push({ path: ['tables', name], found: 'an unknown field', allowed: TABLE_NAMES.join(', ') })
  }
  return [...faults, ...TABLE_NAMES.flatMap((name) => tableFaults(name, tables[name]))]
}

/** The first fault of each row. */
function tableFaults(table: TableName, rows: unknown): Fault[] {
  if (!Array.isArray(rows)) return [{ path: ['tables', table], found: describe(rows), allowed: 'an array' }]
  const shape = rowShape(table)
  return rows.flatMap((row: unknown, at) => {
    const fault = shape(row) ?? impossibleInstant(row)
    return fault ? [within('tables', within(table, within(at, fault)))] : []
  })
}

/** Row shapes look at the form of an instant only, because they have to be fast. */
function impossibleInstant(row: unknown): Fault | undefined {
  if (!isJsonObject(row)) return undefined
  for (const [name, value] of Object.entries(row)) {
    if (!name.endsWith('_at') || typeof value !== 'string' || !Number.isNaN(Date.parse(value))) continue
    return { path: [name], found: 'an instant that does not exist', allowed: 'one such as 2026-01-31T12:00:00.000Z' }
  }
  return undefined
}

/** Rows that contradict one another, or what other environments have. */
function contradictions(
  { tables }: EnvironmentState,
  { registry, environment }: { registry: EnvironmentRegistry; environment: StoredEnvironment },
): Fault[] {
  const faults = TABLE_NAMES.flatMap((name) => repeated(name, tables[name], 'id'))
  faults.push(...repeated('accounts', tables.accounts, 'sequence'))
  for (const [table, ownerOf] of ownersIn(registry)) {
    for (const [at, { id }] of tables[table].entries()) {
      const owner = ownerOf(id)
      if (!owner || owner === environment) continue
      const found = `what the environment ${owner.name} has`
      faults.push({ path: ['tables', table, at, 'id'], found, allowed: 'an id that no other environment has' })
    }
  }
  const given = tables.counters.find(({ id }) => id === 'account_sequence')?.value ?? 0
  const last = tables.accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  if (last > given) {
    const allowed = `account_sequence of at least ${last}, the sequence of the last account`
    faults.push({ path: ['tables', 'counters'], found: `account_sequence ${given}`, allowed })
  }
  return faults
}

/** What chooses an environment cannot be of two of them. */
function ownersIn(registry: EnvironmentRegistry) {
  return [
    ['clients', (id: string) => registry.byClient(id)?.environment],
    ['bearer_tokens', (id: string) => registry.byBearer(id)?.environment],
    ['magic_links', (id: string) => registry.byMagicLink(id)?.environment],
  ] as const
}

function repeated<Key extends string>(
  table: TableName,
  rows: readonly { readonly [Name in Key]: string | number }[],
  key: Key,
): Fault[] {
  const seen = new Set<string | number>()
  return rows.flatMap((row, at) => {
    const value = row[key]
    if (!seen.has(value)) {
      seen.add(value)
      return []
    }
    return [{ path: ['tables', table, at, key], found: 'the same for the second time', allowed: `each ${key} once` }]
  })
}

function faultOf(fault: Fault | undefined, step: string): Fault[] {
  return fault ? [within(step, fault)] : []
}
