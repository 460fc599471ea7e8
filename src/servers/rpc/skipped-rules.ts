import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldRules, type FieldRules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { basisOf } from '../../model/contract/basis.ts'
import { objectIn, operationIn, resolveReference } from '../../model/contract/document-parts.ts'
import { type JsonObject, type JsonValue, ownMember } from '../../model/domain/json.ts'
import type { Binding, RpcMethod } from './http-rule.ts'

/** A rule of the descriptors that is stricter than the document, and does not hold (G70). */
export interface SkippedRule {
  readonly method: string
  /** As violations name it, without positions. */
  readonly field: string
  /** The ids that its violations have. */
  readonly ids: RegExp
  readonly rule: string
  /** What the spec allows instead, and its basis. */
  readonly allowed: string
  readonly basis: string
}

export function isSkipped(rules: readonly SkippedRule[], method: string, field: string, id: string): boolean {
  const place = field.replaceAll(/\[[^\]]*\]/g, '')
  return rules.some((rule) => rule.method === method && rule.field === place && rule.ids.test(id))
}

export function skippedLine({ method, field, rule, allowed, basis }: SkippedRule): string {
  return `${method} ${field}: ${rule}, but the spec ${allowed} (${basis})`
}

/** The rules of a method's fields that are stricter than the spec, where the document says what the spec has. */
export function skippedRules({ name: method, desc: { input }, bindings }: RpcMethod, spec: JsonObject): SkippedRule[] {
  const fields = fieldsWithRules(input)
  const skipped = bindings.flatMap((binding) =>
    binding.routes.flatMap(({ operation }) =>
      fields.flatMap(({ path, field, rules }): SkippedRule[] => {
        const place = path[0] === binding.body ? path.slice(1) : path
        const name = place.join('.')
        const declared = declaredField(spec, operation, binding, path)
        return stricterRules(rules, field, declared).flatMap(({ constraint, ...rule }) => {
          const basis = basisOf({ operation, field: name, code: constraint, error_code: null })
          return basis.startsWith('document') ? [{ method, field: name, basis, ...rule }] : []
        })
      }),
    ),
  )
  return [...new Map(skipped.map((rule) => [skippedLine(rule), rule])).values()]
}

interface FieldWithRules {
  readonly path: readonly string[]
  readonly field: DescField
  readonly rules: FieldRules
}

/** Those of a message, at any depth. */
function fieldsWithRules(message: DescMessage, around: readonly DescMessage[] = []): FieldWithRules[] {
  if (around.includes(message)) return []
  return message.fields.flatMap((field) => {
    const rules = hasOption(field, fieldRules) ? [getOption(field, fieldRules)] : []
    const inner = field.message ? fieldsWithRules(field.message, [...around, message]) : []
    return [
      ...rules.map((each) => ({ path: [field.name], field, rules: each })),
      ...inner.map((each) => ({ ...each, path: [field.name, ...each.path] })),
    ]
  })
}

interface DeclaredField {
  readonly schema: JsonObject
  readonly isRequired: boolean
}

type StricterRule = Pick<SkippedRule, 'ids' | 'rule' | 'allowed'> & { readonly constraint: string }

function stricterRules(rules: FieldRules, field: DescField, declared: DeclaredField | undefined): StricterRule[] {
  if (!declared) return []
  const { schema, isRequired } = declared
  const required = { ids: /^required$/, rule: 'is required', allowed: 'does not require it', constraint: 'required' }
  const limits = ruleLimits(rules).flatMap(([ids, keyword, value]): StricterRule[] => {
    const bound = ownMember(schema, keyword)
    const isStricter = typeof bound === 'number' && (keyword.startsWith('min') ? value > bound : value < bound)
    return isStricter
      ? [{ ids, rule: `${keyword} ${value}`, allowed: `has ${keyword} ${bound}`, constraint: keyword }]
      : []
  })
  const accepts = wordTest(rules, field)
  const refused = [ownMember(schema, 'enum') ?? []]
    .flat()
    .filter((word): word is string => typeof word === 'string' && !accepts(word))
  const words = { ids: /\.(in|not_in|const)$/, rule: 'has fewer words', constraint: 'enum' }
  return [
    ...(rules.required && !isRequired ? [required] : []),
    ...limits,
    ...(refused.length > 0 ? [{ ...words, allowed: `allows ${refused.join(', ')}` }] : []),
  ]
}

type Limit = readonly [ids: RegExp, keyword: string, value: number]

/** One id is for both bounds of a range. */
const RANGE = /\.(gt|gte|lt|lte)(_|$)/

function ruleLimits({ type }: FieldRules): Limit[] {
  if (type.case === 'string') {
    const { minLen, maxLen, len } = type.value
    const lengths: Limit[] = [
      [/\.min_len$/, 'minLength', Number(minLen)],
      [/\.max_len$/, 'maxLength', Number(maxLen)],
      [/\.len$/, 'minLength', Number(len)],
      [/\.len$/, 'maxLength', Number(len)],
    ]
    // 0 is what is not set.
    return lengths.filter(([, , value]) => value > 0)
  }
  if (!type.value || !('lessThan' in type.value)) return []
  const { greaterThan: above, lessThan: below } = type.value
  return [
    ...(above.case ? [[RANGE, 'minimum', Number(above.value) + (above.case === 'gt' ? 1 : 0)] as const] : []),
    ...(below.case ? [[RANGE, 'maximum', Number(below.value) - (below.case === 'lt' ? 1 : 0)] as const] : []),
  ]
}

/** Whether a word of the spec is one that the rules allow; a word that the enumeration lacks is for the vocabulary. */
function wordTest({ type }: FieldRules, field: DescField): (word: string) => boolean {
  const words = (numbers: readonly number[]): string[] =>
    field.enum?.values.flatMap(({ name, number }) => (numbers.includes(number) ? [name] : [])) ?? []
  if (type.case === 'string') {
    const { in: allowed, notIn, const: only } = type.value
    return wordsAllow(only === '' ? allowed : [only], notIn)
  }
  if (type.case !== 'enum') return () => true
  const isKnown = (word: string): boolean => field.enum?.values.some(({ name }) => name === word) === true
  const accepts = wordsAllow(words(type.value.in), words(type.value.notIn))
  return (word) => !isKnown(word) || accepts(word)
}

function wordsAllow(allowed: readonly string[], refused: readonly string[]): (word: string) => boolean {
  return (word) => (allowed.length === 0 || allowed.includes(word)) && !refused.includes(word)
}

/** What the spec has where a binding puts a field: a field of the body, or a parameter of the path or query. */
function declaredField(
  spec: JsonObject,
  operation: string,
  { body }: Binding,
  path: readonly string[],
): DeclaredField | undefined {
  const declared = operationIn(spec, operation)
  const ofBody = objectIn(spec, declared, 'requestBody', 'content', 'application/json', 'schema')
  const ownField = fieldIn(spec, ofBody, body === '*' ? path : path.slice(1))
  if (ownField && (body === '*' || path[0] === body)) return ownField
  const parameters = [ownMember(declared, 'parameters') ?? []].flat().map((each) => resolveReference(spec, each))
  const parameter = parameters.find(({ name }) => name === path.join('.'))
  return parameter && { schema: objectIn(spec, parameter, 'schema'), isRequired: parameter['required'] === true }
}

function fieldIn(
  spec: JsonObject,
  around: JsonValue,
  [name = '', ...inner]: readonly string[],
): DeclaredField | undefined {
  for (const schema of schemaParts(spec, around)) {
    const property = ownMember(objectIn(spec, schema, 'properties'), name)
    if (property === undefined) continue
    const whole = Object.assign({}, ...schemaParts(spec, property)) as JsonObject
    if (inner.length > 0) return fieldIn(spec, whole['items'] ?? property, inner)
    return { schema: whole, isRequired: [ownMember(schema, 'required') ?? []].flat().includes(name) }
  }
  return undefined
}

/** A schema and those that it is made of. */
function schemaParts(spec: JsonObject, value: JsonValue): JsonObject[] {
  const schema = resolveReference(spec, value)
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => [ownMember(schema, keyword) ?? []].flat())
  return [schema, ...parts.flatMap((part) => schemaParts(spec, part))]
}
