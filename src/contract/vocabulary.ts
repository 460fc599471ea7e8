import type { JsonValue } from '../domain/json.ts'
import { isJsonObject } from '../domain/json.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { ERROR_WORDS, OPERATION_WORDS, type OperationWords, type WordNode } from './generated/word-tables.ts'
import type { Operation } from './shapes.ts'

/** Which way words are said. */
interface Direction {
  readonly say: (word: string) => string
  /** Which of a key and what it becomes is the document's. */
  readonly documentKey: (key: string, said: string) => string
}

/** The words of an operation's requests and answers; undefined for the token endpoint, whose words are RFC 6749's. */
export function wordsOf(operation: Operation): OperationWords | undefined {
  return Object.hasOwn(OPERATION_WORDS, operation) ? OPERATION_WORDS[operation] : undefined
}

/** A request's body as the document says it. Free-form objects and free strings stay as they are (G48). */
export function bodyInDocumentWords(operation: Operation, body: JsonValue, vocabulary: Vocabulary): JsonValue {
  const node = wordsOf(operation)?.body
  return node ? said(node, body, inward(vocabulary)) : body
}

/** A request's query as the document says it. */
export function queryInDocumentWords(operation: Operation, query: string, vocabulary: Vocabulary): string {
  const known = wordsOf(operation)?.query
  if (!known || query === '') return query
  const translate = (word: string): string => vocabulary.document(word)
  const pairs = [...new URLSearchParams(query)].map(([sent, value]): [string, string] => {
    const name = parameterName(known, sent, translate)
    const node = Object.hasOwn(known, name) ? known[name] : undefined
    return [name, node?.word || node?.items?.word ? translate(value) : value]
  })
  return new URLSearchParams(pairs).toString()
}

/** An answer's body as it is on the wire. */
export function answerInWireWords(
  operation: Operation,
  { status, body }: { status: number; body: JsonValue },
  vocabulary: Vocabulary,
): JsonValue {
  const node = answerNode(operation, status)
  return node ? said(node, body, outward(vocabulary)) : body
}

/** An answer's body, as it is on the wire, in the document's words. */
export function answerInDocumentWords(
  operation: Operation,
  { status, body }: { status: number; body: JsonValue },
  vocabulary: Vocabulary,
): JsonValue {
  const node = answerNode(operation, status)
  return node ? said(node, body, inward(vocabulary)) : body
}

function answerNode(operation: Operation, status: number): WordNode | undefined {
  const words = wordsOf(operation)
  return words && (words.answers[status] ?? (status >= 400 ? ERROR_WORDS : undefined))
}

/** `filter.provider` word by word, where that or what was given is a parameter of the operation. */
export function parameterName(
  known: OperationWords['query'],
  name: string,
  translate: (word: string) => string,
): string {
  const translated = name.split('.').map(translate).join('.')
  return Object.hasOwn(known, translated) || Object.hasOwn(known, name) ? translated : name
}

/** The key in another's words, where that or what was given is a field; other keys are the caller's own. */
export function fieldKey({ fields = {} }: WordNode, key: string, translate: (word: string) => string): string {
  const translated = translate(key)
  return Object.hasOwn(fields, translated) || Object.hasOwn(fields, key) ? translated : key
}

/** What is known of a field. */
export function fieldOf({ fields }: WordNode, name: string): WordNode | undefined {
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined
}

function inward(vocabulary: Vocabulary): Direction {
  return { say: (word) => vocabulary.document(word), documentKey: (_key, said) => said }
}

function outward(vocabulary: Vocabulary): Direction {
  return { say: (word) => vocabulary.wire(word), documentKey: (key) => key }
}

function said(node: WordNode, value: JsonValue, direction: Direction): JsonValue {
  if (typeof value === 'string') return node.word ? direction.say(value) : value
  if (Array.isArray(value)) {
    const { items } = node
    return items ? value.map((item) => said(items, item, direction)) : value
  }
  if (!node.fields || !isJsonObject(value)) return value
  // `fromEntries` defines own properties, `__proto__` included, and so never touches a prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = fieldKey(node, key, direction.say)
      const known = fieldOf(node, direction.documentKey(key, name))
      return [name, known ? said(known, inner, direction) : inner]
    }),
  )
}
