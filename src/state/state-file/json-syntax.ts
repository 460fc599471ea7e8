/** Where a text stops being JSON. */
export interface JsonSyntaxError {
  line: number
  column: number
  found: string
}

const SPACE = /[ \t\n\r]*/y
const SCALAR =
  /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const KEY = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"[ \t\n\r]*:/y

/**
 * Finds the first place where a text is not JSON. The engine's own messages name it in some cases only, and differently
 * from version to version. `jsonc-parser` reads by recursion, which a file of deep nesting overflows.
 */
export function findSyntaxError(text: string): JsonSyntaxError | undefined {
  const scanner = new Scanner(text)
  const at = scanner.firstError()
  return at === undefined ? undefined : position(text, at)
}

class Scanner {
  readonly #text: string
  #at = 0
  /** The closing brackets that are due, innermost last. */
  readonly #open: ('}' | ']')[] = []

  constructor(text: string) {
    this.#text = text
  }

  firstError(): number | undefined {
    do {
      if (!this.#value()) return this.#at
    } while (this.#open.length > 0)
    this.#match(SPACE)
    return this.#at < this.#text.length ? this.#at : undefined
  }

  /** Reads one scalar, or the beginning of an array or object, and what may follow before the next value. */
  #value(): boolean {
    this.#match(SPACE)
    const first = this.#text[this.#at]
    if (first === '{' || first === '[') {
      this.#at++
      this.#match(SPACE)
      const end = first === '{' ? '}' : ']'
      if (!this.#take(end)) {
        this.#open.push(end)
        return end === ']' || this.#match(KEY)
      }
    } else if (!this.#match(SCALAR)) return false
    return this.#afterValue()
  }

  #afterValue(): boolean {
    for (let end = this.#open.at(-1); end; end = this.#open.at(-1)) {
      this.#match(SPACE)
      if (this.#take(',')) {
        this.#match(SPACE)
        return end === ']' || this.#match(KEY)
      }
      if (!this.#take(end)) return false
      this.#open.pop()
    }
    return true
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }
}

function position(text: string, at: number): JsonSyntaxError {
  const before = text.slice(0, at)
  const found = at < text.length ? characterText(text.codePointAt(at) ?? 0) : 'the end of the file'
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), found }
}

/** A sign that is invisible is named by its number. */
function characterText(codePoint: number): string {
  const number = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  if (codePoint === 0xfeff) return `byte order mark (${number})`
  const character = String.fromCodePoint(codePoint)
  return /[\p{C}\p{Z}]/u.test(character) ? number : JSON.stringify(character)
}
