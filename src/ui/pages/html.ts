import { withVisibleDirections } from '../../model/domain/text.ts'

/** Safe markup; only {@link html} and {@link css} make it. */
export class Html {
  readonly #text: string

  constructor(strings: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.#text = strings.reduce((text, literal, at) => {
      // An attribute such as the value of a field is sent back as it is; text and its like are only read.
      const isSentBack = /(?<!title|aria-label|alt|placeholder)="$/.test(strings[at - 1] ?? '')
      return text + render(values[at - 1], isSentBack) + literal
    })
  }

  toString(): string {
    return this.#text
  }
}

/** A value in a template: text is escaped, markup is not, and null, undefined and false become nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | null | undefined | false

/** Escapes for text and quoted attributes: values of users are safe but in scripts, styles and unquoted attributes. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(strings, values)
}

/** A style sheet. It takes no interpolation, because escaping does not work there. */
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

/** Control characters, which browsers drop or replace. */
// eslint-disable-next-line no-control-regex -- the expression is about control characters
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

function render(value: HtmlValue, isSentBack: boolean): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map((part) => part.toString()).join('')
  const text = String(value)
  return (isSentBack ? text : withVisibleDirections(text))
    .toWellFormed()
    .replaceAll(CONTROLS, '\ufffd')
    .replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '')
}
