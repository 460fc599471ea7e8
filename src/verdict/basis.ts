import { routeOf } from '../contract/route.ts'
import type { Operation } from '../contract/shapes.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts'
import type { NewFinding } from './findings.ts'

/** The basis of rules that belong to no field of the contract, by constraint and by error code (docs/fidelity.md). */
const OF_CONSTRAINT: Readonly<Record<string, string>> = {
  unknown: 'choice:G6',
  unread: 'choice:G6',
  near_miss: 'choice:G6',
  similar_identifier: 'choice:G6',
  unverified_flow: 'document:4.7',
  barrier_opened_late: 'choice',
  refresh_token_replayed: 'convention:G46',
  credentials_overwritten_by_older: 'convention:G46',
  output_only: 'convention:G9',
  alias: 'convention:G11',
  repeated: 'convention:G5',
  encoding: 'document:4.1',
  scheme: 'document:5.3',
  forged: 'convention:G68',
  stale: 'convention:G68',
  treated_twice: 'convention:G68',
}
const OF_CODE: Readonly<Record<string, string>> = {
  MALFORMED_BODY: 'convention:G7',
  UNSUPPORTED_CONTENT_TYPE: 'convention:G7',
  BODY_TOO_LARGE: 'convention:G7',
  UNAUTHENTICATED: 'document:5.3',
  MISSING_LOCATOR: 'document:4',
  AMBIGUOUS_LOCATOR: 'choice:G21',
  CONTRADICTING_LOCATOR: 'choice:G21',
  INVALID_CONNECTOR: 'choice:G19',
  INVALID_PAGE_TOKEN: 'convention:G4',
  INVALID_TOOL_INPUT: 'convention:G44',
}
/** Rules about a field whose basis differs from the field's, by operation, path and constraint; `*` matches any. */
const OF_RULE: Readonly<Record<string, string>> = {
  '* organization_id required': 'choice:G21',
  '* connected_account.authorization_details.trusted_idp.db_user required': 'document:2.2',
  'create_connected_account * required': 'choice:G52',
  'create_connected_account * minLength': 'choice:G52',
  'update_connected_account connected_account required': 'choice:G52',
  'execute_tool tool_name required': 'choice:G52',
  'execute_tool tool_name minLength': 'choice:G52',
  'create_magic_link connector known_connector': 'document:4.6',
  'create_magic_link * http_url': 'choice:G35',
  'create_magic_link user_verify_url format': 'choice:G35',
  'create_token grant_type enum': 'document:5.1',
  'create_token Content-Type content_type': 'document:5.1',
  'create_token * required': 'convention:G14',
  'create_token * exclusive': 'convention:G14',
  'create_token * repeated': 'convention:G14',
  '* connected_account.authorization_type authorization_type': 'choice:G10',
  '* * authorization_type': 'choice:G23',
}

export class BasisLookup {
  readonly #document: JsonObject

  constructor(document: object) {
    this.#document = document as JsonObject
  }

  of({ operation, path, constraint, error_code }: NewFinding): string {
    const rules = [`${operation} ${path}`, `* ${path}`, `${operation} *`, '* *']
    const [ofRule] = rules.flatMap((rule) => OF_RULE[`${rule} ${constraint}`] ?? [])
    const known = ofRule ?? OF_CONSTRAINT[constraint] ?? OF_CODE[error_code ?? '']
    return known ?? this.#ofField(operation as Operation, path, constraint)
  }

  #ofField(operation: Operation, path: string, constraint: string): string {
    const described = this.#operation(operation)
    const parameter = this.#list(described['parameters']).find(({ name }) => name === path)
    const own = textOf(described['x-basis'])
    if (parameter) {
      // The limits of a value may have another basis than the name of its parameter.
      const ofValue = constraint === 'required' ? undefined : textOf(this.#object(parameter['schema'])['x-basis'])
      return ofValue ?? textOf(parameter['x-basis']) ?? own ?? 'choice'
    }
    const parts = path
      .replace(/\[[^\]]*\]/g, '.[]')
      .split('.')
      .filter((part) => part !== '')
    const schema = this.#bodySchema(described)
    return (schema && this.#nearest(schema, parts)) ?? own ?? 'choice'
  }

  #operation(operation: Operation): JsonObject {
    const { path, method } = routeOf(operation)
    const item = this.#object(this.#object(this.#document['paths'])[path])
    return this.#object(item[method.toLowerCase()])
  }

  #bodySchema(described: JsonObject): JsonObject | undefined {
    const [content] = Object.values(this.#object(this.#object(described['requestBody'])['content']))
    return content === undefined ? undefined : this.#object(this.#object(content)['schema'])
  }

  /** The basis of the deepest part of the path that has one. */
  #nearest(schema: JsonObject, [part, ...rest]: readonly string[]): string | undefined {
    const own = textOf(schema['x-basis'])
    if (part === undefined) return own
    const inner = this.#inside(schema, part)
    return (inner && this.#nearest(inner, rest)) ?? own
  }

  #inside(schema: JsonObject, part: string): JsonObject | undefined {
    const direct = part === '[]' ? schema['items'] : this.#object(schema['properties'])[part]
    if (direct !== undefined) return this.#object(direct)
    const choices = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => this.#list(schema[keyword]))
    return choices.map((choice) => this.#inside(choice, part)).find((found) => found !== undefined)
  }

  #list(value: JsonValue | undefined): JsonObject[] {
    return Array.isArray(value) ? value.map((item) => this.#object(item)) : []
  }

  /** Resolves a reference; keys beside the `$ref` win over those of its target. */
  #object(value: JsonValue | undefined): JsonObject {
    if (!isJsonObject(value)) return {}
    const { $ref: ref, ...own } = value
    if (typeof ref !== 'string') return value
    const target = ref
      .split('/')
      .slice(1)
      .reduce<JsonValue | undefined>((at, part) => (isJsonObject(at) ? at[part] : undefined), this.#document)
    return { ...this.#object(target), ...own }
  }
}

/** An `x-basis` may be a list; its first entry counts. */
function textOf(basis: JsonValue | undefined): string | undefined {
  const [first] = [basis].flat()
  return typeof first === 'string' ? first : undefined
}
