import type { DescEnum, DescField, DescMessage } from '@bufbuild/protobuf'
import { OPERATION_WORDS, type WordNode, WORDS } from '../../model/contract/generated/word-tables.ts'
import { nearest } from '../../model/domain/suggestion.ts'
import type { Vocabulary, VocabularyWords } from '../../model/domain/vocabulary.ts'
import { fieldOf } from './descriptors.ts'
import type { Binding, RpcMethod } from './http-rule.ts'

/** A word of the document that an enumeration of the descriptors lacks. */
export interface MissingWord {
  readonly word: string
  readonly type: DescEnum
  /** What the enumeration most likely says in its place. */
  readonly meant: string | undefined
  /** Another enumeration that has the word as it is: a vocabulary would break it. */
  readonly conflictsWith: DescEnum | undefined
}

export interface WordDifferences {
  readonly missing: readonly MissingWord[]
  /** The lines of `settings.vocabulary` that fix what can be fixed (G48). */
  readonly vocabulary: VocabularyWords
}

/** Compares the words of the operations of the served methods with the enumerations of the descriptors. */
export function wordDifferences(methods: readonly RpcMethod[], vocabulary: Vocabulary | undefined): WordDifferences {
  const places = new Places()
  for (const method of methods) for (const binding of method.bindings) addPlaces(method, binding, places)
  const wire = (word: string): string => vocabulary?.wire(word) ?? word
  const missing: MissingWord[] = []
  const fixed = new Map<string, string>()
  for (const { type, words } of places.enums.values()) {
    const lacking = [...words].filter((word) => !hasWord(type, wire(word)))
    const meanings = meantWords(lacking, unusedWords(type, new Set([...words].map(wire))))
    for (const word of lacking) {
      const meant = meanings.get(word)
      const conflictsWith = [...places.enums.values()].find(
        (candidate) => candidate.words.has(word) && hasWord(candidate.type, wire(word)),
      )?.type
      missing.push({ word, type, meant, conflictsWith })
      if (meant !== undefined && !conflictsWith && !fixed.has(word)) fixed.set(word, meant)
    }
  }
  // A field that is named after a word of an enumeration, such as `workspace_dwd`, has its other name as well.
  for (const [word, meant] of [...fixed]) {
    const [field, otherName] = [word.toLowerCase(), meant.toLowerCase()]
    const isRenamed = places.messages.some(
      ({ message, fields }) => Object.hasOwn(fields, field) && !fieldOf(message, field) && fieldOf(message, otherName),
    )
    if (isRenamed) fixed.set(field, otherName)
  }
  return { missing, vocabulary: Object.fromEntries(fixed) }
}

/** What an enumeration most likely says for a word of the document; undefined when nothing in it is near. */
export function likelyWord(word: string, type: DescEnum): string | undefined {
  return meantWord(word, unusedWords(type, new Set(WORDS)))
}

function hasWord({ values }: DescEnum, word: string): boolean {
  return values.some(({ name }) => name === word)
}

/** The words of an enumeration that the document does not have; its zero value means that there is none. */
function unusedWords({ values }: DescEnum, words: ReadonlySet<string>): string[] {
  return values.flatMap(({ name, number }) => (number === 0 || words.has(name) ? [] : [name]))
}

/** A word of the enumeration stands for one word of the document, first of all for the one that it ends with. */
function meantWords(words: readonly string[], unused: readonly string[]): ReadonlyMap<string, string> {
  const meant = new Map<string, string>()
  const left = new Set(unused)
  const take = (word: string, meaning: string | undefined): void => {
    if (meaning === undefined) return
    meant.set(word, meaning)
    left.delete(meaning)
  }
  for (const word of words)
    take(
      word,
      [...left].find((each) => each.endsWith(`_${word}`)),
    )
  for (const word of words) if (!meant.has(word)) take(word, meantWord(word, [...left]))
  return meant
}

function meantWord(word: string, unused: readonly string[]): string | undefined {
  const prefixed = unused.find((each) => each.endsWith(`_${word}`))
  if (prefixed !== undefined) return prefixed
  const parts = new Set(word.split('_'))
  const shared = (candidate: string): number => candidate.split('_').filter((part) => parts.has(part)).length
  const [best] = unused.filter((candidate) => shared(candidate) > 0).sort((a, b) => shared(b) - shared(a))
  return best ?? nearest(word, unused)
}

/** Where words of the document meet enumerations and messages of the descriptors. */
class Places {
  readonly enums = new Map<string, { readonly type: DescEnum; readonly words: Set<string> }>()
  readonly messages: { readonly message: DescMessage; readonly fields: object }[] = []

  /** Visits a message beside the words of the document. */
  add(message: DescMessage, node: WordNode): void {
    const { fields = {} } = node
    this.messages.push({ message, fields })
    for (const [name, inner] of Object.entries(fields)) {
      const field = fieldOf(message, name)
      if (field) this.addField(field, field.fieldKind === 'list' ? (inner.items ?? inner) : inner)
    }
  }

  addField(field: DescField, node: WordNode): void {
    if (field.message) this.add(field.message, node)
    if (!field.enum || !node.word) return
    const entry = this.enums.get(field.enum.typeName) ?? { type: field.enum, words: new Set() }
    for (const word of node.word) if (word !== '') entry.words.add(word)
    this.enums.set(field.enum.typeName, entry)
  }
}

function addPlaces({ desc }: RpcMethod, { routes, body, responseBody }: Binding, places: Places): void {
  for (const { operation } of routes) {
    const words = Object.hasOwn(OPERATION_WORDS, operation) ? OPERATION_WORDS[operation] : undefined
    const response = words?.answers[200] ?? words?.answers[201]
    const bodyMessage = messageAt(desc.input, body === '*' ? '' : body)
    const responseMessage = messageAt(desc.output, responseBody)
    if (words?.body && bodyMessage && body !== '') places.add(bodyMessage, words.body)
    if (response && responseMessage) places.add(responseMessage, response)
    for (const [name, node] of Object.entries(words?.query ?? {})) {
      const field = fieldAt(desc.input, name.split('.'))
      if (field) places.addField(field, node.items ?? node)
    }
  }
}

function messageAt(message: DescMessage, field: string): DescMessage | undefined {
  return field === '' ? message : fieldOf(message, field)?.message
}

function fieldAt(message: DescMessage | undefined, [name = '', ...inner]: readonly string[]): DescField | undefined {
  const field = message && fieldOf(message, name)
  return inner.length === 0 ? field : fieldAt(field?.message, inner)
}
