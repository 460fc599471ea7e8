import { highlightCode, tagHighlighter, tags } from '@lezer/highlight'
import { parser } from '@lezer/yaml'

/*
 * The colours of YAML and JSON. Only the editor of scenarios loads this module, because the parser is large; it returns parts and
 * not markup, which the page does not accept.
 */

export interface ColouredPart {
  readonly text: string
  /** Its classes; empty for text without a colour. */
  readonly class: string
}

const COLOURS = tagHighlighter([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], class: 'code-key' },
  { tag: tags.string, class: 'code-string' },
  { tag: tags.comment, class: 'quiet' },
  { tag: [tags.separator, tags.punctuation, tags.bracket, tags.squareBracket, tags.brace], class: 'quiet' },
  { tag: [tags.keyword, tags.labelName, tags.typeName], class: 'code-word' },
])

export function coloured(text: string): ColouredPart[] {
  const parts: ColouredPart[] = []
  highlightCode(
    text,
    parser.parse(text),
    COLOURS,
    (part, name) => parts.push({ text: part, class: name }),
    () => parts.push({ text: '\n', class: '' }),
  )
  return parts
}
