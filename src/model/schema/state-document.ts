import { z } from 'zod'
import { ENVIRONMENT_NAME, ENVIRONMENT_NAME_RULE } from '../domain/environment-name.ts'
import { strict, text } from './parts.ts'
import { jsonKind, type Problem, problemsOf } from './problems.ts'
import { clockState, ids, sections, settings, tables } from './tables.ts'

/* `spec/schemas/state.schema.json` is generated from this; `PUT /_mock/state` and messages about rows use it too. */

/** What `PUT /_mock/state` takes. */
export const environmentStateSchema = strict({
  settings: settings.exactOptional(),
  clock: clockState.exactOptional(),
  ids: ids.exactOptional(),
  tables,
})

export const environmentSchema = strict({ settings, clock: clockState, ids, tables, ...sections.shape })

/** The state file: `{"version": 3, "state_id": "…", "generation": 7, "environments": {…}}`. */
export const stateSchema = strict({
  version: z.literal(3),
  state_id: text.describe('Random. Each write-ahead log names the state that it belongs to.'),
  generation: z
    .int()
    .min(1)
    .describe('The first write-ahead log that is not in this file, such as `state.json.wal.7`.'),
  request_ids: z
    .record(z.string(), z.int().min(0))
    .exactOptional()
    .describe('How many ids of requests were given out with `--id-seed`, by their use.'),
  environments: z
    .record(z.string().regex(ENVIRONMENT_NAME, { error: ENVIRONMENT_NAME_RULE }), environmentSchema)
    .describe('By name.'),
}).meta({
  title: 'The state of toolmock',
  description:
    'All environments. The server writes it at a clean stop and from time to time, with a write-ahead log of the commits since then beside it.',
})

/** What is wrong with a state of one of these schemas; no text is shown, since any may be a secret. */
export function stateProblems(value: unknown, schema: z.ZodType = environmentStateSchema): Problem[] {
  const { error } = schema.safeParse(value)
  return error ? problemsOf(error.issues, value, [], jsonKind) : []
}
export type StateDocument = z.infer<typeof stateSchema>
