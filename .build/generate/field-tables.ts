import { follow, operationsOf, readSpec, type Schema, type SpecDocument, SPEC } from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/contract/generated/field-tables.ts'

/** What may be inside a value; see `FieldNode` in the output. */
interface FieldNode {
  fields?: Record<string, FieldNode>
  open?: true
  items?: FieldNode
  outputOnly?: true
}

const HEADER = `/** What may be inside a value of a request body. */
export interface FieldNode {
  /** The known keys of an object; absent where the value is no object or a free-form one. */
  readonly fields?: Readonly<Record<string, FieldNode>>
  /** Keys beyond the known ones are part of the contract as well. */
  readonly open?: true
  /** The items of an array. */
  readonly items?: FieldNode
  /** Only ever answered (G9). */
  readonly outputOnly?: true
}

/** Per operation: its request body. */
export const BODY_FIELDS: Readonly<Record<string, FieldNode>> = `

/** The keys that a request body may hold, level by level, by which unknown and output-only ones are told (G6, G9). */
export const fieldTables: Step = {
  name: 'field tables',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const spec = await readSpec(root)
    const bodies = operationsOf(spec).flatMap(({ id, body }) =>
      body ? [[id, nodeOf(spec, body.schema)] as const] : [],
    )
    return new Map([[OUTPUT, `${HEADER}${JSON.stringify(Object.fromEntries(bodies), null, 2)}\n`]])
  },
}

function nodeOf(spec: SpecDocument, schema: Schema): FieldNode {
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (schema.$ref !== undefined) parts.push(follow<Schema>(spec, schema))
  const node: FieldNode = {}
  if (schema.readOnly === true) node.outputOnly = true
  if (schema.items) node.items = nodeOf(spec, schema.items)
  if (schema.properties) {
    node.fields = mapValues(schema.properties, (property) => nodeOf(spec, property))
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) node.open = true
  }
  return parts.map((part) => nodeOf(spec, part)).reduce(merge, node)
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
