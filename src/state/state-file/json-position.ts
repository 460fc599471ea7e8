import { type JSONVisitor, visit } from 'jsonc-parser'

export interface TextPosition {
  line: number
  column: number
}

/** The engine's own messages name the place in some cases only, and differently from version to version. */
export function findSyntaxError(text: string): (TextPosition & { found: string }) | undefined {
  let at: number | undefined
  visitJson(text, { onError: (_, offset) => (at ??= offset) })
  if (at === undefined) return undefined
  const character = at < text.length ? characterText(text.codePointAt(at) ?? 0) : 'the end of the file'
  return { ...lineAndColumn(text, at), found: character }
}

/** Where a path inside a JSON text leads; as far as the path goes when something on it is missing. */
export function textPosition(text: string, path: readonly (string | number)[]): TextPosition {
  let [position, line] = [0, -1]
  const see = (at: number, place: readonly (string | number)[]): void => {
    if (place.length > line && place.length <= path.length && place.every((part, depth) => part === path[depth]))
      [position, line] = [at, place.length]
  }
  visitJson(text, {
    onObjectBegin: (at, _length, _line, _character, place) => see(at, place()),
    onArrayBegin: (at, _length, _line, _character, place) => see(at, place()),
    onLiteralValue: (_value, at, _length, _line, _character, place) => see(at, place()),
  })
  return lineAndColumn(text, position)
}

/** A text that nests deeper than the stack is visited up to there. */
function visitJson(text: string, visitor: JSONVisitor): void {
  try {
    visit(text, visitor, { disallowComments: true })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
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
