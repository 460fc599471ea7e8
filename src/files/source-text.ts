import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import {
  type Alias,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { exactNumber, excessOf, extentOf, type JsonValue, parseJson, valuesIn } from '../model/domain/json.ts'
import { type Problem, type Path, problemValue } from '../model/schema/problems.ts'
import { DocumentError, type FileProblem, problemAt } from './problem.ts'

/** Larger files are refused, because YAML is slow to read. */
export const MAX_SOURCE_LENGTH = 8 * 1024 * 1024
/** Tokens of a YAML file, which nobody waits for but the person who starts the command. */
const MAX_TOKENS = 2_000_000
/** Tokens of a YAML body: other requests wait while it is read. */
const MAX_BODY_TOKENS = 100_000
/** Tokens that reading a directive takes as long as. */
const COST_OF_DIRECTIVE = 10
const MAX_DEPTH = 100
/** One anchor is followed this often, so that a few lines cannot grow into gigabytes. */
const MAX_ALIASES = 200
/** One slip often makes the rest of a file unreadable: further problems of syntax are not reported. */
const MAX_SYNTAX_PROBLEMS = 10

/** A problem of syntax: what is wrong, and where in the text. */
type SyntaxProblem = Omit<Problem, 'path'> & { offset: number }

interface Tree {
  value(): JsonValue
  /** Where a path starts; undefined where nothing is at it. */
  offsetOf(path: Path, atKey: boolean): number | undefined
  problems: readonly SyntaxProblem[]
}

export class SourceText {
  readonly value: JsonValue
  readonly #tree: Tree
  readonly #lines = new LineCounter()

  /** @throws DocumentError for text that is not one YAML or JSON document of bounded size */
  constructor(
    source: string,
    readonly file: string,
  ) {
    const text = source.replace(/^\uFEFF/, '')
    this.#lines.addNewLine(0)
    if (text.length > MAX_SOURCE_LENGTH) {
      throw this.#refuseSyntax([aboutText(`${text.length} characters long`, `at most ${MAX_SOURCE_LENGTH}`)])
    }
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#lines.addNewLine(at + 1)
    // The parsers are recursive and slow: what they would overflow on, or take too long for, is refused before.
    const isJson = /^\s*[{[]/.test(text)
    const { depth, ...extent } = extentOf(text)
    if (depth > 4 * MAX_DEPTH) throw this.#refuseSyntax([TOO_DEEP])
    const excess = isJson ? excessOf(extent) : yamlExcess(text, file)
    if (excess) throw this.#refuseSyntax([aboutText(excess.found, excess.allowed)])
    this.#tree = treeOf(text, file, isJson)
    if (this.#tree.problems.length > 0) throw this.#refuseSyntax(this.#tree.problems)
    try {
      this.value = this.#tree.value()
    } catch (error) {
      throw this.#refuseSyntax([conversionProblem(error)])
    }
    const written = excessOf({ keys: 0, values: valuesIn(this.value) })
    if (written) throw this.#refuseSyntax([aboutText(`${written.found}, aliases written out`, written.allowed)])
    const [problem] = unusableValues(this.value, [])
    if (problem) throw new DocumentError([this.problem(problem)])
  }

  problem(problem: Problem): FileProblem {
    return problemAt(this.file, this.#placeAt(this.#offsetOfPath(problem)), problem)
  }

  /** Where a path starts; where its last parts do not exist, the start of what they are missing from. */
  #offsetOfPath({ path, atKey = false }: Problem): number {
    for (let length = path.length; length >= 0; length--) {
      const offset = this.#tree.offsetOf(path.slice(0, length), atKey && length === path.length)
      if (offset !== undefined) return offset
    }
    return 0
  }

  #placeAt(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  #refuseSyntax(problems: readonly SyntaxProblem[]): DocumentError {
    const listed = problems.slice(0, MAX_SYNTAX_PROBLEMS)
    return new DocumentError(
      listed.map(({ offset, ...problem }) => problemAt(this.file, this.#placeAt(offset), { path: [], ...problem })),
    )
  }
}

/** JSON where the text is strict JSON, else YAML; a file that says it is JSON, and is neither, is reported as JSON. */
function treeOf(text: string, file: string, isJson: boolean): Tree {
  const json = isJson ? jsonTree(text) : undefined
  if (json && json.problems.every(({ allowed }) => allowed === EACH_KEY_ONCE)) return json
  const excess = json && yamlExcess(text, file)
  if (excess) return { ...json, problems: [...json.problems, aboutText(excess.found, excess.allowed)] }
  const yaml = yamlTree(text)
  return json && yaml.problems.length > 0 && file.endsWith('.json') ? json : yaml
}

/** Undefined for a text without a value. */
function jsonTree(text: string): Tree | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true })
  if (!root) return undefined
  return {
    value: () => parseJson(text),
    offsetOf: (path, atKey) => {
      const node = findNodeAtLocation(root, [...path])
      return atKey ? (node?.parent?.children?.[0]?.offset ?? node?.offset) : node?.offset
    },
    // One slip makes several errors; the first says where it is.
    problems: [...errors.slice(0, 1).map(jsonProblem), ...repeatedKeys(root)],
  }
}

function jsonProblem({ error, offset }: ParseError): SyntaxProblem {
  // CommaExpected, InvalidSymbol, …
  const reason = printParseErrorCode(error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
  return { subject: 'the text', found: `not JSON (${reason.toLowerCase()})`, allowed: 'JSON', offset }
}

function repeatedKeys({ type, children = [] }: Node): SyntaxProblem[] {
  const keys = new Set<unknown>()
  return children.flatMap((child): SyntaxProblem[] => {
    const [key] = type === 'object' ? (child.children ?? []) : []
    const repeated = key !== undefined && keys.has(key.value)
    if (key) keys.add(key.value)
    return [...(repeated ? [repeatedKey(problemValue(key.value), key.offset)] : []), ...repeatedKeys(child)]
  })
}

/** Why a YAML text is too large, by its tokens before they are put together: each takes about five microseconds to read. */
function yamlExcess(text: string, file: string): { found: string; allowed: string } | undefined {
  const most = file === 'body' ? MAX_BODY_TOKENS : MAX_TOKENS
  let [keys, tokens] = [0, 0]
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token)
    if (type === 'map-value-ind') keys += 1
    tokens += type === 'directive-line' ? COST_OF_DIRECTIVE : 1
    if (tokens <= most) continue
    const mistake = `YAML of more than ${most} tokens (keys, values, signs, comments, line ends)`
    return { found: mistake, allowed: `at most ${most}; JSON has no such limit` }
  }
  return excessOf({ keys, values: 0 })
}

function yamlTree(text: string): Tree {
  // The parser looks for repeated keys in quadratic time, so `nodeProblems` does it. The schema is that of JSON's values.
  const options = { prettyErrors: false, uniqueKeys: false, schema: 'core', resolveKnownTags: false } as const
  const document = parseDocument(text, { ...options, logLevel: 'error' })
  const { problems, targets } = nodeProblems(document, text)
  const child = (node: unknown, part: string | number): { node: unknown; key?: unknown } => {
    const container = isAlias(node) ? targets.get(node) : node
    if (isSeq(container)) return { node: container.items[Number(part)] }
    const pair = isMap(container)
      ? container.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
      : undefined
    return { node: pair?.value, key: pair?.key }
  }
  return {
    value: () => (document.toJS({ maxAliasCount: MAX_ALIASES }) ?? null) as JsonValue,
    offsetOf: (path, atKey) => {
      const { node, key } = path.reduce<{ node: unknown; key?: unknown }>((at, part) => child(at.node, part), {
        node: document.contents,
      })
      const [start] = [...(atKey && key !== undefined ? [key] : [node, key])].flatMap(nodeStart)
      return start ?? (path.length === 0 ? 0 : undefined)
    },
    problems: [...[...document.errors, ...document.warnings].map((error) => yamlProblem(error, text)), ...problems],
  }
}

function nodeStart(node: unknown): number[] {
  const range: unknown = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) ? [range[0] as number] : []
}

function yamlProblem(error: YAMLError, text: string): SyntaxProblem {
  const [offset] = error.pos
  const word = wordAt(text, offset)
  switch (error.code) {
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

function wordAt(text: string, offset: number): string {
  return /^[^\s:,{}[\]]*/.exec(text.slice(offset, offset + 80))?.[0] ?? ''
}

/** What an alias can name. */
type Anchored = Scalar | YAMLMap | YAMLSeq

/** What YAML can say and JSON cannot: keys that are no plain words, or there twice; and aliases of nothing. */
function nodeProblems(document: Document, text: string): { problems: SyntaxProblem[]; targets: Map<Alias, Anchored> } {
  const problems: SyntaxProblem[] = []
  const anchors = new Map<string, Anchored>()
  const targets = new Map<Alias, Anchored>()
  visit(document, {
    Node: (_key, node, ancestors) => {
      if (isScalar(node) && typeof node.value === 'number') node.value = exactNumber(node.source ?? '') || node.value
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
        if (isMap(node)) problems.push(...repeatedKeyProblems(node.items, text))
        return
      }
      const target = anchors.get(node.source)
      if (target) targets.set(node, resolvedTo(node, target))
      if (target && !ancestors.includes(target)) return
      const offset = nodeStart(node)[0] ?? 0
      const mistake = `not YAML (the alias *${node.source} is inside what it names)`
      const allowed = 'aliases of anchors that come before them'
      if (target) problems.push({ subject: 'the text', found: mistake, allowed: 'YAML or JSON', offset })
      else problems.push({ subject: `the alias *${node.source}`, found: 'of no anchor', allowed, offset })
    },
  })
  return { problems, targets }
}

/** For each alias the library goes through all anchors and aliases before it: 15,000 of them took four seconds. */
function resolvedTo(alias: Alias, target: Anchored): Anchored {
  const resolve = alias.resolve.bind(alias)
  alias.resolve = (document, context) =>
    context ? resolve(document, Object.assign(context, { aliasResolveCache: [target] })) : target
  return target
}

function repeatedKeyProblems(pairs: readonly Pair[], text: string): SyntaxProblem[] {
  const keys = new Set<string>()
  return pairs.flatMap(({ key }): SyntaxProblem[] => {
    const offset = nodeStart(key)[0] ?? 0
    if (!isScalar<string | number | boolean | null>(key) || key.value === null) {
      return [{ subject: 'a key', found: `no plain word`, allowed: 'keys that are plain words', offset }]
    }
    const name = String(key.value)
    if (keys.has(name)) return [repeatedKey(wordAt(text, offset), offset)]
    keys.add(name)
    return []
  })
}

/** What a parser reads and no document may hold. */
function unusableValues(value: JsonValue, path: Path): Problem[] {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return [{ path, found: String(value), allowed: 'a value that JSON has' }]
  }
  if (typeof value !== 'object' || value === null) return []
  if (path.length >= MAX_DEPTH) return [{ ...TOO_DEEP, path: path.slice(0, 5) }]
  if (Array.isArray(value)) return value.flatMap((item, index) => unusableValues(item, [...path, index]))
  return Object.entries(value).flatMap(([key, item]) => unusableValues(item, [...path, key]))
}

const EACH_KEY_ONCE = 'each key once'

function repeatedKey(key: string, offset: number): SyntaxProblem {
  return { subject: `the key ${key}`, found: 'there for the second time', allowed: EACH_KEY_ONCE, offset }
}

function aboutText(mistake: string, allowed: string): SyntaxProblem {
  return { subject: 'the text', found: mistake, allowed, offset: 0 }
}

const TOO_DEEP = aboutText(`nested more than ${MAX_DEPTH} levels deep`, `at most ${MAX_DEPTH}`)

/** Why the nodes of a text make no value. */
function conversionProblem(error: unknown): SyntaxProblem {
  if (error instanceof RangeError) return TOO_DEEP
  if (error instanceof ReferenceError) {
    return aboutText(
      `one that follows an alias more than ${MAX_ALIASES} times`,
      `at most ${MAX_ALIASES}; write the values out`,
    )
  }
  return aboutText(`not YAML (${error instanceof Error ? error.message : String(error)})`, 'YAML or JSON')
}
