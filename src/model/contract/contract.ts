import { parse } from 'node:querystring'
import { type FieldViolation, ruleAndFound } from '../domain/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../domain/json.ts'
import type { RequestWarning } from '../domain/request-trace.ts'
import { nearMiss } from '../domain/suggestion.ts'
import { percentDecoded, shorten } from '../domain/text.ts'
import { BODY_FIELDS, type FieldNode } from './generated/field-tables.ts'
import { REQUESTS, RESPONSES, type Validator } from './generated/validators.js'
import { type QueryParameter, type Route, routeOf } from './route.ts'
import type { Operation, QueryOf, RequestBody } from './shapes.ts'
import { type FieldPath, fieldName, foundValue, MAX_VIOLATIONS, violationsOf } from './violation.ts'

export interface RawRequest {
  /** Without the question mark. */
  readonly query: string
  /** Path parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Parsed JSON, or the fields of a form (an array where one is repeated); undefined when there is no body. */
  readonly body: unknown
}

/** A request with the result of its check. The types hold when there are no violations. */
export interface CheckedRequest<Id extends Operation> {
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly RequestWarning[]
  readonly query: QueryOf<Id>
  readonly path: Readonly<Record<string, string>>
  /** Without output-only fields, and without known fields that are null. */
  readonly body: RequestBody<Id>
}

interface CheckedPart {
  readonly value: unknown
  readonly violations: readonly FieldViolation[]
  readonly warnings: readonly RequestWarning[]
}

const NONE: readonly never[] = Object.freeze([])

/** With `strict`, unknown parameters and fields are violations (G6). Reports at most twenty; throws for no input. */
export function checkRequest(
  route: Route,
  request: RawRequest,
  options: { readonly strict?: boolean } = {},
): CheckedRequest<Operation> {
  const { operation } = route
  const query = checkQuery(route, request.query)
  const path = violationsBy(REQUESTS[operation].path, request.path, parameterName)
  const body = checkBody(route, request.body)
  const allViolations = joinedList(joinedList(query.violations, path), body.violations)
  const warnings = joinedList(query.warnings, body.warnings)
  const unknown: readonly RequestWarning[] = options.strict ? warnings.filter(isUnknown) : NONE
  const all = joinedList(allViolations, unknown.map(violationOfUnknown))
  return {
    violations: all.length > MAX_VIOLATIONS ? all.slice(0, MAX_VIOLATIONS) : all,
    warnings,
    // The one place where checked data gets its type: the validators accepted it, or `violations` says what they found.
    query: query.value as QueryOf<Operation>,
    path: request.path,
    body: body.value as RequestBody<Operation>,
  }
}

/** Both lists as one. Nearly always one of them is empty: the result is then the other list itself, and must not be changed. */
function joinedList<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  if (first.length === 0) return second
  return second.length === 0 ? first : [...first, ...second]
}

function isUnknown({ kind }: RequestWarning): boolean {
  return kind === 'unknown' || kind === 'near_miss'
}

function violationOfUnknown({ field, description, did_you_mean: meant }: RequestWarning): FieldViolation {
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`
  return { field, description: `${description}, which --strict refuses${hint}`, constraint: 'unknown' }
}

/** The warning of a name that is not among the known ones of its place (G6). */
function nameWarning(field: string, name: string, candidates: Iterable<string>, description: string): RequestWarning {
  const meant = nearMiss(name, candidates)
  if (meant === undefined) return { field, description, kind: 'unknown' }
  return { field, description, kind: 'near_miss', did_you_mean: meant }
}

export function checkResponse(operation: Operation, status: number, body: unknown): readonly FieldViolation[] {
  const validator = RESPONSES[operation][status]
  if (validator === undefined) {
    const rule = `must be one of ${routeOf(operation).statuses.join(', ')}`
    return [{ field: 'status', description: ruleAndFound(rule, String(status)), constraint: 'declared' }]
  }
  if (validator !== null) return violationsBy(validator, body)
  return body === undefined ? NONE : [{ field: 'body', description: 'must be empty', constraint: 'content' }]
}

function violationsBy(
  validator: Validator | null,
  value: unknown,
  name?: (path: FieldPath) => string,
): readonly FieldViolation[] {
  return validator === null || validator(value) ? NONE : violationsOf(validator.errors, value, name)
}

function parameterName([name]: FieldPath): string {
  return String(name)
}

function checkQuery(route: Route, text: string): CheckedPart {
  const read = readRouteQuery(route, text)
  const invalid = violationsBy(REQUESTS[route.operation].query, read.value, parameterName)
  if (invalid.length === 0) return read
  // A parameter that cannot be read is missing from the values. That it is required is no second violation.
  const isReadable = ({ field }: FieldViolation): boolean =>
    !read.violations.some((violation) => violation.field === field)
  return { ...read, violations: [...read.violations, ...invalid.filter(isReadable)] }
}

interface ReadQuery extends CheckedPart {
  readonly value: Record<string, unknown>
  readonly violations: FieldViolation[]
}

/** Node stops at a thousand otherwise. */
const EVERY_PAIR = { maxKeys: 0 }

function readRouteQuery(route: Route, text: string): ReadQuery {
  const warnings: RequestWarning[] = []
  const read: ReadQuery = { value: {}, violations: [], warnings }
  if (text === '') return read
  if (route.query.length > 0) read.violations.push(...encodingViolations(text))
  const parameters = parse(text, '&', '=', EVERY_PAIR)
  for (const name of Object.keys(parameters)) {
    const values = parameters[name] ?? []
    const parameter = route.query.find((each) => each.name === name)
    if (parameter) readParameter(parameter, Array.isArray(values) ? values : [values], read)
    else if (warnings.length < MAX_VIOLATIONS) {
      const field = shownName(name)
      const candidates = route.query.map((each) => each.name)
      warnings.push(nameWarning(field, field, candidates, `is no query parameter of ${route.operation}`))
    }
  }
  return read
}

function shownName(name: string): string {
  return name === '' ? '""' : shorten(name, 80)
}

/** What in a query string is not percent-encoded UTF-8 (G59). */
function encodingViolations(query: string): FieldViolation[] {
  if (percentDecoded(query) !== undefined) return []
  const wrong = query.split('&').filter((pair) => percentDecoded(pair) === undefined)
  return wrong.slice(0, MAX_VIOLATIONS).map((pair) => {
    const description = ruleAndFound('must be percent-encoded UTF-8', foundValue(pair, []))
    return { field: shownName(pair.split('=', 1).join()), description, constraint: 'encoding' }
  })
}

function readParameter(parameter: QueryParameter, texts: readonly string[], read: ReadQuery): void {
  const { name, type, repeatable } = parameter
  if (!repeatable && texts.length > 1) {
    const description = ruleAndFound('must be sent once', `it ${texts.length} times`)
    read.violations.push({ field: name, description, constraint: 'repeated' })
    return
  }
  const values = texts.map((text) => parameterValue(type, text))
  const wrong = values.indexOf(undefined)
  if (wrong >= 0) {
    const description = ruleAndFound(TYPE_RULES[type], foundValue(texts[wrong], [name]))
    read.violations.push({ field: name, description, constraint: 'type' })
    return
  }
  if (!repeatable) read.value[name] = values[0]
  else {
    // An empty text names nothing: as with every other filter, it counts as not sent.
    const filled = values.filter((value) => value !== '')
    if (filled.length > 0) read.value[name] = filled
  }
}

const TYPE_RULES = { string: 'must be text', integer: 'must be an integer', boolean: 'must be true or false' } as const

/** Undefined when the text is no value of the type (G5). */
function parameterValue(type: QueryParameter['type'], text: string): string | number | boolean | undefined {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  const number = /^-?\d+$/.test(text) ? Number(text) : NaN
  // `-0 + 0` is 0.
  return Number.isSafeInteger(number) ? number + 0 : undefined
}

function checkBody({ operation, bodyRequired }: Route, body: unknown): CheckedPart {
  const validator = REQUESTS[operation].body
  if (!validator) return { value: undefined, violations: NONE, warnings: body === undefined ? NONE : [BODY_IGNORED] }
  if (body === undefined) {
    return { value: body, violations: bodyRequired ? [BODY_MISSING] : NONE, warnings: NONE }
  }
  const node = BODY_FIELDS[operation] ?? {}
  const warnings: RequestWarning[] = []
  findForeignFields(node, body, { operation, path: [], warnings })
  const value = effectiveValue(node, body as JsonValue)
  return { value, violations: violationsBy(validator, value), warnings }
}

/** A body without what has no effect: output-only fields (G9), known fields that are null, and URLs that are empty (G58). */
export function meaningfulBody(operation: Operation, body: JsonValue): JsonValue {
  return effectiveValue(BODY_FIELDS[operation] ?? {}, body)
}

const BODY_IGNORED: RequestWarning = {
  field: 'body',
  description: 'is ignored: this operation takes no body',
  kind: 'ignored',
}

const BODY_MISSING: FieldViolation = { field: 'body', description: 'is required', constraint: 'required' }

/** `path` leads to `value`; it is one array for the whole search. At most twenty warnings. */
function findForeignFields(node: FieldNode, value: unknown, search: FieldSearch): void {
  const { path, warnings } = search
  if (Array.isArray(value)) {
    if (!node.items) return
    for (let index = 0; index < value.length && warnings.length < MAX_VIOLATIONS; index += 1) {
      path.push(index)
      findForeignFields(node.items, value[index], search)
      path.pop()
    }
  } else if (isJsonObject(value) && node.fields) {
    for (const key of Object.keys(value)) {
      if (warnings.length === MAX_VIOLATIONS) return
      path.push(key)
      checkKey(node, { key, value: ownMember(value, key) }, search)
      path.pop()
    }
  }
}

interface FieldSearch {
  readonly operation: Operation
  readonly path: (string | number)[]
  readonly warnings: RequestWarning[]
}

function checkKey(node: FieldNode, { key, value }: { key: string; value: unknown }, search: FieldSearch): void {
  const { operation, path, warnings } = search
  const child = childField(node, key)
  if (!child) {
    if (!node.open) warnings.push(nameWarning(fieldName(path), key, inputsOf(node), `is not a field of ${operation}`))
    return
  }
  if (child.outputOnly) {
    warnings.push(warningAt(path, 'output_only', 'is ignored: the service only answers this field'))
    return
  }
  if (child.aliasOf !== undefined) {
    warnings.push(warningAt(path, 'alias', `is another name for ${child.aliasOf}, the name in the document`))
  }
  findForeignFields(child, value, search)
}

function inputsOf({ fields = {} }: FieldNode): string[] {
  return Object.entries(fields).flatMap(([name, field]) => (field.outputOnly ? [] : [name]))
}

function warningAt(path: FieldPath, kind: RequestWarning['kind'], description: string): RequestWarning {
  return { field: fieldName(path), description, kind }
}

/** The same value where all of it has an effect. Visits the known fields and not those of the body: a wide one costs nothing. */
function effectiveValue({ items, fields }: FieldNode, value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    if (!items) return value
    const elements = value.map((item) => effectiveValue(items, item))
    return elements.some((item, at) => item !== value[at]) ? elements : value
  }
  if (!isJsonObject(value)) return value
  let changed: Map<string, JsonValue | undefined> | undefined
  // The table of fields is the mock's own, and making a list of it would take longer than the search.
  for (const key in fields) {
    const child = fields[key]
    const inner = ownMember(value, key)
    if (!child || inner === undefined) continue
    const meaning = isIdle(child, inner) ? undefined : effectiveValue(child, inner)
    if (meaning !== inner) changed = (changed ?? new Map<string, JsonValue | undefined>()).set(key, meaning)
  }
  if (!changed) return value
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, changed.has(key) ? changed.get(key) : inner] as const,
  )
  // `fromEntries` defines own properties, `__proto__` included, and never touches a prototype.
  return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined)) as JsonObject
}

function isIdle(node: FieldNode, value: JsonValue): boolean {
  return node.outputOnly === true || value === null || (node.url === true && value === '')
}

function childField(node: FieldNode, key: string): FieldNode | undefined {
  return node.fields && Object.hasOwn(node.fields, key) ? node.fields[key] : undefined
}
