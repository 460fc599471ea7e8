import type { FieldViolation } from '../domain/errors.ts'
import type { JsonValue } from '../domain/json.ts'
import { findForeignFields, holdsOutputOnly, withoutOutputOnly } from './body-fields.ts'
import { BODY_FIELDS } from './generated/field-tables.ts'
import { REQUESTS, RESPONSES } from './generated/validators.js'
import { readQuery, type SentQuery } from './query.ts'
import { routeOf } from './route.ts'
import type { Operation, Query, RequestBody } from './shapes.ts'
import { MOST_VIOLATIONS, violationsOf } from './violation.ts'

export { sentQuery } from './query.ts'
export { isDeclared, isOperation, type Route, ROUTES, routeOf } from './route.ts'

/** Something in a request that is no violation, and that its author would still want to know of (G6, G9). */
export interface ContractWarning {
  field: string
  description: string
  kind: 'unknown' | 'output_only' | 'alias' | 'ignored'
}

export interface RawRequest {
  readonly query: SentQuery
  /** Path parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Parsed JSON, or the fields of a form (an array where one is repeated); undefined when there is no body. */
  readonly body: unknown
}

/** A request with the contract's verdict. The types hold when there are no violations. */
export interface CheckedRequest<Id extends Operation> {
  readonly violations: FieldViolation[]
  readonly warnings: ContractWarning[]
  readonly query: Query<Id>
  readonly path: Readonly<Record<string, string>>
  /** Without output-only fields. */
  readonly body: RequestBody<Id>
}

/**
 * Judges a request by the contract and reads its query by the types of the contract. `strict` makes violations of unknown
 * parameters and fields (G6). At most twenty violations are told; whatever the input, nothing is thrown.
 */
export function checkRequest<Id extends Operation>(
  operation: Id,
  request: RawRequest,
  options: { readonly strict?: boolean } = {},
): CheckedRequest<Id> {
  const query = checkQuery(operation, request.query)
  const body = checkBody(operation, request.body)
  const violations = query.violations.concat(checkPath(operation, request.path), body.violations)
  const warnings = query.warnings.concat(body.warnings)
  const unknown = options.strict ? warnings.filter(({ kind }) => kind === 'unknown') : []
  violations.push(...unknown.map(({ field }) => ({ field, description: UNKNOWN_IN_STRICT, constraint: 'unknown' })))
  return {
    violations: violations.slice(0, MOST_VIOLATIONS),
    warnings: unknown.length > 0 ? warnings.filter((warning) => !unknown.includes(warning)) : warnings,
    // The validators have just said so, or `violations` says otherwise: the one place where text becomes a type.
    query: query.values as Query<Id>,
    path: request.path,
    body: body.value as RequestBody<Id>,
  }
}

const UNKNOWN_IN_STRICT = 'found a name that the contract does not know, expected none in strict mode'

/** Judges an answer: its status must be declared, its body what is declared for that status. */
export function checkResponse(operation: Operation, status: number, body: unknown): FieldViolation[] {
  const validator = RESPONSES[operation][status]
  if (validator === undefined) {
    const description = `found ${status}, expected one of ${routeOf(operation).statuses.join(', ')}`
    return [{ field: 'status', description, constraint: 'declared' }]
  }
  if (validator !== null) return violationsOf(validator, body)
  return body === undefined
    ? []
    : [{ field: 'body', description: 'found a body, expected none', constraint: 'content' }]
}

interface Checked<T> {
  values: T
  violations: FieldViolation[]
  warnings: ContractWarning[]
}

function checkQuery(operation: Operation, query: SentQuery): Checked<Record<string, unknown>> {
  const read = readQuery(routeOf(operation), query)
  const validator = REQUESTS[operation].query
  const judged = validator ? violationsOf(validator, read.values, ([name]) => String(name)) : []
  const told = (field: string): boolean => read.violations.some((violation) => violation.field === field)
  return {
    values: read.values,
    violations:
      judged.length === 0 ? read.violations : [...read.violations, ...judged.filter(({ field }) => !told(field))],
    warnings: read.unknown.slice(0, MOST_VIOLATIONS).map((field) => ({
      field,
      description: 'this operation has no query parameter of that name: ignored',
      kind: 'unknown',
    })),
  }
}

function checkPath(operation: Operation, path: Readonly<Record<string, string>>): FieldViolation[] {
  const validator = REQUESTS[operation].path
  return validator ? violationsOf(validator, path, ([name]) => String(name)) : []
}

function checkBody(
  operation: Operation,
  body: unknown,
): { value: unknown; violations: FieldViolation[]; warnings: ContractWarning[] } {
  const validator = REQUESTS[operation].body
  if (!validator) return { value: undefined, violations: [], warnings: body === undefined ? [] : [BODY_IGNORED] }
  if (body === undefined) {
    return { value: body, violations: routeOf(operation).bodyRequired ? [BODY_MISSING] : [], warnings: [] }
  }
  const node = BODY_FIELDS[operation] ?? {}
  const foreign = findForeignFields(node, body)
  return {
    value: holdsOutputOnly(node, body, foreign) ? withoutOutputOnly(node, body as JsonValue) : body,
    violations: violationsOf(validator, body),
    warnings: foreign.map(({ field, kind, aliasOf = '' }) => ({ field, description: ABOUT[kind](aliasOf), kind })),
  }
}

const ABOUT = {
  unknown: () => 'the contract has no field of that name here: ignored',
  output_only: () => 'the service answers this field and never takes it: ignored',
  alias: (name: string) => `another name for ${name}, which is the document's`,
}

const BODY_IGNORED: ContractWarning = {
  field: 'body',
  description: 'this operation takes no body: ignored',
  kind: 'ignored',
}

const BODY_MISSING: FieldViolation = {
  field: 'body',
  description: 'found nothing, expected a body: this operation needs one',
  constraint: 'required',
}
