import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  listAt,
  objectAt,
  ownMember,
} from '../../model/domain/json.ts'
import { type Follow, isNumberType, typeOf } from './api-document.ts'
import { valueOfItem } from './generated-values.ts'
import { fitsTypes, isAllowed, positionsOf, typesOf } from './inline-schema.ts'

/** Makes a value of a schema of the document. `level` counts made values inside made values. */
export type Make = (schema: JsonObject, name: string, level: number) => JsonValue | undefined

const MAX_LEVELS = 3

/** Schemas inside schemas of one value, and values in all: what is beyond them stays as it is. */
const MAX_DEPTH = 200
const MAX_VALUES = 100_000
/** Items that a list gets, beside those that it has. */
const MAX_ADDED = 100
const TOO_FEW = 'with fewer items than minItems: lists whose items cannot be made, or cannot differ'

const JOINING = ['allOf', 'oneOf', 'anyOf']

interface Fitted {
  readonly name: string
  readonly level: number
  /** Whether the value also has to fit other parts of an `allOf`. */
  readonly isPart: boolean
}

/** Stands for any change while a value is only checked. */
const CHANGED: JsonObject = {}

/** Changes a value as little as its schema asks, because examples of documents often contradict their own schema. */
export class Fitting {
  /** By value and schema: a schema that several parts refer to is applied once, and one that contains itself ends. */
  readonly #results = new Map<JsonValue, Map<JsonObject, JsonValue>>()
  #depth = 0
  readonly #check: Fitting

  /** @param make absent: values are only checked */
  constructor(
    readonly follow: Follow,
    readonly make?: Make,
    readonly note?: (reason: string) => void,
  ) {
    this.#check = make ? new Fitting(follow) : this
  }

  /** A value that fits stays the same object. Templates fit wherever the schema names no values. */
  fit(value: JsonValue, described: JsonValue, name = '', level = 0, isPart = false): JsonValue {
    const schema = this.follow(described)
    const results = this.#results.get(value) ?? new Map<JsonObject, JsonValue>()
    const isOver = this.#depth > MAX_DEPTH || this.#results.size > MAX_VALUES
    if (!isJsonObject(schema) || isOver) return value
    this.#results.set(value, results)
    const before = results.get(schema)
    if (before !== undefined) return before
    results.set(schema, value)
    this.#depth++
    const result = this.#fitValue(value, schema, { name, level, isPart })
    this.#depth--
    results.set(schema, result)
    return result
  }

  #fitValue(value: JsonValue, schema: JsonObject, { name, level, isPart }: Fitted): JsonValue {
    if (isTemplate(value) && ownMember(schema, 'enum') === undefined && ownMember(schema, 'const') === undefined)
      return value
    const types = typesOf(schema)
    if (!fitsTypes(types, value) || !isAllowed(schema, value)) return this.#makeValue(schema, name, level) ?? value
    // What one part closes, another may open.
    const isJoined = isPart || JOINING.some((key) => ownMember(schema, key) !== undefined)
    let result = value
    for (const part of listAt(schema, 'allOf')) result = this.fit(result, part, name, level, true)
    for (const key of ['oneOf', 'anyOf']) result = this.#fitChoice(result, listAt(schema, key), name, level)
    if (Array.isArray(result)) return this.#fitItems(result, schema, name, level)
    return isJsonObject(result) && result !== CHANGED
      ? this.#fitProperties(result, schema, { level, isJoined })
      : result
  }

  #makeValue(schema: JsonObject, name: string, level: number): JsonValue | undefined {
    if (!this.make) return CHANGED
    if (level >= MAX_LEVELS) return undefined
    const value = this.make(schema, name, level)
    return value === undefined ? value : this.fit(value, schema, name, level + 1)
  }

  /** The first choice that the value fits leaves it as it is; else it is made to fit the first. */
  #fitChoice(value: JsonValue, choices: readonly JsonValue[], name: string, level: number): JsonValue {
    const [first] = choices
    if (first === undefined || choices.some((each) => this.#check.fit(value, each) === value)) return value
    return this.make ? this.fit(value, first, name, level) : CHANGED
  }

  #makeItem(described: JsonValue, name: string, level: number): JsonValue | undefined {
    return isJsonObject(described) ? this.#makeValue(described, name, level) : undefined
  }

  #fitItems(value: JsonValue[], schema: JsonObject, name: string, level: number): JsonValue {
    const [least, most, positions] = [ownMember(schema, 'minItems'), ownMember(schema, 'maxItems'), positionsOf(schema)]
    const isUnique = ownMember(schema, 'uniqueItems') === true
    const items: JsonValue[] = []
    const limit = Math.min(typeof most === 'number' ? most : Infinity, Math.max(value.length, Number(least ?? 0)))
    for (let at = 0; at < limit && at < value.length + MAX_ADDED; at++) {
      const described = this.follow(positions[at] ?? ownMember(schema, 'items')) ?? {}
      const before =
        at < value.length ? this.fit(value[at] ?? null, described, '', level) : this.#makeItem(described, name, level)
      if (before === undefined) break
      // A repeated item gives way to one that differs, where the list would be too short without it.
      const isNeeded = items.length < Number(least ?? 0) || at < positions.length
      const item = isUnique ? valueNotIn(before, described, items, isNeeded) : before
      if (item !== undefined) items.push(item)
    }
    if (items.length < Number(least ?? 0)) this.note?.(TOO_FEW)
    return items.length === value.length && items.every((each, at) => each === value[at]) ? value : items
  }

  #fitProperties(
    value: JsonObject,
    schema: JsonObject,
    { level, isJoined }: { level: number; isJoined: boolean },
  ): JsonValue {
    const properties = objectAt(schema, 'properties')
    const others = ownMember(schema, 'additionalProperties')
    const isClosed = others === false && !isJoined && ownMember(schema, 'patternProperties') === undefined
    const result: JsonObject = {}
    let isChanged = false
    for (const [name, each] of Object.entries(value)) {
      const described = ownMember(properties, name)
      const followed = this.follow(described)
      const isHidden = isJsonObject(followed) && ownMember(followed, 'writeOnly') === true
      if (isHidden || (described === undefined && isClosed)) {
        isChanged = true
        continue
      }
      const fitted = this.fit(each, described ?? (isJsonObject(others) ? others : {}), name, level)
      isChanged ||= fitted !== each
      result[name] = fitted
    }
    for (const name of listAt(schema, 'required')) {
      if (typeof name !== 'string' || name === '__proto__' || Object.hasOwn(value, name)) continue
      const described = this.follow(ownMember(properties, name) ?? {})
      if (!isJsonObject(described) || ownMember(described, 'writeOnly') === true) continue
      const propertyValue = this.#makeValue(described, name, level)
      if (propertyValue === undefined) continue
      isChanged = true
      result[name] = propertyValue
    }
    return isChanged ? result : value
  }
}

function isTemplate(value: JsonValue): boolean {
  return typeof value === 'string' && value.includes('{{')
}

/** Templates that hardly ever come to the same text twice. */
const RANDOM = /\{\{(id|uuid|faker 'internet)/

/** A value like this one that the list does not have; undefined where there is none, or a value that is in it is not needed. */
function valueNotIn(
  value: JsonValue,
  schema: JsonValue,
  list: readonly JsonValue[],
  isNeeded: boolean,
): JsonValue | undefined {
  const texts = new Set(list.map((each) => jsonText(each)))
  for (let at = 0; at <= (isNeeded ? list.length + 1 : 0); at++) {
    const variant = isJsonObject(schema) ? variantOf(value, schema, at) : value
    const text = jsonText(variant)
    const isNew = !texts.has(text) || RANDOM.test(text)
    if (isNew && (at === 0 || !isJsonObject(schema) || isAllowed(schema, variant))) return variant
  }
  return undefined
}

function variantOf(value: JsonValue, schema: JsonObject, at: number): JsonValue {
  const varied = valueOfItem('', value, schema, at)
  if (isJsonObject(varied)) {
    const [first] = Object.keys(varied)
    const isSame = at > 0 && first !== undefined && jsonText(varied) === jsonText(value)
    const inside = isSame ? objectAt(objectAt(schema, 'properties'), first) : {}
    return isSame ? { ...varied, [first]: variantOf(varied[first] ?? null, inside, at) } : varied
  }
  if (varied !== value) return varied
  if (typeof value === 'boolean') return at % 2 === 0 ? value : !value
  if (isNumberType(typeOf(schema))) {
    const [least, step] = [ownMember(schema, 'minimum'), ownMember(schema, 'multipleOf')]
    const first = typeof least === 'number' ? least : typeof value === 'number' ? value : 1
    if (at === 0) return typeof value === 'number' ? value : first
    return first + (at - 1) * (typeof step === 'number' ? step : 1)
  }
  const isPlain =
    typeof value === 'string' &&
    ['format', 'pattern', 'enum', 'const'].every((key) => ownMember(schema, key) === undefined)
  return isPlain && at > 0 ? `${value} ${at + 1}` : value
}
