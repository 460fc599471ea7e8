import { nearestPath } from '../domain/suggestion.ts'
import { ROUTES as GENERATED } from './generated/routes.ts'
import type { Operation } from './shapes.ts'

export interface QueryParameter {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean'
  readonly repeatable: boolean
  readonly required: boolean
}

export interface Route {
  readonly operation: Operation
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'
  /** With parameters in braces: `/api/v1/custom-providers/{identifier}`. */
  readonly path: string
  readonly summary: string
  /** An operation of Discovery, which is not in the service document; `--documented-only` does not serve it. */
  readonly discovery: boolean
  /** A call for MCP configs and session tokens (G67); served with `--mcp` only. */
  readonly mcp: boolean
  readonly bearer: boolean
  readonly statuses: readonly number[]
  readonly bodyMediaType: string | null
  readonly bodyRequired: boolean
  readonly query: readonly QueryParameter[]
}

/** Every operation, in the order of the document. */
export const ROUTES: readonly Route[] = GENERATED

const BY_OPERATION: ReadonlyMap<string, Route> = new Map(ROUTES.map((route) => [route.operation, route]))

export function routeOf(operation: Operation): Route {
  const route = BY_OPERATION.get(operation)
  if (!route) throw new Error(`${operation} is not an operation of spec/openapi.yaml`)
  return route
}

export function isOperation(name: string): name is Operation {
  return BY_OPERATION.has(name)
}

const PATTERNS = ROUTES.map(({ operation, method, path }) => ({ operation, method, pattern: pathPattern(path) }))

export function operationAt(method: string, path: string): Operation | undefined {
  return PATTERNS.find((route) => route.method === method && route.pattern.test(path))?.operation
}

/** Reads the parameters of a path, percent-encoded as they are: in its template a name in braces stands for one segment. */
export function pathPattern(template: string): RegExp {
  const source = template.replaceAll(/[.*+?^$|()[\]\\]/g, String.raw`\$&`).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}$`)
}

export function isDeclared(operation: Operation, status: number): boolean {
  return routeOf(operation).statuses.includes(status)
}

export interface RouteSwitches {
  readonly documentedOnly: boolean
  readonly mcp: boolean
}

/** The routes that are mounted: those of Discovery unless `--documented-only`, those of MCP with `--mcp`. */
export function servedRoutes(switches: RouteSwitches): readonly Route[] {
  return ROUTES.filter(({ discovery, mcp }) => !(discovery && switches.documentedOnly) && (!mcp || switches.mcp))
}

/** The method and path of the route that a refused request most likely meant, `POST /oauth/token`; null when none is near. */
export function nearestRoute(routes: readonly Route[], method: string, path: string): string | null {
  const nearest =
    nearestPath(
      path,
      routes.map((route) => route.path),
    ) ?? pathWithSameEnd(routes, path)
  if (nearest === undefined) return null
  const methods: readonly string[] = routes.filter((route) => route.path === nearest).map((route) => route.method)
  return `${methods.includes(method) ? method : methods.join(' or ')} ${nearest}`
}

/** Another version or prefix, `/v1/tools` for `/api/v1/tools`, and `/v1/custom-providers/acme` for one with a parameter. */
function pathWithSameEnd(routes: readonly Route[], path: string): string | undefined {
  const [last = '', before] = path.replace(/\/+$/, '').split('/').reverse()
  if (last === '') return undefined
  const action = /:[^:]+$/.exec(last)?.[0] ?? last
  return routes.find((route) => {
    const [end = '', beforeEnd] = route.path.split('/').reverse()
    return end === last || end.endsWith(action) || (end.startsWith('{') && beforeEnd === before)
  })?.path
}
