import { join } from 'node:path'
import { asJsonSchemaSays, DECIMALS } from '../../src/model/contract/json-schema.ts'
import { DATE_TIME } from '../../src/model/domain/instant.ts'
import { ROOT } from '../project.ts'
import { operationsOf, readSpec, type Schema, type SpecDocument, type SpecOperation, SPEC } from './spec-document.ts'
import { requestSchema, responseComponents, responseSchema } from './schema-view.ts'
import type { Step } from './step.ts'

const FOLDER = 'src/model/contract/generated'

const DECLARATION = `import type { Operation } from '../shapes.ts'

/** An error that Ajv reports for one failed keyword. */
export interface ValidatorError {
  readonly keyword: string
  readonly instancePath: string
  readonly schemaPath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly propertyName?: string
  readonly message?: string
}
export interface Validator {
  (value: unknown): boolean
  errors?: readonly ValidatorError[] | null
}
/** Per operation; null where the spec declares no such input. */
export declare const REQUESTS: Readonly<
  Record<Operation, { readonly query: Validator | null; readonly path: Validator | null; readonly body: Validator | null }>
>
/** Per operation and status; null where no body is declared. */
export declare const RESPONSES: Readonly<Record<Operation, Readonly<Record<string, Validator | null>>>>
`

/** Validators of every request and response, compiled by Ajv into plain code that needs no Ajv. */
export const validators: Step = {
  name: 'validators',
  inputs: [SPEC],
  outputs: [`${FOLDER}/validators.js`, `${FOLDER}/validators.d.ts`],
  make: async (root) => {
    const spec = await readSpec(root)
    const schemas = new SchemaPool()
    const requests = operationsOf(spec).map(
      (operation) => [operation.id, requestNames(spec, operation, schemas)] as const,
    )
    const responses = operationsOf(spec).map((operation) => {
      const statuses = [...operation.responses].map(
        ([status, schema]) => `${status}: ${schema ? schemas.name(responseSchema(spec, schema)) : 'null'}`,
      )
      return [operation.id, `{ ${statuses.join(', ')} }`] as const
    })
    const tables = [table('REQUESTS', requests), table('RESPONSES', responses)].join('\n')
    return new Map([
      [
        `${FOLDER}/validators.js`,
        await bundle(root, `${boundWork(await compile(schemas.all(), responseComponents(spec)))}\n${tables}`),
      ],
      [`${FOLDER}/validators.d.ts`, DECLARATION],
    ])
  },
}

/** Names for schemas. Equal schemas share a name: the error body alone occurs a hundred times. */
class SchemaPool {
  readonly #names = new Map<string, string>()

  name(schema: Schema): string {
    const key = JSON.stringify(schema)
    const name = this.#names.get(key) ?? `check${this.#names.size}`
    this.#names.set(key, name)
    return name
  }

  all(): Identified[] {
    return [...this.#names].map(([text, name]) => ({ $id: name, ...(JSON.parse(text) as Schema) }))
  }
}

function requestNames(spec: SpecDocument, operation: SpecOperation, schemas: SchemaPool): string {
  const query = parametersSchema(spec, operation, 'query')
  const path = parametersSchema(spec, operation, 'path')
  const body = operation.body && requestSchema(spec, operation.body.schema)
  const names = { query, path, body }
  const entries = Object.entries(names).map(([part, schema]) => `${part}: ${schema ? schemas.name(schema) : 'null'}`)
  return `{ ${entries.join(', ')} }`
}

function parametersSchema(spec: SpecDocument, operation: SpecOperation, place: 'query' | 'path'): Schema | null {
  const parameters = operation.parameters.filter((parameter) => parameter.in === place)
  if (parameters.length === 0) return null
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, requestSchema(spec, schema)])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  }
}

function table(name: string, rows: readonly (readonly [string, string])[]): string {
  return `export const ${name} = {\n${rows.map(([key, value]) => `  ${key}: ${value},`).join('\n')}\n}`
}

type Identified = Schema & { $id: string }

async function compile(schemas: Identified[], components: Identified): Promise<string> {
  const [{ Ajv2020, _ }, formats, standalone] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
    import('ajv/dist/standalone/index.js'),
  ])
  // Ajv refuses unknown keywords, so that a misspelt one in the spec fails the build.
  const ajv = new Ajv2020({
    schemas: [components, ...schemas],
    allErrors: true,
    // `src/model/contract` writes the messages of violations.
    messages: false,
    // Small schemas are inlined; objects that many answers share are not.
    inlineRefs: 3,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    code: { source: true, esm: true, lines: true },
  })
  formats.default.default(ajv)
  asJsonSchemaSays(ajv, _)
  // Answers have many timestamps: a check of their pattern is enough, and three times as fast.
  ajv.addFormat('date-time', DATE_TIME)
  const code = standalone.default.default(ajv, Object.fromEntries(schemas.map(({ $id }) => [$id, $id])))
  return code.replaceAll(COLLECT, '(vErrors ??= []).push($<error>);')
}

/** How Ajv keeps each of some nine hundred errors. What replaces it is shorter, and a server reads it at each start. */
const COLLECT =
  /const (err\d+) = (?<error>\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}/g

/** The most errors that one array or object collects. */
const ENOUGH = 20

/**
 * Ajv reports every error, which costs time and memory for each of a hostile body's half a million wrong items. So each loop of
 * the generated code ends after `ENOUGH` errors. The result stays the same: invalid.
 */
function boundWork(code: string): string {
  let loops = 0
  return code
    .replace(
      /for\(let (i\d+)=(\d+); \1<(len\d+); \1\+\+\)\{/g,
      (_, index: string, start: string, length: string) =>
        `for(let ${index}=${start}, before${loops}=errors; ${index}<${length} && errors-before${loops++}<${ENOUGH}; ${index}++){`,
    )
    .replace(
      /for\(const (key\d+) in (data\d*)\)\{/g,
      (_, key: string, data: string) =>
        `const before${loops}=errors;for(const ${key} in ${data}){if(errors-before${loops++}>=${ENOUGH})break;`,
    )
}

/** Bundles the code with what it imports: a length function and the formats. */
async function bundle(root: string, code: string): Promise<string> {
  const { rolldown } = await import('rolldown')
  const entry = `${root}/validators.js`
  const build = await rolldown({
    cwd: root,
    input: entry,
    platform: 'neutral',
    resolve: { mainFields: ['main'] },
    plugins: [
      {
        name: 'validators',
        resolveId: (id) => (id === entry ? id : id === DECIMALS ? join(ROOT, 'src/model/domain/decimal.ts') : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
    tsconfig: false,
  })
  const { output } = await build.generate({ format: 'esm', comments: false, minify: { compress: true, mangle: false } })
  await build.close()
  return output[0].code
}
