import type { Settings } from '../model/domain/settings.ts'
import { isJsonObject, jsonText } from '../model/domain/json.ts'
import { lazyImport } from '../model/domain/once.ts'
import { preparePatterns } from '../model/domain/text-pattern.ts'
import type { ClockState } from './model/time-and-ids.ts'
import { type Rows, type TableName, TABLE_NAMES } from './model/model.ts'
import type { Problem } from '../model/schema/problems.ts'
import { contradictionsOf, ofOther } from './state-file/contradictions.ts'
import { replaceTables } from './rebuild.ts'
import type { Environment } from './environment.ts'
import type { EnvironmentRegistry } from './environment-registry.ts'

const loadSchema = lazyImport(() => import('../model/schema/state-document.ts'))

/** A model as the state file holds that of one environment. What is not given beside the tables stays as it is. */
export interface EnvironmentState {
  settings?: Settings
  clock?: ClockState
  tables: { readonly [Name in TableName]: readonly Rows[Name][] }
}

/**
 * `ids` of a state that was read before are ignored: a sequence never goes back. @param refuse called with everything
 * that is wrong; the state is undefined when there was one
 */
export async function readStateUpload(
  value: unknown,
  owner: { registry: EnvironmentRegistry; environment: Environment },
  refuse: (problem: Problem) => void,
): Promise<EnvironmentState | undefined> {
  if (typeof value === 'object' && value !== null && 'environments' in value) {
    const allowed = 'the state of one environment, as GET /_mock/state answers it'
    refuse({ path: ['environments'], found: 'the key of a state file', allowed })
    return undefined
  }
  const { stateProblems } = await loadSchema()
  addTables(value)
  await preparePatterns(jsonText(value ?? null))
  const problems = stateProblems(value)
  const wellShaped = problems.length === 0 ? (value as EnvironmentState) : undefined
  if (wellShaped) problems.push(...stateContradictions(wellShaped, owner))
  problems.forEach(refuse)
  return problems.length === 0 ? wellShaped : undefined
}

/** Adds the tables that have come since to a state that an earlier toolmock answered; they are empty. */
function addTables(state: unknown): void {
  if (!isJsonObject(state) || !isJsonObject(state['tables'])) return
  for (const name of ['collection_items', 'mcp_configs', 'mcp_instances', 'mcp_keys'])
    if (!Object.hasOwn(state['tables'], name)) state['tables'][name] = []
}

/** Puts a state in place of everything that an environment has, together with what `more` changes, in one commit. */
export function replaceState(
  environment: Environment,
  { settings, clock, tables }: EnvironmentState,
  more: () => void = () => undefined,
): void {
  replaceTables(environment, tables, new Set(TABLE_NAMES), () => {
    if (settings) environment.replaceSettings(settings)
    if (clock) environment.clock.become(clock)
    more()
  })
}

/** Finds rows that contradict one another, or what other environments have. */
function stateContradictions(
  { tables }: EnvironmentState,
  { registry, environment }: { registry: EnvironmentRegistry; environment: Environment },
): Problem[] {
  const problems = contradictionsOf(tables, ['tables'])
  // What chooses an environment cannot be of two of them.
  for (const [table, owners] of [
    ['clients', registry.byClient],
    ['bearer_tokens', registry.byBearer],
    ['magic_links', registry.byMagicLink],
    ['mcp_instances', registry.byMcpInstance],
    ['mcp_keys', registry.byMcpKey],
  ] as const) {
    for (const [at, row] of tables[table].entries()) {
      const field = 'uuid' in row ? 'uuid' : 'id'
      const owner = owners.get('uuid' in row ? row.uuid : row.id)?.environment
      if (owner && owner !== environment) problems.push(ofOther(['tables', table, at, field], owner.name))
    }
  }
  return problems
}
