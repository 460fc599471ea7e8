import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { type FieldPath, fieldName } from './field-path.ts'
import type { FieldNode } from './generated/field-tables.ts'

const MOST_FINDINGS = 20

/** A field of a request body that the contract does not take from clients. */
export interface FieldFinding {
  readonly path: FieldPath
  readonly field: string
  readonly kind: 'unknown' | 'output_only' | 'alias'
  /** The document's name, where the client used another. */
  readonly aliasOf?: string
}

/** The fields that are unknown, output only, or called by another name than the document's, in the order in which they are found; at most twenty. */
export function findForeignFields(node: FieldNode, body: unknown): FieldFinding[] {
  const findings: FieldFinding[] = []
  look(node, body, [], findings)
  return findings
}

type Step = string | number

/** `path` leads to `value`; it is one array for the whole search, copied only for what is found. */
function look(node: FieldNode, value: unknown, path: Step[], findings: FieldFinding[]): void {
  if (Array.isArray(value)) {
    if (!node.items) return
    for (let index = 0; index < value.length && findings.length < MOST_FINDINGS; index += 1) {
      path.push(index)
      look(node.items, value[index], path, findings)
      path.pop()
    }
  } else if (isJsonObject(value) && node.fields) lookInside(node, value, path, findings)
}

function lookInside(node: FieldNode, object: JsonObject, path: Step[], findings: FieldFinding[]): void {
  for (const key of Object.keys(object)) {
    if (findings.length === MOST_FINDINGS) return
    const known = fieldOf(node, key)
    path.push(key)
    if (known?.outputOnly) findings.push(finding(path, 'output_only'))
    else if (known) {
      const { aliasOf } = known
      if (aliasOf !== undefined) findings.push({ ...finding(path, 'alias'), aliasOf })
      look(known, own(object, key), path, findings)
    } else if (!node.open) findings.push(finding(path, 'unknown'))
    path.pop()
  }
}

function finding(path: readonly Step[], kind: FieldFinding['kind']): FieldFinding {
  return { path: [...path], field: fieldName(path), kind }
}

/** Whether a body holds an output-only field anywhere: findings that are all there say so; they end at twenty. */
export function holdsOutputOnly(node: FieldNode, body: unknown, findings: readonly FieldFinding[]): boolean {
  return findings.length < MOST_FINDINGS
    ? findings.some(({ kind }) => kind === 'output_only')
    : hasOutputOnly(node, body)
}

/** Looks for the known fields, so that a wide body costs nothing. */
function hasOutputOnly(node: FieldNode, value: unknown): boolean {
  const { items } = node
  if (Array.isArray(value)) return items !== undefined && value.some((item) => hasOutputOnly(items, item))
  if (!isJsonObject(value)) return false
  return Object.entries(node.fields ?? {}).some(
    ([key, known]) => Object.hasOwn(value, key) && (known.outputOnly === true || hasOutputOnly(known, own(value, key))),
  )
}

/** The body without its output-only fields, which are accepted and ignored (G9). */
export function withoutOutputOnly(node: FieldNode, value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const { items } = node
    return items ? value.map((item) => withoutOutputOnly(items, item)) : value
  }
  if (!isJsonObject(value) || !node.fields) return value
  // `fromEntries` defines own properties, `__proto__` included, and so never touches a prototype.
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const known = fieldOf(node, key)
      if (known?.outputOnly) return []
      return [[key, known ? withoutOutputOnly(known, inner) : inner]]
    }),
  )
}

function fieldOf(node: FieldNode, key: string): FieldNode | undefined {
  return node.fields && Object.hasOwn(node.fields, key) ? node.fields[key] : undefined
}
