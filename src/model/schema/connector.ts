import { z } from 'zod'
import { AUTHORIZATION_TYPES } from '../domain/authorization-type.ts'
import { BASE_URL_RULE, isBaseUrl } from '../domain/base-url.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import type { Latency } from '../domain/connector.ts'
import { METHODS } from '../domain/path-pattern.ts'
import { collections, otherwise, steps } from './collections.ts'
import {
  anyJson,
  connectorName,
  duration,
  headerMap,
  jsonObject,
  jsonSchema,
  nonEmpty,
  readBy,
  type Report,
  schemaReference,
  strict,
  text,
  jsonMatch,
  textMap,
  textMatch,
  textMatches,
  toolName,
  uniqueList,
  wait,
  waitRange,
  wholeNumber,
  withRule,
} from './parts.ts'

/* The rows of the state have the same keys (`tables.ts`). */

/** `{name}` captures a whole part: inside of one it would be taken literally, which is not what an author means. So would %20. */
const pathPattern = z
  .string()
  .regex(/^(?:\/(?:\{[A-Za-z_]\w*\}|(?:[^/{}%]|%(?![\dA-Fa-f]{2}))*))+$/, {
    error: 'a path that starts with /, whose parts are {name}, or decoded text in which * matches anything',
  })
  .meta({ title: 'path' })

const response = strict({
  status: wholeNumber(200, 599)
    .optional()
    .describe('Absent: 200; after steps that end with create 201, with delete or refuse 204.'),
  headers: headerMap.prefault({}).describe('Templates by header, over what body sees.'),
  body: anyJson
    .optional()
    .describe(
      'JSON whose texts are templates over request, account and person, and the results of steps. Absent: the result of the last step, else no body.',
    ),
})

const accountText = textMatch(text)

const responderShape = {
  on: strict({
    method: z.enum(METHODS).optional().describe('Absent: any method.'),
    path: pathPattern
      .optional()
      .describe(
        'Here * matches any text inside one part, and {name} captures one part as request.params.name. Absent: any path.',
      ),
    query: textMatches.optional().describe('Values by parameter.'),
    headers: textMatches.optional().describe('Values by header.'),
    body: jsonMatch
      .optional()
      .describe(
        'Values by dotted path into the JSON body; nested objects count as paths, { equals: VALUE } is that value.',
      ),
    account: strict({
      id: accountText.optional().describe('Its id.'),
      identifier: accountText.optional().describe('Its identifier.'),
      organization_id: accountText.optional().describe('Its organization.'),
      user_id: accountText.optional().describe('Its user.'),
      connector: accountText.optional().describe('Its connector.'),
    })
      .optional()
      .describe('Values by field of the account that calls.'),
  }).describe(
    'Which requests it answers; in its texts * matches any text; { equals: TEXT } is the text itself, { matches: PATTERN } a regular expression.',
  ),
  steps: steps
    .optional()
    .describe(
      'What it does with collections before it answers, in one transaction. When one fails, nothing is changed.',
    ),
  respond: response.optional().describe('The answer to every such request.'),
  sequence: z
    .array(response)
    .min(1)
    .optional()
    .describe('In place of respond: the answers to the first such request, the second, and so on.'),
  per: z
    .enum(['environment', 'account'])
    .optional()
    .describe(
      'Whose requests a sequence counts together: those of the environment, or of one account. Absent: environment.',
    ),
  after_last: z
    .enum(['repeat', 'restart', 'next'])
    .optional()
    .describe(
      'After the last of a sequence: that one again, the first again, or the next responder that matches. Absent: repeat.',
    ),
}

export type ParsedResponder = z.output<z.ZodObject<typeof responderShape>>

function checkResponder(
  { respond, sequence, steps, ...keys }: Partial<ParsedResponder>,
  report: Report,
  wrong: ReadonlySet<unknown>,
): void {
  if (wrong.has('respond') || wrong.has('sequence') || wrong.has('steps')) return
  const both = respond !== undefined && sequence !== undefined
  const neither = respond === undefined && sequence === undefined && steps === undefined
  if (both || neither) {
    const mistake = both ? 'with both respond and sequence' : 'without respond and sequence'
    report([], { found: mistake, allowed: 'exactly one of respond and sequence, or steps' })
  }
  if (steps !== undefined && sequence !== undefined) {
    report(['sequence'], { found: 'set beside steps', allowed: 'respond together with steps', atKey: true })
  }
  for (const key of ['after_last', 'per'] as const) {
    if (keys[key] === undefined || sequence !== undefined) continue
    report([key], { found: 'set without sequence', allowed: `${key} together with sequence`, atKey: true })
  }
}

const responder = withRule(strict(responderShape), checkResponder)

export const namedResponder = withRule(
  strict({
    name: nonEmpty.describe('A unique name in the file; messages name the responder by it.'),
    ...responderShape,
    body_schema: jsonSchema
      .optional()
      .describe('JSON Schema 2020-12 of the body. One that does not fit is refused with 400 before any step.'),
  }),
  (responder, report, wrong) => {
    checkResponder(responder, report, wrong)
    if (responder.on && responder.on.path === undefined) report(['on', 'path'], { allowed: 'a path' })
    if (responder.per === 'account')
      report(['per'], { allowed: 'environment: a request of the service is of no account' })
  },
)

/** The keys of a file that say what answers requests. */
export const responderKeys = {
  collections: collections
    .optional()
    .describe(
      'Items that responders create, list, change and delete. A name is a letter, then up to 63 letters, digits and underscores.',
    ),
  responders: z
    .array(responder)
    .default([])
    .describe('What its API answers: the first responder that matches a call. Without one: 404.'),
  error_body: jsonObject
    .optional()
    .describe(
      'The body when a step fails or calls are too many: templates over error (status, code, message), request, account and person.',
    ),
}

export type ParsedResponse = z.output<typeof response>

const path = z.string().regex(/^\//, { error: 'a path that starts with /' }).meta({ title: 'path' })

export const field = strict({
  name: nonEmpty.describe('The key in static_auth.details.'),
  label: text.optional().describe('What the form says beside the input. Absent: made from the name.'),
  secret: z
    .boolean()
    .optional()
    .describe('Whether the form hides what is typed. Absent: yes, unless the name is username.'),
  required: z.boolean().default(true).describe('Whether the form refuses an empty input.'),
  hint: text.default('').describe('Shown under the input.'),
})

export const toolDocument = strict({
  name: toolName.describe('tool_name in requests: 1 to 128 letters, digits, underscores, dots, colons and hyphens.'),
  display_name: text.optional().describe('What tool lists show. Absent: made from the name.'),
  description: text.default('').describe('What tool lists show.'),
  tags: z.array(text).default([]).describe('What tool lists show.'),
  is_default: z.boolean().default(true).describe('Whether tool lists mark it as one of the default tools.'),
  input_schema: jsonSchema
    .default({ type: 'object', properties: {} })
    .describe(
      'JSON Schema 2020-12 of tool_input. An input that does not fit is refused before the third party is called.',
    ),
  output_schema: jsonSchema
    .exactOptional()
    .describe('JSON Schema 2020-12 of data, which is an object. What tool lists show; absent: none.'),
  annotations: strict({
    read_only_hint: z.boolean().exactOptional().describe('Whether it changes nothing. Absent: not known.'),
  })
    .exactOptional()
    .describe('What tool lists show of its effects.'),
  scopes: z
    .array(nonEmpty)
    .exactOptional()
    .describe('What a token must be allowed for its call; without, the third party answers 403. Absent: any token.'),
  call: strict({
    method: z.enum(METHODS).describe('The HTTP method.'),
    path: path.describe('A template over input and account.'),
    query: textMap.prefault({}).describe('Templates by parameter; one that comes out empty is not sent.'),
    headers: headerMap.prefault({}).describe('Templates by header.'),
    body: anyJson.optional().describe('JSON whose texts are templates. An absent input becomes null. Absent: no body.'),
    timeout: duration.prefault('30s').describe('How long the service waits for the answer, in real time; then 504.'),
  }).describe('The HTTP call that the tool makes at the third party.'),
  result: jsonObject
    .nullish()
    .describe('data of the answer: templates over response, input and account. Absent: the body of the response.'),
})

/** How long calls take, in real time: milliseconds by share of the calls. */
const latency = z.union([
  wait.transform((most): Latency => [[0, most]]),
  waitRange.transform(({ min, max }): Latency => [
    [0, min],
    [1, max],
  ]),
  withRule(
    strict({
      p50: wait.describe('Half of the calls take at most this long.'),
      p95: wait.optional().describe('95 in 100 calls take at most this long. Absent: as p50.'),
      p99: wait.optional().describe('99 in 100 calls, and the longest, take at most this long. Absent: as p95.'),
    }),
    ({ p50 = 0, p95, p99 }, report) => {
      if (p95 !== undefined && p95 < p50) report(['p95'], { allowed: `at least p50, which is ${p50}` })
      const least = p95 ?? p50
      if (p99 !== undefined && p99 < least) report(['p99'], { allowed: `at least ${least}` })
    },
  ).transform(({ p50, p95 = p50, p99 = p95 }): Latency => [
    [0, p50 / 2],
    [0.5, p50],
    [0.95, p95],
    [0.99, p99],
  ]),
])

export const rateLimitDocument = strict({
  calls: wholeNumber(1, 1_000_000).describe('How many calls are answered in the time of every.'),
  every: readBy((value) => {
    const milliseconds = parseDuration(value)
    return milliseconds !== undefined && milliseconds >= 1000 ? milliseconds : undefined
  }, `a duration of at least 1s: ${DURATION_FORMS}`)
    .meta({ title: 'duration of at least 1s, or seconds', type: ['string', 'number'] })
    .describe("The time, of the environment's clock, in which so many calls are answered. The first call starts it."),
  per: z
    .enum(['account', 'environment'])
    .default('account')
    .describe('Whose calls are counted together: those of one account, or of the environment.'),
  otherwise: otherwise
    .optional()
    .describe('The answer to further calls, in place of 429 with error_body (code rate_limited).'),
})

export const connectorDocument = strict({
  $schema: schemaReference,
  connector: connectorName.describe(
    'Its name, which is connector in requests: 1 to 100 letters, digits, spaces, hyphens, underscores and colons.',
  ),
  provider: connectorName
    .optional()
    .describe(
      'What accounts, tools and the list of providers call it as provider, such as the upper-case word of a real deployment. Absent: its name.',
    ),
  display_name: text.optional().describe('What lists show. Absent: made from the name.'),
  description: text.default('').describe('What lists show.'),
  icon_src: text.default('').describe('The URL of its icon.'),
  categories: z.array(text).default([]).describe('What lists show.'),
  authorization_type: z
    .enum(AUTHORIZATION_TYPES)
    .optional()
    .describe('How its accounts get their credentials. Required, unless custom_provider is set.'),
  oauth: withRule(
    strict({
      scopes: z.array(nonEmpty).default([]).describe('The scopes that consent asks for.'),
      access_token_lifetime: duration
        .prefault('1h')
        .describe("How long an access token is valid, by the environment's clock."),
      refresh_token: z
        .enum(['keep', 'rotate', 'none'])
        .optional()
        .describe(
          'keep: a refresh gives no new refresh token; rotate: each gives a new one; none: there is none. Absent: rotate where a user consents and the token expires, else none.',
        ),
      reuse_interval: duration
        .optional()
        .describe(
          'With rotate: how long a refresh token that was replaced still gives the same new one. Absent: it is refused.',
        ),
      domain: text.default('').describe('Workspace or organisation domain of the tokens.'),
    }),
    ({ refresh_token = 'rotate', reuse_interval }, report) => {
      if (reuse_interval === undefined || refresh_token === 'rotate') return
      const mistake = `set together with refresh_token: ${refresh_token}`
      report(['reuse_interval'], {
        found: mistake,
        allowed: 'reuse_interval together with refresh_token: rotate',
        atKey: true,
      })
    },
  )
    .optional()
    .describe('The tokens of its accounts; of types whose accounts have tokens.'),
  cluster: z
    .enum(['provisioned', 'serverless'])
    .optional()
    .describe('Of TRUSTED_IDP: provisioned needs db_user, serverless does not. Absent: serverless.'),
  credentials: strict({
    fields: uniqueList(field, 'name').optional().describe('What the credentials form asks for.'),
    send: strict({
      headers: headerMap.prefault({}).describe('Templates by header.'),
      query: textMap.prefault({}).describe('Templates by parameter.'),
    })
      .optional()
      .describe('How the credentials travel: templates over credentials.'),
  })
    .optional()
    .describe(
      'What the credentials form asks for, and how it travels; of API_KEY, BASIC_AUTH, BEARER_TOKEN, BASIC and CUSTOM.',
    ),
  people: z
    .array(nonEmpty)
    .default([])
    .describe('Who can sign in at the consent page; required where the type asks for consent.'),
  reject: z
    .array(nonEmpty)
    .default([])
    .describe('Credentials that the third party refuses although a caller stored them; * matches any text.'),
  base_url: z
    .string()
    .refine(isBaseUrl, { error: BASE_URL_RULE })
    .optional()
    .describe(
      'A server of your own that answers in place of the responders; on loopback, unless the mock runs with --allow-outbound.',
    ),
  custom_provider: nonEmpty
    .optional()
    .describe('Serves custom providers created with this display name, and has no connection of its own.'),
  tools: uniqueList(toolDocument, 'name').default([]).describe('What clients can execute.'),
  ...responderKeys,
  latency: latency
    .optional()
    .describe('How long each call takes, in real time: a time, {min, max}, or percentiles {p50, p95, p99}.'),
  rate_limit: rateLimitDocument.optional().describe('How many calls are answered; more are 429.'),
})

export type ParsedConnector = z.output<typeof connectorDocument>
