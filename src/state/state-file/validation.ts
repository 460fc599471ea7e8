import type { z } from 'zod'
import { kindOf, type Problem, problemsOf } from '../../schema/problems.ts'
import { environmentSchema, environmentStateSchema, stateSchema } from '../../schema/state-document.ts'
import { isJsonObject, type JsonObject, own } from '../../domain/json.ts'
import { TABLE_NAMES } from '../model/model.ts'
import { ROWS_AT_ONCE, type Steps } from '../model/slices.ts'

/** Everything that is wrong with what `PUT /_mock/state` is sent. */
export function* stateProblems(value: unknown): Steps<Problem[]> {
  const tables = isJsonObject(value) && isJsonObject(value['tables']) ? value['tables'] : undefined
  if (!tables) return problemsIn(environmentStateSchema, value)
  const problems: Problem[] = []
  for (const name of TABLE_NAMES) {
    const rows = own(tables, name)
    for (let at = 0; Array.isArray(rows) && at < rows.length; at += ROWS_AT_ONCE) {
      const some = problemsIn(environmentSchema.shape.tables.shape[name], rows.slice(at, at + ROWS_AT_ONCE))
      for (const problem of some) {
        const [row, ...inside] = problem.path
        problems.push({ ...problem, path: ['tables', name, at + Number(row), ...inside] })
      }
      yield
    }
  }
  const withoutRows = Object.entries(tables).map(([name, rows]) => [name, Array.isArray(rows) ? [] : rows])
  const rest = { ...(value as object), tables: Object.fromEntries(withoutRows) as object }
  return [...problems, ...problemsIn(environmentStateSchema, rest)]
}

/** Everything that is wrong with a state of the present version. */
export function everyProblem(state: JsonObject): Problem[] {
  return problemsIn(stateSchema, state)
}

function problemsIn(schema: z.ZodType, value: unknown): Problem[] {
  const { error } = schema.safeParse(value)
  return error ? problemsOf(error.issues, value, [], kindOf) : []
}
