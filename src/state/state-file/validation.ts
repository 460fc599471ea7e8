import type { z } from 'zod'
import { jsonKind, type Problem, problemsOf } from '../../model/schema/problems.ts'
import { environmentStateSchema, stateSchema } from '../../model/schema/state-document.ts'
import type { JsonObject } from '../../model/domain/json.ts'

/** Everything that is wrong with what `PUT /_mock/state` is sent. */
export function stateProblems(value: unknown): Problem[] {
  return problemsIn(environmentStateSchema, value)
}

/** Everything that is wrong with a state of the present version. */
export function everyProblem(state: JsonObject): Problem[] {
  return problemsIn(stateSchema, state)
}

function problemsIn(schema: z.ZodType, value: unknown): Problem[] {
  const { error } = schema.safeParse(value)
  return error ? problemsOf(error.issues, value, [], jsonKind) : []
}
