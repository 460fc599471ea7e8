/** An element of a document: its name, its attributes, and its content in order. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly content: (Element | string)[]
}

/** Parses XML 1.0 without DTD. @throws Error for a document that is not well-formed */
export function readXml(text: string): Element {
  const [declaration = ''] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/.exec(text) ?? []
  if (declaration === '') throw new Error('the declaration is missing')
  const root: Element = { name: '', attributes: {}, content: [] }
  const open = [root]
  const body = text.slice(declaration.length)
  const pieces = body.match(/<[^<>]*>|[^<>]+|[<>]/g) ?? []
  for (const piece of pieces) {
    const parent = open.at(-1)
    if (!parent) throw new Error(`after the root: ${piece}`)
    if (piece === '<' || piece === '>') throw new Error(`a lone ${piece}`)
    if (!piece.startsWith('<')) parent.content.push(unescaped(piece))
    else if (piece.startsWith('</')) {
      if (open.pop()?.name !== piece.slice(2, -1)) throw new Error(`${piece} closes what is not open`)
    } else {
      const element = startTag(piece)
      parent.content.push(element)
      if (!piece.endsWith('/>')) open.push(element)
    }
  }
  const roots = root.content.filter((part) => typeof part !== 'string')
  const [only] = roots
  if (open.length !== 1 || roots.length !== 1 || !only) throw new Error('not one element that is closed')
  return only
}

function startTag(piece: string): Element {
  const [, name = '', rest = ''] = /^<([a-z-]+)((?: [a-z]+="[^"]*")*)\/?>$/.exec(piece) ?? []
  if (name === '') throw new Error(`no tag: ${piece}`)
  const pairs = [...rest.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, unescaped(value)])
  if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new Error(`an attribute twice: ${piece}`)
  return { name, attributes: Object.fromEntries(pairs) as Record<string, string>, content: [] }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
    throw new Error('a sign that XML cannot hold')
  return text.replaceAll(/&([^;]*);?/g, (reference, name: string) => {
    const sign = ENTITIES[name]
    if (sign === undefined || !reference.endsWith(';')) throw new Error(`no reference: ${reference}`)
    return sign
  })
}

export function elements({ content }: Element, name: string): Element[] {
  return content.flatMap((part) =>
    typeof part === 'string' ? [] : [...(part.name === name ? [part] : []), ...elements(part, name)],
  )
}

export function textOf({ content }: Element): string {
  return content.map((part) => (typeof part === 'string' ? part : textOf(part))).join('')
}
