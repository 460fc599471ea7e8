import {
  follow,
  operationsOf,
  readSpec,
  type Schema,
  type SpecDocument,
  type SpecOperation,
  SPEC,
} from './spec-document.ts'
import type { Step } from './step.ts'

const OUTPUT = 'src/model/contract/generated/basis-table.ts'

const HEADER = `/**
 * Per operation: what its query parameters and the fields of its body rest on, where that differs from what they are in. An item of a
 * list is \`[]\`; the operation itself has an empty name, and that a parameter is required is \`NAME required\`.
 */
export const FIELD_BASIS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
`

/** What each field of the contract rests on, for the findings of reports. */
export const basisTable: Step = {
  name: 'basis table',
  inputs: [SPEC],
  outputs: [OUTPUT],
  make: async (root) => {
    const spec = await readSpec(root)
    const rows = operationsOf(spec).map((operation) => {
      const entries = JSON.stringify(Object.entries(basisOf(spec, operation)))
      return `  [${JSON.stringify(operation.id)}, new Map<string, string>(${entries})],`
    })
    return new Map([[OUTPUT, `${HEADER}${rows.join('\n')}\n])\n`]])
  },
}

function basisOf(spec: SpecDocument, { basis: [own = 'choice'], body, parameters }: SpecOperation) {
  const table: Record<string, string> = { '': own }
  if (body) addFields(spec, body.schema, [], table)
  for (const parameter of parameters.filter((each) => each.in === 'query')) {
    const ofName = first((parameter as unknown as Schema)['x-basis']) ?? own
    const ofValue = first(resolved(spec, parameter.schema)['x-basis']) ?? ofName
    table[parameter.name] = ofValue
    // The limits of a value may have another basis than the name of its parameter.
    if (ofValue !== ofName) table[`${parameter.name} required`] = ofName
  }
  return table
}

function addFields(spec: SpecDocument, given: Schema, path: readonly string[], table: Record<string, string>): void {
  const schema = resolved(spec, given)
  const basis = first(schema['x-basis'])
  if (basis !== undefined) table[path.join('.')] ??= basis
  if (basis !== undefined && path.length === 0) table[''] = basis
  const requiredBasis = first(schema['x-required-basis'])
  for (const name of requiredBasis === undefined ? [] : (schema.required ?? []))
    table[`${[...path, name].join('.')} required`] = requiredBasis ?? ''
  if (schema.items) addFields(spec, schema.items, [...path, '[]'], table)
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    addFields(spec, property, [...path, name], table)
  for (const choice of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    const { 'x-basis': _ofChoice, ...inside } = resolved(spec, choice)
    addFields(spec, inside, path, table)
  }
}

/** Keys beside a `$ref` win over those of its target. */
function resolved(spec: SpecDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema
  const { $ref, ...own } = schema
  return { ...resolved(spec, follow<Schema>(spec, { $ref })), ...own }
}

function first(basis: unknown): string | undefined {
  const [value] = [basis].flat()
  return typeof value === 'string' ? value : undefined
}
