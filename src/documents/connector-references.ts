import { isJsonObject, type JsonObject, type JsonValue, own } from '../domain/json.ts'
import { didYouMean } from '../domain/suggestion.ts'
import { percentDecoded } from '../domain/text.ts'
import { matchesGlob } from '../domain/value-match.ts'
import { type Problem, type Path, shown, valueAtPath, valuesAt } from '../schema/problems.ts'

/*
 * What tools, templates and responders of a connector document say of one another: inputs that a tool does not take, fields
 * that no answer has, calls that nothing answers, responders that no tool calls.
 */

/** The paths of a template that start at its variables: `input.to` as `['input', 'to']`. */
export type PathsOf = (text: string) => readonly (readonly string[])[]

/** The fields of variables whose fields are always the same. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  request: ['method', 'path', 'params', 'query', 'headers', 'body'],
  response: ['status', 'headers', 'body'],
  account: ['id', 'identifier', 'connector', 'organization_id', 'user_id', 'api_config'],
  error: ['status', 'code', 'message'],
  page: ['limit', 'number', 'offset', 'has_more', 'next', 'previous', 'next_url', 'previous_url', 'total'],
}

/** What is wrong with the variables of one template. */
export function variableProblems(
  document: JsonObject,
  { path, text, roots }: { path: Path; text: string; roots: readonly string[] },
  pathsOf: PathsOf,
): Problem[] {
  return pathsOf(text).flatMap((parts): Problem[] => {
    const [root = '', field, inner] = parts
    if (field === undefined || !roots.includes(root)) return []
    const unknown = (names: readonly string[], what: string): Problem[] => {
      const found = `${shown(text)} with ${parts.join('.')}${didYouMean(parts[names === FIELDS[root] ? 1 : 2] ?? '', names)}`
      return [{ path, found, allowed: names.length === 0 ? `no ${what}` : `${what} (${names.join(', ')})` }]
    }
    const fields = FIELDS[root]
    if (fields && !fields.includes(field)) return unknown(fields, `fields of ${root}`)
    if (root === 'request' && field === 'params' && inner !== undefined) {
      const captured = capturesOf(document, path)
      return !captured || captured.includes(inner)
        ? []
        : unknown(captured, 'parts that the path of the responder captures')
    }
    return []
  })
}

/** The names in the path of the responder that a template belongs to; undefined for other templates. */
function capturesOf(document: JsonObject, place: Path): string[] | undefined {
  if (place[0] !== 'responders') return undefined
  const path = valueAtPath(document, [...place.slice(0, 2), 'on', 'path'])
  return typeof path === 'string' ? [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) : []
}

/** Inputs that a tool's schema does not have, fields that no answer to its call has, and calls that nothing answers. */
export function toolProblems(document: JsonObject, pathsOf: PathsOf): Problem[] {
  const responders = respondersOf(document)
  const index = new ResponderIndex(responders)
  const isAnsweredHere = own(document, 'base_url') === undefined
  return valuesAt(document, ['tools', '*']).flatMap(({ path, value }) => {
    if (!isJsonObject(value)) return []
    const problems = inputProblems(value, path, pathsOf)
    const call = own(value, 'call')
    if (!isAnsweredHere || responders.length === 0 || !isJsonObject(call)) return problems
    const answering = index.answering(call)
    if (answering.length > 0) return [...problems, ...responseProblems(value, path, answering, pathsOf)]
    const name = callName(call)
    const known = responders.map(nameOf)
    const found = `${shown(name)}, which no responder answers${didYouMean(name, known)}`
    const allowed = `a call that a responder answers (${[...new Set(known)].slice(0, 30).join(', ')})`
    return [...problems, { path: [...path, 'call', 'path'], found, allowed }]
  })
}

/** Responders that no tool calls: they answer direct calls and the proxy alone. */
export function unreachedResponders(document: JsonObject): Problem[] {
  const calls = valuesAt(document, ['tools', '*', 'call']).flatMap(({ value }) => (isJsonObject(value) ? [value] : []))
  if (calls.length === 0) return []
  const responders = respondersOf(document)
  const index = new ResponderIndex(responders)
  const reached = new Set(calls.flatMap((call) => index.answering(call)))
  return responders.flatMap((responder): Problem[] => {
    if (reached.has(responder)) return []
    const name = nameOf(responder)
    const found = `${shown(name)}, which no tool calls${didYouMean(name, calls.map(callName))}`
    return [{ path: [...responder.path, 'on'], found, allowed: 'a request that a tool makes, or direct calls alone' }]
  })
}

interface ResponderPlace {
  readonly path: Path
  readonly value: JsonObject
  readonly method: string | undefined
  readonly pattern: string | undefined
}

function respondersOf(document: JsonObject): ResponderPlace[] {
  return valuesAt(document, ['responders', '*']).flatMap(({ path, value }): ResponderPlace[] => {
    const on = isJsonObject(value) ? own(value, 'on') : undefined
    if (!isJsonObject(value) || !isJsonObject(on)) return []
    const [method, pattern] = [own(on, 'method'), own(on, 'path')]
    return [
      {
        path,
        value,
        method: typeof method === 'string' ? method : undefined,
        pattern: typeof pattern === 'string' ? pattern : undefined,
      },
    ]
  })
}

function callName(call: JsonObject): string {
  return [own(call, 'method'), own(call, 'path')].filter((part) => typeof part === 'string').join(' ')
}

function nameOf({ method, pattern }: ResponderPlace): string {
  return `${method ?? '*'} ${pattern ?? '/*'}`
}

const VALUE = '\u0000'

/** Responders by the parts of their paths: documents have thousands, and a call meets only those that its own parts lead to. */
class ResponderIndex {
  readonly #byPath = newBranch()
  readonly #anyPath: ResponderPlace[] = []

  constructor(readonly all: readonly ResponderPlace[]) {
    for (const responder of all) {
      if (responder.pattern === undefined) {
        this.#anyPath.push(responder)
        continue
      }
      let at = this.#byPath
      for (const part of responder.pattern.split('/')) {
        const parts = /[{*]/.test(part) ? at.open : at.fixed
        const next = parts.get(part) ?? newBranch()
        parts.set(part, next)
        at = next
      }
      at.responders.push(responder)
    }
  }

  /** The responders that answer a call for some input. */
  answering(call: JsonObject): ResponderPlace[] {
    const path = own(call, 'path')
    const isOpen = typeof path !== 'string' || path.includes('{{#')
    const found = isOpen ? this.all : [...this.#anyPath, ...respondersAt(this.#byPath, partsOf(path))]
    return found.filter(({ method }) => method === undefined || method === own(call, 'method'))
  }
}

/** What follows a part of a path: parts that are one text, parts that match several, and responders whose path ends here. */
interface Branch {
  readonly fixed: Map<string, Branch>
  readonly open: Map<string, Branch>
  readonly responders: ResponderPlace[]
}

function newBranch(): Branch {
  return { fixed: new Map(), open: new Map(), responders: [] }
}

function partsOf(path: string): string[] {
  const [plain = ''] = path.replaceAll(/\{\{\{?.*?\}\}\}?/gs, VALUE).split('?')
  return plain.split('/')
}

function respondersAt({ fixed, open, responders }: Branch, [part, ...rest]: readonly string[]): ResponderPlace[] {
  if (part === undefined) return responders
  const same = fixed.get(percentDecoded(part) ?? part)
  const next = part.includes(VALUE) ? [...fixed.values()] : same ? [same] : []
  for (const [wanted, branch] of open) if (canBe(part, wanted)) next.push(branch)
  return next.flatMap((branch) => respondersAt(branch, rest))
}

function canBe(part: string, wanted: string): boolean {
  if (part.includes(VALUE)) return true
  return /^\{\w+\}$/.test(wanted) ? part !== '' : matchesGlob(wanted, percentDecoded(part) ?? part)
}

function inputProblems(tool: JsonObject, path: Path, pathsOf: PathsOf): Problem[] {
  const schema = own(tool, 'input_schema')
  const call = own(tool, 'call')
  const places = [
    ...['path', 'query', 'headers', 'body'].map(
      (key) => [isJsonObject(call) ? own(call, key) : undefined, ['call', key]] as const,
    ),
    [own(tool, 'result'), ['result']] as const,
  ]
  return places.flatMap(([value, place]) =>
    textsIn(value, [...path, ...place]).flatMap(({ path: at, text }) =>
      pathsOf(text).flatMap(([root, ...names]): Problem[] => {
        const missing = root === 'input' ? missingInput(schema, names) : undefined
        if (!missing) return []
        const { name, known } = missing
        const found = `${shown(text)} with the input ${name}, which the schema of the tool does not have`
        const allowed =
          known.length === 0 ? 'no input: the schema has none' : `inputs of the schema (${known.join(', ')})`
        return [{ path: at, found: `${found}${didYouMean(name, known)}`, allowed }]
      }),
    ),
  )
}

/** The first name that a schema with fixed properties does not have. */
function missingInput(
  schema: JsonValue | undefined,
  [name, ...rest]: readonly string[],
): { name: string; known: string[] } | undefined {
  const properties = isJsonObject(schema) ? own(schema, 'properties') : undefined
  if (name === undefined || !isJsonObject(schema) || !isJsonObject(properties)) return undefined
  if (OPEN.some((key) => own(schema, key) !== undefined && own(schema, key) !== false)) return undefined
  const known = Object.keys(properties)
  return known.includes(name) ? missingInput(own(properties, name), rest) : { name, known }
}

/** Keys by which a schema takes more than its `properties`. */
const OPEN = [
  'additionalProperties',
  'patternProperties',
  'unevaluatedProperties',
  'allOf',
  'anyOf',
  'oneOf',
  '$ref',
  'if',
]

function responseProblems(
  tool: JsonObject,
  path: Path,
  answering: readonly ResponderPlace[],
  pathsOf: PathsOf,
): Problem[] {
  const known = answeredFields(answering)
  if (!known) return []
  return textsIn(own(tool, 'result'), [...path, 'result']).flatMap(({ path: at, text }) =>
    pathsOf(text).flatMap(([root, part, field]): Problem[] => {
      if (root !== 'response' || part !== 'body' || field === undefined || known.includes(field)) return []
      const found = `${shown(text)} with the field ${field}, which no answer to the call has${didYouMean(field, known)}`
      return [{ path: at, found, allowed: `fields of the answers (${known.join(', ')})` }]
    }),
  )
}

/** The fields of the bodies that succeed; undefined where they depend on the request. */
function answeredFields(responders: readonly ResponderPlace[]): string[] | undefined {
  const known = new Set<string>()
  for (const { value } of responders) {
    const sequence = own(value, 'sequence')
    for (const answer of Array.isArray(sequence) ? sequence : [own(value, 'respond') ?? {}]) {
      if (!isJsonObject(answer) || Number(own(answer, 'status') ?? 200) >= 400) continue
      const body = own(answer, 'body')
      if (body === undefined && own(value, 'steps') === undefined) continue
      if (!isJsonObject(body)) return undefined
      for (const field of Object.keys(body)) known.add(field)
    }
  }
  return [...known]
}

export function textsIn(value: JsonValue | undefined, base: Path): { path: Path; text: string }[] {
  if (typeof value === 'string') return [{ text: value, path: base }]
  if (Array.isArray(value)) return value.flatMap((item, at) => textsIn(item, [...base, at]))
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => textsIn(item, [...base, key])) : []
}
