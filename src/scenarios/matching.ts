import { matchesGlob } from '../domain/glob.ts'
import type { JsonObject, JsonValue } from '../domain/json.ts'
import type { RuleMatch, ScenarioRule } from '../domain/scenario.ts'
import { matchesValue, valueAt } from '../domain/value-match.ts'
import type { ScenarioRequest } from './scenario-request.ts'

/** Whether a request is one that a rule is about: its place, and all that `on` asks for. Values and globs, never code. */
export function fits({ at, on }: ScenarioRule, request: ScenarioRequest): boolean {
  return (
    at === request.at &&
    (on.operation === undefined || on.operation === request.operation) &&
    fitsText(on.tool, request.tool) &&
    fitsText(on.connector, request.connector) &&
    fitsText(on.client, request.clientId) &&
    fitsText(on.method, request.method) &&
    fitsText(on.path, request.path) &&
    every(on.body, (path, wanted) => matchesValue(wanted, valueAt(request.body, path))) &&
    every(on.query, (name, glob) => texts(request.query, name).some((text) => matchesGlob(glob, text))) &&
    every(on.headers, (name, glob) => texts(request.headers, name).some((text) => matchesGlob(glob, text))) &&
    fitsAccount(on.account, request)
  )
}

function fitsText(glob: string | undefined, text: string | undefined): boolean {
  return glob === undefined || (text !== undefined && matchesGlob(glob, text))
}

/** The account as it is; for one that does not exist yet, what the request says of it. */
function fitsAccount(wanted: RuleMatch['account'], request: ScenarioRequest): boolean {
  if (wanted === undefined) return true
  const found = request.account
  const { id, connector, identifier, organization_id, user_id, status } = found ?? {}
  const view: Readonly<Record<string, string | undefined>> = found
    ? { id, connector, identifier, organization_id, user_id, status }
    : (request.locator ?? {})
  return every(wanted, (field, glob) => fitsText(glob, Object.hasOwn(view, field) ? view[field] : undefined))
}

function every<T>(wanted: Readonly<Record<string, T>> | undefined, holds: (key: string, value: T) => boolean): boolean {
  return wanted === undefined || Object.entries(wanted).every(([key, value]) => holds(key, value))
}

/** The values of a query parameter or header as texts. */
function texts(values: JsonObject, name: string): string[] {
  const found = Object.hasOwn(values, name) ? values[name] : undefined
  if (found === undefined || found === null) return []
  return (Array.isArray(found) ? found : [found]).map((value: JsonValue) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  )
}
