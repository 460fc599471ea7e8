import type { z } from 'zod'
import { kindOf, type Path, type Problem, problemsOf } from '../../schema/problems.ts'
import { environmentSchema, environmentStateSchema, stateSchema } from '../../schema/state-document.ts'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../../domain/environment-name.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts'
import { SECTION_NAMES, type SectionName, TABLE_NAMES, type TableName } from '../model/model.ts'

/** What is first wrong with a state of the present version. */
export function stateProblem(state: JsonObject): Problem | undefined {
  const unknown = firstProblem(stateSchema, { ...state, environments: {} })
  if (unknown) return unknown
  const { environments } = state
  if (!isJsonObject(environments)) return { path: ['environments'], found: kindOf(environments), allowed: 'an object' }
  for (const [name, environment] of Object.entries(environments)) {
    const problem = ENVIRONMENT_NAME.test(name)
      ? environmentProblems(environmentSchema, environment, SECTION_NAMES).next().value
      : { path: [], found: `the name ${JSON.stringify(name.slice(0, 100))}`, allowed: ENVIRONMENT_NAME_RULE }
    if (problem) return within(['environments', name], problem)
  }
  return undefined
}

/** Everything that is wrong with what `PUT /_mock/state` is sent: the first problem of each row, and all around the rows. */
export function stateProblems(value: unknown): Iterable<Problem> {
  return environmentProblems(environmentStateSchema, value, [])
}

/** What is first wrong with a part of an environment that has no rows. */
export function partProblem(name: 'settings' | 'clock' | 'ids', value: unknown): Problem | undefined {
  return firstProblem(environmentSchema.shape[name], value)
}

/** What is wrong with one row. */
export function rowProblem(table: TableName | SectionName, row: unknown): Problem | undefined {
  return firstProblem(rowSchema(table), row)
}

/** Rows are checked one by one, because zod would copy all of them at once. */
function* environmentProblems(
  schema: typeof environmentSchema | typeof environmentStateSchema,
  value: unknown,
  sections: readonly SectionName[],
): Generator<Problem, undefined> {
  if (!isJsonObject(value)) {
    yield { path: [], found: kindOf(value), allowed: 'an object with "tables"' }
    return
  }
  const tables = isJsonObject(value['tables']) ? value['tables'] : {}
  const frame = {
    ...value,
    ...emptied(value, sections),
    ...(isJsonObject(value['tables']) && { tables: { ...tables, ...emptied(tables, TABLE_NAMES) } }),
  }
  yield* problemsIn(schema, frame)
  for (const name of TABLE_NAMES) yield* rowProblems(name, tables[name], ['tables', name])
  for (const name of sections) yield* rowProblems(name, value[name], [name])
}

function emptied(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (Array.isArray(object[name]) ? [[name, []]] : [])))
}

function* rowProblems(name: TableName | SectionName, rows: JsonValue | undefined, path: Path) {
  if (!Array.isArray(rows)) return
  const schema = rowSchema(name)
  for (let at = 0; at < rows.length; at++) {
    const problem = firstProblem(schema, rows[at])
    if (problem) yield within([...path, at], problem)
  }
}

function rowSchema(name: TableName | SectionName): z.ZodType {
  const { shape } = environmentSchema
  const section = SECTION_NAMES.find((known) => known === name)
  return section ? shape[section].element : shape.tables.shape[name as TableName].element
}

function firstProblem(schema: z.ZodType, value: unknown): Problem | undefined {
  return problemsIn(schema, value)[0]
}

function problemsIn(schema: z.ZodType, value: unknown): Problem[] {
  const { error } = schema.safeParse(value)
  return error ? problemsOf(error.issues, value, [], kindOf) : []
}

export function within(steps: Path, problem: Problem): Problem {
  return { ...problem, path: [...steps, ...problem.path] }
}
