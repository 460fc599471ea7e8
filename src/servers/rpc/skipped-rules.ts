import { type DescField, type DescMessage, getOption, hasOption } from '@bufbuild/protobuf'
import { field as fieldRules, type FieldRules } from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { basisOf } from '../../model/contract/basis.ts'
import { isOperation } from '../../model/contract/route.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../../model/domain/json.ts'
import type { RpcMethod } from './http-rule.ts'

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
  const places = bindings.flatMap((binding) =>
    binding.routes.flatMap(({ operation }) => (isOperation(operation) ? [{ binding, operation }] : [])),
  )
  const rules = places.flatMap(({ binding, operation }) =>
    rulesOfFields(input).flatMap(({ path, field, rules: ofField }): SkippedRule[] => {
      const restPath = path[0] === binding.body ? path.slice(1) : path
      const inSpec = specOf(
        spec,
        operation,
        restPath,
        binding.body !== '' && (binding.body === '*' || path[0] === binding.body),
      )
      if (!inSpec) return []
      return stricterRules(ofField, field, inSpec).flatMap(({ constraint, ...rule }) => {
        const name = restPath.join('.')
        const basis = basisOf({ operation, field: name, code: constraint, error_code: null })
        return basis.startsWith('document') ? [{ method, field: name, basis, ...rule }] : []
      })
    }),
  )
  return [...new Map(rules.map((rule) => [skippedLine(rule), rule])).values()]
}

interface RuledField {
  readonly path: readonly string[]
  readonly field: DescField
  readonly rules: FieldRules
}

/** The fields of a message that have rules, at any depth. */
function rulesOfFields(message: DescMessage, around: readonly DescMessage[] = []): RuledField[] {
  if (around.includes(message)) return []
  return message.fields.flatMap((field) => {
    const own = hasOption(field, fieldRules) ? [{ path: [field.name], field, rules: getOption(field, fieldRules) }] : []
    const inner = field.message ? rulesOfFields(field.message, [...around, message]) : []
    return [...own, ...inner.map((each) => ({ ...each, path: [field.name, ...each.path] }))]
  })
}

interface SpecField {
  readonly schema: JsonObject
  readonly isRequired: boolean
}

type Stricter = Pick<SkippedRule, 'ids' | 'rule' | 'allowed'> & { readonly constraint: string }

function stricterRules(rules: FieldRules, field: DescField, { schema, isRequired }: SpecField): Stricter[] {
  const stricter: Stricter[] = []
  if (rules.required && !isRequired)
    stricter.push({ ids: /^required$/, rule: 'is required', allowed: 'does not require it', constraint: 'required' })
  const limits = limitsOf(rules)
  for (const { ids, keyword, value } of limits) {
    const bound = ownMember(schema, keyword)
    if (typeof bound !== 'number') continue
    const isMinimum = keyword.startsWith('min')
    if (isMinimum ? value > bound : value < bound)
      stricter.push({ ids, rule: `${keyword} ${value}`, allowed: `has ${keyword} ${bound}`, constraint: keyword })
  }
  const words = ownMember(schema, 'enum')
  const allowed = wordsOf(rules)
  if (allowed && Array.isArray(words)) {
    const missing = words.filter((word): word is string => typeof word === 'string' && !allowed.includes(word))
    const text = `allows ${missing.join(', ')} too`
    if (missing.length > 0 && !field.enum)
      stricter.push({
        ids: /^string\.(in|const)$/,
        rule: `allows ${allowed.join(', ')}`,
        allowed: text,
        constraint: 'enum',
      })
  }
  return stricter
}

interface Limit {
  readonly ids: RegExp
  readonly keyword: 'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minimum' | 'maximum'
  readonly value: number
}

function limitsOf({ type }: FieldRules): Limit[] {
  if (type.case === 'string') {
    const { minLen, maxLen, len } = type.value
    return [
      ...limit(/^string\.min_len$/, 'minLength', minLen),
      ...limit(/^string\.max_len$/, 'maxLength', maxLen === 0n ? undefined : maxLen),
      ...(len === 0n ? [] : [...limit(/^string\.len$/, 'minLength', len), ...limit(/^string\.len$/, 'maxLength', len)]),
    ]
  }
  if (type.case === 'repeated') {
    const { minItems, maxItems } = type.value
    return [
      ...limit(/^repeated\.min_items$/, 'minItems', minItems),
      ...limit(/^repeated\.max_items$/, 'maxItems', maxItems === 0n ? undefined : maxItems),
    ]
  }
  if (type.value && 'lessThan' in type.value && 'greaterThan' in type.value) {
    const { lessThan, greaterThan } = type.value
    // One id is for both bounds of a range.
    const ids = /\.(gt|gte|lt|lte)(_|$)/
    const [above, below] = [numberOf(greaterThan.value), numberOf(lessThan.value)]
    return [
      ...limit(ids, 'minimum', above === undefined ? undefined : above + (greaterThan.case === 'gt' ? 1 : 0)),
      ...limit(ids, 'maximum', below === undefined ? undefined : below - (lessThan.case === 'lt' ? 1 : 0)),
    ]
  }
  return []
}

function limit(ids: RegExp, keyword: Limit['keyword'], value: bigint | number | undefined): Limit[] {
  return value === undefined ? [] : [{ ids, keyword, value: Number(value) }]
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
}

function wordsOf({ type }: FieldRules): string[] | undefined {
  if (type.case !== 'string') return undefined
  const { in: words, const: word } = type.value
  return words.length > 0 ? words : word === '' ? undefined : [word]
}

/** What the spec has at a place of a request: a field of its body, or a parameter. */
function specOf(
  spec: JsonObject,
  operation: string,
  path: readonly string[],
  isOfBody: boolean,
): SpecField | undefined {
  const items = Object.values(objectAt(spec, 'paths')).filter(isJsonObject)
  const [declared] = items.flatMap((item) =>
    Object.values(item).flatMap((each) =>
      isJsonObject(each) && each['operationId'] === operation ? [{ item, each }] : [],
    ),
  )
  if (!declared) return undefined
  if (isOfBody) {
    const content = objectAt(resolved(spec, declared.each['requestBody']), 'content')
    return fieldAt(spec, objectAt(objectAt(content, 'application/json'), 'schema'), path)
  }
  const parameters = [declared.item['parameters'], declared.each['parameters']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  const parameter = parameters.map((each) => resolved(spec, each)).find(({ name }) => name === path.join('.'))
  return parameter && { schema: resolved(spec, parameter['schema']), isRequired: parameter['required'] === true }
}

function fieldAt(spec: JsonObject, around: JsonValue, [name = '', ...inner]: readonly string[]): SpecField | undefined {
  for (const schema of partsOf(spec, around)) {
    const property = ownMember(objectAt(schema, 'properties'), name)
    if (property === undefined) continue
    const whole = Object.assign({}, ...partsOf(spec, property)) as JsonObject
    if (inner.length > 0) return fieldAt(spec, whole['items'] ?? property, inner)
    const { required } = schema
    return { schema: whole, isRequired: Array.isArray(required) && required.includes(name) }
  }
  return undefined
}

/** A schema and those that it is made of. */
function partsOf(spec: JsonObject, value: JsonValue): JsonObject[] {
  const schema = resolved(spec, value)
  const parts = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []))
  return [schema, ...parts.flatMap((part) => partsOf(spec, part))]
}

function resolved(spec: JsonObject, value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) return {}
  const { $ref: reference, ...own } = value
  if (typeof reference !== 'string') return value
  const target = reference
    .slice(2)
    .split('/')
    .reduce<JsonValue | undefined>((at, key) => (isJsonObject(at) ? ownMember(at, key) : undefined), spec)
  return { ...resolved(spec, target), ...own }
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = ownMember(object, key)
  return isJsonObject(value) ? value : {}
}
