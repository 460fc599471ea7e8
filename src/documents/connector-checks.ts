import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ajv2020, ErrorObject, Options } from 'ajv/dist/2020.js'
import { isHttpUrl, mayBeCalled } from '../domain/base-url.ts'
import { COLLECTION_NAME } from '../domain/collection.ts'
import { isJsonObject, type JsonObject, type JsonValue, own, pointerParts } from '../domain/json.ts'
import { patternsIn } from '../domain/schema-patterns.ts'
import { lazyImport } from '../lazy-import.ts'
import { templatePlaces } from './collections.ts'
import { type PathsOf, References, textsIn } from './connector-references.ts'
import { type Problem, type Path, shown, valueAtPath, valuesAt } from '../schema/problems.ts'

/** What is wrong with a template, in one sentence; `roots` are the names that its paths may start with. */
export type CheckTemplate = (text: string, roots?: readonly string[]) => string | undefined

/** What checking documents takes from other modules. */
export interface DocumentChecks {
  checkTemplate: CheckTemplate
  /** The paths of a template that start at its variables; none of one that cannot be read. */
  templatePaths: PathsOf
  /** The operations of the service with the statuses that its spec declares. */
  operations: ReadonlyMap<string, readonly number[]>
  /** Each of them with its method and path. */
  routes: readonly { readonly operation: string; readonly method: string; readonly path: string }[]
  /** Every word of the spec (G48). */
  words: readonly string[]
  /** Whether `base_url` may leave loopback (`--allow-outbound`). */
  allowOutbound?: boolean
}

/** What files that are read together are checked with. */
export interface DocumentCheckContext extends DocumentChecks {
  /** Absent for the bundled seed, whose schemas are checked in the tests: compiling them all takes most of the time. */
  toolSchemas?: ToolSchemaCheck
}

/**
 * What is wrong with a connector document beyond its schema: templates and JSON Schemas that cannot be read, and a server that
 * the mock may not call. Takes the document as it was written, so that these problems are reported with those of the schema.
 */
export async function checkConnector(document: JsonValue, context: DocumentCheckContext): Promise<Problem[]> {
  if (!isJsonObject(document)) return []
  return [
    ...outboundProblems(['base_url'], own(document, 'base_url'), context.allowOutbound),
    ...((await context.toolSchemas?.problems(document)) ?? []),
    ...templateProblems(document, context),
    ...new References(document).unansweredCalls(),
  ]
}

export function outboundProblems(path: Path, url: JsonValue | undefined, allowOutbound = false): Problem[] {
  if (typeof url !== 'string' || !isHttpUrl(url) || mayBeCalled(url, allowOutbound)) return []
  return [{ path, found: shown(url), allowed: 'a URL on loopback (or start with --allow-outbound)' }]
}

/** Templates that cannot be read, and variables in them that there are not. */
export function templateProblems(document: JsonObject, checks: DocumentChecks): Problem[] {
  const { checkTemplate, templatePaths } = checks
  const references = new References(document)
  const ofTemplates = [...templatePlaces(document)].flatMap(({ path, roots }) =>
    textsIn(valueAtPath(document, path) as JsonValue | undefined, path).flatMap(({ path: at, text }): Problem[] => {
      const reason = checkTemplate(text, roots)
      if (reason === undefined) return references.problemsOf({ path: at, text, roots }, templatePaths)
      return [{ path: at, found: shown(text), allowed: `a template that can be read; ${reason}` }]
    }),
  )
  return [...ofTemplates, ...resultNameProblems(document, checks)]
}

/** Names of results that a template reads as a helper, a literal or a part of its own syntax. */
function resultNameProblems(document: JsonObject, { templatePaths }: DocumentChecks): Problem[] {
  return valuesAt(document, ['responders', '*', 'steps', '*', 'as']).flatMap(({ path, value }): Problem[] => {
    if (typeof value !== 'string' || !COLLECTION_NAME.test(value)) return []
    const [parts = []] = templatePaths(`{{${value}}}`)
    if (parts[0] === value) return []
    return [{ path, found: `${shown(value)}, which templates read as something else`, allowed: 'another name' }]
  })
}

const loadAjv = lazyImport(() => import('ajv/dist/2020.js'))
const loadPatterns = lazyImport(() => import('../linear-pattern.ts'))

/**
 * Finds every schema that is no JSON Schema 2020-12 of an object: those of tools, and those at other paths. Ajv is loaded when the first file with tools is
 * checked; its meta schemas, which take longer to compile than everything else here, serve all files read together.
 */
export class ToolSchemaCheck {
  #ajv: { Ajv: new (options: Options) => Ajv2020; meta: Ajv2020 } | undefined

  async problems(document: JsonObject, at: readonly string[] = ['tools', '*', 'input_schema']): Promise<Problem[]> {
    const schemas = valuesAt(document, at)
    if (schemas.length === 0) return []
    if (!this.#ajv) {
      // The bundle gives a CommonJS package that is loaded late only a default export.
      const { Ajv2020: Ajv } = (await loadAjv()).default
      this.#ajv = { Ajv, meta: new Ajv(OPTIONS) }
    }
    const { Ajv, meta } = this.#ajv
    const problems: Problem[] = []
    for (const { value, path } of schemas) {
      if (!isJsonObject(value)) continue
      // Other requests are served between two tools.
      await nextTurn()
      const patterns = patternsIn(value)
      // What runs patterns is loaded with the first schema that has one.
      const linear = patterns.length > 0 ? await loadPatterns() : undefined
      const engine = linear && new linear.PatternEngine()
      const unsupported = patterns.flatMap(({ source, path: at, isKey }): Problem[] => {
        const reason = engine?.unsupported(source)
        if (reason === undefined || linear === undefined) return []
        const found = `${shown(source)}, which cannot run in linear time: ${reason}`
        return [{ path: [...path, ...at], found, allowed: `a pattern with ${linear.LINEAR_PATTERN}`, atKey: isKey }]
      })
      if (unsupported.length > 0) problems.push(...unsupported)
      else problems.push(...schemaProblems(value, path, { Ajv, meta, code: engine && { regExp: engine.regExp } }))
    }
    return problems
  }
}

const OPTIONS: Options = { strict: false, allErrors: true, logger: false, validateFormats: false }

function schemaProblems(
  schema: JsonObject,
  path: Path,
  { Ajv, meta, code }: { Ajv: new (options: Options) => Ajv2020; meta: Ajv2020; code: Options['code'] },
): Problem[] {
  const type = own(schema, 'type')
  if (type !== undefined && type !== 'object') {
    return [
      {
        path: [...path, 'type'],
        found: shown(type),
        allowed: `object, because ${path[0] === 'tools' ? 'tool_input' : 'the body'} is an object`,
      },
    ]
  }
  if (own(schema, '$async') === true) {
    const allowed = 'no $async, because an input is checked at once'
    return [{ path: [...path, '$async'], found: 'true', allowed }]
  }
  try {
    if (meta.validateSchema(schema) !== true) return metaSchemaProblems(meta.errors ?? [], schema, path)
    // In an instance of its own, because schemas of different tools may use the same $id.
    const mentionsMeta = JSON.stringify(schema).includes('json-schema.org')
    const options = { ...OPTIONS, validateSchema: false, meta: mentionsMeta, ...(code && { code }) }
    const validate = new Ajv(options).compile(schema)
    // A `$ref` cycle compiles, and overflows the stack when it is entered.
    const properties = own(schema, 'properties')
    validate({})
    validate(Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, null])))
    return []
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const reason = error instanceof RangeError ? 'it refers to itself without end' : message
    const found = `a schema that does not compile (${reason})`
    return [{ path, found, allowed: 'a JSON Schema 2020-12 that stands alone' }]
  }
}

/** What the meta schema says, each place once: the branches of its `anyOf` repeat one another. */
function metaSchemaProblems(errors: readonly ErrorObject[], schema: JsonObject, base: Path): Problem[] {
  const listed = errors.filter(({ keyword }) => keyword !== 'anyOf')
  const first = listed.filter(
    (error, at) => listed.findIndex((each) => each.instancePath === error.instancePath) === at,
  )
  return first.map(({ instancePath, keyword, params, message = 'something else' }) => {
    const path = pointerParts(instancePath).map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    const values: unknown = keyword === 'enum' ? (params as { allowedValues?: unknown }).allowedValues : undefined
    const allowed = `JSON Schema 2020-12: ${Array.isArray(values) ? values.join(', ') : message}`
    return { path: [...base, ...path], found: shown(valueAtPath(schema, path)), allowed }
  })
}
