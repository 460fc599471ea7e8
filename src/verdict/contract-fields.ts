import { type Route, routeOf } from '../contract/route.ts'
import { ANSWER_FIELDS, BODY_FIELDS, type FieldNode } from '../contract/generated/field-tables.ts'
import type { Operation } from '../contract/shapes.ts'
import { type FieldTree, fieldTree } from './fields.ts'

export type Part = 'path' | 'query' | 'body' | 'answer'
export const REQUEST_PARTS = ['path', 'query', 'body'] as const satisfies readonly Part[]

/** The fields that requests and successful answers of an operation may have, in each of their parts. */
export type OperationFields = Readonly<Record<Part, FieldTree>>

/** Those of every operation, worked out when it is first asked for. */
export class ContractFields {
  readonly #known = new Map<Operation, OperationFields>()

  of(operation: Operation): OperationFields {
    const known = this.#known.get(operation)
    if (known) return known
    const route = routeOf(operation)
    const made = {
      path: fieldTree(parameters(pathParameters(route)), true),
      query: fieldTree(parameters(route.query), true),
      body: fieldTree(BODY_FIELDS[operation], true),
      answer: fieldTree(ANSWER_FIELDS[operation], false, NEVER_FILLED[operation]),
    }
    this.#known.set(operation, made)
    return made
  }
}

/**
 * What the answers of an operation never hold anything in, so that no client could need it there: there are no scopes (G13),
 * a new account was never used (G26), a custom provider has no categories yet.
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
