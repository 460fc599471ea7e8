import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ErrorObject, Options } from 'ajv/dist/2020.js'
import { isHttpUrl, mayBeCalled } from '../model/domain/base-url.ts'
import { COLLECTION_NAME } from '../model/domain/collection.ts'
import {
  isJsonObject,
  type JsonObject,
  jsonText,
  type JsonValue,
  ownMember,
  pointerParts,
  withDoubles,
} from '../model/domain/json.ts'
import { patternsIn } from '../model/domain/schema-patterns.ts'
import { lazyImport, once } from '../model/domain/once.ts'
import { LINEAR_PATTERN } from '../model/domain/text-pattern.ts'
import { templatePlaces } from './collections.ts'
import { type PathsOf, References, textsWithPaths } from './connector-references.ts'
import { type Problem, type Path, problemValue, valueAtPath, valuesAt } from '../model/schema/problems.ts'

/** What is wrong with a template, in one sentence; `roots` are the names that its paths may start with. */
export type CheckTemplate = (text: string, roots?: readonly string[]) => string | undefined

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
  /** Set for the bundled seed, whose JSON Schemas are checked in the tests: compiling them all takes most of the time. */
  trustSchemas?: boolean
}

/** Takes the document as it was written, so that these problems are reported with those of its schema. */
export async function checkConnector(document: JsonValue, checks: DocumentChecks): Promise<Problem[]> {
  if (!isJsonObject(document)) return []
  return [
    ...outboundProblems(['base_url'], ownMember(document, 'base_url'), checks.allowOutbound),
    ...(await schemaProblems(document, ['tools', '*', 'input_schema'], checks)),
    ...(await schemaProblems(document, ['tools', '*', 'output_schema'], checks)),
    ...templateProblems(document, checks),
    ...new References(document).unansweredCalls(),
  ]
}

export function outboundProblems(path: Path, url: JsonValue | undefined, allowOutbound = false): Problem[] {
  if (typeof url !== 'string' || !isHttpUrl(url) || mayBeCalled(url, allowOutbound)) return []
  return [{ path, found: problemValue(url), allowed: 'a URL on loopback (or start with --allow-outbound)' }]
}

/** Templates that cannot be read, and variables in them that there are not. */
export function templateProblems(document: JsonObject, checks: DocumentChecks): Problem[] {
  const { checkTemplate, templatePaths } = checks
  const references = new References(document)
  const ofTemplates = [...templatePlaces(document)].flatMap(({ path, roots }) =>
    textsWithPaths(valueAtPath(document, path) as JsonValue | undefined, path).flatMap(
      ({ path: at, text }): Problem[] => {
        const reason = checkTemplate(text, roots)
        if (reason === undefined) return references.problemsOf(text, { path: at, roots }, templatePaths)
        return [{ path: at, found: problemValue(text), allowed: `a template that can be read; ${reason}` }]
      },
    ),
  )
  return [...ofTemplates, ...resultNameProblems(document, checks)]
}

/** Names of results that a template reads as a helper, a literal or a part of its own syntax. */
function resultNameProblems(document: JsonObject, { templatePaths }: DocumentChecks): Problem[] {
  return valuesAt(document, ['responders', '*', 'steps', '*', 'as']).flatMap(({ path, value }): Problem[] => {
    if (typeof value !== 'string' || !COLLECTION_NAME.test(value)) return []
    const [parts = []] = templatePaths(`{{${value}}}`)
    if (parts[0] === value) return []
    return [{ path, found: `${problemValue(value)}, which templates read as something else`, allowed: 'another name' }]
  })
}

const loadPatterns = lazyImport(() => import('../model/linear-pattern.ts'))
const loadAjv = lazyImport(() => import('ajv/dist/2020.js'))

/** Ajv, and its meta schemas, which take longer to compile than everything else here. */
const ajvWithMeta = once(async () => {
  // The bundle gives a CommonJS package that is loaded late only a default export.
  const { Ajv2020: Ajv } = (await loadAjv()).default
  return { Ajv, meta: new Ajv(OPTIONS) }
})

/** Every schema at a path that is no JSON Schema 2020-12 of an object. */
export async function schemaProblems(
  document: JsonObject,
  at: readonly string[],
  { trustSchemas = false }: DocumentChecks,
): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const { value, path } of trustSchemas ? [] : valuesAt(document, at)) {
    if (!isJsonObject(value)) continue
    // Other requests are served between two schemas.
    await nextTurn()
    const patterns = patternsIn(value)
    // What runs patterns is loaded with the first schema that has one.
    const engine = patterns.length > 0 ? new (await loadPatterns()).PatternEngine() : undefined
    const unsupported = patterns.flatMap(({ source, path: at, isKey }): Problem[] => {
      const reason = engine?.unsupported(source)
      if (reason === undefined) return []
      const mistake = `${problemValue(source)}, which cannot run in linear time: ${reason}`
      return [{ path: [...path, ...at], found: mistake, allowed: `a pattern with ${LINEAR_PATTERN}`, atKey: isKey }]
    })
    if (unsupported.length > 0) problems.push(...unsupported)
    else problems.push(...(await problemsOfSchema(value, path, engine && { regExp: engine.regExp })))
  }
  return problems
}

const OPTIONS: Options = { strict: false, allErrors: true, logger: false, validateFormats: false }

async function problemsOfSchema(exact: JsonObject, path: Path, code: Options['code']): Promise<Problem[]> {
  const schema = withDoubles(exact) as JsonObject
  const type = ownMember(schema, 'type')
  if (type !== undefined && type !== 'object') {
    return [
      {
        path: [...path, 'type'],
        found: problemValue(type),
        allowed: `object, because ${path[0] === 'tools' ? 'tool_input' : 'the body'} is an object`,
      },
    ]
  }
  if (ownMember(schema, '$async') === true) {
    const allowed = 'no $async, because an input is checked at once'
    return [{ path: [...path, '$async'], found: 'true', allowed }]
  }
  const { Ajv, meta } = await ajvWithMeta()
  try {
    if (meta.validateSchema(schema) !== true) return metaSchemaProblems(meta.errors ?? [], schema, path)
    // In an instance of its own, because schemas of different tools may use the same $id.
    const mentionsMeta = jsonText(schema).includes('json-schema.org')
    const options = { ...OPTIONS, validateSchema: false, meta: mentionsMeta, ...(code && { code }) }
    const validate = new Ajv(options).compile(schema)
    // A `$ref` cycle compiles, and overflows the stack when it is entered.
    const properties = ownMember(schema, 'properties')
    validate({})
    validate(Object.fromEntries(Object.keys(properties ?? {}).map((name) => [name, null])))
    return []
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const reason = error instanceof RangeError ? 'it refers to itself without end' : message
    const mistake = `a schema that does not compile (${reason})`
    return [{ path, found: mistake, allowed: 'a JSON Schema 2020-12 that stands alone' }]
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
    return { path: [...base, ...path], found: problemValue(valueAtPath(schema, path)), allowed }
  })
}
