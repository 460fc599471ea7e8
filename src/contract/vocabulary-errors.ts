import { type FieldViolation, ServiceError } from '../domain/errors.ts'
import { isJsonObject, type JsonValue } from '../domain/json.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { OperationWords, WordNode } from './generated/word-tables.ts'
import type { Operation } from './shapes.ts'
import { fieldKey, fieldOf, parameterName, wordsOf } from './vocabulary.ts'

const PATH_PART = /[A-Za-z_$][\w$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\]/g

/** A request in the document's words, as far as it was read. */
export interface ReadRequest {
  readonly operation: Operation
  readonly query: string
  readonly body: unknown
}

/** An error as the caller is told it: paths, and the words in its texts; not the caller's own strings (G48). */
export function errorInWireWords(error: ServiceError, request: ReadRequest, vocabulary: Vocabulary): ServiceError {
  const words = wordsOf(request.operation)
  if (!words) return error
  const { violations = [], ...context } = error.context
  const said = violationsInWireWords(violations, request, vocabulary)
  const kept = freeStrings(words, request, vocabulary)
  const prose = (text: string): string => vocabulary.prose(text, kept, (path) => spokenPath(words, path, vocabulary))
  const texts = new Map(violations.map(({ description }, at) => [description, said[at]?.description ?? description]))
  return new ServiceError(error.errorCode, aroundTexts(error.message, texts, prose), {
    ...context,
    ...(violations.length > 0 ? { violations: said } : {}),
  })
}

/** Violations and warnings as the caller is told them. A text about something inside a free-form object stays as it is. */
export function violationsInWireWords<T extends Pick<FieldViolation, 'field' | 'description'>>(
  violations: readonly T[],
  request: ReadRequest,
  vocabulary: Vocabulary,
): T[] {
  const words = wordsOf(request.operation)
  if (!words) return [...violations]
  const kept = freeStrings(words, request, vocabulary)
  const path = (dotted: string): string => spokenPath(words, dotted, vocabulary)
  return violations.map((violation) => {
    const { field, description } = violation
    const told = isFree(words.body, field) ? description : vocabulary.prose(description, kept, path)
    return { ...violation, field: path(field), description: told }
  })
}

/** `connected_account.authorization_details.workspace_dwd`, or the name of a query parameter. */
function spokenPath({ query, body }: OperationWords, path: string, vocabulary: Vocabulary): string {
  const say = (word: string): string => vocabulary.wire(word)
  const parameter = parameterName(query, path, say)
  if (parameter !== path || Object.hasOwn(query, path)) return parameter
  let node: WordNode | undefined = body
  return path.replace(PATH_PART, (part) => {
    if (!node || part.startsWith('[')) {
      node = /^\[\d/.test(part) ? node?.items : undefined
      return part
    }
    const said = fieldKey(node, part, say)
    node = fieldOf(node, part)
    return said
  })
}

/** Whether a path leads to the inside of a free-form object. */
function isFree(body: WordNode | undefined, path: string): boolean {
  let node = body
  for (const [part] of path.matchAll(PATH_PART)) {
    if (!node) return false
    const next: WordNode | undefined = /^\[\d/.test(part) ? node.items : fieldOf(node, part)
    if (!next && !node.fields) return node !== body
    node = next
  }
  return false
}

/** A message that repeats texts which were said on their own: what is around them is said word by word. */
function aroundTexts(message: string, texts: ReadonlyMap<string, string>, prose: (text: string) => string): string {
  for (const [text, said] of texts) {
    const at = text === '' ? -1 : message.indexOf(text)
    if (at < 0) continue
    const rest = aroundTexts(message.slice(at + text.length), texts, prose)
    return aroundTexts(message.slice(0, at), texts, prose) + said + rest
  }
  return prose(message)
}

/** The strings of a request that are the caller's own and look like a word: texts that repeat them leave them as they are. */
function freeStrings({ query, body }: OperationWords, request: ReadRequest, vocabulary: Vocabulary): Set<string> {
  const found = new Set<string>()
  const look = (node: WordNode | undefined, value: unknown): void => {
    if (typeof value === 'string' && !node?.word && vocabulary.has(value)) found.add(value)
    if (Array.isArray(value)) for (const item of value) look(node?.items, item)
    if (!isJsonObject(value)) return
    for (const [key, inner] of Object.entries<JsonValue>(value)) look(node && fieldOf(node, key), inner)
  }
  look(body, request.body)
  for (const [name, value] of new URLSearchParams(request.query)) {
    look(Object.hasOwn(query, name) ? query[name] : undefined, value)
  }
  return found
}
