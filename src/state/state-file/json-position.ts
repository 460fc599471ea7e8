import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser'

export interface TextPosition {
  line: number
  column: number
}

/** The engine's own messages name the place in some cases only, and differently from version to version. */
export function findSyntaxError(text: string): (TextPosition & { found: string }) | undefined {
  const errors: ParseError[] = []
  parseTextTree(text, errors)
  const at = errors[0]?.offset
  if (at === undefined) return undefined
  const [character] = text.slice(at, at + 2)
  return { ...lineAndColumn(text, at), found: character ? characterText(character) : 'the end of the file' }
}

/** Where a path inside a JSON text leads; as far as the path goes when something on it is missing. */
export function textPosition(text: string, path: readonly (string | number)[]): TextPosition {
  const root = parseTextTree(text)
  const nodes = path.map((_, at) => root && findNodeAtLocation(root, path.slice(0, path.length - at)))
  return lineAndColumn(text, nodes.find((node) => node)?.offset ?? root?.offset ?? 0)
}

/** Undefined for a text that nests deeper than the stack. */
function parseTextTree(text: string, errors?: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}

function lineAndColumn(text: string, at: number): TextPosition {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') }
}

/** One that is invisible by its number. */
function characterText(character: string): string {
  const number = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0') ?? ''
  return /[\p{C}\p{Z}]/u.test(character) ? `U+${number}` : JSON.stringify(character)
}
