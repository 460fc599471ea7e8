import { isJsonObject, type JsonObject, type JsonValue, ownMember, pointerParts } from '../domain/json.ts'
import { ownValue } from '../domain/value-match.ts'
import { isOperation, routeOf } from './route.ts'

/** The object of an operation; an empty one for a name that is none. */
export function operationIn(document: JsonObject, name: string): JsonObject {
  if (!isOperation(name)) return {}
  const { path, method } = routeOf(name)
  return objectIn(document, document, 'paths', path, method.toLowerCase())
}

/** An object inside another, through references; an empty one where there is none. */
export function objectIn(document: JsonObject, object: JsonObject, ...keys: string[]): JsonObject {
  return keys.reduce((at, key) => resolveReference(document, ownMember(at, key)), object)
}

/** Keys beside the `$ref` win over those of its target. An empty object for what is none. */
export function resolveReference(document: JsonObject, value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) return {}
  const { $ref: ref, ...keywords } = value
  if (typeof ref !== 'string') return value
  const target = pointerParts(ref).reduce<JsonValue | undefined>(ownValue, document)
  return { ...resolveReference(document, target), ...keywords }
}
