import type { ControlRoute } from './context.ts'
import { ENVIRONMENT_ROUTES } from './environment-routes.ts'
import { LINK_ROUTES } from './link-routes.ts'
import { MODEL_ROUTES } from './model-routes.ts'
import { REPORT_ROUTES } from './report-routes.ts'
import { REQUEST_ROUTES } from './request-routes.ts'
import { SERVER_ROUTES } from './server-routes.ts'
import { snapshotRoutes } from './snapshot-routes.ts'
import { STATE_ROUTES } from './state-routes.ts'

/** Every route of one server's control API; `spec/control.openapi.yaml` has the same. */
export function controlTable(): readonly ControlRoute[] {
  return [
    ...SERVER_ROUTES,
    ...ENVIRONMENT_ROUTES,
    ...STATE_ROUTES,
    ...snapshotRoutes(),
    ...MODEL_ROUTES,
    ...REQUEST_ROUTES,
    ...LINK_ROUTES,
    ...REPORT_ROUTES,
  ]
}

/** A route that a path leads to, with the parts of the path in braces. */
export interface Way {
  readonly route: ControlRoute
  readonly path: Readonly<Record<string, string>>
}

/** Every route of a path, one for each method; plain words win over braces, because they come first in the table. */
export function waysOf(table: readonly ControlRoute[], path: string): Map<string, Way> {
  const ways = new Map<string, Way>()
  for (const route of table) {
    const parts = partsOf(route.path, path)
    if (parts && !ways.has(route.method)) ways.set(route.method, { route, path: parts })
  }
  return ways
}

/** What stands in the braces of a pattern; undefined when the path is another one, or not well percent-encoded. */
function partsOf(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const parts: [string, string][] = []
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? ''
    if (!part.startsWith('{')) {
      if (part !== text) return undefined
      continue
    }
    const value = decoded(text)
    if (value === undefined || value === '') return undefined
    parts.push([part.slice(1, -1), value])
  }
  return Object.fromEntries(parts)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
