import { isErrorCode } from './errors.ts'

/** Words of the document, each with the word that a real deployment uses in its place (G48). */
export type VocabularyWords = Readonly<Record<string, string>>

/** What a word on the wire is made of. */
export const WIRE_WORD = /^[A-Za-z0-9_]+$/

export function wireWord(words: VocabularyWords, word: string): string {
  return (Object.hasOwn(words, word) ? words[word] : undefined) ?? word
}

/** Text in double quotes, or a word that is no part of an address, a file name or the like. */
const QUOTED_OR_WORD = /"(?:[^"\\]|\\.)*"|(?<![\w@/-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*(?![\w@/-])/g
const WORD = /[A-Za-z_]\w*/g
const QUOTED_WORD = /^"\w+"$/

/**
 * Error codes may share a wire word, because only answers carry them. All other words are one to one: the own spelling
 * of a translated word is free on the wire, and a client that sends it gets it back unchanged, as a word that the
 * document does not have stands for it.
 */
export class Vocabulary {
  readonly #words: ReadonlyMap<string, string>
  readonly #toWire: ReadonlyMap<string, string>
  readonly #toDocument: ReadonlyMap<string, string>

  constructor(words: VocabularyWords) {
    const toWire = new Map<string, string>()
    const toDocument = new Map<string, string>()
    for (const [word, wire] of Object.entries(words)) {
      if (word === wire || toDocument.has(wire) || isErrorCode(word)) continue
      toWire.set(word, wire)
      toDocument.set(wire, word)
    }
    for (const wireWord of [...toWire.keys()]) if (!toDocument.has(wireWord)) closeChain(wireWord, toWire, toDocument)
    for (const [code, wire] of Object.entries(words).filter(([word]) => isErrorCode(word))) {
      toWire.set(code, wire)
      // A word that several codes share is translated back to the first of them.
      if (!toDocument.has(wire) && !isErrorCode(wire)) toDocument.set(wire, code)
    }
    this.#words = new Map([...toWire].filter(([word]) => Object.hasOwn(words, word)))
    this.#toWire = toWire
    this.#toDocument = toDocument
  }

  wire(word: string): string {
    return this.#toWire.get(word) ?? word
  }

  document(word: string): string {
    return this.#toDocument.get(word) ?? word
  }

  /** Whether the word is one that this vocabulary changes, in either direction. */
  has(word: string): boolean {
    return this.#toWire.has(word)
  }

  /** Translates words and quoted words but those of `literals`; `path` translates a dotted path. */
  prose(text: string, literals: ReadonlySet<string> = NOTHING, path: (dotted: string) => string = this.#path): string {
    return text.replace(QUOTED_OR_WORD, (match) => {
      if (QUOTED_WORD.test(match)) {
        const word = match.slice(1, -1)
        return literals.has(word) ? match : `"${this.wire(word)}"`
      }
      if (match.startsWith('"') || literals.has(match)) return match
      return /[.[]/.test(match) ? path(match) : this.#translateWord(match)
    })
  }

  readonly #path = (dotted: string): string => dotted.replace(WORD, (word) => this.#translateWord(word))

  /** Only the document's own words: the mock's texts have no others outside quotation marks. */
  #translateWord(word: string): string {
    return this.#words.get(word) ?? word
  }
}

const NOTHING: ReadonlySet<string> = new Set()

/** The spelling that is free on the wire is the last word of its chain, so that the way back is one to one too. */
function closeChain(word: string, toWire: Map<string, string>, toDocument: Map<string, string>): void {
  let last = word
  for (let next = toWire.get(last); next !== undefined; next = toWire.get(last)) last = next
  toWire.set(last, word)
  toDocument.set(word, last)
}
