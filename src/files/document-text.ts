import { parseDocument, stringify, visit } from 'yaml'

/** A document as the YAML of a file, below a comment of one or more lines. */
export function documentText(document: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}\n`)
  return `${lines.join('')}${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`
}

/** A document that a program sent as one line of JSON, as the YAML that a person edits; any other text as it is. */
export function editableText(text: string): string {
  if (!text.startsWith('{') || text.trim().includes('\n')) return text
  const document = parseDocument(text, { intAsBigInt: true })
  visit(document, {
    Collection: (_key, collection) => {
      collection.flow = false
    },
    Scalar: (_key, scalar) => {
      delete scalar.type
    },
  })
  return document.toString({ lineWidth: 0 })
}
