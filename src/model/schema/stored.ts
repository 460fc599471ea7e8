import { z } from 'zod'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import { MAX_DURATION } from '../domain/instant.ts'
import { conditions } from './collections.ts'
import {
  anyJson as anyGiven,
  duration as givenDuration,
  headerMap,
  instantText,
  jsonObject as givenObject,
  jsonSchema,
  strict,
  text,
  textMap as givenTexts,
} from './parts.ts'
import { isAnyJson, isMapOfTexts, isStorableObject, MAX_DEPTH } from './row-checks.ts'
import { authPattern, metadata, vocabulary } from './seed-values.ts'

/* A row has every default filled in; only what code relies on is checked: the document was checked when it was read. */

export const storedInstant = z
  .string()
  .regex(/^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}\.\d{3}Z$/, {
    error: 'an instant such as 2026-01-31T12:00:00.000Z',
  })
  .meta({ format: 'date-time' })
export const storedJsonObject = z
  .custom<JsonObject>(isStorableObject, { error: `an object of at most ${MAX_DEPTH} levels` })
  .meta({ type: 'object' })
export const storedJson = z
  .custom<JsonValue>(isAnyJson, { error: 'any value' })
  .meta({ type: ['string', 'number', 'boolean', 'null', 'array', 'object'] })
export const storedDuration = z.int().min(0).max(MAX_DURATION).describe('Milliseconds.')
export const storedTextMap = z
  .custom<Record<string, string>>(isMapOfTexts, { error: 'an object whose values are strings' })
  .meta({ type: 'object', additionalProperties: { type: 'string' } })

/** Rows of values that are read by code of their own. */
const ROWS = new Map<unknown, z.ZodType>(
  (
    [
      [anyGiven, storedJson],
      [givenObject, storedJsonObject],
      [jsonSchema, storedJsonObject],
      [conditions, storedJsonObject],
      [authPattern, storedJsonObject],
      [givenTexts, storedTextMap],
      [headerMap, storedTextMap],
      [metadata, storedTextMap],
      [vocabulary, storedTextMap],
      [givenDuration, storedDuration],
      [instantText, storedInstant],
    ] as const
  ).map(([declared, row]) => [declared._zod.def, row]),
)

type Rows = Readonly<Record<string, z.ZodType>>
type Stored<Given> =
  Given extends z.ZodOptional<infer Inner extends z.ZodType>
    ? z.ZodExactOptional<z.ZodType<z.output<Inner>>>
    : z.ZodType<z.output<Given>>
type StoredShape<Shape, Own> = {
  [Name in Exclude<keyof Shape, '$schema'>]: Name extends keyof Own ? Own[Name] : Stored<Shape[Name]>
}

/** The fields of rows for those of a document; `own` declares those whose rows do not follow. */
export function storedShape<Shape extends object, Own extends object = object>(
  shape: Shape,
  rows = {} as Own,
): StoredShape<Shape, Own> {
  const fields = Object.entries(shape as Rows).filter(([name]) => name !== '$schema')
  return Object.fromEntries(
    fields.map(([name, schema]) => [name, (rows as Rows)[name] ?? storedForm(schema)]),
  ) as StoredShape<Shape, Own>
}

/** The row of an object of a document. */
export function storedObject<Shape extends z.core.$ZodShape, Own extends object = object>(
  declared: z.ZodObject<Shape>,
  rows = {} as Own,
) {
  return strict(storedShape(declared.shape, rows))
}

/** The row of a value of a document. A value that need not be given may be absent, unless it has a default. */
export function storedForm(declared: z.ZodType): z.ZodType {
  const row = storedRow(declared)
  const { description } = declared
  // What stands for an absent value has been filled in.
  const about = description?.replace(/ ?\bAbsent: .*$/, '')
  const unit = row._zod.def === storedDuration._zod.def ? 'Milliseconds.' : ''
  const said = [about, unit].filter(Boolean).join(' ')
  return said === '' ? row : row.describe(said)
}

function storedRow(declared: z.ZodType): z.ZodType {
  const row = ROWS.get(declared._zod.def)
  if (row) return row
  const { def } = (declared as unknown as z.core.$ZodTypes)._zod
  const inner = (schema: z.core.$ZodType): z.ZodType => storedForm(schema as z.ZodType)
  switch (def.type) {
    case 'optional':
      return z.exactOptional(inner(def.innerType))
    case 'default':
    case 'prefault':
      return inner(def.innerType)
    case 'object':
      return storedObject(declared as z.ZodObject)
    case 'array':
      return z.array(inner(def.element))
    case 'record':
      return z.record(def.keyType as z.ZodString, inner(def.valueType))
    case 'string':
      return text
    case 'number':
      return z.int()
    case 'boolean':
    case 'enum':
      return declared
    default:
      throw new Error(`a document has a ${def.type}, for which no row is declared`)
  }
}
