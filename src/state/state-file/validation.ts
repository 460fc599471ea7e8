import type { z } from 'zod'
import { kindOf, type Path, type Problem, problemsOf } from '../../schema/problems.ts'
import { environmentSchema, environmentStateSchema, stateSchema } from '../../schema/state-document.ts'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../../domain/environment-name.ts'
import { isJsonObject, type JsonObject } from '../../domain/json.ts'
import { SECTION_NAMES, type SectionName, type TableName } from '../model/model.ts'

/** What is first wrong with a state of the present version. */
export function stateProblem(state: JsonObject): Problem | undefined {
  const { environments } = state
  const name = Object.keys(isJsonObject(environments) ? environments : {}).find((each) => !ENVIRONMENT_NAME.test(each))
  if (name === undefined) return firstProblem(stateSchema, state)
  const found = `the name ${JSON.stringify(name.slice(0, 100))}`
  return { path: ['environments', name], found, allowed: ENVIRONMENT_NAME_RULE }
}

/** Everything that is wrong with what `PUT /_mock/state` is sent. */
export function stateProblems(value: unknown): Problem[] {
  return problemsIn(environmentStateSchema, value)
}

/** What is first wrong with a part of an environment that has no rows. */
export function partProblem(name: 'settings' | 'clock' | 'ids', value: unknown): Problem | undefined {
  return firstProblem(environmentSchema.shape[name], value)
}

/** What is wrong with one row. */
export function rowProblem(table: TableName | SectionName, row: unknown): Problem | undefined {
  return firstProblem(rowSchema(table), row)
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
