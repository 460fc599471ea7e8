import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { JsonValue } from '../domain/json.ts'
import { DocumentError, type Finding, type Path, type Problem, problemAt, shown } from './problem.ts'

/** Larger files are refused: they are no seeds that somebody wrote, and YAML is slow to read. */
export const MAX_SOURCE_LENGTH = 8 * 1024 * 1024
const MAX_DEPTH = 100
/** Aliases are followed this often in one file, so that a few lines cannot grow into gigabytes. */
const MAX_ALIASES = 200

/** One slip often makes the rest of a file unreadable; more would not help anybody. */
const MAX_SYNTAX_PROBLEMS = 10

/** The text of one YAML or JSON file as a plain value that still knows where each part of it stands. */
export class SourceText {
  readonly value: JsonValue
  readonly #document: Document
  readonly #lines: LineCounter

  /** @throws DocumentError for text that is not one YAML or JSON document of bounded size */
  constructor(
    text: string,
    readonly file: string,
  ) {
    if (text.length > MAX_SOURCE_LENGTH) {
      throw this.#refused(0, { path: [], found: `${text.length} characters`, allowed: `at most ${MAX_SOURCE_LENGTH}` })
    }
    this.#lines = new LineCounter()
    if (opensTooMany(text)) throw this.#refused(0, tooDeep([]))
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: true,
      logLevel: 'error',
    })
    const faults = [...this.#document.errors, ...this.#document.warnings]
    // The parser is recursive and reports its own overflow as if it were the text's fault, once for each level.
    if (faults.some((fault) => fault.message.startsWith('Maximum call stack'))) throw this.#refused(0, tooDeep([]))
    const told = faults.slice(0, MAX_SYNTAX_PROBLEMS)
    if (told.length > 0) throw new DocumentError(told.map((fault) => this.#syntaxProblem(fault, text)))
    const reader = new ValueReader(this.#document)
    this.value = reader.read(this.#document.contents, [], 0)
    if (reader.findings.length > 0) throw new DocumentError(reader.findings.map((finding) => this.problem(finding)))
  }

  /** The value at a path; undefined where there is none. */
  at(path: Path): JsonValue | undefined {
    let value: JsonValue | undefined = this.value
    for (const part of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
      value = (value as Record<string | number, JsonValue>)[part]
    }
    return value
  }

  problem(finding: Finding): Problem {
    return problemAt(this.file, this.#place(this.#offset(finding)), finding)
  }

  /** Where a path starts; where its last parts do not exist, what they are missing from. */
  #offset({ path, atKey }: Finding): number {
    let node: unknown = this.#document.contents
    let offset = start(node) ?? 0
    for (const [index, part] of path.entries()) {
      const container = isAlias(node) ? node.resolve(this.#document) : node
      if (isSeq(container)) {
        node = container.items[Number(part)]
      } else if (isMap(container)) {
        const pair = pairOf(container, part)
        const last = index === path.length - 1
        node = pair && ((last && atKey) || start(pair.value) === undefined ? pair.key : pair.value)
      } else return offset
      const next = start(node)
      if (next === undefined) return offset
      offset = next
    }
    return offset
  }

  #place(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  #syntaxProblem(fault: YAMLError | Error, text: string): Problem {
    const offset = 'pos' in fault ? fault.pos[0] : 0
    const finding: Finding = {
      path: [],
      ...syntaxFinding(fault, /^[^\s:,{}[\]]*/.exec(text.slice(offset, offset + 80))?.[0] ?? ''),
    }
    return problemAt(this.file, this.#place(offset), finding)
  }

  #refused(offset: number, finding: Finding): DocumentError {
    return new DocumentError([problemAt(this.file, { line: 1, column: offset + 1 }, finding)])
  }
}

/** Turns the nodes of a document into plain JSON, with what JSON has no place for as findings. */
class ValueReader {
  readonly findings: Finding[] = []
  readonly #document: Document
  #aliases = 0

  constructor(document: Document) {
    this.#document = document
  }

  read(node: unknown, path: Path, depth: number): JsonValue {
    if (depth > MAX_DEPTH) return this.#refuse(tooDeep(path))
    if (isAlias(node)) return this.#readAlias(node, path, depth)
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index], depth + 1))
    // Object.fromEntries makes `__proto__` an own key like any other.
    if (isMap(node)) return Object.fromEntries(node.items.flatMap((pair) => this.#readPair(pair, path, depth)))
    if (!isScalar(node)) return null
    const value = node.value
    if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
    return this.#refuse({
      path,
      found: typeof value === 'number' ? String(value) : 'a value of another kind',
      allowed: 'a value that JSON has',
    })
  }

  #readPair(pair: { key: unknown; value: unknown }, path: Path, depth: number): [string, JsonValue][] {
    const key = isScalar(pair.key) ? pair.key.value : undefined
    if (typeof key !== 'string' && typeof key !== 'number' && typeof key !== 'boolean') {
      this.#refuse({ path, found: `the key ${shown(key)}`, allowed: 'keys that are plain words' })
      return []
    }
    return [[String(key), this.read(pair.value, [...path, String(key)], depth + 1)]]
  }

  #readAlias(alias: Alias, path: Path, depth: number): JsonValue {
    this.#aliases += 1
    if (this.#aliases > MAX_ALIASES) {
      const finding = {
        path,
        found: `more than ${MAX_ALIASES} aliases`,
        allowed: `at most ${MAX_ALIASES}; write the values out`,
      }
      return this.#aliases === MAX_ALIASES + 1 ? this.#refuse(finding) : null
    }
    const target = alias.resolve(this.#document)
    if (target) return this.read(target, path, depth + 1)
    return this.#refuse({
      path,
      found: `the alias *${alias.source}`,
      allowed: 'aliases of anchors that stand before them',
    })
  }

  #refuse(finding: Finding): null {
    this.findings.push(finding)
    return null
  }
}

/** Whether many more brackets are opened than closed: a guard that spares the parser what it would only overflow on. */
function opensTooMany(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > 4 * MAX_DEPTH) return true
  }
  return false
}

function pairOf(map: YAMLMap, key: string | number): { key: unknown; value: unknown } | undefined {
  return map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
}

function start(node: unknown): number | undefined {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? (node.range[0] as number)
    : undefined
}

function tooDeep(path: Path): Finding {
  return { path: path.slice(0, 5), found: `more than ${MAX_DEPTH} nested levels`, allowed: `at most ${MAX_DEPTH}` }
}

function syntaxFinding(fault: YAMLError | Error, word: string): { found: string; allowed: string } {
  switch ('code' in fault ? fault.code : undefined) {
    case 'DUPLICATE_KEY':
      return { found: `the key ${word} for the second time`, allowed: 'each key once' }
    case 'MULTIPLE_DOCS':
      return { found: 'a second document', allowed: 'one document in a file' }
    case 'TAG_RESOLVE_FAILED':
      return { found: `the tag ${word}`, allowed: 'values without tags' }
    default:
      return { found: `text that is no YAML (${fault.message})`, allowed: 'YAML or JSON' }
  }
}
