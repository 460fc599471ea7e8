import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { CONTROL_ROUTES } from '../contract/generated/control-routes.ts'
import { ACCOUNT_STATUSES } from '../domain/account.ts'
import { excessOf, extentOf } from '../domain/json.ts'
import { CLOCK_YEARS, type Instant, instant, isClockTime } from '../domain/instant.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { quote } from '../domain/text.ts'
import { hasBody, readBody as readBytes } from '../http/body.ts'
import { DECISIONS } from '../magic-links/consent-flow.ts'
import { CONTRACT_FORMATS, COVERAGE_FORMATS } from '../verdict/formats/formats.ts'
import { type Problem, problemsOf } from '../schema/problems.ts'
import { duration, jsonObject, nonEmpty, strict } from '../schema/parts.ts'
import { parseRowByRow } from '../state/state-file/state-text.ts'
import { inSlices } from '../state/model/slices.ts'
import { webhookSchema } from '../schema/seed-values.ts'
import { EVENT_TYPES } from '../domain/webhook.ts'
import { lazyImport } from '../lazy-import.ts'
import { ControlError, type ControlErrorCode, invalidInput } from './errors.ts'

const loadSourceText = lazyImport(() => import('../documents/source-text.ts'))

/*
 * The bodies and query parameters of the control API. This file is loaded with the first call, because loading zod takes longer
 * than the rest of a start.
 */

/** A line of the table that is generated from `spec/control.openapi.yaml`. */
export type ControlRoute = (typeof CONTROL_ROUTES)[number]
export type ControlOperation = ControlRoute['operation']

/** The longest wait in real milliseconds: connections break on the way, and a caller that wants to wait longer asks again. */
const MAX_WAIT = 600_000
const MAX_TIMES = 1_000_000
const MAX_LISTED = 1000
/** As many entries as a request journal keeps. */
const MAX_NEWEST = 10_000

/** A clock shows a smaller range than instants have, so that an instant plus a lifetime can be stored. */
const CLOCK_TIME = `an ISO 8601 instant with its time zone in ${CLOCK_YEARS}, such as 2026-01-31T12:00:00Z`
const clockTime = z
  .string({ error: CLOCK_TIME })
  .transform((value, context): Instant => {
    const at = instantOf(value)
    if (at === undefined || !isClockTime(at)) {
      context.addIssue({ code: 'custom', message: CLOCK_TIME, input: value })
      return value
    }
    return instant(at)
  })
  .meta({ format: 'date-time' })

function wholeNumber(least: number, most: number) {
  return z.int().min(least).max(most)
}

/** The same in a query, where every value is a text. */
function digits(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,7}$/, { error: `a whole number from ${least} to ${most}` })
    .transform(Number)
    .pipe(wholeNumber(least, most))
}

/** A text from a client that reports print. */
function oneLineText(most: number) {
  return z.string().min(1).max(most)
}

const startClock = strict({ now: clockTime.optional(), frozen: z.boolean().optional() })

/** Bodies by operation; the documents that are missing here are read by their own modules. */
export const BODIES = {
  create_environment: strict({
    name: nonEmpty.optional(),
    seed: jsonObject.optional(),
    clock: z
      .union([clockTime, startClock])
      .transform((clock) => (typeof clock === 'string' ? { now: clock } : clock))
      .optional(),
    id_seed: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
    scenarios: z.array(z.union([nonEmpty, jsonObject])).optional(),
    label: oneLineText(500).optional(),
    file: oneLineText(1000).optional(),
    line: wholeNumber(1, 10_000_000).optional(),
  }).refine(({ label, file, line }) => label !== undefined || (file === undefined && line === undefined), {
    path: ['label'],
    error: 'the name of the test, where file or line is given',
  }),
  reset: strict({ seed: jsonObject.optional() }),
  /** Checked by `state/state-replacement.ts`, by the schema of the state file. */
  put_state: z.unknown(),
  put_clock: strict({ now: clockTime.optional(), frozen: z.boolean().optional(), advance: duration.optional() })
    .refine((change) => Object.keys(change).length > 0, {
      error: 'at least one of now, advance and frozen',
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ now, advance }) => now === undefined || advance === undefined, {
      path: ['advance'],
      error: 'now or advance, not both',
    })
    .meta({ minProperties: 1 }),
  count_requests: strict({ match: jsonObject.optional() }),
  verify_requests: strict({ match: jsonObject.optional(), times: wholeNumber(0, MAX_TIMES).optional() }),
  wait_for_requests: strict({
    match: jsonObject.optional(),
    times: wholeNumber(1, MAX_TIMES).default(1),
    timeout_ms: wholeNumber(0, MAX_WAIT).default(5000),
  }),
  put_collection: strict({ items: z.array(jsonObject) }),
  try_tool: strict({ input: jsonObject.optional() }),
  create_link: strict({
    connector: nonEmpty,
    identifier: nonEmpty,
    organization_id: z.string().optional(),
    user_id: z.string().optional(),
    user_verify_url: z.string().optional(),
    state: z.string().optional(),
  }),
  put_webhook: webhookSchema,
  send_event: strict({ type: z.enum(EVENT_TYPES), account: nonEmpty.optional() }),
  complete_link: strict({ decision: z.enum(DECISIONS), as: nonEmpty.optional() }),
} as const satisfies Schemas

/** Query parameters by operation, beside `environment`. */
export const QUERIES = {
  get_env: z.object({ format: z.enum(['shell', 'json']).default('shell') }),
  list_due: z.object({ limit: digits(1, MAX_LISTED).default(50) }),
  get_state_diff: z.object({ snapshot: nonEmpty }),
  get_collection: z.object({ account: nonEmpty.optional() }),
  put_collection: z.object({ account: nonEmpty.optional() }),
  complete_link: z.object({ environment: z.string().optional() }),
  list_accounts: z.object({
    query: nonEmpty.optional(),
    status: z.enum(ACCOUNT_STATUSES).optional(),
    order: z.enum(['oldest', 'newest']).default('oldest'),
    offset: digits(0, 9_999_999).default(0),
    limit: digits(1, 1_000_000).default(1000),
  }),
  list_links: z.object({ wait_ms: digits(0, MAX_WAIT).default(0) }),
  stream_timeline: z.object({
    environment: z.string().optional(),
    newest: digits(0, MAX_NEWEST).default(1000),
  }),
  get_contract: z
    .object({
      environment: z.string().optional(),
      format: z.enum(CONTRACT_FORMATS).default('json'),
      judge: z.enum(['prism']).optional(),
    })
    .refine(({ format, judge }) => judge === undefined || format === 'json', {
      path: ['judge'],
      error: 'only with format=json',
    }),
  clear_contract: z.object({ environment: z.string().optional() }),
  get_coverage: z.object({
    environment: z.string().optional(),
    format: z.enum(COVERAGE_FORMATS).default('json'),
  }),
  call_mcp: z.object({ environment: z.string().default('default') }),
} as const satisfies Schemas

type Schemas<Schema extends z.ZodType = z.ZodType> = { readonly [Op in ControlOperation]?: Schema }

/** `list_requests` has the parameters of a match, which the request journal reads. */
export type QueryOf<Op extends ControlOperation> = Op extends 'list_requests'
  ? URLSearchParams
  : Op extends keyof typeof QUERIES
    ? z.output<(typeof QUERIES)[Op]>
    : object

/** A document as it was sent: its problems have line and column. */
export interface SentDocument {
  readonly text: string
  readonly format: 'json' | 'yaml'
}

export type BodyOf<Op extends ControlOperation> = Op extends keyof typeof BODIES
  ? z.output<(typeof BODIES)[Op]>
  : Extract<ControlRoute, { readonly operation: Op }>['body'] extends 'none'
    ? undefined
    : SentDocument

const NO_QUERY = z.object({})

/** @throws ControlError INVALID_QUERY with everything that is wrong */
export function readQuery({ operation, environment }: ControlRoute, parameters: URLSearchParams): unknown {
  if (operation === 'list_requests') return parameters
  const schema = (QUERIES as Schemas<z.ZodObject>)[operation] ?? NO_QUERY
  const names = [...Object.keys(schema.shape), ...(environment ? ['environment'] : [])]
  const allowed = names.length === 0 ? 'no parameters' : names.join(', ')
  const problems = [...new Set(parameters.keys())].flatMap((name): Problem[] => {
    const path = [name]
    if (!names.includes(name)) return [{ path, found: `an unknown parameter${didYouMean(name, names)}`, allowed }]
    return parameters.getAll(name).length === 1 ? [] : [{ path, found: 'given more than once', allowed: 'once' }]
  })
  if (problems.length > 0) throw invalidInput('INVALID_QUERY', problems)
  return parsed(schema, Object.fromEntries(parameters), 'INVALID_QUERY')
}

/**
 * Reads the body of a call, of at most `limit` bytes.
 * @throws ControlError UNSUPPORTED_CONTENT_TYPE, MALFORMED_BODY, INVALID_BODY; ServiceError BODY_TOO_LARGE, MALFORMED_BODY
 */
export async function readBody(route: ControlRoute, request: IncomingMessage, limit: number): Promise<unknown> {
  if (!hasBody(request)) return readDocumentBody(route, undefined)
  const format = formatOf(request)
  const bytes = await readBytes(request, limit)
  // No other body may be as large as a state.
  const isState = route.operation === 'put_state' && format === 'json'
  const state = isState ? await inSlices(parseRowByRow(bytes, MAX_DEPTH)) : undefined
  return state ?? readDocumentBody(route, { text: textOf(bytes), format })
}

/** The body of a call out of what was sent. @throws ControlError MALFORMED_BODY, INVALID_BODY */
export async function readDocumentBody(route: ControlRoute, document: SentDocument | undefined): Promise<unknown> {
  if (route.body === 'none') {
    // Many clients send an empty object when they have nothing to say.
    if (document === undefined || ['', '{}'].includes(document.text.trim())) return undefined
    throw invalidBody('not empty', 'an empty one, as this call reads none')
  }
  const empty = document === undefined || document.text === ''
  if (empty && route.body === 'required') throw invalidBody('missing', 'a JSON or YAML body')
  const schema = (BODIES as Schemas)[route.operation]
  if (schema) return parsed(schema, empty ? {} : await valueOf(route, document), 'INVALID_BODY')
  return document
}

/** Levels of a JSON body. What reads it recurses. */
const MAX_DEPTH = 200

/**
 * The value of a document. The YAML parser is loaded with the first YAML body.
 * @throws ControlError MALFORMED_BODY, BODY_TOO_LARGE; DocumentError for YAML
 */
async function valueOf({ operation }: ControlRoute, { text, format }: SentDocument): Promise<unknown> {
  if (format === 'yaml') {
    const { SourceText } = await loadSourceText()
    return new SourceText(text, 'body').value
  }
  const extent = extentOf(text)
  if (extent.depth > MAX_DEPTH) throw invalidBody(`nested more than ${MAX_DEPTH} levels deep`, `at most ${MAX_DEPTH}`)
  // A state can always be put back as it was got: only its bytes are limited.
  const excess = operation === 'put_state' ? undefined : excessOf(extent)
  if (excess) throw invalidInput('BODY_TOO_LARGE', [{ path: [], ...excess }])
  try {
    return JSON.parse(text)
  } catch (error) {
    const found = error instanceof Error ? error.message.slice(0, 150) : ''
    throw new ControlError('MALFORMED_BODY', `the body is not valid JSON: ${found}`)
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ControlError('MALFORMED_BODY', 'the body is not valid UTF-8')
  }
}

/** Other types are refused, because a web page of another origin can send some of them without asking first. */
function formatOf({ headers }: IncomingMessage): SentDocument['format'] {
  const sent = headers['content-type'] ?? ''
  const [type = '', ...parameters] = sent.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8'
  const utf8 = ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (utf8 && (type === 'application/json' || type.endsWith('+json'))) return 'json'
  if (utf8 && /^(?:application|text)\/(?:x-)?yaml$|\+yaml$/.test(type)) return 'yaml'
  const found = sent === '' ? 'no content type' : `the content type ${quote(sent)}`
  const message = `the body has ${found}; send application/json or application/yaml in UTF-8`
  throw new ControlError('UNSUPPORTED_CONTENT_TYPE', message)
}

function parsed(schema: z.ZodType, value: unknown, code: ControlErrorCode): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidInput(code, problemsOf(result.error.issues, value))
}

function invalidBody(found: string, allowed: string): ControlError {
  return invalidInput('INVALID_BODY', [{ path: [], found, allowed }])
}

/** The zone is required, because a time without one would be read in the zone of the machine. */
function instantOf(value: string): number | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(value)?.[1]
  const at = Date.parse(value)
  if (day === undefined || Number.isNaN(at)) return undefined
  // Date.parse reads the 30th of February as the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? at : undefined
}
