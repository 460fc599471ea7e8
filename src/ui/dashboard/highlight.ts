export interface ColouredPart {
  readonly text: string
  /** Its classes; empty for text without a colour. */
  readonly class: string
}

const QUOTED = String.raw`(?<![^\s,[{:])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')`
const PLAIN = String.raw`[^\s,[\]{}#:"'&*!-](?:[^\n,[\]{}#:]|:(?=\S)|(?<=\S)#)*`

/** The tokens of YAML and JSON, each in a group by its class. */
const TOKENS = new RegExp(
  [
    String.raw`(?<quiet>(?<!\S)#.*|[{}[\],:]|-(?!\S)|[|>][+-]?$)`,
    String.raw`(?<key>${QUOTED}(?=\s*:)|${PLAIN}(?=:(?!\S)))`,
    `(?<string>${QUOTED})`,
    String.raw`(?<word>[&*!][^\s,\]}]*|---|(?<![^\s,[{:])-?(?:true|false|null|[\d.]+)(?=\s*(?:[,\]}#]|$)))`,
    PLAIN,
  ].join('|'),
  'gm',
)

const CLASSES: Readonly<Record<string, string>> = { key: 'code-key', string: 'code-string', word: 'code-word' }

/** The colours of YAML and JSON, as parts and not as markup, which the page does not accept. */
export function coloured(text: string): ColouredPart[] {
  const parts: ColouredPart[] = []
  let end = 0
  for (const { 0: token, index, groups = {} } of text.matchAll(TOKENS)) {
    if (index > end) parts.push({ text: text.slice(end, index), class: '' })
    const name = Object.keys(groups).find((each) => groups[each] !== undefined) ?? ''
    parts.push({ text: token, class: CLASSES[name] ?? name })
    end = index + token.length
  }
  return [...parts, { text: text.slice(end), class: '' }]
}
