import { z } from 'zod'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { PLACES } from '../domain/scenario.ts'
import { FAULT_SCHEMAS } from './scenario-faults.ts'
import { scenarioTime } from './scenario-time.ts'
import { jsonObject, nonEmpty, schemaReference, strict, text, textMap } from './schema-parts.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Names travel in paths (`PUT /_mock/scenarios/{name}`) and on command lines. */
const scenarioName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, { error: '1 to 100 letters, digits, dots, underscores and hyphens' })

const account = strict({
  id: text.optional(),
  connector: text.optional(),
  identifier: text.optional(),
  organization_id: text.optional(),
  user_id: text.optional(),
  status: z.enum(ACCOUNT_STATUSES).optional(),
})

const match = strict({
  operation: nonEmpty.optional().describe('At service: one operation.'),
  tool: nonEmpty.optional().describe('The tool that is executed; at service and third_party.'),
  connector: nonEmpty.optional(),
  account: account.optional().describe('Values or globs by field of the account that the request is about.'),
  client: nonEmpty.optional().describe('At service: the client id.'),
  method: z.enum(METHODS).optional().describe('At third_party.'),
  path: nonEmpty.optional().describe('At third_party: a path or glob, without the query.'),
  body: jsonObject
    .optional()
    .describe('Values or globs by dotted path into the JSON body; nested objects count as paths.'),
  query: textMap.optional().describe('Values or globs by parameter.'),
  headers: textMap.optional().describe('Values or globs by header.'),
})

const count = z.int().min(1)

const conditions = strict({
  nth: count.optional().describe('The request of this number alone.'),
  first: count.optional().describe('The first so many.'),
  every: count.optional().describe('Each request whose number so many divides.'),
  after: z.int().min(0).optional().describe('Every one after the first so many.'),
  times: count.optional().describe('With after: only so many of them.'),
  probability: z.number().min(0).max(1).optional().describe('Chance, seeded.'),
  from: scenarioTime.optional().describe("From this time of the environment's clock on."),
  until: scenarioTime.optional().describe('Before this time.'),
  state: nonEmpty.optional().describe('Only while the scenario is in this state.'),
}).describe('All of them have to hold. Numbers count the requests that fit at and on since the scenario started.')

const { shape: faults } = strict(FAULT_SCHEMAS).partial()

const rule = strict({
  name: nonEmpty,
  at: z.enum(PLACES).describe('Where it acts.'),
  on: match.default({}).describe('Which requests it is about; all of them when absent.'),
  when: conditions.default({}),
  do: z.array(strict(faults)).default([]).describe('What it does: one fault in each item, in this order.'),
  then: nonEmpty.optional().describe('The state from this request on.'),
  must_fire: z.boolean().default(true).describe('Whether a run in which it never fired has failed.'),
  off_spec: z.boolean().default(false).describe('Whether its answers may be what the spec does not declare.'),
})

/** A scenario file (`spec/schemas/scenario.schema.json`): what goes wrong, when, and where. */
export const scenarioSchema = strict({
  $schema: schemaReference,
  name: scenarioName,
  description: text.default(''),
  initial: nonEmpty.optional().describe('The state it starts in; required where rules name states.'),
  rules: z.array(rule).min(1),
})

export type ScenarioDocument = z.output<typeof scenarioSchema>
export type RuleDocument = ScenarioDocument['rules'][number]
