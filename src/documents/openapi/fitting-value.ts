import { isJsonObject, type JsonObject, type JsonValue, listAt, objectAt, own } from '../../domain/json.ts'
import type { Follow } from './api-document.ts'
import { fits, isAllowed, typesOf } from './inline-schema.ts'

/** Makes a value of a schema of the document. `level` counts made values inside made values. */
export type Make = (schema: JsonObject, name: string, level: number) => JsonValue | undefined

const MAX_LEVELS = 3

/** Stands for any change while a value is only checked. */
const CHANGED: JsonObject = {}

/**
 * Changes values of an answer as little as their schema in the document asks: examples of documents often contradict their own
 * schema. What is required and missing is made, what is of another type is made again, and what is not allowed is dropped.
 */
export class Fitting {
  constructor(
    readonly follow: Follow,
    readonly make: Make,
  ) {}

  /** A value that fits stays the same object. Templates fit wherever the schema names no values. */
  fit(value: JsonValue, described: JsonValue, name = '', level = 0): JsonValue {
    const schema = this.follow(described)
    if (!isJsonObject(schema)) return value
    if (isTemplate(value) && own(schema, 'enum') === undefined && own(schema, 'const') === undefined) return value
    const types = typesOf(schema)
    if (!fits(types, value) || !isAllowed(schema, value)) return this.#made(schema, name, level) ?? value
    let result = value
    for (const part of listAt(schema, 'allOf')) result = this.fit(result, part, name, level)
    for (const key of ['oneOf', 'anyOf']) result = this.#choice(result, listAt(schema, key), name, level)
    if (Array.isArray(result)) return this.#items(result, schema, name, level)
    return isJsonObject(result) && result !== CHANGED ? this.#properties(result, schema, level) : result
  }

  #made(schema: JsonObject, name: string, level: number): JsonValue | undefined {
    if (level >= MAX_LEVELS) return undefined
    const made = this.make(schema, name, level)
    return made === undefined || made === CHANGED ? made : this.fit(made, schema, name, level + 1)
  }

  /** The first choice that the value fits leaves it as it is; else it is made to fit the first. */
  #choice(value: JsonValue, choices: readonly JsonValue[], name: string, level: number): JsonValue {
    const [first] = choices
    const check = new Fitting(this.follow, () => CHANGED)
    if (first === undefined || choices.some((each) => check.fit(value, each, name, 0) === value)) return value
    return this.make === check.make ? CHANGED : this.fit(value, first, name, level)
  }

  #items(value: JsonValue[], schema: JsonObject, name: string, level: number): JsonValue {
    const [least, most] = [own(schema, 'minItems'), own(schema, 'maxItems')]
    if (typeof least === 'number' && value.length < least) return this.#made(schema, name, level) ?? value
    const kept = typeof most === 'number' && value.length > most ? value.slice(0, most) : value
    const items = own(schema, 'items')
    if (!isJsonObject(items)) return kept
    const fitted = kept.map((each) => this.fit(each, items, '', level))
    return fitted.every((each, at) => each === kept[at]) ? kept : fitted
  }

  #properties(value: JsonObject, schema: JsonObject, level: number): JsonValue {
    const properties = objectAt(schema, 'properties')
    const others = own(schema, 'additionalProperties')
    const isClosed = others === false && own(schema, 'patternProperties') === undefined
    const result: JsonObject = {}
    let isChanged = false
    for (const [name, each] of Object.entries(value)) {
      const described = own(properties, name)
      if (described === undefined && isClosed) {
        isChanged = true
        continue
      }
      const fitted = this.fit(each, described ?? (isJsonObject(others) ? others : {}), name, level)
      isChanged ||= fitted !== each
      result[name] = fitted
    }
    for (const name of listAt(schema, 'required')) {
      if (typeof name !== 'string' || name === '__proto__' || Object.hasOwn(value, name)) continue
      const described = this.follow(own(properties, name) ?? {})
      if (!isJsonObject(described) || own(described, 'writeOnly') === true) continue
      const made = this.#made(described, name, level)
      if (made === undefined) continue
      isChanged = true
      result[name] = made
    }
    return isChanged ? result : value
  }
}

function isTemplate(value: JsonValue): boolean {
  return typeof value === 'string' && value.includes('{{')
}
