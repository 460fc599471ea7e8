import { z } from 'zod'
import { connectorSchema } from './connector.ts'
import { contractReportSchema, coverageReportSchema } from './report-schemas.ts'
import { scenarioSchema } from './scenario.ts'
import { seedSchema } from './seed.ts'
import { stateSchema } from '../schema/state-document.ts'

const TITLES = {
  seed: 'What a toolmock environment starts with',
  connector: 'A connector of toolmock: one fake third-party application',
  scenario: 'A scenario of toolmock: what goes wrong, when, and where',
  state: 'The state of toolmock',
  'contract-report': 'A contract report of toolmock: what clients did wrong',
  'coverage-report': 'A coverage report of toolmock: what of the contract has been exercised',
} as const

/** The JSON Schemas of documents, the state file and reports, by name (`spec/schemas/<name>.schema.json`). */
export function jsonSchemas(): Record<string, object> {
  return {
    seed: jsonSchema('seed', seedSchema),
    connector: jsonSchema('connector', connectorSchema),
    scenario: jsonSchema('scenario', scenarioSchema),
    state: jsonSchema('state', stateSchema),
    'contract-report': jsonSchema('contract-report', contractReportSchema, 'output'),
    'coverage-report': jsonSchema('coverage-report', coverageReportSchema, 'output'),
  }
}

/** By default of what is written, before defaults and durations are worked out. */
function jsonSchema(name: keyof typeof TITLES, schema: z.ZodType, io: 'input' | 'output' = 'input'): object {
  // Free-form parts say their type in their metadata.
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return { $schema, $id: `${name}.schema.json`, title: TITLES[name], ...rest }
}
