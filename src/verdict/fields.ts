import { isJsonObject } from '../domain/json.ts'
import type { FieldNode } from '../contract/generated/field-tables.ts'
import type { Level } from './reach.ts'

export interface Field {
  /** Dotted, `accounts[].status`. */
  readonly path: string
  readonly required: boolean
}

/** The fields of a value, numbered, so that what an environment has reached of them is a few bytes. */
export interface FieldTree {
  readonly fields: readonly Field[]
  readonly root: Branch
}

interface Branch {
  /** Its number; -1 for the root. */
  readonly at: number
  readonly keys: readonly (readonly [string, Branch])[]
  readonly items: Branch | undefined
  /** Whether an empty text or list reaches it. In an answer these say that there is nothing to say (G53). */
  readonly takesEmpty: boolean
}

/** Fields that are output only do not belong to a request, and what has another name is known by the document's. */
export function fieldTree(node: FieldNode | undefined, isRequest: boolean, leftOut: readonly string[] = []): FieldTree {
  const fields: Field[] = []
  const grow = (of: FieldNode, path: string, at: number): Branch => ({
    at,
    takesEmpty: isRequest,
    items: of.items && grow(of.items, `${path}[]`, -1),
    keys: Object.entries(of.fields ?? {})
      .map(([key, inner]) => ({ key, inner, inside: path === '' ? key : `${path}.${key}` }))
      .filter(({ inner }) => !(isRequest && inner.outputOnly) && inner.aliasOf === undefined)
      .filter(({ inside }) => !leftOut.includes(inside))
      .map(({ key, inner, inside }) => {
        const number = fields.push({ path: inside, required: inner.required === true }) - 1
        return [key, grow(inner, inside, number)] as const
      }),
  })
  return { root: grow(node ?? {}, '', -1), fields }
}

/** Notes every field that is in a value. It runs for each answer, so that it allocates nothing. */
export function mark({ root }: FieldTree, value: unknown, reached: Uint8Array, level: Level): void {
  visit(root, value, reached, level)
}

function visit(branch: Branch, value: unknown, reached: Uint8Array, level: Level): void {
  const { at, keys, items, takesEmpty } = branch
  if (at >= 0 && (reached[at] ?? 0) < level && (takesEmpty || !isEmpty(value))) reached[at] = level
  if (Array.isArray(value)) {
    if (items) for (const item of value as unknown[]) visit(items, item, reached, level)
  } else if (keys.length > 0 && isJsonObject(value)) {
    for (const [key, inner] of keys) {
      const found = value[key]
      if (found !== undefined) visit(inner, found, reached, level)
    }
  }
}

/** An object without members is none: it says that none apply. */
function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}
