/** Markup that is safe to send: made by {@link html} or {@link css} only. */
export class Html {
  readonly #text: string

  constructor(strings: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#text = strings.reduce((text, literal, at) => text + render(values[at - 1]) + literal)
  }

  toString(): string {
    return this.#text
  }
}

/** What may stand in a template: text is escaped, markup is not, and what is absent leaves nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | null | undefined | false

/**
 * Markup from a template literal. Every interpolation is escaped for text and for quoted attributes, unless it is itself
 * markup: so names and identifiers from users can stand anywhere but in scripts, styles and unquoted attributes.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(strings, values)
}

/** A style sheet; it takes no interpolation, because escaping means nothing there. */
export function css(strings: TemplateStringsArray): Html {
  return new Html(strings, [])
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

/** What no page may hold: browsers drop it or take it for something else. */
// eslint-disable-next-line no-control-regex -- they are what is meant
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map((part) => part.toString()).join('')
  return String(value)
    .toWellFormed()
    .replaceAll(CONTROLS, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '')
}
