import { z } from 'zod'
import { AUTHORIZATION_TYPES } from '../domain/authorization-type.ts'
import { DEFAULT_ACCESS_TOKEN_LIFETIME } from '../domain/connector-defaults.ts'
import {
  anyJson,
  connectorName,
  duration,
  jsonObject,
  nonEmpty,
  schemaReference,
  strict,
  text,
  textMap,
  toolName,
} from './schema-parts.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const path = z.string().regex(/^\//, { error: 'a path that starts with /' })

/** `{name}` captures a whole part: inside of one it would be taken literally, which nobody means. */
const pathPattern = z.string().regex(/^(?:\/(?:\{[A-Za-z_]\w*\}|[^/{}]*))+$/, {
  error: 'a path that starts with /, whose parts are {name}, or text in which * stands for anything',
})

const credentialField = strict({
  name: nonEmpty.describe('The key in static_auth.details.'),
  label: text.optional().describe('What the form says beside the input; made from the name when absent.'),
  secret: z.boolean().optional().describe('Whether the form hides what is typed; true unless the name is username.'),
  required: z.boolean().default(true),
  hint: text.default('').describe('Shown under the input.'),
})

const tool = strict({
  name: toolName,
  display_name: text.optional(),
  description: text.default(''),
  tags: z.array(text).default([]),
  is_default: z.boolean().default(true).describe('Whether tool lists mark it as one of the default tools.'),
  input_schema: jsonObject.default({ type: 'object' }).describe('JSON Schema 2020-12 of tool_input.'),
  call: strict({
    method: z.enum(METHODS),
    path: path.describe('A template over input and account.'),
    query: textMap.default({}).describe('Templates by parameter; one that comes out empty is not sent.'),
    headers: textMap.default({}),
    body: anyJson.optional().describe('JSON whose texts are templates.'),
    timeout: duration.default(30_000).describe('How long the service waits for the answer.'),
  }).describe('The HTTP call that the tool makes at the third party.'),
  result: jsonObject
    .nullish()
    .describe('JSON whose texts are templates over response, input and account; absent: the body of the answer.'),
})

const answer = strict({
  status: z.int().min(200).max(599).default(200),
  headers: textMap.default({}),
  body: anyJson.optional().describe('JSON whose texts are templates over request, account and person.'),
})

const responder = strict({
  on: strict({
    method: z.enum(METHODS).optional(),
    path: pathPattern.optional().describe('* stands for any text inside one part, {name} captures one part.'),
    query: textMap.optional().describe('Values or globs by parameter.'),
    headers: textMap.optional().describe('Values or globs by header.'),
    body: jsonObject
      .optional()
      .describe('Values or globs by dotted path into the JSON body; nested objects count as paths.'),
    account: strict({
      id: text.optional(),
      identifier: text.optional(),
      organization_id: text.optional(),
      user_id: text.optional(),
      connector: text.optional(),
    })
      .optional()
      .describe('Values or globs by field of the account that calls.'),
  }).describe('Which requests it answers; the first responder that matches does.'),
  respond: answer.optional().describe('The answer to every such request.'),
  sequence: z.array(answer).min(1).optional().describe('The answers to the first such request, the second, and so on.'),
  after_last: z
    .enum(['repeat', 'restart', 'next'])
    .optional()
    .describe('After the last of a sequence: that one again, the first again, or the next responder that matches.'),
})

/** A connector file (`spec/schemas/connector.schema.json`): one fake third-party application. */
export const connectorSchema = strict({
  $schema: schemaReference,
  connector: connectorName.describe('Its name: the key_id of its connection, and connector in requests.'),
  display_name: text.optional().describe('Made from the name when absent.'),
  description: text.default(''),
  icon_src: text.default(''),
  categories: z.array(text).default([]),
  authorization_type: z.enum(AUTHORIZATION_TYPES).optional().describe('Required, unless custom_provider is set.'),
  oauth: strict({
    scopes: z.array(nonEmpty).default([]),
    access_token_lifetime: duration.default(DEFAULT_ACCESS_TOKEN_LIFETIME),
    refresh_token: z
      .enum(['keep', 'rotate', 'none'])
      .optional()
      .describe('keep: a refresh gives no new refresh token; rotate: each gives a new one; none: there is none.'),
    domain: text.default('').describe('Workspace or organisation domain of the tokens.'),
  }).optional(),
  cluster: z.enum(['provisioned', 'serverless']).optional().describe('TRUSTED_IDP only; provisioned needs db_user.'),
  credentials: strict({
    fields: z.array(credentialField).optional().describe('What the credentials form asks for.'),
    send: strict({ headers: textMap.default({}), query: textMap.default({}) })
      .optional()
      .describe('How the credentials travel: templates over credentials.'),
  }).optional(),
  people: z.array(nonEmpty).default([]).describe('Who can sign in at the consent page.'),
  reject: z
    .array(nonEmpty)
    .default([])
    .describe('Globs: credentials that the third party refuses although a caller stored them.'),
  base_url: z.string().optional().describe('A server of your own on loopback that answers instead of the responders.'),
  custom_provider: nonEmpty
    .optional()
    .describe('Serves custom providers created with this display name, and has no connection of its own.'),
  tools: z.array(tool).default([]),
  responders: z.array(responder).default([]),
})

export type ConnectorDocument = z.output<typeof connectorSchema>
export type AnswerDocument = z.output<typeof answer>
export type ResponderDocument = z.output<typeof responder>
