/** Values as they travel in JSON. Objects may be null-prototype; never walk their prototype. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property, never one of the prototype: keys come from users. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** The same object without keys that hold `undefined`. */
export function present<T extends object>(object: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }
}

/** The deepest level of brackets and braces of JSON text outside strings, counted without recursion. */
export function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (quoted) {
      if (char === BACKSLASH) at++
      else if (char === QUOTE) quoted = false
    } else if (char === QUOTE) quoted = true
    else if (char === BRACE || char === BRACKET) deepest = Math.max(deepest, ++depth)
    else if (char === BRACE + 2 || char === BRACKET + 2) depth--
  }
  return deepest
}
const [QUOTE, BACKSLASH, BRACKET, BRACE] = [0x22, 0x5c, 0x5b, 0x7b]
