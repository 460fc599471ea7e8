import { styleText } from 'node:util'

export interface Terminal {
  readonly columns: number
  readonly isColoured: boolean
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta'

/** Paints a text where the terminal has colours. */
export function paintFor(terminal: Terminal | undefined): (style: Style, text: string) => string {
  if (terminal?.isColoured !== true) return (_, text) => text
  return (style, text) => styleText(style, text, { validateStream: false })
}

/** A text of a line, and how a terminal shows it. */
export type Piece = readonly [text: string, style?: Style]

/** Pieces side by side while they fit the terminal; the next ones in lines that are indented. */
export function laidOut(pieces: readonly Piece[], terminal: Terminal, indent: number): string {
  const paint = paintFor(terminal)
  const available = Math.max(terminal.columns - indent, 20)
  const lines = ['']
  let used = 0
  for (const [text, style] of pieces) {
    for (const piece of wrapText(text.trimEnd().length > available ? text.trimEnd() : text, available)) {
      const painted = style === undefined ? piece : paint(style, piece)
      const limit = lines.length === 1 ? terminal.columns : available
      const isBeside = used > 0 && used + 1 + widthOf(piece.trimEnd()) <= limit
      if (used > 0 && !isBeside) lines.push('')
      lines.push(`${lines.pop() ?? ''}${isBeside ? ' ' : ''}${painted}`)
      used = isBeside ? used + 1 + widthOf(piece) : widthOf(piece)
    }
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** A line with what does not fit the terminal in lines that are indented; as it is where there is no terminal. */
export function indentLine(line: string, indent: number, terminal: Terminal | undefined): string {
  if (!terminal) return line
  return wrapText(line, terminal.columns, terminal.columns - indent).join(`\n${' '.repeat(indent)}`)
}

/** The lines of a text, broken at blanks where there are any, else anywhere; lines after the first may be of another width. */
export function wrapText(text: string, first: number, later = first): string[] {
  const lines: string[] = []
  let [remaining, width] = [graphemes(text), first]
  while (remaining.length > width) {
    const blank = remaining.lastIndexOf(' ', width)
    // What later lines are indented by is no place to break the first.
    const isAfterIndent = blank > (lines.length === 0 ? first - later : 0)
    const end = isAfterIndent ? blank : width
    lines.push(remaining.slice(0, end).join(''))
    remaining = remaining.slice(isAfterIndent ? end + 1 : end)
    width = later
  }
  return [...lines, remaining.join('')]
}

export function widthOf(text: string): number {
  return graphemes(text).length
}

/** Characters as a reader sees them: a letter with its accents is one. */
function graphemes(text: string): string[] {
  if (/^[ -~]*$/.test(text)) return text.split('')
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}
