import type { FieldViolation } from '../domain/errors.ts'
import { plural, quote } from '../domain/text.ts'
import { type FieldPath, fieldName, walk } from './field-path.ts'
import type { Validator, ValidatorError } from './generated/validators.js'
import { gatherChoices } from './choice.ts'

/** More than a person reads; the rest would only be the work of describing a hostile body. */
export const MOST_VIOLATIONS = 20

const SHOWN_TEXT = 40
const SECRET = /^(access_token|refresh_token|access_key_id|details)$|secret|password|session_token/i

/**
 * Judges a value and tells in plain words what is wrong with it: where, what was found, what is allowed. `name` turns the path
 * of a value into the name of a field.
 */
export function violationsOf(
  validator: Validator,
  root: unknown,
  name: (path: FieldPath) => string = fieldName,
): FieldViolation[] {
  if (validator(root)) return []
  const errors = (validator.errors ?? []).slice(0, 50 * MOST_VIOLATIONS)
  const found = new Map<string, FieldViolation>()
  for (const error of gatherChoices(errors)) {
    if (found.size === MOST_VIOLATIONS) break
    const violation = describe(error, root, name)
    const key = `${violation.field}\n${violation.constraint}`
    if (!found.has(key)) found.set(key, violation)
  }
  return [...found.values()]
}

function describe(error: ValidatorError, root: unknown, name: (path: FieldPath) => string): FieldViolation {
  const { path: at, value } = walk(root, error.instancePath)
  const own = ownKey(error)
  const path = own === undefined ? at : [...at, own]
  const field = name(path)
  const constraint = error.keyword
  if (own !== undefined && error.propertyName === undefined) {
    return { field, description: ABOUT_KEY[constraint] ?? error.message ?? constraint, constraint }
  }
  const what = error.propertyName === undefined ? value : error.propertyName
  const found =
    error.propertyName === undefined ? foundValue(what, path) : `the key ${quote(error.propertyName, SHOWN_TEXT)}`
  return { field, description: `found ${found}${measure(error, what)}, expected ${expected(error)}`, constraint }
}

/** Errors that are about a key of the object they are reported at. */
function ownKey({ params, propertyName }: ValidatorError): string | undefined {
  const key = propertyName ?? params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty
  return typeof key === 'string' ? key : undefined
}

const ABOUT_KEY: Readonly<Record<string, string>> = {
  required: 'found nothing, expected a value: this field is required',
  dependentRequired: 'found nothing, expected a value: this field is required beside those that were sent',
  additionalProperties: 'found a field that is not known here, expected none of this name',
  unevaluatedProperties: 'found a field that is not known here, expected none of this name',
}

/** What is there, in words; the content of credentials is not repeated to whoever reads the answer or the journal. */
export function foundValue(value: unknown, path: FieldPath): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  if (Array.isArray(value) && value.length === 0) return 'an empty array'
  if (Array.isArray(value)) return `an array of ${plural(value.length, 'item')}`
  const type = typeof value
  if (type === 'object') return 'an object'
  if (isSecret(path)) return `a ${type}`
  return typeof value === 'string' ? `the string ${quote(value, SHOWN_TEXT)}` : `the ${type} ${JSON.stringify(value)}`
}

function isSecret(path: FieldPath): boolean {
  return path.some((part) => typeof part === 'string' && SECRET.test(part))
}

/** The size that a limit is about, where it is not to be seen from the value. */
function measure({ keyword }: ValidatorError, value: unknown): string {
  if ((keyword === 'minLength' || keyword === 'maxLength') && typeof value === 'string' && value !== '') {
    return ` of ${plural(Array.from(value).length, 'character')}`
  }
  if ((keyword === 'minProperties' || keyword === 'maxProperties') && typeof value === 'object' && value !== null) {
    return ` of ${plural(Object.keys(value).length, 'entry', 'entries')}`
  }
  return ''
}

const EXPECTED: Readonly<Record<string, (params: ValidatorError['params']) => string>> = {
  type: ({ type }) => typesInWords([type].flat().join(',').split(',')),
  enum: ({ allowedValues }) => allowedInWords(allowedValues),
  const: ({ allowedValue }) => JSON.stringify(allowedValue),
  minLength: ({ limit }) => `at least ${plural(Number(limit), 'character')}`,
  maxLength: ({ limit }) => `at most ${plural(Number(limit), 'character')}`,
  minItems: ({ limit }) => `at least ${plural(Number(limit), 'item')}`,
  maxItems: ({ limit }) => `at most ${plural(Number(limit), 'item')}`,
  minProperties: ({ limit }) => `at least ${plural(Number(limit), 'entry', 'entries')}`,
  maxProperties: ({ limit }) => `at most ${plural(Number(limit), 'entry', 'entries')}`,
  minimum: ({ limit }) => `a number of at least ${String(limit)}`,
  maximum: ({ limit }) => `a number of at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `a number above ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `a number below ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `a multiple of ${String(multipleOf)}`,
  pattern: ({ pattern }) => `text of the form ${String(pattern)}`,
  format: ({ format }) => FORMATS[String(format)] ?? `a value of the format ${String(format)}`,
  uniqueItems: () => 'items that differ from one another',
  'false schema': () => 'nothing here',
  anyOf: ({ alternatives }) => alternativesInWords(alternatives),
  oneOf: ({ alternatives, passingSchemas }) =>
    Array.isArray(passingSchemas)
      ? 'exactly one of the allowed forms, not several at once'
      : alternativesInWords(alternatives),
}

/** What the rule that failed allows. */
function expected(error: ValidatorError): string {
  return EXPECTED[error.keyword]?.(error.params) ?? `a value that keeps the rule "${error.keyword}"`
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'a date and time such as 2030-01-31T12:00:00Z',
  uri: 'an absolute URI such as https://example.com/path',
  email: 'an e-mail address',
  int32: 'an integer of 32 bits',
  int64: 'an integer of 64 bits',
}

function allowedInWords(values: unknown): string {
  const all = [values].flat().map((value) => String(value))
  return all.length === 1 ? all.join() : `one of ${all.join(', ')}`
}

function typesInWords(types: readonly string[]): string {
  return types.map((type) => (type === 'null' ? 'null' : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)).join(' or ')
}

/** What each branch of a choice lacks: the fields that are missing, or the first rule that failed. */
function alternativesInWords(branches: unknown): string {
  if (!Array.isArray(branches) || branches.length === 0) return 'one of the allowed forms'
  const words = (branches as ValidatorError[][]).map((errors) => {
    const missing = errors.map(({ params }) => params.missingProperty).filter((key) => typeof key === 'string')
    const [first] = errors
    return missing.length > 0 || !first ? missing.join(' and ') : expected(first)
  })
  return [...new Set(words)].join(', or ')
}
