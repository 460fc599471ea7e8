import { z } from 'zod'
import { pretty } from './pretty.ts'
import type { Step } from './step.ts'

/** JSON Schemas of the files that users write, out of the zod schemas that read them; editors take them by `$schema`. */
export const jsonSchemas: Step = {
  name: 'json schemas',
  inputs: [
    'src/cli/configuration.ts',
    'src/cli/flags.ts',
    'src/documents',
    'src/domain',
    'src/schema',
    'src/scenarios/faults',
    'src/verdict/report-schemas.ts',
  ],
  outputs: ['spec/schemas'],
  make: async (root) => {
    const files = new Map<string, string>()
    for (const [name, schema] of Object.entries(await schemaDocuments())) {
      const path = `spec/schemas/${name}.schema.json`
      files.set(path, await pretty(root, path, JSON.stringify(schema)))
    }
    return files
  },
}

const TITLES = {
  seed: 'What a toolmock environment starts with',
  connector: 'A connector of toolmock: one fake third-party application',
  extension: 'An extension of toolmock: answers for a part of the service that the mock does not serve',
  scenario: 'A scenario of toolmock: what goes wrong, when, and where',
  config: 'A configuration of toolmock: what flags say, as a file',
  state: 'The state of toolmock',
  'contract-report': 'A contract report of toolmock: what clients did wrong',
  'coverage-report': 'A coverage report of toolmock: what of the contract has been exercised',
} as const

/** The JSON Schemas of documents, the state file and reports, by name (`spec/schemas/<name>.schema.json`). */
export async function schemaDocuments(): Promise<Record<string, object>> {
  const [
    { seedSchema },
    { connectorSchema },
    { scenarioSchema },
    { extensionSchema },
    { configurationSchema },
    { stateSchema },
    reports,
  ] = await Promise.all([
    import('../../src/documents/seed.ts'),
    import('../../src/documents/connector.ts'),
    import('../../src/documents/scenario.ts'),
    import('../../src/documents/extension.ts'),
    import('../../src/cli/configuration.ts'),
    import('../../src/schema/state-document.ts'),
    import('../../src/verdict/report-schemas.ts'),
  ])
  return {
    seed: jsonSchema('seed', seedSchema),
    connector: jsonSchema('connector', connectorSchema),
    scenario: jsonSchema('scenario', scenarioSchema),
    extension: jsonSchema('extension', extensionSchema),
    config: jsonSchema('config', configurationSchema),
    state: jsonSchema('state', stateSchema),
    'contract-report': jsonSchema('contract-report', reports.contractReportSchema, 'output'),
    'coverage-report': jsonSchema('coverage-report', reports.coverageReportSchema, 'output'),
    document: DOCUMENT,
  }
}

const having = (key: string): object => ({ type: 'object', required: [key] })

/** A file of any kind, told by the key that only its kind requires. Its references are to the files beside it. */
const DOCUMENT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A file of toolmock: a seed, connector, scenario or extension',
  if: having('connector'),
  then: { $ref: 'connector.schema.json' },
  else: {
    if: having('extension'),
    then: { $ref: 'extension.schema.json' },
    else: { if: having('rules'), then: { $ref: 'scenario.schema.json' }, else: { $ref: 'seed.schema.json' } },
  },
}

/** By default of what is written, before defaults and durations are worked out. */
function jsonSchema(name: keyof typeof TITLES, schema: z.ZodType, io: 'input' | 'output' = 'input'): object {
  // Free-form parts say their type in their metadata.
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return { $schema, $id: `urn:toolmock:schema:${name}`, title: TITLES[name], ...rest }
}
