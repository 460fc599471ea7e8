import { stringify } from 'yaml'

/** A document as the YAML of a file, below a comment of one or more lines. */
export function documentText(document: object, comment: string): string {
  const lines = comment.split('\n').map((line) => `# ${line}\n`)
  return `${lines.join('')}${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`
}
