import { z } from 'zod'

/** The version of both reports; it moves when a member changes its meaning or goes. */
const REPORT_SCHEMA_VERSION = 1

const count = z.int().min(0)

const head = {
  schema_version: z.literal(REPORT_SCHEMA_VERSION),
  tool: z.strictObject({ name: z.literal('toolmock'), version: z.string() }),
  at: z.string().describe('When the report was made, in real time'),
}

const test = z
  .strictObject({
    label: z.string().describe('Its full name'),
    file: z.string().nullable(),
    line: z.int().nullable(),
  })
  .describe('A test that an environment was made for: the `label`, `file` and `line` of `POST /_mock/environments`')

/** What leads back from a finding to the test and the requests that had it. */
const origin = {
  count,
  requests: z.array(z.string()).describe('Ids of the first requests that had it, for `GET /_mock/requests/{id}`'),
  examples: z
    .array(
      z.strictObject({
        id: z.string(),
        environment: z.string(),
        method: z.string(),
        path: z.string().describe('Without its query'),
        at: z.string().describe("When, in the environment's own time"),
        excerpt: z.string().describe('What was sent at the place that is wrong, secrets masked; may be empty'),
      }),
    )
    .describe('The same requests'),
  tests: z.array(test).describe('The first tests that had it; none where environments have no label'),
  test_count: count.describe('How many tests had it'),
}

const finding = z.strictObject({
  operation: z.string().describe('The operationId of `spec/openapi.yaml`'),
  path: z.string().describe('Where: a dotted path into the body, a query parameter, or a header'),
  constraint: z.string().describe('Which rule: `required`, `type`, `maxLength`, `unknown`, …'),
  error_code: z.string().nullable().describe('With which the request was refused; null where it was not'),
  found: z.string().describe('What was sent, in the first of the requests; content of credentials is left out'),
  allowed: z.string(),
  basis: z
    .string()
    .describe(
      'Where the rule comes from: a part of the document, or an identifier of docs/fidelity.md, which explains it',
    ),
  ...origin,
})

const warning = finding.extend({
  kind: z
    .enum(['unread', 'output_only', 'alias', 'ignored', 'similar_identifier', 'unverified_flow', 'barrier_opened_late'])
    .describe(
      'A name that nothing reads; a field that is only ever answered; another name than the document’s; a value without effect; an identifier that differs from a known one by case or blanks alone; a flow that ended without verification although the client verifies elsewhere; a barrier of a scenario that opened by its time',
    ),
})

const unknownPath = z.strictObject({
  method: z.string(),
  path: z.string(),
  status: z.union([z.literal(404), z.literal(405)]),
  did_you_mean: z.string().nullable(),
  ...origin,
})

const unfiredRule = z.strictObject({
  environment: z
    .string()
    .nullable()
    .describe('Null for a scenario of the start, whose rules may fire in any environment'),
  test: test.nullable().describe('The test of that environment'),
  scenario: z.string(),
  rule: z.string(),
  at: z.string(),
  matched: count.describe('Requests that fitted the rule, but not its `when`'),
  stopped: z.boolean().describe('Whether the scenario was stopped before the rule could fire'),
})

const contractRecord = z.strictObject({
  requests: count.describe('To operations and to the proxy, those that a scenario answered among them'),
  injected: count.describe('Answered, cut or changed by a scenario: marked, and no proof of anything'),
  violations: z.array(finding).describe('By the client'),
  answer_violations: z.array(finding).describe('By answers of the mock itself: a defect of the mock'),
  unknown_paths: z.array(unknownPath),
  warnings: z.array(warning).describe('Sent by the client without effect'),
  unfired_rules: z.array(unfiredRule).describe('Rules with `must_fire` that never fired'),
  left_out: count.describe('Findings beyond the thousand that an environment keeps'),
})

const sentences = z.array(z.string()).describe('What was found wrong; nothing where this judge found nothing')

const prismCheck = z
  .strictObject({
    judge: z.literal('prism'),
    judged: z
      .strictObject({ requests: count, answers: count })
      .describe(
        'Covers the requests that the request journal still keeps; those that it dropped or cleared cannot be checked',
      ),
    not_judged: z.strictObject({
      refused: count.describe('Before the contract was checked: no bearer token, a body that is no JSON'),
      injected: count.describe('Answers that a scenario gave, cut or changed'),
      shortened: count.describe('Bodies of which the journal keeps the beginning alone'),
    }),
    disagreements: z.array(
      z.strictObject({
        environment: z.string(),
        request: z.string().describe('Its id, for `GET /_mock/requests/{id}`'),
        operation: z.string(),
        part: z.enum(['request', 'answer']),
        contract: sentences,
        prism: sentences,
      }),
    ),
    left_out: count.describe('Disagreements beyond the first two hundred'),
  })
  .describe(
    'Where Prism reads the contract otherwise than the mock does: a question about the mock, and not about a client',
  )

/** `GET /_mock/contract`: whether the client keeps the contract, and whether the mock does. */
export const contractReportSchema = z.strictObject({
  $schema: z.string().optional(),
  ...head,
  ok: z.boolean().describe('No violations, no unknown paths, and every rule fired that had to'),
  total: contractRecord,
  environments: z.array(z.strictObject({ name: z.string(), test: test.nullable(), ...contractRecord.shape })),
  second_opinion: prismCheck.optional(),
})

const reach = z
  .enum(['driven', 'injected_only', 'never'])
  .describe('By answers of the mock itself; only by answers that a scenario injected; not at all')

const tally = z.strictObject({ total: count, driven: count, injected_only: count, never: count })

const answers = { reach, answers: count, injected: count }

const coverage = z.strictObject({
  summary: z
    .strictObject({
      operations: tally,
      statuses: tally,
      error_codes: tally,
      request_fields: tally,
      response_fields: tally,
      lifecycle_moves: tally,
      scenarios: tally,
    })
    .describe('Each kind by itself: they are never added up'),
  operations: z.array(
    z.strictObject({
      operation: z.string(),
      reach: reach.describe('Driven once it has answered a success by itself'),
      statuses: z.array(
        z.strictObject({
          status: z.int(),
          ...answers,
          error_codes: z.array(z.strictObject({ error_code: z.string(), ...answers })),
        }),
      ),
      request_fields: z.array(
        z.strictObject({
          path: z.string(),
          in: z.enum(['path', 'query', 'body']),
          required: z.boolean(),
          reach: reach.describe('Driven by a request that kept the contract'),
        }),
      ),
      response_fields: z.array(
        z.strictObject({
          path: z.string(),
          reach: reach.describe('Driven by a success that had something there: an empty text or list is nothing (G53)'),
        }),
      ),
    }),
  ),
  lifecycle_moves: z.array(
    z.strictObject({
      from: z.string(),
      event: z.string(),
      to: z.string(),
      reach: reach.describe('Injected: forced by a scenario or by the control API'),
    }),
  ),
  scenarios: z.array(
    z.strictObject({
      name: z.string(),
      reach: reach.describe('Driven once every rule has fired that has to'),
      started: count,
      rules: count,
      rules_fired: count,
    }),
  ),
})

/** `GET /_mock/coverage`: what of the contract has been exercised, and what never was. */
export const coverageReportSchema = z.strictObject({
  $schema: z.string().optional(),
  ...head,
  total: coverage,
  environments: z.array(z.strictObject({ name: z.string(), ...coverage.shape })),
})

/** Reports are made, and then only read. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T

export type ContractReport = Immutable<z.infer<typeof contractReportSchema>>
export type ContractRecord = Immutable<z.infer<typeof contractRecord>>
export type Finding = Immutable<z.infer<typeof finding>>
export type Warning = Immutable<z.infer<typeof warning>>
export type UnknownPath = Immutable<z.infer<typeof unknownPath>>
export type FindingOrigin = Pick<Finding, 'count' | 'requests' | 'examples' | 'tests' | 'test_count'>
export type TestName = Immutable<z.infer<typeof test>>
export type UnfiredRule = Immutable<z.infer<typeof unfiredRule>>
export type PrismCheck = Immutable<z.infer<typeof prismCheck>>
export type CoverageReport = Immutable<z.infer<typeof coverageReportSchema>>
export type Coverage = Immutable<z.infer<typeof coverage>>
export type Tally = Immutable<z.infer<typeof tally>>
export type Reach = Immutable<z.infer<typeof reach>>
