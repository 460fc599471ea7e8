import { quote } from '../domain/text.ts'

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const LONGEST_KEY = 80

/** Keys and indexes from the root of a body to a value in it. */
export type FieldPath = readonly (string | number)[]

/** The dotted form of a path, as violations name fields: `scopes[0]`, `metadata["my key"]`; `body` for the root. */
export function fieldName(path: FieldPath): string {
  let name = ''
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`
    else if (!IDENTIFIER.test(part) || part.length > LONGEST_KEY) name += `[${quote(part, LONGEST_KEY)}]`
    else name += name === '' ? part : `.${part}`
  }
  return name === '' ? 'body' : name
}

/** The path that a JSON pointer takes through a value: `/0` is an index in an array and a key in an object. */
export function walk(root: unknown, pointer: string): { path: FieldPath; value: unknown } {
  const path: (string | number)[] = []
  let value = root
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    path.push(Array.isArray(value) ? Number(key) : key)
    value = child(value, key)
  }
  return { path, value }
}

/** Own members only: keys come from users. */
function child(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}

/** What a dotted name of a field leads to; undefined where that is nothing. */
export function walkName(root: unknown, name: string): unknown {
  const parts = name.match(/[^.[\]"]+/g) ?? []
  return parts.reduce<unknown>((value, part) => child(value, part), root)
}
