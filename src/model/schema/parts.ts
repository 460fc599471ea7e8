import { z } from 'zod'
import { CONNECTOR_NAME, TOOL_NAME } from '../domain/connector-defaults.ts'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import {
  CLOCK_YEARS,
  DATE_TIME,
  type Instant,
  instant,
  instantOf,
  isClockTime,
  isStorableInstant,
} from '../domain/instant.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, withDoubles } from '../domain/json.ts'
import { isOwnHeader, quote } from '../domain/text.ts'
import { isLinearPattern, LINEAR_PATTERN } from '../domain/text-pattern.ts'
import { isMatcher, type TextMatch } from '../domain/value-match.ts'
import type { Problem, Path } from './problems.ts'

/* Messages say what is allowed; `problems.ts` adds what was found. zod's own records drop a key named `__proto__`. */

export { union, type z } from 'zod'

/** An object that refuses keys it does not know and names the ones it does. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const allowed = Object.keys(shape).join(', ') || 'no keys'
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? allowed : undefined) })
}

/** Reports what a rule finds wrong; `found` is the value at the path when it is absent. */
export type Report = (path: Path, problem: Pick<Problem, 'allowed' | 'atKey'> & { found?: string }) => void

/**
 * Runs also where a key is wrong, so that all problems are reported at once: it does not see a wrong key (`wrong` has
 * it, undefined for an unknown one), and what it reports about one is left out.
 */
export function withRule<Schema extends z.ZodType<object>>(
  schema: Schema,
  rule: (value: Partial<z.output<Schema>>, report: Report, wrong: ReadonlySet<unknown>) => void,
): Schema {
  const check = z.superRefine<z.output<Schema>>((value, context) => {
    const wrong = new Set<unknown>(context.issues.map(({ path = [] }) => path[0]))
    const valid = Object.entries(value).filter(([key, item]) => item !== undefined && !wrong.has(key))
    const validPart = Array.isArray(value) ? value : Object.fromEntries(valid)
    const report: Report = (path, { allowed, ...params }) => {
      if (Array.isArray(value) || path.length === 0 || !wrong.has(path[0])) {
        context.addIssue({ code: 'custom', path: [...path], message: allowed, params })
      }
    }
    rule(validPart as Partial<z.output<Schema>>, report, wrong)
  })
  // Without `when`, zod runs a check only where nothing else is wrong.
  const isList = schema instanceof z.ZodArray
  check._zod.def.when = ({ value }) => typeof value === 'object' && value !== null && Array.isArray(value) === isList
  return schema.check(check)
}

/** A list in which no two items have the same text at any of these keys. */
export function uniqueList<Item extends z.ZodType>(item: Item, ...keys: string[]): z.ZodArray<Item> {
  return withRule(z.array(item), (items, report) => {
    for (const key of keys) {
      const names = items.map((each: unknown) => (isJsonObject(each) ? ownMember(each, key) : undefined))
      for (const { name, index, before } of repeatedNames(names)) {
        const allowed = `${key === 'id' ? 'an' : 'a'} ${key} that differs from item ${before}`
        report([index, key], { found: `${quote(name)} for the second time`, allowed })
      }
    }
  })
}

/** The names that an earlier item of a list has; what is no text is no name. `before` is the first that has it. */
export function repeatedNames(names: readonly unknown[]): { name: string; index: number; before: number }[] {
  const first = new Map<string, number>()
  return names.flatMap((name, index) => {
    if (typeof name !== 'string') return []
    const before = first.get(name)
    if (before !== undefined) return [{ name, index, before }]
    first.set(name, index)
    return []
  })
}

/** Any document may name its JSON Schema, for editors. */
export const schemaReference = z.string().optional().describe('Where the JSON Schema of this file is, for editors.')

/** A value that a test accepts; `allowed` says which values that are. A refused one does not keep rules from running. */
export function acceptedBy<T>(test: (value: unknown) => boolean, allowed: string): z.ZodCustom<T, T> {
  return z.custom<T>(test, { error: allowed, abort: false })
}

export const anyJson = acceptedBy<JsonValue>((value) => value !== undefined, 'any value').meta({
  title: 'any JSON',
  type: ['string', 'number', 'boolean', 'null', 'array', 'object'],
})

export const jsonObject = acceptedBy<JsonObject>(isJsonObject, 'an object').meta({ type: 'object' })
const PATTERN = `a regular expression with ${LINEAR_PATTERN}`

/** Checks the patterns of matchers below an object. */
function checkPatterns(value: unknown, report: Report, path: Path = []): void {
  if (path.length > 0 && isMatcher(value)) {
    if ('matches' in value && !isLinearPattern(value.matches)) report([...path, 'matches'], { allowed: PATTERN })
  } else if (isJsonObject(value)) {
    for (const [key, each] of Object.entries(value)) checkPatterns(each, report, [...path, key])
  }
}

export const jsonMatch = withRule(jsonObject, (body, report) => checkPatterns(body, report))

const textMatcher = acceptedBy<Exclude<TextMatch, string>>(
  (value) => isMatcher(value) && Object.values(value).every((each) => typeof each === 'string'),
  'a text, { equals: TEXT } or { matches: PATTERN }',
)

const matcher = withRule(textMatcher, (value, report) => {
  if ('matches' in value && !isLinearPattern(value.matches)) report(['matches'], { allowed: PATTERN })
}).meta({
  type: 'object',
  properties: {
    equals: { type: 'string', description: 'The text itself, in which * is no glob.' },
    matches: { type: 'string', description: `It is found in the text: ${PATTERN}.` },
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
})

/** A text in which `*` is a glob, or a matcher. */
export function textMatch<Text extends z.ZodType<string>>(plain: Text) {
  return z.union([plain, matcher])
}

/** A validator computes with its numbers (G75). */
export const jsonSchema = jsonObject.transform((schema) => withDoubles(schema) as JsonObject).meta({ type: 'object' })

/** Texts by name, as headers and query parameters are; numbers and booleans count as texts. */
export const textMap = acceptedBy<Record<string, string | number | boolean>>(
  (value) => isTextMap(value),
  'an object whose values are texts',
)
  .transform((map): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, String(value)])),
  )
  .meta({ title: 'texts by name', type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } })

export const textMatches = withRule(
  acceptedBy<Record<string, string | number | boolean | Exclude<TextMatch, string>>>(
    (value) => isTextMap(value, isMatcher),
    'an object whose values are texts, { equals: TEXT } or { matches: PATTERN }',
  ),
  (texts, report) => checkPatterns(texts, report),
)
  .transform((map): Record<string, TextMatch> =>
    Object.fromEntries(
      Object.entries(map).map(([name, each]) => [name, typeof each === 'object' ? each : String(each)]),
    ),
  )
  .meta({
    title: 'texts or matchers by name',
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean', 'object'] },
  })

/** Templates or texts by header. What says where a message ends follows from its body. */
export const headerMap = withRule(textMap, (headers, report) => {
  for (const name of Object.keys(headers)) {
    if (isOwnHeader(name)) continue
    report([name], {
      found: 'a header that cannot be set',
      allowed: 'names of headers that do not frame the body',
      atKey: true,
    })
  }
})

/** A text or a number as `parse` reads it; `allowed` says which those are. */
export function readBy<T>(parse: (value: string | number) => T | undefined, allowed: string) {
  const isGiven = (value: unknown): boolean =>
    (typeof value === 'string' || typeof value === 'number') && parse(value) !== undefined
  return acceptedBy<string | number>(isGiven, allowed).transform((value) => parse(value) as T)
}

/** A duration; milliseconds once read. */
export const duration = readBy(parseDuration, DURATION_FORMS).meta({
  title: 'duration, or seconds',
  type: ['string', 'number'],
})

/** How long a fault waits, in milliseconds: a plain number means milliseconds, unlike in other durations. */
export function waitUpTo(most: number) {
  const longest = `${most / 60_000}m`
  const read = (value: string | number): number | undefined => {
    const milliseconds = typeof value === 'number' ? value : /[a-zA-Z]/.test(value) ? parseDuration(value) : undefined
    return milliseconds !== undefined && milliseconds >= 0 && milliseconds <= most
      ? Math.round(milliseconds)
      : undefined
  }
  const allowed = `milliseconds as a number, or a duration with its unit such as 250ms or 2s, of at most ${longest}`
  return readBy(read, allowed).meta({
    title: `duration of at most ${longest}, or milliseconds`,
    type: ['number', 'string'],
  })
}

/** No fault waits longer than this; `timeout` is for longer. */
export const wait = waitUpTo(600_000)

export const waitRange = withRule(
  strict({ min: wait.describe('The shortest time.'), max: wait.describe('The longest time.') }),
  ({ min = 0, max = Infinity }, report) => {
    if (min > max) report(['max'], { allowed: `at least min, which is ${min}` })
  },
)

/** The parameters of a fault that takes none: `{}`, or nothing after the colon. */
export const noParameters = strict({})
  .nullable()
  .transform(() => ({}))

export const connectorName = z
  .string()
  .regex(CONNECTOR_NAME, { error: '1 to 100 letters, digits, spaces, hyphens, underscores and colons' })
  .meta({ title: 'name' })

export const toolName = z
  .string()
  .regex(TOOL_NAME, { error: '1 to 128 letters, digits, underscores, dots, colons and hyphens' })
  .meta({ title: 'name' })

export const text = z.string()

export const nonEmpty = z.string().min(1)

/** A whole number; something else is told its bounds at once. */
export function wholeNumber(least: number, most?: number): z.ZodInt {
  const allowed = `a whole number ${most === undefined ? `of at least ${least}` : `from ${least} to ${most}`}`
  const schema = z.int({ error: allowed }).min(least)
  return most === undefined ? schema : schema.max(most)
}

/** The same in a query, where every value is a text. */
export function digits(least: number, most: number) {
  const allowed = `a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,7}$/, { error: allowed })
    .transform(Number)
    .pipe(wholeNumber(least, most))
}

/** Whether a value is a date and time with its zone, which can be stored. */
export function isInstantText(value: unknown): value is string {
  return typeof value === 'string' && DATE_TIME.test(value) && isStorableInstant(Date.parse(value))
}

export const instantText = acceptedBy<string>(isInstantText, 'an RFC 3339 date and time such as 2026-01-31T12:00:00Z')
  .transform((value) => new Date(value).toISOString())
  .meta({ title: 'date and time', type: 'string', format: 'date-time' })

/** A clock shows a smaller range than instants have, so that an instant plus a lifetime can be stored. */
const CLOCK_TIME = `an ISO 8601 instant with its time zone, or a day in UTC, in ${CLOCK_YEARS}, such as 2026-01-31T12:00:00Z or 2026-01-31`
export const clockTime = z.string({ error: CLOCK_TIME }).transform((value, context): Instant => {
  const at = instantOf(value)
  if (at === undefined || !isClockTime(at)) {
    context.addIssue({ code: 'custom', message: CLOCK_TIME, input: value })
    return value
  }
  return instant(at)
})

function isTextMap(value: unknown, isOther: (each: JsonValue) => boolean = () => false): boolean {
  const isText = (each: JsonValue): boolean => ['string', 'number', 'boolean'].includes(typeof each) || isOther(each)
  return isJsonObject(value) && Object.values(value).every(isText)
}
