import type { Reach } from '../../../documents/report-schemas.ts'
import { html, type Html, type HtmlValue } from '../../../pages/html.ts'

export interface Column {
  readonly label: string
  readonly kind?: 'number' | 'wide'
}

export interface Table {
  /** What the table is, in words: it names the table for those who do not see where it stands. */
  readonly caption: string
  readonly columns: readonly Column[]
  /** Each with a cell for each column; the first one is what the row is about. */
  readonly rows: readonly (readonly HtmlValue[])[]
}

/** A table whose rows have headings too; on a narrow screen each row stands by itself, its cells with their labels. */
export function table({ caption, columns, rows }: Table): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ label, kind }) => html`<th scope="col" ${className(kind)}>${label}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((cells) => row(cells, columns))}
      </tbody>
    </table>
  </div>`
}

function row(cells: readonly HtmlValue[], columns: readonly Column[]): Html {
  return html`<tr>
    ${cells.map((cell, at) =>
      at === 0
        ? html`<th scope="row">${cell}</th>`
        : html`<td ${className(columns[at]?.kind)} data-label="${columns[at]?.label}">${cell}</td>`,
    )}
  </tr>`
}

function className(kind: Column['kind']): Html | undefined {
  return kind && html`class="${kind}"`
}

/** What the narrowest column of names holds. */
const SHORT = 17

/** A name as code; a long one breaks behind its parts. */
export function inCode(name: string): Html {
  const parts = name.length > SHORT ? name.split(/(?<=[._/])(?=\w)/) : [name]
  return html`<code>${parts.map((part, at) => html`${at > 0 && WORD_BREAK}${part}`)}</code>`
}

const WORD_BREAK = html`<wbr />`

const REACHES: Readonly<Record<Reach, string>> = {
  driven: 'driven',
  injected_only: 'only by injection',
  never: 'never',
}

/** How far something was reached: a mark, and the words that say the same. */
export function reachMark(reach: Reach): Html {
  return html`<span class="reach ${reach}">${REACHES[reach]}</span>`
}
