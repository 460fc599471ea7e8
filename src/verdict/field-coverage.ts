import { ANSWER_FIELDS, BODY_FIELDS, type FieldNode } from '../contract/generated/field-tables.ts'
import { type Route, routeOf } from '../contract/route.ts'
import type { Operation } from '../contract/shapes.ts'
import { isJsonObject } from '../domain/json.ts'

/** How far something was reached, in a byte; the higher level wins. */
export const NEVER = 0
export const INJECTED = 1
export const DRIVEN = 2
export type Level = typeof NEVER | typeof INJECTED | typeof DRIVEN

export type Part = 'path' | 'query' | 'body' | 'answer'
export const REQUEST_PARTS = ['path', 'query', 'body'] as const satisfies readonly Part[]

/** The fields that requests and successful answers of an operation may have, in each of their parts. */
export type OperationFields = Readonly<Record<Part, FieldTree>>

/** The fields of every operation, built when they are first needed. */
export class ContractFields {
  readonly #known = new Map<Operation, OperationFields>()

  of(operation: Operation): OperationFields {
    const known = this.#known.get(operation)
    if (known) return known
    const route = routeOf(operation)
    const fields = {
      path: fieldTree(parameters(pathParameters(route)), true),
      query: fieldTree(parameters(route.query), true),
      body: fieldTree(BODY_FIELDS[operation], true),
      answer: fieldTree(ANSWER_FIELDS[operation], false, NEVER_FILLED[operation]),
    }
    this.#known.set(operation, fields)
    return fields
  }
}

/**
 * Fields that an operation always answers empty, so that no client can reach them: there are no scopes (G13), a new account was
 * never used (G26), a custom provider has no categories yet.
 */
const NEVER_FILLED: Partial<Record<Operation, readonly string[]>> = {
  create_token: ['scope'],
  create_connected_account: ['connected_account.last_used_at'],
  create_custom_provider: ['provider.categories'],
}

function parameters(list: readonly { readonly name: string; readonly required: boolean }[]): FieldNode {
  const nodes = list.map(({ name, required }): [string, FieldNode] => [name, required ? { required } : {}])
  return { fields: Object.fromEntries(nodes) }
}

function pathParameters({ path }: Route) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, required: true }))
}

interface Field {
  /** Dotted, `accounts[].status`. */
  readonly path: string
  readonly required: boolean
}

/** The fields of a value, numbered, so that an environment needs one byte for each. */
interface FieldTree {
  readonly fields: readonly Field[]
  readonly root: Branch
}

interface Branch {
  /** The number of the field; -1 for the root and for items. */
  readonly at: number
  readonly keys: readonly (readonly [string, Branch])[]
  readonly items: Branch | undefined
  /** Whether an empty text or list reaches the field. In an answer these mean that there is nothing (G53). */
  readonly takesEmpty: boolean
}

/** Without the output-only fields of a request and without aliases, which count as the field they stand for. */
function fieldTree(node: FieldNode | undefined, isRequest: boolean, leftOut: readonly string[] = []): FieldTree {
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

/** Marks every field that a value contains as reached. It runs for each answer, so it allocates nothing. */
export function markFields(branch: Branch, value: unknown, reached: Uint8Array, level: Level): void {
  const { at, keys, items, takesEmpty } = branch
  if (at >= 0 && (reached[at] ?? 0) < level && (takesEmpty || !isEmpty(value))) reached[at] = level
  if (Array.isArray(value)) {
    if (items) for (const item of value as unknown[]) markFields(items, item, reached, level)
  } else if (keys.length > 0 && isJsonObject(value)) {
    for (const [key, inner] of keys) {
      const found = value[key]
      if (found !== undefined) markFields(inner, found, reached, level)
    }
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}
