import {
  extentOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
  parseJson,
  setOwn,
  TEXT_WITH_COLON,
} from './json.ts'

export interface RepeatedMember {
  readonly path: readonly (string | number)[]
  readonly first: JsonValue
  /** The one that counts (G76). */
  readonly last: JsonValue
}

/** The members of objects in a JSON text that have the name of one before them. */
export function repeatedMembers(text: string): RepeatedMember[] {
  const repeated: RepeatedMember[] = []
  let count = 0
  // With a number before each key no two are the same.
  const numbered = text.replace(TEXT_WITH_COLON, (token, colon?: string) =>
    colon === undefined ? token : `"${count++}:${token.slice(1)}`,
  )
  const read = (value: JsonValue, path: RepeatedMember['path']): JsonValue => {
    if (Array.isArray(value)) return value.map((each, at) => read(each, [...path, at]))
    if (!isJsonObject(value)) return value
    const members: JsonObject = {}
    const twice = new Map<string, JsonValue>()
    for (const [key, each] of Object.entries(value)) {
      const name = key.slice(key.indexOf(':') + 1)
      const before = ownMember(members, name)
      if (before !== undefined && !twice.has(name)) twice.set(name, before)
      setOwn(members, name, read(each, [...path, name]))
    }
    for (const [name, first] of twice)
      repeated.push({ path: [...path, name], first, last: ownMember(members, name) ?? null })
    return members
  }
  read(parseJson(numbered), [])
  return repeated
}

/** The same of a text whose value is known; cheap where there are none. @param keys how many the text has */
export function repeatedIn(text: string, value: JsonValue | undefined, keys = extentOf(text).keys): RepeatedMember[] {
  return value !== undefined && keys > membersIn(value) ? repeatedMembers(text) : []
}

/** How many members all objects in a value have. */
export function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const each of Object.values(value)) count += membersIn(each)
  return count
}
