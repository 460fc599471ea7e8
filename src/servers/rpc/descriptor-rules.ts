import {
  create,
  type DescField,
  type DescMessage,
  type FileRegistry,
  fromJson,
  hasOption,
  type JsonValue as ProtobufJson,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { type Path, pathToString } from '@bufbuild/protobuf/reflect'
import { createValidator, type Violation } from '@bufbuild/protovalidate'
import {
  field as fieldRules,
  message as messageRules,
  oneof as oneofRules,
} from '@bufbuild/protovalidate/gen/buf/validate/validate_pb.js'
import { readDocument } from '../../model/contract/generated/document.js'
import { type FieldPath, foundValue, MAX_VIOLATIONS, fieldName } from '../../model/contract/violation.ts'
import { ruleAndFound } from '../../model/domain/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember, withDoubles } from '../../model/domain/json.ts'
import { valueAtPath } from '../../model/schema/problems.ts'
import { percentDecoded } from '../../model/domain/text.ts'
import type { BrokenRule, DescriptorRules, WireRequest } from '../http/services.ts'
import { fieldOf } from './descriptors.ts'
import type { Binding, RpcMethod } from './http-rule.ts'
import { isSkipped, type SkippedRule, skippedRules } from './skipped-rules.ts'

/** The rules of `buf.validate` that the descriptors of served methods have (G70). */
export interface RulesOfDescriptors {
  readonly violations: DescriptorRules
  readonly skipped: readonly SkippedRule[]
}

/** Undefined where no served method has a rule. `warn` is told of messages whose rules cannot be used. */
export function rulesOfDescriptors(
  registry: FileRegistry,
  methods: readonly RpcMethod[],
  warn: (message: string) => void,
): RulesOfDescriptors | undefined {
  const validator = createValidator({ registry })
  const isUsable = ({ desc: { input } }: RpcMethod): boolean => {
    const result = validator.validate(input, create(input))
    if (result.kind === 'error') warn(`the rules of ${input.typeName} do not hold: ${result.error.message}`)
    return result.kind !== 'error'
  }
  const ruled = methods.filter((method) => method.bindings.length > 0 && hasRules(method.desc.input))
  if (ruled.length === 0) return undefined
  const usable = ruled.filter(isUsable)
  const spec = readDocument() as JsonObject
  const skipped = usable.flatMap((method) => skippedRules(method, spec))
  const forms = usable.flatMap((method) =>
    method.bindings.map((binding) => ({ method, binding, path: pathExpression(binding) })),
  )

  const violationsIn = (method: RpcMethod, binding: Binding, match: RegExpExecArray, request: WireRequest) => {
    const { input } = method.desc
    const json = withDoubles(messageJson(input, binding, match, request))
    const message = readableMessage(input, json, registry)
    const result = message && validator.validate(input, message)
    if (result?.kind !== 'invalid') return []
    return result.violations.flatMap((broken) => {
      const path = fieldPathOf(broken.field)
      const value = valueAtPath(json, path) as JsonValue | undefined
      // A word that the enumeration lacks is left out of the message, and not missing.
      if (broken.ruleId === 'required' && typeof value === 'string' && value !== '') return []
      const place = path[0] === binding.body ? path.slice(1) : path
      if (isSkipped(skipped, method.name, fieldName(place), broken.ruleId)) return []
      return [breachOf(broken, place, value)]
    })
  }

  const violations: DescriptorRules = (request) => {
    let first: readonly BrokenRule[] = []
    for (const { method, binding, path } of forms) {
      if (request.rpc === undefined ? binding.verb !== request.method : method.name !== request.rpc) continue
      const match = path.exec(request.path)
      if (!match) continue
      const broken = violationsIn(method, binding, match, request)
      // Methods can share a route: one that takes the request is enough.
      if (broken.length === 0) return broken
      if (first.length === 0) first = broken
    }
    return first.slice(0, MAX_VIOLATIONS)
  }
  return { violations, skipped }
}

/** Undefined for what does not fit the types of the message: the contract check refuses it. */
function readableMessage(input: DescMessage, json: JsonValue, registry: FileRegistry): Message | undefined {
  try {
    return fromJson(input, json as ProtobufJson, { ignoreUnknownFields: true, registry })
  } catch {
    return undefined
  }
}

function hasRules(message: DescMessage, visited = new Set<DescMessage>()): boolean {
  if (visited.has(message)) return false
  visited.add(message)
  return (
    hasOption(message, messageRules) ||
    message.oneofs.some((oneof) => hasOption(oneof, oneofRules)) ||
    message.fields.some((field) => hasOption(field, fieldRules) || (field.message && hasRules(field.message, visited)))
  )
}

/** The paths of a template, with a group for each of its fields. */
function pathExpression({ parts }: Binding): RegExp {
  const source = parts.map((part) => {
    if ('text' in part) return escapedPattern(part.text)
    const segments = part.segments.map((segment) =>
      segment === '**' ? '.+' : segment === '*' ? '[^/]+' : escapedPattern(segment),
    )
    return `(${segments.join('/')})`
  })
  return new RegExp(`^${source.join('')}$`)
}

function escapedPattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}

/** A request as the JSON of the message that its rule maps it to. */
function messageJson(
  message: DescMessage,
  { body: bodyField, parts }: Binding,
  match: RegExpExecArray,
  { query, body }: WireRequest,
): JsonObject {
  const json: JsonObject = {}
  if (bodyField === '*') Object.assign(json, isJsonObject(body) ? body : {})
  else if (bodyField !== '' && body !== undefined) json[bodyField] = body
  const fields = parts.flatMap((part) => ('text' in part ? [] : [part.field]))
  fields.forEach((field, at) => setFieldFromTexts(message, json, field, [percentDecoded(match[at + 1] ?? '') ?? '']))
  const parameters = new URLSearchParams(query)
  if (bodyField !== '*')
    for (const name of new Set(parameters.keys()))
      setFieldFromTexts(message, json, name.split('.'), parameters.getAll(name))
  return json
}

/** Sets a field to texts of a path or a query; one that the message lacks is left out. */
function setFieldFromTexts(
  message: DescMessage,
  json: JsonObject,
  [name = '', ...inner]: readonly string[],
  texts: readonly string[],
): void {
  const field = fieldOf(message, name)
  if (!field) return
  if (inner.length > 0) {
    if (!field.message) return
    const nested = ownMember(json, name)
    const object = isJsonObject(nested) ? nested : {}
    json[name] = object
    setFieldFromTexts(field.message, object, inner, texts)
  } else
    json[name] =
      field.fieldKind === 'list' ? texts.map((text) => parameterJson(field, text)) : parameterJson(field, texts[0])
}

const BOOLEANS = new Set(['true', 'false'])

function parameterJson({ scalar, message }: DescField, text = ''): JsonValue {
  const isText = scalar === ScalarType.STRING || message?.typeName === 'google.protobuf.StringValue'
  return !isText && BOOLEANS.has(text) ? text === 'true' : text
}

function fieldPathOf(path: Path): FieldPath {
  return path.flatMap((part): (string | number)[] => {
    if (part.kind === 'list_sub') return [part.index]
    if (part.kind === 'map_sub') return [String(part.key)]
    return part.kind === 'field' ? [part.name] : []
  })
}

function breachOf({ message, ruleId, field }: Violation, path: FieldPath, value: JsonValue | undefined): BrokenRule {
  const constraint = `buf.validate.${ruleId === '' ? 'cel' : ruleId}` as const
  const rule = message === '' ? `must keep the rule ${ruleId}` : message
  const isOneof = field.at(-1)?.kind === 'oneof'
  const name = isOneof ? pathToString(field) : fieldName(path)
  return {
    field: name,
    description: ruleId === 'required' ? 'is required' : ruleAndFound(rule, foundValue(value, path)),
    constraint,
  }
}
