import { type FieldViolation, ServiceError, violationsText } from '../domain/errors.ts'
import { isJsonObject, type JsonValue } from '../domain/json.ts'
import { percentDecoded } from '../domain/text.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { ERROR_WORDS, OPERATION_WORDS, type OperationWords, type WordNode } from './generated/word-tables.ts'
import { isOperation } from './route.ts'
import type { ServedOperation } from './shapes.ts'

/** From the wire to the document, or back. */
interface Direction {
  readonly translate: (word: string) => string
  /** Which of a key and its translation is the document's. */
  readonly documentKey: (key: string, translated: string) => string
}

/** The words of an operation's requests and answers; undefined for the token endpoint, whose words are RFC 6749's. */
function operationWords(operation: ServedOperation): OperationWords | undefined {
  if (!isOperation(operation)) return ERRORS_ONLY
  return wordsNamed(OPERATION_WORDS, operation)
}

function wordsNamed<Entry>(entries: Readonly<Record<string, Entry>> = {}, name: string): Entry | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined
}

/** Of the proxy and extensions, whose requests and other answers are no contract of the service. */
const ERRORS_ONLY: OperationWords = { query: {}, answers: {} }

/** The headers of the proxy, which have these names in every vocabulary. */
const PROXY_HEADERS = ['connected_account_id', 'connection_name', 'identifier', 'organization_id', 'user_id']

/** The body of a request in the document's words. Free-form objects and free strings stay as they are (G48). */
export const bodyInDocumentWords = translatedBody(fromWire)

export const bodyInWireWords = translatedBody(toWire)

function translatedBody(directionOf: (vocabulary: Vocabulary) => Direction) {
  return (operation: ServedOperation, body: JsonValue, vocabulary: Vocabulary): JsonValue => {
    const node = operationWords(operation)?.body
    return node ? translateValue(node, body, directionOf(vocabulary)) : body
  }
}

export const queryInDocumentWords = translatedQuery(fromWire)

export const queryInWireWords = translatedQuery(toWire)

function translatedQuery(directionOf: (vocabulary: Vocabulary) => Direction) {
  return (operation: ServedOperation, query: string, vocabulary: Vocabulary): string => {
    const queryWords = operationWords(operation)?.query
    // The contract check refuses such a query, and has to see it as it was sent (G59).
    if (!queryWords || query === '' || percentDecoded(query) === undefined) return query
    const { translate, documentKey } = directionOf(vocabulary)
    const pairs = [...new URLSearchParams(query)].map(([key, value]): [string, string] => {
      const name = translatedName(queryWords, key, translate)
      const node = wordsNamed(queryWords, documentKey(key, name))
      return [name, node?.word || node?.items?.word ? translate(value) : value]
    })
    return new URLSearchParams(pairs).toString()
  }
}

export const responseInWireWords = translatedResponse(toWire)

/** The body of an answer on the wire, in the document's words. */
export const responseInDocumentWords = translatedResponse(fromWire)

function translatedResponse(directionOf: (vocabulary: Vocabulary) => Direction) {
  return (
    operation: ServedOperation,
    { status, body }: { status: number; body: JsonValue },
    vocabulary: Vocabulary,
  ): JsonValue => {
    const node = responseNode(operation, status)
    return node ? translateValue(node, body, directionOf(vocabulary)) : body
  }
}

function responseNode(operation: ServedOperation, status: number): WordNode | undefined {
  const words = operationWords(operation)
  return words && (words.answers[status] ?? (status >= 400 ? ERROR_WORDS : undefined))
}

/** Also word by word (`filter.provider`). Names that are on neither side are the caller's own. */
function translatedName(
  nodes: Readonly<Record<string, WordNode>> | undefined,
  name: string,
  translate: (word: string) => string,
): string {
  const translation = name.split('.').map(translate).join('.')
  return wordsNamed(nodes, translation) || wordsNamed(nodes, name) ? translation : name
}

function fromWire(vocabulary: Vocabulary): Direction {
  return { translate: (word) => vocabulary.document(word), documentKey: (_key, translated) => translated }
}

function toWire(vocabulary: Vocabulary): Direction {
  return { translate: (word) => vocabulary.wire(word), documentKey: (key) => key }
}

function translateValue(node: WordNode, value: JsonValue, direction: Direction): JsonValue {
  if (typeof value === 'string') return node.word ? direction.translate(value) : value
  if (Array.isArray(value)) {
    const { items } = node
    return items ? value.map((item) => translateValue(items, item, direction)) : value
  }
  if (!node.fields || !isJsonObject(value)) return value
  // `fromEntries` defines own properties, `__proto__` included, and never touches a prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = translatedName(node.fields, key, direction.translate)
      const fieldNode = wordsNamed(node.fields, direction.documentKey(key, name))
      return [name, fieldNode ? translateValue(fieldNode, inner, direction) : inner]
    }),
  )
}

const PATH_PART = /[A-Za-z_$][\w$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\]/g

export interface DocumentRequest {
  readonly operation: ServedOperation
  readonly query: string
  readonly body: unknown
}

/** An error in the words of the wire: field paths, and the words in its texts except the caller's own strings (G48). */
export function errorInWireWords(error: ServiceError, request: DocumentRequest, vocabulary: Vocabulary): ServiceError {
  const words = operationWords(request.operation)
  if (!words) return error
  const { violations = [], ...context } = error.context
  const wireViolations = violationsInWireWords(violations, request, vocabulary)
  const literals = freeStrings(words, request, vocabulary)
  const isOfViolations = violations.length > 0 && error.message === violationsText(violations)
  const message = isOfViolations
    ? violationsText(wireViolations)
    : vocabulary.prose(error.message, literals, (path) => wirePath(words, path, vocabulary))
  return new ServiceError(error.errorCode, message, {
    ...context,
    ...(violations.length > 0 ? { violations: wireViolations } : {}),
  })
}

/** Violations and warnings in the words of the wire. A text about the inside of a free-form object stays as it is. */
export function violationsInWireWords<T extends Pick<FieldViolation, 'field' | 'description'>>(
  violations: readonly T[],
  request: DocumentRequest,
  vocabulary: Vocabulary,
): T[] {
  const words = operationWords(request.operation)
  if (!words) return [...violations]
  const literals = freeStrings(words, request, vocabulary)
  const path = (dotted: string): string => wirePath(words, dotted, vocabulary)
  return violations.map((violation) => {
    const { field, description } = violation
    const text = isFree(words.body, field) ? description : vocabulary.prose(description, literals, path)
    return { ...violation, field: path(field), description: text }
  })
}

/** `connected_account.authorization_details.workspace_dwd`, or the name of a query parameter. */
function wirePath({ query, body }: OperationWords, path: string, vocabulary: Vocabulary): string {
  const translate = (word: string): string => vocabulary.wire(word)
  const parameter = translatedName(query, path, translate)
  if (parameter !== path || Object.hasOwn(query, path)) return parameter
  let node: WordNode | undefined = body
  return path.replace(PATH_PART, (part) => {
    if (!node || part.startsWith('[')) {
      node = /^\[\d/.test(part) ? node?.items : undefined
      return part
    }
    const translation = translatedName(node.fields, part, translate)
    node = wordsNamed(node.fields, part)
    return translation
  })
}

/** Whether a path leads into a free-form object. */
function isFree(body: WordNode | undefined, path: string): boolean {
  let node = body
  for (const [part] of path.matchAll(PATH_PART)) {
    if (!node) return false
    const next: WordNode | undefined = /^\[\d/.test(part) ? node.items : wordsNamed(node.fields, part)
    if (!next && !node.fields) return node !== body
    node = next
  }
  return false
}

/** The names and the caller's own strings that look like a word of the vocabulary. Texts that repeat them leave them as they are. */
function freeStrings(words: OperationWords, request: DocumentRequest, vocabulary: Vocabulary): Set<string> {
  const { query, body } = words
  const literals = new Set(words === ERRORS_ONLY ? PROXY_HEADERS : [])
  const look = (node: WordNode | undefined, value: unknown): void => {
    if (typeof value === 'string' && !node?.word && vocabulary.has(value)) literals.add(value)
    if (Array.isArray(value)) for (const item of value) look(node?.items, item)
    if (!isJsonObject(value)) return
    for (const [key, inner] of Object.entries<JsonValue>(value)) look(wordsNamed(node?.fields, key), inner)
  }
  look(body, request.body)
  for (const [name, value] of new URLSearchParams(request.query)) look(wordsNamed(query, name), value)
  return literals
}
