import { z } from 'zod'
import { BASE_URL_RULE, isBaseUrl } from '../domain/base-url.ts'
import { type AuthorizationType, AUTHORIZATION_TYPES, TRAITS } from '../domain/authorization-type.ts'
import type { Connector, RateLimit, CredentialField, Tool } from '../domain/connector.ts'
import { bareConnector, credentialField, defaultCredentials, displayName } from '../domain/connector-defaults.ts'
import { otherwise } from './collections.ts'
import { checkResponders, responderKeys, toResponder } from './responders.ts'
import { METHODS } from '../domain/path-pattern.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { present } from '../domain/json.ts'
import {
  anyJson,
  connectorName,
  duration,
  headerMap,
  jsonObject,
  nonEmpty,
  readBy,
  type Report,
  schemaReference,
  strict,
  text,
  textMap,
  toolName,
  unique,
  wait,
  wholeNumber,
  withRule,
} from '../schema/parts.ts'

const path = z.string().regex(/^\//, { error: 'a path that starts with /' }).meta({ title: 'path' })

const field = strict({
  name: nonEmpty.describe('The key in static_auth.details.'),
  label: text.optional().describe('What the form says beside the input. Absent: made from the name.'),
  secret: z
    .boolean()
    .optional()
    .describe('Whether the form hides what is typed. Absent: yes, unless the name is username.'),
  required: z.boolean().default(true).describe('Whether the form refuses an empty input.'),
  hint: text.default('').describe('Shown under the input.'),
})

const tool = strict({
  name: toolName.describe('tool_name in requests: 1 to 128 letters, digits, underscores, dots, colons and hyphens.'),
  display_name: text.optional().describe('What tool lists show. Absent: made from the name.'),
  description: text.default('').describe('What tool lists show.'),
  tags: z.array(text).default([]).describe('What tool lists show.'),
  is_default: z.boolean().default(true).describe('Whether tool lists mark it as one of the default tools.'),
  input_schema: jsonObject
    .default({ type: 'object', properties: {} })
    .describe(
      'JSON Schema 2020-12 of tool_input. An input that does not fit is refused before the third party is called.',
    ),
  annotations: strict({
    read_only_hint: z.boolean().exactOptional().describe('Whether it changes nothing. Absent: not known.'),
  })
    .exactOptional()
    .describe('What clients of MCP are told of its effects.'),
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

/** How long calls take, in real time. */
const latency = z.union([
  wait,
  withRule(
    strict({ min: wait.describe('The shortest time.'), max: wait.describe('The longest time.') }),
    ({ min = 0, max = Infinity }, report) => {
      if (min > max) report(['max'], { allowed: `at least min, which is ${min}` })
    },
  ),
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
  ),
])

const rateLimit = strict({
  calls: wholeNumber(1, 1_000_000).describe('How many calls are answered in the time of every.'),
  every: readBy((value) => {
    const found = parseDuration(value)
    return found !== undefined && found >= 1000 ? found : undefined
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

const shape = strict({
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
  oauth: strict({
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
    domain: text.default('').describe('Workspace or organisation domain of the tokens.'),
  })
    .optional()
    .describe('The tokens of its accounts; of types whose accounts have tokens.'),
  cluster: z
    .enum(['provisioned', 'serverless'])
    .optional()
    .describe('Of TRUSTED_IDP: provisioned needs db_user, serverless does not. Absent: serverless.'),
  credentials: strict({
    fields: unique(field, 'name').optional().describe('What the credentials form asks for.'),
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
  tools: unique(tool, 'name').default([]).describe('What clients can execute.'),
  ...responderKeys,
  latency: latency
    .optional()
    .describe('How long each call takes, in real time: a time, {min, max}, or percentiles {p50, p95, p99}.'),
  rate_limit: rateLimit.optional().describe('How many calls are answered; more are 429.'),
})

function toRateLimit({ otherwise: answer, ...rest }: NonNullable<ParsedConnector['rate_limit']>): RateLimit {
  return { ...rest, ...(answer && { otherwise: present(answer) }) }
}

function toLatency(document: ParsedConnector['latency']): Connector['latency'] {
  if (document === undefined) return undefined
  if (typeof document === 'number') return [[0, document]]
  if ('min' in document) {
    const { min, max } = document
    return [
      [0, min],
      [1, max],
    ]
  }
  const { p50, p95 = p50, p99 = p95 } = document
  return [
    [0, p50 / 2],
    [0.5, p50],
    [0.95, p95],
    [0.99, p99],
  ]
}

/** A connector file (`spec/schemas/connector.schema.json`): one fake third-party application. */
export const connectorSchema = withRule(withRule(shape, checkType), checkResponders)

type ParsedConnector = z.output<typeof shape>

/** Which keys go with an authorization type, and which it needs. */
function checkType(
  {
    authorization_type: type,
    custom_provider,
    provider,
    cluster,
    oauth,
    credentials,
    people,
  }: Partial<ParsedConnector>,
  report: Report,
): void {
  if (provider !== undefined && custom_provider !== undefined) {
    const allowed = 'provider in connectors without custom_provider, whose providers have generated identifiers'
    report(['provider'], { found: 'set beside custom_provider', allowed, atKey: true })
  }
  if (type === undefined) {
    const allowed = `one of ${AUTHORIZATION_TYPES.join(', ')}; or custom_provider in its place`
    if (custom_provider === undefined) report(['authorization_type'], { allowed })
    return
  }
  const { source, kind } = TRAITS[type]
  const only = (key: string, value: unknown, fits: boolean, allowed: string): void => {
    if (fits || value === undefined) return
    report([key], { found: `set in a connector of type ${type}`, allowed: `${key} in ${allowed}`, atKey: true })
  }
  only('cluster', cluster, type === 'TRUSTED_IDP', 'connectors of type TRUSTED_IDP')
  only('oauth', oauth, kind !== null && source !== 'form', 'connectors whose accounts have tokens')
  const ofForms = 'API_KEY, BASIC_AUTH, BEARER_TOKEN, CUSTOM and BASIC connectors'
  only('credentials', credentials, source === 'form', ofForms)
  if (source === 'consent' && !people?.length) {
    report(['people'], { allowed: `at least one identity that can sign in, because ${type} asks for consent` })
  }
  if (type !== 'CUSTOM' || custom_provider !== undefined) return
  // What a CUSTOM connector asks for, and how that is sent, has no default.
  for (const key of ['fields', 'send'] as const) {
    if (Object.keys(credentials?.[key] ?? {}).length > 0) continue
    report(['credentials', key], { allowed: `credentials.${key}, because the type CUSTOM has no default` })
  }
}

/** The connector that a valid document describes, with every default filled in. */
export function toConnector(document: ParsedConnector): Connector {
  const { $schema: _schema, authorization_type, latency, rate_limit, oauth, ...rest } = document
  const type: AuthorizationType = authorization_type ?? 'CUSTOM'
  const base = bareConnector(document.connector, type)
  const latencyPoints = toLatency(latency)
  return {
    ...base,
    ...present(rest),
    oauth: { ...base.oauth, ...present(oauth ?? {}) },
    credentials: toCredentials(document.credentials, type),
    base_url: document.base_url?.replace(/\/+$/, '') ?? null,
    custom_provider: document.custom_provider ?? null,
    tools: document.tools.map(toTool),
    ...(latencyPoints && { latency: latencyPoints }),
    ...(rate_limit && { rate_limit: toRateLimit(rate_limit) }),
    responders: document.responders.map(toResponder),
  }
}

function toCredentials(given: ParsedConnector['credentials'], type: AuthorizationType): Connector['credentials'] {
  const fields = given?.fields?.map((field): CredentialField => {
    const plain = credentialField(field.name)
    return { ...field, label: field.label ?? plain.label, secret: field.secret ?? plain.secret }
  })
  const defaults = defaultCredentials(type, fields)
  return given?.send ? { ...defaults, send: given.send } : defaults
}

function toTool(document: ParsedConnector['tools'][number]): Tool {
  const { call } = document
  return {
    ...document,
    display_name: document.display_name ?? displayName(document.name),
    call: { ...call, body: call.body ?? null },
    result: document.result ?? null,
  }
}
