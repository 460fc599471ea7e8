import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue as ProtobufJson,
  type Message,
  type Registry,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf'
import { Code, ConnectError } from '@connectrpc/connect'
import { pathPattern } from '../../model/contract/route.ts'
import { invalidField } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, withDoubles } from '../../model/domain/json.ts'
import { fieldOf } from './descriptors.ts'
import type { Binding, RpcMethod, ServedRoute, TemplatePart } from './http-rule.ts'

/** A call as the REST request that its rule makes of it. */
export interface RestRequest {
  readonly route: ServedRoute
  readonly binding: Binding
  readonly path: string
  readonly pathParameters: Readonly<Record<string, string>>
  /** Without the question mark. */
  readonly query: string
  /** Undefined when the rule has no body. */
  readonly body: JsonValue | undefined
}

/** By the first binding whose path its fields can fill; else `refused` says which field a path needs, and its form. */
export function restRequest(
  method: RpcMethod,
  message: Message,
  registry: Registry,
): { readonly rest: RestRequest; readonly refused: Error | undefined } {
  const json = jsonOfMessage(method.desc.input, message, registry)
  const fields = withNumbers(method.desc.input, json) as JsonObject
  let refused: Error | undefined
  for (const binding of method.bindings) {
    try {
      return { rest: boundFields(binding, method.desc.input, fields), refused: undefined }
    } catch (error) {
      refused ??= error instanceof Error ? error : new Error(String(error))
    }
  }
  return { rest: unboundRequest(method, fields), refused }
}

/** @throws ConnectError for a message that has no JSON form, such as a timestamp beyond the year 9999 */
function jsonOfMessage(desc: DescMessage, message: Message, registry: Registry): JsonValue {
  try {
    return toJson(desc, message, { useProtoFieldName: true, registry })
  } catch (error) {
    throw ConnectError.from(error, Code.InvalidArgument)
  }
}

function unboundRequest({ name, bindings }: RpcMethod, fields: JsonObject): RestRequest {
  const [binding] = bindings
  const [route] = binding?.routes ?? []
  if (!binding || !route) throw new Error(`${name} leads to no route`)
  const body = binding.body === '' ? undefined : fields
  return { route, binding, path: route.path, pathParameters: {}, query: '', body }
}

function boundFields(binding: Binding, message: DescMessage, fields: JsonObject): RestRequest {
  const unbound = structuredClone(fields)
  const path = binding.parts.map((part) => ('text' in part ? part.text : segmentsOf(part, unbound))).join('')
  for (const route of binding.routes) {
    const match = pathPattern(route.path).exec(path)
    if (!match) continue
    const decoded = Object.entries(match.groups ?? {}).map(
      ([name, value]) => [name, decodeURIComponent(value)] as const,
    )
    const { query, body } = queryAndBody(binding, message, unbound)
    return { route, binding, path, pathParameters: Object.fromEntries(decoded), query, body }
  }
  throw new Error(`${binding.template} leads to no route`)
}

/** The value of a field of the path, percent-encoded; it is taken out of the rest. */
function segmentsOf({ field, segments }: Extract<TemplatePart, { field: unknown }>, unbound: JsonObject): string {
  const value = takenValue(unbound, field)
  const text = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
  const parts = text.split('/')
  const isAny = segments.at(-1) === '**'
  const matches = segments.every(
    (segment, at) => segment === '**' || (segment === '*' ? parts[at] : parts[at] === segment),
  )
  const whole = segments.length === 1 && segments[0] === '*'
  const name = field.join('.')
  if (text === '') throw invalidField(name, 'is required: it is a part of the path', 'required')
  // A single segment may contain a slash, which is then encoded.
  if (whole) return encodeURIComponent(text)
  if (!matches || (!isAny && parts.length !== segments.length)) {
    throw invalidField(name, `must have the form ${segments.join('/')}`, 'pattern')
  }
  return parts.map(encodeURIComponent).join('/')
}

/** Takes the value at a path of fields out of an object. */
function takenValue(object: JsonObject, [name = '', ...inner]: readonly string[]): JsonValue | undefined {
  const value = ownMember(object, name)
  if (inner.length > 0) return isJsonObject(value) ? takenValue(value, inner) : undefined
  if (Object.hasOwn(object, name)) Reflect.deleteProperty(object, name)
  return value
}

function queryAndBody(
  { body: bodyField }: Binding,
  message: DescMessage,
  unbound: JsonObject,
): Pick<RestRequest, 'query' | 'body'> {
  if (bodyField === '*') return { query: '', body: unbound }
  // A field that is not set is an empty body: the operation says what it lacks.
  const body = bodyField === '' ? undefined : (takenValue(unbound, [bodyField]) ?? {})
  const pairs = Object.entries(unbound).flatMap(([name, value]) => queryPairs(fieldOf(message, name), name, value))
  return { query: new URLSearchParams(pairs).toString(), body }
}

/** `a.b=1` for a field of a message, a pair for each item of a list. */
function queryPairs(field: DescField | undefined, name: string, value: JsonValue): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item) => queryPairs(field, name, item))
  if (!isJsonObject(value)) return value === null ? [] : [[name, String(value)]]
  return Object.entries(value).flatMap(([inner, each]) => {
    const member = field?.message && fieldOf(field.message, inner)
    return queryPairs(member, `${name}.${inner}`, each)
  })
}

const LONG = new Set([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64])
const LONG_WRAPPERS = new Set(['google.protobuf.Int64Value', 'google.protobuf.UInt64Value'])

/** The JSON of a message with each known field's values changed; undefined leaves a field out, as unknown ones are (G62). */
function changedFields(
  message: DescMessage,
  json: JsonValue,
  change: (field: DescField, value: JsonValue) => JsonValue | undefined,
): JsonValue {
  if (!isJsonObject(json) || message.typeName.startsWith('google.protobuf.')) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]): [string, JsonValue][] => {
      const field = message.fields.find((each) => each.name === name || each.jsonName === name)
      const changed = field && change(field, value)
      return changed === undefined ? [] : [[name, changed]]
    }),
  )
}

/** JSON of protobuf writes 64-bit integers as text; the service takes numbers. Those beyond 53 bits stay text. */
function withNumbers(message: DescMessage, json: JsonValue): JsonValue {
  if (LONG_WRAPPERS.has(message.typeName)) return asNumber(json)
  return changedFields(message, json, (field, value) => mapFieldValues(field, value, (one) => numberIn(field, one)))
}

function numberIn(field: DescField, value: JsonValue): JsonValue {
  if (field.message) return withNumbers(field.message, value)
  return field.scalar !== undefined && LONG.has(field.scalar) ? asNumber(value) : value
}

function asNumber(value: JsonValue): JsonValue {
  const number = typeof value === 'string' ? Number(value) : NaN
  return Number.isSafeInteger(number) ? number : value
}

/** Applies a change to the value of a field, or to each value of a list or map. */
function mapFieldValues(field: DescField, value: JsonValue, change: (one: JsonValue) => JsonValue): JsonValue {
  if (field.fieldKind === 'list') return Array.isArray(value) ? value.map(change) : value
  if (field.fieldKind === 'map') {
    return isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]))
      : value
  }
  return change(value)
}

/** What of an answer the definitions do not have; each is reported once. */
export interface Differences {
  /** A word of an answer that an enumeration lacks; its zero value is sent (G62). */
  word(word: string, type: DescEnum): void
  /** A field whose value does not fit the type that the definitions give it; it is left out. */
  field(field: DescField, reason: string): void
}

/** What messages are made by. */
export interface MessageContext {
  readonly registry: Registry
  readonly differences: Differences
}

/** Makes a message of the body of an answer. Fields that the definitions lack are left out (G62). */
export function responseMessage(
  { desc }: RpcMethod,
  { responseBody }: Binding,
  body: JsonValue | undefined,
  context: MessageContext,
): Message {
  const json = body ?? {}
  return messageFrom(desc.output, responseBody === '' ? json : { [responseBody]: json }, context)
}

/** The same for any message, such as the details of an error. */
export function messageFrom(message: DescMessage, json: JsonValue, { registry, differences }: MessageContext): Message {
  const options = { ignoreUnknownFields: true, registry }
  // The numbers of messages are doubles, or texts.
  const fitting = withKnownWords(message, withDoubles(json), differences) as ProtobufJson
  try {
    return fromJson(message, fitting, options)
  } catch (error) {
    // Which field it is, is found only where one does not fit, which is rare.
    const reason = error instanceof Error ? error.message : String(error)
    const read: Read = (part, value) => fromJson(part, value as ProtobufJson, options)
    const fittingValue = fittingFields(message, fitting, read, (field) => differences.field(field, reason))
    return fromJson(message, fittingValue as ProtobufJson, options)
  }
}

/** The value with the zero value of an enumeration in place of every word that the enumeration lacks. */
function withKnownWords(message: DescMessage, json: JsonValue, differences: Differences): JsonValue {
  return changedFields(message, json, (field, value) =>
    mapFieldValues(field, value, (one) => knownWord(field, one, differences)),
  )
}

function knownWord(field: DescField, value: JsonValue, differences: Differences): JsonValue {
  if (field.message) return withKnownWords(field.message, value, differences)
  if (!field.enum || typeof value !== 'string' || field.enum.values.some(({ name }) => name === value)) return value
  if (value !== '') differences.word(value, field.enum)
  return field.enum.values[0]?.number ?? 0
}

/** The value without the fields that `read` refuses, at any depth; `drop` is called with each of them. */
function fittingFields(message: DescMessage, json: JsonValue, read: Read, drop: (field: DescField) => void): JsonValue {
  return changedFields(message, json, (field, value) => {
    const isFitting = (each: JsonValue): boolean => acceptsMessage(message, { [field.name]: each }, read)
    if (isFitting(value)) return value
    const inside: DescField[] = []
    if (field.fieldKind === 'message' && isJsonObject(value)) {
      const part = fittingFields(field.message, value, read, (each) => inside.push(each))
      if (inside.length > 0 && isFitting(part)) {
        inside.forEach(drop)
        return part
      }
    }
    drop(field)
    return undefined
  })
}

type Read = (part: DescMessage, json: JsonValue) => void

function acceptsMessage(message: DescMessage, json: JsonValue, read: Read): boolean {
  try {
    read(message, json)
    return true
  } catch {
    return false
  }
}
