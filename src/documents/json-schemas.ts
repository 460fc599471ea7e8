import { z } from 'zod'
import { connectorSchema } from './connector-schema.ts'
import { scenarioSchema } from './scenario-schema.ts'
import { seedSchema } from './seed-schema.ts'
import { stateSchema } from './state-document.ts'

const TITLES = {
  seed: 'What a toolmock environment starts with',
  connector: 'A connector of toolmock: one fake third-party application',
  scenario: 'A scenario of toolmock: what goes wrong, when, and where',
  state: 'The state of toolmock',
} as const

/** The JSON Schemas of the files that users write or keep, by name (`spec/schemas/<name>.schema.json`). */
export function jsonSchemas(): Record<string, object> {
  return {
    seed: jsonSchema('seed', seedSchema),
    connector: jsonSchema('connector', connectorSchema),
    scenario: jsonSchema('scenario', scenarioSchema),
    state: jsonSchema('state', stateSchema),
  }
}

function jsonSchema(name: keyof typeof TITLES, schema: z.ZodType): object {
  // What is written, before defaults and durations are worked out; free-form parts say their type in their metadata.
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' })
  return { $schema, $id: `${name}.schema.json`, title: TITLES[name], ...rest }
}
