/** Where something is in a text. */
export interface TextPosition {
  line: number
  column: number
}

const SPACE = /[ \t\n\r]*/y
/** A string, number or name of JSON, or one of its signs. */
const TOKEN =
  /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\]:,]/y

/** An array or object that is being read. */
interface Container {
  readonly isArray: boolean
  /** The key or index of its present value. */
  key: string | number
}

/**
 * Finds the first place where a text is not JSON. The engine's own messages name it in some cases only, and differently
 * from version to version.
 */
export function findSyntaxError(text: string): (TextPosition & { found: string }) | undefined {
  const at = readJson(text, () => false)
  if (at === undefined) return undefined
  const found = at < text.length ? characterText(text.codePointAt(at) ?? 0) : 'the end of the file'
  return { ...lineAndColumn(text, at), found }
}

/** Where a path inside a JSON text leads; as far as the path goes when something on it is missing. */
export function positionOf(text: string, path: readonly (string | number)[]): TextPosition {
  let [found, known] = [0, -1]
  readJson(text, (at, open) => {
    // A value that is deeper than what was found, and not inside something else.
    if (open.length === known + 1 && open.every(({ key }, depth) => key === path[depth]))
      [found, known] = [at, known + 1]
    return known === path.length
  })
  return lineAndColumn(text, found)
}

/**
 * Calls `isLast` with the offset of each value and what is open around it, until it says so. It does not recurse as
 * `jsonc-parser` does: a row may nest deeper than the stack.
 * @returns the offset of the first place that is not JSON, if it comes that far
 */
function readJson(text: string, isLast: (at: number, open: readonly Container[]) => boolean): number | undefined {
  const open: Container[] = []
  let at = 0
  const skipSpace = (): void => void (at += match(SPACE, text, at).length)
  const take = (...tokens: string[]): string | undefined => {
    skipSpace()
    const token = match(TOKEN, text, at)
    if (token === '' || (tokens.length > 0 && !tokens.includes(token))) return undefined
    at += token.length
    return token
  }
  const readKey = (container: Container): boolean => {
    if (container.isArray) return true
    skipSpace()
    const name = text[at] === '"' ? take() : undefined
    if (name !== undefined) container.key = JSON.parse(name) as string
    return name !== undefined && take(':') !== undefined
  }
  const readAfterValue = (): boolean => {
    for (let container = open.at(-1); container; container = open.at(-1)) {
      const sign = take(',', container.isArray ? ']' : '}')
      if (sign === undefined) return false
      if (sign === ',') {
        if (typeof container.key === 'number') container.key++
        return readKey(container)
      }
      open.pop()
    }
    return true
  }
  /** Reads a scalar or the beginning of an array or object, up to the next value. */
  const readValue = (): boolean => {
    if (/[}\],:]/.test(text[at] ?? '')) return false
    const token = take()
    if (token !== '{' && token !== '[') return token !== undefined && readAfterValue()
    const container: Container = token === '[' ? { isArray: true, key: 0 } : { isArray: false, key: '' }
    if (take(container.isArray ? ']' : '}') !== undefined) return readAfterValue()
    open.push(container)
    return readKey(container)
  }
  do {
    skipSpace()
    if (isLast(at, open)) return undefined
    if (!readValue()) return at
  } while (open.length > 0)
  skipSpace()
  return at < text.length ? at : undefined
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function lineAndColumn(text: string, at: number): TextPosition {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}

/** A sign that is invisible is named by its number. */
function characterText(codePoint: number): string {
  const number = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  if (codePoint === 0xfeff) return `byte order mark (${number})`
  const character = String.fromCodePoint(codePoint)
  return /[\p{C}\p{Z}]/u.test(character) ? number : JSON.stringify(character)
}
