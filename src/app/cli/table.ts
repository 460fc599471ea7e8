import { oneLine } from '../../model/domain/text.ts'
import { paintFor, type Style, type Terminal, widthOf, wrapText } from '../../platform/terminal.ts'

export interface Column<Row> {
  readonly title: string
  /** Wraps in its column where the table is wider than the terminal. Ids do not, so that they can be copied. */
  readonly wraps?: true
  /** Of the last column: goes into a line of its own where the table is wider than the terminal. */
  readonly below?: true
  readonly cell: (row: Row) => string
  readonly style?: (row: Row) => Style | undefined
}

/** No column is narrower, unless its longest cell is. */
const NARROWEST = 12
const GAP = '  '

/** Rows under their titles, within the width of the terminal. Where there is none, each row is one line. */
export function tableText<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminal: Terminal | undefined,
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => oneLine(cell(row), Infinity)))
  const natural = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((row) => widthOf(row[at] ?? ''))))
  const isTooWide = terminal !== undefined && totalOf(natural) > terminal.columns
  const beside = isTooWide && columns.at(-1)?.below === true ? columns.length - 1 : columns.length
  const widths = isTooWide ? fitWidths(columns, natural.slice(0, beside), terminal.columns) : natural
  const paint = paintFor(terminal)
  const linesOf = (texts: readonly string[], styles: readonly (Style | undefined)[]): string[] => {
    const painted = (text: string, at: number): string => {
      const style = styles[at]
      return style === undefined || text === '' ? text : paint(style, text)
    }
    const wrapped = widths.map((width, at) => wrapText(texts[at] ?? '', width))
    const lines = Array.from({ length: Math.max(...wrapped.map(({ length }) => length)) }, (_, line) =>
      wrapped.map((parts, at) => padCell(painted(parts[line] ?? '', at), parts[line] ?? '', widths[at] ?? 0)).join(GAP),
    )
    const cells = texts.slice(beside).map((text, at) => `${GAP}${painted(text, beside + at)}`)
    return [...lines.map((line) => line.trimEnd()), ...cells]
  }
  const titles = linesOf(
    columns.map(({ title }) => title),
    columns.map(() => 'bold' as const),
  )
  const body = rows.flatMap((row, at) => {
    const styles = columns.map(({ style }) => style?.(row))
    return linesOf(cells[at] ?? [], styles)
  })
  return [...titles, ...body].join('\n')
}

/** A text that is painted already, followed by what its plain form lacks of the width. */
function padCell(painted: string, plain: string, width: number): string {
  return `${painted}${' '.repeat(Math.max(0, width - widthOf(plain)))}`
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))
}

/** Narrows the widest column that wraps, until the table fits or none can be narrower. */
function fitWidths<Row>(columns: readonly Column<Row>[], natural: readonly number[], available: number): number[] {
  const widths = [...natural]
  while (totalOf(widths) > available) {
    const [widest] = widths
      .map((width, at) => ({ width, at }))
      .filter(({ width, at }) => columns[at]?.wraps === true && width > NARROWEST)
      .sort((a, b) => b.width - a.width)
    if (!widest) break
    widths[widest.at] = widest.width - 1
  }
  return widths
}
