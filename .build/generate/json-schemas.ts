import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pretty } from './pretty.ts'
import type { Step } from './step.ts'

const SOURCE = 'src/documents/json-schemas.ts'

/** JSON Schemas of the files that users write, out of the zod schemas that read them; editors take them by `$schema`. */
export const jsonSchemas: Step = {
  name: 'json schemas',
  inputs: ['src/documents', 'src/domain', 'src/schema', 'src/scenarios/faults'],
  outputs: ['spec/schemas'],
  make: async (root) => {
    const files = new Map<string, string>()
    if (!existsSync(join(root, SOURCE))) return files
    const source = (await import(pathToFileURL(join(root, SOURCE)).href)) as {
      jsonSchemas: () => Record<string, object>
    }
    for (const [name, schema] of Object.entries(source.jsonSchemas())) {
      const path = `spec/schemas/${name}.schema.json`
      files.set(path, await pretty(root, path, JSON.stringify(schema)))
    }
    return files
  },
}
