import { z } from 'zod'
import { DURATION_FORMS, parseDuration } from '../domain/duration.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'

/*
 * What the documents are built of. A custom error message of a schema says what is allowed; `findings.ts` adds what was
 * found. Free-form values are passed on as they came: zod's own records would drop a key named `__proto__`.
 */

/** An object that refuses keys it does not know and names the ones it does. */
export function strict<Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const allowed = Object.keys(shape).join(', ')
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? allowed : undefined) })
}

/** Any document may name its JSON Schema, for editors. */
export const schemaReference = z.string().optional().describe('Where the JSON Schema of this file is, for editors.')

export const anyJson = z
  .custom<JsonValue>((value) => value !== undefined, { error: 'any value' })
  .meta({ type: ['string', 'number', 'boolean', 'null', 'array', 'object'] })

export const jsonObject = z.custom<JsonObject>(isJsonObject, { error: 'an object' }).meta({ type: 'object' })

/** Texts by name, as headers and query parameters are; numbers and booleans count as texts. */
export const textMap = z
  .custom<Record<string, string | number | boolean>>(isTextMap, { error: 'an object whose values are texts' })
  .transform((map): Record<string, string> =>
    Object.fromEntries(Object.entries(map).map(([name, value]) => [name, String(value)])),
  )
  .meta({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } })

/** A duration; milliseconds once read. */
export const duration = z
  .custom<string | number>((value) => isDuration(value), { error: DURATION_FORMS })
  .transform((value) => parseDuration(value) ?? 0)
  .meta({ type: ['string', 'number'], description: `A duration: ${DURATION_FORMS}.` })

/** 2.1: "alphanumeric characters, spaces, hyphens, underscores and colons are allowed". */
export const connectorName = z
  .string()
  .regex(/^[A-Za-z0-9 _:-]{1,100}$/, { error: '1 to 100 letters, digits, spaces, hyphens, underscores and colons' })

export const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, { error: '1 to 128 letters, digits, underscores, dots, colons and hyphens' })

export const text = z.string()

export const nonEmpty = z.string().min(1)

export const instantText = z
  .custom<string>((value) => typeof value === 'string' && RFC_3339.test(value) && !Number.isNaN(Date.parse(value)), {
    error: 'an RFC 3339 date and time such as 2026-01-31T12:00:00Z',
  })
  .transform((value) => new Date(value).toISOString())
  .meta({ type: 'string', format: 'date-time' })

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

function isDuration(value: unknown): boolean {
  return (typeof value === 'string' || typeof value === 'number') && parseDuration(value) !== undefined
}

function isTextMap(value: unknown): boolean {
  return (
    isJsonObject(value) && Object.values(value).every((each) => ['string', 'number', 'boolean'].includes(typeof each))
  )
}
