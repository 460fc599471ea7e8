import { TEMPLATE_FIELDS } from '../model/domain/generated/tables.ts'
import { BoundedCache } from '../model/domain/bounded-cache.ts'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '../model/domain/json.ts'
import { Hints, listAllowed } from '../model/domain/suggestion.ts'
import { percentDecoded } from '../model/domain/text.ts'
import { matchesGlob } from '../model/domain/value-match.ts'
import { type Problem, type Path, problemValue, valueAtPath, valuesAt } from '../model/schema/problems.ts'
import type { TemplatePlace } from './collections.ts'

/** The paths of a template that start at its variables: `input.to` as `['input', 'to']`. */
export type PathsOf = (text: string) => readonly (readonly string[])[]

/** The fields of variables whose fields are always the same. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  request: ['method', 'path', 'params', 'query', 'headers', 'body'],
  response: ['status', 'headers', 'body'],
  account: TEMPLATE_FIELDS,
  error: ['status', 'code', 'message'],
  page: ['limit', 'number', 'offset', 'has_more', 'next', 'previous', 'next_url', 'previous_url', 'total'],
}

/** Calls, answers and schemas of a document. */
const MAX_CACHED = 10_000

/** Inputs that no tool takes, fields that no answer has, calls without a responder, responders without a call. */
export class References {
  readonly #responders: readonly ResponderPlace[]
  readonly #anyPath: readonly ResponderPlace[]
  readonly #byPath = new PathTree()
  readonly #hints = new Hints()
  readonly #answering = new BoundedCache<JsonObject, readonly ResponderPlace[]>(MAX_CACHED)
  /** Of answers and schemas with thousands of fields, which thousands of templates name. */
  readonly #fieldsOf = new BoundedCache<readonly ResponderPlace[], ReadonlySet<string> | undefined>(MAX_CACHED)
  readonly #namesOf = new BoundedCache<JsonObject, readonly string[]>(MAX_CACHED)

  constructor(readonly document: JsonObject) {
    this.#responders = respondersOf(document)
    this.#anyPath = this.#responders.filter(({ pattern }) => pattern === undefined)
    for (const each of this.#responders) if (each.pattern !== undefined) this.#byPath.add(each, each.pattern.split('/'))
  }

  problemsOf(text: string, { path, roots }: TemplatePlace, pathsOf: PathsOf): Problem[] {
    return pathsOf(text).flatMap((parts): Problem[] => {
      const [root = '', field, inner] = parts
      if (field === undefined || !roots.includes(root)) return []
      const unknown = (name: string, names: readonly string[], what: string): Problem[] => {
        const mistake = `${problemValue(text)} with ${parts.join('.')}${this.#hints.didYouMean(name, names)}`
        return [
          {
            path,
            found: mistake,
            allowed: names.length === 0 ? `no ${what}` : `${what} (${listAllowed(name, names, this.#hints)})`,
          },
        ]
      }
      const fields = FIELDS[root]
      if (fields && !fields.includes(field)) return unknown(field, fields, `fields of ${root}`)
      if (root === 'input') return this.#inputProblems(path, text, parts.slice(1))
      if (inner === undefined) return []
      if (root === 'response' && field === 'body') return this.#responseProblems(path, text, inner)
      const captured = root === 'request' && field === 'params' ? capturesOf(this.document, path) : undefined
      if (!captured || captured.includes(inner)) return []
      return unknown(inner, captured, 'parts that the path of the responder captures')
    })
  }

  #inputProblems(path: Path, text: string, names: readonly string[]): Problem[] {
    const missing = missingInput(valueAtPath(this.document, [...path.slice(0, 2), 'input_schema']), names)
    if (!missing) return []
    const { name, properties } = missing
    const inputNames = this.#namesOf.of(properties, Object.keys)
    const mistake = `${problemValue(text)} with the input ${name}, which the schema of the tool does not have`
    const allowed =
      inputNames.length === 0
        ? 'no input: the schema has none'
        : `inputs of the schema (${listAllowed(name, inputNames, this.#hints)})`
    return [{ path, found: `${mistake}${this.#hints.didYouMean(name, inputNames)}`, allowed }]
  }

  #responseProblems(path: Path, text: string, field: string): Problem[] {
    const call = valueAtPath(this.document, [...path.slice(0, 2), 'call'])
    const answering = isJsonObject(call) && this.#isAnsweredHere ? this.#respondersFor(call) : []
    const fieldNames = answering.length > 0 ? this.#fieldsOf.of(answering, answeredFields) : undefined
    if (!fieldNames || fieldNames.has(field)) return []
    const mistake = `${problemValue(text)} with the field ${field}, which no answer to the call has${this.#hints.didYouMean(field, fieldNames)}`
    return [{ path, found: mistake, allowed: `fields of the answers (${listAllowed(field, fieldNames, this.#hints)})` }]
  }

  get #isAnsweredHere(): boolean {
    return ownMember(this.document, 'base_url') === undefined
  }

  unansweredCalls(): Problem[] {
    if (!this.#isAnsweredHere || this.#responders.length === 0) return []
    const names = [...new Set(this.#responders.map(responderName))]
    return valuesAt(this.document, ['tools', '*', 'call']).flatMap(({ path, value: call }): Problem[] => {
      if (!isJsonObject(call) || this.#respondersFor(call).length > 0) return []
      const name = callName(call)
      const mistake = `${problemValue(name)}, which no responder answers${this.#hints.didYouMean(name, names)}`
      const allowed = `a call that a responder answers (${listAllowed(name, names, this.#hints)})`
      return [{ path: [...path, 'path'], found: mistake, allowed }]
    })
  }

  /** Responders that no tool calls: they answer direct calls and the proxy alone. */
  unreachedResponders(): Problem[] {
    const calls = valuesAt(this.document, ['tools', '*', 'call']).map(({ value }) => value)
    const asked = calls.filter(isJsonObject)
    const reached = new Set(asked.flatMap((call) => this.#respondersFor(call)))
    const names = asked.map(callName)
    return this.#responders.flatMap((responder): Problem[] => {
      if (asked.length === 0 || reached.has(responder)) return []
      const name = responderName(responder)
      const mistake = `${problemValue(name)}, which no tool calls${this.#hints.didYouMean(name, names)}`
      return [
        {
          path: [...responder.path, 'on'],
          found: mistake,
          allowed: 'a request that a tool makes, or direct calls alone',
        },
      ]
    })
  }

  #respondersFor(call: JsonObject): readonly ResponderPlace[] {
    return this.#answering.of(call, () => {
      const path = ownMember(call, 'path')
      const isOpen = typeof path !== 'string' || path.includes('{{#')
      const there = isOpen ? this.#responders : [...this.#anyPath, ...this.#byPath.at(templatePathParts(path))]
      return there.filter(({ method }) => method === undefined || method === ownMember(call, 'method'))
    })
  }
}

/** The names in the path of the responder that a template belongs to; undefined for other templates. */
function capturesOf(document: JsonObject, place: Path): string[] | undefined {
  if (place[0] !== 'responders') return undefined
  const path = valueAtPath(document, [...place.slice(0, 2), 'on', 'path'])
  return typeof path === 'string' ? [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) : []
}

interface ResponderPlace {
  readonly path: Path
  readonly value: JsonObject
  readonly method: string | undefined
  readonly pattern: string | undefined
}

function respondersOf(document: JsonObject): ResponderPlace[] {
  return valuesAt(document, ['responders', '*']).flatMap(({ path, value }): ResponderPlace[] => {
    const on = isJsonObject(value) ? ownMember(value, 'on') : undefined
    if (!isJsonObject(value) || !isJsonObject(on)) return []
    const [method, pattern] = [ownMember(on, 'method'), ownMember(on, 'path')].map((each) =>
      typeof each === 'string' ? each : undefined,
    )
    return [{ path, value, method, pattern }]
  })
}

function callName(call: JsonObject): string {
  return [ownMember(call, 'method'), ownMember(call, 'path')].filter((part) => typeof part === 'string').join(' ')
}

function responderName({ method, pattern }: ResponderPlace): string {
  return `${method ?? '*'} ${pattern ?? '/*'}`
}

const VALUE = '\u0000'

/** The parts of a call's path; undefined for one that holds a template. */
function templatePathParts(path: string): (string | undefined)[] {
  const [plain = ''] = path.replaceAll(/\{\{\{?.*?\}\}\}?/gs, VALUE).split('?')
  return plain.split('/').map((part) => (part.includes(VALUE) ? undefined : (percentDecoded(part) ?? part)))
}

/** Responders by the parts of their paths: documents have thousands, and a call meets only those that its own parts lead to. */
class PathTree {
  readonly #here: ResponderPlace[] = []
  /** By a part that is one text, and by one that matches several. */
  readonly #fixed = new Map<string, PathTree>()
  readonly #open = new Map<string, PathTree>()

  add(responder: ResponderPlace, [part, ...furtherParts]: readonly string[]): void {
    if (part === undefined) {
      this.#here.push(responder)
      return
    }
    const next = /[{*]/.test(part) ? this.#open : this.#fixed
    const tree = next.get(part) ?? new PathTree()
    next.set(part, tree)
    tree.add(responder, furtherParts)
  }

  /** Those whose paths these parts can be; undefined is any part. */
  at(parts: readonly (string | undefined)[]): ResponderPlace[] {
    const [part, ...partsBelow] = parts
    if (parts.length === 0) return this.#here
    const same = part === undefined ? [...this.#fixed.values()] : [this.#fixed.get(part) ?? []].flat()
    const open = [...this.#open].filter(([wanted]) => part === undefined || canBe(part, wanted)).map(([, tree]) => tree)
    return [...same, ...open].flatMap((tree) => tree.at(partsBelow))
  }
}

function canBe(part: string, wanted: string): boolean {
  return /^\{\w+\}$/.test(wanted) ? part !== '' : matchesGlob(wanted, part)
}

/** The first name that a schema with fixed properties does not have. */
function missingInput(
  schema: unknown,
  [name, ...namesBelow]: readonly string[],
): { name: string; properties: JsonObject } | undefined {
  const properties = isJsonObject(schema) ? ownMember(schema, 'properties') : undefined
  if (name === undefined || !isJsonObject(schema) || !isJsonObject(properties)) return undefined
  if (OPEN.some((key) => ownMember(schema, key) !== undefined && ownMember(schema, key) !== false)) return undefined
  return Object.hasOwn(properties, name) ? missingInput(ownMember(properties, name), namesBelow) : { name, properties }
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

/** The fields of the bodies that succeed; undefined where they depend on the request. */
function answeredFields(responders: readonly ResponderPlace[]): ReadonlySet<string> | undefined {
  const fieldNames = new Set<string>()
  for (const { value } of responders) {
    const sequence = ownMember(value, 'sequence')
    for (const response of Array.isArray(sequence) ? sequence : [ownMember(value, 'respond') ?? {}]) {
      if (!isJsonObject(response) || Number(ownMember(response, 'status') ?? 200) >= 400) continue
      const body = ownMember(response, 'body')
      if (body === undefined && ownMember(value, 'steps') === undefined) continue
      if (!isJsonObject(body)) return undefined
      for (const field of Object.keys(body)) fieldNames.add(field)
    }
  }
  return fieldNames
}

export function textsWithPaths(value: JsonValue | undefined, base: Path): { path: Path; text: string }[] {
  if (typeof value === 'string') return [{ text: value, path: base }]
  if (Array.isArray(value)) return value.flatMap((item, at) => textsWithPaths(item, [...base, at]))
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => textsWithPaths(item, [...base, key])) : []
}
