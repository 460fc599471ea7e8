import type { Settings } from '../domain/settings.ts'
import { isJsonObject } from '../domain/json.ts'
import { lazyImport } from '../lazy-import.ts'
import type { ClockState } from './model/time-and-ids.ts'
import { type Rows, type TableName, TABLE_NAMES } from './model/model.ts'
import type { Problem } from '../schema/problems.ts'
import { putRows, rebuild, ROWS_AT_ONCE } from './rebuild.ts'
import { inSlices, sliced, type Steps } from './model/slices.ts'
import type { Environment } from './environment.ts'
import type { EnvironmentRegistry } from './environment-registry.ts'

const loadValidation = lazyImport(() => import('./state-file/validation.ts'))

/** A model as the state file holds that of one environment. What is not given beside the tables stays as it is. */
export interface EnvironmentState {
  settings?: Settings
  clock?: ClockState
  tables: { readonly [Name in TableName]: readonly Rows[Name][] }
}

/**
 * Reads a state for an environment: `settings`, `clock`, `ids` and `tables`. Ids are taken for the sake of a state that was
 * read before, and ignored: a sequence never goes back.
 * @param refuse called with everything that is wrong; the state is undefined when there was one
 */
export async function readState(
  value: unknown,
  owner: { registry: EnvironmentRegistry; environment: Environment },
  refuse: (problem: Problem) => void,
): Promise<EnvironmentState | undefined> {
  if (typeof value === 'object' && value !== null && 'environments' in value) {
    const allowed = 'the state of one environment, as GET /_mock/state answers it'
    refuse({ path: ['environments'], found: 'the key of a state file', allowed })
    return undefined
  }
  const { stateProblems } = await loadValidation()
  addTables(value)
  const problems = await inSlices(stateProblems(value))
  const wellShaped = problems.length === 0 ? (value as EnvironmentState) : undefined
  if (wellShaped) problems.push(...(await inSlices(contradictions(wellShaped, owner))))
  problems.forEach(refuse)
  return problems.length === 0 ? wellShaped : undefined
}

/** Adds the tables that have come since to a state that an earlier toolmock answered; they are empty. */
function addTables(state: unknown): void {
  if (!isJsonObject(state) || !isJsonObject(state['tables'])) return
  for (const name of ['collection_items', 'mcp_configs', 'mcp_keys'])
    if (!Object.hasOwn(state['tables'], name)) state['tables'][name] = []
}

/** Puts a state in place of everything that an environment has, in one commit. */
export function replaceState(environment: Environment, { settings, clock, tables }: EnvironmentState): Promise<void> {
  const emptied = new Set(TABLE_NAMES)
  return environment.inTurn(() =>
    rebuild(environment, {
      emptied,
      fill: (draft) => putRows(draft, tables, emptied),
      finish: () => {
        if (settings) environment.configure(settings)
        if (clock) environment.clock.restore(clock)
      },
    }),
  )
}

/** Of a counter in a state that is given: however long it counts on from there, the state file has a whole number. */
const MAX_COUNTED = 1_000_000_000_000_000

/** Finds rows that contradict one another, or what other environments have. */
function* contradictions(
  { tables }: EnvironmentState,
  { registry, environment }: { registry: EnvironmentRegistry; environment: Environment },
): Steps<Problem[]> {
  const problems: Problem[] = []
  for (const name of TABLE_NAMES) yield* repeated(name, tables[name], 'id', problems)
  yield* repeated('accounts', tables.accounts, 'sequence', problems)
  // What chooses an environment cannot be of two of them.
  for (const [table, owners] of [
    ['clients', registry.byClient],
    ['bearer_tokens', registry.byBearer],
    ['magic_links', registry.byMagicLink],
    ['mcp_keys', registry.byMcpKey],
  ] as const) {
    for (const [at, { id }] of tables[table].entries()) {
      const owner = owners.get(id)?.environment
      if (!owner || owner === environment) continue
      const found = `what the environment ${owner.name} has`
      problems.push({ path: ['tables', table, at, 'id'], found, allowed: 'an id that no other environment has' })
    }
  }
  for (const [at, { value }] of tables.counters.entries()) {
    if (value <= MAX_COUNTED) continue
    problems.push({ path: ['tables', 'counters', at, 'value'], found: `${value}`, allowed: `at most ${MAX_COUNTED}` })
  }
  const given = tables.counters.find(({ id }) => id === 'account_sequence')?.value ?? 0
  const last = tables.accounts.reduce((highest, { sequence }) => Math.max(highest, sequence), 0)
  if (last > given) {
    const allowed = `account_sequence of at least ${last}, the sequence of the last account`
    problems.push({ path: ['tables', 'counters'], found: `account_sequence ${given}`, allowed })
  }
  return problems
}

function* repeated<Key extends string>(
  table: TableName,
  rows: readonly { readonly [Name in Key]: string | number }[],
  key: Key,
  problems: Problem[],
): Steps {
  const seen = new Set<string | number>()
  yield* sliced(rows.entries(), ROWS_AT_ONCE, ([at, row]) => {
    if (!seen.has(row[key])) seen.add(row[key])
    else {
      const path = ['tables', table, at, key]
      problems.push({ path, found: 'the same for the second time', allowed: `each ${key} once` })
    }
  })
}
