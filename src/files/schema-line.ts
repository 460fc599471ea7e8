import { dirname, relative, resolve } from 'node:path'

export type SchemaKind = 'seed' | 'connector' | 'scenario' | 'config'

/** The text of a YAML file below the line by which editors find its JSON Schema, in the package where it is installed. */
export function withSchema(kind: SchemaKind, file: string, text: string): string {
  const schema = resolve(`node_modules/toolmock/spec/schemas/${kind}.schema.json`)
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/')
  return `# yaml-language-server: $schema=${path.startsWith('.') ? path : `./${path}`}\n${text}`
}
