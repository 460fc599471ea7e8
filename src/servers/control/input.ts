import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { CONTROL_ROUTES } from '../../model/contract/generated/control-routes.ts'
import { excessOf, extentOf, type JsonValue, parseJson } from '../../model/domain/json.ts'
import { membersIn, repeatedMembers } from '../../model/domain/repeated-members.ts'
import { didYouMean } from '../../model/domain/suggestion.ts'
import { quote } from '../../model/domain/text.ts'
import { type WantedTimes, timesRange } from '../../model/domain/times.ts'
import { hasBody, readWholeBody as readBytes } from '../http/body.ts'
import { connectorName } from '../../model/schema/parts.ts'
import { type Problem, problemsOf, problemValue } from '../../model/schema/problems.ts'
import { webhookSchema } from '../../model/schema/seed-values.ts'
import { lazyImport } from '../../model/domain/once.ts'
import { ControlError, type ControlErrorCode, invalidInput } from './errors.ts'
import { BODIES as DECLARED_BODIES, QUERIES as DECLARED_QUERIES } from './generated/input.ts'

const loadSourceText = lazyImport(() => import('../../files/source-text.ts'))

/* As `spec/control.openapi.yaml` has them. Loaded with the first call: zod takes longer than the rest of a start. */

/** A line of the table that is generated from `spec/control.openapi.yaml`. */
export type ControlRoute = (typeof CONTROL_ROUTES)[number]
export type ControlOperation = ControlRoute['operation']

const EMPTY_RANGE = { path: ['times'], error: 'a number, or at_least and at_most, the one no more than the other' }

function hasRange({ times }: { readonly times?: WantedTimes | undefined }): boolean {
  if (typeof times === 'object' && Object.keys(times).length === 0) return false
  const { least, most } = timesRange(times ?? 1)
  return least <= most
}

/** Bodies by operation; the documents that are missing here are read by their own modules. */
const BODIES = {
  ...DECLARED_BODIES,
  create_environment: DECLARED_BODIES.create_environment.refine(
    ({ label, file, line }) => label !== undefined || (file === undefined && line === undefined),
    { path: ['label'], error: 'the name of the test, where file or line is given' },
  ),
  create_connection: DECLARED_BODIES.create_connection.extend({ key_id: connectorName }),
  count_requests: DECLARED_BODIES.count_requests.refine(hasRange, EMPTY_RANGE),
  verify_requests: DECLARED_BODIES.verify_requests
    .refine(hasRange, EMPTY_RANGE)
    .refine(
      ({ match, times, in_order }) =>
        in_order === undefined || (match === undefined && times === undefined && in_order.length > 0),
      { path: ['in_order'], error: 'one match or more, in place of match and times' },
    ),
  wait_for_requests: DECLARED_BODIES.wait_for_requests
    .refine(hasRange, EMPTY_RANGE)
    .refine(({ times }) => times !== 0, { path: ['times'], error: 'at least 1' }),
  put_clock: DECLARED_BODIES.put_clock
    .refine((change) => Object.keys(change).length > 0, {
      error: 'at least one of now, advance and frozen',
      when: ({ issues }) => issues.length === 0,
    })
    .refine(({ now, advance }) => now === undefined || advance === undefined, {
      path: ['advance'],
      error: 'now or advance, not both',
    }),
  /** Checked by `state/state-replacement.ts`, by the schema of the state file. */
  put_state: z.unknown(),
  put_webhook: webhookSchema,
} as const satisfies Schemas

/** Query parameters by operation, beside `environment`. */
const QUERIES = {
  ...DECLARED_QUERIES,
  get_contract: DECLARED_QUERIES.get_contract.refine(({ format, judge }) => judge === undefined || format === 'json', {
    path: ['judge'],
    error: 'only with format=json',
  }),
  /** The link itself chooses the environment; one that is named is compared with it. */
  complete_link: z.object({ environment: z.string().optional() }),
} as const satisfies Schemas

type Schemas<Schema extends z.ZodType = z.ZodType> = { readonly [Op in ControlOperation]?: Schema }

/** `list_requests` has the parameters of a match, which the request journal reads. */
export type ControlQuery<Op extends ControlOperation> = Op extends 'list_requests'
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
  return parseInput(schema, Object.fromEntries(parameters), 'INVALID_QUERY')
}

/**
 * Reads the body of a call, of at most `limit` bytes.
 * @throws ControlError UNSUPPORTED_CONTENT_TYPE, MALFORMED_BODY, INVALID_BODY; ServiceError BODY_TOO_LARGE, MALFORMED_BODY
 */
export async function readCallDocument(route: ControlRoute, request: IncomingMessage, limit: number): Promise<unknown> {
  if (!hasBody(request)) return readDocumentBody(route, undefined)
  const format = formatOf(request)
  return readDocumentBody(route, { text: utf8Text(await readBytes(request, limit)), format })
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
  if (schema) return parseInput(schema, empty ? {} : await documentValue(route, document), 'INVALID_BODY')
  // Other documents have limits of their own.
  if (document && route.operation === 'call_mcp') checkExtent(route, document.text)
  return document
}

/** Levels of a JSON body. What reads it recurses. */
const MAX_DEPTH = 200

/** The first YAML body loads its parser. @throws ControlError MALFORMED_BODY, BODY_TOO_LARGE; DocumentError */
async function documentValue(route: ControlRoute, { text, format }: SentDocument): Promise<unknown> {
  if (format === 'yaml') {
    const { SourceText } = await loadSourceText()
    return new SourceText(text, 'body').value
  }
  checkExtent(route, text)
  const value = jsonValue(text)
  if (route.operation === 'put_state' || extentOf(text).keys === membersIn(value)) return value
  const problems = repeatedMembers(text).map(({ path, first, last }) => {
    const mistake = `${problemValue(first, path)} and ${problemValue(last, path)}`
    return { path: [...path], found: mistake, allowed: 'each member of an object once' }
  })
  throw invalidInput('INVALID_BODY', problems)
}

function jsonValue(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    const mistake = error instanceof Error ? error.message.slice(0, 150) : ''
    throw new ControlError('MALFORMED_BODY', `the body is not valid JSON: ${mistake}`)
  }
}

/** @throws ControlError INVALID_BODY, BODY_TOO_LARGE */
function checkExtent({ operation }: ControlRoute, text: string): void {
  const extent = extentOf(text)
  if (extent.depth > MAX_DEPTH) throw invalidBody(`nested more than ${MAX_DEPTH} levels deep`, `at most ${MAX_DEPTH}`)
  // A state can always be put back as it was got: only its bytes are limited.
  const excess = operation === 'put_state' ? undefined : excessOf(extent)
  if (excess) throw invalidInput('BODY_TOO_LARGE', [{ path: [], ...excess }])
}

function utf8Text(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ControlError('MALFORMED_BODY', 'the body is not valid UTF-8')
  }
}

/** Other types are refused, because a web page of another origin can send some of them without asking first. */
function formatOf({ headers }: IncomingMessage): SentDocument['format'] {
  const contentType = headers['content-type'] ?? ''
  const [type = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8'
  const utf8 = ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(charset)
  if (utf8 && (type === 'application/json' || type.endsWith('+json'))) return 'json'
  if (utf8 && /^(?:application|text)\/(?:x-)?yaml$|\+yaml$/.test(type)) return 'yaml'
  const mistake = contentType === '' ? 'no content type' : `the content type ${quote(contentType)}`
  const message = `the body has ${mistake}; send application/json or application/yaml in UTF-8`
  throw new ControlError('UNSUPPORTED_CONTENT_TYPE', message)
}

function parseInput(schema: z.ZodType, value: unknown, code: ControlErrorCode): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw invalidInput(code, problemsOf(result.error.issues, value))
}

function invalidBody(mistake: string, allowed: string): ControlError {
  return invalidInput('INVALID_BODY', [{ path: [], found: mistake, allowed }])
}
