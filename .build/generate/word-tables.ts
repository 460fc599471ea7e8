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

const OUTPUT = 'src/model/contract/generated/word-tables.ts'

/** The places of the contract's words in a value; see `WordNode` in the output. */
interface WordNode {
  word?: readonly string[]
  fields?: Record<string, WordNode>
  items?: WordNode
}

const HEADER = `/** The places of the contract's words in a value. A place without a node belongs to the caller, as in free-form objects. */
export interface WordNode {
  /** The value is one of these words of an enumeration. */
  readonly word?: readonly string[]
  /** The keys that are names of the contract. */
  readonly fields?: Readonly<Record<string, WordNode>>
  readonly items?: WordNode
}

/** The places of the contract's words in the query, body and answers of an operation. */
export interface OperationWords {
  readonly query: Readonly<Record<string, WordNode>>
  readonly body?: WordNode
  /** By status, for those that have a body. */
  readonly answers: Readonly<Record<number, WordNode>>
}
`

/**
 * The words of the contract (names of fields, values of enumerations) and their places (G48). The token endpoint is left out:
 * RFC 6749 defines its words, and its caller is known only after they are read.
 */
export const wordTables: Step = {
  name: 'word tables',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const spec = await readSpec(root)
    const tables = new WordTables(spec)
    const served = operationsOf(spec).filter(({ bearer }) => bearer)
    const lines = (operations: readonly SpecOperation[]): string[] =>
      operations.map(({ id, parameters, body, responses }) => {
        const query = parameters.filter((parameter) => parameter.in === 'query')
        const answers = [...responses].flatMap(([status, schema]) => (schema ? [[status, schema] as const] : []))
        const parts = [
          `query: ${tables.record(query.map(({ name, schema }) => [name, schema]))}`,
          ...(body ? [`body: ${tables.node(body.schema)}`] : []),
          `answers: ${tables.record(answers)}`,
        ]
        for (const { name } of query) tables.name(name)
        return `  ${id}: { ${parts.join(', ')} },\n`
      })
    const isMcp = ({ tags }: SpecOperation): boolean => tags.includes('MCP')
    const operations = lines(served.filter((operation) => !isMcp(operation)))
    const error = tables.node({ $ref: '#/components/schemas/ErrorBody' })
    // A word that only calls of MCP have may stand for another one, since most clients never see those calls.
    const known = JSON.stringify([...tables.words].sort(), null, 2)
    operations.push(...lines(served.filter(isMcp)))
    const text = [
      HEADER,
      ...tables.constants,
      `\nexport const OPERATION_WORDS: Readonly<Record<string, OperationWords>> = {\n${operations.join('')}}\n`,
      `\n/** The body of every error, also of statuses that an operation does not declare. */\nexport const ERROR_WORDS: WordNode = ${error}\n`,
      `\n/** Every word that has a place in the tables above. */\nexport const WORDS: readonly string[] = ${known}\n`,
    ]
    return new Map([[OUTPUT, text.join('')]])
  },
}

/** The nodes as constants of the output; equal nodes share a constant. */
class WordTables {
  readonly words = new Set<string>()
  readonly constants: string[] = []
  readonly #named = new Map<string, string>()
  readonly #spec: SpecDocument

  constructor(spec: SpecDocument) {
    this.#spec = spec
  }

  /** The name of the constant for a schema's node. */
  node(schema: Schema): string {
    return this.#constant(this.#read(schema))
  }

  record(schemas: (readonly [string, Schema])[]): string {
    return `{ ${schemas.map(([key, schema]) => `${JSON.stringify(key)}: ${this.node(schema)}`).join(', ')} }`
  }

  /** A dotted name of a parameter is made of words. */
  name(dotted: string): void {
    for (const word of dotted.split('.')) this.words.add(word)
  }

  #constant({ word, fields, items }: WordNode): string {
    const entries = Object.entries(fields ?? {}).map(([name, node]) => {
      this.name(name)
      return `${JSON.stringify(name)}: ${this.#constant(node)}`
    })
    const parts = [
      ...(word ? [`word: ${JSON.stringify(word)}`] : []),
      ...(fields ? [`fields: { ${entries.join(', ')} }`] : []),
      ...(items ? [`items: ${this.#constant(items)}`] : []),
    ]
    const text = `{ ${parts.join(', ')} }`
    const known = this.#named.get(text)
    if (known !== undefined) return known
    const name = `n${this.#named.size}`
    this.#named.set(text, name)
    this.constants.push(`const ${name}: WordNode = ${text}\n`)
    return name
  }

  #read(schema: Schema): WordNode {
    const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    if (schema.$ref !== undefined) parts.push(follow<Schema>(this.#spec, schema))
    const node: WordNode = {}
    const values = this.#valuesOf(schema)
    // An empty text means that there is no value (G58).
    for (const value of values) if (value !== '') this.words.add(value)
    if (values.length > 0) node.word = values
    if (schema.items) node.items = this.#read(schema.items)
    if (schema.properties) {
      const fields = Object.entries(schema.properties).map(([name, property]) => [name, this.#read(property)] as const)
      node.fields = Object.fromEntries(fields)
    }
    return parts.map((part) => this.#read(part)).reduce(merge, node)
  }

  /** The words that the value may be: an `enum`, or the words of `x-values-of` or `x-extensible-enum` for a free string. */
  #valuesOf({ enum: own, 'x-extensible-enum': begun, 'x-values-of': named }: Schema): string[] {
    const of = typeof named === 'string' ? this.#spec.components?.schemas?.[named]?.enum : []
    if (of === undefined) throw new Error(`${SPEC}: x-values-of names ${String(named)}, which has no enum`)
    return [own, begun, of].flat().filter((value): value is string => typeof value === 'string' && value !== '')
  }
}

function merge(a: WordNode, b: WordNode): WordNode {
  const merged: WordNode = { ...a, ...b }
  if (a.word && b.word) merged.word = [...new Set([...a.word, ...b.word])]
  if (a.items && b.items) merged.items = merge(a.items, b.items)
  if (!a.fields || !b.fields) return merged
  merged.fields = { ...a.fields, ...b.fields }
  for (const [name, node] of Object.entries(b.fields)) {
    const before = a.fields[name]
    if (before) merged.fields[name] = merge(before, node)
  }
  return merged
}
