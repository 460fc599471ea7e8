import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import type { Path } from './problem.ts'
import type { KnownConnectors } from './seed-checks.ts'

/** What a scenario is checked against beside its own shape. */
export interface ScenarioSurroundings {
  /** The operations of the service, and the statuses that its spec declares for each. */
  readonly operations: ReadonlyMap<string, readonly number[]>
  readonly connectors: KnownConnectors
}

/** A rule as it was written, and where. */
export interface WrittenRule {
  readonly path: Path
  readonly rule: JsonObject
  readonly on: JsonObject
  readonly at: string
  /** The operation it is about; `execute_tool` for a rule about a tool. */
  readonly operation: string | undefined
}

/** The rules of a document, as far as they are objects. */
export function writtenRules(document: JsonObject): WrittenRule[] {
  return items(own(document, 'rules')).flatMap((rule, index) => writtenRule(rule, ['rules', index]))
}

function writtenRule(rule: JsonValue, path: Path): WrittenRule[] {
  if (!isJsonObject(rule)) return []
  const on = objectAt(rule, 'on')
  const at = own(rule, 'at')
  const operation = own(on, 'operation') ?? (own(on, 'tool') === undefined ? undefined : 'execute_tool')
  return [
    {
      path,
      rule,
      on,
      at: typeof at === 'string' ? at : '',
      operation: typeof operation === 'string' ? operation : undefined,
    },
  ]
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = own(object, key)
  return isJsonObject(value) ? value : {}
}

export function items(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
