import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { type JsonValue, nesting } from '../domain/json.ts'
import { type Finding, type Path, shown } from '../schema/findings.ts'
import { DocumentError, type Problem, problemAt } from './problem.ts'

/** Larger files are refused, because YAML is slow to read. */
export const MAX_SOURCE_LENGTH = 8 * 1024 * 1024
const MAX_DEPTH = 100
/** One anchor is followed this often, so that a few lines cannot grow into gigabytes. */
const MAX_ALIASES = 200
/** One slip often makes the rest of a file unreadable: further problems of syntax are not reported. */
const MAX_SYNTAX_PROBLEMS = 10

/** A problem of syntax: what is wrong, and where in the text. */
type SyntaxFinding = Omit<Finding, 'path'> & { offset: number }

/** The nodes of a parsed text. */
interface Tree {
  value(): JsonValue
  /** Where a path starts; undefined where nothing is at it. */
  offsetOf(path: Path, atKey: boolean): number | undefined
  findings: readonly SyntaxFinding[]
}

/** The text of one YAML or JSON file as a plain value, of which each part has a line and a column. */
export class SourceText {
  readonly value: JsonValue
  readonly #tree: Tree
  readonly #lines = new LineCounter()

  /** @throws DocumentError for text that is not one YAML or JSON document of bounded size */
  constructor(
    given: string,
    readonly file: string,
  ) {
    const text = given.replace(/^\uFEFF/, '')
    this.#lines.addNewLine(0)
    if (text.length > MAX_SOURCE_LENGTH) {
      throw this.#refused([aboutText(`${text.length} characters long`, `at most ${MAX_SOURCE_LENGTH}`)])
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lines.addNewLine(at + 1)
    // The parsers are recursive: what they would only overflow on is refused before.
    if (nesting(text) > 4 * MAX_DEPTH) throw this.#refused([TOO_DEEP])
    this.#tree = treeOf(text, file)
    if (this.#tree.findings.length > 0) throw this.#refused(this.#tree.findings)
    try {
      this.value = this.#tree.value()
    } catch (error) {
      throw this.#refused([conversionFinding(error)])
    }
    const [finding] = unusable(this.value, [])
    if (finding) throw new DocumentError([this.problem(finding)])
  }

  problem(finding: Finding): Problem {
    return problemAt(this.file, this.#place(this.#offset(finding)), finding)
  }

  /** Where a path starts; where its last parts do not exist, the start of what they are missing from. */
  #offset({ path, atKey = false }: Finding): number {
    for (let length = path.length; length >= 0; length--) {
      const offset = this.#tree.offsetOf(path.slice(0, length), atKey && length === path.length)
      if (offset !== undefined) return offset
    }
    return 0
  }

  #place(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  #refused(findings: readonly SyntaxFinding[]): DocumentError {
    const told = findings.slice(0, MAX_SYNTAX_PROBLEMS)
    return new DocumentError(
      told.map(({ offset, ...finding }) => problemAt(this.file, this.#place(offset), { path: [], ...finding })),
    )
  }
}

/** JSON where the text is strict JSON, else YAML; a file that says it is JSON, and is neither, is reported as JSON. */
function treeOf(text: string, file: string): Tree {
  const json = jsonTree(text)
  if (json && json.findings.every(({ allowed }) => allowed === EACH_KEY_ONCE)) return json
  const yaml = yamlTree(text)
  return json && yaml.findings.length > 0 && file.endsWith('.json') ? json : yaml
}

/** Undefined for a text that does not begin like JSON. */
function jsonTree(text: string): Tree | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true })
  if (!root) return undefined
  return {
    value: () => JSON.parse(text) as JsonValue,
    offsetOf: (path, atKey) => {
      const node = findNodeAtLocation(root, [...path])
      return atKey ? (node?.parent?.children?.[0]?.offset ?? node?.offset) : node?.offset
    },
    // One slip makes several errors; the first says where it is.
    findings: [...errors.slice(0, 1).map(jsonFinding), ...repeatedKeys(root)],
  }
}

function jsonFinding({ error, offset }: ParseError): SyntaxFinding {
  // CommaExpected, InvalidSymbol, …
  const reason = printParseErrorCode(error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
  return { subject: 'the text', found: `not JSON (${reason.toLowerCase()})`, allowed: 'JSON', offset }
}

function repeatedKeys({ type, children = [] }: Node): SyntaxFinding[] {
  const keys = new Set<unknown>()
  return children.flatMap((child): SyntaxFinding[] => {
    const [key] = type === 'object' ? (child.children ?? []) : []
    const repeated = key !== undefined && keys.has(key.value)
    if (key) keys.add(key.value)
    return [...(repeated ? [repeatedKey(shown(key.value), key.offset)] : []), ...repeatedKeys(child)]
  })
}

function yamlTree(text: string): Tree {
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: true, logLevel: 'error' })
  const errors = [...document.errors, ...document.warnings]
  return {
    value: () => document.toJS({ maxAliasCount: MAX_ALIASES }) as JsonValue,
    offsetOf: (path, atKey) => yamlOffset(document, path, atKey),
    findings: errors.length > 0 ? errors.map((error) => yamlFinding(error, text)) : refusedNodes(document),
  }
}

function yamlOffset(document: Document, path: Path, atKey: boolean): number | undefined {
  let node: unknown = document.contents
  let key: unknown
  for (const part of path) {
    const container = isAlias(node) ? node.resolve(document) : node
    if (!isSeq(container) && !isMap(container)) return undefined
    const pair =
      isMap(container) && container.items.find((item) => isScalar(item.key) && String(item.key.value) === part)
    key = pair ? pair.key : undefined
    node = isSeq(container) ? container.items[Number(part)] : pair ? pair.value : undefined
    if (node === undefined) return undefined
  }
  const [start] = [...(atKey && key !== undefined ? [key] : [node, key])].flatMap(startOf)
  return start ?? (path.length === 0 ? 0 : undefined)
}

function startOf(node: unknown): number[] {
  const range: unknown = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) ? [range[0] as number] : []
}

function yamlFinding(error: YAMLError, text: string): SyntaxFinding {
  const [offset] = error.pos
  const word = /^[^\s:,{}[\]]*/.exec(text.slice(offset, offset + 80))?.[0] ?? ''
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return repeatedKey(word, offset)
    case 'MULTIPLE_DOCS':
      return { subject: 'the text', found: 'more than one document', allowed: 'one document in a file', offset }
    case 'TAG_RESOLVE_FAILED':
      return { subject: `the tag ${word}`, found: 'not supported', allowed: 'values without tags', offset }
    default:
      // The parser reports its own overflow as if it were an error of the text.
      if (error.message.startsWith('Maximum call stack')) return TOO_DEEP
      return { subject: 'the text', found: `not YAML (${error.message})`, allowed: 'YAML or JSON', offset }
  }
}

/** What YAML can say and JSON cannot: keys that are no plain words; and aliases of nothing. */
function refusedNodes(document: Document): SyntaxFinding[] {
  const findings: SyntaxFinding[] = []
  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document)) return
      const allowed = 'aliases of anchors that stand before them'
      findings.push({
        subject: `the alias *${node.source}`,
        found: 'of no anchor',
        allowed,
        offset: startOf(node)[0] ?? 0,
      })
    },
    Pair: (_key, { key }) => {
      if (isScalar(key) && key.value !== null) return
      const offset = startOf(key)[0] ?? 0
      findings.push({ subject: 'a key', found: `no plain word`, allowed: 'keys that are plain words', offset })
    },
  })
  return findings
}

/** What a parser reads and no document may hold. */
function unusable(value: JsonValue, path: Path): Finding[] {
  if (path.length > MAX_DEPTH) return [{ ...TOO_DEEP, path: path.slice(0, 5) }]
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return [{ path, found: String(value), allowed: 'a value that JSON has' }]
  }
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => unusable(item, [...path, index]))
  return Object.entries(value).flatMap(([key, item]) => unusable(item, [...path, key]))
}

const EACH_KEY_ONCE = 'each key once'

function repeatedKey(key: string, offset: number): SyntaxFinding {
  return { subject: `the key ${key}`, found: 'there for the second time', allowed: EACH_KEY_ONCE, offset }
}

function aboutText(found: string, allowed: string): SyntaxFinding {
  return { subject: 'the text', found, allowed, offset: 0 }
}

const TOO_DEEP = aboutText(`nested more than ${MAX_DEPTH} levels deep`, `at most ${MAX_DEPTH}`)

/** Why the nodes of a text make no value. */
function conversionFinding(error: unknown): SyntaxFinding {
  if (error instanceof RangeError) return TOO_DEEP
  const reason = error instanceof Error ? error.message : String(error)
  if (!reason.startsWith('Excessive alias count')) return aboutText(`not YAML (${reason})`, 'YAML or JSON')
  return aboutText(
    `one that follows an alias more than ${MAX_ALIASES} times`,
    `at most ${MAX_ALIASES}; write the values out`,
  )
}
