import { ROUTES as GENERATED } from './generated/routes.ts'
import type { Operation } from './shapes.ts'

/** A query parameter and how it is read from text. */
export interface QueryParameter {
  readonly name: string
  /** The type of one value. */
  readonly type: 'string' | 'integer' | 'boolean'
  readonly repeatable: boolean
  readonly required: boolean
}

/** Method, path, parameters and statuses of an operation in `spec/openapi.yaml`. */
export interface Route {
  readonly operation: Operation
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'
  /** With parameters in braces: `/api/v1/custom-providers/{identifier}`. */
  readonly path: string
  readonly summary: string
  /** An operation of Discovery, which is not in the service document; `--documented-only` does not serve it. */
  readonly discovery: boolean
  readonly bearer: boolean
  /** The statuses it declares. */
  readonly statuses: readonly number[]
  /** Null when it takes no body. */
  readonly bodyMediaType: string | null
  readonly bodyRequired: boolean
  readonly query: readonly QueryParameter[]
}

/** Every operation, in the order of the document. */
export const ROUTES: readonly Route[] = GENERATED

const BY_OPERATION: ReadonlyMap<string, Route> = new Map(ROUTES.map((route) => [route.operation, route]))

/** The route of an operation. */
export function routeOf(operation: Operation): Route {
  const route = BY_OPERATION.get(operation)
  if (!route) throw new Error(`${operation} is not an operation of spec/openapi.yaml`)
  return route
}

/** Whether a name in a scenario or a query is an operation. */
export function isOperation(name: string): name is Operation {
  return BY_OPERATION.has(name)
}

/** Whether the spec declares this status for this operation. */
export function isDeclared(operation: Operation, status: number): boolean {
  return routeOf(operation).statuses.includes(status)
}
