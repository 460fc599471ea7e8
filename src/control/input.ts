import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { CONTROL_ROUTES } from '../contract/generated/control-routes.ts'
import { shown } from '../schema/findings.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { CLOCK_YEARS, type Instant, instant, isClockTime } from '../domain/instant.ts'
import { isJsonObject, type JsonObject } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { quote } from '../domain/text.ts'
import { readBody as readBytes } from '../http/body.ts'
import { DECISIONS } from '../magic-links/consent-flow.ts'
import { CONTRACT_FORMATS, COVERAGE_FORMATS } from '../verdict/formats/formats.ts'
import { ControlError, type ControlErrorCode, type InputProblem, invalidInput } from './errors.ts'

/** A line of the table that is generated from `spec/control.openapi.yaml`. */
export type ControlRoute = (typeof CONTROL_ROUTES)[number]
export type ControlOperation = ControlRoute['operation']

/*
 * Bodies and query parameters of the control API. The error of a schema says what is allowed. This file is imported with the
 * first call, because loading zod takes longer than the rest of a start.
 */

/** The longest wait in real milliseconds: connections break on the way, and a caller that wants to wait longer asks again. */
const LONGEST_WAIT = 600_000
const MOST_TIMES = 1_000_000

const text = z.string({ error: 'a text' }).min(1, { error: 'a text that is not empty' })
const truth = z.boolean({ error: 'true or false' })
const object = z.custom<JsonObject>(isJsonObject, { error: 'an object' }).meta({ type: 'object' })

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

const DURATION = `a duration: ${DURATION_FORMS}`
const duration = z.union([z.string(), z.number()], { error: DURATION }).transform((value, context): number => {
  const milliseconds = parseDuration(value)
  if (milliseconds === undefined) context.addIssue({ code: 'custom', message: DURATION, input: value })
  return milliseconds ?? 0
})

function wholeNumber(least: number, most: number) {
  const error = `a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** The same in a query, where every value is a text. */
function digits(least: number, most: number) {
  const error = `a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,7}$/, { error })
    .transform(Number)
    .pipe(wholeNumber(least, most))
}

function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, { error: values.join(', ') })
}

/** An object that refuses fields it does not know. */
function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? names : `an object with ${names}`),
  })
}

const startClock = fields({ now: clockTime.optional(), frozen: truth.optional() })

/** Bodies by operation; the documents that are missing here are read by their own modules. */
export const BODIES = {
  create_environment: fields({
    name: text.optional(),
    seed: object.optional(),
    clock: z
      .union([clockTime, startClock], { error: `${CLOCK_TIME}, or an object with now and frozen` })
      .transform((clock) => (typeof clock === 'string' ? { now: clock } : clock))
      .optional(),
    id_seed: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  }),
  /** Checked by `state/state-replacement.ts`, by the schema of the state file. */
  put_state: z.unknown(),
  put_clock: fields({ now: clockTime.optional(), frozen: truth.optional(), advance: duration.optional() })
    .refine((change) => Object.keys(change).length > 0, {
      error: 'at least one of now, advance and frozen',
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ now, advance }) => now === undefined || advance === undefined, {
      path: ['advance'],
      error: 'now or advance, not both',
    })
    .meta({ minProperties: 1 }),
  count_requests: fields({ match: object.optional() }),
  verify_requests: fields({ match: object.optional(), times: wholeNumber(0, MOST_TIMES).optional() }),
  wait_for_requests: fields({
    match: object.optional(),
    times: wholeNumber(1, MOST_TIMES).default(1),
    timeout_ms: wholeNumber(0, LONGEST_WAIT).default(5000),
  }),
  complete_link: fields({ decision: oneOf(DECISIONS), as: text.optional() }),
} as const satisfies Schemas

/** Query parameters by operation, beside `environment`. */
export const QUERIES = {
  get_env: z.object({ format: oneOf(['shell', 'json']).default('shell') }),
  get_state_diff: z.object({ snapshot: text }),
  complete_link: z.object({ environment: z.string().optional() }),
  list_links: z.object({ wait_ms: digits(0, LONGEST_WAIT).default(0) }),
  get_contract: z
    .object({
      environment: z.string().optional(),
      format: oneOf(CONTRACT_FORMATS).default('json'),
      judge: oneOf(['prism']).optional(),
    })
    .refine(({ format, judge }) => judge === undefined || format === 'json', {
      path: ['judge'],
      error: 'only with format=json',
    }),
  clear_contract: z.object({ environment: z.string().optional() }),
  get_coverage: z.object({
    environment: z.string().optional(),
    format: oneOf(COVERAGE_FORMATS).default('json'),
  }),
} as const satisfies Schemas

type Schemas<Schema extends z.ZodType = z.ZodType> = { readonly [Op in ControlOperation]?: Schema }

/** `list_requests` has the parameters of a match, which the request journal reads. */
export type QueryOf<Op extends ControlOperation> = Op extends 'list_requests'
  ? URLSearchParams
  : Op extends keyof typeof QUERIES
    ? z.output<(typeof QUERIES)[Op]>
    : object

/** A document as it was sent: its problems are told with line and column. */
export interface SentDocument {
  readonly text: string
  readonly format: 'json' | 'yaml'
}

export type BodyOf<Op extends ControlOperation> = Op extends keyof typeof BODIES
  ? z.output<(typeof BODIES)[Op]>
  : Extract<ControlRoute, { readonly operation: Op }>['body'] extends 'none'
    ? undefined
    : SentDocument

/** @throws ControlError INVALID_QUERY with everything that is wrong */
export function readQuery({ operation, environment }: ControlRoute, parameters: URLSearchParams): unknown {
  if (operation === 'list_requests') return parameters
  const schema = (QUERIES as Schemas<z.ZodObject>)[operation] ?? z.object({})
  const names = [...Object.keys(schema.shape), ...(environment ? ['environment'] : [])]
  const allowed = names.length === 0 ? 'no parameters' : names.join(', ')
  const problems = [...new Set(parameters.keys())].flatMap((name): InputProblem[] => {
    if (!names.includes(name)) return [unknownName(name, allowed)]
    if (parameters.getAll(name).length === 1) return []
    return [{ path: name, found: 'more than one', allowed: 'one', message: `\`${name}\` is given more than once` }]
  })
  if (problems.length > 0) throw invalidInput('INVALID_QUERY', problems)
  return parsed(schema, Object.fromEntries(parameters), 'INVALID_QUERY')
}

/**
 * Reads the body of a call, of at most `limit` bytes.
 * @throws ControlError UNSUPPORTED_CONTENT_TYPE, MALFORMED_BODY, INVALID_BODY; ServiceError BODY_TOO_LARGE, MALFORMED_BODY
 */
export async function readBody(route: ControlRoute, request: IncomingMessage, limit: number): Promise<unknown> {
  const document = hasBody(request) ? await readDocument(request, limit) : undefined
  if (route.body === 'none') {
    // Many clients send an empty object when they have nothing to say.
    if (document === undefined || ['', '{}'].includes(document.text.trim())) return undefined
    throw invalidBody('a body', 'none: this call takes no body')
  }
  const empty = document === undefined || document.text === ''
  if (empty && route.body === 'required') throw invalidBody('missing', 'a JSON or YAML body')
  const schema = (BODIES as Schemas)[route.operation]
  if (schema) return parsed(schema, empty ? {} : await valueOf(document), 'INVALID_BODY')
  return document
}

/** The value of a document. YAML is loaded when somebody sends it. @throws ControlError MALFORMED_BODY; DocumentError for YAML */
async function valueOf({ text, format }: SentDocument): Promise<unknown> {
  if (format === 'yaml') {
    const { SourceText } = await import('../documents/source-text.ts')
    return new SourceText(text, 'body').value
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const found = error instanceof Error ? error.message.slice(0, 150) : ''
    throw new ControlError('MALFORMED_BODY', `the body is not valid JSON: ${found}`)
  }
}

/** Whether the request announces a body at all. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function readDocument(request: IncomingMessage, limit: number): Promise<SentDocument> {
  const format = formatOf(request)
  const bytes = await readBytes(request, limit)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), format }
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
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw invalidInput(code, problemsOf(result.error.issues))
}

function problemsOf(issues: readonly z.core.$ZodIssue[], base: readonly PropertyKey[] = []): InputProblem[] {
  return issues.flatMap((issue): InputProblem[] => {
    const path = [...base, ...issue.path]
    const name = path.map(String).join('.')
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownName([...path, key].map(String).join('.'), issue.message))
    const branch = issue.code === 'invalid_union' ? issue.errors.find(isMeant) : undefined
    if (branch) return problemsOf(branch, path)
    const found = shown(issue.input)
    const allowed = issue.message
    if (name === '') return [{ path: '', found, allowed, message: `the body is ${found}; allowed: ${allowed}` }]
    const message =
      issue.input === undefined ? `\`${name}\` is required: ${allowed}` : `\`${name}\` is ${found}; allowed: ${allowed}`
    return [{ path: name, found, allowed, message }]
  })
}

/** Whether a value was meant for this alternative of a union: its type fits, and what is wrong is inside. */
function isMeant(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys')
}

function unknownName(path: string, allowed: string): InputProblem {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const message = `\`${path}\` is not known${didYouMean(name, allowed.split(', '))}; allowed: ${allowed}`
  return { path, found: 'an unknown name', allowed, message }
}

function invalidBody(found: string, allowed: string): ControlError {
  return invalidInput('INVALID_BODY', [
    { path: '', found, allowed, message: `the body is ${found}; allowed: ${allowed}` },
  ])
}

/** The zone is required, because a time without one would be read in the zone of the machine. */
function instantOf(value: string): number | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(value)?.[1]
  const at = Date.parse(value)
  if (day === undefined || Number.isNaN(at)) return undefined
  // Date.parse reads the 30th of February as the 2nd of March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? at : undefined
}
