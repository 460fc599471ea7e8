import { type FieldViolation, ruleAndFound } from '../domain/errors.ts'
import { jsonText, pointerParts } from '../domain/json.ts'
import { maskText } from '../domain/masking.ts'
import { isSecretAt, isTextAsName } from '../domain/secret.ts'
import { plural, quote, shorten } from '../domain/text.ts'
import { ownValue } from '../domain/value-match.ts'
import type { ValidatorError } from './generated/validators.js'

/** As many as a person reads; describing all errors of a hostile body would only cost time. */
export const MAX_VIOLATIONS = 20

const SHOWN_TEXT = 40

/** Keys and indexes from the root of a body to a value in it. */
export type FieldPath = readonly (string | number)[]

/** Describes the errors of a validator that refused `root`. `name` turns the path of a value into the name of a field. */
export function violationsOf(
  errors: readonly ValidatorError[] | null | undefined,
  root: unknown,
  name: (path: FieldPath) => string = fieldName,
): FieldViolation[] {
  const violations = new Map<string, FieldViolation>()
  for (const error of withoutBranches((errors ?? []).slice(0, 50 * MAX_VIOLATIONS))) {
    if (violations.size === MAX_VIOLATIONS) break
    const violation = fieldViolation(error, root, name)
    const key = `${violation.field}\n${violation.constraint}`
    if (!violations.has(key)) violations.set(key, violation)
  }
  return [...violations.values()]
}

function fieldViolation(error: ValidatorError, root: unknown, name: (path: FieldPath) => string): FieldViolation {
  const { path: at, value } = followPointer(root, error.instancePath)
  const key = ownKey(error)
  const field = name(key === undefined ? at : [...at, key])
  const constraint = error.keyword
  const rule = typeof value === 'bigint' ? exactRule(error) : brokenRule(error)
  if (error.propertyName !== undefined) {
    const mistake = `the key ${quote(maskText(error.propertyName), SHOWN_TEXT)}${sizeNote(error, error.propertyName)}`
    return { field, description: ruleAndFound(rule, mistake), constraint }
  }
  // An error about a key that is missing or too much: there is no value to show.
  if (key !== undefined) return { field, description: rule, constraint }
  return { field, description: ruleAndFound(rule, `${foundValue(value, at)}${sizeNote(error, value)}`), constraint }
}

/** Of a number that no double holds: only that it is a number can be checked (G75). */
function exactRule(error: ValidatorError): string {
  const isComputed = !['type', 'format'].includes(error.keyword)
  return isComputed
    ? `must be a number that a double holds, because the schema has the rule "${error.keyword}"`
    : brokenRule(error)
}

/** The key that an error is about, where it is reported at the object around it. */
function ownKey({ params, propertyName }: ValidatorError): string | undefined {
  const key = propertyName ?? params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty
  return typeof key === 'string' ? key : undefined
}

/** A value in words. Secrets are left out or masked, because answers, the journal and reports show these words. */
export function foundValue(value: unknown, path: FieldPath): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${plural(value.length, 'item')}`
  const type = typeof value
  if (type === 'object') return 'an object'
  if (isSecretAt(path)) return `a ${type}`
  return typeof value === 'string' ? quote(maskText(value), SHOWN_TEXT) : jsonText(value)
}

/** The size that a limit is about, where the value does not show it. */
function sizeNote({ keyword }: ValidatorError, value: unknown): string {
  if ((keyword === 'minLength' || keyword === 'maxLength') && typeof value === 'string' && value !== '') {
    return ` (${plural(Array.from(value).length, 'character')})`
  }
  if ((keyword === 'minProperties' || keyword === 'maxProperties') && typeof value === 'object' && value !== null) {
    return ` of ${plural(Object.keys(value).length, 'entry', 'entries')}`
  }
  return ''
}

const RULES: Readonly<Record<string, (params: ValidatorError['params']) => string>> = {
  required: () => 'is required',
  dependentRequired: ({ property }) => `is required beside ${String(property)}`,
  additionalProperties: () => 'is not a known field',
  unevaluatedProperties: () => 'is not a known field',
  type: ({ type }) => `must be ${typesInWords([type].flat().join(',').split(','))}`,
  enum: ({ allowedValues }) => `must be ${allowedInWords(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${jsonText(allowedValue)}`,
  minLength: ({ limit }) => `must have at least ${plural(Number(limit), 'character')}`,
  maxLength: ({ limit }) => `must have at most ${plural(Number(limit), 'character')}`,
  minItems: ({ limit }) => `must have at least ${plural(Number(limit), 'item')}`,
  maxItems: ({ limit }) => `must have at most ${plural(Number(limit), 'item')}`,
  minProperties: ({ limit }) => `must have at least ${plural(Number(limit), 'entry', 'entries')}`,
  maxProperties: ({ limit }) => `must have at most ${plural(Number(limit), 'entry', 'entries')}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  pattern: ({ pattern }) => PATTERNS[String(pattern)] ?? `must match ${String(pattern)}`,
  format: ({ format }) => `must be ${FORMATS[String(format)] ?? `a value of the format ${String(format)}`}`,
  uniqueItems: () => 'must not have equal items',
  'false schema': () => 'must be absent',
  anyOf: ({ alternatives }) => alternativesInWords(alternatives),
  oneOf: ({ alternatives, passingSchemas }) =>
    Array.isArray(passingSchemas) ? 'must have exactly one of the allowed forms' : alternativesInWords(alternatives),
}

/** The rule that an error says was broken: `must be a string`. */
function brokenRule({ keyword, params }: ValidatorError): string {
  return RULES[keyword]?.(params) ?? `must keep the rule "${keyword}"`
}

/** The patterns that spec/openapi.yaml has for requests. */
const PATTERNS: Readonly<Record<string, string>> = {
  // Of identifiers (G66); an empty one is missing, or counts as absent.
  '^$|\\S': 'must not be blank',
  '\\S': 'must not be blank',
  '^[A-Za-z0-9 _:-]*$': 'must have no other characters than letters, digits, spaces, _, : and -',
  '^[A-Za-z0-9_-]+$': 'must have no other characters than letters, digits, - and _',
  '^[a-z0-9_-]+$': 'must have no other characters than lower-case letters, digits, - and _',
  '^\\d{1,9}(\\.\\d{1,9})?s$': 'must be seconds such as 3600s',
  '^(https://[^\\s\\u0000-\\u001f\\u007f]+)?$':
    'must be empty, or a URL that begins with https:// and has no white space',
  '^$|^(https?://|data:image/)[^\\s\\u0000-\\u001f\\u007f]+$':
    'must be empty, or a URL that begins with http://, https:// or data:image/ and has no white space',
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a date and time such as 2030-01-31T12:00:00Z',
  uri: 'an absolute URI such as https://example.com/path',
  email: 'an e-mail address',
  int32: 'an integer of 32 bits',
  int64: 'an integer of 64 bits',
}

function allowedInWords(values: unknown): string {
  const all = [values].flat().map((value) => (value === '' ? 'an empty string' : String(value)))
  return all.length === 1 ? all.join() : `one of ${all.join(', ')}`
}

function typesInWords(types: readonly string[]): string {
  return types.map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)).join(' or ')
}

function alternativesInWords(branches: unknown): string {
  if (!Array.isArray(branches) || branches.length === 0) return 'must have one of the allowed forms'
  const rules = (branches as ValidatorError[][]).map((errors) => {
    const missing = errors.map(({ params }) => params.missingProperty).filter((key) => typeof key === 'string')
    const [first] = errors
    return missing.length > 0 || !first ? `have ${missing.join(' and ')}` : brokenRule(first).replace(/^must /, '')
  })
  return `must ${[...new Set(rules)].join(', or ')}`
}

/** The errors of a choice's branches move into its `alternatives`; of a wrong key only the broken rule stays. */
function withoutBranches(errors: readonly ValidatorError[]): ValidatorError[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return errors
    .filter(({ keyword }) => keyword !== 'propertyNames' && keyword !== 'if')
    .filter((error) => !choices.some((choice) => isInBranch(error, choice)))
    .map((error) => (choices.includes(error) ? withAlternatives(error, errors) : error))
}

function isInBranch(error: ValidatorError, choice: ValidatorError): boolean {
  return error.schemaPath.startsWith(`${choice.schemaPath}/`) && error.instancePath.startsWith(choice.instancePath)
}

function withAlternatives(choice: ValidatorError, errors: readonly ValidatorError[]): ValidatorError {
  const branches = new Map<string, ValidatorError[]>()
  for (const error of errors) {
    if (!isInBranch(error, choice)) continue
    const branch = error.schemaPath
      .slice(choice.schemaPath.length + 1)
      .split('/', 1)
      .join()
    branches.set(branch, [...(branches.get(branch) ?? []), error])
  }
  return { ...choice, params: { ...choice.params, alternatives: [...branches.values()] } }
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const MAX_KEY = 80

/** The dotted form of a path, as violations name fields: `scopes[0]`, `metadata["my key"]`; `body` for the root. */
export function fieldName(path: FieldPath): string {
  let name = ''
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`
    // It may hold a secret.
    else if (isTextAsName(part)) name += '["…"]'
    else if (!IDENTIFIER.test(part) || part.length > MAX_KEY) name += `[${jsonText(shorten(part, MAX_KEY))}]`
    else name += name === '' ? part : `.${part}`
  }
  return name === '' ? 'body' : name
}

export function valueOfField(root: unknown, name: string): unknown {
  const parts = name.match(/[^.[\]"]+/g) ?? []
  return parts.reduce<unknown>((value, part) => ownValue(value, part), root)
}

/** The path of a JSON pointer, and the value there: `/0` is an index in an array and a key in an object. */
function followPointer(root: unknown, pointer: string): { path: FieldPath; value: unknown } {
  const path: (string | number)[] = []
  let value = root
  for (const key of pointerParts(pointer)) {
    path.push(Array.isArray(value) ? Number(key) : key)
    value = ownValue(value, key)
  }
  return { path, value }
}
