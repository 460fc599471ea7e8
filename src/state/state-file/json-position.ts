/** Where something is in a text. */
export interface TextPosition {
  line: number
  column: number
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const PLAIN = /[^"{}[\]]*/y

/** Where a path inside a JSON text leads; as far as the path goes when something on it is missing. */
export function positionOf(text: string, path: readonly (string | number)[]): TextPosition {
  const walk = new JsonCursor(text)
  for (const step of path) if (!walk.enter(step)) break
  const before = text.slice(0, walk.at)
  return { line: before.split('\n').length, column: walk.at - before.lastIndexOf('\n') }
}

/** A position in a text that is known to be JSON. It does not recurse as `jsonc-parser` does: a row may nest deeper than the stack. */
class JsonCursor {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
    this.#match(SPACE)
  }

  /** Goes to the value of a key, or to an item; stays when there is none. */
  enter(step: string | number): boolean {
    const start = this.at
    const isObject = this.#text[start] === '{'
    if (!isObject && this.#text[start] !== '[') return false
    this.at++
    for (let index = 0; ; index++) {
      this.#match(SPACE)
      if (this.#text[this.at] === '}' || this.#text[this.at] === ']') break
      const name: unknown = isObject ? JSON.parse(this.#match(STRING)) : index
      if (isObject) this.#skip(':')
      this.#match(SPACE)
      if (name === step) return true
      this.#skipValue()
      this.#skip(',')
    }
    this.at = start
    return false
  }

  #skipValue(): void {
    let depth = 0
    do {
      const first = this.#text[this.at]
      if (first === '"') this.#match(STRING)
      else if (first === '{' || first === '[') [depth, this.at] = [depth + 1, this.at + 1]
      else if (first === '}' || first === ']') [depth, this.at] = [depth - 1, this.at + 1]
      else if (depth === 0) this.#match(/[^,\]}\s]*/y)
      if (depth > 0) this.#match(PLAIN)
    } while (depth > 0 && this.at < this.#text.length)
  }

  #skip(character: string): void {
    this.#match(SPACE)
    if (this.#text[this.at] === character) this.at++
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.at += found.length
    return found
  }
}
