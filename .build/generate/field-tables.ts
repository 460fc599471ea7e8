import {
  follow,
  operationsOf,
  readSpec,
  type Schema,
  type SpecDocument,
  type SpecOperation,
  SPEC,
} from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/model/contract/generated/field-tables.ts'

/** What may be inside a value; see `FieldNode` in the output. */
interface FieldNode {
  fields?: Record<string, FieldNode>
  open?: true
  items?: FieldNode
  outputOnly?: true
  url?: true
  required?: true
  aliasOf?: string
  number?: number
}

const HEADER = `/** What may be inside a value of a request body. */
export interface FieldNode {
  /** The known keys of an object; absent for a free-form object and for any other value. */
  readonly fields?: Readonly<Record<string, FieldNode>>
  /** Keys beyond the known ones are part of the contract as well. */
  readonly open?: true
  /** The items of an array. */
  readonly items?: FieldNode
  /** Ignored in requests (G9). */
  readonly outputOnly?: true
  /** A URL, which counts as absent when it is empty (G58). */
  readonly url?: true
  /** Its object always has it. */
  readonly required?: true
  /** The document's name of this field, when this is another name for it (G11). */
  readonly aliasOf?: string
  /** Of a field: its number among those of the whole value, by which a contract record knows it. */
  readonly number?: number
}

/** Per operation: its request body. */
export const BODY_FIELDS: Readonly<Record<string, FieldNode>> = `

const ANSWERS = `
/** Per operation: the bodies of its answers of 2xx. */
export const ANSWER_FIELDS: Readonly<Record<string, FieldNode>> = `

const PATHS = `
/** Per operation: the parameters of its path. */
export const PATH_FIELDS: Readonly<Record<string, FieldNode>> = `

const QUERIES = `
/** Per operation: its query parameters. */
export const QUERY_FIELDS: Readonly<Record<string, FieldNode>> = `

const CODES = `
/** Per operation and status: the error codes that it declares, none for successes. */
export const DECLARED_CODES: Readonly<Record<string, Readonly<Record<number, readonly string[]>>>> = `

/**
 * The keys that a request body may have, level by level, to find unknown and output-only ones (G6, G9). The keys that an answer
 * may have and the error codes of each status, to measure coverage.
 */
export const fieldTables: Step = {
  name: 'field tables',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const spec = await readSpec(root)
    const bodies = operationsOf(spec).flatMap(({ id, body }) =>
      body ? [[id, numbered(nodeOf(spec, body.schema))] as const] : [],
    )
    const answers = operationsOf(spec).map(({ id, responses }) => [id, numbered(answerNode(spec, responses))] as const)
    const parameters = (place: string) =>
      operationsOf(spec).map((each) => [each.id, numbered(parameterNode(each, place))] as const)
    const codes = operationsOf(spec).map(({ id, codes }) => [id, Object.fromEntries(codes)] as const)
    const text = (pairs: readonly (readonly [string, unknown])[]) => JSON.stringify(Object.fromEntries(pairs), null, 2)
    const tables = [
      [HEADER, bodies],
      [ANSWERS, answers],
      [PATHS, parameters('path')],
      [QUERIES, parameters('query')],
      [CODES, codes],
    ] as const
    return new Map([[OUTPUT, tables.map(([head, pairs]) => `${head}${text(pairs)}\n`).join('')]])
  },
}

function numbered(root: FieldNode): FieldNode {
  let next = 0
  const inside = ({ items, fields, ...node }: FieldNode): FieldNode => ({
    ...node,
    ...(items && { items: inside(items) }),
    ...(fields && { fields: mapValues(fields, (field) => ({ number: next++, ...inside(field) })) }),
  })
  return inside(root)
}

function parameterNode({ parameters }: SpecOperation, place: string): FieldNode {
  const those = parameters.filter((parameter) => parameter.in === place)
  return { fields: Object.fromEntries(those.map(({ name, required }) => [name, required ? { required: true } : {}])) }
}

/** The union of the bodies that an operation answers with 2xx. */
function answerNode(spec: SpecDocument, responses: SpecOperation['responses']): FieldNode {
  const successes = [...responses].flatMap(([status, schema]) => (status.startsWith('2') && schema ? [schema] : []))
  return successes.map((schema) => nodeOf(spec, schema)).reduce(merge, {})
}

function nodeOf(spec: SpecDocument, schema: Schema): FieldNode {
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((part) => optional(nodeOf(spec, part)))
  const parts = (schema.allOf ?? []).map((part) => nodeOf(spec, part))
  if (schema.$ref !== undefined) parts.push(nodeOf(spec, follow<Schema>(spec, schema)))
  const node: FieldNode = {}
  if (schema['x-output-only'] === true) node.outputOnly = true
  if (schema.format === 'uri') node.url = true
  if (typeof schema['x-alias-of'] === 'string') node.aliasOf = schema['x-alias-of']
  if (schema.items) node.items = nodeOf(spec, schema.items)
  if (schema.properties) {
    node.fields = mapValues(schema.properties, (property) => nodeOf(spec, property))
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) node.open = true
  }
  const whole = [...parts, ...choices].reduce(merge, node)
  for (const name of schema.required ?? []) {
    const required = whole.fields?.[name]
    if (required) required.required = true
  }
  return whole
}

/** A choice of `anyOf` or `oneOf`: a field that it requires may be absent in the other choices, so none is required. */
function optional(node: FieldNode): FieldNode {
  const fields = node.fields && mapValues(node.fields, ({ required, ...field }) => field)
  return fields ? { ...node, fields } : node
}

function merge(a: FieldNode, b: FieldNode): FieldNode {
  const merged: FieldNode = { ...a, ...b }
  if (a.items && b.items) merged.items = merge(a.items, b.items)
  if (!a.fields || !b.fields) return merged
  merged.fields = { ...a.fields, ...b.fields }
  for (const [name, node] of Object.entries(b.fields)) {
    const before = a.fields[name]
    if (before) merged.fields[name] = merge(before, node)
  }
  return merged
}

function mapValues<A, B>(record: Record<string, A>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
