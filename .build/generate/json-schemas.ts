import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { CONTROL_SPEC, embedded } from './control-document.ts'
import { pretty } from './pretty.ts'
import type { SpecDocument } from './spec-document.ts'
import type { Step } from './step.ts'

/** JSON Schemas of the files that users write, out of the zod schemas that read them; editors take them by `$schema`. */
export const jsonSchemas: Step = {
  name: 'json schemas',
  inputs: [
    'src/app/cli/cases.ts',
    'src/app/cli/configuration.ts',
    'src/app/cli/command-table.ts',
    'src/files',
    'src/model/domain',
    'src/model/schema',
    'src/scenarios/faults',
    CONTROL_SPEC,
  ],
  outputs: ['spec/schemas'],
  make: async (root) => {
    const files = new Map<string, string>()
    for (const [name, schema] of Object.entries({ ...(await schemaDocuments()), ...(await reportSchemas(root)) })) {
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
  cases: 'Cases of toolmock: what run --cases runs its command with, and what is expected of it',
  config: 'A configuration of toolmock: what flags say, as a file',
  state: 'The state of toolmock',
} as const

/** The JSON Schemas of documents and of the state file, by name (`spec/schemas/<name>.schema.json`). */
export async function schemaDocuments(): Promise<Record<string, object>> {
  const [
    { seedSchema },
    { connectorSchema },
    { scenarioSchema },
    { extensionSchema },
    { configurationSchema },
    { casesSchema },
    { stateSchema },
  ] = await Promise.all([
    import('../../src/files/seed.ts'),
    import('../../src/files/connector.ts'),
    import('../../src/files/scenario.ts'),
    import('../../src/files/extension.ts'),
    import('../../src/app/cli/configuration.ts'),
    import('../../src/app/cli/cases.ts'),
    import('../../src/model/schema/state-document.ts'),
  ])
  return {
    seed: jsonSchema('seed', seedSchema),
    connector: jsonSchema('connector', connectorSchema),
    scenario: jsonSchema('scenario', scenarioSchema),
    extension: jsonSchema('extension', extensionSchema),
    cases: jsonSchema('cases', casesSchema),
    config: jsonSchema('config', configurationSchema),
    state: jsonSchema('state', stateSchema),
    document: DOCUMENT,
  }
}

const JSON_SCHEMA = 'https://json-schema.org/draft/2020-12/schema'

const having = (key: string): object => ({ type: 'object', required: [key] })

/** A file of any kind, told by the key that only its kind requires. Its references are to the files beside it. */
const DOCUMENT = {
  $schema: JSON_SCHEMA,
  title: 'A file of toolmock: a seed, connector, scenario, extension or cases',
  if: having('connector'),
  then: { $ref: 'connector.schema.json' },
  else: {
    if: having('extension'),
    then: { $ref: 'extension.schema.json' },
    else: {
      if: having('rules'),
      then: { $ref: 'scenario.schema.json' },
      else: { if: having('cases'), then: { $ref: 'cases.schema.json' }, else: { $ref: 'seed.schema.json' } },
    },
  },
}

/** The schemas of the reports, as the description of the control API has them. */
async function reportSchemas(root: string): Promise<Record<string, object>> {
  const { parse } = await import('yaml')
  const document = parse(await readFile(join(root, CONTROL_SPEC), 'utf8')) as SpecDocument
  const schemas = Object.entries({ 'contract-report': 'ContractReport', 'coverage-report': 'CoverageReport' })
  return Object.fromEntries(
    schemas.map(([name, component]) => {
      const schema = embedded({ $ref: `#/components/schemas/${component}` }, new Map(), document) as object
      return [name, { $schema: JSON_SCHEMA, $id: `urn:toolmock:schema:${name}`, ...schema }]
    }),
  )
}

/** Of what is written, before defaults and durations are worked out. */
function jsonSchema(name: keyof typeof TITLES, schema: z.ZodType): object {
  // Free-form parts say their type in their metadata.
  // A state repeats the same parts many times; the other files are read by people.
  const reused = name === 'state' ? 'ref' : 'inline'
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused })
  return { $schema, $id: `urn:toolmock:schema:${name}`, title: TITLES[name], ...rest }
}
