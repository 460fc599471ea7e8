import type { components } from './generated/control-types.ts'
import { asJsonSchemaSays } from './json-schema.ts'
import { readControlDocument } from './generated/control-document.js'

export async function controlSchemaCheck(): Promise<(name: keyof components['schemas'], value: unknown) => boolean> {
  // The bundle gives a CommonJS package that is loaded late only a default export.
  const { Ajv2020, _ } = (await import('ajv/dist/2020.js')).default
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false })
  asJsonSchemaSays(ajv, _)
  ajv.addSchema(readControlDocument(), 'control')
  return (name, value) => ajv.validate({ $ref: `control#/components/schemas/${name}` }, value)
}
