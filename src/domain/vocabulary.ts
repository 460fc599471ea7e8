import { isErrorCode } from './errors.ts'

/** The document's words and what a real deployment says in their place (G48). */
export type VocabularyWords = Readonly<Record<string, string>>

/** What a word on the wire is made of. */
export const WIRE_WORD = /^[A-Za-z0-9_]+$/

/** What the wire says for one word of the document. */
export function wireWord(words: VocabularyWords, word: string): string {
  return (Object.hasOwn(words, word) ? words[word] : undefined) ?? word
}

/** Text in double quotes, or a word that is no part of an address, a file name or the like. */
const QUOTED_OR_WORD = /"(?:[^"\\]|\\.)*"|(?<![\w@/-])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*(?![\w@/-])/g
const WORD = /[A-Za-z_]\w*/g
const QUOTED_WORD = /^"\w+"$/

/**
 * Says the document's words as they are on the wire, and back. Error codes may share a word, because only answers carry
 * them. All else is one to one, both ways: a word of the document that has another one on the wire gives its
 * own name up, and where a client sends it all the same, the inside sees in its place a word that the document does not
 * have, and the client gets its own again.
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
    for (const given of [...toWire.keys()]) if (!toDocument.has(given)) close(given, toWire, toDocument)
    for (const [code, wire] of Object.entries(words).filter(([word]) => isErrorCode(word))) {
      toWire.set(code, wire)
      // On the way back the first one stands for all.
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

  /**
   * A text for people: the words in it that this vocabulary changes, but for those of `kept`, and a quotation that is one
   * of them. `path` says a dotted path.
   */
  prose(text: string, kept: ReadonlySet<string> = NOTHING, path: (dotted: string) => string = this.#path): string {
    return text.replace(QUOTED_OR_WORD, (found) => {
      if (QUOTED_WORD.test(found)) {
        const word = found.slice(1, -1)
        return kept.has(word) ? found : `"${this.wire(word)}"`
      }
      if (found.startsWith('"') || kept.has(found)) return found
      return /[.[]/.test(found) ? path(found) : this.#translated(found)
    })
  }

  readonly #path = (dotted: string): string => dotted.replace(WORD, (word) => this.#translated(word))

  /** Only the document's own words: the inside says no others but in quotation. */
  #translated(word: string): string {
    return this.#words.get(word) ?? word
  }
}

const NOTHING: ReadonlySet<string> = new Set()

/** Gives the name that is free now to the last word of its chain, so that the way back is one to one as well. */
function close(given: string, toWire: Map<string, string>, toDocument: Map<string, string>): void {
  let last = given
  for (let next = toWire.get(last); next !== undefined; next = toWire.get(last)) last = next
  toWire.set(last, given)
  toDocument.set(given, last)
}
